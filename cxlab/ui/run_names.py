"""What runs are called: the names that people gave them, used wherever a run is shown, and where to give one."""

from collections.abc import Mapping, Sequence

import streamlit as st

from cxlab.charts.numbers import format_time
from cxlab.read import annotations
from cxlab.ui.address import cached
from cxlab.ui.annotations import LONGEST_NAME, annotate, withdraw
from cxlab.ui.app_frame import guarded, zone
from cxlab.ui.labels import label, plain, say


def name_run(run_id: str, model: str = "") -> str:
    """A run's name; of one without a name its model and its id."""
    named = cached(annotations.run_names).get(run_id)
    return named or (f"{label(model)}, {run_id}" if model else run_id)


def offer_names(runs: Sequence[str], key: str, called: Mapping[str, str] | None = None) -> None:
    """Where one of these runs is given a name and notes, and where the latest of these is taken back; `called`: what
    the page calls them."""
    if not runs:
        return
    with st.popover("Name and notes", icon=":material/edit:", help="Of a run; used wherever it is shown."):
        run_id = runs[0]
        if len(runs) > 1:
            names = {(called or {}).get(run) or name_run(run): run for run in runs}
            run_id = names[st.selectbox("Run", list(names), key=f"{key}-run") or next(iter(names))]
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
                    st.rerun()
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
