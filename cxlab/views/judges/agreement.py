"""The page Judges, first question: how far do the judges agree, and on what?"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.matrix import draw_confusion, name_item, name_judge
from cxlab.charts.names import begin, name_each, name_id
from cxlab.charts.numbers import format_count, format_ratio, format_share
from cxlab.read import View, procedures
from cxlab.ui.address import cached, go, here, set_view
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import is_new
from cxlab.ui.labels import figures, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import questions_of
from cxlab.views.judges import charts as draw
from cxlab.views.judges import queries_agreement, queries_materiality
from cxlab.views.judges.bias import show_retest
from cxlab.views.judges.judge_columns import (
    KINDS,
    PAIR_WORDS,
    UNMEASURED,
    filled,
    leave_unmeasured,
    name_labels,
    pair_columns,
    pick,
    say_turns,
    show_no_votes,
    show_one_judge,
    two,
)
from cxlab.views.judges.slices import Slices
from cxlab.views.judges.verdicts.page import open_verdicts

_MEASURES = {"agree": "Agreement, %", "kappa": "Kappa"}
_WRITE = {"agree": format_share, "kappa": format_ratio}
_SAID = {"agree": "agree on", "kappa": "have a kappa of"}


_SKEW = "Kappa and alpha fall when one label has nearly all verdicts, so read them beside the plain agreement."
_ALPHA = (
    "Alpha (Krippendorff's): agreement of all judges beyond chance, 1 full and 0 chance; verdicts may be missing. "
    "Fleiss' kappa: the same where all judged."
)


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
    measures = cached(queries_materiality.materiality, view, None, slices.facets)
    way = {row["measure"]: row for row in measures.iter_rows(named=True)}.get("way")
    judged = max(table["turns"])
    interval = (
        f" 95 % interval {format_share(way['low'])} to {format_share(way['high'])}; {say_turns(way['n'], judged)}."
        if way
        else ""
    )
    figures(
        [
            ("Judged turns", format_count(judged), f"Turns that judges read; {len(names)} judges on each."),
            *(
                (
                    f"Agree on {KINDS[kind].lower()}",
                    format_share(row["agree"]),
                    f"Two judges at random. Alpha {format_ratio(row['alpha'])}, n {format_count(row['n'])} verdicts.",
                )
                for kind in KINDS
                if (row := by_kind.get(kind))
            ),
            *(
                [
                    (
                        "Splits that matter",
                        format_share(way["mean"]),
                        f"Turns on which two judges' own fields lead different ways.{interval}",
                    )
                ]
                if way
                else []
            ),
        ]
    )


def _show_pairs(view: View, panel: Sequence[str], slices: Slices) -> None:
    """Who agrees with whom, on what, and how reliable that is."""
    filters = view.change(field="", judges=())
    found = cached(pairs_of, filters, list(panel), slices)
    kinds = {kind: words for kind, words in KINDS.items() if kind in set(found["kind"])}
    if not kinds:
        st.info("No two judges have judged the same thing under these filters.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = pick("What is judged", kinds, "judges-kind") if len(kinds) > 1 else next(iter(kinds))
        measure = pick("Shown", _MEASURES, "judges-measure")
    pairs = found.filter(pl.col("kind") == kind)
    summary = queries_agreement.summarise(pairs, ("kind", "a", "b"))
    least = queries_agreement.lowest(summary, measure)
    weighted = "Kappa, weighted by the square of the distance," if kind == "dimension" else "Cohen's kappa"
    hardest = queries_agreement.lowest(pairs, measure)
    left, right = st.columns([4, 7], gap="large")
    with left:
        section(
            plain(say_pairs(summary, measure)),
            f"{KINDS[kind]}, pooled by n over {least['fields']} of them. {weighted} is agreement beyond chance: 1 "
            f"full, 0 chance. {_SKEW}",
        )
        picked = show_chart(
            draw.draw_agreement(summary, panel, measure, dark()),
            summary,
            key=f"judges-matrix-{kind}-{measure}",
            alt=f"Agreement of {len(panel)} judges with each other; the lowest: {two(least['a'], least['b'])}.",
            columns=pair_columns(),
            words=PAIR_WORDS,
            select=True,
        )
    with right:
        section(
            plain(say_lowest(hardest, measure)),
            "The field with the lowest cell on top: an order of what was counted, not a test. Below stands that cell "
            "with its interval; click another for its own.",
        )
        cell = show_chart(
            draw.draw_items(pairs, measure, dark()),
            pairs,
            key=f"judges-items-{kind}-{measure}",
            alt=f"Agreement by {KINDS[kind].lower()} and pair of judges; least on {name_item(hardest['name'])}.",
            columns={"name": column("Field" if kind == "field" else "Grade"), **pair_columns()},
            words={"name": name_item, **PAIR_WORDS},
            select=True,
        )
    # The address keeps which field and which two are looked at; a click puts others in.
    new_cell, new_pair = is_new("judges-cell", cell), is_new("judges-pair", picked)
    if new_cell:
        name, a, b = map(str, cell[0])
        set_view(here().change(field=name, judges=(a, b)))
    elif new_pair:
        name, a, b = find_cell(pairs, "", (str(picked[0][0]), str(picked[0][1])), measure)
        set_view(here().change(field=name, judges=(a, b)))
    else:
        name, a, b = find_cell(pairs, view.field, view.judges, measure)
    _show_pair(view.change(field="", judges=()), name, a, b, slices)
    _show_reliability(filters, panel, kind, slices)
    _show_splits(filters, panel, kind, slices)


def find_cell(pairs: pl.DataFrame, name: str, judges: tuple[str, ...], measure: str) -> tuple[str, str, str]:
    """The cell that is looked at, as field and two judges: what is asked for, and of what is not asked the lowest."""
    for wanted in ((name, judges), (name, ()), ("", judges), ("", ())):
        found = pairs.filter(pl.col("name") == wanted[0]) if wanted[0] else pairs
        if wanted[1]:
            found = found.filter(pl.concat_list("a", "b").list.set_difference(list(wanted[1])).list.len() == 0)
        if found.height:
            row = queries_agreement.lowest(found, measure)
            break
    return row["name"], row["a"], row["b"]


def say_pairs(summary: pl.DataFrame, measure: str) -> str:
    """How far pairs of judges agree: from the lowest to the highest, which is no test of who agrees least."""
    write, said = _WRITE[measure], _SAID[measure]
    if summary.height == 1:
        row = summary.row(0, named=True)
        return begin(f"{two(row['a'], row['b'])} {said} {write(row[measure])}, n {format_count(row['n'])}")
    low, high = summary[measure].min(), summary[measure].max()
    return f"Two judges {said} {write(_number(low))} to {write(_number(high))}"


def say_lowest(row: Mapping[str, Any], measure: str) -> str:
    """The lowest cell: on what, who, how far and of how many turns."""
    said = f"{two(row['a'], row['b'])} {_SAID[measure]} {_WRITE[measure](row[measure])}"
    return f"The lowest, {name_item(row['name'])}: {said}, n {format_count(row['n'])}"


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
            plain(begin(f"{name_item(name)}: {two(a, b)} agree on {format_share(found.share)}")),
            f"{interval}; kappa {format_ratio(found.kappa)} ({format_ratio(found.kappa_low)} to "
            f"{format_ratio(found.kappa_high)}, bootstrap over samples); n {format_count(found.n)} turns.",
        )
        if question := _find_question(view.benchmark, name):
            first, *options = name_labels(question).splitlines()
            st.caption(f"Asked: {plain(first)}", help="\n\n".join(map(plain, options)) or None)
        frame = pl.DataFrame(
            [
                (name_id(down), name_id(across), int(found.table[y][x]))
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
        apart = int(found.table.sum() - found.table.trace())
        words = "this disagreement" if apart == 1 else f"these {format_count(apart)} disagreements one by one"
        if apart and st.button(f"See {words}", key="judges-to-queue"):
            st.query_params["group"] = name
            st.session_state["review-come-up"] = True
            go(here().change(tab="review", field="", judges=(a, b), attempt="", turn=None))
        if st.button(f"List all {format_count(found.n)} verdicts of both", key="judges-to-verdicts"):
            open_verdicts((a, b), name)


def _find_question(benchmark: str, item: str) -> str:
    """What judges are asked of an item of Agreement, "FIELD" or "PROCEDURE.FIELD"; "" where that is not declared."""
    procedure, _, field = item.rpartition(".")
    facets = {procedures.facet_of(benchmark): procedure} if procedure else {}
    return cached(questions_of, benchmark, facets, {}).get(field, "")


def _show_reliability(view: View, panel: Sequence[str], kind: str, slices: Slices) -> None:
    by = pick("Sliced by", slices.titles, "judges-slice")
    frame = cached(reliability, view, list(panel), slices, by).filter(pl.col("kind") == kind)
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
        f"{_ALPHA} Here {format_ratio(total['fleiss'])}. By field, pooled by n = {format_count(total['n'])} verdicts; "
        f"{'grades by their order' if kind == 'dimension' else 'labels without an order'}. Agreement: of two judges at "
        f"random. {_SKEW}",
    )
    show_chart(
        draw.draw_reliability(frame, names, dark()),
        frame.drop("kind"),
        key=f"judges-reliability-{kind}-{by}",
        words={"slice": lambda value: names.get(value, value)},
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
    frame = cached(splits_of, view, list(panel), slices).filter(pl.col("kind") == kind)
    together = frame.group_by("split").agg(pl.col("n").sum()).with_columns(share=pl.col("n") / pl.col("n").sum())
    share = dict(together.select("split", "share").iter_rows())
    ties = int(together.filter(pl.col("split") == "tie")["n"].sum())
    section(
        f"{format_share(share.get('unanimous', 0.0))} of verdicts are unanimous, "
        f"{format_count(ties)} of {format_count(int(together['n'].sum()))} end in a tie",
        "A majority decides; a tie decides nothing, and a turn whose path needs that field is not scored. "
        "Verdicts outside the options never count. The most divided on top.",
    )
    show_chart(
        draw.draw_splits(frame, dark()),
        frame.drop("kind"),
        key=f"judges-splits-{kind}",
        words={"name": name_item},
        alt="How verdicts fell, by field.",
        columns={
            "name": column("Field"),
            "split": column("Split"),
            "n": column("Turns", "count"),
            "share": column("Share", "share"),
        },
    )
    table = leave_unmeasured(cached(queries_agreement.panel, view, slices.facets))
    section(
        "Verdicts that could not be used",
        "A failed reply loses all its verdicts; one outside the options loses itself.",
    )
    chosen = show_table(
        table.with_columns(name=name_each(table["judge"], name_judge)),
        filled(
            table,
            {
                "name": column("Judge"),
                "turns": column("Replies", "count"),
                "failed": column("Failed replies", "count"),
                "verdicts": column("Verdicts", "count"),
                "oov": column("Outside the options", "count"),
                "missing": column("Missing", "count"),
                "latency_s": column("Time a reply", "seconds", UNMEASURED),
                "cost_usd": column("Cost a reply", "usd", UNMEASURED),
            },
        ),
        key="judges-panel",
        alt="Replies by judge, and how many verdicts could not be used.",
        select="single",
    )
    if chosen:
        open_verdicts((chosen[0]["judge"],), kept="unused")


def patterns(view: View, panel: Sequence[str], slices: Slices, by: str | None = None) -> pl.DataFrame:
    """`queries_agreement.patterns`, remembered: pairs, splits and reliability are all made from it."""
    return cached(queries_agreement.patterns, view, list(panel), by, slices.facets)


def pairs_of(view: View, panel: Sequence[str], slices: Slices) -> pl.DataFrame:
    """Each two judges on each field."""
    return queries_agreement.pairs(patterns(view, panel, slices), panel)


def splits_of(view: View, panel: Sequence[str], slices: Slices) -> pl.DataFrame:
    """How verdicts fell on each field."""
    return queries_agreement.splits(patterns(view, panel, slices), len(panel))


def reliability(view: View, panel: Sequence[str], slices: Slices, by: str | None = None) -> pl.DataFrame:
    """The whole panel's reliability by kind, and by slice where it is sliced."""
    return queries_agreement.reliability(patterns(view, panel, slices, by), len(panel))
