"""Query templates and the values that fill them (data/cdr/templates.yaml).

    templates = load_templates()              # Templates; BadFile with file and line for what is wrong
    templates.sample(28_000, seed=1)          # FilledQuery, none twice, by area as in the paper

A slot is {placeholder}, {placeholder:kind} or {placeholder:kind|kind}: the kinds say which values make sense there.
"""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from cxlab import resources
from cxlab.benchmarks.cdr.corpus.written import AREAS
from cxlab.errors import BadOption
from cxlab.files import fault_at, load_model
from cxlab.records.base import Record

PATH = resources.data("cdr", "templates.yaml")
# Parts of the queries by area, in per cent (table 2 of the paper; they add up to 100.1).
AREA_SHARES = {
    "intent_purpose": 36.1,
    "emotion_feedback": 20.1,
    "linguistic_style_expression": 15.9,
    "trust_safety_ethics": 14.6,
    "conversation_dynamics": 13.4,
}
_SLOT = re.compile(r"\{([a-z]+)(?::([a-z|]+))?\}")
_FORM = "see the head of the file"
Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class Slot:
    """A gap in a template: which placeholder, and the values that make sense there."""

    placeholder: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class FilledQuery:
    """A query, and what it was made of; `values` in the order of the template's slots."""

    text: str
    area: str
    template: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Template:
    """A query with slots; slots of one placeholder have the same values or none in common."""

    text: str
    area: str
    slots: tuple[Slot, ...]

    @property
    def sizes(self) -> list[int]:
        """How many values each slot may take when those before it are filled."""
        seen: list[Slot] = []
        sizes = []
        for slot in self.slots:
            sizes.append(len(slot.values) - seen.count(slot))
            seen.append(slot)
        return sizes

    @property
    def count(self) -> int:
        """How many queries it makes."""
        return math.prod(self.sizes)

    def fill(self, values: Sequence[str]) -> FilledQuery:
        """The query with these values, one a slot; BadOption for a value that a slot does not take, or takes twice."""
        if len(values) != len(self.slots):
            raise BadOption(f"{len(values)} values for {len(self.slots)} slots of {self.text!r}")
        for place, (slot, value) in enumerate(zip(self.slots, values, strict=True)):
            if value not in slot.values:
                raise BadOption(f"{value!r} is no value for {slot.placeholder} in {self.text!r}")
            if (slot, value) in zip(self.slots[:place], values[:place], strict=True):
                raise BadOption(f"{value!r} stands twice in {self.text!r}")
        left = iter(values)
        text = _SLOT.sub(lambda _: next(left), self.text)
        return FilledQuery(text[0].upper() + text[1:], self.area, self.text, tuple(values))

    def at(self, number: int) -> FilledQuery:
        """The query of this number, from 0 to `count` - 1: each number is another one."""
        values: list[str] = []
        for slot, size in zip(self.slots, self.sizes, strict=True):
            number, place = divmod(number, size)
            used = {value for other, value in zip(self.slots, values, strict=False) if other == slot}
            values.append([value for value in slot.values if value not in used][place])
        return self.fill(values)


@dataclass(frozen=True)
class Templates:
    """All templates, in the order of the file."""

    templates: tuple[Template, ...]
    placeholders: Mapping[str, Mapping[str, tuple[str, ...]]]

    def sample(self, count: int, seed: int, shares: Mapping[str, float] = AREA_SHARES) -> list[FilledQuery]:
        """So many different queries, by area as `shares` says and within an area as evenly over its templates as their
        numbers of fillings allow; BadOption where an area cannot make as many."""
        rng = random.Random(seed)
        found: list[FilledQuery] = []
        for area, wanted in _apportion(count, shares).items():
            own = [template for template in self.templates if template.area == area]
            if wanted > sum(template.count for template in own):
                raise BadOption(f"{wanted:,} queries of {area}; the templates make {sum(t.count for t in own):,}")
            for template, part in zip(own, _spread(wanted, [template.count for template in own], rng), strict=True):
                found += [template.at(number) for number in rng.sample(range(template.count), part)]
        rng.shuffle(found)
        return found


