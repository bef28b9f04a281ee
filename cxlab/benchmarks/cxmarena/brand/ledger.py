"""One ledger of facts for the whole brand: what every article and every conversation may state.

    ledger = make(brand, seed=1, models=3)      # subjects: 3 models a family at most (None = all of the pack's)
    ledger.subjects["Ember Mini"]               # Subject(name, family, model, variant, rank, root)
    ledger.of("Ember Mini")                     # its Facts;  ledger.get("Ember Mini", "price") -> Fact | None
    ledger.show(fact)                           # "£89.99", in the brand's language
    ledger.say(fact, rng)                       # "Ember Mini costs £89.99." (one of the property's `says`)
    TemplateVars(ledger, "Ember Mini", rng)     # slots for grammar.say; .used = ids of the facts that were said

Values are canonical (see value_format.py); what a text states of them is found by fact_statements.py.
"""

from __future__ import annotations

import builtins
import functools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np

from cxlab.benchmarks.cxmarena.brand import brand_pack, value_format
from cxlab.benchmarks.cxmarena.brand.brand_pack import WORDED, Brand, Dependency, Family, Language, Property
from cxlab.benchmarks.cxmarena.brand.value_format import Value
from cxlab.benchmarks.generation import rng_for
from cxlab.files import grammar

Triple = tuple[str, str, Value]
# Where dates without a range lie. Conversations come in the year after it, and that is over for whoever reads them: no
# parcel was packed on a day that has not been yet.
FIRST_DAY, DAYS = date(2023, 1, 2), 700


def wordings(spec: Property, language: Language) -> tuple[str, ...]:
    """The property's own wordings and, where its noun phrase is one of its cues, the language's general ones."""
    named = any(cue in spec.the.lower() for cue in spec.cues)
    return (*spec.says, *language.statements) if named and spec.kind not in WORDED else spec.says


