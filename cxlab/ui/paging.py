"""Turning the pages of a long list; the page stands in the address."""

import math

import streamlit as st

from cxlab.charts.numbers import format_count
from cxlab.read import View
from cxlab.ui.address import here, set_view


def show_pages(view: View, total: int, size: int, key: str) -> None:
    """Which rows of `total` are shown, and the numbers of the other pages; nothing when all fit on one."""
    count = math.ceil(total / size)
    if count <= 1:
        return
    page = min(view.page, count)
    first = (page - 1) * size + 1
    last = min(first + size - 1, total)
    # The address is the truth: another page is another widget, which begins where the address says.
    widget = f"{key}-{page}"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(f"{format_count(first)} to {format_count(last)} of {format_count(total)}")
        width = max(200, min(420, 48 * (count + 2)))
        st.pagination(count, default=page, key=widget, width=width, on_change=_turn, args=(widget,))


def _turn(key: str) -> None:
    set_view(here().change(page=int(st.session_state[key])))
