"""Where Compare finds no published figure to set beside its own."""

from collections.abc import Sequence

import streamlit as st

from cxlab.read.results.published import PublishedTable
from cxlab.ui.address import link
from cxlab.ui.labels import plain
from cxlab.views.benchmarks import published_tables

_MOST_TOLD = 2


def has_published(benchmark: str) -> bool:
    """Whether a paper prints anything of a benchmark."""
    return bool(_tables(benchmark))


def show_no_published(benchmark: str) -> None:
    """That nothing is printed for what is looked at, and what is: in the words of Overview, which shows it."""
    tables = _tables(benchmark)
    st.caption(plain(say_no_published(tables)))
    if tables:
        link("See what the papers report", "overview")


def say_no_published(tables: Sequence[PublishedTable]) -> str:
    """Beside nothing for this choice, the captions that the tables have on Overview."""
    told = "The papers print no figure for this metric and grouping."
    captions = [each.caption.rstrip(".") for each in tables]
    what = "; ".join(captions) if len(captions) <= _MOST_TOLD else f"{len(captions)} tables"
    return f"{told} What they do report stands on Overview: {what}." if tables else told


def _tables(benchmark: str) -> list[PublishedTable]:
    return [table for table in published_tables(benchmark) if table.board is not None and table.board.height]
