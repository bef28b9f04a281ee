"""Selections of a page that were saved under a name: in the store, for everybody who opens it."""

from typing import Any
from urllib.parse import parse_qs, urlencode

import streamlit as st

from cxlab.charts.numbers import format_time
from cxlab.read import View, annotations
from cxlab.ui.address import cached, facets_of_store, go
from cxlab.ui.annotations import LONGEST_NAME, ask_author, save_filter, withdraw
from cxlab.ui.app_frame import guarded, zone
from cxlab.ui.labels import plain

_MOST_SHOWN = 30


def show_saved_filters(page: str, current: View) -> None:
    """What is saved of a page, a field to save the selection in force, and what was deleted with its undo."""
    saved = cached(annotations.saved_filters, page)
    with st.popover(f"Saved filters ({saved.height})" if saved.height else "Saved filters", width="stretch"):
        for row in saved.head(_MOST_SHOWN).iter_rows(named=True):
            _show(page, row)
        if saved.height > _MOST_SHOWN:
            st.caption(f"The newest {_MOST_SHOWN} of {saved.height}.")
        if saved.is_empty():
            st.caption("None yet. A saved filter is there for everybody who opens this store.")
        with st.form(f"cx-filter-save-{page}", clear_on_submit=True, border=False):
            name = st.text_input("Save what is chosen now as", max_chars=LONGEST_NAME, placeholder="a name")
            if st.form_submit_button("Save filter") and name.strip():
                with guarded():
                    save_filter(page, name, write_query(current))
                    st.rerun()
        for row in cached(annotations.deleted_filters, page).head(3).iter_rows(named=True):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f"Deleted: {plain(row['name'])}")
                if st.button("Undo", key=f"cx-filter-undo-{row['id']}", type="tertiary"):
                    with guarded():
                        save_filter(page, str(row["name"]), str(row["query"]))
                        st.rerun()
        ask_author()


def _show(page: str, row: dict[str, Any]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        told = f"Saved by {row['author']}, {format_time(row['created'], zone())}"
        if st.button(plain(row["name"]), key=f"cx-filter-open-{row['id']}", type="tertiary", help=plain(told)):
            go(read_query(str(row["query"])))
        if st.button("✕", key=f"cx-filter-delete-{row['id']}", type="tertiary", help="Delete; it can be undone."):
            withdraw(str(row["id"]), page, str(row["name"]))
            st.rerun()


def write_query(view: View) -> str:
    """The selection as an address holds it, without what is open and which page of rows is shown."""
    return urlencode(view.change(attempt="", turn=None, page=1).to_query(), doseq=True)


def read_query(query: str) -> View:
    """The selection of such a text; what cannot be meant is ignored."""
    return View.from_query(parse_qs(query), facets_of_store())
