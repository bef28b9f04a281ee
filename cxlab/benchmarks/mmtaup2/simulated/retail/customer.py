"""The simulated customer of the shop: wants what its card says, answers what it is asked, checks what is read back."""

from __future__ import annotations

import re

import numpy as np

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.conversation.patience import person_of
from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import CustomerInputs
from cxlab.benchmarks.mmtaup2.simulated.customer_patience import (
    HANDED_OVER,
    PATIENCE,
    STRAYED,
    CustomerPatience,
    garble_number,
    voice_of,
    wants_reason,
)
from cxlab.benchmarks.mmtaup2.simulated.retail import phrases
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import (
    ADDRESS,
    ORDER,
    CustomerWish,
    customer_line,
    matters_in,
)
from cxlab.benchmarks.mmtaup2.simulated.wording import say_anew

# Where the first few words end and the particulars begin.
PARTICULARS = re.compile(r":|, (?:with the refund|because)\b|,? from order\b(?!, but only)|\.\s")
# Longer than this a read-back is not followed to its end by somebody who loses the thread.
TOO_LONG = 32


class RetailCustomer:
    """One customer of the shop."""

    def __init__(self, inputs: CustomerInputs, rng: np.random.Generator) -> None:
        self.inputs, self.rng = inputs, rng
        self.traits = set(inputs.manner)
        self.hard, self.person = "plain_words" in self.traits, voice_of(self.traits)
        self.facts = {str(k): str(v) for k, v in inputs.facts.items()}
        self.agent = [line.text for line in inputs.history if line.who == "Agent"]
        self.own = [line.text for line in inputs.history if line.who == "Customer"]
        self.last = self.agent[-1] if self.agent else ""
        self.matters = matters_in([(0, inputs.reason)]) or [CustomerWish("other", inputs.reason)]
        person = person_of(inputs.reason, self.facts.get("email", ""), self.facts.get("name", ""))
        self.temper = CustomerPatience(self.traits, self.agent, self.own, person)

    def move(self) -> str:
        if not self.own:
            return self.opening()
        if HANDED_OVER.search(self.last) and "?" not in self.last:
            return self.inputs.stops["transfer"]
        if self.temper.gives_up:
            return f"{self.say('enough')} {self.inputs.stops['out_of_scope']}"
        asks = "?" in self.last and "anything else" not in self.last and not dialogue_acts.asks_to_confirm(self.last)
        if asks and not STRAYED.search(self.own[-1]) and self.temper.strays(self.rng.random()):
            return self.say("stray")
        said = self.answer()
        tired = self.temper.irritated and self.inputs.stops["done"] not in said and self.rng.random() < 0.5
        return f"{said} {self.say('irritated')}" if tired else said

    def opening(self) -> str:
        parts = [self.say("greeting")]
        if "waits_to_be_asked" in self.traits:
            # First things first, and without the numbers.
            parts.append(self.at_first(self.matters[0]))
        else:
            parts.append(self.inputs.reason)
        if "offers_facts" in self.traits:
            parts.append(self.identity())
        return " ".join(parts)

    def answer(self) -> str:
        text, low = self.last, self.last.lower()
        if "exactly would you like" in low or "nothing that i can do" in low:
            return self.next_matter(True)
        if dialogue_acts.asks_to_confirm(text):
            return self.confirm()
        asks = "?" in text
        if "anything else" in low:
            return self.next_matter(False)
        if asks and "new address" in low:
            return self.fact("address", "new_address", self.current())
        if asks and re.search(r"e-?mail|zip code|your name|last name", low):
            if wants_reason(self.traits, text, self.own):
                return self.say("why")
            return self.identity("name" in low and "mail" not in low)
        matter = self.current()
        if re.search(r"\border number\b[^.]*\?|\bwhich order\b[^.]*\?", low):
            return self.order(matter)
        if asks and re.search(r"payment method|refund go|how .* pay", low):
            return self.fact("payment", "payment_method", matter)
        if asks and re.search(r"\breason\b|\bwhy\b", low):
            return self.fact("reason", "reason", matter)
        if asks and re.search(r"which items|variants", low):
            return self.particulars(matter)
        if (
            "how should we go on" in low
            and self.own[-2:].count(self.own[-1]) < 2
            and "That is wrong" not in self.own[-1]
        ):
            return self.say("correct", {"matter": matter.text})
        if self.lost_in_a_row() >= PATIENCE:
            return self.inputs.stops["out_of_scope"]
        if re.search(r"cannot be|can't be|not possible|costs \$|tracking number", low):
            return self.next_matter(False)
        return self.say("unclear")

    def confirm(self) -> str:
        """Yes, unless what was read back has another order number or another address than the customer's own."""
        order, matter = phrases.order_in(self.last), self.current()
        if "one_step" in self.traits and len(self.last.split()) > TOO_LONG:
            # Whoever cannot follow says yes to the end of it, right or wrong.
            return self.say("agree_lost")
        mine = {o for m in self.matters if (o := phrases.order_in(m.text))}
        address = ADDRESS.search(matter.text)
        heard = set(re.findall(r"\w+", self.last.lower()))
        lacking = set(re.findall(r"\w+", address[0].lower())) - heard if address else set()
        corrected = sum(bool(re.search(r"not right|is wrong", one)) for one in self.own[-3:])
        # Somebody who has put it right twice lets the rest pass.
        if ((order is not None and mine and order not in mine) or lacking) and corrected < 2:
            return self.say("correct", {"matter": matter.text})
        worry = f" {self.say('worry')}" if self.hard and self.rng.random() < 0.4 else ""
        return self.say("agree") + worry

    def current(self) -> CustomerWish:
        """The matter that the agent last spoke of, else the last one that was told."""
        spoken = matters_in([(0, self.last)])
        own = {number: m for m in self.matters if (number := phrases.order_in(m.text))}
        order = phrases.order_in(self.last)
        order = phrases.near_order(order, own, 1.0) if order else None
        if order is not None:
            return own[order]
        for one in spoken:
            for matter in self.matters:
                if matter.kind == one.kind:
                    return matter
        told = [m for m in self.matters if self.told(m)]
        return told[-1] if told else self.matters[0]

    def told(self, matter: CustomerWish) -> bool:
        ways = (matter.text, self.without_numbers(matter), self.at_first(matter))
        return any(way in one for way in ways for one in self.own)

    def next_matter(self, again: bool) -> str:
        left = [m for m in self.matters if not self.told(m)]
        if again and not left:
            # Said once more; whoever is not understood then gives up.
            twice = sum(self.inputs.reason in one for one in self.own) >= 2
            return self.inputs.stops["out_of_scope"] if twice else self.inputs.reason
        if left and "waits_to_be_asked" in self.traits:
            return self.at_first(left[0])
        if left:
            return left[0].text
        return f"{self.say('thanks')} {self.inputs.stops['done']}"

    def without_numbers(self, matter: CustomerWish) -> str:
        text = re.sub(r"\s+(?=[.,:;?!])", "", ORDER.sub("", matter.text)).replace("  ", " ")
        return re.sub(r" from order(?=[,.])", "", text)

    def at_first(self, matter: CustomerWish) -> str:
        """What is said of a matter unasked by somebody who waits to be asked, and leaves out the particulars."""
        text = self.without_numbers(matter)
        if "leaves_out" not in self.traits:
            return text
        cut = PARTICULARS.search(text)
        short = text[: cut.start()].strip() + "." if cut else text
        if ", but only" in text:
            # A condition is no particular.
            return text
        # What is left must still say what is wanted.
        return short if [m.kind for m in matters_in([(0, short)])] == [matter.kind] else text

    def particulars(self, matter: CustomerWish) -> str:
        """All of a matter once somebody asks for it; then only what it is about."""
        whole = self.without_numbers(matter) if "waits_to_be_asked" in self.traits else matter.text
        return whole if not any(whole in one for one in self.own) else self.fact("items", "new_items", matter)

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

    def order(self, matter: CustomerWish) -> str:
        number = phrases.order_in(matter.text)
        if number is None:
            return self.say("unknown")
        told = any(ORDER.search(one) for one in self.own)
        if "muddles_numbers" in self.traits and not told:
            number = garble_number(number, self.rng)
        return self.say("order", {"order": number})

    def fact(self, kind: str, name: str, matter: CustomerWish) -> str:
        place = self.matters.index(matter) if matter in self.matters else 0
        # The second matter's facts have names of their own.
        names = [f"{name}_{place + 1}", f"{name} ({place + 1})"] if place else [name]
        value = next((self.facts[n] for n in (*names, name) if n in self.facts), None)
        if value is None:
            return self.say("unknown")
        whole = {"no longer needed": "it is no longer needed", "ordered by mistake": "I ordered it by mistake"}
        return self.say(kind, {kind: whole.get(value, value)})

    def lost_in_a_row(self) -> int:
        count = 0
        for text in reversed(self.own):
            if not re.search(r"what do you need|don't know that|can't tell you", text, re.IGNORECASE):
                break
            count += 1
        return count

    def say(self, kind: str, slots: dict[str, str] | None = None) -> str:
        return say_anew(lambda: customer_line(kind, self.person, self.rng, slots), self.own)
