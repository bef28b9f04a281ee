"""Knowledge: how healthy is the knowledge base?"""

import streamlit as st

from cxlab import ui
from cxlab.benchmarks.cxmarena.discover import discover, read_utterances, score_clusters
from cxlab.benchmarks.cxmarena.wording import differences
from cxlab.read import View, knowledge, pairs
from cxlab.ui import (
    knowledge_articles,
    knowledge_facts,
    knowledge_intents,
    knowledge_pairs,
    knowledge_quality,
    knowledge_text,
)
from cxlab.ui.knowledge import choose_dataset, choose_run, read_place, show_health

ui.routed()
TABS = {"": "Articles", "pairs": "Pairs", "intents": "Intents", "quality": "Quality", "facts": "Facts"}
# What a run must have tried to be looked at under a tab.
TASKS = {"pairs": "kb_refinement", "intents": "intent", "quality": "quality"}


def start_run() -> None:
    """To the page that runs evaluations, with this dataset chosen."""
    query = {"bench": knowledge.BENCHMARK, "dataset": place.dataset}
    st.switch_page("pages/run.py", query_params=query)


view = ui.view()
ui.header("Knowledge", "How healthy is the knowledge base?")
known = ui.cached(knowledge.datasets)
if known.is_empty():
    ui.empty(
        "Here you would read a knowledge base by topic, with its noise on and off, and see which repetitions and "
        "contradictions a model misses, which intents it confuses and which quality questions it gets wrong. There is "
        "no dataset of CXMArena in this store yet.",
        "Make or import one",
        lambda: ui.open_page("datasets" if ui.has_page("datasets") else "run", View()),
        "python -m cxlab generate cxmarena --brand hearthwise --size small --seed 1",
    )
    st.stop()

place = read_place(choose_dataset(view, known))
place = choose_run(place, ui.cached(pairs.runs, place.dataset), TASKS.get(place.view.tab, ""))
corpora = ui.cached(knowledge.corpora, place.dataset)
knowledge_text.style()
show_health(place, corpora)
tab = ui.choose(place.view, "tab", "What to look at", list(TABS), names=TABS, style="segments")
with st.container(key="cx-wide"):
    if tab == "pairs":
        knowledge_pairs.show_pairs(place, differences, start_run)
    elif tab == "intents":
        knowledge_intents.show_intents(place, discover, score_clusters, read_utterances, start_run)
    elif tab == "quality":
        knowledge_quality.show_quality(place, start_run)
    elif tab == "facts":
        knowledge_facts.show_facts(place, corpora)
    else:
        knowledge_articles.show_articles(place, corpora)
