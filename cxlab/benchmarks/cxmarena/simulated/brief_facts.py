"""A brief's figures as facts of the pack that is made of it.

A figure that speaks of a property ("10 years of warranty", "free delivery from £50") fixes that property: for all
products, or for the first of the rules that have it, which becomes a family of its own. Any other figure is a fact
of an overview of the brand, which quotes what the brief says it counts.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from cxlab.benchmarks.cxmarena.brand.ledger import slug
from cxlab.benchmarks.cxmarena.simulated.brief import BriefFigure, sentences, told
from cxlab.benchmarks.cxmarena.simulated.brief_overview import PERIODS, make_overview
from cxlab.benchmarks.cxmarena.simulated.industry_archetypes import CommonArchetype

Pack = dict[str, Any]
# "The current account is free", not "free of" anything.
FREE = re.compile(
    r"([^.;,:!?]{3,50}?) (?:(?:is|are|ist|sind|est|sont) (?:free|kostenlos|gratis|gratuite?s?)"
    r"(?! (?:of|for|from|pour|ab|dès))|costs? nothing|kostet nichts|ne coûte rien)\b",
    re.IGNORECASE,
)
# How often something is paid.
PAID_BY = {
    "minute": r"\bminute",
    "hour": r"\b(?:hour|heure|stunde)",
    "day": r"\b(?:(?:a|per) day|(?:par|la) jour|(?:am|pro|je) tag|tagespreis)",
    "night": r"(?:\bnight|\bnuit|nacht)",
    "week": r"\b(?:week|semaine|woche)",
    "month": r"\b(?:month|mois|mensuel|monat)",
    "year": r"\b(?:year|par an\b|annuel|jahr|jähr)",
}
COSTING = r"\b(?:costs?|kostet|kosten|coûte|coûtent)\b"
# Letters within which a clause has named what it is about, an article included.
ABOUT = 6


def add_brief_facts(
    pack: Pack,
    known: CommonArchetype,
    brief: str,
    language: str,
    lines: list[str],
    own: set[str],
    planned: Mapping[str, str],
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> list[str]:
    """Put the brief's figures into the pack, those that are planned (value → what it belongs to); the families that
    came of it, the overview last.

    `own` are the properties that the trade brought: only of them a sum of money can be fixed; `words` are those by
    which a brief names them, beside their cues.
    """
    made: list[str] = []
    rest: list[BriefFigure] = []
    fixed: set[tuple[str, str]] = set()
    _drop_denied(pack, known, brief)
    figures = [each for each in told(brief, language) if each.text in planned]
    # "Cakes £30" and "breakfast £14" name what is sold and what it costs, no plan.
    stems = {stem for line in lines for stem in _stems(pack["families"][line]["title"])[:1]}
    stems |= {cue for spec in pack["properties"].values() if spec["kind"] == "price" for cue in spec["cues"]}
    figures = [
        each._replace(plan="") if any(stem in each.plan.casefold() for stem in stems) else each for each in figures
    ]
    plans = _name_plans(pack, figures, lines, brief)
    made += [key for key in plans.values() if key not in lines]
    lines = [*lines, *made]
    for each in figures:
        # What a person left as it was read is a whole clause, with other figures in it.
        if planned[each.text] not in ("", each.quoted):
            each = each._replace(what=planned[each.text])
        thing = _named(pack, each, lines)
        # What is said of savings is none of the mortgages'.
        near = _property_of(pack, known, each, [thing], own, words or {}) if thing else None
        if near is None or near not in pack["families"][thing]["properties"]:
            near = _property_of(pack, known, each, lines, own, words or {})
        name = near
        if each.kind == "price" and not thing and not _speaks_of(pack, known, near, each, words or {}):
            # "The smallest costs £30" is said of cakes before; "parking costs £9 a night" of none of the rooms.
            name, thing = None, _named_before(pack, each, lines, brief)
        if each.plan and each.plan not in plans and not thing:
            # Of which line it is a plan is not said.
            rest.append(each)
            continue
        if plan := plans.get(each.plan):
            thing, name = plan, _price_of(pack, plan, name) or None
        own_price = thing and each.kind == "price"
        if own_price and (name is None or name not in pack["families"][thing]["properties"]):
            name = _price_of(pack, thing) or None
            # A ticket's price is no monthly fee, and a product whose price is said has no other.
            while name and not each.plan and not _paid_so(pack["properties"][name], each, name in own):
                name = _price_of(pack, thing) or None if _take_out(pack, thing, name) else None
        having = [line for line in lines if name in pack["families"][line]["properties"]]
        holders = [thing] if thing in having else having
        # The first figure of a property stands.
        if name is None or name.endswith("_promised") or any((name, line) in fixed for line in holders or ("",)):
            rest.append(each)
            continue
        fixed |= {(name, line) for line in holders or ("",)}
        if not holders:
            # A rule for everybody rather than what one plan adds to it.
            having = [k for k, f in pack["families"].items() if name in f["properties"]]
            holders = [_set_apart(pack, min(having, key=lambda k: pack["families"][k]["root"] == "services"))]
            made += holders
        _fix(pack, name, each, holders)
    _drop_free(pack, known, brief, lines)
    # An overview without a figure of its own gives one that products have, too, rather than a day nobody asks for.
    pack["families"]["overview"] = make_overview(pack, known, brief, rest or figures[:1], language)
    return [*dict.fromkeys(made), "overview"]


def _property_of(
    pack: Pack,
    known: CommonArchetype,
    each: BriefFigure,
    lines: list[str],
    brought: set[str],
    more: Mapping[str, tuple[str, ...]],
) -> str | None:
    """The property that a figure fixes: of the products first, of those whose words stand in its clause the nearest."""
    clause, at = each.clause.lower(), each.clause.lower().find(each.text.lower())
    best: tuple[bool, int, str] | None = None
    for name, spec in pack["properties"].items():
        ours = any(name in pack["families"][line]["properties"] for line in lines)
        own = name in known.promises
        fits = spec["kind"] == each.kind or (each.kind == "size" and _same_sort(spec.get("unit", ""), each.unit))
        fixable = own or (ours and (name in brought or spec["kind"] in ("size", "period", "percent", "count")))
        if not fits or not fixable:
            continue
        if spec["kind"] == "count" and spec.get("unit"):
            continue
        if not any(name in f["properties"] for f in pack["families"].values()):
            continue
        words = [*known.promises.get(name, ()), *more.get(name, ()), *(() if own else spec["cues"])]
        places = [clause.find(word) for word in words if word in clause]
        if not places:
            continue
        # What a clause begins with is what it is about: "Dogs stay for £12 a night".
        far = min(abs(place - at) for place in places) - 40 * (min(places) < ABOUT)
        # What is said of a threshold or a fee names a delivery, too; the longer words are the more exact.
        rank = (not ours, far - 4 * max(len(w) for w in words if w in clause), name)
        best = rank if best is None or rank < best else best
    return best[2] if best else None


def _drop_denied(pack: Pack, known: CommonArchetype, brief: str) -> None:
    """Take out what the brief says that there is not, or that is included ("no minimum term", "breakfast included")."""
    said = brief.casefold()
    gone = {name for name, phrases in known.denied.items() if any(phrase in said for phrase in phrases)}
    for family in pack["families"].values():
        kept = {key: draw for key, draw in family["properties"].items() if key not in gone}
        family["properties"] = kept or family["properties"]
    # Nor is there anything to go wrong with it.
    lost = re.compile("|".join(rf"<{name}(?:_dat)?>" for name in gone)) if gone else None
    for key, issue in list(pack["issues"].items()):
        if lost and lost.search(str(issue)):
            del pack["issues"][key]


def _drop_free(pack: Pack, known: CommonArchetype, brief: str, lines: list[str]) -> None:
    """Take out the fee of a line that the brief says is free."""
    for free in FREE.finditer(brief):
        for family in (pack["families"][line] for line in lines):
            if all(stem in free[1].casefold() for stem in _stems(family["title"])):
                kept = {key: draw for key, draw in family["properties"].items() if key not in known.fees}
                family["properties"] = kept or family["properties"]


def _paid_so(spec: Mapping[str, Any], each: BriefFigure, brought: bool) -> bool:
    """Whether a price is paid as often as its clause says; one that its trade has not brought has to be paid by what it
    says, where that is by a period."""
    often = [
        period for period, words in PAID_BY.items() if re.search(words, f"{spec['name']} {spec['says']}".casefold())
    ]
    said = [period for period, words in PAID_BY.items() if re.search(words, each.clause.casefold())]
    return not often or (not said and brought) or bool(set(often) & set(said))


def _take_out(pack: Pack, line: str, name: str) -> bool:
    """Take a property out of a line; False where it has no other."""
    own = pack["families"][line]["properties"]
    if len(own) < 2:
        return False
    pack["families"][line]["properties"] = {key: draw for key, draw in own.items() if key != name}
    return True


def _named(pack: Pack, each: BriefFigure, lines: list[str]) -> str:
    """The product line of which a figure is said ("A coat costs £210"), the one that is named by most words before it;
    "" where none is."""
    return _most_named(pack, each.clause.partition(each.text)[0], lines)


def _named_before(pack: Pack, each: BriefFigure, lines: list[str], brief: str) -> str:
    """The product line that a price's sentence has spoken of before it ("Cakes are made to order, the smallest costs
    £30"); "" where none is named."""
    sentence = next((one for one in sentences(brief) if each.text in one and each.clause[:12] in one), "")
    return _most_named(pack, sentence.partition(each.text)[0], lines) if each.kind == "price" else ""


