"""How simulated agents and customers of the shop put things, and how an agent takes up what a customer wants.

A customer's wish is a *matter*: one of ten kinds, told by a word or two, with order, items, method and address in the
same sentences. What was misheard is looked for among what the account really has, as well as the reader's ear can.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cxlab.benchmarks.mmtaup2.phone_talk import pick
from cxlab.benchmarks.yaml_files import read
from cxlab.errors import BadFile
from cxlab.llm.simulated import grammar
from cxlab.records.base import Record

FILE = Path(__file__).resolve().parents[3] / "data" / "personas" / "retail_talk.yaml"
KINDS = tuple(
    (kind, re.compile(text, re.IGNORECASE))
    for kind, text in (
        ("parcel", r"\bparcel\b|\blook into it\b"),
        ("track", r"\btracking\b"),
        ("cheapest", r"\bcheapest\b"),
        ("home", r"\bhave moved\b|\baccount should\b|\baddress of your account\b"),
        ("address", r"\banother address\b|\bother address\b"),
        ("items", r"\bother variants?\b"),
        ("exchange", r"\bexchange\b"),
        ("return", r"\bsend(?:ing)? back\b|\breturn\b"),
        ("payment", r"\bpay\b.*\binstead\b"),
        ("cancel", r"\bcancel\b"),
    )
)
ORDER = re.compile(r"#?\bW ?\d{5,8}\b", re.IGNORECASE)
ADDRESS = re.compile(
    r"(?P<address1>\d+ [A-Z][\w' ]+?)(?:, (?P<address2>[^,]+))?, (?P<city>[A-Z][\w' .-]+), "
    r"(?P<state>[A-Z]{2}) (?P<zip>\d{5}), (?P<country>\w+)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class ShopTalk(Record):
    customer: dict[str, dict[str, tuple[str, ...]]]
    agent: dict[str, tuple[str, ...]]


@functools.cache
def phrases() -> ShopTalk:
    found, complaints = read(FILE, ShopTalk, "see the head of the file")
    if found is None:
        raise BadFile(FILE, complaints[0].line, complaints[0].problem, complaints[0].fix)
    return found


def customer_line(kind: str, hard: bool, rng: np.random.Generator, slots: Mapping[str, str] | None = None) -> str:
    lines = phrases().customer[kind]
    return grammar.say(pick(lines["hard"] if hard and "hard" in lines else lines["none"], rng), rng, slots or {})


def agent_line(kind: str, rng: np.random.Generator, slots: Mapping[str, str] | None = None) -> str:
    return grammar.say(pick(phrases().agent[kind], rng), rng, slots or {})


@dataclass
class Matter:
    """One thing that a customer wants, in the customer's words."""

    kind: str
    text: str
    at: int = 0


@functools.lru_cache(maxsize=20_000)
def _kinds(text: str) -> tuple[tuple[str | None, str], ...]:
    return tuple(
        (next((kind for kind, cue in KINDS if cue.search(part)), None), part) for part in _SENTENCE.split(text) if part
    )


def matters_in(texts: Iterable[tuple[int, str]]) -> list[Matter]:
    """The matters of a customer's messages in order; a sentence that names none belongs to the one before.

    The same kind again with the same order, or without one, or after "that is not right", is the same matter told anew.
    """
    found: list[Matter] = []
    for at, text in texts:
        anew = bool(re.search(r"not right|is wrong|is not wright", text, re.IGNORECASE))
        for kind, part in _kinds(text):
            last = found[-1] if found else None
            if kind is None:
                if last is not None:
                    last.text = f"{last.text} {part}"
                continue
            if last is not None and last.kind == kind and last.at == at and not ORDER.search(part):
                last.text = f"{last.text} {part}"
                continue
            order = order_in(part)
            same = [m for m in found if m.kind == kind and (anew or order is None or order == order_in(m.text))]
            if same and same[-1].at != at:
                same[-1].text, same[-1].at = part, at
                if anew:
                    found.remove(same[-1])
                    found.append(same[-1])
            else:
                found.append(Matter(kind, part, at))
    return found


def order_in(text: str) -> str | None:
    """The last order number of a text, as the shop writes it."""
    numbers = ORDER.findall(text)
    return "#" + numbers[-1].replace(" ", "").lstrip("#").upper() if numbers else None


def near(text: str, options: Mapping[str, str], ear: float) -> str | None:
    """The key of the option that a text most likely names; a poor ear wants it nearly word for word."""
    from rapidfuzz import fuzz

    # 100 at no ear at all, about 75 for a very good one.
    least = 100 - 28 * ear
    low = text.lower()
    scored = sorted(((fuzz.partial_ratio(said.lower(), low), key) for key, said in options.items()), reverse=True)
    if not scored or scored[0][0] < least or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        return None
    return scored[0][1]


def near_order(wanted: str, orders: Iterable[str], ear: float) -> str | None:
    """The account's order that a number was most likely meant as: one or two signs off, and no other as near."""
    from rapidfuzz.distance import OSA

    scored = sorted((OSA.distance(wanted, order), order) for order in orders)
    if not scored or scored[0][0] > 2 * ear or (len(scored) > 1 and scored[1][0] == scored[0][0]):
        return None
    return scored[0][1]


def method_named(name: str, method: Mapping[str, Any]) -> str:
    """A payment method as one speaks of it."""
    match method.get("source"):
        case "credit_card":
            return f"the {method.get('brand')} card ending in {method.get('last_four')}"
        case "gift_card":
            return f"the gift card {name.removeprefix('gift_card_')}"
    return "PayPal"


def methods_in(text: str, methods: Mapping[str, Mapping[str, Any]], ear: float) -> str | None:
    """The id of the payment method that a text names."""
    return near(text, {name: method_named(name, method) for name, method in methods.items()}, ear)


def address_in(text: str) -> dict[str, str] | None:
    found = list(ADDRESS.finditer(text))
    return {name: value or "" for name, value in found[-1].groupdict().items()} if found else None
