"""The simulated customer whose directions are running text, as in imported tasks: says and decides what they say."""

from __future__ import annotations

import re

import numpy as np

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import CustomerInputs
from cxlab.benchmarks.mmtaup2.simulated.instructions_parser import first_person, parse_instructions, who
from cxlab.benchmarks.mmtaup2.simulated.retail import phrases as retail_phrases
from cxlab.benchmarks.mmtaup2.simulated.retail.customer import RetailCustomer
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import ORIGINAL

_DIRECTED = re.compile(r"\byou(?:'d|'re|'ve|r)?\b", re.IGNORECASE)
_DENIES = re.compile(
    r"\bi am sorry\b|\bcannot\b|\bcan't\b|\bnot possible\b|\bunfortunately\b|\bunable\b", re.IGNORECASE
)
_PAYS = re.compile(r"pay ?pal|gift ?card|credit|visa|master ?card|amex|original|refund|payment", re.IGNORECASE)
_PLACE = re.compile(r"\b\d+ [A-Z]\w+.*\b\d{5}\b")
_WHY = re.compile(r"\b(?:no longer|mistake|because|since)\b", re.IGNORECASE)


def is_directed(reason: str) -> bool:
    """Whether a reason for the call speaks to the customer instead of being what the customer says."""
    return bool(_DIRECTED.search(reason)) and not re.match(r"(?:I|My)\b", reason)


class InstructedCustomer(RetailCustomer):
    """A customer of the shop who goes by running text."""

    def __init__(self, inputs: CustomerInputs, rng: np.random.Generator) -> None:
        super().__init__(inputs, rng)
        known = self.facts.get("known", "")
        self.facts = {**who(known), **{k: v for k, v in self.facts.items() if v}}
        directions = (*inputs.wishes, *filter(None, [inputs.instructions]))
        self.card = parse_instructions(inputs.reason, directions)
        self.all = first_person(" ".join((inputs.reason, *directions, known)))

    def opening(self) -> str:
        parts = [self.say("greeting")]
        tells = list(self.card.tells) or [first_person(self.inputs.reason)]
        if "waits_to_be_asked" in self.traits:
            # First what comes up to the first thing that is wanted; the rest when there is room for it.
            parts += tells[: self.first_wish(tells)]
        else:
            parts += tells
        if "offers_facts" in self.traits:
            parts.append(self.identity())
        return " ".join(parts)

    def first_wish(self, tells: list[str]) -> int:
        return next(
            (n for n in range(1, len(tells) + 1) if retail_phrases.matters_in([(0, " ".join(tells[:n]))])), len(tells)
        )

    def answer(self) -> str:
        text, low = self.last, self.last.lower()
        if "exactly would you like" in low:
            return self.details()
        if dialogue_acts.asks_to_confirm(text):
            return self.confirm()
        if "?" in text:
            for when, then in self.card.answers:
                asked_for = [
                    word for word in re.findall(r"\w{4,}", when) if word not in ("asked", "asks", "agent", "which")
                ]
                if any(word in low for word in asked_for) and then not in self.own:
                    return then
        if _DENIES.search(text) and (reply := self.next_of(self.card.if_denied)):
            return reply
        if "which one should it be" in low:
            return self.say("first_one")
        if "?" in text and "new address" in low:
            told = self.find(_PLACE)
            return told if told and told not in self.own else self.say("look_it_up")
        if "?" in text and re.search(r"e-?mail|zip code|your name|last name", low):
            return self.identity("name" in low and "mail" not in low)
        if re.search(r"\border number\b[^.]*\?|\bwhich order\b[^.]*\?", low):
            number = retail_phrases.order_in(self.inputs.reason)
            given = number is not None and any(number in one for one in self.own)
            return self.say("no_number") if number is None or given else self.say("order", {"order": number})
        if "?" in text and re.search(r"payment method|refund go|how .* pay", low):
            return self.payment()
        if "?" in text and re.search(r"\breason\b|\bwhy\b", low):
            return self.why()
        if "?" in text and re.search(r"which items|variants", low):
            return self.details()
        if re.search(r"anything else|how should we go on", low) or _DENIES.search(text):
            return self.next_matter(False)
        if self.lost_in_a_row() >= 4:
            return self.inputs.stops["out_of_scope"]
        return self.say("unclear")

    def confirm(self) -> str:
        if changed := self.next_of(self.card.at_confirm):
            return changed
        order = retail_phrases.order_in(self.last)
        mine = {number for m in self.matters if (number := retail_phrases.order_in(m.text))}
        named = retail_phrases.order_in(self.inputs.reason)
        if (
            named
            and order
            and order != named
            and len(mine) == 1
            and len(retail_phrases.ORDER.findall(self.inputs.reason)) > 1
        ):
            return self.say("correct", {"matter": self.all})
        return self.say("agree")

    def next_of(self, lines: tuple[str, ...]) -> str:
        """The first of these lines that was not said yet; "" when all were."""
        return next((line for line in lines if not any(line in one for one in self.own)), "")

    def next_matter(self, again: bool) -> str:
        left = [one for one in self.card.tells if not any(one in said for said in self.own)]
        if left:
            return " ".join(left[: self.first_wish(left)])
        return f"{self.say('thanks')} {self.inputs.stops['done']}"

    def payment(self) -> str:
        told = self.find(_PAYS)
        if told and not any(told in one for one in self.own):
            return told
        return self.say("as_paid") if not told or ORIGINAL.search(told) else self.say("any_payment")

    def why(self) -> str:
        """A reason that the directions give, else the usual one; what they give in one half-sentence is no more."""
        told = self.find(_WHY)
        return (
            told
            if told and not told.startswith(("If", "As", "Please")) and len(told.split()) <= 12
            else self.say("no_need")
        )

    def identity(self, by_name: bool = False) -> str:
        left = [one for one in self.facts.get("emails", "").split() if not any(one in said for said in self.own)]
        if left and not (by_name and "zip" in self.facts):
            return self.say("email", {"email": left[0]})
        if "zip" not in self.facts:
            return (
                self.say("name_only", {"name": self.facts.get("name", "")})
                if "name" in self.facts
                else self.say("unknown")
            )
        codes = self.facts.get("zips", self.facts["zip"]).split()
        self.facts["zip"] = next((one for one in codes if not any(one in said for said in self.own)), codes[-1])
        return super().identity(by_name or not left)

    def find(self, cue: re.Pattern[str]) -> str:
        """The sentence of the directions in which something stands, as this person says it."""
        return next((one for one in re.split(r"(?<=[.!?])\s+", self.all) if cue.search(one)), "")

    def details(self) -> str:
        if self.card.kept_back and not any(self.card.kept_back in one for one in self.own):
            return self.card.kept_back + "."
        wish = next((one for one in self.card.tells if retail_phrases.matters_in([(0, one)])), "")
        if not wish:
            return self.next_of(self.card.if_denied) or self.say("unknown")
        return (
            self.say("details", {"details": wish}) if sum(wish in one for one in self.own) < 2 else self.say("unknown")
        )
