"""Candidates for contradictions: pairs of articles with the passages in which they may differ, found in two ways.

By what is claimed: sentences that name the same thing, state a value of the same unit in words that may mean the same
property, and differ in the value; found through an index of things and units. By nearness: sentences near each other
under their titles and topics (`nearest_passages.py`), whatever they name and whether or not they hold a figure. A whole
article hardly resembles another because of one sentence; the sentence itself does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from cxlab.benchmarks.cxmarena.evaluation.claims import find_names, read_claims, title, worded_claims
from cxlab.benchmarks.cxmarena.evaluation.nearest_passages import find_near_pairs
from cxlab.benchmarks.cxmarena.evaluation.property_alignment import disagreements
from cxlab.benchmarks.cxmarena.text import sentences

# Below, two claims speak almost surely of different properties: a price and an instalment.
LEAST = 0.1


class ArticleContrast(NamedTuple):
    """Two articles, the smaller id first; their sentences that may contradict, and how sure it is that they do."""

    first: str
    second: str
    passages: tuple[tuple[str, str], ...]
    same: float


def propose(
    texts: Mapping[str, str], similarity: str = "words", k: int = 10, topics: Mapping[str, str] | None = None
) -> list[ArticleContrast]:
    """The candidates of both ways, the likeliest of each first and by turns, so that a limit cuts neither off.

    `similarity`: "words" or an embedder by name; `k`: nearest articles of each; `topics`: what articles stand
    under. A pair found by nearness alone is not
    sure to differ at all: its `same` is 0.
    """
    claimed = {contrast[:2]: contrast for contrast in find_contrasts(texts)}
    near = {pair[:2]: pair for pair in find_near_pairs(texts, similarity, k, topics)}
    order = chain.from_iterable(zip_longest(claimed, near))
    found = []
    for pair in dict.fromkeys(one for one in order if one is not None):
        held = [each.passages for each in (claimed.get(pair), near.get(pair)) if each is not None]
        passages = tuple(dict.fromkeys(chain.from_iterable(held)))
        found.append(ArticleContrast(pair[0], pair[1], passages, claimed[pair].same if pair in claimed else 0.0))
    return found


def find_contrasts(texts: Mapping[str, str], least: float = LEAST) -> list[ArticleContrast]:
    """The pairs of articles that claim different values, surest first."""
    names = find_names(texts)
    claims = [claim for claim in read_claims(texts, names) if claim.named]
    claims += worded_claims(texts, names, {claim.text for claim in claims})
    found = []
    for alike in disagreements(claims):
        if alike[0].same < least:
            break
        pairs = tuple(dict.fromkeys((one.first.text, one.second.text) for one in alike if one.same >= least))
        found.append(ArticleContrast(alike[0].first.article, alike[0].second.article, pairs, alike[0].same))
    return found


def excerpt(text: str, passages: Sequence[str]) -> str:
    """The article's title and some of its sentences, each between those beside it, in the article's order; what lies
    between is left out with "…".
    """
    said = sentences(text)[1:]
    wanted = set(passages)
    kept = [n for n in range(len(said)) if wanted & set(said[max(n - 1, 0) : n + 2])]
    lines = [title(text)]
    for n in kept:
        if n - 1 in kept:
            # A heading ends without a full stop and stays a line of its own.
            lines[-1] += f"{' ' if said[n - 1][-1] in '.!?:;' else chr(10)}{said[n]}"
        else:
            lines.append(said[n] if n == 0 else f"… {said[n]}")
    return "\n\n".join(lines)
