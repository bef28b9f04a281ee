"""The page Judges: which judge one would drop, and the figures that say so."""

from collections.abc import Mapping, Sequence

import polars as pl
import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.charts.matrix import name_judge
from cxlab.charts.names import begin, name_each
from cxlab.charts.numbers import (
    format_change,
    format_changes,
    format_count,
    format_decimals,
    format_points,
    format_share,
)
from cxlab.charts.theme import SIMULATED_PREFIX
from cxlab.read import View, decisions
from cxlab.records.benchmark_card import Declaration
from cxlab.records.decimals import write_decimals
from cxlab.ui.address import cached, link
from cxlab.ui.labels import ROUNDED, label, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared_all, leave_out_floors, metrics_for, names_of
from cxlab.views.judges import queries_agreement, queries_bias, queries_leave_out, queries_materiality
from cxlab.views.judges.bias import say_favour, say_length, say_strictness
from cxlab.views.judges.judge_columns import UNMEASURED, filled, leave_unmeasured
from cxlab.views.judges.raters import judges_with_people
from cxlab.views.judges.slices import Slices, find_slices
from cxlab.views.judges.verdicts.page import open_verdicts


def show_leave_out(view: View, compared: View, votes: pl.DataFrame, slices: Slices) -> None:
    """Each judge left out: whether the rest is right as often, whether models keep their order, and what is saved."""
    judges = votes["judge"].to_list()
    frame = leave_unmeasured(votes).select("judge", "cost_usd", "latency_s")
    truth = cached(measure, view, judges, slices)
    ranks = queries_leave_out.ranks_without(cached(queries_materiality.alone, compared, slices.facets))
    people = judges_with_people(view, decisions.outcomes(cached(decisions.decisions)))
    people = people.select("judge", decided="n", same="agree", same_low="low", same_high="high")
    for part in (truth, ranks, people):
        frame = frame.join(part, on="judge", how="left")
    if all(frame[name].null_count() == frame.height for name in frame.columns if name != "judge"):
        section(
            plain(say_drop(frame)), "Decide disagreements under Review: each judge then stands beside people's word."
        )
        return
    section(
        plain(say_drop(frame)),
        "Each judge left out of the majority in turn, where the truth is known: what the customer was made from, on "
        f"last turns, or the log. Change: right without it minus right with it, in points, with a 95 % interval paired "
        f"by sample and corrected for {frame.height} judges; a loss or gain is claimed where that leaves out 0. A tie "
        "is decided by lot: of two labels, one of them right, it counts as half right. A judge's row "
        "has the verdicts on which it voted, so n differs where one was missing or outside the options."
        + (f" {UNMEASURED}" if any(judge.startswith(SIMULATED_PREFIX) for judge in judges) else ""),
    )
    if grades := say_grades(view, slices):
        st.markdown(plain(f"The table tells of fields alone. {grades}"))
        link("See Bias", "judges", view.change(tab="bias"))
    shown = frame.with_columns(
        pl.col("change") * 100.0,
        reach=pl.Series([_say_interval(row) for row in frame.iter_rows(named=True)], dtype=pl.String),
        name=name_each(frame["judge"], name_judge),
    )
    if not truth.is_empty():
        panel = find_whole(truth).select("n", judge=pl.lit("panel"), name=pl.lit("none"), rest=pl.col("whole"))
        shown = pl.concat([panel, shown], how="diagonal")
    # Heads and words are short, so that all columns of a panel of stand-ins show in a window of 1024 pixels.
    chosen = show_table(
        shown,
        filled(
            shown,
            {
                "name": column("Judge left out"),
                "rest": column("Rest right", "share", "How often the majority of those who are left is right."),
                "change": column("Change", "points", f"Points: right without it minus right with it. {ROUNDED}"),
                "reach": column("95 % interval", help="Of the change, in points."),
                "undecided": column("Others tie", "share", "What the others leave undecided: a tie scores nothing."),
                "alone": column("Alone", "share", "How often it is right by itself."),
                "n": column("n", "count", "Verdicts of known truth on which it voted beside another."),
                "moved": column("Moved", "count", "Models whose rank is another without it."),
                "tau": column("Ranking kept", "ratio", "Order of the models without it beside that with it: 1 the same,"
                              " 0 none, -1 reversed (Kendall's tau-b)."),
                "same": column("As people", "share", "How often it said what people decided."),
                "decided": column("Decided", "count", "Disagreements that people have decided."),
                "latency_s": column("Time a reply", "seconds", "What is saved without it, a reply."),
                "cost_usd": column("Cost a reply", "usd", "What is saved without it, a reply."),
            },
        ),
        key="judges-leave-out",
        alt="What the panel would be without each judge.",
        select="single",
    )  # fmt: skip
    st.caption("Click a judge's row to read the verdicts that it counts.")
    if chosen and chosen[0]["judge"] in judges:
        open_verdicts((chosen[0]["judge"],), kept="known")


