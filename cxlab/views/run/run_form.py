"""Parts of the form on the page Run: the dataset, and what of it is taken."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.records import Dataset
from cxlab.records.benchmark_card import Declaration, Facet
from cxlab.store import write
from cxlab.ui.address import cached, link
from cxlab.ui.choices import accept_ids, choose_id, say_ids
from cxlab.ui.labels import plain


def choose_dataset(benchmark: str, stored: Mapping[str, Dataset], own: bool, others: Collection[str]) -> str | None:
    """A stored dataset; None means the benchmark's own, made anew, where it has one, or that there is none yet.

    `others` are stored datasets of other benchmarks, which the address may still name.
    """
    if not stored and not own:
        st.info("There is no dataset of this benchmark yet: generate or import one first.")
        link("Go to Datasets", "datasets")
        return None

    # Addresses from before hold what the list showed.
    given = st.query_params.get("dataset", "")
    if (id := given.rpartition(" · ")[2]) in stored:
        st.query_params["dataset"] = id
    elif own and given == "the benchmark's own":
        del st.query_params["dataset"]
    often = Counter(each.name for each in stored.values())

    def name(each: str) -> str:
        if not each:
            return f"the benchmark's own: {cached(_name_own, benchmark)}"
        # An id says nothing, but where two are called alike.
        return stored[each].name if often[stored[each].name] == 1 else f"{stored[each].name} · {each}"

    ids = say_ids({name(each): each for each in stored})
    tip = plain(f"What the models are evaluated on. More are made on the page Datasets. {ids}".strip())
    return (
        choose_id("dataset", "Dataset", [*([""] if own else []), *stored], name, tip, named="dataset", elsewhere=others)
        or None
    )


def _name_own(benchmark: str) -> str:
    return REGISTRY[benchmark].generate_now({})[0].name


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
    ids = say_ids({words: value for value, words in called.items()}, f" ({facet.id}=…)")
    return f"{facet.meaning} {ids}".strip() or f"On the command line {facet.id}=…"
