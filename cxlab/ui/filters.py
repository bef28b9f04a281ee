"""The filters in the sidebar: set from the address before they are drawn, written to it when they change."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from cxlab import read
from cxlab.read import View, annotations
from cxlab.read.failure_kinds import EVENTS, kinds
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import name_metric
from cxlab.ui.address import cached, here, set_view
from cxlab.ui.labels import label, plain
from cxlab.ui.looked_for import HELP, SAID_BY
from cxlab.ui.place import LONGEST
from cxlab.ui.run_names import call_all_runs, name_run

_FILTER_TITLES = {
    "models": "Model",
    "tasks": "Task",
    "outcomes": "Outcome",
    "failures": "First failure",
    "errors": "What went wrong",
    "splits": "Judges split",
    "ends": "Ended by",
    "owners": "Whose doing",
    "reasons": "Reason",
    "runs": "Run",
    "tags": "Tag",
    "written": "Written by people",
}

# Filters that are one text; two of them a page shows by other means, unless it hides what they say.
_HIDDEN = {"verdict": "Listed", "alike": "Failed alike"}
_TEXTS = {"search": "Words", "speaker": "Said by", **_HIDDEN}
# Values of a filter that a line names.
_MOST_SAID = 3

# Cheap to look up and drawn on most pages: asked for together, so that pages share the answer.
_DEAR = frozenset({"errors", "splits", "reasons", "tags", "written"})
# Filters that say something also where there is one value: the others would let everything through.
_ALONE = frozenset({"tags"})


_WORDS: dict[str, dict[str, str]] = {
    "splits": {"yes": "yes, they lead different ways", "no": "no, all lead the same way"},
    "owners": {"label": "the label", "provider": "the provider", "judge": "the judges", "scorer": "the scorer"}
    | {name: f"the {name}" for name in ("agent", "customer", "tool")}
    | {"unknown": "nobody knows whose"},
    "written": {
        "note": "a note",
        "tag": "a tag",
        "adjudication": "a decision",
        "dispute": "a dispute",
        "nothing": "nothing yet",
    },
}


def sidebar_filters(
    current: View,
    names: Sequence[str],
    about: Declaration,
    *,
    metric: bool = False,
    metrics: Sequence[str] | None = None,
    search: bool = False,
    without: Collection[str] = (),
) -> View:
    """Draw the filters in the sidebar and return the View that they leave.

    `names` are filters as in View.values; one that has fewer than two values in the store is not drawn. `about` has the
    titles, labels and order of facets. Values in the address that no attempt of the benchmark has are left out, and
    named where no other attempt has them either. `metrics` limits what can be picked as the metric. `without`: models
    that the page leaves out, so that they are not offered, unless they are picked.
    """
    filters = (*_FILTER_TITLES, *cached(read.facet_ids))
    asked = tuple(name for name in filters if name not in _DEAR or name in names or current.values(name))
    options = _values(View(benchmark=current.benchmark), asked)
    _name_unknown(current, about, options, asked)
    cleaned = {
        name: tuple(value for value in current.values(name) if value in options.get(name, ())) for name in filters
    }
    settled = current.narrow(**cleaned).change(page=current.page)
    with st.sidebar:
        if search:
            _bind("search", settled.search)
            st.text_input(
                "Search dialogues and notes",
                key="cx-filter-search",
                on_change=_filter_changed,
                args=("search",),
                placeholder="words in one message",
                max_chars=LONGEST,
                help=f"{HELP} So are notes.",
            )
        for name in names:
            if len(options.get(name, ())) < (1 if name in _ALONE else 2) and not settled.values(name):
                continue
            _bind(name, list(settled.values(name)))
            hidden = set(without) - set(settled.values(name)) if name == "models" else ()
            st.multiselect(
                _title(about, name),
                about.in_order(name, [each for each in options[name] if each not in hidden]),
                key=f"cx-filter-{name}",
                format_func=_names_of_runs(about) if name == "runs" else partial(_word, about, name),
                help=(facet.meaning or None) if (facet := about.facet(name)) else None,
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
                    format_func=name_metric,
                    on_change=_filter_changed,
                    args=("metric",),
                )
        if any(settled.values(name) for name in names) or (search and settled.search):
            st.button("Clear filters", key="cx-filter-clear", on_click=_clear, args=((*names, "search", "speaker"),))
    return settled


def show_active(current: View, about: Declaration, hidden: Collection[str] = ()) -> None:
    """Each filter of attempts in force with its values, as a button that takes it away: also one that the page has no
    other control for, as an address may hold any. Of those that are `hidden` the values stay unsaid."""
    names = (*_FILTER_TITLES, *dict(current.facets), "search", "speaker", *(each for each in hidden if each in _HIDDEN))
    active = [(name, given) for name in names if (given := _given(current, name))]
    if not active:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="cx-active"):
        st.caption("Filters:", width="content")
        for name, given in active:
            called = _names_of_runs(about) if name == "runs" and name not in hidden else partial(_word, about, name)
            words = [called(each) for each in given[:_MOST_SAID]]
            more = f" and {len(given) - len(words)} more" if len(given) > len(words) else ""
            said = "hidden" if name in hidden else f"{', '.join(words)}{more}"
            st.button(
                plain(f"{_title(about, name)}: {said}"),
                key=f"cx-active-{name}",
                icon=":material/close:",
                icon_position="right",
                help="Take this filter away.",
                on_click=_clear,
                args=((name,),),
            )


def _given(current: View, name: str) -> tuple[str, ...]:
    """The values of a filter; of one that is a text that text alone."""
    if name not in _TEXTS:
        return current.values(name)
    text = str(getattr(current, name))
    return (text,) if text and text != "all" else ()


def _values(scope: View, asked: tuple[str, ...]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    known = cached(read.facets, scope, asked)
    for name, value in zip(known["name"], known["value"], strict=True):
        values.setdefault(name, []).append(value)
    if "ends" in values:
        # An answer does not end by anything: what is stored is its task.
        values["ends"] = [value for value in values["ends"] if value not in values.get("tasks", ())]
    return values


def _name_unknown(
    current: View, about: Declaration, options: Mapping[str, Sequence[str]], asked: tuple[str, ...]
) -> None:
    """Say which values of the address no attempt in the store has; those of another benchmark stay behind quietly."""
    lost = [(name, each) for name in asked for each in current.values(name) if each not in options.get(name, ())]
    if lost and current.benchmark:
        every = _values(View(), asked)
        lost = [(name, each) for name, each in lost if each not in every.get(name, ())]
    if lost:
        words = ", ".join(f"{_title(about, name).lower()} “{_word(about, name, each)[:80]}”" for name, each in lost[:5])
        st.warning(plain(f"No {about.card.unit[0]} in this store has {words}; shown is what there is without."))


def _title(about: Declaration, name: str) -> str:
    return _FILTER_TITLES.get(name) or _TEXTS.get(name) or about.title(name)


def _names_of_runs(about: Declaration) -> Callable[[str], str]:
    """What runs are called among all of the benchmark, for which the store is asked once."""
    named, given = cached(call_all_runs, about), cached(annotations.run_names)

    def name(run_id: str) -> str:
        called = named.get(run_id) or run_id
        model, _, apart = called.partition(", ")
        # First what sets it apart: the end of a picked one is cut.
        return f"{apart} · {model}" if apart and run_id not in given else called

    return name


def _word(about: Declaration, name: str, value: str) -> str:
    if name == "runs":
        return name_run(value)
    if name == "speaker":
        return SAID_BY.get(value, value)
    if name == "reasons" or name in _TEXTS:
        return value
    if name == "errors" and value in (known := kinds()):
        return f"{known[value]} (on the way)" if value in EVENTS else known[value]
    if name == "ends":
        return about.end(value)
    if name in _WORDS:
        return _WORDS[name].get(value) or label(value)
    return about.value(name, value) if about.facet(name) else label(value)


def _bind(name: str, value: Any) -> None:
    # A widget is set from the address before it is drawn, so the two cannot drift apart.
    st.session_state[f"cx-filter-{name}"] = value


def _filter_changed(name: str) -> None:
    value = st.session_state[f"cx-filter-{name}"]
    current = here()
    set_view(current.narrow(**{name: value}) if isinstance(value, list) else current.change(**{name: value or ""}))


def _clear(names: tuple[str, ...]) -> None:
    lists = dict.fromkeys((name for name in names if name not in _TEXTS), ())
    texts = dict.fromkeys((name for name in names if name in _TEXTS), "")
    set_view(here().narrow(**lists).change(**texts))
