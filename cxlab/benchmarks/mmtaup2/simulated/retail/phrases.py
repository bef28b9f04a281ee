"""How simulated agents and customers of the shop put things, and how an agent takes up what a customer wants.

A customer's wish is a *matter*: one of ten kinds, told by a word or two, with order, items, method and address in the
same sentences. What was misheard is looked for among what the account really has, as well as the reader's ear can.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxlab import files, resources
from cxlab.files import grammar
from cxlab.records.base import Record

FILE = resources.data("simulated", "mmtaup2", "retail_phrases.yaml")
# What is told by a noun or a turn of phrase, and by no verb of doing.
KINDS = tuple(
    (kind, re.compile(text, re.IGNORECASE))
    for kind, text in (
        ("parcel", r"\bparcel\b|\blook into it\b"),
        ("track", r"\btracking\b"),
        ("cheapest", r"\bcheapest\b.*\?|\bprice of the cheapest\b"),
        ("home", r"\bhave moved\b|\baccount should\b|\baddress of your account\b"),
        ("address", r"\banother address\b|\bother address\b"),
        ("items", r"\bother variants?\b"),
        ("payment", r"\bpay\b.*\binstead\b"),
        ("human", r"\bhuman\b|\brepresentative\b|\bsupervisor\b"),
        ("return", r"\bget (?:a|my) refund\b"),
        ("exchange", r"\bnew pair\b"),
    )
)
# A verb of doing, and the small words that lead up to it; behind an article it is a noun.
_VERB = re.compile(
    r"\b(?P<cancel>cancel(?:l?ing)?)\b|\b(?P<return>return(?:ing)?|send(?:ing)? (?=[\w -]*\bback\b))|"
    r"\b(?P<exchange>exchang(?:e|ing)|swap|replace)\b|\b(?P<items>modify|chang(?:e|ing)(?! (?:my|your) mind)|"
    r"switch|upgrade|"
    r"update|correct)\b",
    re.IGNORECASE,
)
_GLUE = frozenset((
    "and", "then", "also", "to", "want", "wants", "wish", "i", "i'd", "would", "like", "please", "just", "only",
    "not", "do", "don't", "or", "but", "lastly", "finally", "help", "me", "can", "could", "you", "wonder", "if",
    "need", "actually", "now", "first", "agree", "intend", "considering", "rather",
))  # fmt: skip
_NOUN = frozenset((
    "the", "a", "an", "my", "your", "this", "that", "any", "of", "its", "their", "no", "require", "requires",
    "about", "after", "before", "for", "without", "than", "by",
))  # fmt: skip
_NOT = re.compile(r"\b(?:not|don't|no longer want to)\b", re.IGNORECASE)
_ADDRESS = re.compile(r"\baddress|\bdeliver(?:ed|y)?\b|\bship(?:ped|ping)?\b|\bsent to\b", re.IGNORECASE)
_HOME = re.compile(r"\b(?:user|default|profile|account)\b(?: \w+)? address|\baddress of your account\b", re.IGNORECASE)
_ORDERS = re.compile(r"\border(?:s|'s)?\b(?! something)", re.IGNORECASE)
_PAYMENT = re.compile(r"\bpayment(?: method)?\b(?=.*\bto\b)", re.IGNORECASE)
# "I have moved. My account should show the new address." is one matter.
_TOLD_IN_TWO = frozenset(("home", "parcel"))
# What is to be if not says nothing of what is wanted.
_ELSE = re.compile(r"otherwise\b", re.IGNORECASE)
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_REVOKES = re.compile(r"\bchanged? my mind\b|\bforget about (?:it|that)\b", re.IGNORECASE)
_KEEPS = re.compile(r"\bkeep (?:it|them|the order)\b|\bno cancel", re.IGNORECASE)
# The letter in front is forgotten by some; gift cards have seven digits, too, so that it has to be called an order.
ORDER = re.compile(r"#?\bW ?\d{5,8}\b|(?:(?<=order )|(?<=number )|(?<=It is )|(?<=ID ))\d{7}\b", re.IGNORECASE)
ADDRESS = re.compile(
    r"(?P<address1>\d+ [A-Z][\w' ]+?)(?:, (?P<address2>[^,]+))?, (?P<city>[A-Z][\w' .-]+), "
    r"(?P<state>[A-Z]{2}) (?P<zip>\d{5}), (?P<country>\w+)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class RetailPhrases(Record):
    customer: dict[str, dict[str, tuple[str, ...]]]
    agent: dict[str, tuple[str, ...]]


@functools.cache
def phrases() -> RetailPhrases:
    return files.load_model(FILE, RetailPhrases, "see the head of the file")


def customer_line(kind: str, person: str, rng: np.random.Generator, slots: Mapping[str, str] | None = None) -> str:
    lines = phrases().customer[kind]
    return grammar.say_one(lines.get(person, lines["none"]), rng, slots)


def agent_line(kind: str, rng: np.random.Generator, slots: Mapping[str, str] | None = None) -> str:
    return grammar.say_one(phrases().agent[kind], rng, slots)


@dataclass
class CustomerWish:
    """One thing that a customer wants, in the customer's words; `lead` are those that lead up to it."""

    kind: str
    text: str
    at: int = 0
    lead: str = ""
    only: str = ""
    """What it was narrowed down to later on: "only the lamp"."""


