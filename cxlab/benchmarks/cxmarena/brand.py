"""A brand pack: one YAML file in data/brands/, read strictly and checked with file, line and fix.

    brand = load("hearthwise")          # or a path to a YAML file; BadFile when it is wrong
    brand.language                      # Language: words, figures and sentence roles (data/brands/languages/)
    brand.families["thermostat"]        # a family of subjects: products, services, policies, places, ...
    brand.properties["price"]           # how a property is said, drawn and recognised
    brand.issues["no_wifi"]             # symptom, customer's words, causes, steps, tools
    check_file(path) -> [Complaint]     # form, references, cycles, phrases; empty when the pack can be used

Everything a brand has is a *family* under one of the fixed roots (ROOTS): its `models` are the named subjects,
`variants` (smallest first) make siblings of each model. Lines are phrase grammars (cxlab.llm.simulated.grammar);
their slots are `<subject>`, `<thing>` (the family's noun with article), `<brand>`, property ids (their value, for
lines where the family has that property), the pack's `words` and the language's `words`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator

from cxlab.benchmarks import yaml_files
from cxlab.benchmarks.yaml_files import Complaint, line_of, lines_of
from cxlab.errors import BadFile, BadOption, UnknownName
from cxlab.llm.simulated import grammar

FOLDER = Path(__file__).resolve().parents[3] / "data" / "brands"
LANGUAGES = ("en", "fr", "de")
ROOTS = (
    "products",
    "services",
    "contact",
    "story",
    "places",
    "shipping",
    "returns",
    "loyalty",
    "privacy",
    "events",
    "legal",
)
Root = Literal[
    "products",
    "services",
    "contact",
    "story",
    "places",
    "shipping",
    "returns",
    "loyalty",
    "privacy",
    "events",
    "legal",
]
# Prices, periods and counts are numbers; material, compatibility and choice are one of `options`.
Kind = Literal["price", "size", "period", "percent", "count", "date", "time", "material", "compatibility", "choice"]
WORDED = ("material", "compatibility", "choice")
CURRENCIES = {"EUR": "€", "GBP": "£", "USD": "$", "CHF": "CHF"}
# Slots that every line may use.
ALWAYS = ("subject", "thing", "Thing", "things", "brand", "value", "topic", "the", "The", "part")
# A pack without these cannot carry conversations: something to sell, and rules to sell it by.
NEEDED_ROOTS = ("products", "services", "shipping", "returns")
FORM = "see data/brands/ for the form"


class Part(BaseModel):
    """A strict piece of a pack: an unknown key is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Property(Part):
    """What can be said of a subject: how it is drawn (`range`, `step`, `options`), worded and recognised.

    `cues` are lower-case word beginnings one of which stands in every sentence that states the property.
    `says` hold <subject> and <value> (or <value_dat>, German plural dative); `asks` are questions for it.
    """

    name: str = Field(min_length=1)
    the: str = Field(min_length=1)
    kind: Kind
    unit: str = ""
    range: tuple[float, float] | None = None
    step: float = 1
    ends: float | None = None
    options: tuple[str, ...] = ()
    cues: tuple[str, ...] = Field(min_length=1)
    says: tuple[str, ...] = Field(min_length=1)
    asks: tuple[str, ...] = ()


class Draw(Part):
    """A family's own drawing of a property; what is not given is the property's."""

    range: tuple[float, float] | None = None
    step: float | None = None
    options: tuple[str, ...] = ()


class Family(Part):
    """Subjects of one kind: product lines, plans, delivery options, shops, ..."""

    root: Root
    group: str | None = None
    title: str = Field(min_length=1)
    one: str = Field(min_length=1)
    the: str = Field(min_length=1)
    acc: str = ""
    dat: str = ""
    many: str = Field(min_length=1)
    description: str = Field(min_length=1)
    models: tuple[str, ...] = Field(min_length=1)
    variants: tuple[str, ...] = ()
    properties: dict[str, Draw] = Field(min_length=1)
    aspects: tuple[str, ...] = ()
    about: tuple[str, ...] = Field(min_length=1)
    use: tuple[str, ...] = ()
    care: tuple[str, ...] = ()

    @field_validator("properties", mode="before")
    @classmethod
    def _empty_is_default(cls, value: Any) -> Any:
        return {k: {} if v is None else v for k, v in value.items()} if isinstance(value, dict) else value


