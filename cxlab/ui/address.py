"""The View in the address, links that carry one, and the one place where reads are cached."""

import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

import polars as pl
import streamlit as st
from streamlit.errors import StreamlitAPIException

from cxlab import read, resources
from cxlab.charts.theme import Mark, lighten, mark_models
from cxlab.read import View, known, query
from cxlab.read.view import KEYS, Query
from cxlab.store import catalogue
from cxlab.ui.labels import plain
from cxlab.ui.unknown import find_unknown, find_unknown_attempt, stop_at

_PASSED = "cx_passed"
# The page last shown with its address, and the one that opened what is looked at.
_LAST, _CAME_FROM = "cx_last", "cx_came_from"
# What the fields of a form held: page → its parameters.
_FORMS = "cx_forms"
P = ParamSpec("P")
R = TypeVar("R")


def view() -> View:
    """The View in the address; ends the run where that names what the store does not have.

    Arriving on a page by its menu entry, the filters of the page before are kept.
    """
    given = _given()
    page = st.session_state.get("cx_routed", "")
    arrived = st.session_state.get("cx_page") != page
    st.session_state["cx_page"] = page
    kept = st.session_state.get("cx_view")
    found = here()
    if arrived and found == View() and isinstance(kept, View):
        found = kept
        set_view(found)
    if arrived:
        # An attempt that another page opened leads back there.
        st.session_state[_CAME_FROM] = st.session_state.get(_LAST) if found.attempt else None
    st.session_state["cx_view"] = found.filters()
    given = _given()
    st.session_state[_LAST] = (page, given_query())
    stop_at(find_unknown(given, lambda: cached(known.names)) or find_unknown_attempt(given, _has_attempt), _leave_out)
    return found


def _has_attempt(run_id: str, attempt_id: str) -> bool:
    return cached(known.has_attempt, run_id, attempt_id)


def _leave_out() -> None:
    """Go on without a selection."""
    st.session_state["cx_view"] = View()
    set_view(View())


def here() -> View:
    """The View in the address at this moment; for callbacks, which run before the page."""
    return View.from_query(_given(), facets_of_store())


# Conversations of a dataset are filtered by these, whether or not any of them was ever run.
_OF_CONVERSATIONS = ("intent", "persona", "modality")


def facets_of_store() -> tuple[str, ...]:
    """The facets that an address may name."""
    # Remembered where they are read: a page asks for its View some seventy times.
    return tuple(dict.fromkeys((*read.facet_ids(), *_OF_CONVERSATIONS)))


def _given() -> dict[str, list[str]]:
    return {key: st.query_params.get_all(key) for key in st.query_params}


def set_view(changed: View) -> None:
    """Write a View into the address (and so into the next run); parameters that are not a View's stay."""
    write_view(changed, changed.to_query())


def write_view(changed: View, query: Query, own: Collection[str] = ()) -> None:
    """Write a View into the address as `query`, in which a page has keys of its `own`; other parameters stay."""
    before = given_query()
    ours = KEYS | set(facets_of_store()) | set(own)
    after = {**{key: value for key, value in before.items() if key not in ours}, **query}
    st.session_state["cx_view"] = changed.filters().change(without=(), among="")
    if {key: _one(value) for key, value in after.items()} == before:
        return
    try:
        st.query_params.from_dict(after)
    except StreamlitAPIException:
        # The address holds values of widgets that are bound to it, which nobody else may write: those stay untouched.
        for key in (before.keys() & ours) - after.keys():
            del st.query_params[key]
        st.query_params.update(query)


def given_query() -> Query:
    """The parameters of the address at this moment, each with its value, or its values where there are several."""
    return {key: _one(st.query_params.get_all(key)) for key in st.query_params}


def go(target: View) -> None:
    """Show another view of the same page at once."""
    set_view(target)
    st.rerun()


def open_page(stem: str, target: View) -> None:
    """Go to a page ("failures") with this View in the address; ends the current run."""
    here = _given()
    passed = st.session_state.setdefault(_PASSED, {})
    passed[st.session_state.get("cx_routed", ""), _frozen(target.to_query())] = here
    st.switch_page(f"pages/{stem}.py", query_params=target.to_query())


def come_back() -> None:
    """Called before a page runs: where going back leads to no address of this page, but to the one it was left by.

    On the way to another page Streamlit writes that page's parameters into the history beneath this page's name.
    """
    given = _given()
    left = st.session_state.get(_PASSED, {}).get((st.session_state.get("cx_routed", ""), _frozen(given)))
    if given and left is not None:
        st.query_params.from_dict(left)


def has_opened() -> bool:
    """Whether a dialogue or an answer is open on the page; without a look at the store."""
    return bool(st.query_params.get("attempt") or st.query_params.get("conversation"))


def close_opened() -> None:
    """Be on the page as its menu entry opens it from elsewhere: nothing open, the filters kept; for callbacks."""
    kept = here().filters()
    try:
        st.query_params.from_dict(kept.to_query())
    except StreamlitAPIException:  # as in write_view
        set_view(kept)


def keep_form() -> None:
    """For a page whose fields stand in the address, before it draws them: who left it half filled and comes back by
    the menu finds it as it was."""
    page = st.session_state.get("cx_routed", "")
    arrived, st.session_state["cx_page"] = st.session_state.get("cx_page") != page, page
    kept = st.session_state.setdefault(_FORMS, {})
    if arrived and not given_query() and kept.get(page):
        # Fields read the address a run begins with.
        st.switch_page(f"pages/{page}.py", query_params=kept[page])
    kept[page] = given_query()


