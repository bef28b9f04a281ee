"""The simulated customer of the shop: wants what its card says, answers what it is asked, checks what is read back."""

from __future__ import annotations

import re

import numpy as np

from cxlab.benchmarks.mmtaup2 import cues, shop_talk
from cxlab.benchmarks.mmtaup2.prompts import CustomerInputs
from cxlab.benchmarks.mmtaup2.shop_talk import ADDRESS, ORDER, Matter, customer_line, matters_in
from cxlab.benchmarks.mmtaup2.simulate_customer import HANDED_OVER, PATIENCE, _muddled


class Buyer:
    """One customer of the shop."""

    def __init__(self, inputs: CustomerInputs, rng: np.random.Generator) -> None:
        self.inputs, self.rng = inputs, rng
        self.traits = set(inputs.manner)
        self.hard = "describes" in self.traits
        self.facts = {str(k): str(v) for k, v in inputs.facts.items()}
        self.agent = [line.text for line in inputs.history if line.who == "Agent"]
        self.own = [line.text for line in inputs.history if line.who == "Customer"]
        self.last = self.agent[-1] if self.agent else ""
        self.matters = matters_in([(0, inputs.reason)]) or [Matter("other", inputs.reason)]

    def move(self) -> str:
        if not self.own:
            return self.opening()
        if HANDED_OVER.search(self.last) and "?" not in self.last:
            return self.inputs.stops["transfer"]
        return self.answer()

    def opening(self) -> str:
        parts = [self.say("greeting")]
        if "waits_to_be_asked" in self.traits:
            # First things first, and without the numbers.
            parts.append(self.without_numbers(self.matters[0]))
        else:
            parts.append(self.inputs.reason)
        if "offers_facts" in self.traits:
            parts.append(self.identity())
        return " ".join(parts)

    def answer(self) -> str:
        text, low = self.last, self.last.lower()
        if cues.found(text, cues.ASKS_TO_CONFIRM):
            return self.confirm()
        asks = "?" in text
        if asks and re.search(r"e-?mail|zip code|your name|last name", low):
            return self.identity("name" in low and "mail" not in low)
        matter = self.current()
        if re.search(r"\border number\b[^.]*\?|\bwhich order\b[^.]*\?", low):
            return self.order(matter)
        if asks and re.search(r"payment method|refund go|how .* pay", low):
            return self.fact("payment", "payment_method", matter)
        if asks and "address" in low:
            return self.fact("address", "new_address", matter)
        if asks and re.search(r"\breason\b|\bwhy\b", low):
            return self.fact("reason", "reason", matter)
        if asks and re.search(r"which items|variants", low):
            return matter.text if matter.text not in self.own else self.fact("items", "new_items", matter)
        if asks and re.search(r"anything else|exactly would you like", low):
            return self.next_matter("exactly" in low)
        if self.lost_in_a_row() >= PATIENCE:
            return self.inputs.stops["out_of_scope"]
        if re.search(r"cannot be|can't be|not possible|costs \$|tracking number", low):
            return self.next_matter(False)
        return self.say("unclear")

    def confirm(self) -> str:
        """Yes, unless what was read back has another order number or another address than the customer's own."""
        order, matter = shop_talk.order_in(self.last), self.current()
        mine = {o for m in self.matters if (o := shop_talk.order_in(m.text))}
        address = ADDRESS.search(matter.text)
        heard = set(re.findall(r"\w+", self.last.lower()))
        lacking = set(re.findall(r"\w+", address[0].lower())) - heard if address else set()
        corrected = sum(bool(re.search(r"not right|is wrong", one)) for one in self.own[-3:])
        # Somebody who has put it right twice lets the rest pass.
        if ((order is not None and mine and order not in mine) or lacking) and corrected < 2:
            return self.say("correct", {"matter": matter.text})
        worry = f" {self.say('worry')}" if self.hard and self.rng.random() < 0.4 else ""
        return self.say("agree") + worry

    def current(self) -> Matter:
        """The matter that the agent last spoke of, else the last one that was told."""
        spoken = matters_in([(0, self.last)])
        own = {number: m for m in self.matters if (number := shop_talk.order_in(m.text))}
        order = shop_talk.order_in(self.last)
        order = shop_talk.near_order(order, own, 1.0) if order else None
        if order is not None:
            return own[order]
        for one in spoken:
            for matter in self.matters:
                if matter.kind == one.kind:
                    return matter
        told = [m for m in self.matters if self.told(m)]
        return told[-1] if told else self.matters[0]

    def told(self, matter: Matter) -> bool:
        return any(matter.text in one or self.without_numbers(matter) in one for one in self.own)

    def next_matter(self, again: bool) -> str:
        left = [m for m in self.matters if not self.told(m)]
        if again and not left:
            return self.inputs.reason
        if left and "waits_to_be_asked" in self.traits:
            return self.without_numbers(left[0])
        if left:
            return left[0].text
        return f"{self.say('thanks')} {self.inputs.stops['done']}"

    def without_numbers(self, matter: Matter) -> str:
        return re.sub(r"\s+(?=[.,:;])", "", ORDER.sub("", matter.text)).replace("  ", " ")

    def identity(self, by_name: bool = False) -> str:
        email, name = self.facts.get("email"), self.facts.get("name", "")
        given = any("@" in one for one in self.own)
        if email and not by_name and not (given and any("zip code" in one for one in self.own)):
            return self.say("email", {"email": email})
        name = name or f"{self.facts.get('first_name', '')} {self.facts.get('last_name', '')}".strip()
        if not name:
            return self.say("no_email")
        said = self.say("name_zip", {"name": name, "zip": self.facts.get("zip", "")})
        return said if email or any("e-mail" in one for one in self.own) else f"{self.say('no_email')} {said}"

    def order(self, matter: Matter) -> str:
        number = shop_talk.order_in(matter.text)
        if number is None:
            return self.say("unknown")
        told = any(ORDER.search(one) for one in self.own)
        if "muddles_numbers" in self.traits and not told:
            number = _muddled(number, self.rng)
        return self.say("order", {"order": number})

    def fact(self, kind: str, name: str, matter: Matter) -> str:
        place = self.matters.index(matter) if matter in self.matters else 0
        # The second matter's facts have names of their own.
        names = [f"{name}_{place + 1}", f"{name} ({place + 1})"] if place else [name]
        value = next((self.facts[n] for n in (*names, name) if n in self.facts), None)
        if value is None:
            return self.say("unknown")
        return self.say(kind, {kind: f"I {value}" if kind == "reason" and value.startswith("ordered") else value})

    def lost_in_a_row(self) -> int:
        count = 0
        for text in reversed(self.own):
            if not re.search(r"what do you need|don't know that|can't tell you", text, re.IGNORECASE):
                break
            count += 1
        return count

    def say(self, kind: str, slots: dict[str, str] | None = None) -> str:
        return customer_line(kind, self.hard, self.rng, slots)