class Aspect(Part):
    """One side of a subject that deserves an article of its own; `after` are aspects to be read first."""

    title: str = Field(min_length=1)
    the: str = Field(min_length=1)
    description: str = Field(min_length=1)
    facts: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    lines: tuple[str, ...] = Field(min_length=1)


class Dependency(Part):
    """A law between facts, solved when the ledger is made.

    `ordered`: among the variants of a model, `property` grows from the first variant to the last.
    `ratio`: `property` = `factor` × `of`, of the same subject. `above`: `property` > `of`, same subject.
    `bundle`: subjects of `family` cost the sum of their parts' `property`, less their `discount` in percent.
    """

    law: Literal["ordered", "ratio", "above", "bundle"]
    property: str
    of: str = ""
    factor: float = 1.0
    family: str = ""
    discount: str = ""
    parts: dict[str, tuple[str, ...]] = {}


class Step(Part):
    """One step of a resolution; with `tool` the agent calls it here."""

    say: str = Field(min_length=1)
    tool: str | None = None


class Issue(Part):
    """A customer's problem with subjects of certain families, and what is done about it."""

    title: str = Field(min_length=1)
    topic: str = Field(min_length=1)
    families: tuple[str, ...] = Field(min_length=1)
    customer: tuple[str, ...] = Field(min_length=1)
    symptom: tuple[str, ...] = Field(min_length=1)
    causes: tuple[str, ...] = Field(min_length=1)
    steps: tuple[Step, ...] = Field(min_length=3)
    needs: tuple[str, ...] = ()

    @field_validator("steps", mode="before")
    @classmethod
    def _plain_step(cls, value: Any) -> Any:
        return [{"say": v} if isinstance(v, str) else v for v in value] if isinstance(value, list | tuple) else value


class Parameter(Part):
    """One parameter of a tool; `sample` is a phrase grammar for values ('#' = a digit, '@' = a letter)."""

    description: str = Field(min_length=1)
    sample: str = Field(min_length=1)
    options: tuple[str, ...] = ()


class Tool(Part):
    """A tool template; with `per` "family", one tool for each family listed, `{family}` in the name."""

    description: str = Field(min_length=1)
    parameters: tuple[str, ...] = Field(min_length=1)
    returns: str = Field(min_length=1)
    families: tuple[str, ...] = ()


class Language(Part):
    """What a language brings: figures, units, fixed roots, words, and sentence roles for articles."""

    language: Literal["en", "fr", "de"]
    name: str
    decimal: str
    thousands: str
    money: str
    percent: str
    time: str
    date: str
    months: tuple[str, ...] = Field(min_length=12, max_length=12)
    units: dict[str, tuple[str, ...]]
    roots: dict[str, tuple[str, str]]
    words: dict[str, tuple[str, ...]]
    leads: tuple[str, ...]
    tails: dict[str, tuple[str, ...]]
    headings: dict[str, tuple[str, ...]]
    roles: dict[str, tuple[str, ...]]
    statements: tuple[str, ...]
    asking: tuple[str, ...]
    pointers: tuple[str, ...]
    compounds: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    paraphrases: tuple[tuple[str, str], ...]

    def word(self, name: str, rng: np.random.Generator) -> str:
        """One of the words of this name, or one put together from its compounds; KeyError when there is neither."""
        if name in self.compounds:
            head, tail = self.compounds[name]
            return head[int(rng.random() * len(head))] + tail[int(rng.random() * len(tail))]
        words = self.words[name]
        return words[int(rng.random() * len(words))]

    def polish(self, text: str) -> str:
        """Contractions and elisions that joining phrases calls for ("de le" → "du"); tidy spaces."""
        return polish(text, self.language)


