"""What the papers report, beside the store's own runs and never mixed with them."""

from collections.abc import Sequence

import streamlit as st

from cxlab import read
from cxlab.charts.board import draw_published
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import published_columns
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import show_chart
from cxlab.views.benchmarks import published_tables


def show_published(known: Sequence[str]) -> None:
    """One table of one paper at a time, ranked by its main figure; `known` benchmarks come first."""
    known_tables = published_tables()
    every = [table for table in known_tables if table.board is not None and table.board.height]
    papers = list(dict.fromkeys(table.benchmark for table in every))
    note = "As printed, with other agents, judges and data than the runs of this store."
    section("What the papers report", note, badges=["published"])
    names = {table.benchmark: table.name for table in known_tables}
    first = next((name for name in known if name in papers), papers[0])
    paper = st.segmented_control(
        "Paper", papers, default=first, format_func=names.__getitem__, required=True,
        key="overview-paper", label_visibility="collapsed",
    )  # fmt: skip
    tables = {table.id: table for table in every if table.benchmark == paper}
    chosen = next(iter(tables))
    if len(tables) > 1:
        titles = {key: f"{table.table}: {table.column(table.metric or '').title}" for key, table in tables.items()}
        ids = list(tables)
        chosen = st.selectbox("Table", ids, format_func=titles.__getitem__, key=f"overview-{paper}") or chosen
    table = tables[chosen]
    rows = read.published_board([table])
    st.caption(plain(f"{table.source}. {table.caption}"))
    key = f"published-{paper}-{chosen}"
    alt = f"Published {rows['metric'][0]} of {rows.height}: {rows['entity'][0]} is first."
    columns = published_columns(table)
    show_chart(draw_published(rows, dark()), table.frame, key=key, alt=alt, columns=columns)
