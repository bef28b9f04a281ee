"""What is wrong with a brand pack: file, line, problem, fix.

First its form, then references, cycles and phrases, at last whether each wording of a fact is recognised.
"""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from cxlab.benchmarks.cxmarena.brand.brand_pack import (
    LANGUAGES,
    NEEDED_ROOTS,
    WORDED,
    Brand,
    Property,
    PropertyOverride,
)
from cxlab.benchmarks.cxmarena.brand.fact_statements import contradictions, find_facts
from cxlab.benchmarks.cxmarena.brand.ledger import TemplateVars, make, rng_for, wordings
from cxlab.files import Complaint, grammar, line_of, lines_of, read_model

FORM = "see data/brands/ for the form"


def check(path: Path) -> tuple[Brand | None, list[Complaint]]:
    """The pack, None where its form is wrong, and the complaints about it."""
    brand, complaints = read_model(path, Brand, FORM)
    if brand is None:
        return None, [_language_first(c) for c in complaints]
    found = [*_references(brand), *_cycles(brand), *_phrases(brand)]
    if not found:
        # Recognition can only be tried on a pack whose references hold.
        found = [*_recognised(brand)]
    lines = lines_of(path) if found else {}
    return brand, [Complaint(path.name, line_of(lines, where), problem, fix) for where, problem, fix in found]


def _language_first(complaint: Complaint) -> Complaint:
    if complaint.problem.startswith("language: "):
        return Complaint(complaint.path, complaint.line, "unknown language", f"known languages: {', '.join(LANGUAGES)}")
    return complaint


Problems = Iterator[tuple[tuple[object, ...], str, str]]


def _references(b: Brand) -> Problems:
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
        draws: list[Property | PropertyOverride] = [spec]
        draws += [f.properties[key] for f in b.families.values() if key in f.properties]
        for draw in draws:
            if draw.range and draw.range[0] > draw.range[1]:
                yield ("properties", key, "range"), f"the range {draw.range} of {key} is upside down", "swap the two"
    yield from _known(b.families, b.always, ("always",), "family")
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


def _known(known: Iterable[str], given: Iterable[str], where: tuple[object, ...], kind: str) -> Problems:
    known = list(known)
    for index, name in enumerate(given):
        if name not in known:
            yield (*where, index), f"unknown {kind} {name!r}", f"known: {', '.join(known[:40])}"


def find_cycle(after: dict[str, tuple[str, ...]]) -> list[str]:
    """A way round in "x comes after y" from a name back to itself, [] when there is none."""
    try:
        graphlib.TopologicalSorter(after).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def _cycles(b: Brand) -> Problems:
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


def _phrases(b: Brand) -> Problems:
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


def _recognised(brand: Brand) -> Problems:
    """Wordings of a property that are not read back as exactly that fact."""
    ledger = make(brand, 0, 1)
    for key, spec in brand.properties.items():
        fact = next((f for f in ledger.facts.values() if f.property == key), None)
        if fact is None:
            continue
        for index, line in enumerate(wordings(spec, brand.language)):
            filled = line.replace("<value>", ledger.show(fact)).replace("<value_dat>", ledger.show(fact, True))
            filled = filled.replace("<the>", spec.the).replace("<The>", spec.the[:1].upper() + spec.the[1:])
            slots = TemplateVars(ledger, fact.subject, rng_for("check"))
            for name in grammar.slot_names(filled):
                filled = filled.replace(f"<{name}>", slots.get(name, "thing"))
            for text in grammar.every(filled, 60):
                said = brand.language.polish(grammar.tidy(text)) + "."
                read = find_facts(said, ledger)
                # A quotation may hold two figures: what it says beside the fact has to be one, too.
                if fact.triple not in read or contradictions(said, ledger):
                    problem = f"{said!r} is read as {sorted(read, key=str)}"
                    yield ("properties", key, "says", index), problem, "use one of its cues near the value, no other's"
                    break
