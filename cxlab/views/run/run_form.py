"""Parts of the form on the page Run: the dataset, and a benchmark's own switches."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from cxlab.benchmarks.contract import Facet
from cxlab.benchmarks.options import Switch, write_word
from cxlab.records import Dataset
from cxlab.ui.address import link
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import plain


def choose_dataset(stored: Mapping[str, Dataset], own: bool, others: Collection[str]) -> str | None:
    """A stored dataset; None means the benchmark's own, made anew, where it has one, or that there is none yet.

    `others` are stored datasets of other benchmarks, which the address may still name.
    """
    if not stored and not own:
        st.info("There is no dataset of this benchmark yet: generate or import one first.")
        link("Go to Datasets", "datasets")
        return None

    def name(each: str) -> str:
        return f"{stored[each].name} · {each}" if each else "the benchmark's own"

    tip = "What the models are evaluated on. More are made on the page Datasets."
    return (
        choose_id("dataset", "Dataset", [*([""] if own else []), *stored], name, tip, named="dataset", elsewhere=others)
        or None
    )


MOST_VALUES = 60
"""A facet with more values than this is no filter that a person picks from."""


def narrow(declared: Sequence[Facet], values: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """(facet, value) of what is picked; only facets that tell samples apart are offered."""
    shown = [facet for facet in declared if 1 < len(values.get(facet.id, ())) <= MOST_VALUES]
    picked: list[tuple[str, str]] = []
    columns = st.columns(min(3, len(shown))) if shown else []
    for place, facet in enumerate(shown):
        found = columns[place % len(columns)].multiselect(
            facet.title, values[facet.id], key=f"only-{facet.id}", placeholder="all", bind="query-params", wrap=True,
            help=facet.meaning or None, format_func=lambda value, facet=facet: facet.labels.get(value, value),
        )  # fmt: skip
        picked += [(facet.id, value) for value in found]
    return tuple(picked)


def fill_in_options(switches: Sequence[Switch]) -> dict[str, Any]:
    """What was set other than by default, by name: a widget a switch, as its type wants it."""
    given: dict[str, Any] = {}
    columns = st.columns(3)
    for place, switch in enumerate(each for each in switches if each.on_page):
        value = _ask(columns[place % 3], switch)
        if value not in (None, "", [], ()) and value != switch.default:
            given[switch.name] = value
    return given


def _ask(place: DeltaGenerator, switch: Switch) -> Any:
    """The widget of one switch. What has no default shows what an empty field means in its help."""
    shared: dict[str, Any] = {"key": f"option-{switch.name}", "help": plain(switch.meaning), "bind": "query-params"}
    match switch.kind:
        case "flag":
            return place.toggle(switch.title, bool(switch.default), **shared)
        case "choice":
            listed = list(switch.choices)
            usual = write_word(switch.default)
            index = listed.index(usual) if usual in listed else None
            picked = place.selectbox(switch.title, listed, index, placeholder="as the sample says", **shared)
            return None if picked is None else switch.values[listed.index(picked)]
        case "choices":
            return place.multiselect(switch.title, list(switch.choices), placeholder="all", **shared)
        case "integer":
            low, high = _whole(switch.low), _whole(switch.high)
            return place.number_input(switch.title, low, high, switch.default, step=1, placeholder="not set", **shared)
        case "number":
            return place.number_input(
                switch.title, switch.low, switch.high, switch.default, placeholder="not set", **shared
            )
        case "text" if switch.choices:
            listed = list(switch.choices)
            index = listed.index(switch.default) if switch.default in listed else None
            return place.selectbox(switch.title, listed, index, accept_new_options=True, **shared)
        case _:
            return place.text_input(switch.title, placeholder=switch.usual or "not set", **shared).strip()


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)
