"""Where one is on the page CRM desk; each click writes another place into the address, so every view is a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import streamlit as st

from cxlab.read import View
from cxlab.read.view import Query
from cxlab.ui.address import has_page, here
from cxlab.ui.labels import plain

PAGE = "crm_desk"
LONGEST_QUERY = 2_000
"""Characters of a query that an address holds; longer ones stay in the session."""
_LONGEST = 200
_SHOWN = "crm-shown"


@dataclass(frozen=True)
class Place:
    """Where one is: `view` (what pages share: dataset, tab, task, run, page) and what only this page knows.

    `object` and `record` are what is browsed, `find` the words that narrow it, `query` what the console is asked,
    `today` the day it is asked on, `kind` a task, `sample` one of its questions, `reading` how policies are read.
    """

    view: View
    object: str = ""
    record: str = ""
    find: str = ""
    query: str = ""
    today: str = ""
    sample: str = ""
    reading: str = ""
    kind: str = ""

    def change(self, **changes: Any) -> Place:
        """Another place: of this page's own keys, or of the view's (tab, dataset, tasks, …); back on page 1."""
        own = {name: value for name, value in changes.items() if name in OWN}
        rest = {name: value for name, value in changes.items() if name not in OWN}
        return replace(self, **own, view=self.view.change(**{"page": 1, **rest}))

    def open(self, record: str) -> Place:
        """The same dataset with a record open."""
        return Place(View(dataset=self.dataset), record=record)

    def ask(self, query: str) -> Place:
        """The same dataset with a query in the console."""
        return Place(View(dataset=self.dataset, tab="console"), query=query, today=self.today)

    @property
    def dataset(self) -> str:
        """The dataset that is looked at."""
        return self.view.dataset

    def to_query(self) -> Query:
        """The address's parameters."""
        own = {name: getattr(self, name) for name in OWN}
        return self.view.to_query() | {name: value for name, value in own.items() if value}


OWN = tuple(each.name for each in fields(Place) if each.name != "view")
"""The parameters of an address that are this page's own."""


def read_place(view: View) -> Place:
    """The place in the address; what is too long to be ours is ignored."""
    longest = {"query": LONGEST_QUERY}
    found = {}
    for name in OWN:
        value = st.query_params.get(name, "").replace("\0", "")
        if value and len(value) <= longest.get(name, _LONGEST):
            found[name] = value
    return Place(view, **found)


def move(place: Place) -> None:
    """Write a place into the address; what it leaves empty goes."""
    query = place.to_query()
    st.query_params.from_dict(query)
    st.session_state[_SHOWN] = query


def follow_link() -> None:
    """Called first on the page: a link within a page changes what is shown, and Streamlit leaves the browser's address
    as it was; so it is written once more."""
    given: Query = {key: _one(st.query_params.get_all(key)) for key in st.query_params}
    shown = st.session_state.get(_SHOWN)
    st.session_state[_SHOWN] = given
    if shown is not None and shown != given:
        st.query_params.from_dict(given)


def _one(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values


def go(place: Place) -> None:
    """Be somewhere else on the page at once."""
    move(place)
    st.rerun()


def show_link(label: str, place: Place, help: str | None = None) -> None:
    """A link to a place; plain text where the app has no such page."""
    if has_page(PAGE):
        st.page_link(f"pages/{PAGE}.py", label=plain(label), query_params=place.to_query(), help=help)
    else:
        st.text(label)


def pick(
    name: str,
    title: str,
    options: Sequence[str],
    names: Mapping[str, str] | Callable[[str], str],
    now: str,
    *,
    style: Literal["list", "segments"] = "list",
    clears: Sequence[str] = (),
    help: str | None = None,
) -> str:
    """A choice of one of the place's keys, set from the address and written to it; the first option is the default.

    `name` is a key of the place's own, or "dataset", "tab", "runs" or "tasks" of its view. `clears` are keys that make
    no sense any more once another value is chosen.
    """
    key = f"crm-{name}"
    st.session_state[key] = now if now in options else options[0]

    def say(option: str) -> str:
        return names.get(option, option) if isinstance(names, Mapping) else names(option)

    def changed() -> None:
        picked = str(st.session_state[key] or options[0])
        many = name in ("runs", "tasks")
        value: Any = ((picked,) if picked else ()) if many else picked
        emptied: dict[str, Any] = {each: () if each in ("runs", "tasks") else "" for each in clears}
        move(read_place(here()).change(**emptied, **{name: value}))

    if style == "segments":
        st.segmented_control(
            title, options, key=key, format_func=say, on_change=changed, required=True, help=help,
            label_visibility="collapsed",
        )  # fmt: skip
    else:
        st.selectbox(title, options, key=key, format_func=say, on_change=changed, help=help)
    return str(st.session_state[key] or options[0])


def find_words(place: Place, label: str) -> str:
    """A field for words to search by, kept in the address."""
    key = "crm-find"
    st.session_state[key] = place.find

    def changed() -> None:
        move(read_place(here()).change(find=str(st.session_state[key] or "")))

    st.text_input(
        label, key=key, on_change=changed, placeholder=label, label_visibility="collapsed", max_chars=_LONGEST
    )  # fmt: skip
    return str(st.session_state[key] or "")
