"""What a Chroma index over these conversations would miss of exact search, measured on request."""

from __future__ import annotations

import streamlit as st

from cxlab.benchmarks.cdr.queries.templates import load_templates
from cxlab.benchmarks.cdr.retrievers.approximate import IndexRecall, measure_index
from cxlab.benchmarks.cdr.retrievers.fitted import open_index
from cxlab.charts.numbers import format_count, format_seconds, format_share
from cxlab.ui.app_frame import guarded
from cxlab.ui.labels import figures, section
from cxlab.views.search.place import SearchPlace

_EMBEDDERS = ("hashing", "minilm")
# Units that are put into an index while somebody waits.
_MOST_UNITS = 20_000
_QUESTIONS, _SEED = 50, 1


def show_index_recall(place: SearchPlace) -> None:
    """The button that builds and measures, and what the last measurement of this session came to."""
    section(
        "What an index would miss",
        "This page searches exactly. A Chroma index is for sets too large for that: it is kept in the store and "
        "brought up to date by what has changed. Here it is compared with exact search.",
    )
    embedder = place.retriever if place.retriever in _EMBEDDERS else _EMBEDDERS[0]
    key = f"search-index-{place.dataset}-{embedder}-{place.granularity}"
    if st.button(f"Build and measure ({embedder})", key="search-index"):
        with guarded(), st.spinner("Building the index and asking both"):
            units = len(open_index(place.dataset, embedder, place.granularity).index.texts)
            if units > _MOST_UNITS:
                st.info(f"{format_count(units)} pieces take too long to wait for here; choose whole conversations.")
                return
            asked = [each.text for each in load_templates().sample(_QUESTIONS, _SEED)]
            st.session_state[key] = measure_index(place.dataset, embedder, place.granularity, asked)
    found = st.session_state.get(key)
    if isinstance(found, IndexRecall):
        figures(
            [
                (f"Recall of the {found.k} nearest", format_share(found.recall),
                 f"Of the {found.k} pieces that exact search puts first the share that the index finds, mean over "
                 f"{found.questions} questions from the templates; {format_count(found.units)} pieces."),
                ("Index, a question", format_seconds(found.index_ms / 1000), "Without embedding the question."),
                ("Exact, a question", format_seconds(found.exact_ms / 1000), "With embedding the question."),
                ("Brought up to date in", format_seconds(found.built_s), "What was in it already is left as it is."),
            ]
        )  # fmt: skip
