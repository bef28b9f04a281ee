"""Choices, names and sentences of the Persona lab's results."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab.benchmarks.mmtaup2.conversation import exposure, personas
from cxlab.benchmarks.mmtaup2.evaluation import composite, measured_metrics, results
from cxlab.benchmarks.mmtaup2.evaluation.summary import FACTORS
from cxlab.charts.numbers import format_count, format_ratio
from cxlab.charts.theme import short_model
from cxlab.read import PublishedTable
from cxlab.ui.boards import published_columns
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import label, plain
from cxlab.ui.tables import show_table
from cxlab.ui.unknown import describe, stop_at
from cxlab.views.benchmarks import published_tables
from cxlab.views.persona.results import undecided_words

SOURCE = "MM-tau-p², Tables 2 and 5, one agent, two judges; not paired"
HOW_COUNTED = "Each figure's definition stands under the heading and in the last table."
TWICE = "Measured: read from the log of the world. Judged: what a panel of models says of the same conversations."
_LEVELS = {
    "persona": {name: words.capitalize() for name, words in personas.IN_WORDS.items()},
    "exposure": {str(level): words.capitalize() for level, words in exposure.IN_WORDS.items()},
    "modality": {"text": "Text", "voice": "Voice"},
    "domain": {"telecom": "Telecom", "retail": "Retail"},
}
_TITLES = {"persona": "Persona", "exposure": "What the agent knows", "modality": "Text or voice", "domain": "Domain"}
_TAP = "Composite of correctness, recovery, effort and safety; see Weights."
# The paper's names of exposures and figures, where they are not ours.
_EXPOSURES = {"none": "0", "persona": "1", "context": "2"}
PERCENT = frozenset({"pass", "adaptation"})
"""Figures that every page writes in per cent."""
_COLUMNS = {"user_effort": "user_effort_score", "arga": "arga_score"}
_PLAIN = {"pass": "goals reached", "turns": "turns", "adaptation": "messages that adapt"}
# As in the dialogues: a difference in goals that would matter.
_LARGE = 0.2
_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_PARTS = (
    ("a", "Correctness", "critical field accuracy × pass^1"),
    ("b", "Recovery", "mean of modality robustness, ARGA and error recovery rate"),
    ("g", "Effort", "mean of turn efficiency, 1 / (1 + user effort) and 1 / (1 + turn overhead)"),
    ("d", "Safety", "irreversible-action safety"),
)


def title(metric: str) -> str:
    """A figure as people read it."""
    if metric in results.METRICS:
        return "Passed" if metric == "pass" else results.METRICS[metric].title
    return "mm-tap" if metric == "mm_tap" else metric  # pass^k is called as it is written


def define(metric: str) -> str:
    """How a figure is counted."""
    if metric.startswith("pass^"):
        return f"The chance that {metric[5:]} trial{'s' if metric != 'pass^1' else ''} of a setting all reach the goal."
    return _TAP if metric == "mm_tap" else in_words(results.METRICS[metric].definition)


def in_words(definition: str) -> str:
    """A definition in which other figures are called as people read them."""
    return _NAME.sub(lambda name: f"“{title(name[0]).lower()}”" if name[0] in results.METRICS else name[0], definition)


def levels(factor: str) -> dict[str, str]:
    """The levels of a factor with their names, the plainest first."""
    return _LEVELS[factor]


def name_level(factor: str, level: str) -> str:
    """A level of a factor in words."""
    return _LEVELS[factor].get(level, level)


def pairs() -> list[tuple[str, str, str]]:
    """(factor, level, plainer level) of all comparisons, in the order of the charts."""
    return [
        (factor, str(known[after]), str(known[before]))
        for factor, known in results.LEVELS.items()
        for after in range(1, len(known))
        for before in range(after)
    ]


def pair_name(factor: str, level: str, base: str) -> str:
    """ "Hard persona<br>against no persona" """
    return f"{_LEVELS[factor][level]}<br>against {_LEVELS[factor][base].lower()}"


def choose_runs(about: Mapping[str, Mapping[str, Any]], usual: Sequence[str]) -> list[str]:
    """The runs in the address, the usual ones without any."""
    given = [run for run in st.query_params.get_all("of") if run in about]
    key = "results-runs"
    st.session_state[key] = given or list(usual)

    def changed() -> None:
        picked = st.session_state[key]
        if picked and list(picked) != list(usual):
            st.query_params["of"] = picked
        elif "of" in st.query_params:
            del st.query_params["of"]

    def name(run: str) -> str:
        row = about[run]
        words = [label(row["model"]), format_count(row["conversations"]), f"{row['created']:%m-%d %H:%M}"]
        return ", ".join(words) + (", judged again" if row["again"] else "")

    return list(
        st.multiselect(
            "Runs", list(about), key=key, format_func=name, on_change=changed,
            help="Model, conversations, when (UTC). At first the largest of each model on the data with the most.",
        )
    )  # fmt: skip


def stop_at_unknown_runs(about: Mapping[str, Any]) -> None:
    """End the page where the address names a run that is not among these."""
    lost = [describe("run", run) for run in st.query_params.get_all("of") if run and run not in about]
    stop_at(lost, lambda: st.query_params.pop("of", None))


def choose_factor() -> str:
    """What is side by side, in the address."""
    given = st.query_params.get("by", "")
    key = "results-by"
    st.session_state[key] = given if given in _TITLES else "persona"

    def changed() -> None:
        st.query_params["by"] = st.session_state[key] or "persona"

    st.segmented_control(
        "Side by side", list(_TITLES), key=key, format_func=_TITLES.__getitem__, on_change=changed, required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    return str(st.session_state[key] or "persona")


def choose_only(by: str) -> dict[str, Any]:
    """The other factors held at one level, each in the address."""
    found: dict[str, Any] = {}
    for factor in FACTORS:
        if factor == by:
            continue
        names = {"": "all"} | _LEVELS[factor]
        level = choose_id(f"only-{factor}", _TITLES[factor], list(names), names.__getitem__)
        if level:
            found[factor] = int(level) if factor == "exposure" else level
    return found


def choose_weights() -> tuple[float, ...]:
    """The weights of mm-tap, in the address as they were typed and scaled so that they add up to 1."""
    typed = _read_weights(st.query_params.get("weights", ""))
    with st.popover("Weights of mm-tap"):
        st.markdown(
            "**mm-tap** = a · CFA · pass^1 + b · (MRS + ARGA + ERR) / 3 "
            "+ g · (TE + 1 / (1 + UES) + 1 / (1 + TO)) / 3 + d · IAS"
        )
        columns = [*st.columns(2), *st.columns(2)]
        for place, (name, what, parts) in enumerate(_PARTS):
            st.session_state[f"results-weight-{name}"] = typed[place]
            columns[place].number_input(
                f"{name}: {what.lower()}", 0.0, 10.0, step=0.05, key=f"results-weight-{name}", on_change=_keep_weights,
                help=parts.capitalize(),
            )  # fmt: skip
        weights = tuple(weight / sum(typed) for weight in typed)
        if abs(sum(typed) - 1) > 1e-9:
            st.caption(plain(f"They add up to {sum(typed):.2f}; used are {', '.join(f'{w:.3f}' for w in weights)}."))
        if typed != composite.WEIGHTS and st.button("As in the paper", key="results-weights-paper"):
            del st.query_params["weights"]
            st.rerun()
        st.caption(
            "Bounds: above 0 always; 1 for an agent without a fault that does as well by voice as by text. There is "
            "no upper bound: modality robustness has none, and a turn overhead below 0 gives more than 1. "
            "Field accuracy, pass^1, ARGA, recovery, efficiency, effort and safety are of the voice conversations, "
            "robustness and overhead of both. While a part has no observation, such as safety without an irreversible "
            "action, mm-tap is undefined and not guessed; what the other parts come to stands beside it, each term "
            "without them and the weights scaled up."
        )
    return weights


def _keep_weights() -> None:
    typed = tuple(float(st.session_state[f"results-weight-{name}"]) for name, _, _ in _PARTS)
    if typed == composite.WEIGHTS or sum(typed) == 0:
        if "weights" in st.query_params:
            del st.query_params["weights"]
    else:
        st.query_params["weights"] = ",".join(f"{weight:g}" for weight in typed)


def _read_weights(text: str) -> tuple[float, ...]:
    """Four weights of an address; the paper's where they make no sense."""
    try:
        typed = tuple(float(part) for part in text.split(","))
    except ValueError:
        return composite.WEIGHTS
    sound = len(typed) == len(_PARTS) and all(0 <= weight <= 10 for weight in typed) and sum(typed) > 0
    return typed if sound else composite.WEIGHTS


