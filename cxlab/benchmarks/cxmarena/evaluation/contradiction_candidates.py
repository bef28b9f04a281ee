"""Candidates for contradictions by passages: pairs of articles with sentences that name the same thing, state a value
of the same unit in words that may mean the same property, and differ in the value.

A whole article hardly resembles another because of one sentence; the sentence itself does. Pairs are found through an
index of things and units, never by comparing all articles with all.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cxlab.benchmarks.cxmarena.evaluation.claims import (
    Names,
    ending_claims,
    find_names,
    read_claims,
    title,
    worded_claims,
)
from cxlab.benchmarks.cxmarena.evaluation.property_alignment import disagreements
from cxlab.benchmarks.cxmarena.text import stem

# Below, two claims speak almost surely of different properties: a price and an instalment.
LEAST = 0.1
# Where there is too little text to learn what means the same: sentences without figures, on one thing, that are that
# alike and not the same; so many pairs of them at most, because in a large corpus they are mostly chance.
ALIKE, DIFFERENT, MOST_ALIKE = 0.2, 0.95, 100


class Contrast(NamedTuple):
    """Two articles, the smaller id first; their sentences that may contradict, and how sure it is that they do."""

    first: str
    second: str
    passages: tuple[tuple[str, str], ...]
    same: float


def find_contrasts(texts: Mapping[str, str], least: float = LEAST) -> list[Contrast]:
    """The pairs of articles worth a look, surest first."""
    names = find_names(texts)
    claims = [claim for claim in read_claims(texts, names) if claim.named]
    figured = {claim.text for claim in claims}
    claims += worded_claims(texts, names, figured)
    found = []
    for alike in disagreements(claims):
        if alike[0].same < least:
            break
        pairs = tuple(dict.fromkeys((one.first.text, one.second.text) for one in alike if one.same >= least))
        found.append(Contrast(alike[0].first.article, alike[0].second.article, pairs, alike[0].same))
    if least > 0:
        known = {contrast[:2] for contrast in found}
        found += [one for one in _alike(texts, names, figured) if one[:2] not in known][:MOST_ALIKE]
    return found


def _alike(texts: Mapping[str, str], names: Names, figured: Container[str]) -> list[Contrast]:
    """Pairs of articles by their most similar sentences on one thing; nothing says yet that they contradict."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    claims = [claim for name, text in texts.items() for claim in ending_claims(name, text, names, figured)]
    words = [[stem(word) for word in (*claim.words, *claim.value.split())] for claim in claims]
    things: dict[str, list[int]] = {}
    for place, claim in enumerate(claims):
        things.setdefault(claim.thing, []).append(place)
    if not claims:
        return []
    matrix = TfidfVectorizer(analyzer=list, sublinear_tf=True, dtype=np.float32).fit_transform(words)
    best: dict[tuple[str, str], Contrast] = {}
    for places in things.values():
        cosines = (matrix[places] @ matrix[places].T).toarray()
        rows, columns = np.nonzero(np.triu((cosines >= ALIKE) & (cosines < DIFFERENT), 1))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            a, b = sorted((claims[places[row]], claims[places[column]]), key=lambda claim: claim.article)
            sure = float(cosines[row, column]) * LEAST
            if a.article != b.article and (
                (a.article, b.article) not in best or best[a.article, b.article].same < sure
            ):
                best[a.article, b.article] = Contrast(a.article, b.article, ((a.text, b.text),), sure)
    return sorted(best.values(), key=lambda one: (-one.same, one.first, one.second))


def excerpt(text: str, passages: Sequence[str]) -> str:
    """The article's title and some of its sentences."""
    return "\n\n".join([title(text), *dict.fromkeys(passages)])
