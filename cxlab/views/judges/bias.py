"""The page Judges: who is strict, who favours whom, who is right, who says the same twice."""

import math
from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
import streamlit as st

from cxlab import read
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import JudgedMetrics
from cxlab.charts.matrix import draw_confusion, name_item, name_judge
from cxlab.charts.names import begin
from cxlab.charts.numbers import format_change, format_changes, format_count, format_ratio, format_share
from cxlab.charts.theme import SIMULATED_PREFIX, short_model
from cxlab.metrics.classification import matthews_of_table
from cxlab.read import View
from cxlab.records import procedure
from cxlab.ui.address import cached, here, set_view
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import plain, section, show_code
from cxlab.ui.tables import column, show_chart
from cxlab.views.benchmarks import declared, metrics_for, names_of
from cxlab.views.judges import charts as draw
from cxlab.views.judges import queries_agreement, queries_bias
from cxlab.views.judges.judge_columns import KINDS, judge_names, mean_columns, pick, show_no_votes
from cxlab.views.judges.measured.page import show_judged
from cxlab.views.judges.slices import Slices


def show_bias(
    view: View,
    filters: View,
    slices: Slices,
    rules: Mapping[str, str],
    show_rule: Callable[[str, View], None],
    first: str = "",
) -> None:
    """Who leans where, compared with one thing at a time: the panel, the truth, a log, or a rule with versions; `first`
    where the address names none."""
    judged = {name: found for name in REGISTRY if (found := REGISTRY[name].judged)}
    chosen = pick("Held against", _list_against(filters.benchmark, judged, rules, first), "judges-against", first)
    if chosen in rules:
        show_rule(chosen, filters)
    elif chosen == "log":
        names = names_of(judged)
        name = filters.benchmark if filters.benchmark in judged else next(iter(judged))
        if len(judged) > 1 and filters.benchmark not in judged:
            name = choose_id("judged-of", "Benchmark", list(judged), names.__getitem__, named="benchmark")
        show_judged(filters, declared(name), judged[name])
    elif cached(queries_agreement.panel, filters, slices.facets).is_empty():
        show_no_votes()
    elif chosen == "truth":
        show_gold(filters.change(field=view.field), slices)
    else:
        show_strictness(filters, slices)


def _list_against(
    benchmark: str, judged: Mapping[str, JudgedMetrics], rules: Mapping[str, str], first: str
) -> dict[str, str]:
    """What judges of a benchmark can be compared with, and what the address asks for."""
    held = {"each": "The panel", "truth": "The truth", "log": "The log", **rules}
    rejudge = REGISTRY[benchmark].rejudge if benchmark in REGISTRY else None
    has = {"log": benchmark in judged, "truth": benchmark in procedure.declared(), "each": benchmark not in judged}
    known = [name for name, there in has.items() if there]
    known += [name for name in rules if rejudge and rejudge.view == name]
    asked = st.query_params.get("judges-against", first)
    if asked in held and asked not in known:
        known.append(asked)
    return {name: held[name] for name in held if name in known}


def say_strictness(frame: pl.DataFrame) -> str:
    """Who grades lower than whom beyond chance (their paired difference, corrected for the pairs), if anybody does."""
    ordered = frame.sort("mean", "judge")
    strict, mild = ordered.row(0, named=True), ordered.row(-1, named=True)
    if frame.height < 2 or mild["gap_low"] is None or mild["gap_low"] <= 0:
        return "No judge grades lower than another beyond chance"
    return (
        f"{begin(name_judge(strict['judge']))} grades {mild['gap']:.2f} lower than {name_judge(mild['judge'])} "
        f"({mild['gap_low']:.2f} to {mild['gap_high']:.2f})"
    )