def find(metric: str, by: str, whole: pl.DataFrame, gaps: pl.DataFrame) -> str:
    """The finding in words: who leads, and what the factor does for sure.

    `gaps` compares runs with the first of them, which says of the two best ones only when one of them is it.
    """
    if undecided_words.has_bounds(whole):
        return plain(undecided_words.tell_bounds(metric, title(metric).lower(), whole, write_value))
    rows = whole.drop_nulls("value").sort("value", "side", descending=[results.is_up(metric), False])
    if rows.is_empty():
        return plain(f"{title(metric)} has no value here")
    first = rows.row(0, named=True)
    lead = f"{short_model(first['side'])}: {title(metric).lower()} {write_value(metric, first['value'])}"
    lead += undecided_words.say_share(metric, first)
    if rows.height > 1:
        second = rows.row(1, named=True)
        gap = gaps.filter(pl.col("factor") == "run", pl.col("run_id").is_in([first["run_id"], second["run_id"]]))
        sure = gap.height == 1 and gap["verdict"][0] != "cannot tell"
        apart = abs(first["value"] - second["value"])
        other = short_model(second["side"])
        word = "ahead of" if results.is_up(metric) else "fewer than" if metric == "turns" else "below"
        ahead = f"{write_gap(metric, apart)} {word} {other}, {'for sure' if sure else 'not for sure'}"
        lead += f", {ahead if apart >= 0.0005 else f'the same as {other}'}"
    own = gaps.filter(factor=by)
    if own.is_empty():
        return plain(lead)
    real = own.filter(pl.col("verdict") != "cannot tell")
    if real.is_empty():
        # The heading above counts fewer comparisons and may be sure of what is not sure among all of them.
        return plain(f"{lead}; {_TITLES[by].lower()}: none of the differences below is sure")
    most = real.sort(pl.col("difference").abs(), descending=True).row(0, named=True)
    pair = pair_name(most["factor"], most["level"], most["base"]).replace("<br>", " ").lower()
    moved = write_gap(metric, most["difference"], sign="+")
    return plain(f"{lead}; {pair}: {moved} for {short_model(most['side'])}")


