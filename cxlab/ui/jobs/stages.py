"""Stages of work that is not a run: finished ones in a line, the one at work as a bar."""

from collections.abc import Sequence
from typing import Protocol

import streamlit as st

from cxlab.charts.numbers import format_count
from cxlab.ui.labels import chip, label, plain


class StageProgress(Protocol):
    """How far one stage is; `cxlab.jobs.StageProgress` is one."""

    @property
    def name(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...


def draw_stages(stages: Sequence[StageProgress], running: bool = False) -> None:
    """Finished stages in a line, the one at work as a bar."""
    if not stages:
        if running:
            st.progress(0.0, text="Setting out")
        return
    ended = [each for each in stages if each.done >= each.total]
    with st.container(horizontal=True, gap="small"):
        for each in ended:
            chip(f"✓ {label(each.name)} {format_count(each.total)}", "green")
    at_work = [each for each in stages if each.done < each.total]
    for each in at_work:
        words = f"{label(each.name)}: {format_count(each.done)} of {format_count(each.total)}"
        st.progress(each.done / each.total, text=plain(words))
    if running and not at_work:
        st.progress(0.0, text="Next stage")