def say_length(frame: pl.DataFrame) -> str:
    """Whether longer replies get higher grades, of every judge, of some or of none beyond chance."""
    known = frame.filter(pl.col("length_low").is_not_null()).sort("length")
    if known.is_empty():
        return "How grades are spread"
    span = f"{known['length'][0]:.2f} to {known['length'][-1]:.2f}" if known.height > 1 else f"{known['length'][0]:.2f}"
    sure = known.filter(pl.col("length_low") > 0)
    if sure.height == known.height:
        return f"Longer replies get higher grades from every judge: correlation {span}"
    if sure.is_empty():
        return f"That longer replies get higher grades is not sure: correlation {span}"
    names = ", ".join(map(name_judge, sure["judge"]))
    return f"Longer replies get higher grades from {names} (correlation {span} over all judges)"


def say_right(frame: pl.DataFrame) -> str:
    """Who reads the truth more often than whom beyond chance; `frame`: judge, mean, low, high, the best first."""
    best, least = frame.row(0, named=True), frame.row(-1, named=True)
    names = ["the panel" if row["judge"] == "panel" else name_judge(row["judge"]) for row in (best, least)]
    if best["low"] is not None and least["high"] is not None and best["low"] > least["high"]:
        told = f"{names[0]} is right more often than {names[1]}: {format_share(best['mean'])}, not "
        return told[0].upper() + told[1:] + format_share(least["mean"])
    return f"Who is right most often cannot be told: {format_share(least['mean'])} to {format_share(best['mean'])}"


def show_strictness(view: View, slices: Slices) -> None:
    """Who grades strictly, who likes words, and who favours its own."""
    lengths = metrics_for(lambda card: card.reply_length)
    frame = cached(queries_bias.severity, view, lengths, slices.facets)
    if frame.is_empty():
        st.info("No judge has given grades under these filters, so who is strict cannot be told.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        section(
            plain(say_strictness(frame)),
            "Mean offset from the panel's mean on the same grade, on the scale of 3 to 9; over grades that all judges "
            "gave. The difference: paired by sample, its 95 % interval corrected for the number of pairs.",
        )
        show_chart(
            draw.draw_means(
                frame.sort("mean"),
                "judge",
                judge_names(frame["judge"]),
                dark(),
                unit="offset",
                title="offset from the panel, scale 3 to 9",
            ),
            frame,
            key="judges-severity",
            alt="Mean offset of each judge from the panel.",
            columns={
                **mean_columns("judge", "Judge"),
                "grade": column("Mean grade", "ratio"),
                "three": column("3", "share"),
                "six": column("6", "share"),
                "nine": column("9", "share"),
                "length": column("Correlation with length", "ratio"),
                "length_low": column("its low", "ratio"),
                "length_high": column("its high", "ratio"),
                "gap": column("Above the strictest", "ratio"),
                "gap_low": column("its low ", "ratio"),
                "gap_high": column("its high ", "ratio"),
            },
        )
    with right:
        wordy = frame.filter(pl.col("length").is_not_null()).sort("length", descending=True)
        correlations = ", ".join(
            f"{name_judge(row['judge'])} {row['length']:.2f}"
            + ("" if row["length_low"] is None else f" ({row['length_low']:.2f} to {row['length_high']:.2f})")
            for row in wordy.iter_rows(named=True)
        )
        section(
            plain(say_length(frame)),
            plain(
                "Share of 3, 6 and 9. Correlation of a turn's mean grade with the reply's number of words, 95 % "
                f"intervals clustered, corrected for {frame.height} judges: {correlations or 'unknown'}. "
                "Whether longer replies are better is not told by it."
            ),
        )
        show_chart(draw.draw_grades(frame, dark()), frame, key="judges-grades", alt="Share of grades by judge.")
    _show_favour(cached(queries_bias.favour, view, lengths, slices.facets))


_LEVEL = 0.05