def write_value(metric: str, value: float) -> str:
    """A value as the finding has it: what passed as every page writes it, the paper's figures as the paper does."""
    if metric == "turns":
        return f"{value:.1f}"
    return f"{100 * value:.1f} %" if metric in PERCENT else format_ratio(value)


def write_gap(metric: str, gap: float, sign: str = "") -> str:
    """A difference of values."""
    if metric == "turns":
        return f"{gap:{sign}.1f} turns"
    return f"{100 * gap:{sign}.1f} points" if metric in PERCENT else f"{gap:{sign}.3f}"


_OTHERS = {"persona": "whoever the customer is", "exposure": "whatever the agent is told", "modality": "text and voice"}


def say_base(by: str, only: Mapping[str, Any]) -> str:
    """Of which conversations a sentence about a factor is told: all levels of the others that no filter leaves out."""
    whole = [words for factor, words in _OTHERS.items() if factor != by and factor not in only]
    return f"All together ({', '.join(whole)})" if whole else "Of those that the filters leave"


def say_sure(by: str, gaps: pl.DataFrame) -> str:
    """What a factor changes for sure, at the comparison that shows most: "Hard persona against no persona: 6.2 more
    turns, 28.7 points more messages that adapt; goals reached: cannot tell". "" without any comparison.
    """
    if gaps.is_empty():
        return ""
    told = gaps.with_columns(sure=pl.col("verdict") != "cannot tell")
    # Held against the plainest level, as the dialogues are: it is the base of others and has none itself.
    plainest = told.filter(~pl.col("base").is_in(told["level"].to_list()))
    asked = told if plainest.is_empty() else plainest
    pairs = asked.group_by("level", "base", maintain_order=True).agg(pl.col("sure").sum())
    # Of equals the last: it is furthest from the plainest.
    best = max(enumerate(pairs.iter_rows()), key=lambda one: (one[1][2], one[0]))[1]
    if not best[2]:
        return (
            _say_unsure(by, asked)
            or f"{_TITLES[by]}: no sure difference in turns, messages that adapt or goals reached"
        )
    rows = told.filter(level=best[0], base=best[1])
    sure = [
        f"{_write_more(row['metric'], row['difference'])} {_PLAIN[row['metric']]}"
        for row in rows.filter("sure").iter_rows(named=True)
    ]
    unsure = [_PLAIN[metric] for metric in rows.filter(~pl.col("sure"))["metric"]]
    rest = f"; {' and '.join(unsure)}: cannot tell" if unsure else ""
    return f"{pair_name(by, best[0], best[1]).replace('<br>', ' ')}: {', '.join(sure)}{rest}"


