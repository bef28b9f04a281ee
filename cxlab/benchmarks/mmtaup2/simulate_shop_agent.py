"""The simulated agent of the shop: who it is, then each matter in turn, looked up, proposed, agreed and done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.benchmarks.mmtaup2 import cues, shop_talk
from cxlab.benchmarks.mmtaup2.phone_talk import knows
from cxlab.benchmarks.mmtaup2.shop_talk import Matter, agent_line
from cxlab.benchmarks.mmtaup2.simulate_agent import Made, Mind, Step
from cxlab.llm.simulated import grammar

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
NAMED = re.compile(r"\bname is ([A-Z][\w'-]+) ([A-Z][\w'-]+)")
ZIP = re.compile(r"\b\d{5}\b")
TOOLS = {
    "cancel": "cancel_pending_order",
    "address": "modify_pending_order_address",
    "home": "modify_user_address",
    "payment": "modify_pending_order_payment",
    "items": "modify_pending_order_items",
    "exchange": "exchange_delivered_order_items",
    "return": "return_delivered_order_items",
}
STATUS = {"exchange": "delivered", "return": "delivered"}
REASONS = (
    ("ordered by mistake", re.compile(r"mistake", re.IGNORECASE)),
    ("no longer needed", re.compile(r"no longer need|not need|any ?more", re.IGNORECASE)),
)
MOST = 3


def plan(mind: Mind) -> Step:
    return Counter(mind).next()


class Counter:
    """The shop's desk at one point of a talk."""

    def __init__(self, mind: Mind) -> None:
        self.mind, self.profile = mind, mind.profile
        self.ear = mind.profile.subtlety if mind.profile.comprehension else 0.0
        share = self.profile.comprehension
        heard = [(at, text) for at, text in mind.theirs if knows(self.profile, f"heard {text}", share)]
        self.matters = shop_talk.matters_in(heard)
        self.heard = " ".join(text for _, text in heard)

    def next(self) -> Step:
        handed_over = self.mind.done("transfer_to_human_agents") is not None
        step = self.identify()
        if step is not None:
            return Step(self.line("transfer")) if handed_over else step
        told: list[str] = []
        for matter in self.matters:
            step = self.handle(matter)
            if step is None:
                told += [self.line("done")] if self.just_did(matter) and not told else []
            elif step.tells:
                # What else there is comes in the same message; only a call has to come before it.
                told.append(step.text)
            elif handed_over:
                break
            else:
                return step if step.tool else Step(" ".join([*told, step.text]))
        if handed_over:
            return Step(" ".join([*told, self.line("transfer")]))
        if not self.matters:
            return Step(self.line("ask_matter"))
        return Step(" ".join([*told, self.line("more")]))

    def just_did(self, matter: Matter) -> bool:
        """Whether the matter's action is what was done since the agent last wrote."""
        spoke = max((at for at, _ in self.mind.own), default=-1)
        return any(m.at > spoke and not m.error and m.tool == TOOLS.get(matter.kind) for m in self.mind.made)

    def identify(self) -> Step | None:
        mind = self.mind
        found = mind.done("find_user_id_by_email") or mind.done("find_user_id_by_name_zip")
        if found is None:
            spoken = re.sub(r" (?:at|add|et) (?=[\w-]+\.)", "@", re.sub(r"(?<=\w) dot (?=\w)", ".", self.heard))
            for email in reversed(EMAIL.findall(spoken)):
                if not self.spent("find_user_id_by_email", email=email.rstrip(".")):
                    return Step(tool="find_user_id_by_email", arguments={"email": email.rstrip(".")})
            for first, last in reversed(NAMED.findall(self.heard)):
                for code in reversed(ZIP.findall(self.heard)):
                    who = {"first_name": first, "last_name": last, "zip": code}
                    if not self.spent("find_user_id_by_name_zip", **who):
                        return Step(tool="find_user_id_by_name_zip", arguments=who)
            if self.profile.comprehension == 0:
                return Step(grammar.every(shop_talk.phrases().agent["ask_identity"][0])[0])
            times = self.mind.asked(re.compile(r"zip code|e-mail address", re.IGNORECASE))
            if times > MOST:
                return self.hand_over("The customer's account could not be found.")
            return Step(self.line("ask_identity" if times == 0 else "ask_identity_again"))
        self.user_id = str(found.value)
        self.user = mind.done("get_user_details", user_id=self.user_id)
        if self.user is None:
            return self.call("get_user_details", {"user_id": self.user_id})
        self.methods: Mapping[str, Any] = self.user.value.get("payment_methods", {})
        return None

    def handle(self, matter: Matter) -> Step | None:
        """The next step of a matter, None when it is settled."""
        if matter.kind == "cheapest":
            return self.price(matter)
        if matter.kind == "home":
            return self.move_home(matter)
        order = self.order(matter)
        if isinstance(order, Step) or order is None:
            return order
        if matter.kind == "parcel":
            return self.hand_over("A parcel came empty or damaged.")
        if matter.kind == "track":
            numbers = [n for part in order.value.get("fulfillments", []) for n in part.get("tracking_id", [])]
            return self.tell("tracking", order=self.order_id, number=", ".join(numbers) or "not known yet")
        tool = TOOLS[matter.kind]
        if self.mind.done(tool, order_id=self.order_id):
            return None
        wanted = STATUS.get(matter.kind, "pending")
        status = str(order.value.get("status", ""))
        exact = matter.kind != "address"
        fits = status == wanted if exact else status.startswith(wanted)
        if not fits and self.rule(f"status {self.order_id}"):
            return self.tell("refuse_status", order=self.order_id, status=status)
        return self.settle(matter, tool, order.value)

    def settle(self, matter: Matter, tool: str, order: Mapping[str, Any]) -> Step | None:
        """Fill in what the action needs, ask for what is lacking, propose, and act on a yes."""
        given: dict[str, Any] = {"order_id": self.order_id}
        shown: dict[str, str] = {"order": self.order_id}
        if matter.kind == "cancel":
            reason = next((name for name, cue in REASONS if cue.search(matter.text)), None)
            if reason is None and "because" not in matter.text.lower() and self.times("reason why") < 2:
                return Step(self.line("ask_reason"))
            if reason is None and self.rule(f"reason {self.order_id}"):
                return self.tell("refuse_reason", order=self.order_id)
            given["reason"] = shown["reason"] = reason or "no longer needed"
        if matter.kind == "address":
            address = shop_talk.address_in(matter.text)
            if address is None:
                return self.ask("ask_address", "whole new address")
            given |= address
            shown["address"] = _spoken(address)
        if matter.kind in ("payment", "items", "exchange", "return"):
            method = self.method(matter, order)
            if method is None:
                return self.ask("ask_payment", "payment method should")
            if matter.kind == "return" and not self.may_refund(method, order) and self.rule(f"refund {self.order_id}"):
                return self.tell("refuse_refund", order=self.order_id)
            given["payment_method_id"] = method
            shown["payment"] = shop_talk.method_named(method, self.methods.get(method, {}))
        if matter.kind in ("items", "exchange", "return"):
            chosen = self.items(matter, order)
            if isinstance(chosen, Step) or chosen is None:
                return chosen
            given |= {name: value for name, value in chosen.items() if name != "shown"}
            shown["items"] = str(chosen["shown"])
        return self.propose(matter, tool, given, shown)

    def propose(self, matter: Matter, tool: str, given: dict[str, Any], shown: dict[str, str]) -> Step | None:
        failed = [m for m in self.mind.made if m.tool == tool and m.arguments == given and m.error]
        if failed:
            why = str(failed[-1].value).removeprefix("Error: ")
            return self.tell("refuse", order=given.get("order_id", "this"), why=why)
        if self.rule(f"confirm {given.get('order_id', 'home')}"):
            text = agent_line(matter.kind, self.mind.rng, shown)
            asked = [at for at, said in self.mind.own if text in said]
            agreed = bool(asked) and any(cues.agrees(reply) for reply in self.mind.said_since(asked[-1])[:1])
            if not agreed:
                if len(asked) >= MOST:
                    return self.tell("refuse", order=given.get("order_id", "this"), why="you have not agreed to it.")
                return Step(text)
        return Step(tool=tool, arguments=given)

    def order(self, matter: Matter) -> Made | Step | None:
        """The order that a matter is about, looked up; a step to get there; None when that is given up."""
        orders = list(self.user.value.get("orders", [])) if self.user else []
        number = shop_talk.order_in(matter.text)
        if number is not None and number not in orders:
            number = shop_talk.near_order(number, orders, self.ear) or number
        if number is None or (number not in orders and self.rule("own orders")):
            times = self.times("order number")
            if times >= MOST + len(self.matters):
                return None
            return Step(self.line("ask_order" if number is None else "ask_order_again"))
        self.order_id = number
        looked = self.mind.done("get_order_details", order_id=number)
        if looked is None and self.spent("get_order_details", order_id=number):
            return None
        return looked or self.call("get_order_details", {"order_id": number})

    def method(self, matter: Matter, order: Mapping[str, Any]) -> str | None:
        first = (order.get("payment_history") or [{}])[0].get("payment_method_id")
        if matter.kind == "return" and re.search(r"what i paid|i paid with|original", matter.text, re.IGNORECASE):
            return str(first)
        return shop_talk.methods_in(matter.text, self.methods, self.ear)

    def may_refund(self, method: str, order: Mapping[str, Any]) -> bool:
        first = (order.get("payment_history") or [{}])[0].get("payment_method_id")
        return bool(method == first or self.methods.get(method, {}).get("source") == "gift_card")

    def items(self, matter: Matter, order: Mapping[str, Any]) -> dict[str, Any] | Step | None:
        """The items of the order that a text names, for a swap each with the variant that is wanted instead."""
        pieces = [part for part in re.split(r";|: the | and the |, the | back the ", matter.text) if part.strip()]
        old: list[str] = []
        new: list[str] = []
        shown: list[str] = []
        for item in order.get("items", []):
            piece = next((p for p in pieces if shop_talk.near(p, {"x": str(item["name"])}, self.ear)), None)
            if piece is None:
                continue
            if matter.kind == "return":
                old.append(item["item_id"])
                shown.append(f"the {item['name']}")
                continue
            product = self.mind.done("get_product_details", product_id=item["product_id"])
            if product is None:
                return self.call("get_product_details", {"product_id": item["product_id"]})
            variant = self.variant(piece, product.value, item["item_id"])
            if variant is not None:
                old.append(item["item_id"])
                new.append(variant["item_id"])
                options = ", ".join(f"{name}: {value}" for name, value in variant["options"].items())
                shown.append(f"the {item['name']} as {options}")
        if not old:
            return self.ask("ask_items", "which items")
        swapped = {} if matter.kind == "return" else {"new_item_ids": new}
        return {"item_ids": old, **swapped, "shown": "; ".join(shown)}

    def variant(self, piece: str, product: Mapping[str, Any], old: str) -> Mapping[str, Any] | None:
        named = {
            key: ", ".join(f"{name}: {value}" for name, value in variant["options"].items())
            for key, variant in product.get("variants", {}).items()
            if variant.get("available") and key != old
        }
        found = shop_talk.near(piece.split(" as ", 1)[-1], named, self.ear)
        return None if found is None else {"item_id": found, **product["variants"][found]}

    def price(self, matter: Matter) -> Step | None:
        kinds = self.mind.done("list_all_product_types")
        if kinds is None:
            return self.call("list_all_product_types", {})
        name = shop_talk.near(matter.text, {kind: kind for kind in kinds.value}, self.ear)
        if name is None:
            return self.ask("ask_matter", "exactly would you like")
        product = self.mind.done("get_product_details", product_id=kinds.value[name])
        if product is None:
            return self.call("get_product_details", {"product_id": kinds.value[name]})
        prices = [v["price"] for v in product.value.get("variants", {}).values() if v.get("available")]
        return self.tell("cheapest", product=name, price=f"{min(prices):.2f}" if prices else "0")

    def move_home(self, matter: Matter) -> Step | None:
        address = shop_talk.address_in(matter.text)
        if self.mind.done("modify_user_address", user_id=self.user_id):
            return None
        if address is None:
            return self.ask("ask_address", "whole new address")
        given = {"user_id": self.user_id, **address}
        return self.propose(matter, "modify_user_address", given, {"address": _spoken(address)})

    # The means

    def tell(self, kind: str, **slots: str) -> Step | None:
        """Say something once; None when it has been said."""
        text = agent_line(kind, self.mind.rng, slots)
        if any(text in said for _, said in self.mind.own):
            return None
        return Step(text, tells=True)

    def ask(self, kind: str, mark: str) -> Step | None:
        return Step(self.line(kind)) if self.times(mark) < MOST else None

    def times(self, mark: str) -> int:
        return sum(mark in text.lower() for _, text in self.mind.own)

    def call(self, tool: str, arguments: dict[str, Any]) -> Step:
        if self.spent(tool, **arguments):
            return self.hand_over(f"{tool} does not go through.")
        return Step(tool=tool, arguments=arguments)

    def spent(self, tool: str, **arguments: Any) -> bool:
        tries: Sequence[Made] = [m for m in self.mind.made if m.tool == tool and m.arguments == arguments]
        return any(m.error for m in tries)

    def hand_over(self, summary: str) -> Step:
        return Step(tool="transfer_to_human_agents", arguments={"summary": summary})

    def rule(self, name: str) -> bool:
        return self.mind.follows(name, getattr(self, "user_id", ""), self.profile.rule_following)

    def line(self, kind: str) -> str:
        return agent_line(kind, self.mind.rng)


def _spoken(address: Mapping[str, str]) -> str:
    parts = [address["address1"], address["address2"], address["city"], f"{address['state']} {address['zip']}"]
    return ", ".join(part for part in [*parts, address["country"]] if part)
