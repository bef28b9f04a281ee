"""What the page Conversations shows, as one value that fits into an address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any

import streamlit as st

from cxlab.benchmarks.cdr.units import GRANULARITIES, Granularity
from cxlab.read import View
from cxlab.read.view import Query
from cxlab.ui.address import here

LONGEST = 200
"""Characters of a question, as of any value in an address."""
RETRIEVERS = ("conversation", "bm25", "lexical", "hashing", "minilm", "hybrid:hashing", "hybrid:minilm")
"""Those that answer without a server; the first is meant unless an address says otherwise."""
SIZES = (10, 20, 50, 100, 200, 500)
"""How many of the best conversations are looked at, from narrow to broad."""
USUAL_SIZE = 50
_MOST_VALUES = 20


@dataclass(frozen=True)
class SearchPlace:
    """A question and what it is asked of.

    `view` holds the dataset, the question (`search`), the tab and the page. `like`: a conversation and the place of the
    message that others are to be like, as "3~ID". `only`: "label=value" that a conversation must have, any of those of
    one label. `since` (included) and `until` (not included): days.
    """

    view: View
    granularity: Granularity = "session"
    retriever: str = RETRIEVERS[0]
    size: int = USUAL_SIZE
    like: str = ""
    only: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    @property
    def dataset(self) -> str:
        """The dataset that is searched."""
        return self.view.dataset

    @property
    def question(self) -> str:
        """What is asked; "" where others like a conversation are."""
        return "" if self.like else self.view.search.strip()

    @property
    def model(self) -> tuple[int, str] | None:
        """Place of the message and id of the conversation that others are to be like."""
        place, _, name = self.like.partition("~")
        return (int(place), name) if name else None

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Label → values of which a conversation must have one."""
        found: dict[str, tuple[str, ...]] = {}
        for each in self.only:
            name, _, value = each.partition("=")
            found[name] = (*found.get(name, ()), value)
        return found

    def change(self, **changes: Any) -> SearchPlace:
        """Another place: of this page's own keys, or of the view's; back on page 1."""
        own = {name: value for name, value in changes.items() if name in OWN}
        rest = {name: value for name, value in changes.items() if name not in OWN}
        return replace(self, **own, view=self.view.change(**{"page": 1, **rest}))

    def ask(self, question: str) -> SearchPlace:
        """The same conversations with another question, on the tab of the results."""
        return self.change(search=question.strip()[:LONGEST], like="", tab="")

    def to_query(self) -> Query:
        """The address's parameters; what is at its default is left out."""
        query: Query = dict(self.view.to_query())
        for name in OWN:
            value = getattr(self, name)
            if value != getattr(_DEFAULT, name):
                query[name] = list(value) if name == "only" else str(value)
        return query


_DEFAULT = SearchPlace(View())
OWN = tuple(each.name for each in fields(SearchPlace) if each.name != "view")
"""The parameters of an address that are this page's own."""


def read_place(view: View) -> SearchPlace:
    """The place in the address; what cannot be meant is ignored."""
    given = {name: [each for each in st.query_params.get_all(name) if _is_sound(each)] for name in OWN}
    last = {name: values[-1] for name, values in given.items() if values}
    granularity = next((each for each in GRANULARITIES if each == last.get("granularity")), _DEFAULT.granularity)
    size = last.get("size", "")
    like = last.get("like", "")
    place, _, name = like.partition("~")
    return SearchPlace(
        view=view,
        granularity=granularity,
        retriever=last["retriever"] if last.get("retriever") in RETRIEVERS else _DEFAULT.retriever,
        size=next((each for each in SIZES if str(each) == size), USUAL_SIZE),
        like=like if name and place.isascii() and place.isdigit() and len(place) < 7 else "",
        only=tuple(dict.fromkeys(each for each in given["only"] if "=" in each))[:_MOST_VALUES],
        since=read_day(last.get("since", "")),
        until=read_day(last.get("until", "")),
    )


def read_day(text: str) -> str:
    """The day as it is written there; "" where it is none."""
    try:
        return date.fromisoformat(text).isoformat() if len(text) == 10 else ""
    except ValueError:
        return ""


def _is_sound(value: str) -> bool:
    return bool(value) and len(value) <= LONGEST and "\0" not in value


def move(place: SearchPlace) -> None:
    """Write a place into the address."""
    st.session_state["cx_view"] = place.view.filters()
    others = {key: _one(st.query_params.get_all(key)) for key in st.query_params if key == "job"}
    st.query_params.from_dict({**place.to_query(), **others})


def go(place: SearchPlace) -> None:
    """Be somewhere else on the page at once."""
    move(place)
    st.rerun()


def now() -> SearchPlace:
    """The place in the address at this moment; for callbacks, which run before the page."""
    return read_place(here())


def pick(
    name: str,
    title: str,
    options: Sequence[Any],
    value: Any,
    say: Callable[[Any], str] = str,
    *,
    help: str | None = None,
    style: str = "list",
) -> Any:
    """A choice of one of the place's keys, set from the address and written to it."""
    key = f"search-{name}"
    st.session_state[key] = value if value in options else options[0]

    def changed() -> None:
        picked = st.session_state[key]
        value = options[0] if picked is None else picked
        # What narrowed one set of conversations says nothing of another.
        others = {"only": (), "since": "", "until": "", "like": ""} if name == "dataset" else {}
        move(now().change(**{name: value, **others}))

    if style == "segments":
        st.segmented_control(
            title, options, key=key, format_func=say, on_change=changed, help=help, required=True,
            label_visibility="collapsed",
        )  # fmt: skip
    else:
        st.selectbox(title, options, key=key, format_func=say, on_change=changed, help=help)
    return st.session_state[key]


def _one(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values