def _speaks_of(
    pack: Pack, known: CommonArchetype, name: str | None, each: BriefFigure, more: Mapping[str, tuple[str, ...]]
) -> bool:
    """Whether a price is said of what the property is called by ("breakfast costs £16"), not beside it ("parking costs
    £9 a night")."""
    if name is None:
        return False
    thing, verb, _ = (
        re.split(rf"({COSTING})", each.clause, maxsplit=1) if re.search(COSTING, each.clause) else ("", "", "")
    )
    cues = (*known.promises.get(name, ()), *more.get(name, ()), *pack["properties"][name]["cues"])
    return not verb or any(cue in thing.casefold() for cue in cues)


def _most_named(pack: Pack, text: str, lines: list[str]) -> str:
    """The line that a text names by most words, all of its name counting most; "" where it names none, or two alike."""
    said = text.casefold()
    words = re.findall(r"[^\W\d_]{4,}", said)
    named = {}
    for line in lines:
        title = pack["families"][line]["title"].casefold()
        # German joins words: "the liability" is said of liability insurances.
        joined = any(title.endswith(word) or (len(word) > 4 and title.startswith(word)) for word in words)
        whole = re.search(rf"(?<![\w-]){re.escape(title[: max(4, len(title) - 1)])}", said) is not None
        named[line] = sum(stem in said for stem in _stems(title)) + joined + 2 * whole
    first, second = sorted(named.values(), reverse=True)[:2] if len(lines) > 1 else (max(named.values()), 0)
    return max(lines, key=lambda line: named[line]) if first > second else ""


