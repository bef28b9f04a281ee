"""How a simulated side writes its move: as native tool calls, or as JSON where it was asked for that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cxlab.llm.base import Completion
from cxlab.records import ToolCall


def written(calls: Sequence[tuple[str, dict[str, Any]]], text: str, as_text: bool, place: int) -> str | Completion:
    """A move in the form that was asked for: tool calls as such, or all of it as one JSON object."""
    if as_text:
        wishes = [{"name": name, "arguments": arguments} for name, arguments in calls]
        return json.dumps({"calls": wishes, "message": text}, ensure_ascii=False)
    made = tuple(
        ToolCall(id=f"call_{place}_{n}", name=name, arguments=json.dumps(arguments))
        for n, (name, arguments) in enumerate(calls, 1)
    )
    return Completion(text=text, tool_calls=made)
