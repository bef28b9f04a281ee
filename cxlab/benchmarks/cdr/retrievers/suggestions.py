"""Questions that are worth asking of a corpus: those of its own, else templates whose best match stands out."""

from __future__ import annotations

import numpy as np

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.queries.templates import AREA_SHARES, load_templates
from cxlab.benchmarks.cdr.relevance.cues import is_shown
from cxlab.benchmarks.cdr.retrievers.fitted import open_index
from cxlab.retrieval.bm25 import tokenize
from cxlab.retrieval.conversation import read_question
from cxlab.store import write

# Templates that are tried, and the seed that draws them.
TRIED, SEED = 400, 1
PLAIN = (
    ("conversation_dynamics", "Users who grow more frustrated over time"),
    ("conversation_dynamics", "Users who grow more satisfied over time"),
    ("conversation_dynamics", "Users who are vague at first and become specific"),
    ("conversation_dynamics", "Users who grow more confused"),
    ("emotion_feedback", "Confused users"),
    ("conversation_dynamics", "The assistant gets vaguer and vaguer"),
    ("linguistic_style_expression", "Rude users"),
    ("conversation_dynamics", "The assistant gets more and more detailed"),
)
"""(area, question) without a matter: of moods, clarity, courtesy and detail, which are read of any conversation."""
LEAST = 0.3
_EVEN = dict.fromkeys(AREA_SHARES, 1.0)


def suggest(dataset_id: str, count: int = 6) -> list[str]:
    """Some questions: of the dataset's own queries, spread over their areas; where it has none, plain ones and filled
    templates, one an area first, by how many deviations the best conversation lies above the mean of all.

    Only such as that conversation bears out: of a plain one its score is at least `LEAST`; of a template it has the
    words of the matter, and something of each concept that the question names (`relevance/cues.py`).
    """
    asked = [each for each in write.load_samples(dataset_id) if each.facets.get("granularity") == "session"]
    own = [(each.facets.get("area", ""), each.inputs["query"]) for each in asked if "query" in each.inputs]
    if own:
        return _spread(own, count)
    index = open_index(dataset_id, "conversation", "session").index
    if len(index.ids) < 2:
        return []
    corpus, rated = load_corpus(dataset_id), []
    filled = [(query.area, query.text) for query in load_templates().sample(TRIED, SEED, _EVEN)]
    for area, text in (*PLAIN, *filled):
        scores = np.asarray(index.retriever.scores(text), dtype=np.float64)
        spread, best = float(scores.std()), int(scores.argmax())
        if spread <= 0 or scores[best] <= 0:
            continue
        if (area, text) in PLAIN:
            borne_out = bool(scores[best] >= LEAST)
        else:
            talk = corpus[index.units[best].conversation_id]
            borne_out = _speaks_of(text, index.texts[best]) and is_shown(text, talk)
        if borne_out:
            rated.append((float((scores[best] - scores.mean()) / spread), area, text))
    rated.sort(key=lambda each: (-each[0], each[2]))
    return _spread([(area, text) for _, area, text in rated], count)


def _speaks_of(question: str, text: str) -> bool:
    """Whether all words of the question's matter stand in the text; a question of moods and ways alone has none."""
    return set(tokenize(read_question(question).topic)) <= set(tokenize(text))


def _spread(questions: list[tuple[str, str]], count: int) -> list[str]:
    """The first of each area, then the second of each, and so on."""
    places: dict[str, int] = {}
    keyed = []
    for at, (area, text) in enumerate(dict.fromkeys(questions)):
        places[area] = places.get(area, -1) + 1
        keyed.append((places[area], at, text))
    return [text for _, _, text in sorted(keyed)[:count]]
