"""The simulated agent of the shop: who it is, then each matter in turn, looked up, proposed, agreed and done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.simulated.agent_steps import MOST
from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import DialogueState, NextAction
from cxlab.benchmarks.mmtaup2.simulated.retail import free_speech, order_matching, phrases, reactions
from cxlab.benchmarks.mmtaup2.simulated.retail.dialogue_state import TOOLS
from cxlab.benchmarks.mmtaup2.simulated.retail.goods import SWAPS
from cxlab.benchmarks.mmtaup2.simulated.retail.order_matching import Target
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import CustomerWish, agent_line
from cxlab.benchmarks.mmtaup2.simulated.retail.replies import RetailReplies
from cxlab.benchmarks.mmtaup2.tasks.retail_issues import tell_address

STATUS = {"exchange": "delivered", "return": "delivered"}
ASKS_MATTER = re.compile(
    r"exactly would you like|what should i do with order|nothing that i can do|i cannot do that here", re.IGNORECASE
)
PAYS = re.compile(r"payment method should|like to pay|refund go", re.IGNORECASE)
CORRECTS = re.compile(r"not right|not correct|\bwrong\b|\bis not\b|\bmeant\b", re.IGNORECASE)
HANDS_OVER = "handing you over"
# A line that says what it asks for needs no other reason before it.
BECAUSE = re.compile(r"\btwo reasons\b|\bbecause your\b|\bused for nothing else\b")


def plan(mind: DialogueState) -> NextAction:
    return RetailAgent(mind).next()


class RetailAgent(RetailReplies):
    """The shop's desk at one point of a talk."""

    def next(self) -> NextAction:
        mind = self.mind
        beside, handed = self.beside(), mind.done("transfer_to_human_agents") is not None
        if beside == "bye":
            return NextAction(reactions.answer(beside, mind.rng))
        said_before = sum(self.beside(place) == beside for place in range(len(mind.theirs)))
        if beside in ("human", "refusal") and said_before > 1 and not handed:
            wish = "asks for a person" if beside == "human" else "does not want to say what is needed"
            return self.hand_over(f"The customer {wish}.")
        step = self.next_step()
        if step.text and not step.tool and not beside and not handed and self.is_typed():
            step = self.say_no_twice(step)
        if step.text and beside and not handed and not (beside == "why" and BECAUSE.search(step.text)):
            return replace(step, text=f"{reactions.answer(beside, mind.rng)} {step.text}")
        # One kind word for somebody who says that it has had enough; one in every message would be no kindness.
        upset = mind.theirs and free_speech.is_upset(mind.theirs[-1][1]) and not step.tool
        sorry = agent_line("sympathy", mind.rng, {}) if upset else ""
        if sorry and not any(sorry in said for _, said in mind.own) and mind.rng.random() < self.profile.empathy:
            return replace(step, text=f"{sorry} {step.text}")
        return step

    def next_step(self) -> NextAction:
        handed = self.mind.done("transfer_to_human_agents")
        handed_over = handed is not None
        if handed is not None and any(HANDS_OVER in text for at, text in self.mind.own if at > handed.at):
            return NextAction(reactions.answer("handed", self.mind.rng))
        step = (None if handed_over else self.own_up()) or self.identify()
        if step is not None:
            return NextAction(self.line("transfer")) if handed_over else step
        told: list[str] = []
        for matter in self.matters:
            step = self.handle(matter)
            if step is None:
                told += [self.line("done")] if self.just_did(matter) and not told else []
            elif step.tells:
                # What else there is comes in the same message; only a call has to come before it.
                told += [step.text] if step.text not in told else []
            elif handed_over:
                break
            else:
                return step if step.tool else NextAction(" ".join([*told, step.text]))
        if handed_over:
            return NextAction(" ".join([*told, self.line("transfer")]))
        if not self.matters:
            unclear = self.mind.asked(ASKS_MATTER)
            number = phrases.order_in(self.heard) if self.typed else None
            if number is not None and unclear < MOST:
                return NextAction(self.line("ask_matter_order", order=number))
            if unclear >= MOST:
                return self.hand_over("What the customer wants is not clear.")
            return NextAction(self.line("ask_matter" if unclear == 0 else "refuse_unknown"))
        return NextAction(" ".join([*told, self.line("more")]))

    def just_did(self, matter: CustomerWish) -> bool:
        """Whether the matter's action is what was done since the agent last wrote."""
        spoke = max((at for at, _ in self.mind.own), default=-1)
        tools = [TOOLS[kind] for kind in _kinds(matter.kind)]
        return any(m.at > spoke and not m.error and m.tool in tools for m in self.mind.made)

    def handle(self, matter: CustomerWish) -> NextAction | None:
        """The next step of a matter, None when it is settled."""
        if matter.kind == "cheapest":
            return self.price(matter)
        if matter.kind == "home":
            return self.move_home(matter)
        if matter.kind == "human":
            return self.hand_over("The customer asks for a person.")
        found = self.targets(matter)
        if isinstance(found, NextAction) or found is None:
            return found
        if not found:
            return self.tell("refuse_none")
        if matter.kind == "parcel":
            return self.hand_over("A parcel came empty or damaged.")
        told: list[str] = []
        for target in found:
            step = self.track(target) if matter.kind == "track" else self.act(matter, target)
            if step is not None and not step.tells:
                return step
            told += [step.text] if step is not None and step.text not in told else []
        return NextAction(" ".join(told), tells=True) if told else None

    def track(self, target: Target) -> NextAction | None:
        numbers = [n for part in target.order.get("fulfillments", []) for n in part.get("tracking_id", [])]
        return self.tell("tracking", order=target.id, number=", ".join(numbers) or "not known yet")

    def act(self, matter: CustomerWish, target: Target) -> NextAction | None:
        status = str(target.order.get("status", ""))
        kind = matter.kind
        if kind == "undo":
            kind = "return" if status == "delivered" else "cancel"
        elif kind in SWAPS and phrases.order_in(matter.text) is None:
            kind = "exchange" if status == "delivered" else "items"
        tool = TOOLS[kind]
        if self.mind.done(tool, order_id=target.id):
            return None
        if kind in ("return", "exchange") and (step := self.one_of_two(matter, kind, target)) is not None:
            return step if step.text else None
        wanted = STATUS.get(kind, "pending")
        fits = status.startswith(wanted) if kind == "address" else status == wanted
        if not fits and self.rule(f"status {target.id}"):
            return self.tell("refuse_status", order=target.id, status=status)
        return self.settle(matter, kind, tool, target)

    def one_of_two(self, matter: CustomerWish, kind: str, target: Target) -> NextAction | None:
        """Of a return and an exchange of one order only one can be done: ask which; an empty step for the other."""
        rivals = [
            m
            for m in self.matters
            if m is not matter and {m.kind, kind} in ({"return", "exchange"}, {"return", "items"})
        ]
        found = [self.targets(one) for one in rivals]
        if not any(isinstance(some, list) and any(one.id == target.id for one in some) for some in found):
            return None
        text = self.line("one_of_two", order=target.id)
        asked = [at for at, said in self.mind.own if text in said]
        if not asked:
            return NextAction(text)
        reply = " ".join(self.mind.said_since(asked[0])[:1]).lower()
        first = min([matter, *rivals], key=self.matters.index)
        chosen = "exchange" if "exchang" in reply else "return" if "return" in reply else first.kind
        return None if (chosen == "return") == (kind == "return") else NextAction("")

    def settle(self, matter: CustomerWish, kind: str, tool: str, target: Target) -> NextAction | None:
        """Fill in what the action needs, ask for what is lacking, propose, and act on a yes."""
        order = target.order
        given: dict[str, Any] = {"order_id": target.id}
        shown: dict[str, str] = {"order": target.id}
        if kind == "cancel":
            if target.partial:
                return self.tell("refuse_part", order=target.id)
            reason = self.reason(matter)
            if reason is None and (step := self.ask_reason(matter, target)) is not None:
                return step if step.text else None
            given["reason"] = shown["reason"] = reason or "no longer needed"
        if kind == "address":
            address = self.address(matter, order.get("address"))
            if address is None:
                return self.ask("ask_address", free_speech.ASKS_ADDRESS)
            if isinstance(address, NextAction):
                return address
            given |= address
            shown["address"] = tell_address(address)
        # Nobody is asked how to pay for something before it is known what.
        if kind in ("items", "exchange", "return"):
            chosen = self.goods_of(matter, kind, target)
            if isinstance(chosen, NextAction) or chosen is None:
                return chosen
            given |= {name: value for name, value in chosen.items() if name != "shown"}
            shown["items"] = str(chosen["shown"])
        if kind in ("payment", "items", "exchange", "return"):
            method = self.method(matter, order)
            if method is None:
                step = self.ask("ask_refund" if kind == "return" else "ask_payment", PAYS)
                if step is not None:
                    return step
                method = self.paid_with(order)
            if kind == "return" and not self.may_refund(method, order) and self.rule(f"refund {target.id}"):
                return self.tell("refuse_refund", order=target.id)
            given["payment_method_id"] = method
            shown["payment"] = phrases.method_named(method, self.methods.get(method, {}))
        return self.propose(kind, tool, given, shown)

    def propose(self, kind: str, tool: str, given: dict[str, Any], shown: dict[str, str]) -> NextAction | None:
        failed = [m for m in self.mind.made if m.tool == tool and m.arguments == given and m.error]
        if failed:
            why = str(failed[-1].value).removeprefix("Error: ")
            return self.tell("refuse", order=given.get("order_id", "this"), why=why)
        if self.rule(f"confirm {given.get('order_id', 'home')}"):
            text = self.line(kind, **shown)
            ways = {text, agent_line(kind, self.mind.rng, shown)}
            asked = [at for at, said in self.mind.own if any(way in said for way in ways)]
            agreed = bool(asked) and any(dialogue_acts.agrees(reply) for reply in self.mind.said_since(asked[-1])[:1])
            if not agreed:
                if asked and self.gave_up(self.mind.said_since(asked[-1])[:1]):
                    return self.tell("left", order=given.get("order_id", "this"))
                if len(asked) >= MOST:
                    return self.tell("refuse", order=given.get("order_id", "this"), why="you have not agreed to it.")
                return NextAction(text)
        return NextAction(tool=tool, arguments=given)

    def gave_up(self, replies: Sequence[str]) -> bool:
        """Whether a proposal was turned down, and nothing else wanted in its place."""
        return any(
            dialogue_acts.refuses(reply)
            and not CORRECTS.search(reply)
            and not any(part.kind for part in phrases.parts(reply))
            for reply in replies
        )

    def price(self, matter: CustomerWish) -> NextAction | None:
        kinds = self.mind.done("list_all_product_types")
        if kinds is None:
            return self.call("list_all_product_types", {})
        name = phrases.near(matter.text, {kind: kind for kind in kinds.value}, self.ear)
        named = [kind for kind in kinds.value if _names(matter.text, kind)]
        name = named[0] if name is None and self.typed and len(named) == 1 else name
        if name is None and self.typed:
            which = ", ".join(sorted(named or kinds.value))
            return self.tell("which_product", products=which)
        if name is None:
            return self.ask("ask_matter", ASKS_MATTER)
        product = self.mind.done("get_product_details", product_id=kinds.value[name])
        if product is None:
            return self.call("get_product_details", {"product_id": kinds.value[name]})
        prices = [v["price"] for v in product.value.get("variants", {}).values() if v.get("available")]
        return self.tell("cheapest", product=name, price=f"{min(prices):.2f}" if prices else "0")

    # Addresses

    def address(self, matter: CustomerWish, present: Mapping[str, Any] | None) -> dict[str, str] | NextAction | None:
        """The address that is wanted: spelt out, or one that stands in another order of the account."""
        said = f"{matter.lead} {matter.text}"
        user = self.user.value if self.user else {}
        found = order_matching.address_for(said, user, self.known_orders(), present)
        if found is None and self.looks_up():
            rows = self.all_orders([str(one) for one in user.get("orders", [])])
            if isinstance(rows, NextAction):
                return rows
            found = order_matching.address_for(said, user, rows, present)
        return found

    def move_home(self, matter: CustomerWish) -> NextAction | None:
        if self.mind.done("modify_user_address", user_id=self.user_id):
            return None
        address = self.address(matter, self.user.value.get("address") if self.user else None)
        if address is None:
            return self.ask("ask_address", free_speech.ASKS_ADDRESS)
        if isinstance(address, NextAction):
            return address
        given = {"user_id": self.user_id, **address}
        return self.propose("home", "modify_user_address", given, {"address": tell_address(address)})


def _kinds(kind: str) -> tuple[str, ...]:
    """The actions that a matter may come to."""
    if kind == "undo":
        return ("cancel", "return")
    if kind in SWAPS:
        return SWAPS
    return (kind,) if kind in TOOLS else ()


def _names(text: str, product: str) -> bool:
    """Whether one of a product's words stands in a text, in the singular or the plural."""
    return any(re.search(rf"\b{word}s?\b", text, re.IGNORECASE) for word in product.split() if len(word) > 2)
