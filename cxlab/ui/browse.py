"""Browsing a set of attempts: its groups of alike failures, its table, and the set as a link or a file."""

from collections.abc import Callable
from typing import NamedTuple

import polars as pl
import streamlit as st

from cxlab.charts.failures import describe_group, draw_groups
from cxlab.charts.numbers import format_count, format_share
from cxlab.read import View, failures
from cxlab.read.attempts import ROWS_A_PAGE, neighbours
from cxlab.read.files import to_csv, to_parquet
from cxlab.read.troubles import KINDS
from cxlab.ui.address import cached, set_view
from cxlab.ui.boards import with_labels
from cxlab.ui.paging import here, show_pages
from cxlab.ui.shell import dark
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.ui.words import figures, label, plain, section

_ORDERS = {
    "worst": "worst score first",
    "best": "best score first",
    "newest": "newest first",
    "long": "longest first",
    "slow": "slowest first",
    "costly": "costliest first",
    "oldest": "oldest first",
}


class Words(NamedTuple):
    """How attempts are spoken of: a benchmark's attempts are dialogues, or answers of tasks."""

    thing: str
    things: str
    wrong: str
    alike: str
    scenario: str
    level: str


_DIALOGUES = Words(
    "dialogue", "dialogues",
    "in which a reply misread a field, left the procedure, gave a wrong action or could not be read",
    "failures of one scenario and kind that leave the way at the same stage by the same step with the same value "
    "misread", "Scenario", "Level",
)  # fmt: skip
_ANSWERS = Words(
    "answer", "answers", "in which not all that the task asks for is right, or that could not be read",
    "answers of one task that are wrong in the same way", "Task", "Taxonomy",
)  # fmt: skip


def words_of(view: View) -> Words:
    """Answers are led by the metric `right`."""
    return _ANSWERS if view.metric == "right" else _DIALOGUES


def go(target: View) -> None:
    """Show another view of the same page at once."""
    set_view(target)
    st.rerun()


def show_counts(view: View, counts: dict[str, int], groups: pl.DataFrame) -> None:
    """How much goes wrong, in a few figures."""
    wrong, turns = counts["wrong_turns"], counts["turns"]
    largest = groups.row(0, named=True) if groups.height else None
    words = words_of(view)
    items = [
        (words.things.capitalize(), format_count(counts["attempts"]), "Finished attempts under the filters."),
        (
            "With something wrong",
            format_share(counts["with_trouble"] / counts["attempts"]) if counts["attempts"] else "–",
            f"{format_count(counts['with_trouble'])} of {format_count(counts['attempts'])} {words.things} "
            f"{words.wrong}, or a provider failed.",
        ),
        (
            "Turns gone wrong",
            format_share(wrong / turns if turns else None),
            f"{format_count(wrong)} of {format_count(turns)} evaluated turns (1, 5, 10, 15 and the last one).",
        ),
        (
            "Groups of alike failures",
            format_count(largest["groups"] if largest else 0),
            f"Alike: {words.alike}.",
        ),
    ]
    figures([item for item in items if turns or item[0] != "Turns gone wrong"])


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
        f"Most often: {plain(what[0].lower() + what[1:])}",
        f"{format_count(largest['n'])} of {format_count(largest['of'])} failures; the {groups.height} largest of "
        f"{format_count(largest['groups'])} groups are shown. Alike: {words_of(view).alike}. "
        f"Click a bar to see its {words_of(view).things}.",
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
        "attempts": column("Dialogues", "count"),
        "models": column("Models"),
    }
    alt = f"The {groups.height} largest groups of alike failures; the largest: {what}, {largest['n']} times."
    picked = show_chart(draw_groups(groups, dark()), named, key="groups", alt=alt, columns=columns, select=True)
    if picked:
        go(view.change(alike=str(picked[0][0])))


def show_group(view: View) -> None:
    """The group in force, and the way out of it."""
    found = cached(failures.group, view.alike)
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        if found is None:
            st.markdown("No failures of this group are left in the store.")
        else:
            what, where = describe_group(found)
            st.markdown(
                f"**{plain(what)}**  \n{plain(where)} · {plain(KINDS.get(str(found['kind']), str(found['kind'])))}, "
                f"{format_count(found['n'])} times in the store"  # type: ignore[arg-type]  # a count
            )
        if st.button("Show all failures", key="group-leave"):
            go(view.change(alike=""))


def show_attempts(view: View) -> None:
    """The attempts of the view, a page of rows at a time; a click opens one."""
    words = words_of(view)
    page = cached(
        failures.rows,
        view.change(attempt="", turn=None, page=view.page),
        ROWS_A_PAGE,
        (view.page - 1) * ROWS_A_PAGE,
    )
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        narrowed = "; ".join(f"{name}: {values}" for name, values in view.describe())
        st.subheader(
            f"{format_count(page.total)} {words.thing if page.total == 1 else words.things}",
            anchor=False,
            width="content",
        )
        _order(view)
    if narrowed:
        st.caption(plain(narrowed))
    if not page.total:
        st.info(f"No {words.thing} fits these filters. Clear one of them in the sidebar.")
        return
    rows = with_labels(page.frame).with_columns(
        scenario_=pl.col("scenario").map_elements(label, return_dtype=pl.String),
        wrong_=pl.Series([_say_kinds(kinds) for kinds in page.frame["wrong"].to_list()], dtype=pl.String),
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
        "turns": column("Turns", "count"),
        "opening": column("First message", width="medium"),
        "reason": column("What is wrong", width="large"),
        "leaf": column("Leaf", "id", width="small"),
        "ended_by": column("Ended by", width="small"),
        "latency_s": column("Time", "seconds"),
        "cost_usd": column("Cost", "usd"),
    }
    # A column without a value in any row says nothing: answers of tasks have no opening, dialogues no reason.
    shown = {name: shape for name, shape in columns.items() if name in ("name", "score") or _has_values(rows[name])}
    if words is _ANSWERS:
        shown = {name: shape for name, shape in shown.items() if name not in ("ended_by", "wrong_")}
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


def save_set(view: View, total: int) -> None:
    """The filtered set as a link and as files."""
    kept = view.change(attempt="", turn=None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Save these {words_of(view).things}:", width="content")
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
    before, after = cached(neighbours, view.change(turn=None, order=view.order or "worst"))
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
    """ "2 misread field, 1 unreadable reply" of ["field:2", "format:1"]."""
    parts = (each.rpartition(":") for each in kinds or ())
    return ", ".join(f"{n} {KINDS.get(kind, kind)}" for kind, _, n in parts)
