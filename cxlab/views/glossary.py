"""What the words mean: those of a page beside its heading, and all of them with what each benchmark declares."""

from collections.abc import Sequence

import polars as pl
import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.read import glossary
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import head_metric
from cxlab.ui.address import has_page, link
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared


def show_words(page: str, shown: Sequence[Declaration] = ()) -> None:
    """The words of a page in the sidebar, the main figures of the benchmarks shown there, and the way to all words."""
    found = glossary.terms_of(page)
    many = len(shown) > 1
    figures = [
        (f"{head_metric(metric)} ({about.card.name})" if many else head_metric(metric), meaning)
        for about in shown
        for metric in dict.fromkeys(
            [about.card.headline, *(task.metric for task in about.card.tasks if not many), *about.card.leading]
        )
        if (meaning := about.card.metrics.get(metric))
    ]
    with st.sidebar, st.popover("Words on this page", type="tertiary"):
        # One text, as it is sent with each run of a page: twenty of them were a fifth of all that is.
        told = [*((term.word, term.meaning) for term in found), *figures]
        st.markdown("\n\n".join(f"**{plain(word)}**: {plain(meaning)}" for word, meaning in told))
        if has_page("glossary"):
            link("All words", "glossary")


def list_declared() -> pl.DataFrame:
    """What benchmarks declare: word, meaning, of (a benchmark's name), kind (metric, facet, constant agent)."""
    rows = []
    for name in REGISTRY:
        about = declared(name)
        told = about.card.name
        rows += [
            (head_metric(metric), meaning, told, "metric") for metric, meaning in about.card.metrics.items() if meaning
        ]
        rows += [(facet.title, facet.meaning, told, "facet") for facet in about.facets if facet.meaning]
        rows += [(floor.title, floor.meaning, told, "constant agent") for floor in about.floors]
    return pl.DataFrame(rows, schema=["word", "meaning", "of", "kind"], orient="row")


def show_glossary() -> None:
    """The words of all pages to be read, and what benchmarks declare as a table to be searched."""
    for term in glossary.terms():
        st.markdown(f"**{plain(term.word)}**  \n{plain(term.meaning)}")
    rows = list_declared()
    section(
        "Metrics, facets and constant agents", "As each benchmark declares them. Double-click a cell to read it whole."
    )
    columns = {
        "word": column("Word", width="small"),
        "meaning": column("What it means", width="large"),
        "of": column("Benchmark", width="small"),
        "kind": column("Kind", width="small"),
    }
    alt = "What benchmarks declare, and what it means."
    show_table(rows, columns, key="glossary", alt=alt, search=True, height=620)