def say_favour(found: queries_bias.Favour) -> str:
    """Which judge grades which model otherwise than strictness and quality explain, where that is beyond chance in the
    corrected intervals; else that nothing is sure, and how many samples the largest lean would need."""
    sizes = np.abs(found.residuals)
    if np.isnan(found.reach).all():
        return "Whether a judge favours a model cannot be told from these samples"
    sure = sizes > found.reach
    ranked = np.where(sure, sizes, -1.0) if sure.any() else np.nan_to_num(sizes, nan=-1.0)
    y, x = divmod(int(ranked.argmax()), len(found.models))
    left, reach = float(found.residuals[y][x]), float(found.reach[y][x])
    judge, model = name_judge(found.judges[y]), short_model(found.models[x])
    if sure.any():
        return (
            f"{begin(judge)} grades {model} {abs(left):.2f} {'higher' if left > 0 else 'lower'} than strictness and "
            f"quality explain ({format_changes(left - reach, left + reach, 2)})"
        )
    told = f"No judge favours a model for sure: at most {judge} on {model}, {format_change(left, 2)} ± {reach:.2f}"
    more = math.ceil(found.samples * ((reach / left) ** 2 - 1)) if left else math.inf
    if more > 100 * found.samples:
        return told
    return f"{told}; to be sure of that much takes some {format_count(more)} samples more"


def say_family(found: queries_bias.Favour) -> str:
    """What can be said of judges and models of one family."""
    if math.isnan(found.difference):
        return (
            "No judge is of a tested model's family (the vendor in front of the colon; each simulated model and "
            "endpoint is its own)."
        )
    # Of stand-ins two are made alike.
    stand_ins = any(judge.startswith(SIMULATED_PREFIX) for judge in found.judges)
    alike = " (here the wordy agent and the judge that likes words, which are made alike)" if stand_ins else ""
    lie = f"Such cells lie {format_change(found.difference, 2)} above the rest; that the family is the reason"
    told = f"Outlined: judge and model of one family{alike}. {lie} "
    least = 1 / len(found.models)
    if found.own.sum() == 1 and least > _LEVEL:
        return (
            f"{told}cannot be told of one such cell and {len(found.models)} models: their smallest possible p is "
            f"{least:.2f}, and {math.ceil(1 / _LEVEL)} models would be needed."
        )
    sure = "is likely" if found.p < _LEVEL else "is not sure"
    return f"{told}{sure}, p = {found.p:.2f} by reassigning models to families."


def _show_favour(found: queries_bias.Favour | None) -> None:
    if found is None:
        return
    raw = pick("Shown", {"left": "What is left over", "raw": "Mean grades"}, "judges-favour") == "raw"
    finding = say_favour(found)
    section(
        plain(finding),
        plain(
            "Left over: a cell's mean grade, less what this judge gives on average and what this model gets on "
            "average, both beside the mean of all. Above 0 the judge grades this model higher than its strictness and "
            f"the model's quality explain. 95 % intervals clustered, corrected for {found.residuals.size} "
            f"cells. {say_family(found)}"
        ),
    )
    frame = pl.DataFrame(
        [
            (judge, model, found.grades[y][x], found.residuals[y][x], found.residuals[y][x] - found.reach[y][x],
             found.residuals[y][x] + found.reach[y][x], int(found.n[y][x]), bool(found.own[y][x]))
            for y, judge in enumerate(found.judges)
            for x, model in enumerate(found.models)
        ],
        schema={
            "judge": pl.String,
            "model": pl.String,
            "grade": pl.Float64,
            "residual": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
            "n": pl.Int64,
            "family": pl.Boolean,
        },
        orient="row",
    ).fill_nan(None)  # fmt: skip
    values = found.grades if raw else found.residuals
    show_chart(
        draw.draw_favour(found.judges, found.models, values, found.grades, found.n, found.own, dark(), raw=raw),
        frame,
        key=f"judges-favour-{raw}",
        alt=f"Judges against models; {finding}.",
        columns={
            "judge": column("Judge"),
            "model": column("Model"),
            "grade": column("Mean grade", "ratio"),
            "residual": column("Left over", "ratio"),
            "low": column("Low", "ratio"),
            "high": column("High", "ratio"),
            "n": column("Grades", "count"),
            "family": column("Family", "flag"),
        },
    )


