"""What pages know of benchmarks, made from the registry in this one place; `ui`, `read` and `charts` are handed it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from cxlab import read
from cxlab.benchmarks import REGISTRY
from cxlab.read import PublishedTable, View
from cxlab.read.results.headlines import led_by
from cxlab.read.results.published import list_files, published
from cxlab.records.benchmark_card import Card, Declaration, Facet, Search
from cxlab.records.settings import write_word
from cxlab.store import catalogue, layout
from cxlab.ui.address import cached


def declared(benchmark: str, lead: str = "") -> Declaration:
    """What a benchmark declares; of one that is not registered (any more) its name, and nothing is asked for.

    `lead`: what a viewer lets lead (`View.lead`). Where nothing in the store has a task's headline (runs from before
    there was one), the next leading figure leads.
    """
    about = led_by(_declared(benchmark), lead)
    if not about.card.leading:
        return about
    return _scored(benchmark, lead, str(layout.resolve_home(None)), catalogue.data_version())


@lru_cache(maxsize=256)
def _scored(benchmark: str, lead: str, home: str, version: str) -> Declaration:
    # Not by `cached`: the key would be the whole declaration in words, and a page asks for it forty times.
    return read.with_scored_headlines(led_by(_declared(benchmark), lead))


def in_order(names: Iterable[str]) -> list[str]:
    """Benchmarks in the registry's order, and any that it does not know after them by name."""
    known = {name: place for place, name in enumerate(REGISTRY)}
    return sorted(names, key=lambda name: (known.get(name, len(known)), name))


@lru_cache(maxsize=64)
def _declared(benchmark: str) -> Declaration:
    if benchmark in REGISTRY:
        return REGISTRY[benchmark].declaration
    return Declaration(Card(benchmark, benchmark, "", "", "", (), {}, unit=("attempt", "attempts")))


def declared_all(benchmarks: Sequence[str], union: bool = False) -> Declaration:
    """What several benchmarks have in common: the facets that all have under one title; with `union` those of each."""
    each = [declared(name) for name in benchmarks]
    if len(each) == 1:
        return each[0]
    facets = {facet.id: facet for one in reversed(each) for facet in reversed(one.facets)}
    shared = [id for id in facets if all(one.facet(id) for one in each) and len({one.title(id) for one in each}) == 1]
    merged = tuple(_merge([found for one in each if (found := one.facet(id))]) for id in (facets if union else shared))
    units = {one.card.unit for one in each}
    unit = units.pop() if len(units) == 1 else ("attempt", "attempts")
    metrics = {metric: words for one in each for metric, words in one.card.metrics.items()}
    lower = frozenset().union(*(one.card.lower_is_better for one in each))
    ends = {value: words for one in each for value, words in one.card.ends.items()}
    card = Card("", "all benchmarks", "", "", "", (), metrics, lower_is_better=lower, unit=unit, ends=ends)
    return Declaration(card, merged, tuple(dict.fromkeys(floor for one in each for floor in one.floors)))


def _merge(facets: Sequence[Facet]) -> Facet:
    titles = " / ".join(dict.fromkeys(facet.title for facet in facets))
    order = tuple(dict.fromkeys(value for facet in facets for value in facet.order))
    labels = {value: words for facet in facets for value, words in facet.labels.items()}
    return Facet(facets[0].id, titles, order=order, labels=labels, identifies=any(each.identifies for each in facets))


def names_of(benchmarks: Iterable[str]) -> dict[str, str]:
    """What each benchmark is called on a page."""
    return {name: declared(name).card.name for name in benchmarks}


def metrics_for(purpose: Callable[[Card], str]) -> dict[str, str]:
    """Benchmark → the metric that its card declares for a purpose; of the benchmarks in the store that declare one."""
    stored = cached(read.benchmarks)["benchmark"].to_list()
    return {name: metric for name in stored if (metric := purpose(declared(name).card))}


def titles_of(benchmarks: Iterable[str]) -> dict[str, str]:
    """The whole title of each benchmark, for a choice."""
    return {name: declared(name).card.title for name in benchmarks}


def published_tables(benchmark: str = "") -> list[PublishedTable]:
    """The published tables that a benchmark hands over; without one those of all, and of papers whose benchmark is not
    here."""
    own = list_files(layout.resolve_home(None) / "published")  # imported here
    if benchmark:
        found = published((*declared(benchmark).published, *own))
        return [table for table in found if table.benchmark == benchmark]
    files = {*list_files(), *own, *(file for name in REGISTRY for file in declared(name).published)}
    return published(sorted(files, key=lambda file: file.name))


def find_published(benchmark: str, place: str, task: str = "") -> PublishedTable | None:
    """The published table that stands beside something (see read/results/published.py), if there is one."""
    wanted = {place, f"{place} {task}"} if task else {place}
    return next((table for table in published_tables(benchmark) if wanted & set(table.beside)), None)


def ranking_tasks(benchmark: str) -> dict[str, Search]:
    """What attempts at a benchmark's tasks rank, by task; of those that rank nothing nothing."""
    return {task.id: task.search for task in declared(benchmark).card.tasks if task.search is not None}


def leave_out_floors(view: View, about: Declaration) -> View:
    """The view without constant agents, unless they, a model or a run were asked for."""
    without = () if view.models or view.runs or view.floors == "shown" else about.floor_models
    return view.change(without=without, page=view.page)


def read_settings(benchmark: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Title of each switch → its value in a stored run in words; what the run left out is at its default.

    What the benchmark does not know (any more) stands as it was stored.
    """
    switches = REGISTRY[benchmark].Options.switches() if benchmark in REGISTRY else ()
    known = {switch.name: switch for switch in switches}
    told = {each.title: each.show(write_word(options.get(each.name, each.default))) for each in switches}
    return told | {name: write_word(value) for name, value in options.items() if name not in known}


def usable_facets(about: Declaration) -> list[str]:
    """The declared facets that tell attempts of the store apart, in their order; none that repeats the tasks."""
    ids = tuple(facet.id for facet in about.facets)
    known = cached(read.facets, View(benchmark=about.card.id), ids)
    tasks = {task.id for task in about.card.tasks}
    values: dict[str, set[str]] = {id: set() for id in ids}
    for name, value in zip(known["name"], known["value"], strict=True):
        values[name].add(value)
    return [id for id in ids if len(values[id]) > 1 and not values[id] <= tasks]


def questions_of(benchmark: str, facets: Mapping[str, str], options: Mapping[str, Any]) -> dict[str, str]:
    """Field → what judges are asked of it; nothing of a benchmark that does not say."""
    asked = REGISTRY[benchmark].questions if benchmark in REGISTRY else None
    return dict(asked(facets, options)) if asked else {}
