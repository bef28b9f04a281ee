"""How simulated models read a customer: signals in the text, negation, changes of mind, forgetting.

Nothing here sees an expected answer. A reader is given the wordings that the procedure prints beside
each option, knows a share of them, and goes by what the customer wrote.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cxlab.llm.simulated import knows

Value = bool | int | float | str
# Apostrophes are dropped before reading, because people who type on a phone drop them too.
NEGATORS = re.compile(
    r"\b(?:not|never|no|without|rather than|instead of|nothing to|cannot|(?:do|does|did|is|are|was|were|wo|ca|could|"
    r"would|should|have|has|had|need|must|might|ai)nt)(?: +\w+){0,3} *$"
)
SHOUTING = re.compile(r"!|\b[A-Z]{4,}\b")
FIGHTING = re.compile(
    r"\b(?:listen|nonsense|ridiculous|joke|useless|incompetent|script|hopeless|rubbish|last warning|do your job|"
    r"pathetic|excuses|shambles|regulator|lawyer|stalling|fobbed|how often|sick of|fed up|good heavens)\b"
)
UNSETTLED = 0.5


@dataclass(frozen=True)
class FieldSignals:
    """One field as the procedure prints it: options with plain and indirect wordings."""

    name: str
    default: Value
    emotion: bool
    options: tuple[tuple[Value, tuple[str, ...], tuple[str, ...]], ...]

    def __hash__(self) -> int:
        """Of the hundreds of wordings once, not at each look-up."""
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.name, self.default, self.emotion, self.options))


@dataclass(frozen=True)
class ReaderSkill:
    """What a reader is able to do; shares are between 0 and 1."""

    name: str
    plain: float = 1.0
    indirect: float = 1.0
    negation: bool = True
    revision: bool = True
    memory: int = 1000
    hostility: float = 0.0


@dataclass(frozen=True, eq=False)
class _KnownWordings:
    """The wordings of one field that a reader knows, one for each group of the pattern; looked up by identity."""

    pattern: re.Pattern[str] | None
    owners: Mapping[int, tuple[str, Value]]
    negation: bool


class Evidence(NamedTuple):
    """A wording that was taken up: the option it stands for, where, and how directly."""

    option: Value
    message: int
    position: int
    wording: str


@functools.lru_cache(maxsize=50_000)
def heat(text: str) -> int:
    """How many marks of hostility a message carries: shouting, exclamation marks, fighting words."""
    return len(SHOUTING.findall(text)) + len(FIGHTING.findall(text.lower()))


def read(
    guides: Sequence[FieldSignals], messages: Sequence[str], skill: ReaderSkill
) -> dict[str, tuple[Value, Evidence | None]]:
    """For each field the value that the reader takes from the customer's messages, and why.

    A field without evidence keeps its default. With revision the last word counts, without it the
    first. Only the last `memory` messages are remembered. A reader that hostility unsettles takes up
    nothing but emotion from a heated message, and hears anger in it.
    """
    reader = _reader(tuple(guides), skill.name, skill.plain, skill.indirect, skill.negation)
    found: dict[str, list[Evidence]] = {}
    for index in range(max(0, len(messages) - skill.memory), len(messages)):
        text = messages[index]
        unsettled = heat(text) * skill.hostility >= UNSETTLED
        for field, option, position, wording in _signals(reader, text, unsettled):
            found.setdefault(field, []).append(Evidence(option, index, position, wording))
    taken: dict[str, tuple[Value, Evidence | None]] = {}
    for guide in guides:
        known = found.get(guide.name)
        if known is None:
            taken[guide.name] = (guide.default, None)
        else:
            chosen = known[-1] if skill.revision or guide.emotion else known[0]
            taken[guide.name] = (chosen.option, chosen)
    return taken


@dataclass(frozen=True, eq=False)
class _Reader:
    """The fields, each with the wordings that a reader knows; looked up by identity."""

    fields: tuple[tuple[FieldSignals, _KnownWordings], ...]


@functools.lru_cache(maxsize=500)
def _reader(guides: tuple[FieldSignals, ...], name: str, plain: float, indirect: float, negation: bool) -> _Reader:
    return _Reader(tuple((guide, _compile(guide, name, plain, indirect, negation)) for guide in guides))


@functools.lru_cache(maxsize=100_000)
def _signals(reader: _Reader, text: str, unsettled: bool) -> tuple[tuple[str, Value, int, str], ...]:
    """Field, option, position and wording of all that a reader takes up of one message, which it reads at each turn."""
    found: list[tuple[str, Value, int, str]] = []
    for guide, wordings in reader.fields:
        if unsettled and guide.emotion:
            found.append((guide.name, guide.options[-1][0], 0, "the tone of the message"))
            continue
        hits = _scan(wordings, text)
        found += [(guide.name, *hit) for hit in (hits[:1] if unsettled else hits)]
    return tuple(found)


@functools.lru_cache(maxsize=100_000)
def words_of(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", bare(text)))


def topic_hits(text: str, topic: Sequence[str]) -> int:
    """How many of a field's topic words a question holds; two or more make it a question about the field."""
    words = words_of(text)
    return sum(_low(word) in words for word in topic)


def bare(text: str) -> str:
    """The text in small letters and without apostrophes."""
    return text.lower().replace("’", "").replace("'", "")


@functools.lru_cache(maxsize=50_000)
def _low(text: str) -> str:
    return bare(text)


def _scan(wordings: _KnownWordings, text: str) -> tuple[tuple[Value, int, str], ...]:
    if wordings.pattern is None:
        return ()
    low = _low(text)
    hits = []
    for match in wordings.pattern.finditer(low):
        wording, option = wordings.owners[match.lastindex or 0]
        if wordings.negation and NEGATORS.search(low[max(0, match.start() - 32) : match.start()]):
            continue
        hits.append((option, match.start(), wording))
    return tuple(hits)


def _compile(guide: FieldSignals, reader: str, plain: float, indirect: float, negation: bool) -> _KnownWordings:
    wordings: list[tuple[str, Value]] = []
    for option, direct, subtle in guide.options:
        wordings += [(w, option) for w in direct if knows(reader, w, plain)]
        wordings += [(w, option) for w in subtle if knows(reader, w, indirect)]
    if not negation:
        wordings = [(w, o) for w, o in wordings if not re.match(r"(not|no|never|dont|isnt)\b", bare(w))]
    # The longest wording first: "not angry" must win over "angry".
    wordings.sort(key=lambda pair: -len(pair[0]))
    if not wordings:
        return _KnownWordings(None, {}, negation)
    # How a wording begins is looked at first, and at beginnings of words alone: most words of a text begin none.
    begins = "|".join(sorted({re.escape((bare(w).split() or [""])[0].rstrip("*")) for w, _ in wordings}))
    pattern = rf"\b(?={begins})(?:{'|'.join(f'({_parts(w)})' for w, _ in wordings)})"
    return _KnownWordings(re.compile(pattern), {i + 1: pair for i, pair in enumerate(wordings)}, negation)


def _parts(wording: str) -> str:
    """A wording from its first word on, as a pattern; a trailing * matches any ending."""
    parts = [re.escape(p.rstrip("*")) + (r"\w*" if p.endswith("*") else "") for p in bare(wording).split()]
    return r"\W+".join(parts) + (r"\b" if not wording.endswith("*") else "")