class Brand(Part):
    """A whole pack."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    name: str = Field(min_length=1)
    language_id: Literal["en", "fr", "de"] = Field(alias="language")
    currency: Literal["EUR", "GBP", "USD", "CHF"]
    domain: str = Field(min_length=1)
    overview: str = Field(min_length=40)
    words: dict[str, tuple[str, ...]] = {}
    properties: dict[str, Property] = Field(min_length=3)
    families: dict[str, Family] = Field(min_length=4)
    aspects: dict[str, Aspect] = {}
    dependencies: tuple[Dependency, ...] = ()
    issues: dict[str, Issue] = Field(min_length=3)
    parameters: dict[str, Parameter]
    tools: dict[str, Tool] = Field(min_length=3)

    _language: Language | None = PrivateAttr(default=None)

    @property
    def language(self) -> Language:
        return load_language(self.language_id)

    @property
    def symbol(self) -> str:
        return CURRENCIES[self.currency]

    def draw(self, family: str, name: str) -> Property:
        """The property as this family draws it."""
        own, base = self.families[family].properties[name], self.properties[name]
        return base.model_copy(
            update={
                "range": own.range or base.range,
                "step": own.step or base.step,
                "options": own.options or base.options,
            }
        )

    def slots(self, family: str) -> frozenset[str]:
        """The slots that lines about this family may use."""
        return _slots(self.id, self.language_id, tuple(self.words), tuple(self.families[family].properties))


@functools.cache
def _slots(brand: str, language: str, words: tuple[str, ...], properties: tuple[str, ...]) -> frozenset[str]:
    return frozenset(
        (
            *ALWAYS,
            *words,
            *properties,
            *(f"{p}_dat" for p in properties),
            *load_language(language).words,
            *load_language(language).compounds,
        )
    )


def polish(text: str, language: str) -> str:
    """Mend what joining phrases leaves behind, by language."""
    import re

    if language == "fr":
        for pattern, by in _FRENCH:
            text = re.sub(pattern, by, text)
    elif language == "de":
        for pattern, by in _GERMAN:
            text = re.sub(pattern, by, text)
    elif language == "en":
        text = re.sub(r"\b([Aa]) (?=[aeioAEIO](?!ne\b|nce\b|u)|u(?!s|ni|ti))", r"\1n ", text)
    return text


_FRENCH = (
    (r"\b([dD])e les ", r"\1es "),
    (r"\b([dD])e le (?![aeiouyhâéèêîô])", r"\1u "),
    (r"\bà les ", "aux "),
    (r"\bÀ les ", "Aux "),
    (r"\bà le (?![aeiouyhâéèêîô])", "au "),
    (r"\bÀ le (?![aeiouyhâéèêîô])", "Au "),
    (r"(?<!-)\b([dDlLnNsSjJmMtTcC]|[qQ]u|[lL]orsqu|[pP]uisqu|[jJ]usqu)[ea] (?=[aeiouâéèêîôAEIOUÂÉÈÊÎÔ])", r"\1’"),
    (r"\b([Ss])i (?=ils?\b)", r"\1’"),
)
_GERMAN = (
    (r"\b([Ii])n dem\b", r"\1m"),
    (r"\b([Aa])n dem\b", r"\1m"),
    (r"\b([Zz])u dem\b", r"\1um"),
    (r"\b([Zz])u der\b", r"\1ur"),
    (r"\b([Vv])on dem\b", r"\1om"),
    (r"\b([Bb])ei dem\b", r"\1eim"),
)


def names() -> list[str]:
    """The ids of the packs at hand."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(name: str | Path) -> Brand:
    """The pack of this id or in this file; UnknownName, or BadFile with line and fix when it is wrong."""
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        if str(name) not in names():
            raise UnknownName("brand", name, names(), "Or give the path of a brand pack (.yaml)")
        path = FOLDER / f"{name}.yaml"
    elif not path.is_file():
        raise BadFile(path, None, "no such file", "give the path of a brand pack")
    stamp = path.stat()
    return _load(path, stamp.st_mtime_ns, stamp.st_size)


@functools.lru_cache(maxsize=8)
def _load(path: Path, changed: int, size: int) -> Brand:
    brand, complaints = _check(path)
    if complaints or brand is None:
        first = complaints[0]
        more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
        raise BadFile(path, first.line, first.problem, first.fix + more)
    return brand


