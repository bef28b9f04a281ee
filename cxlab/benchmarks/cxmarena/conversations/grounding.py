"""The articles of one conversation, and in them the passages on which an agent's messages rest.

article_index = ArticleIndex(ledger, articles)          # once for all conversations
article_index.near(article)                      # ids of what lies around an issue article, ranked, itself first
article_index.step(article, 2, text)             # the passage of its third step
article_index.facts(persona, rng)                # [(fact, passage)] that an article of the persona states
article_index.rank(text, passages, ids, facts)   # ids of articles that a message rests on, best first
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cxlab.benchmarks.cxmarena.brand.ledger import Fact, Ledger, TemplateVars
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.text import stem
from cxlab.files import grammar
from cxlab.metrics.text_statistics import SENTENCE
from cxlab.records import Article

# Articles that an agent has at hand; how alike a sentence must be to a line to pass for the same statement; which
# share of what a message takes from its source a sentence of another article must have, and of how many words at least.
AT_HAND, ALIKE, BESIDE, FEWEST = 9, 0.6, 0.8, 3
_STEP = re.compile(r"^(\d+)\. ", re.MULTILINE)


class SourcePassage(NamedTuple):
    """A piece of an article."""

    article: str
    text: str


class ArticleIndex:
    """All articles of a brand, with indices that are built as they are needed."""

    def __init__(self, ledger: Ledger, articles: Sequence[Article]) -> None:
        self.ledger = ledger
        self.articles = {a.id: a for a in articles}
        self.by_fact: dict[str, list[str]] = {}
        self.by_subject: dict[str, list[str]] = {}
        self.by_family: dict[str, list[str]] = {}
        for article in articles:
            if article.kind == "issue":
                continue
            for fact in article.properties["facts"]:
                self.by_fact.setdefault(fact, []).append(article.id)
            if article.properties.get("subject"):
                self.by_subject.setdefault(article.properties["subject"], []).append(article.id)
            elif article.properties.get("family"):
                self.by_family.setdefault(article.properties["family"], []).append(article.id)
        self.policies = [a.id for a in articles if a.kind == "policy"]
        self._sentences: dict[str, list[tuple[str, frozenset[str]]]] = {}
        self._steps: dict[str, dict[int, str]] = {}

    def near(self, article: Article, rng: np.random.Generator) -> tuple[str, ...]:
        """What an agent has at hand: the issue's article, its subject's, its family's, some rules of the house."""
        subject, family = str(article.properties["subject"]), str(article.properties["family"])
        own = self.by_subject.get(subject, [])
        found = [article.id, *(own[int(i)] for i in rng.permutation(len(own))[:5])]
        found += self.by_family.get(family, [])[:1]
        siblings = [i for s in self.ledger.siblings(subject)[:6] for i in self.by_subject.get(s.name, [])[:1]]
        found += [siblings[int(i)] for i in rng.permutation(len(siblings))[:2]]
        found += [self.policies[int(i)] for i in rng.permutation(len(self.policies))[:2]]
        return tuple(dict.fromkeys(found))[:AT_HAND]

    # Passages

    def sentences(self, article: str) -> list[tuple[str, frozenset[str]]]:
        """The sentences of an article, each with the stems of its words."""
        if article not in self._sentences:
            body = self.articles[article].body.partition("\n\n")[2]
            texts = [s for s in SENTENCE.split(body) if len(s) > 15]
            self._sentences[article] = [(s, stems(s)) for s in texts]
        return self._sentences[article]

    def step(self, article: Article, number: int, text: str) -> SourcePassage:
        """The numbered step in the article's body; the sentence most like the text where none is numbered."""
        if article.id not in self._steps:
            marks = list(_STEP.finditer(article.body))
            ends = [article.body.find("\n", m.start()) for m in marks]
            self._steps[article.id] = {
                int(m[1]): article.body[m.end() : end if end > 0 else None] for m, end in zip(marks, ends, strict=True)
            }
        found = self._steps[article.id].get(number + 1)
        if found is not None and stems(text) & stems(found):
            return SourcePassage(article.id, found)
        return self.like(text, (article.id,), 0.0) or SourcePassage(article.id, article.title)

    def like(self, text: str, ids: Sequence[str], least: float = ALIKE) -> SourcePassage | None:
        """The sentence of these articles that shares most of the text's words, if it shares enough."""
        wanted = stems(text)
        best = least * len(wanted)
        found: SourcePassage | None = None
        for article in ids:
            for sentence, own in self.sentences(article):
                shared = len(wanted & own)
                if shared >= best and shared:
                    best, found = shared + 0.01, SourcePassage(article, sentence)
        return found

    def line(
        self, person: Persona, lines: Sequence[str], rng: np.random.Generator
    ) -> tuple[str, SourcePassage, list[str]] | None:
        """One of the pack's lines that an article at hand says too: its wording, where, the facts in it."""
        for index in rng.permutation(len(lines)):
            line = lines[int(index)]
            if line in person.said:
                continue
            slots = TemplateVars(self.ledger, person.subject, rng)
            if any(name not in slots for name in grammar.slot_names(line)):
                continue
            text = self.ledger.brand.language.polish(grammar.say(line, rng, slots))
            passage = self.like(text, person.articles)
            if passage is not None:
                person.said.add(line)
                return text.rstrip(" ."), passage, slots.used
        return None

    def facts(self, person: Persona, rng: np.random.Generator) -> list[tuple[Fact, SourcePassage]]:
        """Facts of the subject (and a few of its neighbours) that can be asked for and that an article states."""
        ledger = self.ledger
        own = ledger.of(person.subject)
        near = [f for s in ledger.siblings(person.subject)[:4] for f in ledger.of(s.name)[:4]]
        pool = [own[int(i)] for i in rng.permutation(len(own))]
        pool[3:3] = [near[int(i)] for i in rng.permutation(len(near))[:2]]
        found: list[tuple[Fact, SourcePassage]] = []
        for fact in pool:
            if ledger.brand.properties[fact.property].asks and len(found) < 9:
                passage = self.states(fact, person.articles)
                if passage is not None:
                    found.append((fact, passage))
        return found[::-1]

    def states(self, fact: Fact, preferred: Sequence[str]) -> SourcePassage | None:
        """A sentence that gives the fact's value, in an article that is known to state it."""
        shown = self.ledger.show(fact)
        ids = self.by_fact.get(fact.id, [])
        for article in [*(i for i in preferred if i in ids), *ids[:4]]:
            about = self.articles[article].properties.get("subject")
            for sentence, _ in self.sentences(article):
                if shown in sentence and (about == fact.subject or fact.subject in sentence):
                    return SourcePassage(article, sentence)
        return None

    def rank(
        self, text: str, sources: Sequence[SourcePassage], ids: Sequence[str], facts: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """The articles that a message rests on: its sources, then all others that say the same.

        Another article says the same when it states one of the message's facts, or has a sentence with most of what
        the message takes from a passage; that it is about the same product is not enough.
        """
        own = tuple(dict.fromkeys(p.article for p in sources))
        if not own:
            return own
        told = stems(text)
        taken = [some for p in sources if len(some := told & stems(p.text)) >= FEWEST]
        stating = {i for fact in facts for i in self.by_fact.get(fact, ()) if self._shows(i, fact)}
        scores = {
            i: 1.0 if i in stating else max((self._share(some, i) for some in taken), default=0.0)
            for i in dict.fromkeys((*ids, *sorted(stating)))
            if i not in own
        }
        beside = [i for i, score in scores.items() if score >= BESIDE]
        return (*own, *sorted(beside, key=lambda i: (-scores[i], i)))

    def _shows(self, article: str, fact: str) -> bool:
        """Whether an article gives the value of a fact that it is known to state."""
        shown = self.ledger.show(self.ledger.facts[fact])
        return any(shown in sentence for sentence, _ in self.sentences(article))

    def _share(self, wanted: frozenset[str], article: str) -> float:
        """Which share of the words the sentence has that has most of them."""
        return max((len(wanted & own) for _, own in self.sentences(article)), default=0) / len(wanted)


class _Stems(dict[str, str]):
    """Word → stem, "" for short words, found once each."""

    def __missing__(self, word: str) -> str:
        found = self[word] = stem(word) if len(word) > 3 or word.isdigit() else ""
        return found


_STEMS = _Stems()
_WORD = re.compile(r"\w+")


def stems(text: str) -> frozenset[str]:
    """The stems of the longer words; figures count as they stand."""
    return frozenset(map(_STEMS.__getitem__, _WORD.findall(text.lower()))) - {""}
