"""One attempt as it goes: the question, then replies of the agent with what came of each, until one is an answer.

The trace is the attempt's messages, each thing in it once:

- `customer`: the question (turn 1);
- `agent`, turn n = the n-th reply: `text` is its thought, or the whole reply where nothing could be read from it;
  `tool_calls` its one action, for queries a call of issue_soql_query or issue_sosl_query, for the answer one of submit;
  `data["raw"]` the reply as it was sent where thought and action do not say it all; with usage, latency and cost;
- `tool`: what came of the action, as the agent was shown it; `data` has `call` (its id), `records` (how many, None
  where it is no list), `characters` (of the whole answer) and `error` (the product's code, "tool", or None);
- `system`: a reminder of the form.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cxlab.benchmarks.crmarena.agents.observations import Observation, observe
from cxlab.benchmarks.crmarena.organisation.queryable import Queryable
from cxlab.benchmarks.crmarena.tools import FINAL, TOOLS
from cxlab.benchmarks.crmarena.tools.definition import ERROR
from cxlab.llm import ModelCall
from cxlab.records import CallTotals, Failure, Message, ToolCall

_LONGEST_TOLD = 300
SILENT, REPEATED, IDLE = 3, 5, 6
"""Replies after which nothing more is to be expected: empty ones in a row, the same one in a row, and, of a model that
has done nothing at all, any without an action."""
STUCK = "stuck"
BAD_ARGUMENTS = "bad_arguments"
"""Type of the failure of a call whose arguments are no JSON object."""


@dataclass
class Episode:
    """An attempt under way. `tools`: what may be called; `limit`: characters of an observation, 0 for all."""

    sandbox: Queryable
    question: str
    tools: frozenset[str]
    most: int
    limit: int = 0
    messages: list[Message] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    totals: CallTotals = field(default_factory=CallTotals)
    turn: int = 0
    answer: str | None = None
    ended_by: Literal["", "submit", "actions", "provider", "unanswered", "stuck"] = ""

    def __post_init__(self) -> None:
        self.messages.append(Message(role="customer", text=self.question, turn=1))

    @property
    def ended(self) -> bool:
        """Whether it is over; the agent's last reply is used up when none is left, or when it has come to a stop."""
        if not self.ended_by and self.turn >= self.most:
            self.ended_by = "actions"
        elif not self.ended_by and (why := self._find_stop()):
            self.fail(Failure(where="agent", type=STUCK, message=why))
            self.ended_by = "stuck"
        return bool(self.ended_by)

    def _find_stop(self) -> str:
        """Why the agent will not go on; "" while it does. Replies at temperature 0 that are alike stay alike."""
        replies = [message for message in self.messages if message.role == "agent"]
        said = [(one.text, [(call.name, call.arguments) for call in one.tool_calls]) for one in replies]
        if len(said) >= SILENT and all(one == ("", []) for one in said[-SILENT:]):
            return f"{SILENT} empty replies in a row"
        if len(said) >= REPEATED and all(one == said[-1] for one in said[-REPEATED:]):
            return f"the same reply {REPEATED} times in a row"
        if len(said) >= IDLE and not any(calls for _, calls in said):
            return f"no action in the first {IDLE} replies"
        return ""

    def count(self, done: ModelCall) -> CallTotals:
        """Take up one reply of the model; where none came, its provider's fault or its own, the attempt ends. What it
        took."""
        took = CallTotals(usage=done.usage, latency_s=done.latency_s, cost_usd=done.cost_usd)
        self.totals = self.totals + took
        self.turn += 1
        if done.failure is not None:
            self.fail(done.failure.model_copy(update={"role": "agent"}))
            self.ended_by = "provider" if done.failure.where == "provider" else "unanswered"
        return took

    def say(
        self,
        text: str,
        took: CallTotals,
        call: ToolCall | None = None,
        *,
        raw: str | None = None,
        reasoning: str = "",
        ignored: int = 0,
    ) -> None:
        """Note a reply: its thought, its action, and the whole of it where they do not say it all."""
        if ignored:
            told = f"{ignored + 1} actions in one reply; the first was carried out"
            self.fail(Failure(where="agent", type="several_actions", message=told))
        found = {"raw": raw, "reasoning": reasoning or None, "ignored": ignored or None}
        data = {name: value for name, value in found.items() if value is not None}
        calls = (call,) if call is not None else ()
        self.messages.append(
            Message(role="agent", text=text, turn=self.turn, tool_calls=calls, data=data, **took.of_message())
        )

    async def act(self, call: ToolCall, cut: Failure | None = None) -> Observation:
        """Carry out an action; the answer ends the attempt. `cut`: why its arguments may be in pieces."""
        arguments, problem = read_arguments(call.arguments)
        if call.name not in self.tools and call.name not in FINAL:
            known = ", ".join(sorted(self.tools))
            seen = observe(f"{ERROR}there is no tool {call.name[:60]!r}; there are {known}")
        elif problem is not None:
            seen = observe(f"{ERROR}{call.name}: {problem}")
            self.fail(cut or Failure(where="format", type=BAD_ARGUMENTS, message=problem[:_LONGEST_TOLD]))
        else:
            # In a thread: a query may take seconds, in which other attempts go on.
            result = await asyncio.to_thread(TOOLS[call.name], self.sandbox, **arguments)
            seen = observe(result, self.limit)
            if call.name in FINAL and seen.error is None:
                self.answer, self.ended_by = str(result), "submit"
                return seen
        self.show(call, seen, format_fault=problem is not None)
        return seen

    def show(self, call: ToolCall, seen: Observation, format_fault: bool = False) -> None:
        """Note what the agent gets to read of an action."""
        if seen.error is not None and not format_fault:
            self.fail(Failure(where="tool", type=seen.error, message=seen.text[:_LONGEST_TOLD]))
        data = {"call": call.id, "records": seen.records, "characters": seen.characters, "error": seen.error}
        self.messages.append(Message(role="tool", text=seen.text, turn=self.turn, data=data))

    def submit(self, answer: str) -> None:
        """Take the answer as it is, which ends the attempt."""
        self.answer, self.ended_by = answer, "submit"

    def remind(self, reminder: str, failure: Failure) -> None:
        """Send a reply back that has no action in it."""
        self.fail(failure)
        self.messages.append(Message(role="system", text=reminder, turn=self.turn))

    def fail(self, failure: Failure) -> None:
        """Note what went wrong in this reply."""
        self.failures.append(failure.model_copy(update={"turn": self.turn}))

    @property
    def faults(self) -> tuple[Failure, ...]:
        """What went wrong. A reply in the wrong form that was put right is a slip of the agent, as an error is of a
        query; it is what could not be read only where no answer came."""
        if self.answer is None:
            return tuple(self.failures)
        return tuple(
            each.model_copy(update={"where": "agent"}) if each.where == "format" else each for each in self.failures
        )

    @property
    def outcome(self) -> Literal["ok", "format", "provider"]:
        """As `Attempt.outcome` defines it."""
        if self.ended_by == "provider":
            return "provider"
        return "format" if any(each.where == "format" for each in self.faults) else "ok"


def read_arguments(given: str) -> tuple[Mapping[str, Any], str | None]:
    """The arguments of a call, or why they cannot be read."""
    try:
        found = json.loads(given or "{}")
    except ValueError as fault:
        return {}, f"the arguments are no JSON ({fault})"
    if not isinstance(found, dict):
        return {}, "the arguments are no JSON object"
    return found, None
