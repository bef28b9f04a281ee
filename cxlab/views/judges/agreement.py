"""The page Judges, first question: how far do the judges agree, and on what?"""

from collections.abc import Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.matrix import draw_confusion, name_item, name_judge
from cxlab.charts.numbers import format_count, format_ratio, format_share
from cxlab.read import View
from cxlab.ui.address import cached, go, here, set_view
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import figures, label, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.judges import charts as draw
from cxlab.views.judges import queries_agreement, queries_materiality
from cxlab.views.judges.bias import show_retest
from cxlab.views.judges.judge_columns import KINDS, pair_columns, pick, show_no_votes, show_one_judge, two
from cxlab.views.judges.slices import Slices

_MEASURES = {"agree": "Agreement, %", "kappa": "Kappa"}


_SKEW = "Kappa and alpha fall when one label has nearly all votes, so read them beside the plain agreement."


def show_agreement(view: View, filters: View, slices: Slices) -> None:
    """How far the judges agree with each other, and each with itself; `view` says what is looked at."""
    votes = cached(queries_agreement.panel, filters, slices.facets)
    if votes.is_empty():
        show_no_votes()
        return
    _show_figures(filters, votes, slices)
    if votes.height > 1:
        _show_pairs(filters.change(field=view.field, judges=view.judges), votes["judge"].to_list(), slices)
    else:
        show_one_judge()
    show_retest(filters)


def _show_figures(view: View, table: pl.DataFrame, slices: Slices) -> None:
    """The panel in four figures."""
    names = table["judge"].to_list()
    found = cached(reliability, view, names, slices)
    by_kind = {row["kind"]: row for row in found.iter_rows(named=True)}
    field, grade = by_kind.get("field", {}), by_kind.get("dimension", {})
    measures = cached(queries_materiality.materiality, view, None, slices.facets)
    way = {row["measure"]: row for row in measures.iter_rows(named=True)}.get("way")
    interval = (
        f" 95 % interval {format_share(way['low'])} to {format_share(way['high'])}, n {format_count(way['n'])} turns."
        if way
        else ""
    )
    figures(
        [
            ("Judged turns", format_count(max(table["turns"])), f"Turns with votes; {len(names)} judges on each."),
            (
                "Agree on fields",
                format_share(field.get("agree")),
                f"Two judges at random. Alpha {format_ratio(field.get('alpha'))}, n "
                f"{format_count(field.get('n'))} verdicts.",
            ),
            (
                "Agree on grades",
                format_share(grade.get("agree")),
                f"Two judges at random. Ordinal alpha {format_ratio(grade.get('alpha'))}, n "
                f"{format_count(grade.get('n'))}.",
            ),
            (
                "Splits that matter",
                format_share(way["mean"]) if way else "–",
                f"Turns on which two judges' own fields lead different ways.{interval}",
            ),
        ]
    )


