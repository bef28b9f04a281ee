"""Knowledge: how healthy is the knowledge base?"""

import streamlit as st

from cxlab import jobs, ui
from cxlab.benchmarks.cxmarena.evaluation.corpus import nearest
from cxlab.benchmarks.cxmarena.evaluation.intent_discovery import discover, read_utterances, score_clusters
from cxlab.benchmarks.cxmarena.text import differences
from cxlab.read import View
from cxlab.views.glossary import show_words
from cxlab.views.knowledge import (
    article_html,
    article_pairs,
    articles,
    facts,
    health,
    intents,
    quality,
    queries,
    queries_pairs,
    suspicions,
    taxonomy,
)
from cxlab.views.knowledge.place import KnowledgePlace, choose_dataset, choose_run, show_models

ui.routed()
TABS = {
    "health": "Health",
    "articles": "Articles",
    "facts": "Facts",
    "taxonomy": "Taxonomy",
    "pairs": "Models: pairs",
    "intents": "Models: intents",
    "quality": "Models: quality",
}
# What a run must have tried to be looked at under a tab.
TASKS = {"pairs": "kb_refinement", "intents": "intent", "quality": "quality"}


def start_run() -> None:
    """To the page that runs evaluations, with this dataset chosen."""
    query = {"bench": queries.BENCHMARK, "dataset": place.dataset}
    st.switch_page("pages/run.py", query_params=query)


view = ui.view()
ui.header("Knowledge", "How healthy is the knowledge base?")
show_words("knowledge")
known = ui.cached(queries.datasets)
if known.is_empty():
    if jobs.is_building_demo():
        st.info("The demo is being built at this moment and brings one: load this page again in half a minute.")
    ui.empty(
        "Here you would see what is wrong with a knowledge base, read it by topic with its noise on and off, and see "
        "which repetitions and contradictions a model misses, which intents it confuses and which quality questions it "
        "gets wrong. There is no dataset of CXMArena in this store yet.",
        "Make or import one",
        lambda: ui.open_page("datasets" if ui.has_page("datasets") else "run", View()),
        "python -m cxlab generate cxmarena --brand aldersea",
    )
    st.stop()

place = health.with_place(KnowledgePlace.read(choose_dataset(view, known)))
if place.view.tab in TASKS:
    place = choose_run(place, ui.cached(queries_pairs.runs, place.dataset), TASKS[place.view.tab])
corpora = ui.cached(queries.corpora, place.dataset)
article_html.style()
if missing := ui.cached(queries.lacking, place.dataset):
    names = ", ".join(missing)
    st.warning(f"This dataset's table of articles lacks {ui.plain(names)}: what rests on that cannot be shown.")
if place.view.tab in TASKS:
    show_models(place, corpora)
    found = []
else:
    with st.spinner("Examining the articles, once"):
        found = suspicions.find(place.dataset)
    health.show_figures(place, found, corpora)
tab = ui.choose(place.view, "tab", "What to look at", list(TABS), names=TABS, style="segments")
with st.container(key="cx-wide"):
    if tab == "pairs":
        article_pairs.show_pairs(place, differences, start_run)
    elif tab == "intents":
        intents.show_intents(place, discover, score_clusters, read_utterances, start_run)
    elif tab == "quality":
        quality.show_quality(place, start_run)
    elif tab == "facts":
        facts.show_facts(place, corpora)
    elif tab == "taxonomy":
        taxonomy.show_taxonomy(place)
    elif tab == "health" and not corpora.is_empty():
        health.show_health(place, found)
    else:
        articles.show_articles(place, corpora, nearest)
