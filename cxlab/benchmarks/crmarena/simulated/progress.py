"""What a stand-in has in front of it: its own actions so far and what came of each, as it was shown them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from cxlab.benchmarks.crmarena.agents.episode import read_arguments
from cxlab.benchmarks.crmarena.simulated.question import UnderstoodQuestion, past_start
from cxlab.benchmarks.crmarena.tools import TOOLS
from cxlab.records import Message

if TYPE_CHECKING:
    from numpy.random import Generator

    from cxlab.llm.simulated.profiles import Profile

MISSING: Any = object()
"""In place of a result that there is not yet."""
_BOUNDS = re.compile(r">= (\d{4}-[\dT:Z-]+) AND \w+ < (\d{4}-[\dT:Z-]+)")


@dataclass(frozen=True)
class Action:
    """What to do next: call a tool, or submit."""

    tool: str
    arguments: dict[str, Any]
    thought: str = ""


@dataclass(frozen=True)
class CompletedAction:
    """An action that was carried out. `result` as far as it can be read."""

    tool: str
    arguments: dict[str, Any]
    result: Any
    failed: bool


@dataclass
class AttemptProgress:
    """The question, what was done, and how able the stand-in is. `offers`: tools that it may call."""

    question: UnderstoodQuestion
    done: Sequence[CompletedAction]
    profile: Profile
    rng: Generator
    offers: frozenset[str] = field(default_factory=frozenset)

    def slips(self, skill: float, share: float = 1.0) -> bool:
        """Whether it makes a mistake here, as often as its skill leaves open."""
        return bool(self.rng.random() < (1 - skill) * share)

    @property
    def stumbled(self) -> bool:
        """Whether the last action failed."""
        return bool(self.done) and self.done[-1].failed

    # --- tools

    def result(self, tool: str, place: int = 0) -> Any:
        """What a tool returned, the place-th time that it was answered; MISSING before."""
        found = [each.result for each in self.done if each.tool == tool and not each.failed]
        return found[place] if len(found) > place else MISSING

    def given(self, tool: str, name: str) -> Any:
        """The argument that a tool was answered with; None without one."""
        return next((each.arguments.get(name) for each in self.done if each.tool == tool and not each.failed), None)

    # --- queries

    def rows(self, *marks: str) -> Any:
        """The records of the first answered query that has all these words; MISSING before."""
        for each in self.done:
            query = str(each.arguments.get("query", ""))
            if not each.failed and all(mark in query for mark in marks):
                return each.result if isinstance(each.result, list) else []
        return MISSING

    def bounds(self) -> tuple[str, str] | None:
        """The window that its own queries had so far."""
        for each in self.done:
            if found := _BOUNDS.search(str(each.arguments.get("query", ""))):
                return found[1], found[2]
        return None

    # --- windows

    def reckon_window(self) -> tuple[str, str] | None:
        """The window of the question, reckoned in the head; now and then another one."""
        asked, wrong = self.question.window, self.slips(self.profile.joint_conditions, 0.5)
        if asked is None:
            return None
        if asked[0] == "past":
            today = self.question.today
            if today is None:
                return None
            unit, count = asked[1], asked[2]
            if wrong:
                # Quarters are taken for months, and of other periods there is one too many.
                unit, count = ("month", count) if unit == "quarter" else (unit, count + 1)
            return past_start(today, unit, count), f"{today.isoformat()}T00:00:00Z"
        name, year = self.named_period(asked[1], asked[2], wrong)
        found = TOOLS["get_period"](_ANY, period_name=name, year=year)
        return (found["start_date"], found["end_date"]) if isinstance(found, dict) else None

    @staticmethod
    def named_period(name: str, year: int, wrong: bool) -> tuple[str, int]:
        """A named period, or where it is misread the winter that ends in the year, the next quarter, the year after."""
        if not wrong:
            return name, year
        if name == "Winter":
            return name, year - 1
        if name.startswith("Q"):
            return f"Q{int(name[1]) % 4 + 1}", year
        return name, year + 1


class _AnySandbox:
    """Stands for an organisation where a tool reckons and looks nothing up."""

    compat = "policy"


_ANY: Any = _AnySandbox()


def read_history(messages: Iterable[Message]) -> list[CompletedAction]:
    """The actions with what came of them."""
    shown = {message.data.get("call"): message for message in messages if message.role == "tool"}
    found = []
    for message in messages:
        for call in message.tool_calls:
            seen = shown.get(call.id)
            if seen is None:
                continue
            arguments, _ = read_arguments(call.arguments)
            failed = seen.data.get("error") is not None
            found.append(CompletedAction(call.name, dict(arguments), None if failed else _read(seen.text), failed))
    return found


def _read(text: str) -> Any:
    for part in (text, text.partition("\n")[0]):
        try:
            return orjson.loads(part)
        except orjson.JSONDecodeError:
            continue
    return text


def reckon(tool: str, **arguments: Any) -> Any:
    """What a tool that looks nothing up would return."""
    return TOOLS[tool](_ANY, **arguments)
