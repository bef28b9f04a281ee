"""Browsing a set of attempts: its groups of alike failures, its table, and the set as a link or a file."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count, format_share
from cxlab.read import View, failures
from cxlab.read.attempts import ROWS_A_PAGE, neighbours
from cxlab.read.failure_kinds import EVENTS, KINDS
from cxlab.read.files import to_csv, to_parquet
from cxlab.ui.address import cached, go, set_view
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import with_labels
from cxlab.ui.choices import choose
from cxlab.ui.labels import EXPOSURES, figures, label, plain, section
from cxlab.ui.paging import here, show_pages
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.failures.charts import describe_event, describe_group, draw_groups

_ORDERS = {
    "worst": "worst score first",
    "best": "best score first",
    "newest": "newest first",
    "long": "longest first",
    "slow": "slowest first",
    "costly": "costliest first",
    "oldest": "oldest first",
}


class Wording(NamedTuple):
    """How attempts are spoken of: a benchmark's attempts are dialogues, or answers of tasks."""

    thing: str
    things: str
    wrong: str
    marked: str
    alike: str
    scenario: str
    level: str


_DIALOGUES = Wording(
    "dialogue", "dialogues",
    "in which a reply misread a field, left the procedure, gave a wrong action or could not be read",
    "in which the judges were tied on every turn, or a provider failed",
    "failures of one scenario and kind that leave the way at the same stage by the same step with the same value "
    "misread", "Scenario", "Level",
)  # fmt: skip
_ANSWERS = Wording(
    "answer", "answers", "in which not all that the task asks for is right, or that could not be read",
    "in which a provider failed", "answers of one task that are wrong in the same way", "Task", "Taxonomy",
)  # fmt: skip
_TALKS = Wording(
    "dialogue", "dialogues", "in which the goal was not reached", "of which it is not known whether the goal was "
    "reached, because a provider failed or the file does not say", "dialogues of one domain that failed for the same "
    "reason", "Domain", "Persona",
)  # fmt: skip
_SHOWN = {"": "Failed or not scored", "passed": "Passed", "all": "All"}


def wording_of(view: View) -> Wording:
    """Answers are led by the metric `right`, dialogues with a goal by whether they pass."""
    return {"right": _ANSWERS, "pass": _TALKS}.get(view.metric, _DIALOGUES)


def scope_of(view: View) -> View:
    """What is listed under an address that says nothing of it: what failed, and what could not be scored."""
    return view if view.verdict else replace(view, verdict="wrong")


def show_counts(view: View, counts: dict[str, int]) -> None:
    """How much goes wrong, in a few figures."""
    words, all_, turns = wording_of(view), counts["attempts"], counts["turns"]
    failed, unscored, wrong = counts["failed"], counts["unscored"], counts["wrong_turns"]
    of_all = f"of {format_count(all_)} {words.things}"
    items = [
        (words.things.capitalize(), format_count(all_), "Finished attempts under the filters."),
        ("Failed", format_share(failed / all_) if all_ else "–", f"{format_count(failed)} {of_all} {words.wrong}."),
        ("Not scored", format_count(unscored), f"{format_count(unscored)} {of_all} {words.marked}."),
    ]
    if turns:
        about = f"{format_count(wrong)} of {format_count(turns)} evaluated turns (1, 5, 10, 15 and the last one)."
        items.append(("Turns gone wrong", format_share(wrong / turns), about))
    elif counts["tool_errors"]:
        about = (
            f"{format_count(counts['tool_errors'])} {of_all} had a tool call refused or malformed; "
            f"{format_count(counts['mended'])} of them passed all the same."
        )
        items.append(("With a failed tool call", format_share(counts["tool_errors"] / all_), about))
    figures(items)


def choose_verdict(view: View, counts: dict[str, int]) -> View:
    """Which attempts are listed: what failed, what passed, or all; each with its number."""
    numbers = {"": counts["failed"] + counts["unscored"], "passed": counts["passed"], "all": counts["attempts"]}
    names = {name: f"{words} {format_count(numbers[name])}" for name, words in _SHOWN.items()}
    # An address may ask for only those that failed or could not be scored: both belong to the first.
    choose(view, "verdict", "Listed", list(_SHOWN), names=names, style="segments")
    return scope_of(view)


