"""Calls of tools in a message of OpenAI's chat format."""

import json
from typing import Any

from cxlab.importers.cells import as_text
from cxlab.records.conversation import ToolCall

LONGEST = 100_000
"""Characters of a call's arguments; what is longer is no call."""


def read_calls(value: Any) -> tuple[ToolCall, ...]:
    """The calls in a message's `tool_calls`; what is none, or holds the character NUL, is left out."""
    found = []
    for each in value if isinstance(value, list | tuple) else ():
        function = each.get("function") if isinstance(each, dict) else None
        if not isinstance(function, dict):
            continue
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments or {}, ensure_ascii=False, default=str)
        parts = as_text(each.get("id")), as_text(function.get("name")), arguments
        if parts[1] and "\0" not in "".join(parts) and len(parts[2]) <= LONGEST:
            found.append(ToolCall(id=parts[0], name=parts[1], arguments=parts[2]))
    return tuple(found)
