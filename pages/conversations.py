"""Conversations: where do customers …?"""

from collections.abc import Sequence

import streamlit as st

from cxlab import jobs, llm, ui
from cxlab.errors import CxError
from cxlab.read import View
from cxlab.ui.place import go, move, pick
from cxlab.views.search import (
    counts,
    dialogues,
    finding,
    index,
    own,
    question,
    relevance,
    results,
    sample,
    sending,
    sets,
    trust,
    work,
)
from cxlab.views.search.place import RETRIEVERS, SIZES, USUAL, SearchPlace, name_retriever, name_size

ui.routed()
TABS = {
    "": "Found",
    "counts": "Where and when",
    "spread": "How widespread",
    "sets": "Save",
    "send": "Send",
    "trust": "Which retriever",
    "relevance": "Check relevance",
    "own": "Your own",
}
# What narrowed one set of conversations says nothing of another.
OF_ONE_DATASET = ("only", "since", "until", "like")
GRAINS = {"session": "whole conversations", "window": "three messages", "turn": "single messages"}


def choose(place: SearchPlace) -> SearchPlace:
    """What is searched, and how; in the sidebar."""
    known = ui.cached(finding.searchable)
    with st.sidebar:
        dataset = pick(place, "dataset", "Conversations", list(known), known, clears=OF_ONE_DATASET)
        place = place.change(dataset=dataset, page=place.view.page)
        tip = "Whole conversations show how something develops; single messages show where something is said."
        pick(place, "granularity", "Match", list(GRAINS), GRAINS, help=tip)
        tip = "Whose words, and how they change: conversation. Words in common: BM25, TF-IDF. Meaning: MiniLM. "
        tip += "The first joins words and conversation: the best on 195 real dialogues, by less than chance can do."
        tip += " Of very many conversations an index of vectors answers sooner and may miss some."
        pick(place, "retriever", "Retriever", RETRIEVERS, name_retriever, help=tip)
        tip = "Narrow shows what fits best; broad shows more that may fit."
        pick(place, "size", "How many of the best", (USUAL, *SIZES), name_size, help=tip)
        counts.choose_filters(place)
    return place


def list_jobs() -> work.SearchJobs:
    """The jobs that this page starts: those that work, and the one in the address."""

    def start(args: Sequence[str]) -> None:
        st.query_params["job"] = jobs.start_quietly(args).id
        st.rerun()

    mine = [each for each in jobs.list_jobs() if each.kind in work.KINDS]
    shown = [each.id for each in mine if each.state == "running" or each.id == st.query_params.get("job")]
    return work.SearchJobs(shown, start, jobs.find_job, jobs.stages, jobs.cancel)


def show_like(place: SearchPlace) -> None:
    """That others like a conversation are shown, and the way back."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"Conversations like {place.model[1] if place.model else ''}")
        if st.button("Back to the question", key="search-unlike", type="tertiary"):
            go(place.change(like=""))


def show_found(place: SearchPlace, tab: str) -> None:
    """The results of the question, or where and when they occur."""
    if not place.question and not place.like:
        ui.section("Ask a question above, or begin with one of these")
        question.show_ideas(place, "search-begin")
        return
    with st.spinner("Searching"):
        found = finding.find(place)
    results.say_unsaid(place, found)
    if not found.hits:
        st.info("Nothing in these conversations speaks for this. Ask in other words, or clear a filter.")
        return
    results.say_found(place, found)
    if tab == "counts":
        counts.show_counts(place, found)
    elif tab == "sets":
        sets.show_sets(place, found)
    elif tab == "spread" and place.question:
        sample.show_sample(place, found)
    elif tab == "spread":
        st.info("How widespread something is can be judged of a question: go back to it, or ask one.")
    else:
        results.show_hits(place, found)


view = ui.view()
ui.header("Conversations", "Where do customers …? Find conversations by what happens in them.")
collected = bool(ui.cached(finding.searchable))
if not collected:
    dialogues.show_alone(SearchPlace.read(view))
    working = list_jobs()
    work.show_work(working, SearchPlace.read(view))
    own.show_own(working)
    st.stop()
if dialogues.show_dialogues(SearchPlace.read(view), collected):
    st.stop()
place = choose(SearchPlace.read(view))
asked = ui.plain(ui.cached(finding.searchable)[place.dataset])
st.caption(f"Asked of **{asked}**; others in the sidebar.")
own.show_report(place)
working = list_jobs()
work.show_work(working, place)
try:
    question.ask_question(place, waits=working.is_working("import"))
    tabs = [each for each in TABS if each != "relevance" or relevance.is_labelled(place)]
    tab = pick(place, "tab", "Part", tabs, TABS, style="segments")
    if place.like:
        show_like(place)
    if tab in ("", "counts", "spread", "sets") and (place.question or place.like):
        index.offer_index(place, working)
    if tab == "own":
        own.show_own(working)
    elif tab == "relevance":
        relevance.show_relevance(place)
    elif tab == "send":
        sending.show_sending(place, working, [row.name for row in llm.known() if row.role in ("", "agent")])
    elif tab == "trust":
        trust.show_trust(place)
        index.show_index_recall(place)
    else:
        show_found(place, tab)
except CxError as problem:
    ui.error(str(problem))
    st.button("Start anew", key="search-anew", on_click=move, args=(SearchPlace(View()),))
