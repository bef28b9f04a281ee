"""Parts of the form on the page Run: the dataset, and a benchmark's own switches."""

from collections.abc import Mapping

import streamlit as st

from cxlab.records import Dataset
from cxlab.ui.address import link
from cxlab.ui.choices import choose_id
from cxlab.ui.words import plain


def choose_dataset(stored: Mapping[str, Dataset], own: bool) -> str | None:
    """A stored dataset; None means the benchmark's own, made anew, where it has one, or that there is none yet."""
    if not stored and not own:
        st.info("There is no dataset of this benchmark yet: generate or import one first.")
        link("Go to Datasets", "datasets")
        return None

    def name(each: str) -> str:
        return f"{stored[each].name} · {each}" if each else "the benchmark's own"

    tip = "What the models are evaluated on. More are made on the page Datasets."
    return choose_id("dataset", "Dataset", [*([""] if own else []), *stored], name, tip) or None


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
