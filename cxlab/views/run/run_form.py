"""Parts of the form on the page Run: the dataset, and a benchmark's own switches."""

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from cxlab.records import Dataset
from cxlab.ui.address import link
from cxlab.ui.choices import choose_id
from cxlab.ui.labels import plain

NARROWING = {"exposure": "Told of the customer", "modality": "Modality", "language": "Language"}
"""Facets beside scenario and level by which a run can be narrowed, with their titles."""


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


def narrow(facets: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], ...]:
    """(facet, value) of what is picked among further facets; only those that tell samples apart are offered."""
    shown = [name for name in NARROWING if len(facets.get(name, ())) > 1]
    picked: list[tuple[str, str]] = []
    for name, place in zip(shown, st.columns(len(shown)) if shown else (), strict=True):
        values = place.multiselect(
            NARROWING[name], facets[name], key=f"only-{name}", placeholder="all", bind="query-params", wrap=True
        )
        picked += [(name, value) for value in values]
    return tuple(picked)


def fill_in_options(options: Mapping[str, str]) -> list[str]:
    """What was filled in as name=value; what is left empty is at its default, which stands there in grey.

    `options`: name → meaning, which ends with the default in brackets.
    """
    words = []
    columns = st.columns(3)
    for place, (name, meaning) in enumerate(options.items()):
        said, _, usual = meaning.rstrip(")").rpartition(" (")
        value = columns[place % 3].text_input(
            name.replace("_", " ").capitalize(), key=f"option-{name}", help=plain(said), placeholder=usual,
            bind="query-params",
        )  # fmt: skip
        if value.strip():
            words.append(f"{name}={value.strip()}")
    return words