def show_groups(view: View, groups: pl.DataFrame) -> None:
    """The largest groups as bars; a click narrows the page to one."""
    if view.alike:
        show_group(view)
        return
    if groups.is_empty():
        return
    largest = groups.row(0, named=True)
    what = describe_group(largest)[0]
    section(
        f"Most often: {plain(what[:1].lower() + what[1:])}",
        f"{format_count(largest['n'])} of {format_count(largest['of'])} failures; the {groups.height} largest of "
        f"{format_count(largest['groups'])} groups are shown. Alike: {wording_of(view).alike}. "
        f"Click a bar to see its {wording_of(view).things}.",
    )
    named = groups.with_columns(
        what=pl.Series([describe_group(row)[0] for row in groups.iter_rows(named=True)]),
        where=pl.Series([describe_group(row)[1] for row in groups.iter_rows(named=True)]),
    )
    columns = {
        "what": column("What happened", width="large"),
        "where": column("Where", width="large"),
        "n": column("Failures", "count"),
        "share": column("Share", "share", "Of all failures under the filters."),
        "attempts": column(wording_of(view).things.capitalize(), "count"),
        "models": column("Models"),
    }
    alt = f"The {groups.height} largest groups of alike failures; the largest: {what}, {largest['n']} times."
    picked = show_chart(draw_groups(groups, dark()), named, key="groups", alt=alt, columns=columns, select=True)
    if picked:
        go(view.change(alike=str(picked[0][0])))


def show_on_the_way(view: View, counts: dict[str, int]) -> None:
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
            what=pl.Series([describe_event(row)[0] for row in rows], dtype=pl.String),
            where=pl.Series([describe_event(row)[1] for row in rows], dtype=pl.String),
            mended=pl.col("passed") / pl.col("attempts"),
        )
        columns = {
            "what": column("What happened", width="large"),
            "where": column(wording_of(view).scenario),
            "n": column("Times", "count"),
            "attempts": column(wording_of(view).things.capitalize(), "count"),
            "mended": column("Passed all the same", "share", "Of the attempts in which it happened."),
        }
        alt = "What failed on the way, by kind, with how many attempts passed all the same."
        picked = show_table(shown, columns, key="on-the-way", alt=alt, select="single")
    if picked:
        go(view.change(alike=str(picked[0]["alike"]), verdict="all"))


def show_group(view: View) -> None:
    """The group in force, and the way out of it."""
    found = cached(failures.group, view.alike)
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        if found is None:
            st.markdown("No failures of this group are left in the store.")
        else:
            what, where = describe_group(found) if found["kind"] not in EVENTS else describe_event(found)
            st.markdown(
                f"**{plain(what)}**  \n{plain(where)} · {plain(KINDS.get(str(found['kind']), str(found['kind'])))}, "
                f"{format_count(found['n'])} times in the store"  # type: ignore[arg-type]  # a count
            )
        if st.button("Show all failures", key="group-leave"):
            go(view.change(alike=""))


def show_attempts(view: View) -> None:
    """The attempts of the view, a page of rows at a time; a click opens one."""
    words = wording_of(view)
    page = cached(
        failures.rows,
        view.change(attempt="", turn=None, page=view.page),
        ROWS_A_PAGE,
        (view.page - 1) * ROWS_A_PAGE,
    )
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        narrowed = "; ".join(f"{name}: {values}" for name, values in view.describe())
        kind = {"wrong": "failed or not scored", "failed": "failed", "unscored": "not scored", "passed": "passed"}
        st.subheader(
            f"{format_count(page.total)} {words.thing if page.total == 1 else words.things}"
            + (f" {kind[view.verdict]}" if view.verdict in kind else ""),
            anchor=False,
            width="content",
        )
        _order(view)
    if narrowed:
        st.caption(plain(narrowed))
    if not page.total:
        _say_none(view, words)
        return
    rows = with_labels(page.frame).with_columns(
        scenario_=pl.col("scenario").map_elements(label, return_dtype=pl.String),
        wrong_=pl.Series([_say_kinds(kinds) for kinds in page.frame["wrong"].to_list()], dtype=pl.String),
        way_=pl.Series([_say_kinds(kinds) for kinds in page.frame["way"].to_list()], dtype=pl.String),
        exposure_=pl.col("exposure").replace(EXPOSURES),
    )
    columns = {
        "name": column("Model"),
        "scenario_": column(words.scenario),
        "level": column(words.level),
        "wrong_": column("What went wrong", help="On how many turns; a turn can be in two kinds.", width="medium"),
        "score": column(
            label(view.metric).capitalize(),
            "points",
            "Mean over the evaluated turns, or of the whole answer; empty when nothing could be scored.",
        ),
        "turns": column("Turns", "count", "The agent's messages to the customer."),
        "opening": column("First message", width="medium"),
        "reason": column("What is wrong", width="large" if words is _ANSWERS else "medium"),
        "way_": column("On the way", help="What failed and did not decide how it ended.", width="medium"),
        "exposure_": column("Told of customer", width="small", help="What the agent was told of the customer."),
        "modality": column("Modality", width="small"),
        "leaf": column("Leaf", "id", width="small"),
        "ended_by": column("Ended by", width="small"),
        "latency_s": column("Time", "seconds"),
        "cost_usd": column("Cost", "usd"),
    }
    # A column without a value in any row says nothing: answers of tasks have no opening, dialogues no reason.
    shown = {name: shape for name, shape in columns.items() if name in ("name", "score") or _has_values(rows[name])}
    # What is wrong is told by the reason; of dialogues with a goal, first what became of them and under which terms.
    out = {_ANSWERS: ("ended_by", "wrong_"), _TALKS: ("wrong_", "latency_s", "cost_usd")}.get(words, ("modality",))
    shown = {name: shape for name, shape in shown.items() if name not in out}
    if words is _TALKS:
        first = ("name", "score", "reason", "way_", "scenario_", "level", "exposure_", "modality")
        shown = {name: shown[name] for name in (*first, *shown) if name in shown}
    chosen = show_table(
        rows,
        shown,
        key="attempts",
        alt=f"{page.total} {words.things}, a page of them.",
        select="single",
        downloads=False,
    )
    show_pages(view, page.total, ROWS_A_PAGE, "failures-page")
    if chosen:
        row = chosen[0]
        go(view.open(row["run_id"], row["attempt_id"], row["first_turn"]))
    save_set(view, page.total)


