"""What an agent gets to read of what a query or tool returned, and how large that was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from cxlab.benchmarks.crmarena.tools.definition import ERROR


@dataclass(frozen=True)
class Observation:
    """An answer as text. `records` it has, None where it is no list; `characters` of the whole answer, of which `text`
    may be the beginning; `error`: the product's code, or "tool" for what a tool cannot do, None where it was answered.
    """

    text: str
    records: int | None
    characters: int
    error: str | None = None


def observe(result: Any, limit: int = 0) -> Observation:
    """What is shown of a result: JSON, whole records up to `limit` characters (0: all) with how many are left out."""
    if isinstance(result, str) and result.startswith(ERROR):
        code = result.removeprefix(ERROR).partition(":")[0]
        named = code if code.isupper() and " " not in code else "tool"
        return Observation(result, None, len(result), named)
    whole = result if isinstance(result, str) else _to_json(result)
    records = len(result) if isinstance(result, list) else None
    if not limit or len(whole) <= limit:
        return Observation(whole, records, len(whole))
    if not isinstance(result, list):
        left = len(whole) - limit
        return Observation(f"{whole[:limit]}\n({left:,} more characters are left out.)", records, len(whole))
    shown, used = [], 2
    for each in result:
        text = _to_json(each)
        if used + len(text) + 1 > limit:
            break
        shown.append(text)
        used += len(text) + 1
    note = f"(The first {len(shown):,} of {len(result):,} are shown; ask for fewer fields, or more narrowly.)"
    return Observation(f"[{','.join(shown)}]\n{note}", records, len(whole))


def _to_json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
