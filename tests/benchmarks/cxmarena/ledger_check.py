"""The proof of a ledger: laws, ranges and single values hold.

check(ledger)     # complaints; [] is the proof
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

from cxlab.benchmarks.cxmarena.brand.brand_pack import WORDED, Dependency
from cxlab.benchmarks.cxmarena.brand.ledger import Fact, Ledger, bundle_parts, price_bundle


def check(ledger: Ledger) -> list[str]:
    """Everything that would make two facts contradict each other, or a law of the pack; [] is the proof."""
    found = []
    brand = ledger.brand
    seen: dict[tuple[str, str], Fact] = {}
    bundled = {law.family: law.property for law in brand.dependencies if law.law == "bundle"}
    lawful = {law.property for law in brand.dependencies if law.law in ("ratio", "above")}
    for fact in ledger.facts.values():
        if (other := seen.setdefault((fact.subject, fact.property), fact)) is not fact:
            found.append(f"{fact.subject}: {fact.property} is {other.value} and {fact.value}")
        family = ledger.subjects[fact.subject].family
        spec = brand.draw(family, fact.property)
        if spec.kind in WORDED and fact.value not in spec.options:
            found.append(f"{fact.id}: {fact.value!r} is no option")
        free = fact.property in lawful or bundled.get(family) == fact.property
        if spec.range and isinstance(fact.value, float) and not free:
            low, high = spec.range
            if not math.floor(low) <= fact.value <= high + 1:
                found.append(f"{fact.id}: {fact.value} lies outside {spec.range}")
    for law in brand.dependencies:
        found += _broken(ledger, law)
    return found


def _broken(ledger: Ledger, law: Dependency) -> Iterator[str]:
    subjects = list(ledger.subjects.values())
    if law.law == "bundle":
        for bundle in [s for s in subjects if s.family == law.family]:
            parts = [ledger.get(p, law.property) for p in bundle_parts(law, bundle.model, subjects)]
            price, discount = ledger.get(bundle.name, law.property), ledger.get(bundle.name, law.discount)
            if parts and price and discount:
                due = price_bundle(sum(float(p.value) for p in parts if p), float(discount.value))
                if abs(due - float(price.value)) > 0.005:
                    yield f"{price.id}: {price.value}, but its parts less the discount cost {due}"
        return
    for subject in subjects:
        fact = ledger.get(subject.name, law.property)
        if fact is None:
            continue
        if law.law == "ordered" and subject.variant:
            for other in ledger.siblings(subject.name):
                theirs = ledger.get(other.name, law.property)
                if theirs and other.rank > subject.rank and not float(theirs.value) > float(fact.value):
                    yield f"{theirs.id}: {theirs.value} is not above {fact.id}: {fact.value}"
        base = ledger.get(subject.name, law.of) if law.of else None
        if base and law.law == "ratio" and abs(float(base.value) * law.factor - float(fact.value)) > 0.006:
            yield f"{fact.id}: {fact.value} is not {law.factor} × {base.value}"
        # Of one kind, as they share a property.
        if base and law.law == "above" and not cast("Any", fact.value) >= base.value:
            yield f"{fact.id}: {fact.value} is not above {base.value}"


__all__ = ["check"]
