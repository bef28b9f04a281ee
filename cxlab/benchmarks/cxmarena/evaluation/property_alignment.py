"""Which claims speak of the same property, learned from where a knowledge base agrees with itself.

    for pair in disagreements(claims):              # one list a pair of articles, best first
        pair[0].first, pair[0].second, pair[0].same

Most of a knowledge base is right. So two wordings mean one property when, wherever both are used of the same thing,
they mostly give the same value: "measures 43 cm wide" and "the width ... is 43 cm" agree again and again, "the price"
and "the instalment" hardly ever. Each claim is represented by its one most telling word. Claims of one property of one
thing with different values contradict each other.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cxlab.benchmarks.cxmarena.evaluation.claims import WORDED, Claim

# What is believed before anything was counted, as so many observations: that one telling word means one property.
BELIEF, WEIGHT = 0.95, 3.0
# Agreement is smoothed by that many observations where a word is rated, because the best of many words is taken.
CAUTION = 10.0
# How much a word loses that is also used with other units.
SPREAD = 0.3
# A word that both claims hold stands for both unless others tell much more.
SHARED = 0.9
# From how sure on two claims count as a contradiction; and how many of them stand for a pair of articles.
SURE, SHOWN = 0.8, 3


class Disagreement(NamedTuple):
    """Two claims of one thing with different values, and how sure it is (0 to 1) that they mean one property."""

    first: Claim
    second: Claim
    same: float


def disagreements(claims: Sequence[Claim]) -> list[list[Disagreement]]:
    """For each pair of articles the claims that most surely contradict each other; the surest pairs first."""
    usage = Counter(word for claim in claims for word in claim.words)
    by_unit: dict[str, list[Claim]] = defaultdict(list)
    stated: dict[tuple[str, str], set[str]] = defaultdict(set)
    for claim in claims:
        by_unit[claim.unit].append(claim)
        stated[claim.text, claim.unit].add(claim.value)
    found: dict[tuple[str, str], list[Disagreement]] = defaultdict(list)
    for unit, own in by_unit.items():
        if len(own) > 1:
            for one in _within(own, usage, unit):
                # A sentence may state two values, each for a case of its own: what both state is no contrast.
                if one.second.value in stated[one.first.text, unit] or one.first.value in stated[one.second.text, unit]:
                    continue
                found[one.first.article, one.second.article].append(one)
    best = [heapq.nlargest(SHOWN, each, key=lambda d: d.same) for each in found.values()]
    return sorted(best, key=lambda each: (-each[0].same, each[0].first.article, each[0].second.article))


def _within(claims: list[Claim], usage: Counter[str], unit: str) -> list[Disagreement]:
    learned = _Agreement(claims, usage, unit == WORDED)
    things: dict[str, dict[tuple[str, tuple[str, ...]], list[Claim]]] = {}
    for claim in claims:
        things.setdefault(claim.thing, {}).setdefault((claim.value, claim.words), []).append(claim)
    found = []
    for thing, stated in things.items():
        kinds = list(stated)
        if len({value for value, _ in kinds}) < 2:
            continue
        for place, one in enumerate(kinds):
            for other in kinds[:place]:
                if one[0] == other[0]:
                    continue
                same = learned.same(thing, one[1], other[1])
                found += [
                    Disagreement(a, b, same) if a.article < b.article else Disagreement(b, a, same)
                    for a in stated[one]
                    for b in stated[other]
                    if a.article != b.article
                ]
    return found


class _Agreement:
    """Counts over one unit: how often two words are used of the same thing, and how often with the same value."""

    def __init__(self, claims: Sequence[Claim], usage: Counter[str], worded: bool) -> None:
        from scipy import sparse

        # A copied article says nothing new.
        kinds = list(dict.fromkeys((c.thing, c.value, c.words) for c in claims))
        counts = Counter(word for _, _, words in kinds for word in words)
        self.words = {word: n for n, word in enumerate(w for w, times in counts.items() if times > 1)}
        self.things = {thing: n for n, thing in enumerate(dict.fromkeys(t for t, _, _ in kinds))}
        values = {pair: n for n, pair in enumerate(dict.fromkeys((t, v) for t, v, _ in kinds))}
        cells = [(n, self.words[w]) for n, (_, _, words) in enumerate(kinds) for w in words if w in self.words]
        rows, columns = zip(*cells, strict=True) if cells else ((), ())
        shape = (len(kinds), len(self.words))
        held = sparse.csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)

        def gather(groups: list[int]) -> Any:
            return sparse.csr_matrix(
                (np.ones(len(groups), dtype=np.float32), (groups, range(len(groups)))),
                shape=(max(groups) + 1, len(groups)),
            )

        self.of_thing = [self.things[t] for t, _, _ in kinds]
        self.of_value = [values[t, v] for t, v, _ in kinds]
        by_thing, by_value = gather(self.of_thing) @ held, gather(self.of_value) @ held
        together = held.T @ held
        self.met = (by_thing.T @ by_thing - together).tocsr()
        self.agreed = (by_value.T @ by_value - together).tocsr()
        self.held, self.by_thing, self.by_value = held.tocsc(), by_thing.tocsc(), by_value.tocsc()
        met, agreed = (sum(n * (n - 1) for n in np.bincount(g).tolist()) for g in (self.of_thing, self.of_value))
        self.base = (agreed + 2.5) / (met + 5.0)
        # The end of a clause is a value only where things keep it; words beside a figure may be trusted more.
        self.belief = self.base if worded else BELIEF
        own = np.array([counts[word] / usage[word] for word in self.words])
        purity = (self.agreed.diagonal() + CAUTION * self.base) / (self.met.diagonal() + CAUTION)
        self.telling: NDArray[np.float64] = purity * own**SPREAD
        self.rows: dict[int, list[int]] = defaultdict(list)
        for n, thing in enumerate(self.of_thing):
            self.rows[thing].append(n)
        self.known: dict[tuple[str, int, int], float] = {}

    def same(self, thing: str, one: tuple[str, ...], other: tuple[str, ...]) -> float:
        """How sure it is that claims of the thing in these words mean one property."""
        ours = [self.words[w] for w in one if w in self.words]
        theirs = [self.words[w] for w in other if w in self.words]
        if not ours or not theirs:
            return float(self.base) / 2
        a, b = (max(words, key=self.telling.__getitem__) for words in (ours, theirs))
        shared = max(set(ours) & set(theirs), key=self.telling.__getitem__, default=None)
        if shared is not None and self.telling[shared] >= SHARED * max(self.telling[a], self.telling[b]):
            a = b = shared
        key = (thing, min(a, b), max(a, b))
        if key not in self.known:
            self.known[key] = self._same(self.things[thing], a, b)
        return self.known[key]

    def _same(self, thing: int, a: int, b: int) -> float:
        # What is in question must not speak for or against itself: the other things decide.
        rows = self.rows[thing]
        mine, other = (np.asarray(self.held[rows][:, [w]].todense()).ravel() for w in (a, b))
        both = float(mine @ other)
        met = float(self.met[a, b]) - (float(mine.sum() * other.sum()) - both)
        values = np.array([self.of_value[n] for n in rows])
        alike = values[:, None] == values[None, :]
        agreed = float(self.agreed[a, b]) - (float(mine @ alike @ other) - both)
        prior = self.belief if a == b else self.base
        return float((agreed + prior * WEIGHT) / (met + WEIGHT))
