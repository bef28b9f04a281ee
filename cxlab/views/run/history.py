"""The history of runs: open them, finish them, delete them and bring them back."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.benchmarks import REGISTRY
from cxlab.read import View
from cxlab.read.run_names import tell_settings
from cxlab.store import write
from cxlab.ui.address import cached, has_page, open_page
from cxlab.ui.app_frame import guarded
from cxlab.ui.boards import show_runs
from cxlab.ui.labels import empty, section
from cxlab.ui.trash import delete, show_trash
from cxlab.views.benchmarks import declared, names_of
from cxlab.views.like_run import offer_form
from cxlab.views.run.record import show_record


def show_history(resume: Callable[[Sequence[str]], None], again: Callable[[Sequence[str]], None]) -> None:
    """All runs, newest first, and what can be done with those that are picked.

    `resume` finishes runs, `again` tries the provider faults of runs again, each in a new run.
    """
    runs = read.latest_runs(100)
    section("History", "Pick runs to open, resume or delete them.")
    if runs.is_empty():
        empty("Each run will stand here with its state, its counts and its cost.", command="python -m cxlab demo")
    else:
        _show_picked(show_all_runs(runs, key="history", select="multi", search=True), resume, again)
    show_trash("run")


def show_all_runs(
    runs: pl.DataFrame, *, key: str, select: Literal["single", "multi"], search: bool = False
) -> list[dict[str, Any]]:
    """A table of `read.latest_runs` with what was set where runs of a benchmark differ; returns the selected rows."""
    names = names_of(runs["benchmark"].unique())
    settings: dict[str, str] = {}
    for (benchmark,), own in runs.group_by("benchmark"):
        if benchmark in REGISTRY:
            settings |= cached(_tell_settings, str(benchmark), tuple(own["run_id"]))
    datasets = {each.id: each.name for each in write.list_datasets()}
    return show_runs(runs, names, key=key, select=select, search=search, settings=settings, datasets=datasets)


def _tell_settings(benchmark: str, runs: Sequence[str]) -> dict[str, str]:
    return tell_settings(declared(benchmark), runs)


def _show_picked(
    picked: Sequence[dict[str, object]],
    resume: Callable[[Sequence[str]], None],
    again: Callable[[Sequence[str]], None],
) -> None:
    ids = tuple(str(row["run_id"]) for row in picked)
    found = [read.progress(run_id) for run_id in ids]
    unfinished = [each.run_id for each in found if each.left]
    faulted = [each.run_id for each in found if each.again]
    with st.container(horizontal=True):
        if st.button("Open attempts", disabled=not ids, key="open") and has_page("failures"):
            open_page("failures", View(benchmark=str(picked[0]["benchmark"]), runs=ids, verdict="all"))
        if st.button("Resume", disabled=not unfinished, key="resume", help="Finished attempts are not repeated."):
            resume(unfinished)
        tip = "What a provider did not deliver, in a new run that takes over the rest; finished attempts cost nothing."
        if st.button("Try provider faults again", disabled=not faulted, key="again", help=tip):
            again(faulted)
        offer_form(ids)
        if st.button("Delete", disabled=not ids, key="delete", help="Moves the runs to the trash below."):
            with guarded():
                delete("run", *ids)
                st.rerun()
    if len(ids) == 1:
        show_record(ids[0])
