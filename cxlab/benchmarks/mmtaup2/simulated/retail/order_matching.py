"""What a customer's matter is about, among the account's own orders: which of them, which items, which address.

Somebody who has no number at hand speaks of things: "the lamp", "my pending order", "everything but the tablet", "the
one that went to Texas". All that is needed to tell them apart stands in the orders once they are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cxlab.benchmarks.mmtaup2.simulated.retail import item_matching
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import ADDRESS, CustomerWish, address_in

Row = Mapping[str, Any]
# The states of an order in which something can be done, the likelier first.
STATES = {
    "cancel": ("pending",),
    "return": ("delivered",),
    "undo": ("pending", "delivered"),
    "exchange": ("delivered", "pending"),
    "items": ("pending", "delivered"),
    "address": ("pending",),
    "payment": ("pending",),
}
_ALL = re.compile(r"\ball\b|\bevery(?:thing)?\b|\bboth\b|\bany\b", re.IGNORECASE)
_WHOLE = re.compile(
    r"\b(?:everything|all (?:(?:of )?(?:the|my|these) )?(?:items?|things?|products|the rest))\b", re.IGNORECASE
)
_ALL_ORDERS = re.compile(r"\ball (?:(?:of )?my )?(?:\w+ )?orders\b", re.IGNORECASE)
_BUT = re.compile(r"\b(?:except|but(?! also| not| I| it| only if)|other than|apart from)\b", re.IGNORECASE)
_PENDING = re.compile(
    r"\bpending\b|\bjust (?:placed|ordered|bought)\b|\bnot (?:yet )?(?:been )?(?:arrived|shipped)\b|n't arrived\b", re.I
)
_DELIVERED = re.compile(r"\breceived\b|\bdelivered\b|\barrived\b|\bgot\b", re.IGNORECASE)
_NOT_YET = re.compile(r"n't (?:yet )?arrived|not (?:yet )?(?:been )?(?:arrived|shipped|delivered)", re.IGNORECASE)
_ORDERS = re.compile(r"\border", re.IGNORECASE)
_PLACES = {
    "new york": "NY", "nyc": "NY", "big apple": "NY", "texas": "TX", "california": "CA", "florida": "FL",
    "washington": "WA", "colorado": "CO", "illinois": "IL", "arizona": "AZ", "pennsylvania": "PA", "ohio": "OH",
    "indiana": "IN", "dc": "DC", "north carolina": "NC", "nevada": "NV", "tennessee": "TN", "georgia": "GA",
    "massachusetts": "MA", "oregon": "OR",
}  # fmt: skip


@dataclass
class Pick:
    """An item of an order and the words that are about it."""

    item: Row
    words: str


@dataclass
class Target:
    """An order that a matter is about; without `picks` all of it."""

    order: Row
    picks: list[Pick] = field(default_factory=list)
    partial: bool = False
    """Whether the text speaks of single things of it."""

    @property
    def id(self) -> str:
        return str(self.order["order_id"])


def targets(matter: CustomerWish, orders: Sequence[Row]) -> list[Target]:
    """The orders that a matter without a number can only be about, each with its items; [] if that is not clear."""
    text = matter.text
    fitting = [one for one in orders if _may(one, matter.kind, f"{matter.lead} {text}")]
    found = mentions_in(text, fitting or orders)
    if not found and not _WHOLE.search(text) and (found := mentions_in(matter.lead, fitting)):
        text = f"{matter.lead} {text}"
        found = mentions_in(text, fitting)
    if not found or (_WHOLE.search(text) and not _BUT.search(text)):
        return _without_goods(text, fitting)
    if (_WHOLE.search(text) or _ALL_ORDERS.search(text)) and (cut := _BUT.search(text)):
        return _all_but(text[: cut.start()], text[cut.end() :], fitting)
    return _with_goods(text, matter.kind, found, fitting)


def every_item(text: str, order: Row) -> list[Pick]:
    """All items of the order for a text about all of them; none for another."""
    return [Pick(item, " ".join(item_matching.plain(text))) for item in order["items"]] if _WHOLE.search(text) else []


def mentions_in(text: str, orders: Sequence[Row]) -> tuple[item_matching.Mention, ...]:
    names = tuple(dict.fromkeys(str(item["name"]) for one in orders for item in one.get("items", [])))
    return item_matching.mentions(text, names)


def picks_in(text: str, order: Row) -> list[Pick]:
    """The items of an order that a text names, each with the words about it; alike ones in the text's order."""
    found = mentions_in(text, [order])
    return _picks(text, found, order)


