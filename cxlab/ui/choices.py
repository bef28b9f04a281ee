"""Single choices that live in the address, and clicks that are new."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

from cxlab.read import View
from cxlab.ui.address import here, set_view
from cxlab.ui.labels import plain
from cxlab.ui.unknown import describe, stop_at

N = TypeVar("N", int, float)
LARGEST = 2**53 - 1
"""The largest whole number that a browser can hold."""
# Short enough for int(), which reads no more than some thousand digits.
_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?")


def choose(
    current: View,
    field: str,
    title: str,
    options: Sequence[str],
    *,
    names: Mapping[str, str] | Callable[[str], str] = str,
    help: str | None = None,
    style: Literal["list", "segments"] = "list",
) -> str:
    """One value of a View's text field (of a list or a facet: its first), set from the address and written to it.

    A value that is not among the options counts as the first one.
    """
    value = getattr(current, field, None)
    many = not isinstance(value, str)
    now = next(iter(current.values(field)), "") if many else str(value)
    key = f"cx-choose-{field}"
    st.session_state[key] = now if now in options else options[0]

    def name(option: str) -> str:
        return names.get(option, option) if isinstance(names, Mapping) else names(option)

    def changed() -> None:
        picked = st.session_state[key] or options[0]
        set_view(here().narrow(**{field: (picked,)}) if many else here().change(**{field: picked}))

    if style == "segments":
        st.segmented_control(
            title, options, key=key, format_func=lambda each: plain(name(each)), on_change=changed, help=help,
            label_visibility="collapsed",
        )  # fmt: skip
    else:
        st.selectbox(title, options, key=key, format_func=name, on_change=changed, help=help)
    return str(st.session_state[key] or options[0])


def choose_id(
    key: str,
    title: str,
    options: Sequence[str],
    name: Callable[[str], str] = str,
    help: str | None = None,
    *,
    usual: str | None = None,
    named: str = "",
    elsewhere: Collection[str] = (),
    style: Literal["list", "segments"] = "list",
) -> str:
    """One of the options, its id in the address under `key`; the `usual` one, else the first, needs no mention there.

    Streamlit's own binding writes what the list shows, so that links would have to know how things are shown. Such an
    address from before is understood. Any other value counts as the usual option; but where ids are `named` ("dataset")
    it is named as unknown and the run ends, unless it is an id `elsewhere`, of other choices on the page.
    """
    given = st.query_params.get(key, "")
    shown = {name(each): each for each in options}
    if named and given and given not in options and given not in shown and given not in elsewhere:
        stop_at([describe(named, given)], lambda: st.query_params.pop(key, None))
    usual = options[0] if usual is None else usual
    st.session_state[key] = given if given in options else shown.get(given, usual)

    def changed() -> None:
        picked = st.session_state[key]
        if picked != usual:
            st.query_params[key] = picked
        elif key in st.query_params:
            del st.query_params[key]

    if style == "segments":
        st.segmented_control(
            title, options, key=key, format_func=lambda each: plain(name(each)), on_change=changed, help=help,
            label_visibility="collapsed", required=True,
        )  # fmt: skip
        return str(st.session_state[key])
    return str(st.selectbox(title, options, key=key, format_func=name, on_change=changed, help=help))


def choose_ids(
    key: str, title: str, options: Sequence[str], name: Callable[[str], str], usual: Sequence[str], help: str = ""
) -> list[str]:
    """Several of the options by name, or others that are typed; their ids in the address under `key`, where the `usual`
    ones need no mention. The help tells the ids."""
    shown = {name(each): each for each in options}
    given = st.query_params.get_all(key) if key in st.query_params else list(usual)
    st.session_state[key] = list(dict.fromkeys(shown.get(each, each) for each in given if each))

    def changed() -> None:
        picked = list(st.session_state[key])
        if picked == list(usual):
            st.query_params.pop(key, None)
        else:
            st.query_params[key] = picked or [""]

    return st.multiselect(
        title, options, key=key, format_func=name, on_change=changed, accept_new_options=True, wrap=True,
        help=plain(f"{help} {say_ids(shown)}".strip()),
    )  # fmt: skip


_MOST_IDS = 12
"""Ids that a help names."""


def say_ids(shown: Mapping[str, str], where: str = "") -> str:
    """The ids of what is shown under other names, as the command line takes them; `where`: in which form."""
    told = [f"{words}: {id}" for words, id in shown.items() if words != id]
    more = f"; and {len(told) - _MOST_IDS} more" if len(told) > _MOST_IDS else ""
    return f"Ids, as the command line takes them{where}: {'; '.join(told[:_MOST_IDS])}{more}." if told else ""


def accept_ids(key: str, words: Mapping[str, str]) -> None:
    """Before a bound list of several is drawn: let an address name its values by their ids, as links do; the list
    itself writes there what it shows. `words`: id → what is shown."""
    given = st.query_params.get_all(key)
    if key in st.session_state or set(given) <= set(words.values()):
        return
    ids = {shown: each for each, shown in words.items()} | {each: each for each in words}
    del st.query_params[key]
    st.session_state[key] = [ids[each] for each in given if each in ids]


def choose_number(
    key: str,
    title: str,
    low: N,
    high: N,
    usual: N | None,
    *,
    step: N | None = None,
    help: str | None = None,
    placeholder: str | None = None,
) -> N | None:
    """A number in the address under `key`; the usual one needs no mention there, None stands for none at all.

    What is out of range there becomes the nearest that is in it, what is no number the usual one. (Streamlit's own
    binding breaks at 1e999.) Draw it in a column with `with column:`.
    """
    st.session_state[key] = read_number(st.query_params.get(key, ""), low, high, usual)

    def changed() -> None:
        picked = st.session_state[key]
        if picked is not None and picked != usual:
            st.query_params[key] = f"{picked}"
        elif key in st.query_params:
            del st.query_params[key]

    found: N | None = st.number_input(
        title, low, high, None if usual is None else "min", step, key=key, on_change=changed, help=help,
        placeholder=placeholder,
    )  # fmt: skip
    return found


def read_number(text: str, low: N, high: N, usual: N | None) -> N | None:
    """The number that is written there, brought between `low` and `high`; `usual` where it is none."""
    if not _NUMBER.fullmatch(text):
        return usual
    number = float(text)
    if not isinstance(low, int):
        return min(max(number, low), high)
    # Whole numbers by their digits: a fraction is none of them, and a float would not hold a large one.
    return min(max(int(text), low), high) if text.lstrip("+-").isdigit() else usual


def is_new(key: str, picked: Any) -> bool:
    """Whether a click or selection is another one than on the last run.

    Charts and tables keep their selection from run to run; without this the oldest one would win over a newer click.
    """
    before = st.session_state.get(f"cx-picked-{key}")
    st.session_state[f"cx-picked-{key}"] = picked
    return bool(picked) and picked != before
