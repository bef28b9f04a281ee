"""What a command says with --json: its last line is one JSON value, also where the command fails.

A failure is told as `{"state": "failed" | "stopped", "reason": …}`, with what the command always tells beside.
"""

import json
import sys
from typing import Any

_BESIDE: dict[str, Any] = {}
_SAID: list[bool] = []


def begin() -> None:
    """Nothing has been said yet."""
    _BESIDE.clear()
    _SAID.clear()


def say(value: Any) -> None:
    """Print the line."""
    print(json.dumps(value, ensure_ascii=False))
    _SAID.append(True)


def always(**told: Any) -> None:
    """What the line of a failure holds beside its state and reason."""
    _BESIDE.update(told)


def say_failure(reason: str, state: str = "failed") -> None:
    """Print the line of a command that came to no end of its own, if --json asks for it and none has been said."""
    if "--json" in sys.argv and not _SAID:
        say({**_BESIDE, "state": state, "reason": reason})
