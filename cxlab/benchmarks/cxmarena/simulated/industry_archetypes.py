"""Archetypes of trades, as data: what things that are ridden, worn, eaten, ... have beside what any trade has.

    found = choose("Trekkingräder", brief, "de")     # Archetype, None where no archetype's words stand in line or brief
    found.name                                       # "ridden": ridden.yaml in data/simulated/cxmarena/…
    common("de")                                     # what holds for any trade: any.yaml beside it

A trade brings properties, aspects, lines, issues with their steps, tools and a service of its own in one language;
they are put into a pack that is made of a brief (brand_expansion.py) and checked there like any other pack.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field

from cxlab import files, resources
from cxlab.benchmarks.cxmarena.brand.brand_pack import StrictModel, ToolResultPhrase

ARCHETYPES = resources.data("simulated", "cxmarena", "industry_archetypes")
ANY = "any"
# A trade that a person may name where no archetype fits: what holds for anything that is signed rather than sent.
ANY_SERVICE = "any service"
# Pieces of a pack are checked when the whole pack is; here they only pass through.
Pieces = dict[str, dict[str, Any]]


class Archetype(StrictModel):
    """One archetype in one language; `title` is what people call the trade, `brief` holds beginnings of words by which
    a brief names it.

    `keeps` are properties of the language's own pack that hold here, too, `draws` how they are drawn; `also` issues
    of that pack that its products may have (None: those of any goods), `foreign` words of lines that are nonsense
    here. `refund_by`: the parameter by which money is given back, where that is neither an order's nor a contract's
    number. `contract`: nothing is sent in a parcel; papers are. `stays`: each thing has its place in a house. `ways`:
    words for how something is offered (rented, insured), which says more of a trade than what it is. `only`: words for
    the things that are offered so, where the archetype knows no others (vehicles or equipment, of all that is rented).
    `rates`: how such things are charged, of all that is offered so (by the minute or by the day).
    `results` tells what its own tools return. `belongs` says what a product of a line is, where it is not simply sold.
    `all_lines`: what is sold beside the things that the trade names is of their kind, too (jam beside honey).
    `models` are what such things are called, put together with their line as `called` says ("Garden Room"), in which
    `singular` puts the endings of lines; without them names are coined. `articles`: how such a name begins, in small
    letters, and the article that it then has in a sentence. `only_for`: properties and issues that some of
    its lines alone have, with parts of these lines' names (no overdraft on a mortgage). `promises`: what a brief says
    of a property beside its cues.
    """

    title: str = Field(min_length=1)
    brief: tuple[str, ...] = Field(min_length=3)
    contract: bool = False
    stays: bool = False
    ways: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    draws: Pieces = {}
    also: tuple[str, ...] | None = None
    refund_by: str = ""
    foreign: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    called: str = ""
    articles: dict[str, str] = {}
    singular: dict[str, str] = {}
    only_for: dict[str, tuple[str, ...]] = {}
    promises: dict[str, tuple[str, ...]] = {}
    the: str = Field(min_length=1)
    acc: str = ""
    dat: str = ""
    belongs: str = ""
    all_lines: bool = False
    properties: Pieces = Field(min_length=3)
    aspects: Pieces = Field(min_length=2)
    about: tuple[str, ...] = Field(min_length=2)
    use: tuple[str, ...] = Field(min_length=1)
    care: tuple[str, ...] = Field(min_length=1)
    issues: Pieces = Field(min_length=2)
    parameters: Pieces = {}
    tools: Pieces = {}
    results: tuple[ToolResultPhrase, ...] = ()
    service: dict[str, Any]
    name: str = ""

    def holds(self, name: str, line: str) -> bool:
        """Whether a line has this property or issue."""
        parts = self.only_for.get(name)
        return parts is None or any(part in line.lower() for part in parts)


class ArchetypeFile(StrictModel):
    """One archetype's file."""

    en: Archetype
    fr: Archetype
    de: Archetype


class ContractArchetype(StrictModel):
    """What of the language's pack stays for what is signed rather than sent, and what goes; how its terms are drawn."""

    keeps: tuple[str, ...]
    issues: tuple[str, ...]
    drops: tuple[str, ...]
    draws: Pieces = {}
    # Words of lines about orders, which nobody has who signs a contract.
    foreign: tuple[str, ...] = ()
    # What a customer may have read of it.
    papers: tuple[str, ...] = ()


class ProductLine(StrictModel):
    """What may be said of any product, or of anything that is signed."""

    the: str
    acc: str = ""
    dat: str = ""
    about: tuple[str, ...]
    use: tuple[str, ...]
    care: tuple[str, ...]


class CommonArchetype(StrictModel):
    """What holds for any trade in one language, and how its briefs are read; see any.yaml."""

    makes: str
    list_words: str = Field(alias="and")
    small: tuple[str, ...]
    openers: tuple[str, ...]
    called: str
    words: dict[str, tuple[str, ...]] = {}
    foreign: tuple[str, ...]
    drops: tuple[str, ...]
    goods: tuple[str, ...]
    keeps: tuple[str, ...]
    contract: ContractArchetype
    tools: tuple[str, ...]
    parameters: Pieces
    issues: Pieces = {}
    promises: dict[str, tuple[str, ...]]
    # What a brief says where it denies a property ("no minimum term").
    denied: dict[str, tuple[str, ...]] = {}
    # What is paid by the month or the year, and is not where a line is said to be free.
    fees: tuple[str, ...] = ()
    # Where one asks a company that has no shop.
    channels: tuple[str, ...] = ()
    belongs: str
    # The tool that gives money back, and how an order and a contract are numbered in it.
    refund: str
    order: str
    contract_number: str
    line: ProductLine
    contract_line: ProductLine
    roots: dict[str, tuple[str, ...]]
    aspects: Pieces
    service: dict[str, Any]
    papers: dict[str, Any]
    withdrawal: dict[str, Any]
    overview: dict[str, Any]
    told: dict[str, str]
    founded: dict[str, str]