def show_gold(view: View, slices: Slices) -> None:
    """Judges against what the customer was made from."""
    filters = view.change(field="")
    frame = cached(queries_bias.against_gold, filters, ("judge", "name"), slices.facets)
    if frame.is_empty():
        st.info("No last turns with known facts under these filters.")
        return
    pooled = cached(queries_bias.against_gold, filters, ("judge",), slices.facets)
    pooled = pooled.sort(["mean", "judge"], descending=[True, False])
    order = ["panel", *[judge for judge in sorted(pooled["judge"]) if judge != "panel"]]
    best = pooled.row(0, named=True)
    said = ", ".join(
        f"{'the panel' if j == 'panel' else name_judge(j)} {format_share(s)}"
        for j, s in pooled.select("judge", "mean").iter_rows()
    )
    left, right = st.columns([7, 5], gap="large")
    with left:
        section(
            plain(say_right(pooled)),
            plain(
                f"Right: {said}; n {format_count(best['n'])} fields each. On last turns, against the facts "
                "that the customer was "
                "made from; a fact that never came out counts against all alike. The hardest on top; click "
                "one for its confusion."
            ),
        )
        picked = show_chart(
            draw.draw_gold(frame, order, dark()),
            frame,
            key="judges-gold",
            alt="Share of last turns that each judge read as the customer was made, by field.",
            columns={"name": column("Field"), **mean_columns("judge", "Judge", share=True)},
            words={"name": name_item},
            select=True,
        )
    hardest = frame.group_by("name").agg(pl.col("mean").mean()).sort("mean", "name")["name"][0]
    field = str(picked[0][0]) if picked else view.field if view.field in set(frame["name"]) else hardest
    if picked:
        set_view(here().change(field=field))
    with right:
        judge = st.selectbox(
            "Judge",
            order,
            format_func=lambda j: "the panel" if j == "panel" else name_judge(j),
            key="judges-gold-judge",
        )
        part = cached(queries_bias.gold_confusion, filters, field, slices.facets).filter(pl.col("judge") == judge)
        labels = sorted({*part["gold"], *part["verdict"]})
        counts = {(gold, verdict): n for gold, verdict, n in part.select("gold", "verdict", "n").iter_rows()}
        table = [[counts.get((gold, verdict), 0) for verdict in labels] for gold in labels]
        who = "the panel" if judge == "panel" else name_judge(judge)
        mcc = matthews_of_table(table) if labels else math.nan
        section(
            f"{plain(name_item(field))}: what it was, and what {plain(who)} read",
            f"Matthews' correlation with the truth {format_ratio(mcc)} (1 always right, 0 chance); n "
            f"{format_count(int(part['n'].sum()))} last turns.",
        )
        show_chart(
            draw_confusion(labels, table, f"{who} read", "it was", dark(), field),
            part,
            key="judges-gold-confusion",
            alt=f"What {name_item(field)} was, and what {who} read.",
        )


def show_retest(view: View) -> None:
    """Whether a judge says the same twice."""
    frame = cached(queries_bias.retest, view)
    section(
        "Does a judge say the same twice?",
        "The same judge on the same replies in a run and in a later scoring of it; share of verdicts that "
        "stayed the same.",
    )
    if frame.is_empty():
        known = cached(read.facets, View(), ("runs",))["value"].to_list()
        runs = view.runs or tuple(known) or ("RUN",)
        with st.container(border=True):
            st.markdown(
                "No judge has judged the same replies twice yet. Score a run again with its own judges; it "
                "costs the judges' "
                "calls only:"
            )
            show_code(f"python -m cxlab score {runs[0]}")
        return
    for kind, words in KINDS.items():
        part = frame.filter(pl.col("kind") == kind)
        if part.height:
            st.caption(words)
            show_chart(
                draw.draw_means(
                    part, "judge", judge_names(part["judge"]), dark(), unit="share", title="% of verdicts that stayed"
                ),
                part,
                key=f"judges-retest-{kind}",
                alt=f"Share of {words.lower()} that a judge repeated.",
                columns=mean_columns("judge", "Judge", share=True),
            )
