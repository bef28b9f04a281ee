"""What is suspected of a knowledge base, from its own texts and the questions asked of it; no model is called.

A suspicion is for a person to look at: two articles that state different values of one thing, or the same in nearly the
same words, an article that no question leads to, a question that no article seems to answer. Where a dataset was made
with known pairs, and where it says which article is right for a question, that is taken in too.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from cxlab.benchmarks.cxmarena.evaluation import corpus
from cxlab.benchmarks.cxmarena.evaluation.claims import title
from cxlab.benchmarks.cxmarena.evaluation.contradiction_candidates import ArticleContrast, find_contrasts
from cxlab.benchmarks.cxmarena.evaluation.one_subject import Subjects, state_one_property
from cxlab.benchmarks.cxmarena.evaluation.repetitions import find_repetitions
from cxlab.benchmarks.cxmarena.evaluation.unnamed_contrasts import find_unnamed
from cxlab.records import Sample, content_id
from cxlab.store import layout, write

Kind = Literal["contradiction", "repetition", "unreached", "unanswered"]
# How far down a search a reader looks, and which part of a question's words an answering article has at least.
REACH, LEAST_COVERED = 5, 0.4
# Below, two values are seldom of one property: people would look at little else. On three generated knowledge bases and
# one written by hand, .3 keeps each planted pair that .2 finds (32) and half of the other pairs (49 of 103).
LEAST_SURE = 0.3
# From here on it was learned from other things that two wordings mean one property; below, they share a word of it.
_LEARNED = 0.6
# Fewer telling words than that say too little of what is asked.
_LEAST_WORDS = 3
_MOST_QUESTIONS = 5_000
_CHUNK, _OVERLAP = 1000, 100


@dataclass(frozen=True)
class Suspicion:
    """One thing to look at: its articles (one or two ids of `corpus`, the smaller first) or its question.

    `passages` are the sentences that show it, of the first and of the second article. `sure` is from 0 to 1: how surely
    two values are of one property, how alike two texts are, or which part of a question's words the nearest article
    lacks; None where only the dataset says so. `known`: the dataset was made so. `conversation`: where it was asked.
    """

    kind: Kind
    corpus: str
    articles: tuple[str, ...] = ()
    question: str = ""
    passages: tuple[tuple[str, str], ...] = ()
    sure: float | None = None
    known: bool = False
    conversation: str = ""

    @property
    def key(self) -> str:
        """What it is called wherever a decision on it is kept; the same as long as it is of the same articles."""
        return f"{self.kind}:{self.corpus}:{'+'.join(self.articles) or content_id(self.question)}"


@dataclass(frozen=True)
class KnowledgeHealth:
    """All suspicions, the surest of each kind first; how many questions there were, by collection."""

    suspicions: tuple[Suspicion, ...] = ()
    questions: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class KnowledgeQuestion:
    """What was asked of a collection; `right` are the articles that answer it, None where nobody says."""

    corpus: str
    text: str
    right: tuple[str, ...] | None
    conversation: str


def examine(dataset_id: str, home: Path | str | None = None) -> KnowledgeHealth:
    """What is suspected of a stored dataset's articles; nothing where it has none."""
    return _examine(str(layout.resolve_home(home)), dataset_id)


# A dataset never changes, so what is found is kept while the process lives.
@functools.lru_cache(maxsize=8)
def _examine(home: str, dataset_id: str) -> KnowledgeHealth:
    folder = layout.dataset_folder(Path(home), dataset_id)
    if not (folder / "articles.parquet").is_file():
        return KnowledgeHealth()
    articles = write.load_table(dataset_id, "articles", home)
    if not {"article_id", "corpus", "title", "body"} <= {*articles.columns}:
        return KnowledgeHealth()  # somebody else's file; whoever shows it says what it lacks
    samples = write.load_samples(dataset_id, home)
    names = dict.fromkeys(name for listed in articles["corpus"] for name in listed)
    questions = list(read_questions(samples))
    found: list[Suspicion] = []
    seen: set[frozenset[str]] = set()
    # A collection that holds a part of another one says the same of its pairs.
    texts = {name: corpus.load(dataset_id, name).texts for name in names}
    for name in sorted(texts, key=lambda each: -len(texts[each])):
        found += _find_pairs(name, texts[name], seen)
        asked = [each for each in questions if each.corpus == name][:_MOST_QUESTIONS]
        if asked:
            found += _find_reach(dataset_id, name, texts[name], asked)
    found = _with_known(found, samples)
    order = {kind: place for place, kind in enumerate(("contradiction", "repetition", "unanswered", "unreached"))}
    found.sort(key=lambda each: (order[each.kind], -(each.sure or 0.0), each.key))
    return KnowledgeHealth(tuple(found), Counter(each.corpus for each in questions))


def read_questions(samples: Sequence[Sample]) -> Iterator[KnowledgeQuestion]:
    """What was asked: the queries of a search, and what a customer said last before a search in a conversation."""
    for sample in samples:
        if sample.task not in corpus.CORPORA:
            continue
        inputs, expected = sample.inputs, sample.expected
        text = str(inputs.get("query") or "")
        if not text:
            said = [line for line in str(inputs.get("transcript", "")).splitlines() if line.startswith("Customer:")]
            text = said[-1].removeprefix("Customer:").strip() if said else ""
        given = expected.get("article_ids", expected.get("article_id"))
        right = None if given is None else tuple(given) if isinstance(given, list | tuple) else (str(given),)
        name = str(inputs.get("corpus") or corpus.CORPORA[sample.task])
        if text:
            yield KnowledgeQuestion(name, text, right, str(inputs.get("conversation_id") or ""))


