"""The history of runs: open them, finish them, delete them and bring them back."""

from collections.abc import Callable, Sequence

import streamlit as st

from cxlab import read
from cxlab.read import View
from cxlab.ui.address import has_page, open_page
from cxlab.ui.app_frame import guarded
from cxlab.ui.boards import show_runs
from cxlab.ui.labels import empty, section
from cxlab.ui.trash import delete, show_trash
from cxlab.views.benchmarks import names_of
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
        _show_picked(
            show_runs(runs, names_of(runs["benchmark"].unique()), key="history", select="multi", search=True),
            resume,
            again,
        )
    show_trash("run")


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
        if st.button("Try the faults again", disabled=not faulted, key="again", help=tip):
            again(faulted)
        if st.button("Delete", disabled=not ids, key="delete", help="Moves the runs to the trash below."):
            with guarded():
                delete("run", *ids)
                st.rerun()
    if len(ids) == 1:
        show_record(ids[0])
