"""Parts of the form on the page Run: the dataset, and what of it is taken."""

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Facet
from cxlab.records import Dataset
from cxlab.store import write
from cxlab.ui.address import link
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import label


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


def narrow(declared: Sequence[Facet], values: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """(facet, value) of what is picked; only facets that tell samples apart are offered."""
    shown = [facet for facet in declared if 1 < len(values.get(facet.id, ())) <= MOST_VALUES]
    picked: list[tuple[str, str]] = []
    columns = st.columns(min(3, len(shown))) if shown else []
    for place, facet in enumerate(shown):
        # The widget keeps what is shown in the address; links may name the values themselves.
        key, called = f"only-{facet.id}", {value: facet.labels.get(value) or label(value) for value in values[facet.id]}
        if key not in st.session_state and set(given := st.query_params.get_all(key)) - set(called.values()):
            values_of = {words: value for value, words in called.items()} | {value: value for value in called}
            del st.query_params[key]
            st.session_state[key] = [values_of[each] for each in given if each in values_of]
        found = columns[place % len(columns)].multiselect(
            facet.title, values[facet.id], key=key, placeholder="all", bind="query-params", wrap=True,
            help=facet.meaning or None, format_func=called.__getitem__,
        )  # fmt: skip
        picked += [(facet.id, value) for value in found]
    return tuple(picked)
