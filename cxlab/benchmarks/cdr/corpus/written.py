"""The conversations and queries written by hand, as the files in data/cdr/written/ say them.

    corpus = load_written()      # WrittenCorpus; BadFile with file and line for what is wrong

A file a domain (DOMAIN.yaml) with its conversations, labels.yaml with the closed list of labels, queries.yaml with the
queries and the rules by which conversations are relevant to them. The folder's README says how to write them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from cxlab import resources
from cxlab.benchmarks.cdr.corpus.relevance_rules import LabelledMessage, Pattern, Rule, Side
from cxlab.errors import BadFile
from cxlab.files import fault_at, load_model
from cxlab.records import Conversation, Message
from cxlab.records.base import Record

FOLDER = resources.data("cdr", "written")
AREAS = {
    "emotion_feedback": "Emotion & Feedback",
    "intent_purpose": "Intent & Purpose",
    "conversation_dynamics": "Conversation Dynamics",
    "trust_safety_ethics": "Trust, Safety & Ethics",
    "linguistic_style_expression": "Linguistic Style & Expression",
}
DOMAINS = {
    "arts_entertainment": "Arts and Entertainment",
    "business_industrial": "Business and Industrial",
    "computers_electronics": "Computers and Electronics",
    "finance": "Finance",
    "food_drink": "Food and Drink",
    "health": "Health",
    "jobs_education": "Jobs and Education",
    "law_government": "Law and Government",
    "people_society": "People and Society",
    "science": "Science",
    "shopping": "Shopping",
    "travel_transportation": "Travel and Transportation",
}
_NOT_DOMAINS = ("labels", "queries")
_FORM = "see the README of the folder"
Text = Annotated[str, Field(min_length=1)]


def _check_area(area: str) -> str:
    if area not in AREAS:
        raise ValueError(f"no area; take one of {', '.join(AREAS)}")
    return area


Area = Annotated[str, AfterValidator(_check_area)]
_ROLES: dict[Side, Literal["customer", "agent"]] = {"user": "customer", "assistant": "agent"}


@dataclass(frozen=True)
class Query:
    """A question on conversations, and the rule by which they answer it."""

    id: str
    text: str
    area: str
    rule: Rule


@dataclass(frozen=True)
class WrittenCorpus:
    """`conversations`: id → Conversation, each message's labels in `data["labels"]`; of the conversation, `labels` has
    domain, area, partner ("assistant", or "agent" for a person) and, where there is one, `reversal`: the id of the
    conversation that has the same content words and runs the other way round. `relevant`: query id → conversation ids,
    by the queries' rules."""

    conversations: dict[str, Conversation]
    queries: tuple[Query, ...]
    relevant: dict[str, frozenset[str]]


class _Kind(Record):
    by: Literal["user", "assistant", "both"]
    words: dict[str, Text]


class _Labels(Record):
    mood: _Kind
    intent: _Kind
    change: _Kind
    trust: _Kind
    conduct: _Kind
    style: _Kind

    def kinds(self) -> Iterator[tuple[str, _Kind]]:
        yield from self


class _Message(Record):
    user: Text | None = None
    assistant: Text | None = None
    labels: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_side(self) -> _Message:
        if (self.user is None) == (self.assistant is None):
            raise ValueError("a message is either the user's or the assistant's")
        return self

    @property
    def side(self) -> Side:
        return "user" if self.user is not None else "assistant"


class _Conversation(Record):
    id: Annotated[str, Field(pattern=r"[a-z]+(_[a-z]+)*_[0-9]{2}")]
    area: Area
    partner: Literal["assistant", "agent"] = "assistant"
    reversal: str | None = None
    messages: Annotated[tuple[_Message, ...], Field(min_length=6, max_length=14)]


class _Domain(Record):
    conversations: tuple[_Conversation, ...]


class _Query(Record):
    id: Annotated[str, Field(pattern=r"[a-z]+[0-9]{2}")]
    area: Area
    text: Text
    rule: Rule


class _Queries(Record):
    queries: tuple[_Query, ...]


