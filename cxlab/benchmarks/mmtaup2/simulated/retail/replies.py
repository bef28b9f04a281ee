"""What the shop's simulated agent makes of a reply: an answer, something beside the matter, or nothing it knows."""

from __future__ import annotations

import json
import re

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import NextAction
from cxlab.benchmarks.mmtaup2.simulated.retail import free_speech, reactions
from cxlab.benchmarks.mmtaup2.simulated.retail.dialogue_state import ASKS_ORDER
from cxlab.benchmarks.mmtaup2.simulated.retail.goods import RetailGoods
from cxlab.benchmarks.mmtaup2.simulated.retail.order_matching import Target
from cxlab.benchmarks.mmtaup2.simulated.retail.phrases import CustomerWish
from cxlab.benchmarks.mmtaup2.simulated.typed import is_typed

REASONS = (
    ("ordered by mistake", re.compile(r"mistake", re.IGNORECASE)),
    ("no longer needed", re.compile(r"no longer need|not need|any ?more", re.IGNORECASE)),
)
ASKS_WHY = re.compile(r"reason why|two reasons", re.IGNORECASE)
OFFERS_MORE = re.compile(r"anything else", re.IGNORECASE)
NO_MORE = re.compile(
    r"^\W*(?:(?:no|nope|nah|nothing|else|thanks?|thank you|thx|cheers|ok(?:ay)?|that'?s? (?:is |was )?(?:all|it))"
    r"\b\W*)+$",
    re.IGNORECASE,
)
OWNS_UP = "I am sorry, I did not understand that."
# One is enough, and nothing is done gladly that was not understood.
EXCUSES = re.compile(r"^(?:(?:I am )?sorry\b|gladly\b|I can help\b)[^.!?]*[.!?] ", re.IGNORECASE)
# Kinds of reactions (reactions.py) that answer nothing.
_NO_ANSWERS = frozenset(
    ("human", "robot", "money", "delivery", "long", "silence", "there", "language", "again", "question", "why")
)


class RetailReplies(RetailGoods):
    """The shop's desk as far as it takes up what the customer has just said."""

    def is_typed(self) -> bool:
        """Whether a person has just typed the customer's words, and not for the first time."""
        return self.profile.comprehension > 0 and len(self.said) > 1 and is_typed(self.said[-1])

    def say_no_twice(self, step: NextAction) -> NextAction:
        """The step for a person; where nothing was taken from the last words that is said, and not asked on and on."""
        said, own = self.said[-1], [text for _, text in self.mind.own]
        if OFFERS_MORE.search(step.text) and OFFERS_MORE.search(own[-1]):
            if NO_MORE.match(said):
                return NextAction(reactions.answer("bye", self.mind.rng))
            if any(one.kind == "track" and one.at == self.mind.theirs[-1][0] for one in self.matters):
                return NextAction(f"{reactions.answer('delivery', self.mind.rng)} {step.text}")
            refused = (one for text in reversed(own) for one in dialogue_acts.sentences(text) if "cannot" in one)
            if free_speech.wants(said) and (why := next(refused, "")):
                return NextAction(f"{why} {step.text}")
            return NextAction(self.line("ask_matter" if dialogue_acts.agrees(said) else "refuse_unknown"))
        asked = [one for one in dialogue_acts.sentences(step.text) if "?" in one]
        taken = self.goods() & set(re.findall(r"[a-z]{3,}", said.lower())) or (
            free_speech.ASKS_ADDRESS.search(own[-1]) and re.search(r"\d", said)
        )
        if taken or not any(one in own[-1] for one in asked):
            return step
        return self._ask_again(step.text)

    def beside(self, place: int = -1) -> str:
        """What the customer says beside the matter in a message, the last one if not said; it begins with none."""
        mind = self.mind
        if self.profile.comprehension == 0 or not mind.theirs:
            return ""
        if len(mind.theirs) < 2 or place == 0:
            # How a talk begins is what it is about, if it is anything.
            kind = reactions.find(self.said[0])
            return kind if kind in ("silence", "language") else ""
        at, text = mind.theirs[place]
        asked = mind.asked_before(at)
        # What it has been answered is not answered again after a call. It is read as it was said, too, for what is left
        # out when it is put plainly may be just that.
        return reactions.find(self.said[place], asked) or reactions.find(text, asked)

    def own_up(self) -> NextAction | None:
        """Say that something was not understood, ask once more what was asked, and go round no circle with it."""
        mind = self.mind
        if self.profile.comprehension == 0 or not mind.own or len(mind.theirs) < 2:
            return None
        at, before = mind.own[-1]
        if self.beside() or self.said[-1] != mind.theirs[-1][1]:
            return None  # something was taken from it
        if is_typed(self.said[-1]) and ASKS_ORDER.search(before):
            return None  # what people say in place of a number may be in an order, which is to be looked for
        if any(made.at > at for made in mind.made) or not free_speech.is_strange(
            mind.theirs[-1][1], before, self.goods()
        ):
            return None
        return self._ask_again(before)

    def _ask_again(self, question: str) -> NextAction:
        """The question once more, behind that something was not understood; after two of these a person takes over."""
        last = [text for _, text in self.mind.own[-2:]]
        if len(last) > 1 and all(OWNS_UP in text for text in last):
            return self.hand_over("The customer's words could not be understood.")
        return NextAction(f"{OWNS_UP} {EXCUSES.sub('', question.removeprefix(OWNS_UP).strip())}")

    def goods(self) -> set[str]:
        """Words of the orders and products that have been looked up."""
        values = [made.value for made in self.mind.made if not made.error]
        return set(re.findall(r"[a-z]{3,}", json.dumps(values, default=str).lower()))

    def reason(self, matter: CustomerWish) -> str | None:
        """The reason for cancelling: of this matter, or what was answered when it was asked for."""
        for text in (f"{matter.lead} {matter.text}", *self.answers_why()):
            found = next((name for name, cue in REASONS if cue.search(text)), None)
            if found is not None:
                return found
        return None

    def ask_reason(self, matter: CustomerWish, target: Target) -> NextAction | None:
        """Ask why, once more with what there is to choose from for who gives none; None where another reason is no
        hindrance, an empty step where the matter is left."""
        answers = self.answers_why()
        given = [one for one in answers if not free_speech.gives_no_reason(one)]
        told = f"{matter.text} {' '.join(given)}".lower()
        if "only reason" in told or "because" in told or len(given) > 1:
            return (
                self.tell("refuse_reason", order=target.id) or NextAction()
                if self.rule(f"reason {target.id}")
                else None
            )
        if not answers:
            return NextAction(self.line("ask_reason_which" if self.beside() == "why" else "ask_reason"))
        if len(answers) < 2:
            return NextAction(self.line("ask_reason" if given else "ask_reason_which"))
        return self.tell("refuse_no_reason", order=target.id) or NextAction()

    def answers_why(self) -> list[str]:
        """What was answered when a reason was asked for; what was said beside the matter is none."""
        mind = self.mind
        asked = [at for at, said in mind.own if ASKS_WHY.search(said)]
        replies = [next(((p, t) for p, t in enumerate(mind.theirs) if t[0] > at), None) for at in asked]
        return [text for place, (_, text) in filter(None, replies) if self.beside(place) not in _NO_ANSWERS]
