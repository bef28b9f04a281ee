"""The simulated customer: does on its phone what it understands of the agent's words, and says what it then sees.

It keeps no memory of its own: what it was asked, did and saw is read from the talk each time, as a model would have
to. Its persona's traits decide what it understands (`plain_words`, `one_step`), what it gives unasked, and how it
puts what it sees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from cxlab.benchmarks.mmtaup2 import dialogue_acts
from cxlab.benchmarks.mmtaup2.conversation.patience import person_of
from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import CustomerInputs, HistoryEntry
from cxlab.benchmarks.mmtaup2.simulated.customer_patience import (
    HANDED_OVER,
    PATIENCE,
    REASON,
    STRAYED,
    CustomerPatience,
    doubts,
    garble_number,
    voice_of,
    wants_reason,
)
from cxlab.benchmarks.mmtaup2.simulated.telecom import phrases
from cxlab.benchmarks.mmtaup2.simulated.telecom.phrases import RequestMention, customer_line
from cxlab.benchmarks.mmtaup2.simulated.wording import say_anew

READ_OUT = re.compile(r"\bread\b.*\b(?:words?|out)\b", re.IGNORECASE)
NUMBER = re.compile(r"\d[\d -]{5,}\d")
# What a person sees of a switch before touching it, and what it should be after.
SWITCHES = {
    "airplane_off": ("airplane", "off", "check_status_bar"),
    "data_on": ("data", "on", "check_network_status"),
    "roaming_on": ("roaming", "on", "check_network_status"),
    "saver_off": ("saver", "off", "check_data_restriction_status"),
    "wificalling_off": ("wificalling", "off", "check_wifi_calling_status"),
    "vpn_off": ("vpn", "off", "check_vpn_status"),
}
# What somebody touches who touches the wrong thing: the switch beside it.
BESIDE = {
    "airplane_off": "toggle_data",
    "data_on": "toggle_roaming",
    "roaming_on": "toggle_data",
    "saver_off": "toggle_data",
    "wificalling_off": "toggle_airplane_mode",
    "vpn_off": "toggle_data_saver_mode",
    "mode_new": "toggle_data",
}


class CustomerDialogueState:
    """What the talk shows a customer: both sides' texts, what it did since the agent last spoke, what it saw."""

    def __init__(self, history: Sequence[HistoryEntry]) -> None:
        self.agent = [line.text for line in history if line.who == "Agent"]
        self.own = [line.text for line in history if line.who == "Customer"]
        self.last = self.agent[-1] if self.agent else ""
        start = max((i for i, line in enumerate(history) if line.who == "Agent"), default=-1)
        calls = [(i, line.call) for i, line in enumerate(history) if line.who == "Call" and line.call]
        results = [(i, line) for i, line in enumerate(history) if line.who == "Result"]
        self.did: list[tuple[str, dict[str, Any], Any, bool]] = []
        self.seen: dict[str, tuple[str, str]] = {}
        self.before: dict[str, int] = {}
        for (at, call), (_, result) in zip(calls, results, strict=False):
            value = result.text if result.value is None else result.value
            if not result.error:
                self.seen |= phrases.facts_of(call[0], value)
            if at > start:
                self.did.append((call[0], json.loads(call[1]), value, result.error))
            else:
                self.before[call[0]] = self.before.get(call[0], 0) + 1


