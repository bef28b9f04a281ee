"""What runs are called: the names that people gave them, used wherever a run is shown, and where to give one."""

from collections.abc import Mapping, Sequence

import streamlit as st

from cxlab.charts.numbers import format_time
from cxlab.charts.theme import short_model
from cxlab.read import annotations, known
from cxlab.read.run_names import call_runs, call_runs_of
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached
from cxlab.ui.annotations import LONGEST_NAME, annotate, withdraw
from cxlab.ui.app_frame import guarded, zone
from cxlab.ui.labels import label, plain, say

_SAVED = "cx-run-named"


def name_run(run_id: str, model: str = "") -> str:
    """A run's name; of one without a name its model and its id."""
    named = cached(annotations.run_names).get(run_id)
    return named or (f"{label(model)}, {run_id}" if model else run_id)


def call_all_runs(about: Declaration) -> dict[str, str]:
    """Run → what it is called among all runs of a benchmark; of several benchmarks together by its model and id."""
    runs = [(run, model) for run, model, benchmark in known.runs() if about.card.id in ("", benchmark)]
    models = {model: short_model(model) for _, model in runs}
    return call_runs_of(about, runs, models) if about.card.id else call_runs(runs, models)


def offer_names(runs: Sequence[str], key: str, called: Mapping[str, str] | None = None) -> None:
    """Where one of these runs is given a name and notes, and where the latest of these is taken back; `called`: what
    the page calls them."""
    if not runs:
        return
    with st.popover("Name and notes", icon=":material/edit:"):
        st.caption("A run's name is used wherever it is shown; its notes stand on Compare and in reports.")
        run_id = runs[0]
        if len(runs) > 1:
            # One below the other: in a closed list the end of a name is cut, where two runs differ.
            names = {run: (called or {}).get(run) or name_run(run) for run in runs}
            picked = st.radio("Run", list(names), format_func=lambda run: plain(names[run]), key=f"{key}-run")
            run_id = picked or run_id
        with st.form(f"{key}-form-{run_id}", border=False):
            known = cached(annotations.run_names).get(run_id, "")
            name = st.text_input("Name", known, max_chars=LONGEST_NAME, key=f"{key}-name-{run_id}")
            note = st.text_area(
                "Note", max_chars=4_000, key=f"{key}-note-{run_id}", placeholder="what was changed, why"
            )
            if st.form_submit_button("Save", type="primary"):
                with guarded():
                    if not name.strip():
                        _forget_name(run_id)
                    elif name.strip() != known:
                        annotate("name", run_id, "", name)
                    annotate("note", run_id, "", note)
                    st.session_state.pop(f"{key}-note-{run_id}", None)
                    st.session_state[_SAVED] = name.strip() or (called or {}).get(run_id) or run_id
                    st.rerun()
        if saved := st.session_state.pop(_SAVED, None):
            st.toast(f"Saved for {plain(saved)}.", icon=":material/check_circle:")
        _show_log(run_id, key)


def show_notes(run_id: str) -> None:
    """The notes on a whole run, newest first; nothing where there are none."""
    found = cached(annotations.on_run, run_id)
    for row in found.filter(found["kind"] == "note").iter_rows(named=True):
        st.caption(plain(f"{format_time(row['created'], zone())}, {row['author']}:"))
        say(row["value"])


def _forget_name(run_id: str) -> None:
    found = annotations.on_run(run_id)
    for id in found.filter(found["kind"] == "name")["id"]:
        withdraw(id, run_id, "")


def _show_log(run_id: str, key: str) -> None:
    found = cached(annotations.on_run, run_id)
    if found.is_empty():
        return
    latest = found.row(0, named=True)
    if st.button(f"Take back the latest {latest['kind']}", key=f"{key}-back-{run_id}"):
        with guarded():
            withdraw(latest["id"], run_id, "")
            st.session_state.pop(f"{key}-name-{run_id}", None)
            st.rerun()
    for row in found.iter_rows(named=True):
        st.caption(plain(f"{format_time(row['created'], zone())}, {row['author']}, {row['kind']}:"))
        say(row["value"])
