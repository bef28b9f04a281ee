"""What the agent knows and what is still wrong, followed message by message: errors, clarifications, occasions."""

from __future__ import annotations

from typing import Any

from cxlab.benchmarks.mmtaup2 import dialogue_acts, stated_values
from cxlab.benchmarks.mmtaup2.cues import questions
from cxlab.benchmarks.mmtaup2.evaluation.events import (
    TRANSFER,
    Clarification,
    ClarificationNeed,
    Error,
    EventLog,
    ReferenceTask,
    ToolUse,
    Utterance,
    carries,
    elements,
)

# With one of these a message has been read already.
_LABELS = {"asks", "clarifies", "confirms"}
# How labels and arguments call what the customer's facts call otherwise
_OTHER_NAMES = {"full_name": "name", "dob": "date_of_birth"}


class KnowledgeTracker:
    """One pass over the log, keeping what the agent knows and what is still wrong."""

    def __init__(self, task: ReferenceTask) -> None:
        facts = task.known.facts
        self.task, self.log = task, EventLog()
        # A key for each value of a told critical field: (field, value). Facts have keys of their own, unless their
        # value is a critical one: a fact may go by another name than the argument that it fills.
        self.told: dict[str, tuple[str, Any]] = {}
        for name, value in task.critical_fields.items():
            for place, one in enumerate(elements(value)):
                if any(_says(fact, one) for fact in facts.values()):
                    self.told[f"{name}[{place}]"] = (name, one)
        self.values = {key: value for key, (_, value) in self.told.items()}
        self.keys: dict[str, list[str]] = {name: [] for name in task.critical_fields}
        for key, (name, _) in self.told.items():
            self.keys[name].append(key)
        for name, value in facts.items():
            twins = [key for key, (_, one) in self.told.items() if stated_values.same(value, one)]
            if not twins and name not in self.keys:
                self.values[name] = value
            self.keys.setdefault(name, twins or [name])
        for other, name in _OTHER_NAMES.items():
            if name in self.keys:
                self.keys.setdefault(other, self.keys[name])
        self.gold = [action for action in task.gold if action.side == "agent" and action.tool != TRANSFER]
        self.known: set[str] = set()
        self.asked: set[str] = set()
        self.pending: dict[str, int] = {}
        self.maybe_asked: dict[str, list[int]] = {}  # what is pending → turns in which it may have been asked for
        self.open: dict[tuple[str, ...], Error] = {}
        self.failed_since_spoken = self.garbled = False
        self.opened = False

    def take(self, entry: Utterance | ToolUse) -> None:
        if isinstance(entry, ToolUse):
            self.log.did.append(entry)
            self._act(entry)
            return
        self.log.said.append(entry)
        if entry.who == "customer":
            self._hear(entry)
        else:
            self._answer(entry)

    def _hear(self, said: Utterance) -> None:
        self.garbled = stated_values.misheard(said.meant, said.heard)
        lost = False
        for key, value in self.values.items():
            if not stated_values.states(said.meant, value):
                continue
            if stated_values.states(said.heard, value):
                self._learn(key, said.turn)
            elif key in self.told and key not in self.known:
                lost = True
                self.open.setdefault(("misheard", key), Error("misheard", said.turn, "customer", self.told[key][0]))
                self.pending.setdefault(key, said.turn)
        if not self.opened:
            self.opened = True
            for key in self.told:
                if key not in self.known:
                    self.pending.setdefault(key, said.turn)
        if self.garbled:
            self.log.misheard.append((said.turn, lost))

    def _answer(self, said: Utterance) -> None:
        if self.pending:
            self.log.lacking.add(said.turn)
        name, again = self._asked_for(said), bool(said.data.get("clarifies"))
        again = again or dialogue_acts.found(said.meant, questions.ASKS_AGAIN)
        if name is not None:
            keys = self.keys[name]
            # What people put in words of their own (a yes or no, a place) is taken as answered once it was asked.
            lacking = [k for k in keys if k not in self.known and (self._is_exact(k) or k not in self.asked)]
            self._ask(said.turn, name, lacking)
            self.asked.update(keys)
        elif again:
            lost = [key for key in self.pending if ("misheard", key) in self.open]
            self._ask(said.turn, None, lost, bool(lost) or self.garbled or self.failed_since_spoken)
        elif not _LABELS & said.data.keys() and dialogue_acts.clarification(said.meant) is None:
            self.log.maybe_clarified.append(said.turn)
            for key in self.pending:
                self.maybe_asked.setdefault(key, []).append(said.turn)
        self.failed_since_spoken = False

    def _ask(self, turn: int, name: str | None, keys: list[str], needed: bool = False) -> None:
        self.log.clarifications.append(Clarification(turn, name, needed or bool(keys)))
        if needed or keys:
            self.log.lacking.add(turn)
        for key in keys:
            self.maybe_asked.pop(key, None)
            if self.pending.pop(key, None) is not None:
                self.log.occasions.append(ClarificationNeed(turn, self.told[key][0], True))

    def _is_exact(self, key: str) -> bool:
        """Whether the customer will say the value as it stands: a told critical one, a number, a name, an address."""
        value = self.values[key]
        return key in self.told or (not isinstance(value, bool) and stated_values.is_exact(value))

    def _asked_for(self, said: Utterance) -> str | None:
        """The field that a message asks for, by its label or else its words; None for what the task does not hold."""
        if said.data.get("asks"):
            label = said.data["asks"]
            return label if label in self.keys else None
        if "clarifies" in said.data or "confirms" in said.data:
            return None  # it has been read already, and asks for nothing
        # A field that is still lacking is what such a question is about.
        named = [name for name in self.keys if stated_values.asks_for(said.meant, name)]
        open_ones = (name for name in named if not self.known.issuperset(self.keys[name]))
        return next(open_ones, named[0] if named else None)

    def _act(self, call: ToolUse) -> None:
        ours = call.side == "agent"
        if ours:
            for key, (name, value) in self.told.items():
                if call.kind in ("ok", "refused") and carries(call, name, value):
                    self._learn(key, call.turn)
        # Whoever looks a customer up by name has recovered from a number that was not found. A tool that does not
        # exist is recovered from by one that does, known by its verb.
        family = ("failed", call.side, call.tool.split("_by_")[0])
        verb = ("unknown", call.side, call.tool.split("_")[0])
        if call.kind == "ok":
            self._close(family, call.turn)
            self._close(verb, call.turn)
            if ours and call.tool == TRANSFER and not self.task.transfer_right:
                self.log.errors.append(Error("wrong_transfer", call.turn, "agent", call.tool))
            elif ours and call.write and call.tool != TRANSFER and not self._is_gold(call):
                self.open[("wrong", str(call.at))] = Error("wrong_action", call.turn, "agent", call.tool)
            return
        if ours:
            self.failed_since_spoken = True
            if any(error.kind == "misheard" and error.what in call.arguments for error in self.open.values()):
                return  # the consequence of a mishearing is not a second error
        failed = verb if call.kind == "unknown_tool" else family
        self.open.setdefault(failed, Error("tool_failure", call.turn, call.side, call.tool))

    def _is_gold(self, call: ToolUse) -> bool:
        """Whether a call is one of the gold actions that are still to be done; each counts once."""
        for action in self.gold:
            compared = action.arguments if action.compare is None else action.compare
            if action.tool == call.tool and all(
                name in call.arguments and stated_values.same(call.arguments[name], action.arguments.get(name))
                for name in compared
            ):
                self.gold.remove(action)
                return True
        return False

    def _learn(self, key: str, turn: int) -> None:
        self.known.add(key)
        if self.pending.pop(key, None) is not None and (maybe := self.maybe_asked.pop(key, None)):
            self.log.occasions.append(ClarificationNeed(maybe[-1], self.told[key][0], False, tuple(maybe), True))
        self._close(("misheard", key), turn)

    def _close(self, key: tuple[str, ...], turn: int) -> None:
        error = self.open.pop(key, None)
        if error is not None:
            self.log.errors.append(_put_right(error, turn))

    def finish(self, passed: bool | None) -> EventLog:
        """What is still open at the end: where the goal was reached, the next call that went well put it right."""
        for key, error in self.open.items():
            later = (
                d.turn
                for d in self.log.did
                if d.kind == "ok"
                and d.side == ("agent" if error.kind == "misheard" else error.side)
                and (d.turn > error.turn or (d.turn == error.turn and _after(d, key)))
                and (error.kind != "wrong_action" or d.write)
            )
            turn = next(later, None) if passed else None
            self.log.errors.append(error if turn is None else _put_right(error, turn))
        self.log.errors.sort(key=lambda e: e.turn)
        self.log.occasions += [
            ClarificationNeed(turn, self.told[key][0], False, tuple(self.maybe_asked.get(key, ())))
            for key, turn in self.pending.items()
        ]
        return self.log


def _after(call: ToolUse, key: tuple[str, ...]) -> bool:
    """Within one turn only a wrong action has a place of its own; other errors need a later turn."""
    return key[0] == "wrong" and call.at > int(key[1])


def _put_right(error: Error, turn: int) -> Error:
    return Error(error.kind, error.turn, error.side, error.what, turn)


def _says(fact: Any, value: Any) -> bool:
    """Whether a fact of the customer holds a value: as a whole, or within its text, as an address holds a zip code."""
    return stated_values.same(fact, value) or (isinstance(fact, str) and stated_values.states(fact, value))