def _find_pairs(name: str, texts: Mapping[str, str], seen: set[frozenset[str]]) -> list[Suspicion]:
    found = []
    subjects = Subjects(texts)
    contrasts = {each[:2]: each for each in find_unnamed(texts) if not subjects.are_apart(*each[:2])}
    # What names its thing is the surer sign.
    contrasts |= {each[:2]: each for each in find_contrasts(texts, LEAST_SURE)}
    pairs: list[tuple[Kind, str, str, tuple[tuple[str, str], ...], float]] = [
        ("contradiction", each.first, each.second, passages, each.same)
        for each in contrasts.values()
        if (passages := tuple(_keep_telling(each, subjects)))
    ]
    pairs += [
        ("repetition", each.first, each.second, (), each.similarity) for each in find_repetitions(texts, subjects)
    ]
    for kind, first, second, passages, sure in pairs:
        # One collection may hold another one's article with a sentence more: the same titles, and the same passages.
        shown = {frozenset((kind, title(texts[first]), title(texts[second]), *pair)) for pair in passages}
        same = {frozenset((kind, texts[first], texts[second])), *shown}
        if not same & seen:
            seen |= same
            found.append(Suspicion(kind, name, (first, second), passages=passages, sure=sure))
    return found


def _keep_telling(contrast: ArticleContrast, subjects: Subjects) -> Iterator[tuple[str, str]]:
    """The sentences of a contrast that may speak of one property under one condition."""
    for pair in contrast.passages:
        if state_one_property(*pair) and (contrast.same >= _LEARNED or subjects.share_words(*pair)):
            yield pair


def _find_reach(
    dataset_id: str, name: str, texts: Mapping[str, str], asked: Sequence[KnowledgeQuestion]
) -> list[Suspicion]:
    """The articles that none of these questions leads to, and the questions that none of these articles answers."""
    index = corpus.index(dataset_id, name, "bm25", _CHUNK, _OVERLAP).index
    held = {id: frozenset(_words(text)) for id, text in texts.items()}
    rare = _rarity(list(held.values()))
    reached: set[str] = set()
    found = []
    for question in asked:
        hits = [hit.id for hit in index.search([question.text], REACH)[0]]
        reached.update(hits)
        reached.update(question.right or ())
        words = [word for word in dict.fromkeys(_words(question.text)) if word in rare or len(word) > 3]
        weight = {word: rare.get(word, max(rare.values(), default=1.0)) for word in words}
        whole = sum(weight.values())
        covered = (
            max((sum(w for word, w in weight.items() if word in held[id]) / whole for id in hits), default=0.0)
            if whole
            else 1.0
        )
        known = question.right is not None and not set(question.right) & texts.keys()
        suspected = question.right is None and len(words) >= _LEAST_WORDS and covered < LEAST_COVERED
        if known or suspected:
            found.append(
                Suspicion(
                    "unanswered", name, question=question.text, sure=round(1 - covered, 4), known=known,
                    conversation=question.conversation,
                )
            )  # fmt: skip
    once = {each.key: each for each in reversed(found)}
    return [*once.values(), *(Suspicion("unreached", name, (id,)) for id in texts if id not in reached)]


def _rarity(texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """How telling each word of the articles is: the logarithm of one article over the share that has it."""
    counts = Counter(word for words in texts for word in words)
    return {word: math.log(1 + len(texts) / n) for word, n in counts.items()}


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]{2,}", text.lower())


def _with_known(found: Sequence[Suspicion], samples: Sequence[Sample]) -> list[Suspicion]:
    """The suspicions with the pairs that the dataset was made with: those found are marked, the others added."""
    kinds: Mapping[str, Kind] = {"contradictory": "contradiction", "similar": "repetition"}
    known = {
        Suspicion(kind, str(sample.inputs.get("corpus", "refinement")), (min(pair), max(pair))).key: (
            kind,
            sample,
            pair,
        )
        for sample in samples
        if sample.task == "kb_refinement"
        for name, kind in kinds.items()
        for pair in ([str(id) for id in each] for each in sample.expected.get(name) or ())
        if len(pair) == 2
    }
    marked = [
        Suspicion(each.kind, each.corpus, each.articles, passages=each.passages, sure=each.sure, known=True)
        if each.key in known
        else each
        for each in found
    ]
    missing = known.keys() - {each.key for each in found}
    return marked + [
        Suspicion(kind, str(sample.inputs.get("corpus", "refinement")), (min(pair), max(pair)), known=True)
        for key, (kind, sample, pair) in known.items()
        if key in missing
    ]


def find_conversations(dataset_id: str, home: Path | str | None = None) -> dict[str, tuple[str, ...]]:
    """Article id → the conversations that rested on it: those whose replies name it as their ground, or for which it is
    a right article."""
    return _find_conversations(str(layout.resolve_home(home)), dataset_id)


@functools.lru_cache(maxsize=8)
def _find_conversations(home: str, dataset_id: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = defaultdict(dict)
    folder = layout.dataset_folder(Path(home), dataset_id)
    if (folder / "conversations.parquet").is_file():
        table = write.load_table(dataset_id, "conversations", home)
        if {"conversation_id", "grounding"} <= set(table.columns):
            for name, grounding in table.select("conversation_id", "grounding").iter_rows():
                for id in _ids(grounding):
                    found[id][str(name)] = None
    for question in read_questions(write.load_samples(dataset_id, home)):
        for id in question.right or ():
            if question.conversation:
                found[id][question.conversation] = None
    return {id: tuple(names) for id, names in found.items()}


def _ids(grounding: str | None) -> list[str]:
    try:
        held: Any = json.loads(grounding or "{}")
    except ValueError:
        return []
    return [str(id) for ids in held.values() if isinstance(ids, list) for id in ids] if isinstance(held, dict) else []
