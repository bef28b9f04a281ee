"""Groups of alike failures on the page: the largest as bars, the worst in words, the one in force, and what failed on
the way."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.failure_names import describe_event, describe_group, name_group, say_commonest, say_doing, say_size
from cxlab.charts.numbers import format_count
from cxlab.read import View, failures
from cxlab.read.attempts import benchmarks, facets
from cxlab.read.comparison.score_sums import FullScore
from cxlab.read.failure_kinds import name_kind
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, go, link
from cxlab.ui.app_frame import dark
from cxlab.ui.choices import choose
from cxlab.ui.labels import label, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.failures.charts import draw_groups, say_lost, say_total, say_typical

_MOST_WORST = 3
# What makes failures alike, by the part that draws an attempt.
_ALIKE = {
    "procedure": "failures of one scenario and kind that leave the way at the same stage by the same step with the "
    "same value misread; unreadable replies and faults of a provider wherever they come"
}


def titles_of(about: Declaration) -> dict[str, str]:
    """Task → its title; those of all benchmarks where the page looks at all."""
    cards = [about.card] if about.card.id else [declared(name).card for name in cached(benchmarks)["benchmark"]]
    return {task.id: task.title for card in cards for task in card.tasks}


def _say_shown(shown: int, groups: int, which: str) -> str:
    """How many groups are shown; "" where there is one alone."""
    if shown < groups:
        return f"Shown: the {shown} groups of {format_count(groups)} {which}. "
    return f"Shown: all {shown} groups. " if shown > 1 else ""


def show_groups(view: View, about: Declaration, groups: pl.DataFrame) -> None:
    """The largest groups as bars; a click narrows the page to one."""
    if view.alike:
        show_group(view, about)
        return
    if groups.is_empty():
        return
    titles, things = titles_of(about), about.card.unit
    by_points = view.weight == "points" and has_one_point(view, about)
    if has_one_point(view, about):
        names = {"": f"By {things[1]}", "points": "By points lost"}
        choose(view, "weight", "Order of groups", list(names), names=names, style="segments")
    alike = _ALIKE.get(
        about.attempt_view,
        "failures of one task with the same reason at the same place; unreadable replies and faults of a provider "
        "wherever they come",
    )
    first = groups.row(0, named=True)
    finding = say_commonest({**first, "level": 1} if by_points else first, things, titles)
    head = "Most points lost" if by_points else "Most often"
    unscored = f", {format_count(first['of_unscored'])} of them without a verdict" if first["of_unscored"] else ""
    below = f"{say_lost(first, things)}: what its {things[1]} are below a full score. {say_total(first, things)}"
    lost = below if by_points else ""
    section(
        plain(f"{head}: {finding}" if by_points or first["level"] == 1 else finding),
        f"{lost}{say_size(first['n'], first['attempts'], things)}, of "
        f"{format_count(first['of'])} failure{'s' if first['of'] != 1 else ''} in "
        f"{format_count(first['of_attempts'])} {things[first['of_attempts'] != 1]}{unscored}. "
        f"{_say_shown(groups.height, first['groups'], 'that lost most' if by_points else f'in most {things[1]}')}"
        f"Alike: {alike}. "
        f"Click a bar to see its {things[1]}.",
    )
    _show_worst(view, about, groups)
    named = groups.with_columns(
        what=pl.Series([describe_group(row, titles)[0] for row in groups.iter_rows(named=True)]),
        where=pl.Series([describe_group(row, titles)[1] for row in groups.iter_rows(named=True)]),
    )
    columns = {
        "what": column("What happened", width="large"),
        "where": column("Where", width="large"),
        "attempts": column(things[1].capitalize(), "count"),
        "deciding": column(
            "Verdict stands on it", "count", f"In how many {things[1]}: elsewhere another failure came first."
        ),
        "share": column("Share", "share", f"Of the {things[1]} under the filters that failed or got no verdict."),
        "n": column("Failures", "count", "One of them can fail alike several times."),
        "lost": column("Points lost", "points", "What the scored ones of its attempts are below a full score, summed."),
        "owner": column("Whose doing", width="small"),
        "disputed": column(
            "Disputed", "count", f"{things[1].capitalize()} of which people say it was another's doing."
        ),
        "models": column("Models"),
    }
    if not groups["disputed"].sum():
        del columns["disputed"]
    if groups["lost"].null_count() == groups.height:
        del columns["lost"]
    alt = f"The {groups.height} largest groups of alike failures. {finding}."
    picked = show_chart(
        draw_groups(groups, dark(), titles, things, by_points),
        named,
        key="groups",
        alt=alt,
        columns=columns,
        select=True,
    )
    if picked:
        go(view.change(alike=str(picked[0][0])))


def has_one_point(view: View, about: Declaration) -> bool:
    """Whether points under the view are all of one figure: what tasks lose by different ones does not add up."""
    if not about.card.id or not full_scores(about):
        return False
    tried = view.tasks or cached(facets, View(about.card.id), ("tasks",))["value"].to_list()
    return len({task.metric for task in about.card.tasks if task.id in tried}) == 1


def full_scores(about: Declaration) -> tuple[FullScore, ...]:
    """What attempts lose points against, of one benchmark or of all in the store: their own task's main figure at its
    best; of one without a scale nothing is known."""
    cards = [about.card] if about.card.id else [declared(name).card for name in cached(benchmarks)["benchmark"]]
    scales = [(card.id, task, card.scale(task.metric)) for card in cards for task in card.tasks]
    return tuple(FullScore(name, task.id, task.metric, scale[1]) for name, task, scale in scales if scale)


def ordered_by(about: Declaration, order: str) -> tuple[FullScore, ...]:
    """By what attempts of several benchmarks are put in order where their scores decide it; of all of them scores are
    read then, so for no other order."""
    return full_scores(about) if not about.card.id and order in ("worst", "best") else ()


def weighed_by(view: View, about: Declaration) -> tuple[FullScore, ...]:
    """By what groups are weighed under a view: points are summed only where they are told, as all scores are read."""
    told = view.weight == "points" or len(view.models) == 1 or len(view.runs) == 1
    return full_scores(about) if told and has_one_point(view, about) else ()


def _show_worst(view: View, about: Declaration, groups: pl.DataFrame) -> None:
    """The three worst things of the one model that is looked at, each with whose doing it was and where it is read."""
    if len(view.models) != 1 and len(view.runs) != 1:
        return
    titles, things = titles_of(about), about.card.unit
    known = groups["lost"].null_count() < groups.height
    by_points = view.weight == "points" and has_one_point(view, about)
    who = plain(" and ".join(map(label, groups["models"][0])))
    with st.container(gap=None, key="failures-worst"):
        st.markdown(f"**The worst that {who} does, {'by points lost' if by_points else f'by {things[1]}'}**")
        for place, row in enumerate(groups.head(_MOST_WORST).iter_rows(named=True), 1):
            what, where = name_group(row, titles), describe_group(row, titles)[1]
            size = say_size(row["n"], row["attempts"], things) + ("" if by_points else say_level(row, things))
            size += f", {say_lost(row, things, row['lost_in_all'])}" if known else ""
            link(f"{place}. {what}", "failures", view.change(alike=str(row["alike"])))
            told = f"{size}{_say_deciding(row, about)}; {say_doing(row) or 'nobody says whose doing'}"
            st.caption(plain(f"{told}. {where}."))
        if told := say_most_deciding(groups, titles, things):
            st.caption(plain(told))


def say_level(row: Mapping[str, Any], things: tuple[str, str]) -> str:
    """That other groups are in as many attempts, so that which of them stands first is chance."""
    others = row["level"] - 1
    return f" (as many {things[1]} as {format_count(others)} other group{'s'[: others > 1]})" if others > 0 else ""


def say_most_deciding(groups: pl.DataFrame, titles: Mapping[str, str], things: tuple[str, str]) -> str:
    """On which group the verdict stands most often, where that is not the first one by the order in force."""
    first = groups.sort("deciding", descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    if not first["deciding"] or first["deciding"] == groups["deciding"][0]:
        return ""
    many = first["deciding"]
    held = f"{format_count(many)} {things[many != 1]}"
    return f"Of the groups shown the verdict stands most often on: {name_group(first, titles)} ({held})."


def show_on_the_way(view: View, about: Declaration, counts: dict[str, int]) -> None:
    """What failed on the way without deciding how the attempt ended; a row lists where."""
    if view.alike or not counts["on_the_way"]:
        return
    found = cached(failures.on_the_way, view.change(attempt="", turn=None, order="", page=1, verdict=""))
    if found.is_empty():
        return
    all_, rows = int(found["of"][0]), list(found.iter_rows(named=True))
    with st.expander(f"On the way: {format_count(all_)} tool calls, replies and slips that failed", key="cx-way"):
        st.caption(
            "These did not decide how the attempt ended, and many were mended: they are counted apart from failures, "
            f"over failed and passed alike. The {found.height} commonest of {format_count(found['groups'][0])} kinds; "
            "select one to list where it happened."
        )
        shown = found.with_columns(
            what=pl.Series([describe_event(row, titles_of(about))[0] for row in rows], dtype=pl.String),
            where=pl.Series([describe_event(row, titles_of(about))[1] for row in rows], dtype=pl.String),
            mended=pl.col("passed") / pl.col("attempts"),
        )
        columns = {
            "what": column("What happened", width="large"),
            "where": column("Where"),
            "n": column("Times", "count"),
            "attempts": column(about.card.unit[1].capitalize(), "count"),
            "mended": column("Passed all the same", "share", "Of the attempts in which it happened."),
        }
        alt = "What failed on the way, by kind, with how many attempts passed all the same."
        picked = show_table(shown, columns, key="on-the-way", alt=alt, select="single")
    if picked:
        go(view.change(alike=str(picked[0]["alike"]), verdict="all"))


def show_group(view: View, about: Declaration) -> None:
    """The group in force, and the way out of it."""
    found = cached(failures.group, view.change(attempt="", turn=None, order="", page=1, decides=""))
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        if found is None:
            st.markdown("No failures of this group are left under these filters.")
        else:
            what, where = describe_group(found, titles_of(about))
            st.markdown(
                f"**{plain(what)}**  \n{plain(where)} · {plain(name_kind(str(found['kind'])))} · "
                f"{say_doing(found)}  \n"
                f"{say_size(found['n'], found['attempts'], about.card.unit)} under these filters"
                f"{_say_deciding(found, about)}"
            )
            if view.decides or 0 < found["deciding"] < found["attempts"]:
                words = "All of the group" if view.decides else f"Only these {format_count(found['deciding'])}"
                if st.button(words, key="group-decides"):
                    go(view.change(decides="" if view.decides else "yes"))
        if st.button("Show all failures", key="group-leave"):
            go(view.change(alike="", decides=""))
    if found is not None:
        _show_typical(view, about)


def _say_deciding(found: Mapping[str, Any], about: Declaration) -> str:
    """In how many attempts of a group the verdict stands on it; "" where it does in all, or names no turn in any."""
    many = found["deciding"]
    some = 0 < many < found["attempts"]
    return f"; the verdict stands on it in {format_count(many)} of these {about.card.unit[1]}" if some else ""


def _show_typical(view: View, about: Declaration) -> None:
    """The way to an attempt from the middle of the group in force, and by what rule it is one."""
    found = cached(failures.typical, view.change(attempt="", turn=None, order="", page=1), full_scores(about))
    if found is None:
        return
    with st.container(gap=None, key="failures-typical"):
        one = view.open(found["run_id"], found["attempt_id"], found["first_turn"])
        link(f"Read a typical one of these {about.card.unit[1]}", "failures", one)
        worst_first = view.metric and view.order in ("", "worst")
        st.caption(say_typical(found) + (" The list below begins with the worst instead." if worst_first else ""))
