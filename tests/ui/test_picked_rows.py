"""A row of a table is picked by its tick or by a click on any of its cells; the last of them counts."""

import pytest
from streamlit.testing.v1 import AppTest

from cxlab.charts.selection import read_cells, read_rows


def selection(rows: list[int], cells: list[list[object]]) -> dict[str, object]:
    return {"selection": {"rows": rows, "columns": [], "cells": cells}}


@pytest.mark.parametrize("event", [None, {}, {"selection": None}, {"selection": {"cells": "ab"}}, selection([], [])])
def test_anything_else_is_an_empty_selection(event: object) -> None:
    assert (read_rows(event), read_cells(event)) == ([], [])


def page() -> None:
    import polars as pl
    import streamlit as st

    from cxlab.ui.tables import _picked, column, show_table

    st.session_state.setdefault("event", {})
    st.text(_picked(st.session_state["event"], "key"))
    show_table(pl.DataFrame({"a": ["x", "y"]}), {"a": column("A")}, key="t", alt="t", select="single")


def test_the_last_click_counts() -> None:
    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    for rows, cells, picked in (
        ([], [[1, "a"]], [1]),
        ([0], [[1, "a"]], [0]),
        ([0], [[1, "a"]], [0]),
        ([0], [[3, "b"]], [3]),
        ([0], [[3, "b"]], [3]),
        ([2], [], [2]),
        ([], [], []),
    ):
        at.session_state["event"] = selection(rows, cells)
        assert at.run().text[0].value == str(picked), (rows, cells)
