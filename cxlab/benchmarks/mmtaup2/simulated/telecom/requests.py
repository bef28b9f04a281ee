"""How the simulated agent asks: checks, remedies and prices in this customer's words, calls, and handing over."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.simulated.agent_steps import MOST
from cxlab.benchmarks.mmtaup2.simulated.dialogue_state import NextAction, OwnCall
from cxlab.benchmarks.mmtaup2.simulated.known_words import knows
from cxlab.benchmarks.mmtaup2.simulated.telecom import free_speech, phrases, reactions
from cxlab.benchmarks.mmtaup2.simulated.telecom.dialogue_state import REMEDIES, STALE, WONDERS, TelecomDialogueState
from cxlab.benchmarks.mmtaup2.simulated.telecom.phrases import agent_line
from cxlab.files import grammar

SOOTHES = re.compile(r"worry\b|take your time|no hurry|nearly there|doing (?:well|fine)", re.IGNORECASE)
ACKNOWLEDGES = re.compile(r"\bdone\b", re.IGNORECASE)
HINTS_DONE = re.compile(r"^there\b|\bi touched it\b|\bi did it\b", re.IGNORECASE)
UPSET = re.compile(
    r"\bhow much longer\b|\ball day\b|\bcross\b|keep asking|\bnervous\b|\boh dear\b|\blost\b|\bgone\?|"
    r"\bbreaking\b|too much for me",
    re.IGNORECASE,
)
TODAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
LEAVES_OUT = "All right, we leave that."
# Tried, and not looked at: there is nothing to read out.
_NO_WORDS = frozenset(("can_send_mms",))


class TelecomRequests(TelecomDialogueState):
    """The means of the simulated agent; which of them it takes next stands in `TelecomAgent`."""

    def ask(self, names: Sequence[str], *facts: str) -> NextAction | None:
        """Ask for the first check, with the next ones of the same kind if this customer can take them."""
        first = names[0]
        if first in self.refused:
            return None
        if all(self.value(fact) is not None for fact in facts):
            return None
        since = max((self.round_at, *(self.last_at(STALE[fact]) for fact in facts if fact in STALE)))
        places = [at for at in self.asked.get(first, []) if at > since]
        # What was answered with something else is still to be answered.
        if sum(not self.led_away(at) for at in places) >= MOST or len(places) >= 2 * MOST:
            return None
        others = [n for n in names[1:] if n not in self.asked] if not places else []
        told = any(at == self.mind.theirs[-1][0] for _, at in self.beliefs.values())
        if places and told and first == "check_status_bar":
            return self.request([first], "Thank you.")
        return self.request([first, *others][: self.batch], again=bool(places))

    def led_away(self, at: int) -> bool:
        """Whether what was asked there was answered with a question, or with another state of the phone."""
        place, reply = next(((place, text) for place, text in self.mind.theirs if place > at), (-1, ""))
        if reactions.explain(reply) or reactions.find(reply) not in ("", "how", "refusal"):
            return True
        return any(told == place for _, told in self.beliefs.values())

    def fix(
        self, name: str, fact: str, good: str, since: int = -1, before: str = "", together: Sequence[str] = ()
    ) -> NextAction | None:
        """Ask for a remedy until the customer says that it is done, three times at most."""
        since = max(since, self.round_at)
        if name in self.refused or not self.open_fix(name, since, fact, good):
            return None
        places = [at for at in self.asked.get(name, []) if at > since]
        if len(places) >= MOST:
            return None
        # What cannot be taken in at once comes one after the other, in its own order.
        left = [one for one in together if not any(at > since for at in self.asked.get(one, []))]
        begun = len(left) < len(together)
        # The next of several things is asked for the first time, whatever became of the one before.
        return self.request((left or [name])[: self.batch], "" if begun else before, again=bool(places) and not left)

    def open_fix(self, name: str, since: int = -1, fact: str = "", good: str = "") -> bool:
        """Whether a remedy still has to be asked for, or an answer to it is still to come."""
        places = [at for at in self.asked.get(name, []) if at > since]
        if not places:
            return True
        told = fact or phrases.phrases().requests[name].tells[0]
        believed = self.beliefs.get(told)
        if believed is not None and believed[1] > places[0] and (not good or believed[0] == good):
            return False
        if believed is not None and believed[1] > places[-1] and good:
            # It is said to be done, and still is as it was.
            return len(places) < MOST
        return len(places) < MOST and not any(self.acknowledges(text) for text in self.mind.said_since(places[-1]))

    def acknowledges(self, text: str) -> bool:
        if reactions.says_done(text):
            return True
        plain = ACKNOWLEDGES.search(text) and knows(self.profile, "cue done", self.profile.comprehension)
        return bool(plain or (HINTS_DONE.search(text) and knows(self.profile, "cue there", self.profile.subtlety)))

    def request(self, names: Sequence[str], before: str = "", again: bool = False) -> NextAction:
        """The wording of some requests, for this customer."""
        plain, rng = self.plainly, self.mind.rng
        stumbled = bool(WONDERS.search(self.mind.last)) and knows(
            self.profile, f"cue wonders {self.mind.case} {len(self.mind.own)}", self.profile.comprehension
        )
        stumbled = stumbled or self.beside == "how"
        parts = [before] if before else []
        if self.refused and free_speech.refuses(self.mind.last):
            parts.append(LEAVES_OUT)
        explained = reactions.explain(self.mind.last) != ""  # that comes first
        if again and stumbled and not explained:
            parts.append(self.line("explain"))
        elif again and not explained and not self.says_beside():
            parts.append(self.line("again"))
        # Who asks whether anything is lost, or turns something down, has an answer to that already.
        upset = not self.says_beside() and (
            self.impatient or (not self.brisk and UPSET.search(self.mind.last) is not None)
        )
        kind_already = again and not stumbled and self.gently
        if upset and not self.soothed() and not kind_already and rng.random() < self.profile.empathy:
            parts.insert(0, self.line("soothe"))
        for place, name in enumerate(names):
            # Whoever did not understand gets the other wording, if anything was learnt from that.
            said = grammar.say(self.wording(name, plain or (again and stumbled)), rng, {})
            # Several things in one message are put one after the other, not as so many separate requests.
            parts.append(
                re.sub(r"^(?:Please|Now please)\b", ("Then please", "And please")[place > 1], said) if place else said
            )
        last = names[-1]
        if self.skill is not None and plain and not phrases.phrases().requests[last].fix and last not in _NO_WORDS:
            # Somebody who is known to retell things loosely is asked for the words at once.
            parts.append(self.line("read_out"))
        return NextAction(" ".join(part for part in parts if part))

    def wording(self, name: str, plain: bool) -> str:
        """How a request is put: what was of no use is not said again before the other wordings were."""
        one = phrases.phrases().requests[name]
        since = max(self.round_at, self.last_at(REMEDIES - {name}))
        heard = " ".join(text.lower() for at, text in self.mind.own if at >= since)
        ways = (one.plain, one.closed, one.named) if plain else (one.named, one.closed, one.plain)
        # Somebody who had a question first hears the same words once more.
        spared = 1 if self.says_beside() or reactions.explain(self.mind.last) else 0

        def count(way: str) -> int:
            return max(0, max(heard.count(grammar.tidy(each).lower()) for each in grammar.every(way)) - spared)

        return min(filter(None, ways), key=count)

    def says_beside(self) -> str:
        """What the customer has just said beside the matter, where there is an answer to it; also that it has done what
        it was to look at, and not what it saw."""
        if self.beside not in ("", "how"):
            return (
                "" if self.beside == "refusal" and free_speech.facts_in(self.mind.last, self.before()) else self.beside
            )
        names = [one.name for one in phrases.requests_in(self.before())]
        looked = bool(names) and not any(phrases.phrases().requests[name].fix for name in names)
        return "done" if looked and not self.beside and reactions.says_done(self.mind.last) else ""

    def before(self) -> str:
        """What the agent had said last."""
        return self.mind.own[-1][1] if self.mind.own else ""

    def soothed(self) -> bool:
        """Whether the last message had a kind word: one in every message would be no kindness."""
        return bool(self.mind.own) and bool(SOOTHES.search(self.mind.own[-1][1]))

    def offer(self, pattern: re.Pattern[str], kind: str, price: str) -> NextAction | None:
        """Name the price and wait for a yes, if the rule is kept; None once there is one, or without the rule."""
        if not self.rule(kind, self.profile.rule_following):
            return None
        places = [at for at, text in self.mind.own if pattern.search(text) and "?" in text]
        if places:
            replies = self.mind.said_since(places[-1])
            if any(dialogue_acts.agrees(text) for text in replies):
                return None
            if any(dialogue_acts.refuses(text) for text in replies):
                if len(places) == 1 and self.reasons:
                    reason = agent_line(f"{kind}_reason", self.mind.rng, {"price": price})
                    # Who has been told why and still doubts it is told so in other words.
                    told = any(reason in text for _, text in self.mind.own)
                    again = agent_line(f"{kind}_reason_again", self.mind.rng, {"price": price})
                    return NextAction(again if told else reason)
                return self.hand_over("The customer does not want what it takes.")
            if replies and len(places) < MOST:
                return NextAction(self.line(f"{kind}_again", price=price))
        if len(places) >= MOST:
            return self.hand_over("The customer has not agreed to what it takes.")
        return NextAction(self.line(kind, price=price))

    def spent(self, tool: str, **arguments: object) -> bool:
        """Whether this very call was tried often enough, or refused for what it is."""
        tries = [m for m in self.mind.made if m.tool == tool and m.arguments == arguments]
        return bool(tries) and (len(tries) >= MOST or any(_refused(m) for m in tries))

    def rule(self, name: str, share: float) -> bool:
        return self.mind.follows(name, getattr(self, "customer_id", ""), share)

    def today(self) -> str:
        found = TODAY.search(self.mind.inputs.policy)
        return found[0] if found else ""

    def line(self, kind: str, **slots: str) -> str:
        known = phrases.phrases().agent
        said = agent_line(chosen := self.suited(kind, known), self.mind.rng, slots)
        heard = [text for _, text in self.mind.own]
        # Somebody who has to ask once more does not do it in the same words, where there are others.
        fresh = (each for line in known[chosen] for each in map(grammar.tidy, grammar.every(line)) if each not in heard)
        return next(fresh, said) if said in heard and not slots else said


def _refused(made: OwnCall) -> bool:
    """An error that the same call would meet again: the world's own, not a slip in filling it in."""
    return made.error
