"""Questions that are worth asking of a corpus: those of its own, else templates whose best match stands out."""

from __future__ import annotations

import numpy as np

from cxlab.benchmarks.cdr.queries.templates import AREA_SHARES, load_templates
from cxlab.benchmarks.cdr.retrievers.fitted import open_index
from cxlab.retrieval.bm25 import tokenize
from cxlab.retrieval.conversation import read_question
from cxlab.store import write

# Templates that are tried, and the seed that draws them.
TRIED, SEED = 400, 1
_EVEN = dict.fromkeys(AREA_SHARES, 1.0)


def suggest(dataset_id: str, count: int = 6) -> list[str]:
    """Some questions: of the dataset's own queries, spread over their areas; where it has none, filled templates, one
    an area first, by how many deviations the best conversation lies above the mean of all; of those alone whose matter
    is talked of in that conversation."""
    asked = [each for each in write.load_samples(dataset_id) if each.facets.get("granularity") == "session"]
    own = [(each.facets.get("area", ""), each.inputs["query"]) for each in asked if "query" in each.inputs]
    if own:
        return _spread(own, count)
    index = open_index(dataset_id, "conversation", "session").index
    if len(index.ids) < 2:
        return []
    rated = []
    for query in load_templates().sample(TRIED, SEED, _EVEN):
        scores = np.asarray(index.retriever.scores(query.text), dtype=np.float64)
        spread = float(scores.std())
        if spread > 0 and scores.max() > 0 and _speaks_of(query.text, index.texts[int(scores.argmax())]):
            rated.append((float((scores.max() - scores.mean()) / spread), query.area, query.text))
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
