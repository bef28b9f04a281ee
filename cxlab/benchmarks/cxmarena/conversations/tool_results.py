"""What a tool gives back, and how an agent tells it: coined for a conversation in the forms of the brand's trades.

result, told = tool_results.results(person, "delivery date, carrier", rng)   # values by name, a sentence each
"""

from __future__ import annotations

import datetime
import re

import numpy as np

from cxlab.benchmarks.cxmarena.brand import value_format
from cxlab.benchmarks.cxmarena.conversations import personas
from cxlab.benchmarks.cxmarena.conversations.personas import Persona
from cxlab.benchmarks.cxmarena.conversations.phrasebook import PhraseVars
from cxlab.files import grammar


def results(person: Persona, returns: str, rng: np.random.Generator) -> tuple[dict[str, str], list[str]]:
    """What a tool gives back, coined from the words of its `returns`, and each field as an agent tells it."""
    talk = person.talk
    found: dict[str, str] = {}
    told: list[str] = []
    in_hand = person.ledger.subjects[person.subject].root == "products"
    for item in (part.strip() for part in returns.split(",")):
        forms = (*person.brand.results, *talk.results)
        form = next((f for f in forms if re.search(f.match, item, re.IGNORECASE)), None)
        if form is None:
            continue
        if form.after and _has_no(person, form.after):
            continue  # a contract without a term has no end of one
        value, shown = _result(person, form.at_home if form.at_home and in_hand else form.value, rng)
        if form.after and (day := _day_after(person, form.after)):
            value, shown = day, personas.spoken_day(day, person.brand)
        key = form.name or item
        found[key] = value
        # Kept apart where two tools give back fields of one name.
        place = f"result: {key}"
        person.details[place if place not in person.details else f"{place} ({len(person.details)})"] = shown
        named = person.ledger.in_text(person.subject)
        said = person.ledger.in_text(shown)
        words = PhraseVars(talk, rng, {**person.life, "value": said, "subject": named})
        lines = form.told.get(value) or form.told["*"]
        told.append(person.brand.language.polish(grammar.piece(words.pick(lines), rng, words)).strip())
    return found, told


def _result(person: Persona, kind: str, rng: np.random.Generator) -> tuple[str, str]:
    """A value as the tool writes it and as people say it."""
    language = person.brand.language
    given = {n: p.sample for n in person.details if (p := person.brand.parameters.get(n))}
    wished = next((n for n, sample in given.items() if sample in ("date", "last_date")), None)
    if kind == "wished" and wished is not None:
        value = person.details[wished]
        return value, personas.spoken_day(value, person.brand)
    if kind in (*personas.SPANS, "wished"):
        value = personas.day(person.today, "later" if kind == "wished" else kind, rng)
        value = _after_launch(person, value) if kind in ("past", "weeks") else value
        person.began = datetime.date.fromisoformat(value) if kind == "past" else person.began
        return value, personas.spoken_day(value, person.brand)
    if kind in ("amount", "rest"):
        share = 1.2 + 2 * rng.random() if kind == "rest" else 0
        # A corrected bill is what the contract costs.
        rest = personas.monthly_fee(person) or float(person.amount) * share
        amount = person.amount if kind == "amount" else f"{rest:.2f}"
        shown = value_format.number(float(amount), language, 2)
        return amount, language.money.format(symbol=person.brand.symbol, amount=shown)
    if kind == "items":
        return f"1 × {person.goods}", person.goods
    if kind == "subject":
        return (plan := person.plan(rng)), plan
    if kind == "address":
        return person.home, person.home
    if kind.startswith("of:"):  # what the tool was given
        kind = kind[3:]
        value = person.value(kind, rng) if kind in person.brand.parameters else ""
        return value, value
    value = personas.code(kind, rng)
    return value, value


def _has_no(person: Persona, name: str) -> bool:
    """Whether the customer's contract lacks a property; of goods the customer's plan is not looked into."""
    family = person.brand.families[person.ledger.subjects[person.subject].family]
    return family.contract and person.ledger.stated(person.subject, name) is None


def _day_after(person: Persona, name: str) -> str:
    """The day that comes so long after the beginning as the contract's property says; "" where either is unknown."""
    fact = person.ledger.stated(person.subject, name)
    if fact is None or person.began is None or fact.unit not in ("month", "year"):
        return ""
    months = person.began.month - 1 + int(float(fact.value) * (12 if fact.unit == "year" else 1))
    # No month lacks the 28th.
    day = min(person.began.day, 28)
    return person.began.replace(year=person.began.year + months // 12, month=months % 12 + 1, day=day).isoformat()


def _after_launch(person: Persona, day: str) -> str:
    """The day, or the one on which what it is about was first to be had: nothing began before."""
    facts = person.ledger.of(person.subject)
    dated = [f.value for f in facts if person.brand.properties[f.property].kind == "date" and isinstance(f.value, str)]
    return max([day, *(value for value in dated if value < person.today.isoformat())])