def say_grades(view: View, slices: Slices) -> str:
    """What stands against a judge in its grades: leniency, length and favour, as far as it is sure; "" without any."""
    lengths = metrics_for(lambda card: card.reply_length)
    frame = cached(queries_bias.severity, view, lengths, slices.facets)
    if frame.is_empty():
        return ""
    told = [say_strictness(frame), say_length(frame)]
    favour = cached(queries_bias.favour, view, lengths, slices.facets)
    if favour is not None:
        told.append(say_favour(favour))
    return begin("; ".join(each[:1].lower() + each[1:] for each in told)) + "."


def show_findings(view: View, benchmarks: Sequence[str]) -> None:
    """Which judge one would drop, benchmark by benchmark, with the way to the views that say so."""
    for name in benchmarks:
        about = declared_all([name], union=True)
        filters = leave_out_floors(view.filters().change(benchmark=name, judges=(), metric=""), about)
        if told := find_drop(filters, find_slices(about, [name])):
            title = names_of([name])[name]
            said, way = st.columns([8, 2.2], vertical_alignment="center")
            said.markdown(f"**{plain(title + say_narrowed(filters, about))}:** {plain(told)}.")
            with way:
                link("Judge by judge", "judges", filters.change(benchmark=name, tab="changes", without=()))


def say_narrowed(view: View, about: Declaration) -> str:
    """The filters in force, as one may have come with them from another page: ", scenario: airline refund"."""
    told = [f"{about.title(name).lower()}: {', '.join(about.value(name, each) for each in values)}"
            for name, values in view.facets]  # fmt: skip
    told += [f"model: {', '.join(map(label, view.models))}"] if view.models else []
    told += [f"{len(view.runs)} run{'' if len(view.runs) == 1 else 's'} alone"] if view.runs else []
    return "".join(f", {each}" for each in told)


def find_drop(view: View, slices: Slices) -> str:
    """Which judge one would drop, in a sentence, of the first panel where there are several; "" without a second
    judge."""
    panels = cached(queries_agreement.panels, view)
    view = view.change(runs=panels[0].runs) if len(panels) > 1 else view
    votes = cached(queries_agreement.panel, view, slices.facets)
    if votes.height < 2:
        return ""
    return say_drop(cached(measure, view, votes["judge"].to_list(), slices))


def measure(view: View, judges: list[str], slices: Slices) -> pl.DataFrame:
    """`queries_leave_out.without_each` of a view."""
    both_ways = REGISTRY[view.benchmark].judged if view.benchmark in REGISTRY else None
    opinions = sorted(both_ways.opinions) if both_ways else []
    votes = cached(queries_leave_out.votes_with_truth, view, judges, opinions, slices.facets)
    return queries_leave_out.without_each(votes, judges)


def find_whole(frame: pl.DataFrame) -> pl.DataFrame:
    """The one row whose `whole` stands for the panel: of the judge who voted on most, as each has its own verdicts."""
    return frame.sort("n", "judge").tail(1)


