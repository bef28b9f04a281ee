"""The page Judges: what people's decisions change in the scores."""

import polars as pl
import streamlit as st

from cxlab.charts.names import name_each, name_id
from cxlab.charts.numbers import format_change, format_changes, format_count, format_decimals, format_points
from cxlab.charts.theme import short_model
from cxlab.read import StoredAttempt, View, decisions
from cxlab.records.correction import PASSED, Corrections, Effect, changed
from cxlab.records.metric_names import head_metric, within_sentence
from cxlab.ui.address import cached, link
from cxlab.ui.labels import ROUNDED, label, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared, names_of
from cxlab.views.judges import corrected_scores

_SUCCESS = "Success rate"


def show_corrections(view: View, states: pl.DataFrame) -> None:
    """The corrected scores beside those as judged, with what changed; nothing before anything is decided."""
    settled = decisions.settled(states)
    if settled.is_empty():
        return
    found = corrected_scores.correct(states)
    frame = corrected_scores.compare(view, found)
    open_conflicts = states.filter(pl.col("state") == "conflict").height
    note = (
        "A decision takes the place of every judge's verdict, and the benchmark's own rules score the attempt anew. "
        "All else stays as judged. Change: corrected minus judged, paired by sample. Decided splits are no random "
        "choice, so the corrected score is not what all decisions together would give."
    )
    if open_conflicts:
        one = open_conflicts == 1
        note += f" {format_count(open_conflicts)} conflict{' corrects' if one else 's correct'} nothing until settled."
    if unsure := states.filter(pl.col("value") == decisions.CANNOT_TELL).height:
        note += f" {format_count(unsure)} more said “{decisions.CANNOT_TELL}”, which corrects nothing."
    section(plain(say_finding(frame, found, settled.height)), note)
    for run_id, why in found.left_out.items():
        st.caption(plain(f"! Run {run_id} is not corrected: {why}."))
    if frame.is_empty() or not frame["attempts"].sum():
        return
    show_table(
        frame.with_columns(
            of=pl.col("benchmark").replace(names_of(frame["benchmark"].unique())),
            what=pl.Series([_name_figure(metric) for metric in frame["metric"]]),
            name=name_each(frame["model"], label),
        ),
        {
            "name": column("Model"),
            "what": column("Measure"),
            "mean": column("As judged", "points"),
            "corrected": column("Corrected", "points"),
            "corrected_low": column("Low", "points"),
            "corrected_high": column("High", "points"),
            "change": column("Change", "ratio", ROUNDED),
            "change_low": column("Change, low", "ratio"),
            "change_high": column("Change, high", "ratio"),
            "attempts": column("Changed", "count", "Attempts whose value changes (samples, where tried more often)."),
            "n": column("n", "count"),
            "of": column("Benchmark"),
        },
        key="review-corrected",
        alt="Scores as judged and corrected by people's decisions.",
    )


def show_beside_scores(view: View) -> None:
    """Where a benchmark's scores stand: what people's decisions make of its headline and success rate; nothing where
    they move neither."""
    decided = cached(decisions.decisions)
    if decided.is_empty():
        return
    frame = corrected_scores.compare(view, corrected_scores.correct(decisions.outcomes(decided)))
    if frame.is_empty():
        return
    heads = {PASSED, *(task.metric for task in declared(view.benchmark).card.tasks)}
    moved = frame.filter(pl.col("metric").is_in(heads) & (pl.col("change").abs() > 0))
    told = [
        f"{_name_figure(row['metric']).lower()} of {short_model(row['model'])} {format_points(row['mean'])} → "
        f"{format_points(row['corrected'])} ({_sign(row['change'])}, {_sign(row['change_low'])} to "
        f"{_sign(row['change_high'])})"
        for row in moved.iter_rows(named=True)
    ]
    if told:
        st.caption(plain(f"Corrected by people's decisions, over all runs: {'; '.join(told)}."))
        link("See the decisions", "judges", View(benchmark=view.benchmark))


def _sign(value: float | None) -> str:
    return format_change(value)


def _name_figure(metric: str) -> str:
    """A metric, or the success rate, for a heading."""
    return _SUCCESS if metric == PASSED else head_metric(metric)


