"""The form of the page Retrieval that tries other indexes: what makes an index, as a grid of a run's options."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import streamlit as st

from cxlab.charts.numbers import format_count, format_seconds, format_usd
from cxlab.records.benchmark_card import Search
from cxlab.records.settings import Switch, write_word
from cxlab.ui.choices import LARGEST, choose_number
from cxlab.ui.labels import plain, section
from cxlab.views.switches import fill_in

# What makes an index, if the benchmark's options have it; several values of each are tried against each other.
GRID = ("retrieval", "unit", "chunk")
OVERLAP = "overlap"


@dataclass(frozen=True)
class IndexRequest:
    """What was filled in: the options of each index, those of all, tasks, the models under test (who writes queries and
    answers, or the retrievers themselves), how many."""

    variants: tuple[Mapping[str, Any], ...]
    options: Mapping[str, Any]
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    limit: int | None

    def judged(self, searches: Mapping[str, Search]) -> bool:
        """Whether answers are written, so that judges are asked."""
        return any(self.options.get(searches[task].answered_by) for task in self.tasks)


def fill_in_indexes(
    switches: Sequence[Switch],
    searches: Mapping[str, Search],
    titles: Mapping[str, str],
    models: Sequence[str],
    lacking: Mapping[str, str],
    retrievers: Mapping[str, bool] | None = None,
) -> IndexRequest:
    """The fields, in the address like those of the page Run. `switches` are the options of a run, `searches` and
    `titles` the tasks that there are. `lacking`: method → what must be installed first. `retrievers`: where these are
    the models under test, name → whether it is proposed."""
    section("Try another index on this dataset", "Each method with each of the other values becomes a run of its own.")
    known = {switch.name: switch for switch in switches}
    columns = st.columns(2)
    values = {
        name: _ask_values(columns[place % 2], known[name], lacking)
        for place, name in enumerate(name for name in GRID if name in known)
    }
    if retrievers:
        tip = "Type any other name, as retriever:openai:MODEL or retriever:hybrid:EMBEDDER."
        usual = [name for name, proposed in retrievers.items() if proposed]
        tried = st.multiselect(
            "Retrievers", list(retrievers), usual, key="try-retrievers", help=tip, accept_new_options=True,
            bind="query-params", wrap=True,
        )  # fmt: skip
    for name, needs in lacking.items() if not retrievers else ():
        st.caption(f"{name} is not installed here: `{needs}`")
    # What stands in the address is what is shown, so a task is chosen by its title.
    named = {titles[task]: task for task in searches}
    left, right = st.columns(2)
    titled = left.multiselect("Tasks", list(named), list(named), key="on", bind="query-params", wrap=True)
    picked = [named[each] for each in titled]
    share = 0
    if OVERLAP in known and "chunk" in values:
        with right:
            tip = "What neighbouring chunks share, so that nothing is cut in two."
            share = choose_number("overlap", "Overlap, % of the chunk", 0, 90, 10, help=tip) or 0
    asked = tuple(tried) if retrievers else models[:1]
    if any(searches[task].asks_model for task in picked):
        tip = "Writes the queries, and the answers if wanted."
        asked = (left.selectbox("Model", models, key="writer", bind="query-params", help=tip),)
    # Finding is what this page is about: answers are written only where somebody asks for them.
    answered = {search.answered_by for search in searches.values()} & set(known)
    offered = dict.fromkeys(name for task in picked for name in searches[task].offers if name in known)
    shown = [replace(known[name], default=False) if name in answered else known[name] for name in offered]
    options: dict[str, Any] = dict.fromkeys(answered, False) | {switch.name: switch.default for switch in shown}
    options |= fill_in(shown, "with") if shown else {}
    limit = choose_number("most", "Queries at most", 1, LARGEST, None, placeholder="all", help="Spread over the tasks.")
    variants = []
    for each in itertools.product(*values.values()):
        variant = dict(zip(values, each, strict=True))
        if OVERLAP in known and isinstance(variant.get("chunk"), int):
            variant[OVERLAP] = variant["chunk"] * share // 100
        variants.append(variant)
    return IndexRequest(tuple(variants), options, tuple(picked), tuple(asked), limit)


def _ask_values(place: Any, switch: Switch, lacking: Mapping[str, str]) -> list[Any]:
    """Several values of an option that makes an index."""
    usable = [name for name in switch.choices if name not in lacking]
    usual = write_word(switch.default)
    tip = " ".join([switch.meaning, *switch.labels.values()])
    given = place.multiselect(
        switch.title, usable, [usual] if usual in usable else usable[:1], key=f"try-{switch.name}", help=plain(tip),
        accept_new_options=switch.kind != "choice", bind="query-params", wrap=True,
    )  # fmt: skip
    if switch.kind != "integer":
        return list(given)
    return [int(size) for size in given if size.isascii() and size.isdigit() and len(size) < 7]


class GridEstimate(Protocol):
    """What a grid would take; `cxlab.runner.index_grid.GridEstimate` is one."""

    @property
    def runs(self) -> int: ...
    @property
    def searches(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def seconds(self) -> float | None: ...


def show_foreseen(seen: GridEstimate) -> None:
    """The estimate in four figures."""
    left, right = st.columns(2)
    left.metric("Runs", format_count(seen.runs), help="Methods × chunk sizes.")
    right.metric("Searches", format_count(seen.searches), help="Queries × runs.")
    left.metric("Cost", "unknown" if seen.cost_usd is None else format_usd(seen.cost_usd))
    right.metric("Time", "unknown" if seen.seconds is None else format_seconds(seen.seconds))
    tokens = f", about {format_count(seen.tokens)} tokens" if seen.tokens else ""
    st.caption(
        f"{format_count(seen.calls)} calls of models{tokens}. Time: as the method took here before, unknown for a "
        "new one. A server's embeddings are not in this estimate; what they cost stands with the results."
    )