def say_drop(frame: pl.DataFrame) -> str:
    """Which judge can go: one without which the rest is right more often, beyond chance; else none that must stay."""
    known = frame.filter(pl.col("low").is_not_null())
    if known.is_empty():
        return "Which judge to drop cannot be told: no truth is known of what they were asked"
    if frame.height == 2:
        return _say_pair(known, frame["judge"].to_list())
    better = known.filter(pl.col("low") > 0).sort("change", descending=True)
    if better.height:
        row = better.row(0, named=True)
        rest, whole = _write_shares(row)
        return (
            f"Drop {name_judge(row['judge'])}: without it the panel is right on {rest}, not "
            f"{whole} ({_reach(row)}, n {format_count(row['n'])} verdicts)"
        )
    needed = [name_judge(judge) for judge in known.filter(pl.col("high") < 0)["judge"]]
    free = known.filter(pl.col("high") >= 0).sort(pl.col("change"), descending=True)
    if free.is_empty():
        least = known.filter(pl.col("least"))
        if least.is_empty():
            rows = list(known.sort("change", descending=True).iter_rows(named=True))
            whole = find_whole(known)["whole"][0]
            lost = ", ".join(f"{_lost(each)} points without {name_judge(each['judge'])}" for each in rows)
            return (
                f"Drop none: the whole panel is right on {format_share(whole)}, and less often without any of them "
                f"({lost}); which of them is the weakest is not sure"
            )
        row = least.row(0, named=True)
        return (
            f"Drop none: without any of them the panel is right less often. If one must go, {name_judge(row['judge'])} "
            f"is missed least ({_reach(row)})"
        )
    row = free.row(0, named=True)
    *first, last = needed or [""]
    named = f"{', '.join(first)} or {last}" if first else last
    if not needed:
        rest, whole = _write_shares(row)
        return (
            f"No judge is missed beyond chance: without {name_judge(row['judge'])} the panel is right on "
            f"{rest}, with it on {whole} ({_reach(row)}, "
            f"n {format_count(row['n'])} verdicts)"
        )
    names = " or ".join(name_judge(judge) for judge in free["judge"])
    lost = f"nothing is lost beyond chance ({_reach(row)}); without {named} the panel is right less often"
    return f"{names[0].upper()}{names[1:]} can go: {lost}"


def _say_pair(known: pl.DataFrame, judges: Sequence[str]) -> str:
    """Of two judges: each without the other is one judge, so what is told is which of them is right more often."""
    row = known.sort("change", descending=True).row(0, named=True)
    weaker, n = name_judge(row["judge"]), f"n {format_count(row['n'])} verdicts of known truth"
    other = next(name_judge(judge) for judge in judges if judge != row["judge"])
    rest, whole = _write_shares(row)
    shares = f"{other} alone is right on {rest}"
    if row["low"] > 0:
        return (
            f"Of the two judges {weaker} is the weaker one: {shares}, both together on {whole} "
            f"({_reach(row)}, {n}). Without it one judge is left, and no panel"
        )
    return (
        f"Neither of the two judges is the weaker one beyond chance: {shares}, both together on "
        f"{whole} ({_reach(row)}, {n})"
    )


def _write_shares(row: Mapping[str, float]) -> tuple[str, str]:
    """How often the panel is right without a judge and with it; with one more digit where the two would else give
    another difference than the one that stands beside them."""
    rest, whole = (100 * row[each] for each in ("rest", "whole"))
    written = round(float(write_decimals(rest)) - float(write_decimals(whole)), 1)
    places = 1 if written == float(write_decimals(100 * row["change"])) else 2
    return f"{format_decimals(rest, places)} %", f"{format_decimals(whole, places)} %"


def _lost(row: Mapping[str, float]) -> str:
    return format_points(-100 * row["change"])


def _say_interval(row: Mapping[str, float | None]) -> str | None:
    """ "−1.9 to −0.9" of the ends as shares."""
    low, high = row["low"], row["high"]
    return None if low is None or high is None else format_changes(100 * low, 100 * high)


def _reach(row: Mapping[str, float]) -> str:
    """ "+0.4 points, +0.1 to +0.7"."""
    return f"{format_change(100 * row['change'])} points, {format_changes(100 * row['low'], 100 * row['high'])}"