def say_finding(frame: pl.DataFrame, found: Corrections, settled: int) -> str:
    """What the decisions come to in one sentence."""
    effects = found.effects.values()
    moved = sum(bool(changed(each)) for each in effects)
    words = f"{format_count(settled)} decision{'' if settled == 1 else 's'}"
    if not moved:
        return f"{words} so far: no score changes, as none does where people say what the panel said"
    flips = sum(each.verdict != each.corrected for each in effects)
    told = f"{words} change{'s' if settled == 1 else ''} {format_count(moved)} attempt{'' if moved == 1 else 's'}"
    if flips:
        told += f", {format_count(flips)} of them in {'its' if flips == 1 else 'their'} verdict"
    rows = frame.filter(pl.col("change").abs() > 0) if frame.height else frame
    if rows.height:
        leading = rows.filter(pl.col("metric").is_in([PASSED, *(declared(each).card.headline for each in
                              rows["benchmark"].unique())]))  # fmt: skip
        # Else what heads an attempt, as it stands first at each item too: the rows come in that order.
        chosen = leading if leading.height else rows.filter(pl.col("metric") == rows["metric"][0])
        far = chosen.sort(pl.col("change").abs(), descending=True, maintain_order=True).row(0, named=True)
        stays = "" if leading.height else "what models are ranked by stays; "
        low, high = far["change_low"], far["change_high"]
        # Of a change that one decimal would write as none or as another than the two figures, two.
        places = 1 if abs(far["change"]) >= 0.1 else 2
        reach = "" if low is None or high is None else f", {format_changes(low, high, places)}"
        unsure = ", not beyond chance" if reach and low <= 0 <= high else ""
        told += (
            f"; {stays}{within_sentence(_name_figure(far['metric']))} of the model {short_model(far['model'])} goes "
            f"from {format_decimals(far['mean'], places)} to {format_decimals(far['corrected'], places)} "
            f"({format_change(far['change'], places)}{reach}{unsure})"
        )
    return told


def list_moves(benchmark: str, effect: Effect) -> list[str]:
    """What decisions move in one attempt, in the measures and the order of the table of all decisions: "failed →
    passed", "Classification 73.3 → 80.0"."""
    moved, told = changed(effect), []
    for metric in corrected_scores.metrics_of(benchmark, [effect]):
        if metric == PASSED or metric not in moved:
            continue
        keys = [(metric, False), (metric, True)]
        key = next((each for each in keys if each in effect.before or each in effect.after), keys[1])
        values = [_mean(side.get(key)) for side in (effect.before, effect.after)]
        told.append(f"{head_metric(metric)} {values[0]} → {values[1]}")
    return [*([f"{effect.verdict} → {effect.corrected}"] if effect.verdict != effect.corrected else []), *told]


def show_effect(
    whole: StoredAttempt, at: tuple[str, str, int, str], states: pl.DataFrame, decided: str = "", panel: str = ""
) -> None:
    """What the decisions on this attempt make of its headline and verdict, and why nothing where it is nothing.

    `decided`: what the item was settled as; `panel`: what its panel said, where it said one thing.
    """
    own = states.filter((pl.col("run_id") == at[0]) & (pl.col("attempt_id") == at[1]))
    effect = corrected_scores.correct(own).effects.get(at[:2]) if own.height else None
    if effect is None:
        return
    if changed(effect):
        told = list_moves(str(whole.attempt["benchmark"]), effect)
        st.markdown(f"**Decisions change in this attempt:** {plain('; '.join(told) or 'no score that is shown')}")
        st.caption(
            "Means over this attempt alone. The table of all decisions, below, has the same measures as means over all "
            "that the model tried, of which this is one."
        )
    elif decided and agrees(decided, panel):
        st.markdown(plain(f"No score of this attempt changes: the panel said {name_id(panel)} as well."))
    else:
        why = f" The panel said {name_id(panel)}; by the benchmark's rules both score alike."
        st.markdown(plain(f"Decisions change no score of this attempt.{why if decided and panel else ''}"))


def agrees(decided: str, panel: str) -> bool:
    """Whether a decision and a panel say the same, as people read it: a panel's yes is kept as true, not as a word."""
    return name_id(decided) == name_id(panel)


def _mean(sums: tuple[int, float] | None) -> str:
    return format_points(sums[1] / sums[0]) if sums and sums[0] else "unscored"