@functools.cache
def load_language(language: str) -> Language:
    """The language's file; BadOption for a language that no file covers."""
    if language not in LANGUAGES:
        raise BadOption(f"unknown language {language!r}; known: {', '.join(LANGUAGES)}")
    path = FOLDER / "languages" / f"{language}.yaml"
    found, complaints = yaml_files.read(path, Language, "see the other languages for the form")
    if found is None:
        raise BadFile(path, complaints[0].line, complaints[0].problem, complaints[0].fix)
    return found


def check_files(paths: Iterable[Path] | None = None) -> list[Complaint]:
    """Complaints about all packs, or about those given."""
    return [c for path in (sorted(FOLDER.glob("*.yaml")) if paths is None else paths) for c in check_file(Path(path))]


def check_file(path: Path) -> list[Complaint]:
    """Complaints about one pack: its form, then its references, cycles and phrases."""
    return _check(path)[1]


def _check(path: Path) -> tuple[Brand | None, list[Complaint]]:
    brand, complaints = yaml_files.read(path, Brand, FORM)
    if brand is None:
        return None, [_language_first(c) for c in complaints]
    lines = lines_of(path)
    found = [*_references(brand), *_cycles(brand), *_phrases(brand)]
    if not found:
        # Recognition can only be tried on a pack whose references hold.
        found = [*_recognised(brand)]
    return brand, [Complaint(path.name, line_of(lines, where), problem, fix) for where, problem, fix in found]


def _language_first(complaint: Complaint) -> Complaint:
    if complaint.problem.startswith("language: "):
        return Complaint(complaint.path, complaint.line, "unknown language", f"known languages: {', '.join(LANGUAGES)}")
    return complaint


Found = Iterator[tuple[tuple[object, ...], str, str]]


def _references(b: Brand) -> Found:
    for root in NEEDED_ROOTS:
        if not any(f.root == root for f in b.families.values()):
            yield ("families",), f"no family under the root {root!r}", f"add a family with root: {root}"
    taken: dict[str, str] = {}
    for key, family in b.families.items():
        here = ("families", key)
        yield from _known(b.properties, family.properties, (*here, "properties"), "property")
        yield from _known(b.aspects, family.aspects, (*here, "aspects"), "aspect")
        for index, name in enumerate(family.models):
            if other := taken.get(name.lower()):
                yield (*here, "models", index), f"the name {name!r} is taken by {other}", "rename one of the two"
            taken[name.lower()] = key
    for key, spec in b.properties.items():
        if spec.kind in WORDED:
            if not spec.options and any(
                key in f.properties and not f.properties[key].options for f in b.families.values()
            ):
                yield ("properties", key), f"{key} is a {spec.kind} without options", "add options:"
        elif spec.kind not in ("date", "time") and spec.range is None:
            yield ("properties", key), f"{key} has no range", "add range: [least, most]"
        if spec.kind in ("size", "period") and spec.unit not in b.language.units:
            yield ("properties", key), f"unknown unit {spec.unit!r}", f"known: {', '.join(b.language.units)}"
        draws: list[Property | Draw] = [spec]
        draws += [f.properties[key] for f in b.families.values() if key in f.properties]
        for draw in draws:
            if draw.range and draw.range[0] > draw.range[1]:
                yield ("properties", key, "range"), f"the range {draw.range} of {key} is upside down", "swap the two"
    for key, aspect in b.aspects.items():
        yield from _known(b.properties, aspect.facts, ("aspects", key, "facts"), "property")
        yield from _known(b.aspects, aspect.after, ("aspects", key, "after"), "aspect")
    for key, issue in b.issues.items():
        yield from _known(b.families, issue.families, ("issues", key, "families"), "family")
        tools = [step.tool for step in issue.steps if step.tool]
        yield from _known(b.tools, tools, ("issues", key, "steps"), "tool")
    for key, tool in b.tools.items():
        yield from _known(b.parameters, tool.parameters, ("tools", key, "parameters"), "parameter")
        yield from _known(b.families, tool.families, ("tools", key, "families"), "family")
    for index, law in enumerate(b.dependencies):
        law_place = ("dependencies", index)
        yield from _known(b.properties, [p for p in (law.property, law.of, law.discount) if p], law_place, "property")
        if law.law == "bundle":
            yield from _known(b.families, [law.family], law_place, "family")
            models = {m for f in b.families.values() for m in f.models}
            yield from _known(
                models, [m for parts in law.parts.values() for m in parts], (*law_place, "parts"), "model"
            )


