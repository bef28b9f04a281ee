"""The history of runs: open them, finish them, delete them and bring them back."""

from collections.abc import Callable, Sequence

import streamlit as st

from cxlab import read
from cxlab.charts.numbers import format_time
from cxlab.read import View
from cxlab.store import trash
from cxlab.ui.address import has_page, open_page
from cxlab.ui.boards import show_runs
from cxlab.ui.shell import guarded, zone
from cxlab.ui.words import empty, section

OPEN_STATES = ("cancelled", "failed", "budget", "stalled", "waiting")
# Only the last ones are offered for undoing; the others stay in the trash and can be restored once these are.
_MOST_UNDOS = 20


def show_history(resume: Callable[[Sequence[str]], None]) -> None:
    """All runs, newest first, and what can be done with those that are picked; `resume` finishes runs."""
    runs = read.latest_runs(100)
    section("History", "Pick runs to open, resume or delete them.")
    if runs.is_empty():
        empty("Each run will stand here with its state, its counts and its cost.", command="python -m cxlab demo")
    else:
        _show_picked(show_runs(runs, key="history", select="multi", search=True), resume)
    deleted = trash.list_deleted()
    if not deleted:
        return
    with st.expander(f"Trash: {len(deleted)} deleted", expanded=bool(st.session_state.get("run-deleted"))):
        for entry in deleted[:_MOST_UNDOS]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"{entry.run_id}, deleted {format_time(entry.deleted, zone())}")
                if st.button("Undo", key=f"undo-{entry.folder.name}"):
                    with guarded():
                        trash.restore_run(entry.run_id)
                        st.rerun()


def _show_picked(picked: Sequence[dict[str, object]], resume: Callable[[Sequence[str]], None]) -> None:
    ids = tuple(str(row["run_id"]) for row in picked)
    unfinished = [str(row["run_id"]) for row in picked if row["state"] in OPEN_STATES]
    with st.container(horizontal=True):
        if st.button("Open dialogues", disabled=not ids, key="open") and has_page("failures"):
            open_page("failures", View(benchmark=str(picked[0]["benchmark"]), runs=ids))
        if st.button("Resume", disabled=not unfinished, key="resume", help="Finished dialogues are not repeated."):
            resume(unfinished)
        if st.button("Delete", disabled=not ids, key="delete", help="Moves the runs to the trash below."):
            with guarded():
                for run_id in ids:
                    trash.delete_run(run_id)
                st.session_state["run-deleted"] = len(ids)
                st.rerun()
