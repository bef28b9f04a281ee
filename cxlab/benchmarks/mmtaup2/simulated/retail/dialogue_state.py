"""What the simulated agent of the shop knows at a point of a talk: account, orders, what each matter is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.benchmarks.mmtaup2.simulated.agent_steps import MOST, AgentSteps
from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import (
    ASKS_WHY,
    DISTRUST,
    FRUSTRATION,
    HURRY,
    IMPATIENT,
    SKILL,
    UPSET_FROM,
    DialogueState,
    NextAction,
    OwnCall,
)
from cxlab.benchmarks.mmtaup2.simulated.known_words import knows
from cxlab.benchmarks.mmtaup2.simulated.retail import (
    free_speech,
    item_matching,
    order_matching,
    phrases,
    reactions,
)
from cxlab.benchmarks.mmtaup2.simulated.retail.order_matching import Pick, Target
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import CustomerWish, agent_line
from cxlab.benchmarks.mmtaup2.simulated.typed import is_typed
from cxlab.files import grammar

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
NAMED = re.compile(r"\bname is ([A-Z][\w'-]+) ([A-Z][\w'-]+)")
ZIP = re.compile(r"\b\d{5}\b")
LOST = re.compile(r"don't know|do not know|no idea|don't remember|do not remember|don't have|can't tell", re.IGNORECASE)
ASKS_ORDER = re.compile(r"order number|these orders of yours", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!?])\s+")
TOOLS = {
    "cancel": "cancel_pending_order",
    "address": "modify_pending_order_address",
    "home": "modify_user_address",
    "payment": "modify_pending_order_payment",
    "items": "modify_pending_order_items",
    "exchange": "exchange_delivered_order_items",
    "return": "return_delivered_order_items",
}
# States in which a matter's order can hardly be the one that is meant.
ELSEWHERE = {"return": ("pending",), "exchange": ("processed", "cancelled"), "items": ("processed", "cancelled")}


class RetailDialogueState(AgentSteps):
    """The shop's books as far as they have been looked up, and the customer's matters compared with them."""

    user_id: str
    user: OwnCall | None
    methods: Mapping[str, Any]

    def __init__(self, mind: DialogueState) -> None:
        super().__init__(mind)
        said, mind.theirs = (
            mind.theirs,
            [(at, free_speech.put_plainly(text, mind.asked_before(at))) for at, text in mind.theirs],
        )
        self.said = [text for _, text in said]
        self.ear = mind.profile.subtlety if mind.profile.comprehension else 0.0
        share = self.profile.comprehension
        # What a stand-in would not say so is a person's: it is read as it stands.
        own = {at for (at, text), (_, plain) in zip(said, mind.theirs, strict=True) if text != plain} | {
            at for at, text in said if free_speech.is_plain_answer(text) or is_typed(text)
        }
        self.in_own_words = bool(own)
        self.typed = any(is_typed(text) for text in self.said)
        heard = [
            (at, text)
            for at, text in mind.theirs
            if (share and at in own) or knows(self.profile, f"heard {text}", share)
        ]
        # Who asks for a person in the middle of a talk is answered first: that is no matter among the others.
        beside = {at for at, text in said[1:] if reactions.find(text) == "human"}
        self.matters = [one for one in phrases.matters_in(heard) if one.kind != "human" or one.at not in beside]
        self.heard = " ".join(text for _, text in heard)
        skill, frustration = SKILL.search(mind.note), FRUSTRATION.search(mind.note)
        upset = frustration is not None and int(frustration[1]) >= UPSET_FROM
        brisk = HURRY.search(mind.note) is not None
        asked_why = [text for _, text in mind.theirs if ASKS_WHY.search(text)]
        self.reasons = DISTRUST.search(mind.note) is not None or any(
            knows(self.profile, f"cue why {text}", self.profile.subtlety) for text in asked_why
        )
        self.gently = not brisk and bool((skill and int(skill[1]) <= 4) or IMPATIENT.search(mind.note) or upset)

    def identify(self) -> NextAction | None:
        mind = self.mind
        found = mind.done("find_user_id_by_email") or mind.done("find_user_id_by_name_zip")
        if found is None:
            spoken = re.sub(r" (?:at|add|et) (?=[\w-]+\.)", "@", re.sub(r"(?<=\w) dot (?=\w)", ".", self.heard))
            for email in reversed(EMAIL.findall(spoken)):
                if not self.spent("find_user_id_by_email", email=email.rstrip(".")):
                    return NextAction(tool="find_user_id_by_email", arguments={"email": email.rstrip(".")})
            for first, last in reversed(NAMED.findall(self.heard)):
                for code in reversed(ZIP.findall(self.heard)):
                    who = {"first_name": first, "last_name": last, "zip": code}
                    if not self.spent("find_user_id_by_name_zip", **who):
                        return NextAction(tool="find_user_id_by_name_zip", arguments=who)
            if self.profile.comprehension == 0:
                return NextAction(grammar.every(phrases.phrases().agent["ask_identity"][0])[0])
            times = self.mind.asked(re.compile(r"zip code|e-mail address", re.IGNORECASE))
            if times > MOST:
                return self.hand_over("The customer's account could not be found.")
            if times and not any(m.tool.startswith("find_user_id") for m in self.mind.made):
                return NextAction(self.line("ask_identity_still"))
            nobody = [m for m in mind.made if m.tool == "find_user_id_by_name_zip" and m.error]
            if self.in_own_words and nobody and {"first_name", "last_name", "zip"} <= nobody[-1].arguments.keys():
                who = nobody[-1].arguments
                name = f"{who['first_name']} {who['last_name']}"
                return NextAction(self.line("ask_identity_nobody", name=name, zip=str(who["zip"])))
            return NextAction(self.line("ask_identity" if times == 0 else "ask_identity_again"))
        self.user_id = str(found.value)
        self.user = mind.done("get_user_details", user_id=self.user_id)
        if self.user is None:
            return self.call("get_user_details", {"user_id": self.user_id})
        self.methods = self.user.value.get("payment_methods", {})
        return None

    # Orders

    def targets(self, matter: CustomerWish) -> list[Target] | NextAction | None:
        """The orders that a matter is about, looked up; a step to get there; None when that is given up."""
        own = [str(one) for one in self.user.value.get("orders", [])] if self.user else []
        number = phrases.order_in(matter.text) or phrases.order_in(matter.lead) or self.told_before(matter)
        given = number
        if number is not None and number not in own:
            number = phrases.near_order(number, own, self.ear)
        if number is not None:
            looked = self.look(number)
            if isinstance(looked, NextAction) or looked is None:
                return looked
            picks = self.narrowed(matter, order_matching.picks_in(matter.text, looked.value))
            if (
                not picks
                and matter.kind in ("return", "exchange", "items")
                and looked.value["status"] in ELSEWHERE[matter.kind]
            ):
                # The number may be wrong: the goods that are spoken of tell better which order it is.
                rows = self.all_orders(own)
                if isinstance(rows, NextAction):
                    return rows
                nameless = CustomerWish(matter.kind, phrases.ORDER.sub("", matter.text), matter.at)
                if found := [one for one in order_matching.targets(nameless, rows) if one.picks]:
                    return found
            partial = bool(picks) and len(picks) < len(looked.value["items"])
            return [Target(looked.value, picks, partial)]
        asked = self.mind.asked(ASKS_ORDER)
        if given is not None and not self.rule("own orders"):
            looked = self.look(given)
            return looked if isinstance(looked, NextAction) or looked is None else [Target(looked.value)]
        if not self.looks_up():
            if asked >= MOST + len(self.matters):
                return None
            return NextAction(self.line("ask_order" if given is None else "ask_order_again"))
        rows = self.all_orders(own)
        if isinstance(rows, NextAction):
            return rows
        found = self.among(matter, rows)
        if not found and rows and self.typed and given is None and asked < MOST + len(self.matters):
            # A person is told what there is to choose from, and not asked the same over and over.
            return NextAction(self.line("which_order", orders="; ".join(map(_in_words, rows))))
        if not found and asked < MOST + len(self.matters) and given is None and not self.lost():
            return NextAction(self.line("ask_order"))
        return found

    def told_before(self, matter: CustomerWish) -> str | None:
        """The order that a person means who names none: that of the same wish before, else the only one spoken of."""
        if not self.typed:
            return None
        place = self.matters.index(matter) if matter in self.matters else 0
        same = (phrases.order_in(one.text) for one in reversed(self.matters[:place]) if one.kind == matter.kind)
        spoken = {
            f"#W{number[-7:]}" for number in (re.sub(r"\W", "", one) for one in phrases.ORDER.findall(self.heard))
        }
        return next(filter(None, same), next(iter(spoken)) if len(spoken) == 1 else None)

    def among(self, matter: CustomerWish, rows: Sequence[Mapping[str, Any]]) -> list[Target]:
        """The orders that the matter's words fit, narrowed to what it was narrowed to."""
        found = order_matching.targets(matter, rows)
        if not found:
            place = self.matters.index(matter) if matter in self.matters else 0
            if place and re.search(r"\b(?:it|its|that|the (?:whole )?order|inside it)\b", matter.text, re.IGNORECASE):
                # What is called "it" is what the matter before was about.
                before = self.among(self.matters[place - 1], rows)
                alone = re.search(r"\border\b", matter.text, re.IGNORECASE) is None
                found = [Target(one.order, one.picks if alone else [], one.partial and alone) for one in before]
        if not matter.only:
            return found
        kept = [Target(one.order, self.narrowed(matter, one.picks), True) for one in found]
        return [one for one in kept if one.picks]

    def narrowed(self, matter: CustomerWish, picks: list[Pick]) -> list[Pick]:
        if not matter.only:
            return picks
        names = tuple(dict.fromkeys(str(pick.item["name"]) for pick in picks))
        wanted = {name for one in item_matching.mentions(matter.only, names) for name in one.names}
        return [pick for pick in picks if pick.item["name"] in wanted] or picks

    def looks_up(self) -> bool:
        """Whether to look for the order oneself: for somebody who has no number, or is known to get numbers wrong."""
        if self.typed and self.mind.asked(ASKS_ORDER):
            return True
        return self.gently or self.lost() or self.mind.asked(ASKS_ORDER) >= MOST + len(self.matters)

    def lost(self) -> bool:
        asked = [at for at, text in self.mind.own if ASKS_ORDER.search(text) and "?" in text]
        return any(LOST.search(reply) for at in asked for reply in self.mind.said_since(at)[:1])

    def look(self, number: str) -> OwnCall | NextAction | None:
        looked = self.mind.done("get_order_details", order_id=number)
        if looked is None and self.spent("get_order_details", order_id=number):
            return None
        return looked or self.call("get_order_details", {"order_id": number})

    def all_orders(self, numbers: Sequence[str]) -> list[Mapping[str, Any]] | NextAction:
        rows = []
        for number in numbers:
            looked = self.look(number)
            if isinstance(looked, NextAction):
                return looked
            if looked is not None:
                rows.append(looked.value)
        return rows

    def known_orders(self) -> list[Mapping[str, Any]]:
        own = self.user.value.get("orders", []) if self.user else []
        found = [self.mind.done("get_order_details", order_id=str(number)) for number in own]
        return [one.value for one in found if one is not None]

    # Payment

    def method(self, matter: CustomerWish, order: Mapping[str, Any]) -> str | None:
        """The payment method that was named, for this matter or for all of them; None if none was."""
        texts = [matter.text, *reversed(SENTENCE.split(self.heard))]
        for text in texts:
            named = phrases.methods_in(text, self.methods, self.ear)
            if named is not None:
                return named
            if phrases.ORIGINAL.search(text):
                return self.paid_with(order)
        return None

    def paid_with(self, order: Mapping[str, Any]) -> str:
        return str((order.get("payment_history") or [{}])[0].get("payment_method_id"))

    def may_refund(self, method: str, order: Mapping[str, Any]) -> bool:
        return bool(method == self.paid_with(order) or self.methods.get(method, {}).get("source") == "gift_card")

    # The means

    def tell(self, kind: str, **slots: str) -> NextAction | None:
        """Say something once; None when it has been said."""
        text = agent_line(kind, self.mind.rng, slots)
        if any(text in said for _, said in self.mind.own):
            return None
        return NextAction(text, tells=True)

    def ask(self, kind: str, mark: re.Pattern[str]) -> NextAction | None:
        """Ask for something; None when it was asked often enough, or the customer has said to have no answer."""
        asked = [at for at, text in self.mind.own if mark.search(text)]
        vain = any(LOST.search(reply) for at in asked for reply in self.mind.said_since(at)[:1])
        return None if vain or len(asked) >= MOST else NextAction(self.line(kind))

    def spent(self, tool: str, **arguments: Any) -> bool:
        tries: Sequence[OwnCall] = [m for m in self.mind.made if m.tool == tool and m.arguments == arguments]
        return any(m.error for m in tries)

    def rule(self, name: str) -> bool:
        return self.mind.follows(name, getattr(self, "user_id", ""), self.profile.rule_following)

    def line(self, kind: str, **slots: str) -> str:
        return agent_line(self.suited(kind, phrases.phrases().agent), self.mind.rng, slots)


def _in_words(order: Mapping[str, Any]) -> str:
    """An order as one speaks of it: its number, its things and how far it is."""
    things = ", ".join(dict.fromkeys(str(item["name"]) for item in order.get("items", ())))
    return f"{order['order_id']} ({things}; {order.get('status', 'unknown')})"