def load_written(folder: Path = FOLDER) -> WrittenCorpus:
    """All of a folder's files; BadFile for what cannot be read, is labelled with a word that labels.yaml does not
    have for that side, stands twice, or names a conversation that is not there."""
    return _load(folder)


@functools.cache
def _load(folder: Path) -> WrittenCorpus:
    known = load_vocabulary(folder)
    conversations: dict[str, Conversation] = {}
    labelled: dict[str, list[LabelledMessage]] = {}
    places: dict[str, tuple[Path, int]] = {}
    for path in sorted(folder.glob("*.yaml")):
        if path.stem in _NOT_DOMAINS:
            continue
        if path.stem not in DOMAINS:
            raise BadFile(path, None, f"{path.stem!r} is no domain", f"name it after one of {', '.join(DOMAINS)}")
        for n, found in enumerate(load_model(path, _Domain, _FORM).conversations):
            if found.id in conversations:
                raise fault_at(path, ("conversations", n), f"the conversation {found.id!r} stands twice", "rename it")
            for at, message in enumerate(found.messages):
                if wrong := sorted(set(message.labels) - known[message.side]):
                    problem = f"{', '.join(wrong)}: no label of the {message.side}"
                    where = ("conversations", n, "messages", at, "labels")
                    raise fault_at(path, where, problem, "take one of labels.yaml")
            places[found.id] = path, n
            conversations[found.id] = _make(found, path.stem)
            labelled[found.id] = [LabelledMessage(one.side, frozenset(one.labels)) for one in found.messages]
    for name, (path, n) in places.items():
        other = conversations[name].labels.get("reversal")
        if other is not None and (
            other == name or other not in places or conversations[other].labels.get("reversal") != name
        ):
            problem = f"the reversal {other!r} of {name!r} is not there, or does not name it in turn"
            raise fault_at(path, ("conversations", n, "reversal"), problem, "let both name each other")
    queries = _load_queries(folder / "queries.yaml", known)
    relevant = {
        query.id: frozenset(name for name, messages in labelled.items() if query.rule.fits(messages))
        for query in queries
    }
    return WrittenCorpus(conversations, queries, relevant)


def load_vocabulary(folder: Path = FOLDER) -> dict[Side, frozenset[str]]:
    """The labels that a message of either side may have; BadFile where a word stands in two kinds."""
    path = folder / "labels.yaml"
    known: dict[Side, set[str]] = {"user": set(), "assistant": set()}
    for kind, found in load_model(path, _Labels, _FORM).kinds():
        for word in found.words:
            if word in known["user"] | known["assistant"]:
                raise fault_at(path, (kind, "words", word), f"the label {word!r} stands in two kinds", "rename one")
        for side in known:
            if found.by in (side, "both"):
                known[side] |= found.words.keys()
    return {side: frozenset(words) for side, words in known.items()}


def _load_queries(path: Path, known: dict[Side, frozenset[str]]) -> tuple[Query, ...]:
    queries: dict[str, Query] = {}
    for n, found in enumerate(load_model(path, _Queries, _FORM).queries):
        if found.id in queries:
            raise fault_at(path, ("queries", n), f"the query {found.id!r} stands twice", "give it another id")
        for pattern in found.rule.patterns():
            if wrong := sorted(_words(pattern) - known[pattern.side]):
                problem = f"{', '.join(wrong)}: no label of the {pattern.side}"
                raise fault_at(path, ("queries", n, "rule"), problem, "take one of labels.yaml")
        queries[found.id] = Query(found.id, found.text, found.area, found.rule)
    return tuple(queries.values())


def _words(pattern: Pattern) -> set[str]:
    return {*pattern.any_of, *pattern.with_}


def _make(found: _Conversation, domain: str) -> Conversation:
    messages = []
    turn = 0
    for one in found.messages:
        turn += one.side == "user" or not turn
        text = one.user or one.assistant or ""
        messages.append(Message(role=_ROLES[one.side], text=text, turn=turn, data={"labels": list(one.labels)}))
    labels = {"domain": domain, "area": found.area, "partner": found.partner}
    if found.reversal:
        labels["reversal"] = found.reversal
    return Conversation(id=found.id, messages=tuple(messages), labels=labels)
