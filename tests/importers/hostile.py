"""Values that nobody meant well, and plain data with such a value put into it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

few = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])

NUMBERS = st.sampled_from([0, -1, 1, 2**31, 2**62, 2**63, -(2**63) - 1, 10**30, 0.5, -0.5, 1e308, math.nan, math.inf])
TEXTS = st.sampled_from(
    ["", " ", "x", "yes", "\0", "half \ud83d a pair", "\u202e", "NaN", "1e999", "[" * 900, "x" * 999]
)
ODD = (
    st.none()
    | st.booleans()
    | NUMBERS
    | TEXTS
    | st.text(max_size=8)
    | st.sampled_from([[], {}, [[]], [None], {"": None}, {"a": {"b": [1]}}])
)
DEEP: Any = json.loads("[" * 300 + "]" * 300)


def save(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(content).encode())
    return path


def spoil(content: Any, where: tuple[Any, ...], value: Any) -> Any:
    """A copy of plain data with another value at a place."""
    if not where:
        return value
    copied = dict(content) if isinstance(content, dict) else list(content)
    copied[where[0]] = spoil(copied[where[0]], where[1:], value)
    return copied


def places(content: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [where, *(place for key, each in inner for place in places(each, (*where, key)))]