class CommonArchetypeFile(StrictModel):
    """The file any.yaml."""

    en: CommonArchetype
    fr: CommonArchetype
    de: CommonArchetype


def names() -> list[str]:
    """The archetypes at hand."""
    return sorted(path.stem for path in ARCHETYPES.glob("*.yaml") if path.stem != ANY)


@functools.cache
def load(name: str, language: str) -> Archetype:
    """One archetype; BadFile with line and fix when its file is wrong."""
    path = ARCHETYPES / f"{name}.yaml"
    trade: Archetype = getattr(files.load_model(path, ArchetypeFile, "see the other trades for the form"), language)
    return trade.model_copy(update={"name": name})


def find(trade: str, language: str, lines: Sequence[str] = ()) -> Archetype | None:
    """The archetype that a person or a plan names, by its name or its title in any language; None when of no archetype.

    The plan of a paragraph says the trade in the paragraph's language; the brand may speak another one. Of two that
    offer things in one way, whichever is named, it is the one that knows `lines`.
    """
    said = trade.strip().casefold()
    for name in names():
        titles = [load(name, spoken).title.casefold() for spoken in ArchetypeFile.model_fields]
        # "rental" is enough for "rental of vehicles".
        if said in (name, *titles) or any(title.startswith(f"{said} ") for title in titles):
            named = load(name, language)
            return offered_so(named.ways, " ".join(lines), language) or named
    return None


def offered_so(said: Iterable[str], lines: str, language: str) -> Archetype | None:
    """The archetype of things that are offered in such a way (rented): the one that knows these things, if any."""
    text = " ".join(said)
    for trade in (load(name, language) for name in names()):
        if trade.ways and count(trade.ways, text, language) and count(trade.only, lines, language):
            return trade
    return None


def charged_so(trade: Archetype, brief: str, language: str) -> Archetype:
    """The archetype of things offered as the trade's, or itself, whose rates alone a brief speaks of: bicycles by the
    day are rented as equipment is, those by the minute as vehicles."""
    alike = [one for one in (load(name, language) for name in names()) if one.rates and set(one.ways) & set(trade.ways)]
    said = [one for one in alike if count(one.rates, brief, language)]
    return said[0] if len(said) == 1 and trade.rates else trade


@functools.cache
def common(language: str) -> CommonArchetype:
    """What holds for any trade."""
    path = ARCHETYPES / f"{ANY}.yaml"
    form = "see data/simulated/cxmarena/industry_archetypes/any.yaml"
    made: CommonArchetype = getattr(files.load_model(path, CommonArchetypeFile, form), language)
    return made


def choose(line: str, brief: str, language: str) -> Archetype | None:
    """The archetype whose words a product line has most of; where it has none, the one of the whole brief.

    Elsewhere than in its first sentence, a brief must name an archetype twice: who sells bonsai trees and a care
    subscription is no streaming service.
    """
    known = {name: load(name, language) for name in names()}
    first = re.split(r"(?<=[.!?])\s", brief, maxsplit=1)[0]
    ways = [trade for trade in known.values() if trade.ways and count(trade.ways, first, language)]
    if ways:
        return next((trade for trade in ways if trade.only and count(trade.only, line, language)), ways[0])
    for text, least in ((line, 1), (first, 1), (brief, 2)):
        counts = {name: count(trade.brief, text, language) for name, trade in known.items()}
        best = max(counts, key=lambda name: counts[name], default="")
        if best and counts[best] >= least:
            return known[best]
    return None


def count(words: tuple[str, ...], text: str, language: str) -> int:
    """How many words of the text begin with one of these; German joins words, there they may end with it."""
    if not words:
        return 0
    beginnings = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    pattern = rf"\b(?:{beginnings})" if language != "de" else rf"\b(?:{beginnings})|(?<=[a-zäöüß])(?:{beginnings})\b"
    return len(re.findall(pattern, text.lower()))


# Letters that a word may have beyond its beginning: "bicycle(s)", but no "cardigan" for "card".
_ENDING = r"\w{0,3}"


def names_thing(words: tuple[str, ...], thing: str, language: str) -> int:
    """Letters of the longest of these words that says what the thing is, not what it is for: a honey press is a press.

    That is the last word in English and in what German joins, the first one in French.
    """
    if not words:
        return 0
    beginnings = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    if language == "fr":
        found = re.match(rf"({beginnings}){_ENDING}\b", thing.lower())
    else:
        before = "" if language == "de" else r"\b"
        found = re.search(rf"{before}({beginnings}){_ENDING}$", thing.lower())
    return len(found[1]) if found else 0


__all__ = [
    "Archetype",
    "CommonArchetype",
    "charged_so",
    "choose",
    "common",
    "count",
    "find",
    "load",
    "names",
    "names_thing",
]
