"""Tags and notes on an attempt, on the page: what is there, writing more, taking back."""

from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_time
from cxlab.read import annotations
from cxlab.ui.address import cached
from cxlab.ui.annotations import annotate, ask_author, author, withdraw
from cxlab.ui.app_frame import zone
from cxlab.ui.labels import plain, say

_KINDS = {"note": "note", "tag": "tagged", "untag": "tag removed", "adjudication": "decided", "resolution": "settled",
          "dispute": "disputes whose doing it was; says"}  # fmt: skip

_SHOWN = ("note", "adjudication", "resolution", "dispute")


def show_annotations(run_id: str, attempt_id: str, turn: int | None) -> None:
    """Tags, notes and decisions of one attempt, oldest first, and a form for more."""
    found = cached(annotations.notes, run_id, attempt_id)
    with st.container(border=True):
        st.markdown("**Tags and notes**")
        _tags(run_id, attempt_id, found.tags)
        for row in found.log.filter(pl.col("kind").is_in([*_SHOWN])).iter_rows(named=True):
            _entry(row, run_id, attempt_id)
        with st.form("cx-note", clear_on_submit=True, border=False):
            text = st.text_area(
                "Note", placeholder="what you saw, for whoever reads this next", height=80, max_chars=4000
            )
            if st.form_submit_button("Add note") and text.strip():
                annotate("note", run_id, attempt_id, text, turn)
                st.rerun()
        with st.popover(f"Writing as {plain(author())}", type="tertiary"):
            ask_author()


def _tags(run_id: str, attempt_id: str, tags: tuple[str, ...]) -> None:
    known = list(dict.fromkeys((*cached(annotations.known_tags), *tags)))
    key = f"cx-tags-{run_id}-{attempt_id}"
    st.session_state[key] = list(tags)
    st.multiselect(
        "Tags",
        known,
        key=key,
        accept_new_options=True,
        placeholder="add a tag",
        max_selections=20,
        on_change=_tags_changed,
        args=(key, run_id, attempt_id, tags),
    )


def _tags_changed(key: str, run_id: str, attempt_id: str, before: tuple[str, ...]) -> None:
    now = st.session_state[key]
    for tag in [tag for tag in now if tag not in before]:
        annotate("tag", run_id, attempt_id, tag[:60])
    for tag in [tag for tag in before if tag not in now]:
        annotate("untag", run_id, attempt_id, tag)


def _entry(row: dict[str, Any], run_id: str, attempt_id: str) -> None:
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        with st.container(gap=None):
            turn = f", turn {row['turn']}" if row["turn"] else ""
            field = f" {row['field']}:" if row["field"] else ""
            when = format_time(row["created"], zone())
            st.caption(
                plain(f"{row['author']}, {when}{turn} · {_KINDS.get(str(row['kind']), str(row['kind']))}{field}")
            )
            say(str(row["value"]))
        if st.button("Undo", key=f"cx-undo-{row['id']}", type="tertiary", help="Takes it back; the store keeps both."):
            withdraw(str(row["id"]), run_id, attempt_id)
            st.rerun()