class TelecomCustomer:
    """A customer of the phone company."""

    def __init__(self, inputs: CustomerInputs, rng: np.random.Generator) -> None:
        self.inputs, self.rng = inputs, rng
        self.traits = set(inputs.manner)
        self.hard, self.person = "plain_words" in self.traits, voice_of(self.traits)
        self.memory = CustomerDialogueState(inputs.history)
        facts = {str(k): str(v) for k, v in inputs.facts.items()}
        self.phone = next((m[0] for v in facts.values() if (m := NUMBER.search(v))), "")
        self.name = facts.get("name", "")
        place = (
            facts.get("location", "") + " " + " ".join(v for k, v in facts.items() if k not in ("abroad", "location"))
        )
        self.abroad = facts.get("abroad") == "True" or "abroad" in place.lower()
        self.goal = _goal(inputs.reason, facts.get("goal", ""))
        person = person_of(inputs.reason, self.phone, self.name)
        self.temper = CustomerPatience(self.traits, self.memory.agent, self.memory.own, person)

    def move(self) -> tuple[list[tuple[str, dict[str, Any]]], str]:
        memory = self.memory
        if not memory.own:
            return [], self.opening()
        if HANDED_OVER.search(memory.last) and "?" not in memory.last:
            return [], self.inputs.stops["transfer"]
        if self.temper.gives_up and not memory.did:
            return [], f"{self.say('enough')} {self.inputs.stops['out_of_scope']}"
        todo, not_understood = self.understood()
        calls = self.next_calls(todo)
        if calls:
            return calls, ""
        if todo:
            return [], self.report(todo, missed=bool(not_understood))
        if not_understood:
            return [], self.say("explain", {"thing": self.stumbling_block()})
        return [], self.answer()

    def opening(self) -> str:
        parts = [self.say(f"opening_{self.goal}", {"reason": self.inputs.reason})]
        if "offers_facts" in self.traits:
            parts.append(self.say("identity", {"phone": self.phone}))
            if self.goal != "service":
                parts.append(self.say("abroad" if self.abroad else "at_home"))
        return " ".join(parts)

    def understood(self) -> tuple[list[RequestMention], list[RequestMention]]:
        """(what of the agent's requests this customer takes up, what it stumbles over)."""
        asked = list(phrases.requests_in(self.memory.last))
        if "plain_words" in self.traits:
            clear = [one for one in asked if not one.named or self.times_asked(one.name) >= 3]
        else:
            clear = asked
        stumbles = [one for one in asked if one not in clear]
        if stumbles and asked[0] in stumbles:
            clear = []
        return (clear[:1] if "one_step" in self.traits else clear), stumbles

    def times_asked(self, name: str) -> int:
        return sum(any(one.name == name for one in phrases.requests_in(text)) for text in self.memory.agent)

    def stumbling_block(self) -> str:
        things = phrases.things_in(self.memory.last)
        return f"a {things[0]}" if things and things[0].islower() else things[0] if things else "that"

    def next_calls(self, todo: Sequence[RequestMention]) -> list[tuple[str, dict[str, Any]]]:
        """The calls that are still to be made for what was asked, in order, up to the first that needs a look first."""
        left = list(self.memory.did)
        calls: list[tuple[str, dict[str, Any]]] = []
        for one in todo:
            request = phrases.phrases().requests[one.name]
            done = next((d for d in left if d[0] == request.tool and d[1] == request.arguments), None)
            if done is not None:
                left.remove(done)
                continue
            if one.name in SWITCHES:
                fact, wanted, look = SWITCHES[one.name]
                if fact not in self.memory.seen:
                    # A person looks at a switch before touching it; if it cannot be seen it is not touched.
                    if not any(d[0] == look for d in self.memory.did):
                        calls.append((look, {}))
                    return calls
                if self.memory.seen[fact][0] == wanted:
                    continue
            wrong = BESIDE.get(one.name)
            if wrong and any(tool == wrong for tool, *_ in self.memory.did):
                # It was touched, and this person has no doubt about it.
                continue
            if wrong and self.temper.slips(len(phrases.requests_in(self.memory.last)), self.rng.random()):
                calls.append((wrong, {}))
                return calls
            calls.append((request.tool, dict(request.arguments)))
        return calls

    def report(self, todo: Sequence[RequestMention], missed: bool) -> str:
        """What was done and seen, in this person's words; the end, if what it came for is reached."""
        memory = self.memory
        if self.reached():
            return f"{self.say('solved')} {self.inputs.stops['done']}"
        shown: dict[str, tuple[str, str]] = {}
        fixed, refused = False, ""
        for one in todo:
            request = phrases.phrases().requests[one.name]
            fixed = fixed or request.fix
            for tool, arguments, value, error in memory.did:
                if tool == request.tool and arguments == request.arguments:
                    refused = str(value).removeprefix("Error: ") if error else refused
            told = request.tells if self.hard else (*request.tells, *(("signal",) if request.fix else ()))
            shown |= {fact: memory.seen[fact] for fact in told if fact in memory.seen}
        if self.hard and fixed:
            shown = dict(list(shown.items())[:1])
        again = self.hard and any(memory.before.get(tool) for tool, *_ in memory.did)
        again = again or (self.hard and READ_OUT.search(memory.last) is not None)
        said = [
            phrases.say_fact(fact, value, display, self.hard and not again, self.rng)
            for fact, (value, display) in shown.items()
        ]
        parts = []
        if fixed and memory.did:
            parts.append(self.say("done"))
        if said:
            parts.append(self.say("read" if again else "report", {"report": _joined(said)}))
        elif refused:
            parts.append(f"It does not let me: {refused}")
        if self.temper.irritated and self.rng.random() < 0.5:
            parts.append(self.say("irritated"))
        elif self.hard and self.rng.random() < 0.4:
            parts.append(self.say("worry" if not missed and len(todo) == 1 else "lost"))
        return " ".join(part for part in parts if part) or self.say("done")

    def reached(self) -> bool:
        """Whether what was just seen is what the customer came for."""
        fresh: dict[str, tuple[str, str]] = {}
        for tool, _, value, error in self.memory.did:
            if not error:
                fresh |= phrases.facts_of(tool, value)
        wanted = {"service": ("signal", "some"), "data": ("speed", "excellent"), "mms": ("mms", "yes")}.get(self.goal)
        return wanted is not None and fresh.get(wanted[0], ("", ""))[0] == wanted[1]

    def answer(self) -> str:
        """A reply to what was no request to do something."""
        text = self.memory.last
        low = text.lower()
        asks = "?" in text and not dialogue_acts.asks_to_confirm(text)
        if asks and self.memory.own[-1:] and not self.strayed() and self.temper.strays(self.rng.random()):
            return self.say("stray")
        number = NUMBER.search(text)
        if number and "?" in text:
            same = _digits(number[0]) == _digits(self.phone)
            return self.say("number_right" if same else "number_wrong", {"phone": self.phone})
        if "phone number" in low or "your number" in low:
            return self.say("why") if wants_reason(self.traits, text, self.memory.own) else self.tell_number()
        if re.search(r"\babroad\b|\bat home\b", low) and "?" in text:
            again = sum(bool(re.search(r"\babroad\b", one.lower())) for one in self.memory.agent) > 1
            person = "none" if self.hard and again else self.person
            return customer_line("abroad" if self.abroad else "at_home", person, self.rng)
        if re.search(r"\bname\b", low) and "?" in text and self.name:
            return self.say("name", {"name": self.name})
        if re.search(r"\bwhat\b.*\bwork\b|\bcalls?\b.*\b(?:data|internet|pictures?)\b", low) and "again" not in low:
            return self.say(f"opening_{self.goal}", {"reason": self.inputs.reason})
        if dialogue_acts.asks_to_confirm(text):
            if not doubts(self.traits, text, self.memory.own):
                return self.say("agree")
            # Who was told why has nothing to say but that anybody may say so.
            return self.say("refuse_told" if REASON.search(text) else "refuse")
        if re.search(r"\bwork\b", low) and "?" in text:
            return self.say("frustrated")
        if re.search(r"\b(?:birth|born)\b", low) and "date_of_birth" in self.inputs.facts:
            return str(self.inputs.facts["date_of_birth"]) + "."
        if self.lost_in_a_row() >= PATIENCE:
            return self.inputs.stops["out_of_scope"]
        return self.say("unclear")

    def tell_number(self) -> str:
        asked = sum("phone number" in text.lower() for text in self.memory.agent)
        told = any(NUMBER.search(text) for text in self.memory.own)
        if "muddles_numbers" in self.traits and not told:
            return self.say("identity", {"phone": garble_number(self.phone, self.rng)})
        return self.say("identity_again" if told and asked > 1 else "identity", {"phone": self.phone})

    def strayed(self) -> bool:
        """Whether the last answer was none; nobody strays twice in a row."""
        return bool(STRAYED.search(self.memory.own[-1]))

    def lost_in_a_row(self) -> int:
        count = 0
        for text in reversed(self.memory.own):
            if not re.search(r"what should i do\b", text, re.IGNORECASE):
                break
            count += 1
        return count

    def say(self, kind: str, slots: dict[str, str] | None = None) -> str:
        return say_anew(lambda: customer_line(kind, self.person, self.rng, slots), self.memory.own)


def _goal(reason: str, named: str) -> str:
    text = f"{named.replace('_', ' ')} {reason}".lower()
    if re.search(r"\bmms\b|picture|photo", text):
        return "mms"
    if re.search(r"mobile data|internet", text):
        return "data"
    return "service" if re.search(r"service|signal|calls?\b", text) else "other"


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _joined(parts: Sequence[str]) -> str:
    # A comma keeps the findings in one sentence without running them together.
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + f", and {parts[-1]}"
