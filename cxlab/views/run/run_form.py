"""Parts of the form on the page Run: the dataset, and what of it is taken."""

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.records import Dataset
from cxlab.records.benchmark_card import Declaration, Facet
from cxlab.store import write
from cxlab.ui.address import link
from cxlab.ui.choices import accept_ids, choose_id
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


def list_facets(benchmark: str, dataset_id: str | None) -> dict[str, list[str]]:
    """The values of each declared facet of a stored dataset, or of the benchmark's own."""
    if dataset_id is None:
        samples = REGISTRY[benchmark].generate_now({})[1]
    else:
        samples = write.load_samples(dataset_id, only_facets=True)
    found: dict[str, list[str]] = {}
    for facet in REGISTRY[benchmark].facets:
        values = dict.fromkeys(value for sample in samples if (value := sample.facets.get(facet.id)))
        found[facet.id] = [*(one for one in facet.order if one in values), *(v for v in values if v not in facet.order)]
    return found


LIMITS = frozenset({"limit", "trials", "seed", "budget", "at_once", "customer", "cache"})
"""What stands under "Limits and set-up", as the address has it."""
MOST_VALUES = 60
"""A facet with more values than this is no filter that a person picks from."""


_MOST_IDS = 12
"""Ids that the help of a filter names."""


def narrow(about: Declaration, values: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """(facet, value) of what is picked; only facets that tell samples apart are offered."""
    shown = [facet for facet in about.facets if 1 < len(values.get(facet.id, ())) <= MOST_VALUES]
    picked: list[tuple[str, str]] = []
    columns = st.columns(min(3, len(shown))) if shown else []
    for place, facet in enumerate(shown):
        key, called = f"only-{facet.id}", {value: about.value(facet.id, value) for value in values[facet.id]}
        accept_ids(key, called)
        found = columns[place % len(columns)].multiselect(
            facet.title, values[facet.id], key=key, placeholder="all", bind="query-params", wrap=True,
            help=plain(_explain(facet, called)), format_func=called.__getitem__,
        )  # fmt: skip
        picked += [(facet.id, value) for value in found]
    return tuple(picked)


def _explain(facet: Facet, called: Mapping[str, str]) -> str:
    """What a facet is, and its ids and its values', as the data and the command line have them."""
    told = [f"{words}: {value}" for value, words in called.items() if words != value]
    more = f"; and {len(told) - _MOST_IDS} more" if len(told) > _MOST_IDS else ""
    ids = f" Ids, as the command line takes them ({facet.id}=…): {'; '.join(told[:_MOST_IDS])}{more}." if told else ""
    return f"{facet.meaning}{ids}".strip() or f"On the command line {facet.id}=…"
