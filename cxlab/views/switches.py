"""Typed switches as widgets: the form of a run's options and of a dataset's settings, each in the address."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cxlab.records.settings import Switch, write_word
from cxlab.ui.choices import LARGEST, accept_ids, choose_id, choose_number
from cxlab.ui.labels import label, plain

_LARGEST_FRACTION = 1e6
_LONGEST = 20_000
"""Letters of a long text; it becomes an argument of a job."""


def fill_in(
    switches: Sequence[Switch],
    prefix: str = "option",
    models: Sequence[str] = (),
    procedures: Sequence[str] = (),
    unset: str = "as the sample says",
) -> dict[str, Any]:
    """What was set other than by default, by name: a widget a switch, as its type wants it; `prefix` of their keys.

    `models` and `procedures` are offered where a switch asks for one; `unset` stands in a choice
    that nobody made. Paragraphs come first, over the whole width.
    """
    offered = {"models": tuple(models), "procedures": tuple(procedures)}
    given: dict[str, Any] = {}
    shown = sorted((each for each in switches if each.on_page), key=lambda switch: not switch.long)
    long = [switch for switch in shown if switch.long]
    wide = [st.container() for _ in long]
    columns = st.columns(2)
    for number, switch in enumerate(shown):
        if switch.offers:
            switch = replace(switch, choices=offered[switch.offers])
        place = wide[number] if switch.long else columns[(number - len(long)) % 2]
        value = _ask(place, switch, f"{prefix}-{switch.name}", unset)
        if value not in (None, "", [], ()) and value != switch.default:
            given[switch.name] = value
    return given


def name_choice(switch: Switch, choice: str) -> str:
    """A choice of a switch in words."""
    return switch.labels.get(choice) or label(choice)


def _ask(place: DeltaGenerator, switch: Switch, key: str, unset: str) -> Any:
    """The widget of one switch. What has no default says in its help what an empty field means."""
    shared: dict[str, Any] = {"key": key, "help": plain(switch.meaning), "bind": "query-params"}
    match switch.kind:
        case "flag":
            return place.toggle(switch.title, bool(switch.default), **shared)
        case "choice":
            usual = write_word(switch.default)
            listed = list(switch.choices) if usual in switch.choices else ["", *switch.choices]
            words = {each: name_choice(switch, each) if each else unset for each in listed}
            with place:
                picked = choose_id(key, switch.title, listed, words.__getitem__, shared["help"], usual=usual)
            return switch.values[switch.choices.index(picked)] if picked else None
        case "choices":
            words = {each: name_choice(switch, each) for each in switch.choices}
            accept_ids(key, words)
            # Nothing chosen is not always all there is.
            nothing = switch.labels.get("", "all")
            return place.multiselect(
                switch.title, list(switch.choices), placeholder=nothing, format_func=words.__getitem__, **shared
            )
        case "integer" | "number":
            return _ask_number(place, switch, key)
        case "text" if switch.choices:
            listed = list(dict.fromkeys([*([switch.default] if switch.default else []), *switch.choices]))
            index = listed.index(switch.default) if switch.default in listed else None
            return place.selectbox(
                switch.title, listed, index, accept_new_options=switch.typed, placeholder="not set", **shared
            )
        case "text" if switch.long:
            # Too long for an address, and nobody else's to read.
            shared.pop("bind")
            usual = write_word(switch.default)
            return place.text_area(switch.title, usual, height=110, max_chars=_LONGEST, **shared).strip()
        case _:
            return place.text_input(switch.title, placeholder=switch.usual or "not set", **shared).strip()


def _ask_number(place: DeltaGenerator, switch: Switch, key: str) -> int | float | None:
    help, most = plain(switch.meaning), LARGEST if switch.kind == "integer" else _LARGEST_FRACTION
    low, high = (-most if switch.low is None else switch.low), (most if switch.high is None else switch.high)
    with place:
        if switch.kind == "integer":
            whole = (int(low), int(high), switch.default)
            return choose_number(key, switch.title, *whole, step=1, help=help, placeholder="not set")
        fraction = (float(low), float(high), None if switch.default is None else float(switch.default))
        return choose_number(key, switch.title, *fraction, help=help, placeholder="not set")