def has_page(stem: str) -> bool:
    """Whether the app has this page; links to others are not drawn."""
    return _is_page(stem) and bool(st.session_state.get("cx_routed"))


# A server's pages stay what they are, and a page draws some thirty links.
@lru_cache(maxsize=64)
def _is_page(stem: str) -> bool:
    return (resources.site() / "pages" / f"{stem}.py").is_file()


def link(
    label: str,
    stem: str,
    target: View | None = None,
    help: str | None = None,
    also: Mapping[str, str | list[str]] | None = None,
) -> None:
    """A link to a page with this View, and `also` with parameters of the page's own; on that page itself a button, as
    Streamlit's own link to the page one is on leaves the address as it was. Plain text where the app has no such page.
    """
    there = {**(target or View()).to_query(), **(also or {})}
    if has_page(stem) and st.session_state["cx_routed"] == stem:
        if st.button(plain(label), key=f"cx-link-{label}-{sorted(there.items())}", type="tertiary", help=help):
            go(target or View())
    elif has_page(stem):
        st.page_link(f"pages/{stem}.py", label=plain(label), query_params=there, help=help)
    else:
        st.caption(plain(label))


def link_back() -> None:
    """The way back to the page that opened what is looked at, as it was; nothing where that is this page itself."""
    stem, query = st.session_state.get(_CAME_FROM) or ("", {})
    if stem and stem != st.session_state.get("cx_routed") and has_page(stem):
        st.page_link(f"pages/{stem}.py", label=f"Back to {_TITLES.get(stem, stem.capitalize())}", query_params=query)


# Pages whose title does not follow from their file's name.
_TITLES = {"sop_paths": "SOP paths", "crm_desk": "CRM desk", "persona_lab": "Persona lab"}


def breadcrumbs(steps: Sequence[tuple[str, str, View]], here: str) -> None:
    """The way back up: (label, page, view) for each step above, then where one is."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for label, stem, target in steps:
            link(label, stem, target)
            st.text("›")
        st.text(here)


def cached(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What a read function returns for these arguments, remembered until the store changes; what read no annotation
    until a run or dataset does.

    Keyed by the function, its arguments (a View's repr is stable) and the store's version; aggregates only, never
    all rows. What can be changed is a copy of one's own; frozen records are the same ones each time, so that what they
    keep of themselves is worked out once.
    """
    # Functions of pages all live in `__main__`, so the file is part of the name.
    place = getattr(getattr(function, "__code__", None), "co_filename", "")
    name = f"{function.__module__}.{function.__qualname__} {place}"
    given = repr((args, sorted(kwargs.items())))
    # Before anything is read: what is written meanwhile must not count as known.
    now = catalogue.read()
    version, data = now.version, now.data_version

    def call() -> Callable[[], R]:
        with catalogue.fixed():
            return _keep(function(*args, **kwargs))

    def call_first() -> Callable[[], R] | None:
        with query.followed() as reads:
            value = call()
        if not reads.annotations:
            return value
        _remember(f"{name} {given} {version}", lambda: value)
        return None

    kept: Callable[[], R] | None = _remember(f"{name} {given} runs and datasets {data}", call_first)
    if kept is None:
        query.say_annotations_read()  # to the read that this one may be part of
        kept = _remember(f"{name} {given} {version}", call)
    return kept()


class _Remembered:
    """A place for one value, which one session works out while others wait for it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.value: Any = _NOTHING


_NOTHING = object()
_MOST_REMEMBERED = 1024
_remembered: OrderedDict[str, _Remembered] = OrderedDict()
_finding = threading.Lock()


def _remember(key: str, call: Callable[[], Any]) -> Any:
    """The value of a key, worked out where nobody has; those asked for last are kept."""
    # By itself: `st.cache_resource` reads its function's signature and digests the key each time; a page asks often.
    with _finding:
        place = _remembered.setdefault(key, _Remembered())
        _remembered.move_to_end(key)
        if len(_remembered) > _MOST_REMEMBERED:
            _remembered.popitem(last=False)
    with place.lock:
        if place.value is _NOTHING:
            place.value = call()
        return place.value


def _keep(value: Any) -> Callable[[], Any]:
    """How a value is handed out each time it is asked for."""
    if _is_frozen(value):
        return lambda: value
    if isinstance(value, pl.DataFrame):
        return value.clone  # shares its columns, which nobody writes into
    if type(value) is tuple:
        parts = [_keep(each) for each in value]
        return lambda: tuple(each() for each in parts)
    packed = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return lambda: pickle.loads(packed)


def _is_frozen(value: object) -> bool:
    """Whether nobody can change a value: a text, a number, a frozen record, or several of such."""
    if isinstance(value, tuple):
        return all(map(_is_frozen, value))
    record = getattr(value, "__dataclass_params__", None)
    return value is None or isinstance(value, str | int | float) or (record is not None and record.frozen)


def marks() -> dict[str, Mark]:
    """How each model of the store is drawn, the same on every page."""
    known = cached(read.known_models)
    simulated = dict(zip(known["model"], known["simulated"], strict=True))
    return mark_sides(known["model"], simulated)


def mark_sides(sides: Iterable[str], simulated: Mapping[str, bool] | None = None) -> dict[str, Mark]:
    """How sides that are no models of their own (indexes, runs) are drawn on the viewer's theme."""
    found = mark_models(sides, simulated)
    return lighten(found) if st.context.theme.type == "dark" else found


def _frozen(query: Mapping[str, str | list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(sorted((key, (each,) if isinstance(each, str) else tuple(each)) for key, each in query.items()))


def _one(values: str | list[str]) -> str | list[str]:
    return values[0] if isinstance(values, list) and len(values) == 1 else values
