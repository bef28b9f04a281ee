"""A brand pack: one YAML file in data/brands/, read strictly and checked with file, line and fix.

    brand = load("hearthwise")          # or a path to a YAML file; BadFile when it is wrong
    brand.language                      # Language: words, figures and sentence roles (data/brands/languages/)
    brand.families["thermostat"]        # a family of subjects: products, services, policies, places, ...
    brand.properties["price"]           # how a property is said, drawn and recognised
    brand.issues["no_wifi"]             # symptom, customer's words, causes, steps, tools
    check_file(path) -> [Complaint]     # form, references, cycles, phrases; empty when the pack can be used

Everything a brand has is a *family* under one of the fixed roots (ROOTS): its `models` are the named subjects,
`variants` (smallest first) make siblings of each model. Lines are phrase grammars (cxlab.files.grammar);
their slots are `<subject>`, `<thing>` (the family's noun with article), `<brand>`, property ids (their value, for
lines where the family has that property), the pack's `words` and the language's `words`.
"""

from __future__ import annotations

import functools
import re
from typing import Annotated, Any, Literal, TypeVar, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator

from cxlab import files, resources
from cxlab.benchmarks.cxmarena.brand import joined_phrases
from cxlab.errors import BadOption

FOLDER = resources.data("brands")
Model = TypeVar("Model", bound=BaseModel)
LANGUAGES = ("en", "fr", "de")
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
ROOTS = get_args(Root)
# Prices, periods and counts are numbers; material, compatibility and choice are one of `options`.
Kind = Literal["price", "size", "period", "percent", "count", "date", "time", "material", "compatibility", "choice"]
WORDED = ("material", "compatibility", "choice")
CURRENCIES = {"EUR": "€", "GBP": "£", "USD": "$", "CHF": "CHF"}
# Slots that every line may use.
ALWAYS = ("subject", "name", "thing", "Thing", "things", "brand", "value", "topic", "the", "The", "part")
# A pack without these cannot carry conversations: something to sell, and rules to sell it by.
NEEDED_ROOTS = ("products", "services", "shipping", "returns")


# A price, size or count; beyond these, drawing one would overflow.
Figure = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]