class _File(Record):
    placeholders: dict[str, dict[str, Annotated[tuple[Text, ...], Field(min_length=1)]]]
    templates: dict[str, tuple[Text, ...]]
    without: dict[str, dict[str, tuple[Text, ...]]] = {}


def load_templates(path: Path = PATH) -> Templates:
    """The templates of a file; BadFile for an unknown area, placeholder, kind or value, and for a template or a value
    of a placeholder that stands twice."""
    return _load(path)


@functools.cache
def _load(path: Path) -> Templates:
    found = load_model(path, _File, _FORM)
    for name, kinds in found.placeholders.items():
        seen: set[str] = set()
        for kind, values in kinds.items():
            for place, value in enumerate(values):
                if value in seen:
                    raise fault_at(path, ("placeholders", name, kind, place), f"{value!r} stands twice", "remove one")
                seen.add(value)
    templates: dict[str, Template] = {}
    for area, texts in found.templates.items():
        if area not in AREAS:
            raise fault_at(path, ("templates", area), f"{area!r} is no area", f"take one of {', '.join(AREAS)}")
        for place, text in enumerate(texts):
            if text in templates:
                raise fault_at(path, ("templates", area, place), "the template stands twice", "remove one")
            slots = _read_slots(path, ("templates", area, place), text, found)
            templates[text] = Template(text, area, slots)
    if unknown := sorted(found.without.keys() - templates.keys()):
        raise fault_at(path, ("without", unknown[0]), "no such template", "copy the template's text")
    return Templates(tuple(templates.values()), found.placeholders)


def _read_slots(path: Path, where: tuple[object, ...], text: str, found: _File) -> tuple[Slot, ...]:
    slots = []
    dropped = {name: set(values) for name, values in found.without.get(text, {}).items()}
    left = {name: set(values) for name, values in dropped.items()}
    for match in _SLOT.finditer(text):
        name, asked = match[1], match[2]
        if name not in found.placeholders:
            raise fault_at(path, where, f"{name!r} is no placeholder", f"take one of {', '.join(found.placeholders)}")
        kinds = asked.split("|") if asked else list(found.placeholders[name])
        if wrong := [kind for kind in kinds if kind not in found.placeholders[name]]:
            known = ", ".join(found.placeholders[name])
            raise fault_at(path, where, f"{wrong[0]!r} is no kind of {name}", f"take one of {known}")
        every = [value for kind in kinds for value in found.placeholders[name][kind]]
        left.get(name, set()).difference_update(every)
        slots.append(Slot(name, tuple(value for value in every if value not in dropped.get(name, ()))))
    if "{" in _SLOT.sub("", text) or "}" in _SLOT.sub("", text):
        raise fault_at(path, where, "a brace that is no slot", "write {placeholder} or {placeholder:kind}")
    for place, slot in enumerate(slots):
        for other in slots[:place]:
            if slot != other and slot.placeholder == other.placeholder and set(slot.values) & set(other.values):
                fix = "give both the same kinds or kinds apart"
                raise fault_at(path, where, f"two slots of {slot.placeholder} share some values", fix)
    for name, values in left.items():
        if values:
            raise fault_at(path, ("without", text, name), f"{min(values)!r} would not stand there anyway", "remove it")
    if any(size < 1 for size in Template(text, "", tuple(slots)).sizes):
        raise fault_at(path, where, "a slot without a value", "leave it one")
    return tuple(slots)


def _apportion(count: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Whole numbers by share that add up to the count: largest remainder."""
    total = sum(shares.values())
    exact = {area: count * share / total for area, share in shares.items()}
    parts = {area: math.floor(value) for area, value in exact.items()}
    for area in sorted(exact, key=lambda area: parts[area] - exact[area])[: count - sum(parts.values())]:
        parts[area] += 1
    return parts


def _spread(count: int, room: Sequence[int], rng: random.Random) -> list[int]:
    """The count over places with so much room, as evenly as it goes; who gets what does not divide is drawn."""
    parts = [0] * len(room)
    while left := count - sum(parts):
        open_ = [place for place, most in enumerate(room) if parts[place] < most]
        share, rest = divmod(left, len(open_))
        lucky = set(rng.sample(open_, rest))
        for place in open_:
            parts[place] += min(share + (place in lucky), room[place] - parts[place])
    return parts
