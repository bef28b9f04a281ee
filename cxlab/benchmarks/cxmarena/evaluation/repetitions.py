"""Which articles of a knowledge base say the same to a reader: they share their sentences, or their words and figures.

Articles of one pattern ("About X", "About Y", an overview and the page of one thing in it) are alike in their words and
repeat nothing that could be struck. A repetition is therefore seen by its sentences: most of the shorter article, or
many of them, stand word for word in the other one. Where two articles are alike and share hardly a sentence, one may
say the other in words of its own; then the same figures stand in both.

The thresholds were set on four knowledge bases, one by hand and one generated in each of English, German and French:
of 39 pairs shown 32 are planted, where likeness alone showed 101 with 30 planted. On a second French one, looked at
afterwards, 7 of the 20 shown are planted; whether the others are worth striking was not judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cxlab.benchmarks.cxmarena.evaluation.claims import TOKEN, find_figures, spell_counts
from cxlab.benchmarks.cxmarena.evaluation.corpus import Corpus
from cxlab.benchmarks.cxmarena.evaluation.duplicate_detection import FLOOR, SimilarPair, compare
from cxlab.benchmarks.cxmarena.evaluation.one_subject import Subjects
from cxlab.benchmarks.cxmarena.text import sentences

# A sentence of fewer words is a heading or a cell.
LEAST_WORDS = 5
# So much of the shorter article stands in the other one, in so many sentences; or so many sentences do; or nearly all.
SHARE, FEW, MANY, WHOLE = 0.6, 6, 9, 0.9
# How alike articles are of which one says the other anew, how little they share word for word, and how many figures.
ALIKE, HARDLY, SAME_FIGURES = 0.5, 0.1, 0.5


class _Said(NamedTuple):
    sentences: frozenset[tuple[str, ...]]
    figures: frozenset[tuple[str, str]]


def find_repetitions(texts: Mapping[str, str], subjects: Subjects) -> list[SimilarPair]:
    """The pairs of articles to be looked at; `similarity` is their share of sentences or their likeness."""
    if len(texts) < 2:
        return []
    said = {id: _read(text) for id, text in texts.items()}
    found = []
    for pair in compare(Corpus(dict(texts)), "words", k=1, floor=FLOOR).pairs:
        one, other = said[pair.first], said[pair.second]
        both = one.sentences & other.sentences
        shorter = min(_length(one.sentences), _length(other.sentences))
        share = _length(both) / shorter if shorter else 0.0
        if (share >= SHARE and len(both) >= FEW) or len(both) >= MANY or share >= WHOLE:
            found.append(pair._replace(similarity=round(max(share, pair.similarity), 4)))
            continue
        anew = share <= HARDLY and pair.similarity >= ALIKE and _agree(one.figures, other.figures)
        if anew and not subjects.differ(pair.first, pair.second):
            found.append(pair)
    return found


def _read(text: str) -> _Said:
    told = [tuple(word.casefold() for word in TOKEN.findall(each)) for each in sentences(text)[1:]]
    figures = {(unit, value) for each in sentences(text) for _, _, unit, value in find_figures(spell_counts(each))}
    return _Said(frozenset(each for each in told if len(each) >= LEAST_WORDS), frozenset(figures))


def _length(said: frozenset[tuple[str, ...]]) -> int:
    return sum(map(len, said))


def _agree(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> bool:
    """Whether half of the figures of both stand in both; two articles without figures cannot disagree in any."""
    return not one | other or len(one & other) >= SAME_FIGURES * len(one | other)
