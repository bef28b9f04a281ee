"""What may be said in a domain, for a recogniser to expect: how sentences go, and which words there are.

The sentences are those of data/mmtaup2/spoken_sentences.yaml, each in some of its wordings and with what its slots
hold left out; the words are those of a world that is no task's, of the tools and of the policy. Nothing of it comes
from what stand-ins say or from a task, so that their words are heard as a real model's are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

from cxlab import files, resources
from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.files import grammar
from cxlab.records.base import Record

FILE = resources.data("mmtaup2", "spoken_sentences.yaml")
# Of each line as many wordings are looked at; together they weigh as much as this many sentences.
MOST_WORDINGS, LINE_WEIGHT = 24, 4.0
# Of a world as many customers, and of each kind of number as many examples.
_SIZE, _EXAMPLES = 60, 40
# What nobody says aloud is no text of a world: identifiers, dates, tokens.
_SAYABLE = re.compile(r"[A-Za-z][A-Za-z' -]{1,40}")
# `grammar.every` puts this word for a slot.
_SLOT = re.compile(r"\bthing\b")
_MARKS = re.compile(r"[*`#|_-]")


class SpokenSentences(Record):
    """The whole file: grammar lines that are said in every domain, and those of each."""

    any: tuple[str, ...]
    telecom: tuple[str, ...]
    retail: tuple[str, ...]


def sentences(domain: str) -> list[tuple[str, float]]:
    """Whole sentences with their weights."""
    return [(text, weight) for text, weight in _wordings(domain) if not _SLOT.search(text)]


def parts(domain: str) -> list[tuple[str, float]]:
    """Words in a row, with their weights: what stands around a slot, names, numbers, tools, the policy."""
    found = [(part, weight) for text, weight in _wordings(domain) if _SLOT.search(text) for part in _SLOT.split(text)]
    found += [(text, 1.0) for text in _names(domain)]
    found += [(text, 1.0) for text in _numbers(Random(0))]
    found += [(text, 1.0) for text in _documents(domain)]
    return found


def _wordings(domain: str) -> Iterator[tuple[str, float]]:
    told = files.load_model(FILE, SpokenSentences, "see the head of the file")
    for line in (*told.any, *(told.telecom if domain == "telecom" else told.retail)):
        some = grammar.every(line, MOST_WORDINGS)
        for text in some:
            yield text, LINE_WEIGHT / len(some)


def _names(domain: str) -> list[str]:
    """What customers, streets, plans and things are called in a world that is no task's."""
    world = worlds.load(domain, 0, _SIZE)
    found = list(_texts(world.agent.dump()))
    for side in ("agent", "customer"):
        found += [definition["function"]["name"].replace("_", " ") for definition in world.tools(side)]
    return found


def _texts(value: Any) -> Iterator[str]:
    """Every text of a world's rows that somebody may say; a first name and the last name after it as one."""
    if isinstance(value, dict):
        if isinstance(value.get("first_name"), str) and isinstance(value.get("last_name"), str):
            yield f"my name is {value['first_name']} {value['last_name']}"
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        street = re.fullmatch(r"\d+ ([A-Za-z][A-Za-z ]+)", value)
        text = street[1] if street else value
        if "@" in value:
            yield value
        elif _SAYABLE.fullmatch(text):
            yield text


def _numbers(rng: Random) -> Iterator[str]:
    """How numbers stand in a sentence."""
    for _ in range(_EXAMPLES):
        order, zip_code = rng.randrange(10**6, 10**7), rng.randrange(10**4, 10**5)
        yield f"order #W{order}"
        yield f"order number W{order}"
        yield f"my zip code is {zip_code}"
        yield f"my number is 555-{rng.randrange(100, 1000)}-{rng.randrange(1000, 10_000)}"
        yield f"${rng.randrange(1, 400)}.{rng.randrange(100):02d}"
        yield f"${rng.randrange(1, 100)}"


def _documents(domain: str) -> Iterator[str]:
    """The sentences of the policy and of the tools' descriptions."""
    world = worlds.load(domain, 0, 1)
    texts = [worlds.policy(domain)]
    texts += [tool["function"]["description"] for side in ("agent", "customer") for tool in world.tools(side)]
    for text in texts:
        yield from (part for part in re.split(r"[.\n;:]+", _MARKS.sub(" ", text)) if part.strip())
