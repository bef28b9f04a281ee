"""ABCD's dialogues (Action-Based Conversations, ASAPP): who says what as pairs, and what the agent does as `action`.

    {"convo_id": 1, "scenario": {"flow": "...", "subflow": "..."}, "original": [["agent", "Hi"], ["action", "..."]],
     "delexed": [{"speaker": "action", "text": "...", "targets": [subflow, "take_action", button, values, place]}]}

An action is the agent's call of the button that it pressed, with what it typed, and what the system showed of it; where
`delexed` does not tell the button, what was shown alone. Flow and subflow are kept; the rest of the scenario is what
the customer was told to be, and stands in what it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MESSAGES = "messages"
_SAID, _SHOWN = "original", "delexed"
_ACTION = "action"


def is_abcd(cells: Any) -> bool:
    """Whether a row is one of ABCD's dialogues."""
    return isinstance(cells, Mapping) and "convo_id" in cells and isinstance(_said(cells), Sequence)


def read_dialogue(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a row with a list of messages in OpenAI's chat format, and its flow and subflow beside it."""
    shown = cells.get(_SHOWN)
    targets = [_targets(each) for each in shown] if isinstance(shown, Sequence) else []
    messages: list[Any] = []
    for place, said in enumerate(_said(cells) or ()):
        who, text = _read_said(said)
        # What was shown and what was said are told line by line; where they are not, nobody knows whose button it was.
        pressed = _read_button(targets[place]) if len(targets) == len(_said(cells) or ()) else None
        if who.strip().casefold() != _ACTION:
            messages.append({"role": who, "content": text})
            continue
        if pressed is not None:
            call = {"id": f"action-{place}", "function": {"name": pressed[0], "arguments": {"values": pressed[1]}}}
            messages.append({"role": "agent", "content": "", "tool_calls": [call]})
        answers = {"tool_call_id": f"action-{place}"} if pressed is not None else {}
        messages.append({"role": "tool", "content": text, **answers})
    scenario = cells.get("scenario")
    known = scenario if isinstance(scenario, Mapping) else {}
    kept = {name: known[name] for name in ("flow", "subflow") if name in known}
    return {"convo_id": cells["convo_id"], **kept, MESSAGES: messages}


def _said(cells: Mapping[str, Any]) -> Sequence[Any] | None:
    """The turns as they were typed; of a dialogue without them those with names taken out."""
    found = next((cells[name] for name in (_SAID, _SHOWN) if isinstance(cells.get(name), list)), None)
    return found if found and all(_read_said(each)[0] for each in found) else None


def _read_said(turn: Any) -> tuple[str, str]:
    """(who, what) of a pair or of an entry with speaker and text; ("", "") of anything else."""
    pair = [turn.get("speaker"), turn.get("text")] if isinstance(turn, Mapping) else turn
    if isinstance(pair, list) and len(pair) == 2:
        who, text = pair
        if isinstance(who, str) and isinstance(text, str):
            return who, text
    return "", ""


def _targets(entry: Any) -> Sequence[Any]:
    found = entry.get("targets") if isinstance(entry, Mapping) else None
    return found if isinstance(found, list) else ()


def _read_button(targets: Sequence[Any]) -> tuple[str, list[str]] | None:
    """(button, what was typed into it) of an action's targets."""
    if len(targets) < 4 or targets[1] != "take_action" or not isinstance(targets[2], str):
        return None
    values = targets[3] if isinstance(targets[3], list) else []
    return targets[2], [str(each) for each in values]