@dataclass(frozen=True)
class Part:
    """A piece of a sentence: what it wants (None for nothing), its words, what led up to them, whether it denies it."""

    kind: str | None
    text: str
    lead: str = ""
    denied: bool = False


@functools.lru_cache(maxsize=20_000)
def parts(text: str) -> tuple[Part, ...]:
    """What a message wants, piece by piece."""
    return tuple(
        part
        for sentence in _SENTENCE.split(text)
        if sentence and not _ELSE.match(sentence)
        for part in _parts_of(sentence)
    )


def _parts_of(sentence: str) -> list[Part]:
    """A sentence cut before each of its verbs of doing: "return the lamp and exchange the desk" wants two things."""
    cuts: list[tuple[int, int, str]] = []
    for verb in _VERB.finditer(sentence):
        before = list(re.finditer(r"[\w']+", sentence[: verb.start()]))
        last = before[-1][0].lower() if before else ""
        if last in _NOUN or not re.match(r"\s*[\w#{(]", sentence[verb.end() :]):
            continue
        kind = str(verb.lastgroup)
        if cuts and last == "or":
            # "cancel or return" is either, as the order allows; of "exchange or return" the first is wanted more.
            if {cuts[-1][2], kind} == {"cancel", "return"}:
                cuts[-1] = (*cuts[-1][:2], "undo")
            continue
        start = verb.start()
        for word in reversed(before):
            if word[0].lower() not in _GLUE:
                break
            start = word.start()
        cuts.append((start, verb.start(), kind))
    if not cuts:
        found = next((kind for kind, cue in KINDS if cue.search(sentence)), None)
        return [Part(found, sentence)]
    parts = []
    for place, (start, verb_at, kind) in enumerate(cuts):
        end = cuts[place + 1][0] if place + 1 < len(cuts) else len(sentence)
        lead = sentence[:start] if place == 0 else ""
        words = sentence[start:end]
        denied = bool(_NOT.search(sentence[start:verb_at]))
        tracked = lead and next((k for k, cue in KINDS[:2] if cue.search(lead)), None)
        if tracked:
            parts.append(Part(tracked, lead))
        parts += [Part(one, words, lead, denied) for one in _kinds_of(kind, words, lead)]
    return parts


def _kinds_of(verb: str, words: str, lead: str = "") -> list[str]:
    if verb != "items":
        return [verb]
    if re.search(r"\b(?:it|them)\W*$", words) and "address" in lead:
        words = f"{lead} {words}"
        if "order" not in words:
            return ["home"]
    if _HOME.search(words):
        rest = _HOME.sub(" ", words)
        return ["home", "address"] if _ORDERS.search(rest) and re.search(r"\band\b|\ball\b", rest) else ["home"]
    if _ADDRESS.search(words):
        return ["address"]
    return ["payment"] if _PAYMENT.search(words) else ["items"]


