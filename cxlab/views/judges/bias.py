"""The page Judges: who is strict, who favours whom, who is right, who says the same twice."""

import math
from collections.abc import Callable, Mapping

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.benchmarks import REGISTRY
from cxlab.charts.matrix import draw_confusion, name_item, name_judge
from cxlab.charts.numbers import format_count, format_ratio, format_share
from cxlab.metrics.classification import matthews_of_table
from cxlab.read import View
from cxlab.ui.address import cached, here, set_view
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import column, show_chart
from cxlab.views.benchmarks import declared, metrics_for, names_of
from cxlab.views.judges import charts as draw
from cxlab.views.judges import queries_agreement, queries_bias
from cxlab.views.judges.judge_columns import KINDS, judge_names, mean_columns, pick, show_no_votes
from cxlab.views.judges.measured_vs_judged import show_judged
from cxlab.views.judges.slices import Slices


def show_bias(
    view: View,
    filters: View,
    slices: Slices,
    rules: Mapping[str, str],
    show_rule: Callable[[str, View], None],
    first: str = "",
) -> None:
    """Who leans where, held against one thing at a time: the panel, the truth, a log, or a rule with versions; `first`
    where the address names none."""
    judged = {name: found for name in REGISTRY if (found := REGISTRY[name].judged)}
    against = {"each": "The panel", "truth": "The truth", **({"log": "The log"} if judged else {}), **rules}
    chosen = pick("Held against", against, "judges-against", first)
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
        show_gold(filters.change(field=view.field))
    else:
        show_strictness(filters)


def say_strictness(frame: pl.DataFrame) -> str:
    """Who grades lower than whom beyond chance (95 % intervals of their offsets do not touch), if anybody does."""
    ordered = frame.sort("mean", "judge")
    strict, mild = ordered.row(0, named=True), ordered.row(-1, named=True)
    if frame.height < 2 or strict["high"] is None or mild["low"] is None or strict["high"] >= mild["low"]:
        return "No judge grades lower than another beyond chance"
    return (
        f"{name_judge(strict['judge']).capitalize()} grades {mild['mean'] - strict['mean']:.2f} lower than "
        f"{name_judge(mild['judge'])}, beyond chance"
    )


def say_right(frame: pl.DataFrame) -> str:
    """Who reads the truth more often than whom beyond chance; `frame`: judge, mean, low, high, the best first."""
    best, least = frame.row(0, named=True), frame.row(-1, named=True)
    names = ["the panel" if row["judge"] == "panel" else name_judge(row["judge"]) for row in (best, least)]
    if best["low"] is not None and least["high"] is not None and best["low"] > least["high"]:
        told = f"{names[0]} is right more often than {names[1]}: {format_share(best['mean'])}, not "
        return told[0].upper() + told[1:] + format_share(least["mean"])
    return f"Who is right most often cannot be told: {format_share(least['mean'])} to {format_share(best['mean'])}"


def show_strictness(view: View) -> None:
    """Who grades strictly, who likes words, and who favours its own."""
    frame = cached(queries_bias.severity, view, metrics_for(lambda card: card.reply_length))
    if frame.is_empty():
        st.info("No grades under these filters.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        section(
            plain(say_strictness(frame)),
            "Mean offset from the panel's mean on the same grade, on the scale of 3 to 9; over grades that "
            "all judges gave.",
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
            },
        )
    with right:
        wordy = frame.filter(pl.col("length").is_not_null()).sort("length", descending=True)
        finding = "How grades are spread"
        if wordy.height:
            finding = f"Grades go with length: correlation {wordy['length'][-1]:.2f} to {wordy['length'][0]:.2f}"
        lengths = ", ".join(f"{name_judge(j)} {r:.2f}" for j, r in wordy.select("judge", "length").iter_rows())
        section(
            plain(finding),
            plain(
                "Share of 3, 6 and 9. Correlation of a turn's mean grade with the reply's number of words: "
                f"{lengths or 'unknown'}."
            ),
        )
        show_chart(draw.draw_grades(frame, dark()), frame, key="judges-grades", alt="Share of grades by judge.")
    _show_favour(view)


def _show_favour(view: View) -> None:
    found = cached(queries_bias.favour, view)
    if found is None:
        return
    raw = pick("Shown", {"left": "What is left", "raw": "Mean grades"}, "judges-favour") == "raw"
    if math.isnan(found.difference):
        finding = "No judge is of a tested model's family"
        note = "Families: the vendor in front of the colon; each simulated model and endpoint is its own."
    else:
        finding = f"Family cells lie {found.difference:+.2f} above the rest, p = {found.p:.2f}"
        note = (
            "Family cells are outlined (here the wordy agent and the judge that likes words are made alike). "
            "p by reassigning "
            f"models to families; {len(found.models)} models allow no p below "
            f"{1 / max(len(found.models), 1):.2f} for one family cell."
        )
    section(
        plain(finding),
        plain(
            f"Left after taking out how strict each judge is and how good each model: r − row − column + mean. {note}"
        ),
    )
    frame = pl.DataFrame(
        [
            (judge, model, found.grades[y][x], found.residuals[y][x], int(found.n[y][x]), bool(found.own[y][x]))
            for y, judge in enumerate(found.judges)
            for x, model in enumerate(found.models)
        ],
        schema={
            "judge": pl.String,
            "model": pl.String,
            "grade": pl.Float64,
            "residual": pl.Float64,
            "n": pl.Int64,
            "family": pl.Boolean,
        },
        orient="row",
    )
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
            "residual": column("Residual", "ratio"),
            "n": column("Grades", "count"),
            "family": column("Family", "flag"),
        },
    )


def show_gold(view: View) -> None:
    """Judges against what the customer was made from."""
    filters = view.change(field="")
    frame = cached(queries_bias.against_gold, filters)
    if frame.is_empty():
        st.info("No last turns with known facts under these filters.")
        return
    pooled = cached(queries_bias.against_gold, filters, ("judge",)).sort(["mean", "judge"], descending=[True, False])
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
        part = cached(queries_bias.gold_confusion, filters, field).filter(pl.col("judge") == judge)
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
            st.code(f"python -m cxlab score {runs[0]}", language="bash")
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
