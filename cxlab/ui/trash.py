"""What was deleted, each with its undo."""

import json
from contextlib import suppress

import streamlit as st

from cxlab.charts.numbers import format_time
from cxlab.store import trash
from cxlab.ui.app_frame import guarded, zone
from cxlab.ui.labels import label, plain

# Only the last ones are offered for undoing; the others stay in the trash and can be restored once these are.
_MOST_UNDOS = 20


def delete(kind: trash.TrashKind, *ids: str) -> None:
    """Move runs or datasets to the trash, and open it where it is shown next."""
    for id in ids:
        trash.delete(kind, id)
    st.session_state[f"{kind}-deleted"] = ids


def show_trash(kind: trash.TrashKind) -> None:
    """The trash of runs or of datasets; nothing where it is empty."""
    deleted = trash.list_deleted(kind)
    if not deleted:
        return
    with st.expander(f"Trash: {len(deleted)} deleted", expanded=bool(st.session_state.get(f"{kind}-deleted"))):
        for entry in deleted[:_MOST_UNDOS]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"{_name(entry)}, deleted {format_time(entry.deleted, zone())}", help=plain(entry.id))
                if st.button("Undo", key=f"undo-{entry.folder.name}"):
                    with guarded():
                        trash.restore(kind, entry.id)
                        st.rerun()


def _name(entry: trash.TrashEntry) -> str:
    """What a dataset is called, a run by its model; by its id where its record cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        record = json.loads((entry.folder / f"{entry.kind}.json").read_text(encoding="utf-8"))
        return str(record["name"]) if entry.kind == "dataset" else f"{label(str(record['model']))}, {entry.id}"
    return entry.id
