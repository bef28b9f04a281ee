"""How people talk, by language: data/brands/languages/phrasebook_{en,fr,de}.yaml, read strictly.

    talk = load("en")                   # Phrasebook
    words = PhraseVars(talk, rng, {"subject": "Ember One"})
    words.line(talk.agent["instruct"])  # one wording of one line, slots filled

A slot is filled from what the speaker was given, else from the file's `parts` (grammars of their own), else from
the language's words. Keys of `agent` and `customer` are kinds of acts; "kind.trait" serves who has the trait.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cxlab.benchmarks.cxmarena.brand.brand_pack import (
    Language,
    StrictModel,
    ToolResultPhrase,
    load_language,
    read_language_file,
)
from cxlab.files import grammar

# What a slot counts for when a line's weight is its number of wordings.
_SLOT = 12
_HEAVIEST = 400


class StepRewrite(StrictModel):
    """How a step of an article is said to a customer: a pattern of the step, the act, and what the act names.

    `reply` is the customer's act where the usual answer to such an act would miss the point.
    """

    match: str
    act: str
    say: str
    reply: str = ""


class Phrasebook(StrictModel):
    """One language's talk; see the module's head."""

    language: str
    first_names: dict[str, tuple[str, ...]]
    male: str = ""
    agent_names: tuple[str, ...]
    streets: tuple[str, ...]
    address: str
    domains: tuple[str, ...]
    traits: dict[str, str]
    part_names: tuple[str, ...]
    kinds: dict[str, str]
    articles: tuple[tuple[str, str], ...]
    results: tuple[ToolResultPhrase, ...]
    both: str
    also: tuple[str, ...]
    # How a day is named as a wish ("le <value>"), and what an article's title "<head>: <tail>" is in a sentence.
    on_day: str = "<value>"
    summary: str
    # How a tool's option is said as a wish ("morning" → "the morning").
    spoken: dict[str, str] = {}
    details: dict[str, tuple[str, ...]]
    customer_words: tuple[tuple[str, str], ...]
    rewrites: tuple[StepRewrite, ...]
    infinitives: tuple[tuple[str, str], ...] = ()
    account_tools: str
    order_tools: str
    standards: dict[str, tuple[str, ...]]
    parts: dict[str, tuple[str, ...]]
    agent: dict[str, tuple[str, ...]]
    customer: dict[str, tuple[str, ...]]


@functools.cache
def load(language: str) -> Phrasebook:
    """The language's phrases; BadOption for a language that no file covers."""
    return read_language_file(language, f"phrasebook_{language}.yaml", Phrasebook)


class PhraseVars(Mapping[str, str]):
    """Slots of one speaker; see the module's head."""

    def __init__(self, talk: Phrasebook, rng: np.random.Generator, given: Mapping[str, str]) -> None:
        self.talk, self.rng, self.given = talk, rng, given
        self.language: Language = load_language(talk.language)

    def __getitem__(self, name: str) -> str:
        if name in self.given:
            return self.given[name]
        if name in self.talk.parts:
            return grammar.piece(self.pick(self.talk.parts[name]), self.rng, self)
        return self.language.word(name, self.rng)

    def __contains__(self, name: object) -> bool:
        return (
            name in self.given
            or name in self.talk.parts
            or name in self.language.words
            or name in self.language.compounds
        )

    def __iter__(self) -> Iterator[str]:
        return iter([*self.given, *self.talk.parts, *self.language.words, *self.language.compounds])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def pick(self, lines: Sequence[str]) -> str:
        """One of the lines; those with more wordings come up more often."""
        if len(lines) == 1:
            return lines[0]
        bounds = _bounds(tuple(lines), self.talk.language)
        return lines[int(np.searchsorted(bounds, self.rng.random() * bounds[-1]))]

    def line(self, lines: Sequence[str]) -> str:
        """One wording of one of the lines, tidy but not yet closed."""
        return grammar.tidy(grammar.piece(self.pick(lines), self.rng, self))


@functools.cache
def _bounds(lines: tuple[str, ...], language: str) -> np.ndarray:
    talk, words = load(language), load_language(language)
    counts: dict[str, int] = {n: len(w) for n, w in words.words.items()}
    counts |= {n: len(a) * len(b) for n, (a, b) in words.compounds.items()}
    for _ in range(2):  # parts may use each other, one floor deep
        counts |= {n: sum(grammar.variants(x, counts) for x in options) for n, options in talk.parts.items()}
    weights = [min(grammar.variants(line, counts), _HEAVIEST) ** 0.8 for line in lines]
    return np.cumsum(weights)


def check(language: str, slots: Mapping[str, Sequence[str]]) -> list[str]:
    """Complaints about lines that name a slot which neither the act (`slots`: kind → names) nor the language has."""
    talk = load(language)
    words = PhraseVars(talk, np.random.default_rng(0), {})
    found = []
    for who, lines in (("agent", talk.agent), ("customer", talk.customer), ("parts", talk.parts)):
        for kind, options in lines.items():
            own = {*slots.get(kind.partition(".")[0], ()), "subject", "brand", "customer", "agent", "job"}
            for line in options:
                missing = {n for n in grammar.slot_names(line) if n not in words and n not in own}
                found += [f"phrasebook_{language}.yaml: {who}.{kind}: no slot <{n}>" for n in sorted(missing)]
    return found