def _say_unsure(by: str, asked: pl.DataFrame) -> str:
    """The largest difference in goals where it would matter if it were none of chance: without it "no sure difference"
    is read as "no effect"."""
    goals = asked.filter(pl.col("metric") == "pass").sort(pl.col("difference").abs(), descending=True)
    if goals.is_empty() or abs((most := goals.row(0, named=True))["difference"]) < _LARGE:
        return ""
    pair = pair_name(by, most["level"], most["base"]).replace("<br>", " ")
    fewer = _write_more("pass", most["difference"])
    return f"{pair}: {fewer} goals reached, not sure; no sure difference in turns or messages that adapt"


def _write_more(metric: str, gap: float) -> str:
    size = f"{abs(gap):.1f}" if metric == "turns" else f"{100 * abs(gap):.1f} points"
    return f"{size} {'more' if gap > 0 else 'fewer'}"


def explain_nothing(metric: str, by: str, rows: pl.DataFrame) -> str:
    """Why a figure has no value anywhere here."""
    if by == "modality" and metric in ("mm_tap", *measured_metrics.PAIRED):
        return f"{title(metric)} sets voice against text, so it has no value by modality. Choose another figure."
    missing = sorted({word for reason in rows["reason"].drop_nulls() for word in reason.replace(",", "").split()})
    if metric == "mm_tap" and (parts := [word for word in missing if word in results.METRICS]):
        text = f"mm-tap is undefined without {' and '.join(title(part).lower() for part in parts)}."
        apart = " No task was played by text and by voice: choose a run of all samples, or one of fewer tasks."
        return text + (apart if "turn_overhead" in parts else "")
    reasons = rows["reason"].drop_nulls().unique().sort().to_list()
    return f"{title(metric)} has no value here: {'; '.join(reasons) or 'nothing was scored'}."


def write_cell(cell: Mapping[str, Any]) -> str | None:
    """ "0.557 (0.50 to 0.61)"; "≥ 0.020, ≤ 0.470" where much of it is undecided"""
    if cell and cell.get("least") is not None:
        return f"≥ {format_ratio(cell['least'])}, ≤ {format_ratio(cell['most'])}"
    if not cell or cell["value"] is None:
        return None
    if cell["low"] is None or cell["high"] is None:
        return format_ratio(cell["value"])
    return f"{format_ratio(cell['value'])} ({cell['low']:.2f} to {cell['high']:.2f})"


def published_cells(metric: str, by: str, only: Mapping[str, Any]) -> pl.DataFrame:
    """The paper's figures that belong beside ours: grp, entity, value, source; none by persona or modality.

    A cell of the paper is of one domain and exposure, over all its personas; so only where the choice is as wide.
    """
    schema = {"grp": pl.String, "entity": pl.String, "value": pl.Float64, "source": pl.String}
    if by not in ("domain", "exposure") or only.keys() - {"domain", "exposure"}:
        return pl.DataFrame(schema=schema)
    name = _COLUMNS.get(metric, metric)
    for table in published_tables("mmtaup2"):
        if not {name, "domain", "exposure", "judge"} <= set(table.frame.columns):
            continue
        rows = table.frame.with_columns(pl.col("exposure").replace_strict(_EXPOSURES)).with_columns(
            grp=pl.col(by), entity=pl.col("setting"), value=pl.col(name).cast(pl.Float64), source=pl.lit(table.source)
        )
        for factor, level in only.items():
            rows = rows.filter(pl.col(factor) == str(level))
        return rows.select(list(schema)).drop_nulls("value")
    return pl.DataFrame(schema=schema)


def show_paper(table: PublishedTable) -> None:
    """The paper's own table, folded away."""
    with st.expander(f"◆ Published: {table.source}", type="compact"):
        st.caption(plain(table.caption))
        columns = {name: shape for name, shape in published_columns(table).items() if name != "setting"}
        show_table(table.frame, columns, key=f"results-paper-{table.id}", alt=f"{table.table} of the paper.")


def say_exposure(gaps: pl.DataFrame, title: str) -> str:
    """Whether being told of the customer changes the figure, or that nobody can tell; "" where it was not compared."""
    told = gaps.filter(pl.col("factor") == "exposure")
    if told.is_empty():
        return ""
    clear = told.filter(pl.col("verdict") != "cannot tell").height
    if not clear:
        return (
            f"What the agent is told of the customer shows no effect on {title} here: none of {told.height} "
            "comparisons can be told from chance. Look at single conversations for how its words change."
        )
    return f"What the agent is told of the customer changes {title} in {clear} of {told.height} comparisons."