class StrictModel(BaseModel):
    """A strict piece of a pack: an unknown key is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Property(StrictModel):
    """What can be said of a subject: how it is drawn (`range`, `step`, `options`), worded and recognised.

    `cues` are lower-case word beginnings one of which stands in every sentence that states the property.
    `says` hold <subject> and <value> (or <value_dat>, German plural dative); `asks` are questions for it; `remarks`
    say what the value means in use, without giving one.
    """

    name: str = Field(min_length=1)
    the: str = Field(min_length=1)
    kind: Kind
    unit: str = ""
    range: tuple[Figure, Figure] | None = None
    step: Annotated[Figure, Field(ge=0.001)] = 1
    ends: Figure | None = None
    options: tuple[str, ...] = ()
    cues: tuple[str, ...] = Field(min_length=1)
    says: tuple[str, ...] = Field(min_length=1)
    asks: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class PropertyOverride(StrictModel):
    """A family's own drawing of a property; what is not given is the property's."""

    range: tuple[Figure, Figure] | None = None
    step: Annotated[Figure, Field(ge=0.001)] | None = None
    options: tuple[str, ...] = ()


class Family(StrictModel):
    """Subjects of one kind: product lines, plans, delivery options, shops, ...

    `stays`: each has its place in somebody's house, about which an agent may ask. `contract`: products of this family
    are signed, not sent. `article` stands before its models' names in a sentence, where they begin with a noun: "la
    Carte Premier".
    """

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
    article: str = ""
    variants: tuple[str, ...] = ()
    properties: dict[str, PropertyOverride] = Field(min_length=1)
    aspects: tuple[str, ...] = ()
    about: tuple[str, ...] = Field(min_length=1)
    use: tuple[str, ...] = ()
    care: tuple[str, ...] = ()
    stays: bool = True
    contract: bool = False

    @field_validator("properties", mode="before")
    @classmethod
    def _empty_is_default(cls, value: Any) -> Any:
        return {k: {} if v is None else v for k, v in value.items()} if isinstance(value, dict) else value


class Aspect(StrictModel):
    """One side of a subject that deserves an article of its own; `after` are aspects to be read first."""

    title: str = Field(min_length=1)
    the: str = Field(min_length=1)
    description: str = Field(min_length=1)
    facts: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    lines: tuple[str, ...] = Field(min_length=1)


class Dependency(StrictModel):
    """A law between facts, solved when the ledger is made.

    `ordered`: among the variants of a model, `property` grows from the first variant to the last.
    `ratio`: `property` = `factor` × `of`, of the same subject. `above`: `property` > `of`, same subject.
    `bundle`: subjects of `family` cost the sum of their parts' `property`, less their `discount` in percent.
    """

    law: Literal["ordered", "ratio", "above", "bundle"]
    property: str
    of: str = ""
    factor: Figure = 1.0
    family: str = ""
    discount: str = ""
    parts: dict[str, tuple[str, ...]] = {}


class Step(StrictModel):
    """One step of a resolution; with `tool` the agent calls it here.

    `reply`: what a customer may answer where the step asks something that no stock answer fits, each a phrase grammar.
    """

    say: str = Field(min_length=1)
    tool: str | None = None
    reply: tuple[str, ...] = ()


class Issue(StrictModel):
    """A customer's problem with subjects of certain families, and what is done about it.

    `own_reason`: the causes are the customer's own reasons, as for leaving, which an agent asks for and does not tell.
    `begins`: it began at some time, so that an agent may ask since when; a frame that is too large was always so.
    """

    title: str = Field(min_length=1)
    topic: str = Field(min_length=1)
    families: tuple[str, ...] = Field(min_length=1)
    customer: tuple[str, ...] = Field(min_length=1)
    symptom: tuple[str, ...] = Field(min_length=1)
    causes: tuple[str, ...] = Field(min_length=1)
    steps: tuple[Step, ...] = Field(min_length=3)
    needs: tuple[str, ...] = ()
    own_reason: bool = False
    begins: bool = True

    @field_validator("steps", mode="before")
    @classmethod
    def _plain_step(cls, value: Any) -> Any:
        return [{"say": v} if isinstance(v, str) else v for v in value] if isinstance(value, list | tuple) else value


class Parameter(StrictModel):
    """One parameter of a tool; `sample` is a phrase grammar for values ('#' = a digit, '@' = a letter)."""

    description: str = Field(min_length=1)
    sample: str = Field(min_length=1)
    options: tuple[str, ...] = ()


class Tool(StrictModel):
    """A tool template; with `per` "family", one tool for each family listed, `{family}` in the name."""

    description: str = Field(min_length=1)
    parameters: tuple[str, ...] = Field(min_length=1)
    returns: str = Field(min_length=1)
    families: tuple[str, ...] = ()


class ToolResultPhrase(StrictModel):
    """What a tool's result holds in one field, and how an agent tells it.

    `match` is sought in the field's words as the tool's `returns` has them; `name` is the field's key where these
    words make none. `value` is a phrase grammar ('#' a digit, '@' a letter) or a kind of personas.VALUES; `told`
    holds clauses with <value> by value, "*" for all others. `at_home` takes the place of `value` where it is about a
    product that the customer has in hand. `after` names the property that says how long after the beginning a day is.
    """

    match: str
    name: str = ""
    value: str
    at_home: str = ""
    after: str = ""
    told: dict[str, tuple[str, ...]]


class Language(StrictModel):
    """What a language brings: figures, units, fixed roots, words, and headings for articles.

    `name` is its English name, because prompts are in English ("Write in German").
    """

    language: Literal["en", "fr", "de"]
    name: str
    # How a company and its customers say "you"; "" where there is one word.
    formal_you: str = ""
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
    headings: dict[str, tuple[str, ...]]
    statements: tuple[str, ...]
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
        return joined_phrases.polish(text, self.language)


class Brand(StrictModel):
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
    # How what this pack's own tools return is told; before the forms of the language's phrasebook.
    results: tuple[ToolResultPhrase, ...] = ()
    # Families that even a small tree has; and what its maker has to say about the pack.
    always: tuple[str, ...] = ()
    note: str = ""

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
        return _slots(self.language_id, tuple(self.words), tuple(self.families[family].properties))


@functools.cache
def _slots(language: str, words: tuple[str, ...], properties: tuple[str, ...]) -> frozenset[str]:
    known = (*properties, *map(drawn_name, properties))
    return frozenset(
        (
            *ALWAYS,
            *words,
            *known,
            *(f"{p}_dat" for p in known),
            *load_language(language).words,
            *load_language(language).compounds,
        )
    )


def drawn_name(name: str) -> str:
    """The property that one fixed by a brief ("warranty_promised", "warranty_87_promised") stands for."""
    return re.sub(r"(?:_\d+)?_promised$", "", name)


def read_language_file(language: str, name: str, model: type[Model]) -> Model:
    """A file that each language has, read strictly; BadOption for a language that no file covers."""
    if language not in LANGUAGES:
        raise BadOption(f"unknown language {language!r}; known: {', '.join(LANGUAGES)}")
    return files.load_model(FOLDER / "languages" / name, model, "see the other languages for the form")


@functools.cache
def load_language(language: str) -> Language:
    """How a brand of this language writes numbers, dates and sentences; BadOption for one that no file covers."""
    return read_language_file(language, f"{language}.yaml", Language)