def _known(known: Iterable[str], given: Iterable[str], where: tuple[object, ...], kind: str) -> Found:
    known = list(known)
    for index, name in enumerate(given):
        if name not in known:
            yield (*where, index), f"unknown {kind} {name!r}", f"known: {', '.join(known[:40])}"


def find_cycle(after: dict[str, tuple[str, ...]]) -> list[str]:
    """A way round in "x comes after y" from a name back to itself, [] when there is none."""
    done: set[str] = set()
    for start in after:
        path: list[str] = []
        todo: list[tuple[str, int]] = [(start, 0)]
        while todo:
            name, depth = todo.pop()
            del path[depth:]
            if name in path:
                return [*path[path.index(name) :], name]
            if name in done:
                continue
            path.append(name)
            todo += [(other, depth + 1) for other in after.get(name, ())]
            if not after.get(name):
                done.add(name)
        done.add(start)
    return []


def _cycles(b: Brand) -> Found:
    if way := find_cycle({key: a.after for key, a in b.aspects.items()}):
        yield ("aspects", way[0], "after"), f"a cyclic precursor: {' → '.join(way)}", "break it: remove one `after`"
    laws: dict[str, tuple[str, ...]] = {}
    for law in b.dependencies:
        if law.law in ("ratio", "above"):
            laws[law.property] = (*laws.get(law.property, ()), law.of)
    if way := find_cycle(laws):
        yield ("dependencies",), f"a cyclic dependency: {' → '.join(way)}", "break it: remove one law"


def lines_about(b: Brand, family: str) -> Iterator[tuple[tuple[object, ...], str]]:
    """All lines that may be said of a family, with their places."""
    spec = b.families[family]
    for kind in ("about", "use", "care"):
        for index, line in enumerate(getattr(spec, kind)):
            yield ("families", family, kind, index), line


def _phrases(b: Brand) -> Found:
    # Lines of aspects and issues serve many families; one that names what a subject lacks is left out there.
    everything = frozenset().union(*(b.slots(f) for f in b.families), b.properties, (f"{p}_dat" for p in b.properties))
    places: list[tuple[tuple[object, ...], str, frozenset[str]]] = []
    for key in b.families:
        places += [(where, line, b.slots(key)) for where, line in lines_about(b, key)]
    for key, aspect in b.aspects.items():
        places += [(("aspects", key, "lines", i), line, everything) for i, line in enumerate(aspect.lines)]
    for key, spec in b.properties.items():
        for kind in ("says", "asks"):
            for i, line in enumerate(getattr(spec, kind)):
                places.append((("properties", key, kind, i), line, everything | {"value_dat"}))
    for key, issue in b.issues.items():
        for kind in ("customer", "symptom", "causes"):
            places += [(("issues", key, kind, i), line, everything) for i, line in enumerate(getattr(issue, kind))]
        places += [(("issues", key, "steps", i), step.say, everything) for i, step in enumerate(issue.steps)]
    for where, line, allowed in places:
        try:
            grammar.parse(line)
        except grammar.BadPhrase as error:
            yield where, str(error), "mend the brackets"
            continue
        if unknown := grammar.slot_names(line) - allowed:
            yield (
                where,
                f"no slot {sorted(unknown)}",
                f"known: {', '.join(sorted(n for n in allowed if not n.endswith('_dat')))}",
            )
    for key, spec in b.properties.items():
        for i, line in enumerate(spec.says):
            if "<value" not in line or "<subject>" not in line:
                yield ("properties", key, "says", i), f"{line!r} must hold <subject> and <value>", "add the slot"


def _recognised(b: Brand) -> Found:
    """Each way of stating a property must be recognised as this property's value and nothing else."""
    from cxlab.benchmarks.cxmarena.ledger import unrecognised

    yield from unrecognised(b)
