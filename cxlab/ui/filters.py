"""The filters in the sidebar: set from the address before they are drawn, written to it when they change."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from cxlab import read
from cxlab.read import View
from cxlab.read.failure_kinds import EVENTS, KINDS
from cxlab.ui.address import cached, set_view
from cxlab.ui.labels import EXPOSURES, label, plain

_FILTER_TITLES = {
    "models": "Model",
    "scenarios": "Scenario",
    "levels": "Level",
    "leaves": "Leaf",
    "personas": "Persona",
    "exposures": "Told of the customer",
    "tasks": "Task",
    "intents": "Intent",
    "modalities": "Modality",
    "languages": "Language",
    "outcomes": "Outcome",
    "failures": "First failure",
    "errors": "What went wrong",
    "splits": "Judges split",
    "ends": "Ended by",
    "runs": "Run",
}

# Cheap to look up and drawn on most pages: asked for together, so that pages share the answer.
_EVERYWHERE = frozenset(_FILTER_TITLES) - {"errors", "splits"}


_WORDS = {
    "errors": {kind: f"{words} (on the way)" if kind in EVENTS else words for kind, words in KINDS.items()},
    "exposures": EXPOSURES,
    "splits": {"yes": "yes, they lead different ways", "no": "no, all lead the same way"},
    "ends": {
        "goodbye": "goodbye",
        "turns": "limit of turns",
        "loop": "going in circles",
        "unreadable": "unreadable replies",
    },
}


def sidebar_filters(
    current: View,
    names: Sequence[str] = ("models", "scenarios", "levels"),
    *,
    metric: bool = False,
    metrics: Sequence[str] | None = None,
    search: bool = False,
) -> View:
    """Draw the filters in the sidebar and return the View that they leave.

    `names` are fields of View; one that has fewer than two values in the store is not drawn. Values in the address
    that no attempt of the benchmark has are left out, and named where no other attempt has them either. `metrics`
    limits what can be picked as the metric.
    """
    asked = tuple(name for name in _FILTER_TITLES if name in _EVERYWHERE or name in names or getattr(current, name))
    options = _values(View(benchmark=current.benchmark), asked)
    _name_unknown(current, options, asked)
    cleaned = {
        name: tuple(value for value in getattr(current, name) if value in options.get(name, ()))
        for name in _FILTER_TITLES
    }
    settled = current.change(**cleaned, page=current.page)
    with st.sidebar:
        if search:
            _bind("search", settled.search)
            st.text_input(
                "Search in dialogues",
                key="cx-filter-search",
                on_change=_filter_changed,
                args=("search",),
                placeholder="words in any message",
            )
        for name in names:
            if len(options.get(name, ())) < 2 and not getattr(settled, name):
                continue
            _bind(name, list(getattr(settled, name)))
            st.multiselect(
                _FILTER_TITLES[name],
                options[name],
                key=f"cx-filter-{name}",
                format_func=partial(_word, name),
                placeholder="all",
                on_change=_filter_changed,
                args=(name,),
            )
        if metric:
            listed = (
                list(metrics)
                if metrics is not None
                else cached(read.metric_names, View(benchmark=current.benchmark))["metric"].to_list()
            )
            if listed:
                if settled.metric not in listed:
                    settled = settled.change(metric=listed[0], page=current.page)
                _bind("metric", settled.metric)
                st.selectbox(
                    "Metric",
                    listed,
                    key="cx-filter-metric",
                    format_func=label,
                    on_change=_filter_changed,
                    args=("metric",),
                )
        if any(getattr(settled, name) for name in names) or (search and settled.search):
            st.button("Clear filters", key="cx-filter-clear", on_click=_clear, args=(tuple(names),))
    return settled


def _values(scope: View, asked: tuple[str, ...]) -> dict[str, list[str]]:
    known = cached(read.facets, scope, asked)
    return {str(name): part["value"].to_list() for (name,), part in known.group_by("name", maintain_order=True)}


def _name_unknown(current: View, options: Mapping[str, Sequence[str]], asked: tuple[str, ...]) -> None:
    """Say which values of the address no attempt in the store has; those of another benchmark stay behind quietly."""
    lost = [(name, each) for name in asked for each in getattr(current, name) if each not in options.get(name, ())]
    if lost and current.benchmark:
        every = _values(View(), asked)
        lost = [(name, each) for name, each in lost if each not in every.get(name, ())]
    if lost:
        words = ", ".join(f"{_FILTER_TITLES[name].lower()} “{_word(name, each)[:80]}”" for name, each in lost[:5])
        st.warning(plain(f"No dialogue in this store has {words}; shown is what there is without."))


def _word(name: str, value: str) -> str:
    return _WORDS.get(name, {}).get(value) or label(value)


def _bind(name: str, value: Any) -> None:
    # A widget is set from the address before it is drawn, so the two cannot drift apart.
    st.session_state[f"cx-filter-{name}"] = value


def _filter_changed(name: str) -> None:
    value = st.session_state[f"cx-filter-{name}"]
    current = View.from_query({key: st.query_params.get_all(key) for key in st.query_params})
    set_view(current.change(**{name: tuple(value) if isinstance(value, list) else value or ""}))


def _clear(names: tuple[str, ...]) -> None:
    current = View.from_query({key: st.query_params.get_all(key) for key in st.query_params})
    set_view(current.change(**dict.fromkeys(names, ()), search=""))
