"""Statements of facts in a text, recognised: which (subject, property, value) a sentence gives.

A statement stands within one sentence: a subject's name (or `about`, for sentences that name none), one of the
property's cues and a value of its kind and unit; of several properties the one whose cue is nearest. The check of a
pack proves that each wording of each property is read back as exactly that (`unrecognised`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cxlab.benchmarks.cxmarena.brand import value_format
from cxlab.benchmarks.cxmarena.brand.brand_pack import WORDED, Brand
from cxlab.benchmarks.cxmarena.brand.ledger import Ledger, Triple
from cxlab.benchmarks.cxmarena.brand.value_format import Value
from cxlab.metrics.text_statistics import SENTENCE


def find_facts(text: str, ledger: Ledger, about: str | None = None) -> set[Triple]:
    """The (subject, property, value) triples that the text states, whether they are in the ledger or not.

    `about` is the subject of sentences that name none.
    """
    return {triple for sentence in SENTENCE.split(text) for triple in stated(sentence, ledger, about)}


def contradictions(text: str, ledger: Ledger, about: str | None = None) -> set[Triple]:
    """The stated triples that the ledger does not hold."""
    held = ledger.get
    return {t for t in find_facts(text, ledger, about) if (f := held(t[0], t[1])) is None or f.value != t[2]}


def missing(text: str, ledger: Ledger, facts: Iterable[str], about: str | None = None) -> list[str]:
    """Those of the facts (ids) whose value the text neither shows nor states in other writing."""
    plain = _squeeze(text)
    absent = [fact for fact in facts if _squeeze(ledger.show(ledger.facts[fact])) not in plain]
    if not absent:
        return []
    found = find_facts(text, ledger, about)
    return [i for i in absent if ((f := ledger.facts[i]).subject, f.property, f.value) not in found]


def _squeeze(text: str) -> str:
    """Lower case with single spaces, so that a line's end or a hard space is no other value."""
    return " ".join(text.casefold().split())


def stated(sentence: str, ledger: Ledger, about: str | None = None) -> list[Triple]:
    """What one sentence states."""
    reader = _reader(ledger.brand)
    spans = [(f.start, f.end, f.kind, f.unit, f.value) for f in value_format.find(sentence, ledger.brand.language)]
    low = sentence.lower()
    spans += [(at, at + len(o), "worded", "", o) for o, at in reader.options(low)]
    if not spans:
        return []
    named = mentions(sentence, ledger)
    if not named and about is None:
        return []
    cues = reader.cues(low)
    found: list[Triple] = []
    for start, end, kind, unit, value in spans:
        if any(s <= start and end <= e for s, e, _ in named):
            continue  # the figure belongs to a name
        before = [name for s, _, name in named if s < start]
        subject = before[-1] if before else named[0][2] if named else about
        best: tuple[int, str] | None = None
        for name, places in cues.items():
            if subject is None or ledger.get(subject, name) is None or not reader.fits(name, kind, unit, value):
                continue
            near = min(start - e if e <= start else s - end + 1 if s >= end else 0 for s, e in places)
            if best is None or near < best[0]:
                best = (near, name)
        if best is not None and subject is not None:
            found.append((subject, best[1], value))
    return found


def mentions(sentence: str, ledger: Ledger) -> list[tuple[int, int, str]]:
    """(start, end, name) of the subjects named, the longest name at each place."""
    found: list[tuple[int, int, str]] = []
    for match in re.finditer(r"\w+", sentence):
        if found and match.start() < found[-1][1]:
            continue
        for name in ledger.names.get(match.group(), ()):
            if sentence.startswith(name, match.start()) and not sentence[match.start() + len(name) :][:1].isalnum():
                found.append((match.start(), match.start() + len(name), name))
                break
    return found


class _Reader:
    """A pack's cues and options, compiled once."""

    def __init__(self, brand: Brand) -> None:
        self.properties = brand.properties
        self.worded: dict[str, set[str]] = {}
        for name, spec in brand.properties.items():
            options = {
                *spec.options,
                *(o for f in brand.families.values() if name in f.properties for o in f.properties[name].options),
            }
            for option in options if spec.kind in WORDED else ():
                self.worded.setdefault(option, set()).add(name)
        self.lower = [(o.lower(), o) for o in sorted(self.worded, key=len, reverse=True)]
        self.by_cue: dict[str, list[str]] = {}
        for name, spec in brand.properties.items():
            for cue in spec.cues:
                self.by_cue.setdefault(cue, []).append(name)
        alternatives = "|".join(re.escape(c) for c in sorted(self.by_cue, key=len, reverse=True))
        # A look-ahead, so that "delivery" and "delivery fee" are both seen.
        # German joins words: there a cue may stand inside one ("Hauptkamera").
        start = "" if brand.language_id == "de" else r"(?<!\w)"
        self.pattern = re.compile(rf"{start}(?=({alternatives}))")
        self.prefixes = {c: [o for o in self.by_cue if c.startswith(o)] for c in self.by_cue}

    def options(self, low: str) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        taken: list[tuple[int, int]] = []
        for option, original in self.lower:
            at = low.find(option)
            # "goat" is not of the colour oat.
            while at >= 0 and (low[at - 1 : at].isalnum() or low[at + len(option) :][:1].isalnum()):
                at = low.find(option, at + 1)
            if at >= 0 and not any(s <= at < e for s, e in taken):
                taken.append((at, at + len(option)))
                found.append((original, at))
        return found

    def cues(self, low: str) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for match in self.pattern.finditer(low):
            for cue in self.prefixes[match[1]]:
                for name in self.by_cue[cue]:
                    found.setdefault(name, []).append((match.start(), match.start() + len(cue)))
        return found

    def fits(self, name: str, kind: str, unit: str, value: Value) -> bool:
        spec = self.properties[name]
        if kind == "worded":
            return name in self.worded.get(str(value), ())
        if kind == "size":
            return bool(spec.unit) and spec.unit == unit
        return kind == spec.kind and not spec.unit


_READERS: dict[int, tuple[Brand, _Reader]] = {}


def _reader(brand: Brand) -> _Reader:
    # By identity: packs are cached by `load`, and hashing a whole pack per sentence would cost more than reading it.
    held = _READERS.get(id(brand))
    if held is None or held[0] is not brand:
        if len(_READERS) > 16:
            _READERS.clear()
        held = _READERS[id(brand)] = (brand, _Reader(brand))
    return held[1]