def _say_none(view: View, words: Wording) -> None:
    if view.verdict in ("", "all") or any(getattr(view, name) for name in ("errors", "splits", "ends", "alike")):
        st.info(f"No {words.thing} fits these filters. Clear one of them in the sidebar, or look at all.")
    else:
        st.info(f"None of the {words.things} under these filters {'passed' if view.verdict == 'passed' else 'failed'}.")


def save_set(view: View, total: int) -> None:
    """The filtered set as a link and as files."""
    kept = view.change(attempt="", turn=None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Save these {wording_of(view).things}:", width="content")
        with st.popover("Link", type="tertiary"):
            st.caption("This address shows exactly this set.")
            st.code(_address(kept), language=None, wrap_lines=True)
        most = f"; the first {format_count(failures.MOST_EXPORTED)}" if total > failures.MOST_EXPORTED else ""
        files: list[tuple[str, str, str, Callable[[], bytes], str]] = [
            (
                "CSV",
                "csv",
                "text/csv",
                lambda: to_csv(failures.chosen_set(kept)),
                "One row a dialogue, guarded against formulas",
            ),
            (
                "Parquet",
                "parquet",
                "application/vnd.apache.parquet",
                lambda: to_parquet(failures.chosen_set(kept, True)),
                "One row a dialogue, with its messages",
            ),
            (
                "JSONL",
                "jsonl",
                "application/x-ndjson",
                lambda: failures.to_jsonl(kept),
                "One line a dialogue, with its messages",
            ),
        ]
        for name, ending, mime, make, meaning in files:
            st.download_button(
                name,
                make,
                f"cxlab-dialogues.{ending}",
                mime,
                key=f"set-{ending}",
                on_click="ignore",
                type="tertiary",
                help=f"{meaning}{most}.",
            )


def show_way(view: View, attempt_id: str) -> None:
    """The way up, and to the dialogues before and after in the list's order."""
    order = view.order or "worst"
    before, after = cached(neighbours, scope_of(view).change(turn=None, order=order))
    if not (before or after):  # opened by a link from elsewhere, and not among what failed
        before, after = cached(neighbours, view.change(turn=None, order=order))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            up = view.change(attempt="", turn=None)
            if st.button("All dialogues", key="dialogue-up", type="tertiary", shortcut="u"):
                go(up)
            st.text("›")
            st.code(attempt_id, language=None)
        with st.container(horizontal=True, gap="small", width="content"):
            for words, target, shortcut in (("Previous", before, "p"), ("Next", after, "n")):
                if st.button(words, key=f"dialogue-{shortcut}", shortcut=shortcut, disabled=not target):
                    go(view.change(attempt=target, turn=None))


def _has_values(values: pl.Series) -> bool:
    said = values.drop_nulls()
    return bool(said.len()) and not (said.dtype.is_numeric() and said.max() == 0) and set(said.head(9)) != {""}


def _order(view: View) -> None:
    st.session_state["failures-order"] = view.order if view.order in _ORDERS else "worst"
    st.selectbox(
        "Sort",
        list(_ORDERS),
        key="failures-order",
        format_func=_ORDERS.__getitem__,
        label_visibility="collapsed",
        width=220,
        on_change=_order_changed,
    )


def _order_changed() -> None:
    set_view(here().change(order=st.session_state["failures-order"]))


def _address(view: View) -> str:
    from urllib.parse import urlencode

    base = (st.context.url or "").partition("?")[0]
    return f"{base}?{urlencode(view.to_query(), doseq=True)}"


def _say_kinds(kinds: list[str] | None) -> str:
    """ "2 × misread field, 1 unreadable reply" of ["field:2", "format:1"]."""
    parts = (each.rpartition(":") for each in kinds or ())
    return ", ".join(f"{n}{' ×' if n != '1' else ''} {KINDS.get(kind, kind)}" for kind, _, n in parts)
