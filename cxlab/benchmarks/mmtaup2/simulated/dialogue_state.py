"""The simulated agent: reads the talk and its tools' results, keeps to the policy's procedure, asks what it lacks.

How well it does follows from its profile: which wordings it knows, which rules it keeps, how long it remembers, how
surely it fills in a tool. What it is told of the customer (exposure) decides how it puts a request, and how many.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import AgentInputs, HistoryEntry
from cxlab.benchmarks.mmtaup2.simulated.known_words import knows
from cxlab.benchmarks.mmtaup2.simulated.typed import is_typed, tidy
from cxlab.dialogue.dual_control import SILENCE
from cxlab.llm.simulated import Profile

SKILL = re.compile(r"technical skill: *(\d+)", re.IGNORECASE)
FRUSTRATION = re.compile(r"frustration level: *(\d+)", re.IGNORECASE)
IMPATIENT = re.compile(r"\bpatience: *low\b", re.IGNORECASE)
HURRY = re.compile(r"\bin a hurry\b|\bshort of time\b|\bno small talk\b", re.IGNORECASE)
DISTRUST = re.compile(r"\bdistrust\w*|\bsuspicious\b|\bwants to know why\b", re.IGNORECASE)
ASKS_WHY = re.compile(r"\bwhat .*\bfor\?|\bwhy (?:do|does|should|would|must|is|you)\b", re.IGNORECASE)
# From this frustration on (0 to 10) somebody is spoken to with more care.
UPSET_FROM = 4


@dataclass(frozen=True)
class NextAction:
    """What the agent does next: a call, or a text; `tells` for a text that waits for no answer."""

    text: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | None = None
    tells: bool = False


@dataclass(frozen=True)
class OwnCall:
    """A call of the agent's own with what came back."""

    at: int
    tool: str
    arguments: dict[str, Any]
    value: Any
    error: bool


class DialogueState:
    """The talk as an agent of a profile has it in mind; early messages of the customer fade."""

    def __init__(self, inputs: AgentInputs, profile: Profile, rng: np.random.Generator) -> None:
        self.inputs, self.profile, self.rng = inputs, profile, rng
        self.now = max((line.turn for line in inputs.history), default=1)
        self.own: list[tuple[int, str]] = []
        self.theirs: list[tuple[int, str]] = []
        self.made: list[OwnCall] = []
        waiting: list[tuple[int, HistoryEntry]] = []
        opened = False
        self.case = ""
        for at, line in enumerate(inputs.history):
            if line.who == "Agent" and line.text == SILENCE:
                continue  # what it sent was empty, and asked nothing
            if line.who == "Agent":
                self.own.append((at, line.text))
            elif line.who == "Customer":
                # What somebody got in touch for is not forgotten; what was said on the way is.
                text = tidy(line.text) if is_typed(line.text) else line.text
                if not opened or line.turn > self.now - profile.fatigue:
                    self.theirs.append((at, text))
                self.case = self.case or text
                opened = True
            elif line.who == "Call":
                waiting.append((at, line))
            elif line.who == "Result" and waiting:
                called_at, call = waiting.pop(0)
                name, emitted = call.call or ("", "{}")
                arguments = _value_of(emitted)
                given = arguments if isinstance(arguments, dict) else {}
                self.made.append(OwnCall(called_at, name, given, _value_of(line.text), line.error))
        self.last = self.theirs[-1][1] if self.theirs else ""
        # Who it is tells one talk from another once it is known, better than how it began.
        who = next(
            (m for m in self.made if not m.error and m.tool.startswith(("get_customer_by", "find_user_id"))), None
        )
        self.case = f"{self.case} {next(iter(who.arguments.values()), '')}" if who else self.case

    @property
    def note(self) -> str:
        """What stands in the prompt about the customer, if this profile goes by it in this message.

        It takes noticing or caring: a profile with little of both falls back into its usual way now and then.
        """
        profile = self.profile
        share = 1 - (1 - profile.subtlety) * (1 - profile.empathy)
        return self.inputs.note if knows(profile, f"note {self.case} {len(self.own)}", share) else ""

    def done(self, tool: str, **arguments: Any) -> OwnCall | None:
        """The last call of the tool that was carried out, with these arguments."""
        for made in reversed(self.made):
            if made.tool == tool and not made.error and arguments.items() <= made.arguments.items():
                return made
        return None

    def tried(self, tool: str, **arguments: Any) -> int:
        return sum(m.tool == tool and arguments.items() <= m.arguments.items() for m in self.made)

    def follows(self, rule: str, case: str, share: float) -> bool:
        """Whether a rule is kept in this case: the same for the whole talk, and for every talk about the case."""
        return knows(self.profile, f"{rule} {case}", share)

    def asked_before(self, at: int) -> str:
        """What the agent had said last before the customer's message at that place."""
        return next((said for place, said in reversed(self.own) if place < at), "")

    def asked(self, pattern: re.Pattern[str]) -> int:
        return sum(bool(pattern.search(text)) for _, text in self.own)

    def said_since(self, at: int) -> list[str]:
        return [text for place, text in self.theirs if place > at]


def _value_of(text: str) -> Any:
    """A tool's result as its caller reads it, parsed; the text itself when it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text