def _price_of(pack: Pack, line: str, said: str | None = None) -> str:
    """What a thing of the line costs: the price that is spoken of, else its first; "" where it has none."""
    own = pack["families"][line]["properties"]
    prices = [name for name in own if pack["properties"][name]["kind"] == "price" and not name.endswith("_promised")]
    return said if said is not None and said in prices else next(iter(prices), "")


def _name_plans(pack: Pack, figures: list[BriefFigure], lines: list[str], brief: str) -> dict[str, str]:
    """The plans that the paragraph names with their prices, each with its family.

    A plan is of the line that its sentence speaks of, or of the only one there is. Who names several has no others.
    """
    of: dict[str, str] = {}
    for each in figures:
        line = _named(pack, each, lines) or _named_before(pack, each, lines, brief)
        line = line or (lines[0] if len(lines) == 1 else "")
        if each.plan and line:
            of.setdefault(each.plan, line)
    found: dict[str, str] = {}
    for plan, line in of.items():
        name = " ".join(word[:1].upper() + word[1:] for word in plan.split())
        if list(of.values()).count(line) > 1 and line not in found.values():
            found[plan] = line
            continue
        key = re.sub(r"\W+", "_", slug(name.lower()))
        key = key if re.match("[a-z]", key) and key not in pack["families"] else f"{line}_{len(pack['families'])}"
        pack["families"][key] = {
            **copy.deepcopy(pack["families"][line]),
            "models": [name],
            "article": "",
            "variants": [],
            "title": name,
        }
        for one in (*pack["issues"].values(), *pack["tools"].values()):
            if line in one["families"]:
                one["families"] = [*one["families"], key]
        found[plan] = key
    for plan, line in found.items():
        if line in lines:
            pack["families"][line] |= {"models": [plan[:1].upper() + plan[1:]], "article": "", "variants": []}
    return found


def _stems(title: str) -> list[str]:
    """The beginnings of a title's longer words, which its singular has too."""
    return [word[: max(4, len(word) - 2)] for word in re.findall(r"[^\W\d_]{4,}", title.casefold())]


def _same_sort(unit: str, other: str) -> bool:
    return unit == other or (unit in PERIODS and other in PERIODS)


def _set_apart(pack: Pack, key: str) -> str:
    """The first subject of a family in a family of its own, so that its siblings keep their own values."""
    family, new = pack["families"][key], f"{key}_promised"
    if new in pack["families"]:
        return new
    if len(family["models"]) < 2:
        return key
    first = copy.deepcopy(family)
    first["models"], family["models"] = family["models"][:1], family["models"][1:]
    first["title"] = first["models"][0]
    pack["families"] = {new: first, **pack["families"]}
    for issue in pack["issues"].values():
        if key in issue["families"]:
            issue["families"] = [*issue["families"], new]
    return new


def _fix(pack: Pack, name: str, each: BriefFigure, families: list[str]) -> None:
    """The property with the brief's value and unit, under a name of its own where others draw it freely."""
    spec = pack["properties"][name]
    new = f"{name}_promised"
    if new in pack["properties"]:
        new = f"{name}_{len(pack['properties'])}_promised"
    fixed = {**spec, "range": [each.value, each.value], "step": 1, "ends": None}
    if each.kind == "time":
        fixed |= {"kind": "choice", "options": [each.text], "range": None}
    if each.unit:
        fixed["unit"] = each.unit
    pack["properties"][new] = {k: v for k, v in fixed.items() if v is not None}
    follow = {d["property"] for d in pack["dependencies"] if d["law"] == "ratio" and d.get("of") == name}
    for key in families:
        own = pack["families"][key]["properties"]
        pack["families"][key]["properties"] = {
            new if p == name else p: {} if p == name else draw for p, draw in own.items() if p not in follow
        }
    for aspect in pack["aspects"].values():
        if name in aspect.get("facts", ()):
            aspect["facts"] = [*aspect["facts"], new]


__all__ = ["add_brief_facts"]
