"""Which words follow which: a bigram model for the recogniser, of a domain's own phrases mixed with general English."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from cxlab.errors import BadOption

# Absolute discount: what is taken from each seen pair, for pairs never seen; rarer than once, that share of it.
DISCOUNT = 0.5
START, END = "<s>", "</s>"


class Counts:
    """How often words and pairs were seen; a count may be a fraction, so that sources can be weighed."""

    def __init__(self) -> None:
        self.ones: defaultdict[str, float] = defaultdict(float)
        self.twos: defaultdict[tuple[str, str], float] = defaultdict(float)

    def add(self, words: Sequence[str], weight: float = 1.0) -> None:
        """A sentence."""
        self.add_part([START, *words, END], weight)

    def add_part(self, words: Sequence[str], weight: float = 1.0) -> None:
        """Words in a row out of a sentence; nothing is said of how it begins and ends."""
        for word in words:
            self.ones[word] += weight
        for pair in itertools.pairwise(words):
            self.twos[pair] += weight

    def add_general(
        self, vocabulary: Iterable[str], log10: Callable[[list[str]], float], mass: float, least: float
    ) -> None:
        """As much of general English as `mass` words: `log10([word, before])` is the chance of a word after another.

        Pairs that would count less than `least` are left to the single words.
        """
        words = sorted(set(vocabulary))
        alone = {word: 10 ** log10([word]) for word in words}
        whole = sum(alone.values())
        for word, share in alone.items():
            self.ones[word] += mass * share / whole
        for before in [*words, START]:
            often = mass * (alone[before] / whole if before != START else 0.05)
            if often < least:
                continue
            floor = math.log10(least / often)
            for word in words:
                log = log10([word, before])
                if log > floor:
                    self.twos[before, word] += often * 10**log


def bigrams(counts: Counts) -> str:
    """The model in ARPA form with absolute discounting; words never counted are never heard."""
    ones, twos = counts.ones, counts.twos
    if not twos:
        raise BadOption("no phrases to make a language model of; give at least one")
    total = sum(count for word, count in ones.items() if word != START)
    starts: defaultdict[str, float] = defaultdict(float)
    taken: defaultdict[str, float] = defaultdict(float)
    for (first, _), count in twos.items():
        starts[first] += count
        taken[first] += DISCOUNT * min(1.0, count)
    back = {word: taken[word] / starts[word] if starts[word] else 1.0 for word in ones}
    lines = ["\\data\\", f"ngram 1={len(ones)}", f"ngram 2={len(twos)}", "", "\\1-grams:"]
    for word in sorted(ones):
        share = -99.0 if word == START else math.log10(ones[word] / total)
        lines.append(f"{share:.4f} {word} {math.log10(back[word]):.4f}")
    lines += ["", "\\2-grams:"]
    for (first, second), count in sorted(twos.items()):
        # What was taken from the seen pairs goes to all words alike by their own share, the seen ones among them.
        share = (count - DISCOUNT * min(1.0, count)) / starts[first]
        if second != START:
            share += back[first] * ones[second] / total
        lines.append(f"{math.log10(share):.4f} {first} {second}")
    return "\n".join([*lines, "", "\\end\\", ""])
