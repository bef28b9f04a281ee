"""What an address names and the store does not have: it is named, and nothing else is shown in its place."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from cxlab.read import View
from cxlab.ui.labels import error

_NAMED = ("run", "model", "dataset", "benchmark", "task")
_LONGEST, _MOST = 80, 5


def find_unknown(given: Mapping[str, Sequence[str]], has: Callable[[], Mapping[str, frozenset[str]]]) -> list[str]:
    """What of an address's parameters the store, whose names `has` looks up, does not have, described.

    Names alone are judged here; whether an attempt is there takes a look of its own (`find_unknown_attempt`).
    """
    asked = [(key, value) for key in _NAMED for value in given.get(key, ()) if value]
    sides = [value for value in given.get("baseline", ()) if value]
    if not asked and not sides:
        return []
    names = has()
    lost = [describe(key, value) for key, value in asked if value not in names[key]]
    return lost + [describe("model or run", each) for each in sides if each not in names["model"] | names["run"]]


def find_unknown_attempt(given: Mapping[str, Sequence[str]], has: Callable[[str, str], bool]) -> list[str]:
    """The same for the attempt that is open; `has` looks up a run's attempt."""
    values = [value for value in given.get("attempt", ()) if value]
    if not values:
        return []
    opened = View.from_query(given).opened
    return [] if opened and has(*opened) else [describe("attempt", values[-1])]


def stop_at(lost: Sequence[str], leave: Callable[[], object]) -> None:
    """Name what there is not and end the run; nothing is done where nothing is lost. `leave` goes on without it."""
    if not lost:
        return
    more = f", and {len(lost) - _MOST} more" if len(lost) > _MOST else ""
    error(
        f"There is no {', no '.join(lost[:_MOST])}{more} in this store.",
        "It was deleted, or the address is of another store or mistyped. Nothing else is shown in its place.",
    )
    st.button("Leave it out", key="cx-unknown", on_click=_call, args=(leave,))
    st.stop()


def _call(leave: Callable[[], object]) -> None:
    leave()


def describe(kind: str, value: str) -> str:
    """ "run “x”", as `stop_at` wants it."""
    shown = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    return f"{kind} “{shown}”"