def _show_pairs(view: View, panel: Sequence[str], slices: Slices) -> None:
    """Who agrees with whom, on what, and how reliable that is."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = pick("What is judged", KINDS, "judges-kind")
        measure = pick("Shown", _MEASURES, "judges-measure")
    filters = view.change(field="", judges=())
    pairs = queries_agreement.pairs(patterns(filters, panel, slices), panel).filter(pl.col("kind") == kind)
    if pairs.is_empty():
        st.info(f"No two judges have judged the same {KINDS[kind].lower()} under these filters.")
        return
    summary = queries_agreement.summarise(pairs, ("kind", "a", "b"))
    least = summary.sort("agree").row(0, named=True)
    weighted = "quadratically weighted kappa of 3, 6, 9" if kind == "dimension" else "Cohen's kappa"
    hardest = pairs.group_by("name").agg(pl.col("agree").mean()).sort("agree", "name").row(0, named=True)
    left, right = st.columns([4, 7], gap="large")
    with left:
        section(
            plain(say_pairs(summary)),
            f"{KINDS[kind]}, pooled by n over {least['fields']} of them; {weighted}. {_SKEW}",
        )
        picked = show_chart(
            draw.draw_agreement(summary, panel, measure, dark()),
            summary,
            key=f"judges-matrix-{kind}-{measure}",
            alt=f"Agreement of {len(panel)} judges with each other; {two(least['a'], least['b'])} agree least.",
            columns=pair_columns(),
            select=True,
        )
    with right:
        section(
            plain(say_fields(pairs)),
            "The lowest on top, an order of what was counted and not a test. Click a cell for its confusion and "
            "intervals.",
        )
        cell = show_chart(
            draw.draw_items(pairs, measure, dark()),
            pairs,
            key=f"judges-items-{kind}-{measure}",
            alt=f"Agreement by {KINDS[kind].lower()} and pair of judges; least on {name_item(hardest['name'])}.",
            columns={"name": column("Field" if kind == "field" else "Grade"), **pair_columns()},
            select=True,
        )
    # The address keeps which field and which two are looked at; a click puts others in.
    name = view.field if view.field in set(pairs["name"]) else hardest["name"]
    a, b = view.judges if view.judges in set(pairs.select("a", "b").iter_rows()) else (least["a"], least["b"])
    if cell:
        name, a, b = map(str, cell[0])
    elif picked:
        a, b = map(str, picked[0])
    if cell or picked:
        set_view(here().change(field=name, judges=(a, b)))
    _show_pair(view.change(field="", judges=()), name, a, b, slices)
    _show_reliability(filters, panel, kind, slices)
    _show_splits(filters, panel, kind, slices)


def say_pairs(summary: pl.DataFrame) -> str:
    """How far pairs of judges agree: from the lowest to the highest, which is no test of who agrees least."""
    if summary.height == 1:
        row = summary.row(0, named=True)
        pair = two(row["a"], row["b"])
        return f"{pair[0].upper()}{pair[1:]} agree on {format_share(row['agree'])}, n {format_count(row['n'])}"
    low, high = summary["agree"].min(), summary["agree"].max()
    return f"Two judges agree on {format_share(_number(low))} to {format_share(_number(high))}"


def say_fields(pairs: pl.DataFrame) -> str:
    """On how many verdicts of each field judges agree, with the lowest one named and its n."""
    of = pairs.group_by("name").agg((pl.col("agree") * pl.col("n")).sum() / pl.col("n").sum(), pl.col("n").sum())
    row = of.sort("agree", "name").row(0, named=True)
    lowest = f"{name_item(row['name'])}, n {format_count(row['n'])}"
    return f"By field agreement starts at {format_share(row['agree'])}: {lowest}"


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _show_pair(view: View, name: str, a: str, b: str, slices: Slices) -> None:
    found = cached(queries_agreement.pair, view, name, a, b, slices.facets)
    if found is None:
        return
    left, right = st.columns([6, 6], gap="large")
    with left:
        interval = f"95 % interval {format_share(found.share_low)} to {format_share(found.share_high)}"
        section(
            f"{plain(name_item(name))}: {plain(two(a, b))} agree on {format_share(found.share)}",
            f"{interval}; kappa {format_ratio(found.kappa)} ({format_ratio(found.kappa_low)} to "
            f"{format_ratio(found.kappa_high)}, bootstrap over samples); n {format_count(found.n)} turns.",
        )
        frame = pl.DataFrame(
            [
                (down, across, int(found.table[y][x]))
                for y, down in enumerate(found.labels)
                for x, across in enumerate(found.labels)
            ],
            schema={name_judge(a): pl.String, name_judge(b): pl.String, "n": pl.Int64},
            orient="row",
        )
        show_chart(
            draw_confusion(found.labels, found.table, name_judge(b), name_judge(a), dark(), name),
            frame,
            key="judges-confusion",
            alt=f"What {name_judge(a)} and {name_judge(b)} said of {name_item(name)}, as counts.",
        )
    with right:
        section("Where they part", "The commonest disagreements of these two on this field.")
        parted = (
            frame.filter((pl.col(name_judge(a)) != pl.col(name_judge(b))) & (pl.col("n") > 0))
            .sort("n", descending=True)
            .head(6)
        )
        show_table(
            parted.with_columns(share=pl.col("n") / found.n),
            {
                name_judge(a): column(f"{name_judge(a)} says"),
                name_judge(b): column(f"{name_judge(b)} says"),
                "n": column("Turns", "count"),
                "share": column("Of all", "share"),
            },
            key="judges-parted",
            alt="The commonest disagreements of the two judges.",
            downloads=False,
        )
        if "." in name and st.button("See these disagreements one by one", key="judges-to-queue"):
            st.query_params["group"] = name
            go(here().change(tab="review", field="", judges=()))


def _show_reliability(view: View, panel: Sequence[str], kind: str, slices: Slices) -> None:
    by = pick("Sliced by", slices.titles, "judges-slice")
    frame = queries_agreement.reliability(patterns(view, panel, slices, by), len(panel)).filter(pl.col("kind") == kind)
    whole = cached(reliability, view, list(panel), slices).filter(pl.col("kind") == kind)
    if frame.is_empty():
        return
    low = frame.filter(pl.col("alpha").is_not_null()).sort("alpha")
    total = whole.row(0, named=True)
    names = {value: slices.name(by, value) for value in frame["slice"]}
    finding = f"Krippendorff's alpha {format_ratio(total['alpha'])} for {KINDS[kind].lower()}"
    if low.height > 1:
        finding += (
            f"; by {slices.titles[by].lower()} {format_ratio(low['alpha'][0])} to {format_ratio(low['alpha'][-1])}"
        )
    section(
        plain(finding),
        f"Agreement: of two judges at random. Alpha {'ordinal' if kind == 'dimension' else 'nominal'}, missing votes "
        f"allowed; Fleiss' kappa {format_ratio(total['fleiss'])} where all judged; by field, pooled by n = "
        f"{format_count(total['n'])} verdicts. {_SKEW}",
    )
    show_chart(
        draw.draw_reliability(frame, names, dark()),
        frame.drop("kind"),
        key=f"judges-reliability-{kind}-{by}",
        alt=f"Agreement and alpha by {by}.",
        columns={
            "slice": column(slices.titles[by]),
            "n": column("Verdicts", "count"),
            "agree": column("Agreement", "share", "Of two judges at random."),
            "unanimous": column("Unanimous", "share"),
            "fleiss": column("Fleiss' kappa", "ratio"),
            "alpha": column("Alpha", "ratio"),
        },
    )


def _show_splits(view: View, panel: Sequence[str], kind: str, slices: Slices) -> None:
    frame = queries_agreement.splits(patterns(view, panel, slices), len(panel)).filter(pl.col("kind") == kind)
    together = frame.group_by("split").agg(pl.col("n").sum()).with_columns(share=pl.col("n") / pl.col("n").sum())
    share = dict(together.select("split", "share").iter_rows())
    section(
        f"{format_share(share.get('unanimous', 0.0))} of verdicts are unanimous, "
        f"{format_share(share.get('tie', 0.0))} end in a tie",
        "A majority decides; a tie decides nothing, and a turn whose path needs that field is not scored. "
        "Votes outside "
        "the options never count. The most divided on top.",
    )
    show_chart(
        draw.draw_splits(frame, dark()),
        frame.drop("kind"),
        key=f"judges-splits-{kind}",
        alt="How votes fell, by field.",
        columns={
            "name": column("Field"),
            "split": column("Split"),
            "n": column("Turns", "count"),
            "share": column("Share", "share"),
        },
    )
    table = cached(queries_agreement.panel, view, slices.facets)
    section(
        "Votes that could not be used", "A failed reply loses all its verdicts; one outside the options loses itself."
    )
    show_table(
        table.with_columns(name=pl.col("judge").map_elements(label, return_dtype=pl.String)),
        {
            "name": column("Judge"),
            "turns": column("Votes", "count"),
            "failed": column("Failed replies", "count"),
            "verdicts": column("Verdicts", "count"),
            "oov": column("Outside the options", "count"),
            "missing": column("Missing", "count"),
            "latency_s": column("Time a vote", "seconds"),
            "cost_usd": column("Cost a vote", "usd"),
        },
        key="judges-panel",
        alt="Votes by judge, and how many could not be used.",
    )


def patterns(view: View, panel: Sequence[str], slices: Slices, by: str | None = None) -> pl.DataFrame:
    """`queries_agreement.patterns`, remembered: pairs, splits and reliability are all made from it."""
    return cached(queries_agreement.patterns, view, list(panel), by, slices.facets)


def reliability(view: View, panel: Sequence[str], slices: Slices) -> pl.DataFrame:
    """The whole panel's reliability by kind."""
    return queries_agreement.reliability(patterns(view, panel, slices), len(panel))