def matters_in(texts: Iterable[tuple[int, str]]) -> list[CustomerWish]:
    """The matters of a customer's messages in order; a sentence that names none belongs to the one before.

    The same kind again with the same order, or without one, or after "that is not right", is the same matter told anew.
    What is wanted "only" takes the place of all of its kind, and what is no longer wanted goes.
    """
    found: list[CustomerWish] = []
    before = ""
    for at, text in texts:
        anew = bool(re.search(r"not right|is wrong|is not wright", text, re.IGNORECASE))
        if _REVOKES.search(text):
            found = []
        if _KEEPS.search(text):
            found = [m for m in found if m.kind != "cancel"]
        told = len(found)
        for part in parts(text):
            last = found[-1] if found else None
            if part.kind is None:
                if last is not None:
                    last.text = f"{last.text} {part.text}"
                else:
                    before = f"{before} {part.text}".strip()
                continue
            swaps = ("exchange", "items") if part.kind in ("exchange", "items") else (part.kind,)
            if part.denied:
                found = [m for m in found if m.kind not in swaps or m.at == at]
                told = min(told, len(found))
                continue
            if _ONLY.search(part.text) and (earlier := [m for m in found if m.kind in swaps and m.at != at]):
                for one in earlier:
                    one.only = part.text
                continue
            if last is not None and last.kind == part.kind and last.at == at and part.kind in _TOLD_IN_TWO:
                last.text = f"{last.text} {part.text}"
                continue
            order = order_in(part.text)
            same = [m for m in found[:told] if m.kind == part.kind and _is_of(m, part.text, order, anew)]
            if same and same[-1].at != at:
                # What was told of it before still holds, but for what is put right.
                kept = "" if anew or order is not None else f"{same[-1].text} "
                same[-1].text, same[-1].at = kept + part.text, at
                if anew:
                    found.remove(same[-1])
                    found.append(same[-1])
            else:
                found.append(
                    CustomerWish(part.kind, part.text, at, f"{before} {part.lead}".strip() if not found else part.lead)
                )
    return found


def revokes(text: str) -> bool:
    """Whether all that was wanted before is wanted no longer."""
    return bool(_REVOKES.search(text))


def _is_of(matter: CustomerWish, text: str, order: str | None, anew: bool) -> bool:
    """Whether a text tells a matter anew: put right, with its number, or begun in the same words."""
    known = order_in(matter.text)
    if anew or (order is not None and order == known):
        return True
    begins = re.findall(r"\w+", re.split(r"[.:?]", ORDER.sub("", matter.text))[0])
    again = re.findall(r"\w+", text)[: len(begins)] == begins
    return (order is None and again) or (order is not None and known is None and again)


def order_in(text: str) -> str | None:
    """The last order number of a text, as the shop writes it."""
    numbers = ORDER.findall(text)
    return "#W" + numbers[-1].replace(" ", "").lstrip("#wW") if numbers else None


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


_METHODS = (
    ("paypal", re.compile(r"\bpay ?pal\b", re.IGNORECASE)),
    ("gift_card", re.compile(r"\bgift ?card\b", re.IGNORECASE)),
    (
        "credit_card",
        re.compile(r"\bcredit card\b|\bvisa\b|\bmaster ?card\b|\bamex\b|\bamerican express\b", re.IGNORECASE),
    ),
)
ORIGINAL = re.compile(
    r"\boriginal\b|\bsame (?:payment|card|method)\b|\b(?:what|one) i paid\b|\bi paid with\b|\bpaid for it\b", re.I
)


def methods_in(text: str, methods: Mapping[str, Mapping[str, Any]], ear: float) -> str | None:
    """The id of the payment method that a text names, in full or by its sort if there is one of that sort alone."""
    named = near(text, {name: method_named(name, method) for name, method in methods.items()}, ear)
    if named is not None:
        return named
    for sort, cue in _METHODS:
        said = cue.search(text)
        if said is None:
            continue
        able = [name for name, method in methods.items() if method.get("source") == sort]
        brand = [name for name in able if str(methods[name].get("brand", "?")).lower() in said[0].lower()]
        if len(brand or able) == 1:
            return (brand or able)[0]
    return None


def address_in(text: str) -> dict[str, str] | None:
    found = list(ADDRESS.finditer(text))
    return {name: (value or "").strip() for name, value in found[-1].groupdict().items()} if found else None
