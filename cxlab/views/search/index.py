"""The Chroma index behind the page: whether it is up to date, how it is built, and what it misses of exact search."""

from __future__ import annotations

import streamlit as st

from cxlab.benchmarks.cdr.queries.templates import load_templates
from cxlab.benchmarks.cdr.retrievers.approximate import IndexRecall, is_current, measure_index
from cxlab.charts.numbers import format_count, format_seconds, format_share
from cxlab.ui.app_frame import guarded
from cxlab.ui.labels import figures, plain, section
from cxlab.views.search.place import SearchPlace
from cxlab.views.search.work import SearchJobs

_QUESTIONS, _SEED = 50, 1


def offer_index(place: SearchPlace, jobs: SearchJobs) -> bool:
    """Whether the index that was chosen can answer; where it cannot, the button that brings it up to date."""
    embedder = place.index
    if not embedder or is_current(place.dataset, embedder, place.granularity):
        return True
    args = ["index", place.dataset, f"--embedder={embedder}", f"--granularity={place.granularity}"]
    if jobs.is_working(*args):
        st.info("The index is being brought up to date. Until it is, these are the results of exact search.")
        return False
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text("The index does not hold these conversations yet: these are the results of exact search.")
        if st.button("Bring the index up to date", key="search-index-build", type="primary"):
            jobs.start(args)
    return False


def show_index_recall(place: SearchPlace) -> None:
    """What the chosen index misses of exact search, measured on request."""
    if not place.index or not is_current(place.dataset, place.index, place.granularity):
        return
    section(
        "What the index misses",
        "Exact search compares a question with every piece and is the measure. The Chroma index looks at some of them: "
        "it is for sets that are too large for exact search.",
    )
    key = f"search-recall-{place.dataset}-{place.index}-{place.granularity}"
    if st.button(plain(f"Compare with exact search ({place.index})"), key="search-recall"):
        with guarded(), st.spinner("Asking both"):
            asked = [each.text for each in load_templates().sample(_QUESTIONS, _SEED)]
            st.session_state[key] = measure_index(place.dataset, place.index, place.granularity, asked)
    found = st.session_state.get(key)
    if isinstance(found, IndexRecall):
        figures(
            [
                (f"Recall of the {found.k} nearest", format_share(found.recall),
                 f"Of the {found.k} pieces that exact search puts first the share that the index finds, mean over "
                 f"{found.questions} questions from the templates; {format_count(found.units)} pieces."),
                ("Index, a question", format_seconds(found.index_ms / 1000), "Without embedding the question."),
                ("Exact, a question", format_seconds(found.exact_ms / 1000), "With embedding the question."),
            ]
        )  # fmt: skip
