"""Sentences that state different values without a name that both hold: "kept for 60 days", "we keep it for 90 days".

Whoever reads claims by the thing that they name (`contradiction_candidates.py`) passes over a rule, which names none.
Here two sentences are compared with each other that count in the same unit and agree in no count; what they have in
common are their other words, the rarer the more telling. Prices, shares, dates and times of day are left out: too many
things of a knowledge base have one, and nearly all such pairs speak of two of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from cxlab.benchmarks.cxmarena.evaluation.claims import PERIODS, TOKEN, find_figures, find_names, spell_counts
from cxlab.benchmarks.cxmarena.evaluation.contradiction_candidates import ArticleContrast
from cxlab.benchmarks.cxmarena.text import STOP, sentences, stem

# How alike the other words are at least, and how many of them are the same: one word ("answered") is of many things.
# Set on a brand written by hand, where they leave 7 pairs, 4 of them planted; on five generated ones, whose sentences
# nearly all name their thing, they add one, which was planted.
LEAST_ALIKE, LEAST_SHARED = 0.35, 2
# Pairs of sentences that stand for a pair of articles.
SHOWN = 3
_PERIOD = re.compile(rf"(?:{PERIODS}|working|business)", re.IGNORECASE)
_OTHER_UNITS = ("date", "time")


class _Rule(NamedTuple):
    article: str
    text: str
    words: frozenset[str]
    named: bool
    capitals: frozenset[str]
    values: dict[str, frozenset[str]]


def find_unnamed(texts: Mapping[str, str], least: float = LEAST_ALIKE) -> list[ArticleContrast]:
    """The pairs of articles with such sentences, the most alike first; `same` is how alike they are."""
    rules, usage, whole = _read(texts)
    weight = {word: math.log(1 + whole / times) ** 2 for word, times in usage.items()}
    size = [math.sqrt(sum(weight[word] for word in rule.words)) for rule in rules]
    holders: dict[str, list[int]] = defaultdict(list)
    found: dict[tuple[str, str], list[tuple[float, tuple[str, str]]]] = defaultdict(list)
    for place, rule in enumerate(rules):
        shared: Counter[int] = Counter()
        alike: dict[int, float] = defaultdict(float)
        for word in rule.words:
            for other in holders[word]:
                shared[other] += 1
                alike[other] += weight[word]
            holders[word].append(place)
        for other, times in shared.items():
            score = alike[other] / (size[place] * size[other])
            if times >= LEAST_SHARED and score >= least and _differ(rule, rules[other]):
                one, two = sorted((rule, rules[other]), key=lambda each: each.article)
                found[one.article, two.article].append((score, (one.text, two.text)))
    made = []
    for (first, second), held in found.items():
        held.sort(key=lambda each: (-each[0], each[1]))
        made.append(
            ArticleContrast(first, second, tuple(passages for _, passages in held[:SHOWN]), round(held[0][0], 4))
        )
    return sorted(made, key=lambda each: (-each.same, each.first, each.second))


def _read(texts: Mapping[str, str]) -> tuple[list[_Rule], Counter[str], int]:
    """The sentences that count something; how many sentences hold each word, and how many there are."""
    names = find_names(texts)
    rules: list[_Rule] = []
    opened: list[str] = []
    written: set[str] = set()
    usage: Counter[str] = Counter()
    whole = 0
    for article, text in texts.items():
        for sentence in dict.fromkeys(sentences(text)[1:]):
            whole += 1
            counted = spell_counts(sentence)
            figures = find_figures(counted)
            values: dict[str, set[str]] = defaultdict(set)
            for _, _, unit, value in figures:
                if unit.isalpha() and unit not in _OTHER_UNITS:
                    values[unit].add(value)
            marks = list(TOKEN.finditer(counted))
            words = frozenset(
                stem(word)
                for mark in marks
                if (word := mark[0].lower()) not in STOP
                and len(word) > 1
                and not _PERIOD.fullmatch(word)
                and not any(start <= mark.start() < end for start, end, _, _ in figures)
            )
            usage.update(words)
            tokens = [mark[0] for mark in marks]
            written.update(tokens[1:])
            if values and words:
                opened.append(tokens[0])
                capitals = frozenset(word for word in tokens[1:] if word[0].isupper() and not _PERIOD.fullmatch(word))
                held = {unit: frozenset(each) for unit, each in values.items()}
                rules.append(_Rule(article, sentence, words, bool(names.within(tokens)), capitals, held))
    # What opens a sentence is a name where it bears its capital within others, too, and is never written small.
    named = [word[0].isupper() and word in written and word.lower() not in written for word in opened]
    rules = [
        rule._replace(capitals=rule.capitals | {word}) if is_name else rule
        for rule, word, is_name in zip(rules, opened, named, strict=True)
    ]
    return rules, usage, whole


def _differ(one: _Rule, other: _Rule) -> bool:
    """Whether they count in one unit and agree in no count of it, and do not speak of things by name.

    Where both name something, that is for who reads claims by their thing. Where each has a capital that the other
    lacks, each may be of a thing of its own: German writes every noun so, names or not.
    """
    if one.article == other.article or (one.named and other.named):
        return False
    if one.capitals - other.capitals and other.capitals - one.capitals:
        return False
    units = one.values.keys() & other.values.keys()
    return any(not one.values[unit] & other.values[unit] for unit in units)
