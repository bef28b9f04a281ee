"""What was said in an attempt, for a report: lines and calls as text, cut where they are long and said so."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cxlab.read.attempts import StoredAttempt, read_object, read_objects

SPEAKERS = {"customer": "Customer", "agent": "Agent", "system": "System", "tool": "Tool result", "ivr": "Phone menu"}
_HEAD, _TAIL = 40, 20
_LONGEST_TEXT, _LONGEST_RESULT, _LONGEST_FIELD = 4_000, 800, 300


@dataclass(frozen=True)
class Line:
    """One message: who spoke, in which turn, the text as the other side got it, what was meant where that differs,
    and calls of tools. `gap`: so many messages before it are left out."""

    role: str
    who: str
    turn: int
    text: str
    meant: str
    calls: tuple[str, ...]
    asked: bool
    gap: int = 0


def read_lines(found: StoredAttempt, asked: int | None) -> tuple[Line, ...]:
    """The messages of an attempt, those of the turn that is `asked` for marked; of a long one its two ends."""
    rows = found.messages.to_dicts()
    left = max(0, len(rows) - _HEAD - _TAIL)
    kept = rows[:_HEAD] + rows[-_TAIL:] if left else rows
    return tuple(_read_line(row, asked, left if place == _HEAD else 0) for place, row in enumerate(kept))


def _read_line(row: Mapping[str, Any], asked: int | None, gap: int) -> Line:
    role, turn, text = str(row["role"]), int(row["turn"] or 0), str(row["text"] or "")
    meant = read_object(row.get("data")).get("meant")
    calls = tuple(
        cut(f"{each.get('name') or 'tool'}({each.get('arguments') or ''})", _LONGEST_RESULT)
        for each in read_objects(row.get("tool_calls"))
    )
    return Line(
        role if role in SPEAKERS else "other",
        SPEAKERS.get(role, role),
        turn,
        cut(text, _LONGEST_RESULT if role == "tool" else _LONGEST_TEXT),
        cut(str(meant), _LONGEST_TEXT) if meant not in (None, "", text) else "",
        calls,
        asked is not None and turn == asked,
        gap,
    )


def read_answer(found: StoredAttempt) -> tuple[tuple[str, str], ...]:
    """What was asked, answered and due, titled, of an attempt in which nothing was said."""
    parts = (
        ("Asked", found.sample.get("inputs")), ("Answered", found.attempt.get("output")),
        ("Due", found.sample.get("expected")),
    )  # fmt: skip
    return tuple((title, _write(value)) for title, value in parts if value)


def _write(value: Any) -> str:
    """A stored value for people: of an object a line a field, texts as they are, and the rest short."""
    value = _without_costs(value)
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_write_field(each)}" for name, each in value.items())
    return _write_field(value)


# What a call took is no part of what was answered; the tables have it where it was measured.
_COSTS = ("latency_s", "build_s", "cost_usd", "calls", "prompt_tokens", "completion_tokens", "reasoning_tokens")


def _without_costs(value: Any) -> Any:
    """A stored value without what its calls took, and without objects that held nothing else."""
    if not isinstance(value, Mapping):
        return value
    kept = {name: _without_costs(each) for name, each in value.items() if name not in _COSTS}
    return {name: each for name, each in kept.items() if each != {} or value[name] == {}}


def _write_field(value: Any) -> str:
    if isinstance(value, str):
        return cut(value, _LONGEST_TEXT)
    return cut(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_FIELD)


def cut(text: str, longest: int) -> str:
    """The text up to so many characters, and how many more there are."""
    return text if len(text) <= longest else f"{text[:longest]} … ({len(text) - longest:,} more characters)"
