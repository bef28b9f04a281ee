"""Where one is on a page that has keys of its own: one value that fits into an address, so that every view is a link.

A page declares its keys as a dataclass under `PagePlace`. Each click makes another place and writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self, TypeVar

import streamlit as st

from cxlab.read import View
from cxlab.read.view import Query
from cxlab.ui.address import given_query, has_page, here, write_view
from cxlab.ui.labels import plain

LONGEST = 200
"""Characters of a value in an address."""
_MOST_VALUES = 20
_SHOWN = "cx-place-shown"
T = TypeVar("T")


@dataclass(frozen=True)
class PagePlace:
    """What pages share (`view`), and what only one page knows: fields of text, or tuples of texts.

    `page` is the page's file name without its ending, `prefix` begins the keys of its widgets, `longest` says which
    fields may hold more characters than `LONGEST`.
    """

    page: ClassVar[str] = ""
    prefix: ClassVar[str] = ""
    longest: ClassVar[Mapping[str, int]] = {}

    view: View

    @classmethod
    def own(cls) -> tuple[str, ...]:
        """The parameters of an address that are this page's own."""
        return tuple(each.name for each in fields(cls) if each.name != "view")

    @classmethod
    def read(cls, view: View) -> Self:
        """The place in the address; what is too long to be ours, or cannot be meant, is ignored."""
        found: dict[str, Any] = {}
        for name in cls.own():
            longest = cls.longest.get(name, LONGEST)
            values = [
                each for each in st.query_params.get_all(name) if each and len(each) <= longest and "\0" not in each
            ]
            if values:
                found[name] = tuple(values[:_MOST_VALUES]) if isinstance(cls.usual(name), tuple) else values[-1]
        return cls.settle(cls(view, **found))

    @classmethod
    def settle(cls, place: Self) -> Self:
        """The place without what cannot be meant; a page with rules of its own says them here."""
        return place

    @classmethod
    def now(cls) -> Self:
        """The place in the address at this moment; for callbacks, which run before the page."""
        return cls.read(here())

    @classmethod
    def usual(cls, name: str) -> Any:
        """The value of a key that an address does not mention."""
        return next(each.default for each in fields(cls) if each.name == name)

    def change(self, **changes: Any) -> Self:
        """Another place: of this page's own keys, or of the view's (tab, dataset, runs, …); back on page 1."""
        own = {name: value for name, value in changes.items() if name in self.own()}
        rest = {name: value for name, value in changes.items() if name not in self.own()}
        return replace(self, **own, view=self.view.change(**{"page": 1, **rest}))

    @property
    def dataset(self) -> str:
        """The dataset that is looked at."""
        return self.view.dataset

    def to_query(self) -> Query:
        """The address's parameters; what is at its default is left out."""
        query: Query = dict(self.view.to_query())
        for name in self.own():
            value = getattr(self, name)
            if value != self.usual(name):
                query[name] = list(value) if isinstance(value, tuple) else str(value)
        return query


def move(place: PagePlace) -> None:
    """Write a place into the address; what it leaves empty goes."""
    write_view(place.view, place.to_query(), place.own())
    st.session_state[_SHOWN] = given_query()


def go(place: PagePlace) -> None:
    """Be somewhere else on the page at once."""
    move(place)
    st.rerun()


def follow_link() -> None:
    """Called first on a page that links to itself: such a link changes what is shown, and Streamlit leaves the
    browser's address as it was; so it is written once more."""
    given = given_query()
    shown = st.session_state.get(_SHOWN)
    st.session_state[_SHOWN] = given
    if shown is not None and shown != given:
        st.query_params.from_dict(given)


def show_link(label: str, place: PagePlace, help: str | None = None) -> None:
    """A link to a place; plain text where the app has no such page."""
    if has_page(place.page):
        st.page_link(f"pages/{place.page}.py", label=plain(label), query_params=place.to_query(), help=help)
    else:
        st.text(label)


def pick(
    place: PagePlace,
    name: str,
    title: str,
    options: Sequence[T],
    names: Mapping[T, str] | Callable[[T], str] = str,
    *,
    style: Literal["list", "segments"] = "list",
    clears: Sequence[str] = (),
    help: str | None = None,
) -> T:
    """A choice of one of the place's keys, set from the address and written to it; the first option is the default.

    `name` is a key of the page's own, or a text or list of its view ("dataset", "tab", "runs", "tasks"). `clears` are
    keys that make no sense any more once another value is chosen.
    """
    key = f"{place.prefix}-{name}"
    mine = name in place.own()
    now = getattr(place if mine else place.view, name)
    many = isinstance(now, tuple)
    now = next(iter(now), "") if many else now
    st.session_state[key] = now if now in options else options[0]

    def say(option: T) -> str:
        return names.get(option, str(option)) if isinstance(names, Mapping) else names(option)

    def changed() -> None:
        picked = st.session_state[key]
        value: Any = options[0] if picked is None else picked
        if mine and value == options[0] and place.usual(name) == "":
            value = ""
        if many:
            value = (value,) if value else ()
        current = place.now()
        move(current.change(**{each: _empty(current, each) for each in clears}, **{name: value}))

    if style == "segments":
        st.segmented_control(
            title, options, key=key, format_func=lambda each: plain(say(each)), on_change=changed,
            required=True, help=help, label_visibility="collapsed",
        )  # fmt: skip
    else:
        st.selectbox(title, options, key=key, format_func=say, on_change=changed, help=help)
    picked: T | None = st.session_state[key]
    return options[0] if picked is None else picked


def find_words(place: PagePlace, title: str, placeholder: str | None = None, help: str | None = None) -> str:
    """A field for words to search by, kept in the address as `find`; without a placeholder it is its title."""
    key = f"{place.prefix}-find"
    st.session_state[key] = getattr(place, "find", "")

    def changed() -> None:
        move(place.now().change(find=str(st.session_state[key] or "")))

    st.text_input(
        title, key=key, on_change=changed, placeholder=placeholder or title, help=help, max_chars=LONGEST,
        label_visibility="visible" if placeholder else "collapsed",
    )  # fmt: skip
    return str(st.session_state[key] or "")


def _empty(place: PagePlace, name: str) -> Any:
    if name in place.own():
        return place.usual(name)
    return () if isinstance(getattr(place.view, name), tuple) else ""