def _picks(text: str, found: Sequence[item_matching.Mention], order: Row, several: bool = False) -> list[Pick]:
    left = list(order.get("items", []))
    picked: list[Pick] = []
    for at, mention in enumerate(found):
        words = item_matching.piece(text, found, at)
        if _beside(text, mention) and len(found) > 1:
            continue
        mine = [item for item in left if item["name"] in mention.names]
        if not mine:
            # Spoken of again: what is said here is about it, too.
            again = next((p for p in reversed(picked) if p.item["name"] in mention.names), None)
            if again is not None:
                again.words += f" {words}"
            continue
        # Of two alike, the one whose options stand in the words.
        about = re.split(" (?:to|for) ", words)[0]
        chosen = mine if several else [max(mine, key=lambda item: _likeness(about, item))]
        again = next((p for p in picked if p.item["name"] in mention.names), None)
        if again is not None and not several and not re.search(r"\banother\b|\bother\b|\bsecond\b", words):
            again.words += f" {words}"
            continue
        for item in chosen:
            left.remove(item)
            picked.append(Pick(item, words))
    return picked


def _beside(text: str, mention: item_matching.Mention) -> bool:
    """Whether something is only named to tell its neighbour: "the bag I got with the lamp"."""
    words = item_matching.plain(text)[max(0, mention.first - 3) : mention.first]
    return "with" in words and words[-1] in ("with", "the", "a", "an", "my")


def _likeness(words: str, item: Row) -> int:
    own = set(words.split())
    return sum(len(own & set(item_matching.plain(str(value)))) for value in item.get("options", {}).values())


def _may(order: Row, kind: str, text: str) -> bool:
    status = str(order.get("status", ""))
    if kind in ("track", "parcel"):
        return True
    if kind == "address":
        return status.startswith("pending")
    states = STATES.get(kind, ("pending", "delivered"))
    if len(states) > 1:
        waiting = _PENDING.search(text)
        arrived = _DELIVERED.search(_NOT_YET.sub(" ", text))
        if waiting and not arrived:
            states = ("pending",)
        elif arrived and not waiting:
            states = ("delivered",)
    return status in states


def _without_goods(text: str, fitting: Sequence[Row]) -> list[Target]:
    places = places_in(text)
    if places and len(fitting) > 1:
        near = [one for one in fitting if _lies(one.get("address", {}), places)]
        fitting = near or fitting
    if len(fitting) == 1 or _ALL.search(text) or re.search(r"\borders\b", text, re.IGNORECASE):
        return [Target(one) for one in fitting]
    return []


def _all_but(before: str, after: str, fitting: Sequence[Row]) -> list[Target]:
    """ "all items but the tablet": of the orders with a tablet, if one order is spoken of, else of all."""
    found = mentions_in(after, fitting)
    names = {name for mention in found for name in mention.names}
    places = places_in(before)
    chosen = [one for one in fitting if not places or _lies(one.get("address", {}), places)] or list(fitting)
    if re.search(
        r"\b(?:an|the|that|this|my|recent\w*|delivered|same) order\b|\bin it\b", f"{before} {after}", re.IGNORECASE
    ):
        chosen = [one for one in chosen if any(item["name"] in names for item in one["items"])] or chosen
    targets = []
    for one in chosen:
        kept = [Pick(item, before) for item in one["items"] if item["name"] not in names]
        if kept:
            targets.append(Target(one, kept, partial=len(kept) < len(one["items"])))
    return targets


def _with_goods(text: str, kind: str, found: Sequence[item_matching.Mention], fitting: Sequence[Row]) -> list[Target]:
    plural = bool(_ALL.search(text))
    wanted = {names for mention in found if (names := mention.names)}
    scores = [(sum(any(i["name"] in names for i in one["items"]) for names in wanted), one) for one in fitting]
    able = [(score, one) for score, one in scores if score]
    if not able:
        return []
    if not plural:
        # The fewest orders that have everything, those with most of it first.
        chosen: list[Row] = []
        left = set(wanted)
        states = STATES.get(kind, ())
        rank = {state: place for place, state in enumerate(states)}
        for _, one in sorted(able, key=lambda p: (-p[0], rank.get(str(p[1]["status"]), 9), -_fit(text, p[1]))):
            here = {names for names in left if any(i["name"] in names for i in one["items"])}
            if here:
                chosen.append(one)
                left -= here
    else:
        chosen = [one for _, one in able]
    targets = []
    taken: set[tuple[str, ...]] = set()
    for one in chosen:
        picks = [
            p for p in _picks(text, found, one, several=plural) if not plural or _qualified(text, found, p.item, chosen)
        ]
        fresh = [p for p in picks if plural or not any(p.item["name"] in names for names in taken)]
        taken |= {names for names in wanted for p in fresh if p.item["name"] in names}
        if fresh:
            targets.append(Target(one, fresh, partial=len(fresh) < len(one["items"])))
    return targets


