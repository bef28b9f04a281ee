"""What people write down: notes, tags, adjudications, saved filters, decisions on findings, names of runs, baselines.
All is only ever added, and taken back by one more entry."""

import getpass
from datetime import UTC, datetime
from typing import Literal

import streamlit as st

from cxlab.errors import BadOption
from cxlab.records import Annotation, new_id
from cxlab.store import raters, write
from cxlab.store.compact import compact_annotations

BROWSER_COOKIE = "cx_browser"
"""As the server sets it (server/__init__.py)."""
State = Literal["open", "resolved", "dismissed"]
STATES: tuple[State, ...] = ("resolved", "dismissed", "open")
"""What can become of something that is suspected."""
_LONGEST = 4_000
LONGEST_NAME = 80
"""Characters of the name of a saved filter, or of a run."""


def author() -> str:
    """Who writes: what was typed in this browser once, else the name of the account that runs the app."""
    return rater() or _account()


def rater() -> str:
    """The name that was typed in this browser once; "" where none was: an account is no person."""
    if "cx-author-kept" not in st.session_state:
        st.session_state["cx-author-kept"] = raters.find_rater(_browser())
    return str(st.session_state["cx-author-kept"])


def ask_author(empty: bool = False) -> None:
    """A field for one's name, which this browser keeps; with `empty` the account's name is not proposed."""
    st.text_input(
        "Your name", value=rater() if empty else author(), key="cx-author", max_chars=raters.LONGEST_NAME,
        on_change=_keep_author, placeholder="typed once, kept here" if empty else None,
    )  # fmt: skip


def annotate(
    kind: Literal["note", "tag", "untag", "adjudication", "resolution", "dispute", "name", "baseline"],
    run_id: str,
    attempt_id: str,
    value: str,
    turn: int | None = None,
    field: str | None = None,
) -> str:
    """Write one annotation and return its id; what is empty is not written and gives "".

    Of a name or a note on a whole run `attempt_id` is empty; for a baseline see `records.Annotation`.
    """
    text = value.strip()[:_LONGEST]
    return _write(kind, run_id, attempt_id, text, turn, field) if text else ""


def save_filter(page: str, name: str, query: str) -> str:
    """Save a selection of a page under a name, for everybody who opens this store; one of the same name is replaced.

    BadOption where the name is empty or the selection too long to be kept.
    """
    shown = " ".join(name.split())[:LONGEST_NAME]
    if not shown:
        raise BadOption("a saved filter needs a name")
    if len(query) > _LONGEST:
        raise BadOption(f"this selection is too long to be saved: more than {_LONGEST} characters; choose fewer values")
    return _write("filter", page, shown, query)


def decide(dataset_id: str, key: str, state: State, note: str = "") -> str:
    """Say what became of something that is suspected of a dataset; a later word on it takes this one's place."""
    return _write("finding", dataset_id, key, note.strip()[:_LONGEST], field=state)


def _write(
    kind: Literal[
        "note", "tag", "untag", "adjudication", "resolution", "dispute", "filter", "finding", "name", "baseline"
    ],
    run_id: str,
    attempt_id: str,
    value: str,
    turn: int | None = None,
    field: str | None = None,
) -> str:
    entry = Annotation(
        id=new_id("note"),
        created=datetime.now(UTC),
        author=author(),
        kind=kind,
        run_id=run_id,
        attempt_id=attempt_id,
        turn=turn,
        field=field,
        value=value,
    )
    write.annotate(entry)
    return entry.id


def rate(rater: str, dataset_id: str, conversation_id: str, verdict: str, reasons: str) -> None:
    """Write one rating of a conversation of a dataset; a later one of the same rater takes its place."""
    write.annotate(
        Annotation(
            id=new_id("rating"),
            created=datetime.now(UTC),
            author=rater,
            kind="rating",
            run_id=dataset_id,
            attempt_id=conversation_id,
            field=verdict,
            value=reasons,
        )
    )
    # A study leaves thousands of them, one file each: every hundred become one.
    compact_annotations()


def withdraw(annotation_id: str, run_id: str, attempt_id: str, by: str = "") -> None:
    """Take an annotation or rating back (`by` whom, else by the author); both stay in the store."""
    write.annotate(
        Annotation(
            id=new_id("note"),
            created=datetime.now(UTC),
            author=by or author(),
            kind="withdrawn",
            run_id=run_id,
            attempt_id=attempt_id,
            value=annotation_id,
        )
    )


def _keep_author() -> None:
    name = " ".join(st.session_state["cx-author"].split())
    st.session_state["cx-author-kept"] = name
    raters.remember_rater(_browser(), name)


def _browser() -> str:
    return str(st.context.cookies.get(BROWSER_COOKIE, ""))


def _account() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"