@dataclass(frozen=True, slots=True)
class Fact:
    """One value of one property of one subject; `id` is readable: "ember-mini.price"."""

    id: str
    subject: str
    property: str
    value: Value
    unit: str

    @builtins.property
    def triple(self) -> Triple:
        return (self.subject, self.property, self.value)


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that facts are about; `rank` is its place among the variants of its model."""

    name: str
    family: str
    model: str
    variant: str
    rank: int
    root: str


@dataclass
class Ledger:
    """All facts of a brand; see the module's head."""

    brand: Brand
    seed: int
    subjects: dict[str, Subject]
    facts: dict[str, Fact]
    _by: dict[tuple[str, str], Fact] = field(default_factory=dict, repr=False)
    _of: dict[str, list[Fact]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for fact in self.facts.values():
            self._by[fact.subject, fact.property] = fact
            self._of.setdefault(fact.subject, []).append(fact)

    def of(self, subject: str) -> list[Fact]:
        return self._of.get(subject, [])

    def get(self, subject: str, name: str) -> Fact | None:
        return self._by.get((subject, name))

    def stated(self, subject: str, name: str) -> Fact | None:
        """The fact that a line means by a property: of it, or of the one that a brief fixed in its place."""
        fixed = (f for f in self.of(subject) if brand_pack.drawn_name(f.property) == name)
        return self._by.get((subject, name)) or next(fixed, None)

    def show(self, fact: Fact, dative: bool = False) -> str:
        """The fact's value as the brand's language writes it."""
        spec = self.brand.properties[fact.property]
        return value_format.show(fact.value, spec, self.brand.language, self.brand.symbol, dative)

    def say(self, fact: Fact, rng: np.random.Generator) -> str:
        """The fact as a sentence without its full stop, in one of the property's wordings."""
        return say(self, fact, rng)

    def in_text(self, subject: str) -> str:
        """The subject's name as it stands in a sentence, with the article that its family has."""
        known = self.subjects.get(subject)
        article = self.brand.families[known.family].article if known else ""
        return f"{article} {subject}" if article else subject

    def siblings(self, subject: str) -> list[Subject]:
        """The other variants of its model; for a subject without variants, the others of its family."""
        own = self.subjects[subject]
        family = [s for s in self.subjects.values() if s.name != subject and s.family == own.family]
        return [s for s in family if s.model == own.model] if own.variant else family

    @functools.cached_property
    def names(self) -> dict[str, list[str]]:
        """First word → subjects' names beginning with it, longest first."""
        found: dict[str, list[str]] = {}
        for name in self.subjects:
            found.setdefault(re.split(r"\W", name, maxsplit=1)[0], []).append(name)
        return {first: sorted(names, key=len, reverse=True) for first, names in found.items()}


class TemplateVars(Mapping[str, str]):
    """What lines about a subject may name; a property's slot gives its value and notes the fact in `used`."""

    def __init__(self, ledger: Ledger, subject: str, rng: np.random.Generator, **more: str) -> None:
        self.ledger, self.subject, self.rng, self.more = ledger, subject, rng, more
        self.used: list[str] = []
        brand = ledger.brand
        self.family = brand.families[ledger.subjects[subject].family] if subject in ledger.subjects else None
        self.words, self.language = brand.words, brand.language

    def __getitem__(self, name: str) -> str:
        if name in self.more:
            return self.more[name]
        if name == "subject":
            return self.ledger.in_text(self.subject)
        if name == "name":
            return self.subject
        if name == "brand":
            return self.ledger.brand.name
        if self.family is not None and name in ("thing", "Thing", "things", "thing_acc", "thing_dat"):
            return thing(self.family, name)
        if name in self.words:
            options = self.words[name]
            return options[int(self.rng.random() * len(options))]
        if name in self.language.words or name in self.language.compounds:
            return self.language.word(name, self.rng)
        dative = name.endswith("_dat")
        if (fact := self.ledger.stated(self.subject, name.removesuffix("_dat"))) is None:
            raise KeyError(name)
        self.used.append(fact.id)
        return self.ledger.show(fact, dative)

    def __contains__(self, name: object) -> bool:
        if name in self.more or name in ("subject", "name", "brand") or name in self.words:
            return True
        if name in self.language.words or name in self.language.compounds:
            return True
        if self.family is not None and name in ("thing", "Thing", "things", "thing_acc", "thing_dat"):
            return True
        return self.ledger.stated(self.subject, str(name).removesuffix("_dat")) is not None

    def __iter__(self) -> Iterator[str]:
        return iter([*self.more, "subject", "name", "brand", "thing", "Thing", "things", *self.words])

    def __len__(self) -> int:
        return len(list(iter(self)))


def thing(family: Family, name: str) -> str:
    """The family's noun with its article, in the case that the slot asks for."""
    the = family.the
    if name == "Thing":
        return the[:1].upper() + the[1:]
    if name == "things":
        return family.many
    if name == "thing_acc":
        return family.acc or the
    if name == "thing_dat":
        return family.dat or the
    return the


def say(ledger: Ledger, fact: Fact, rng: np.random.Generator, spoken: bool = False) -> str:
    """The fact as a sentence without its full stop; spoken, in the property's own words and not those of a list."""
    spec = ledger.brand.properties[fact.property]
    own = tuple(line for line in spec.says if ": " not in line) if spoken else ()
    says = own or wordings(spec, ledger.brand.language)
    line = says[int(rng.random() * len(says))]
    more = {"value": ledger.show(fact), "value_dat": ledger.show(fact, dative=True)}
    more |= {"the": spec.the, "The": spec.the[:1].upper() + spec.the[1:]}
    return ledger.brand.language.polish(grammar.say(line, rng, TemplateVars(ledger, fact.subject, rng, **more)))


def slug(text: str) -> str:
    """Lower case, letters and digits, dashes between."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def plan_subjects(brand: Brand, models: int | Mapping[str, int] | None = None) -> list[Subject]:
    """The subjects of the first `models` models of each family; more than the pack names get a generation number."""
    found = []
    for key, family in brand.families.items():
        wanted = len(family.models) if models is None else models if isinstance(models, int) else models.get(key, 0)
        names = [family.models[i % len(family.models)] + _generation(i // len(family.models)) for i in range(wanted)]
        if any(law.law == "bundle" and law.family == key for law in brand.dependencies):
            names = names[: len(family.models)]  # a bundle's parts are listed by name
        for model in names:
            if family.variants:
                found += [
                    Subject(f"{model} {variant}".strip(), key, model, variant, rank, family.root)
                    for rank, variant in enumerate(family.variants)
                ]
            else:
                found.append(Subject(model, key, model, "", 0, family.root))
    return found


def _generation(number: int) -> str:
    return f" {number + 1}" if number else ""


def make(brand: Brand, seed: int, models: int | Mapping[str, int] | None = None) -> Ledger:
    """A ledger whose facts obey the pack's laws; the same for the same pack, seed and models."""
    subjects = plan_subjects(brand, models)
    values: dict[tuple[str, str], Value] = {}
    laws = {law.property: law for law in brand.dependencies if law.law in ("ratio", "above")}
    ordered = {law.property for law in brand.dependencies if law.law == "ordered"}
    for family_key, family in brand.families.items():
        own = [s for s in subjects if s.family == family_key]
        for name in _in_order(family.properties, laws):
            spec = brand.draw(family_key, name)
            by_model: dict[str, list[Subject]] = {}
            for subject in own:
                by_model.setdefault(subject.model, []).append(subject)
            for model, group in by_model.items():
                rng = rng_for(brand.id, seed, family_key, model, name)
                drawn = _draw(spec, rng, len(group), name in ordered)
                for subject, value in zip(group, drawn, strict=True):
                    law = laws.get(name)
                    other = values.get((subject.name, law.of)) if law else None
                    values[subject.name, name] = _obey(law, spec, value, other) if law and other is not None else value
    for law in brand.dependencies:
        if law.law == "bundle":
            _price_bundles(brand, subjects, law, values)
    facts = {}
    for (subject_name, name), value in values.items():
        fact = Fact(f"{slug(subject_name)}.{name}", subject_name, name, value, brand.properties[name].unit)
        facts[fact.id] = fact
    return Ledger(brand, seed, {s.name: s for s in subjects}, facts)


def _in_order(properties: Mapping[str, object], laws: Mapping[str, Dependency]) -> list[str]:
    """The properties, each after the one that its law reads."""
    found: list[str] = []

    def visit(name: str) -> None:
        if name in laws and laws[name].of in properties and laws[name].of not in found:
            visit(laws[name].of)
        if name not in found:
            found.append(name)

    for name in properties:
        visit(name)
    return found


def _draw(spec: Property, rng: np.random.Generator, count: int, ordered: bool) -> list[Value]:
    if spec.kind in WORDED:
        return [spec.options[int(rng.integers(len(spec.options)))] for _ in range(count)]
    if spec.kind == "date":
        return [(FIRST_DAY + timedelta(days=int(rng.integers(DAYS)))).isoformat() for _ in range(count)]
    low, high = spec.range or (8.0, 18.0)
    if spec.kind == "time":
        quarters = rng.integers(int(low * 2), int(high * 2) + 1, count)
        return [f"{int(q) // 2:02d}:{30 * (int(q) % 2):02d}" for q in quarters]
    steps = math.floor((high - low) / spec.step + 1e-9) + 1
    picks = rng.choice(steps, count, replace=steps < count) if ordered else rng.integers(0, steps, count)
    values = [_end(round(low + int(p) * spec.step, 3), spec) for p in (sorted(picks) if ordered else picks)]
    return list(values)


def _end(value: float, spec: Property) -> float:
    return round(math.floor(value) + spec.ends, 2) if spec.ends is not None else float(value)


def _obey(law: Dependency, spec: Property, value: Value, other: Value) -> Value:
    if isinstance(value, str) and isinstance(other, str):  # times of day
        return value if value > other else other
    number = float(other)
    if law.law == "ratio":
        return round(number * law.factor, 2)
    return value if float(value) > number else round(number + spec.step, 3)


def _price_bundles(
    brand: Brand, subjects: list[Subject], law: Dependency, values: dict[tuple[str, str], Value]
) -> None:
    for bundle in [s for s in subjects if s.family == law.family]:
        parts = bundle_parts(law, bundle.model, subjects)
        if parts:
            total = sum(float(values[part, law.property]) for part in parts)
            values[bundle.name, law.property] = price_bundle(total, float(values[bundle.name, law.discount]))
            for other in brand.dependencies:  # what follows from the price follows from the new one
                if other.law == "ratio" and other.of == law.property and (bundle.name, other.property) in values:
                    values[bundle.name, other.property] = round(
                        float(values[bundle.name, law.property]) * other.factor, 2
                    )


def price_bundle(total: float, discount: float) -> float:
    """What a bundle costs: its parts less the discount in percent."""
    return round(total * (1 - discount / 100), 2)


def bundle_parts(law: Dependency, bundle: str, subjects: list[Subject]) -> list[str]:
    """The subjects in a bundle: of each model named, the middle variant; models that are left out do not count."""
    found = []
    for model in law.parts.get(bundle, ()):
        variants = [s.name for s in subjects if s.model == model]
        if variants:
            found.append(variants[len(variants) // 2])
    return found


__all__ = [
    "Fact",
    "Ledger",
    "Subject",
    "TemplateVars",
    "Triple",
    "bundle_parts",
    "make",
    "plan_subjects",
    "price_bundle",
    "rng_for",
    "say",
    "slug",
]