def _qualified(text: str, found: Sequence[item_matching.Mention], item: Row, orders: Sequence[Row]) -> bool:
    """Whether an item is one of "all my small shirts", and not of those that are large."""
    mention = next((m for m in found if item["name"] in m.names), None)
    if mention is None:
        return True
    before = " ".join(item_matching.plain(text)[max(0, mention.first - 2) : mention.first])
    alike = [other for one in orders for other in one["items"] if other["name"] == item["name"]]
    fits = [item_matching.says(before, other["options"]) for other in alike]
    return not any(fits) or item_matching.says(before, item["options"])


def _fit(text: str, order: Row) -> int:
    places = places_in(text)
    words = " ".join(item_matching.plain(text))
    return max((_likeness(words, i) for i in order["items"]), default=0) + 5 * (
        bool(places) and _lies(order["address"], places)
    )


# Addresses


def places_in(text: str) -> set[str]:
    """The states that a text names, by name or by a city's."""
    low = text.lower()
    return {code for name, code in _PLACES.items() if re.search(rf"\b{name}\b", low)}


def _lies(address: Row, places: set[str]) -> bool:
    return address.get("state") in places


def address_for(text: str, user: Row, orders: Sequence[Row], present: Row | None) -> dict[str, str] | None:
    """The address that a text means: spelt out, by a changed line, or one that the account has already.

    `present` is the address that is to be replaced.
    """
    spelt = address_in(text) or _loose(text, user, present)
    if spelt is not None:
        return spelt
    known: list[Row] = []
    for one in [user.get("address", {}), *(order.get("address", {}) for order in orders)]:
        if one and one not in known:
            known.append(one)
    others = [one for one in known if one != present]
    low = text.lower()
    named = [
        one
        for one in others
        if re.search(rf"\b{re.escape(str(one['city']).lower())}\b", low) or _lies(one, places_in(text))
    ]
    if len(named) == 1:
        return {k: str(v) for k, v in named[0].items()}
    if (
        re.search(r"\b(?:default|original|profile|home|my address)\b", low)
        and present != user.get("address")
        and not named
    ):
        return {k: str(v) for k, v in user.get("address", {}).items()}
    if len(others) == 1 and re.search(r"\border|\b(?:home|house|place)\b|'s address\b|\bcurrent address\b", low):
        return {k: str(v) for k, v in others[0].items()}
    return None


_STREET = re.compile(
    r"(?P<address1>\d+ [A-Z][\w']*(?: [A-Z][\w']*)*),? (?:(?P<address2>(?:Suite|Apt|Apartment|Unit)\.? ?#?\w+),? )?"
    r"(?:in )?(?P<city>[A-Z][\w']*(?: [A-Z][\w']*)*),? (?:(?P<state>[A-Z]{2}|"
    r"[A-Z][a-z]+(?: [A-Z][a-z]+)?),? )?(?P<zip>\d{5})"
)
_UNIT = re.compile(r"\b(?P<unit>(?:Suite|Apt|Apartment|Unit)\.? ?#?\w+)\b", re.IGNORECASE)
_HOUSE = re.compile(
    r"\b(?P<house>\d+ [A-Z][\w']+ (?:Street|Avenue|Road|Lane|Drive|Highway|Boulevard|Way|Court|St|Ave|Rd|Dr))\b"
)


def _loose(text: str, user: Row, present: Row | None) -> dict[str, str] | None:
    """An address in a freer form; a line alone ("Suite 641 instead") changes that line of the present address."""
    found = next(iter(reversed(list(_STREET.finditer(text)))), None)
    if found is not None and not ADDRESS.search(text):
        state = found["state"] or ""
        code = state if len(state) == 2 else _PLACES.get(state.lower(), _PLACES.get(found["city"].lower(), ""))
        return {
            "address1": found["address1"], "address2": found["address2"] or "", "city": found["city"], "state": code,
            "zip": found["zip"], "country": str((present or user.get("address", {})).get("country", "USA")),
        }  # fmt: skip
    base = present or user.get("address")
    unit, house = _UNIT.search(text), _HOUSE.search(text)
    if base and (unit or house):
        changed = {k: str(v) for k, v in base.items()}
        if house:
            changed["address1"] = house["house"]
        if unit:
            changed["address2"] = unit["unit"]
        return changed if changed != base else None
    return None
