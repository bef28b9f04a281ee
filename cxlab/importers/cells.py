"""What stands in one cell of other people's files: lists as text, Python literals, transcripts.

Nothing is ever executed: text is read as JSON, else as a Python literal.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.files import find_fault

_NUMBERED = re.compile(
    r"^[^\S\n]*+(agent|customer|user|ivr[_ ]?bot|ivr|bot|system)\s*\[(\d{1,9})\]\s*:\s?", re.IGNORECASE | re.MULTILINE
)
_PLAIN = re.compile(
    r"^[^\S\n]*+(agent|customer|user|ivr[_ ]?bot|ivr|bot|system)()\s*:\s?", re.IGNORECASE | re.MULTILINE
)
_WHO = {"agent": "Agent", "customer": "Customer", "user": "Customer"}
_ANSWERS = {"yes": "Yes", "true": "Yes", "no": "No", "false": "No", "na": "NA", "n/a": "NA", "not applicable": "NA"}
# Characters of a list that Python wrote; what its parser needs is a hundred times as much.
LONGEST_LITERAL = 200_000
_ID = re.compile(r"[\w.:/-]+")
# numpy prints a list without commas; Python would join such texts into one.
_QUOTED = r"""(?:'[^']*+'|"[^"]*+")"""
_NUMPY = re.compile(rf"\[\s*+{_QUOTED}(?:\s++{_QUOTED})+\s*+\]")


class Unreadable(ValueError):
    """A cell that is not what its column should hold; the text says why."""


def as_text(value: Any) -> str:
    """The cell as text without blanks around it; "" for None and for pandas' nan."""
    if value is None:
        return ""
    text = str(value).strip()
    return "" if text.lower() in ("nan", "none", "null") else text


def as_literal(text: str) -> Any:
    """The value that a text writes, as JSON or as a Python literal; Unreadable otherwise."""
    found = _read_literal(text)
    if fault := find_fault(found):
        raise Unreadable(f"{fault.problem}: {text.strip()[:80]!r}")
    return found


def _read_literal(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if len(text) > LONGEST_LITERAL:
        raise Unreadable(f"no JSON, and {len(text):,} characters; the limit for other lists is {LONGEST_LITERAL:,}")
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise Unreadable(f"neither JSON nor a Python literal ({type(error).__name__}): {text.strip()[:80]!r}") from None


def as_list(value: Any) -> list[str]:
    """A list of texts, however it is written: a real list, JSON, Python, numpy's print, or ids with commas."""
    if value is None:
        return []
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_text(one) for one in value if as_text(one)]
    text = as_text(value)
    if not text:
        return []
    if _NUMPY.fullmatch(text) and "," not in text:
        return [single or double for single, double in re.findall(r"'([^']*)'|\"([^\"]*)\"", text)]
    if text[0] in "[({":
        found = as_literal(text)
        if isinstance(found, Mapping) or not isinstance(found, Sequence | set | frozenset) or isinstance(found, str):
            raise Unreadable(f"no list: {text[:80]!r}")
        # A set has no order of its own.
        given = sorted(found, key=str) if isinstance(found, set | frozenset) else found
        return [as_text(one) for one in given if as_text(one)]
    parts = [part.strip() for part in re.split(r"[,;]", text)]
    if not all(_ID.fullmatch(part) for part in parts):
        raise Unreadable(f"no list of ids: {text[:80]!r}")
    return parts


def as_object(value: Any) -> dict[str, Any]:
    """A JSON object."""
    found = as_literal(as_text(value)) if not isinstance(value, Mapping) else dict(value)
    if not isinstance(found, dict):
        raise Unreadable(f"no object: {as_text(value)[:80]!r}")
    return found


def as_dicts(value: Any) -> list[dict[str, Any]]:
    """A list of objects; one object alone is a list of one."""
    found = value if isinstance(value, Sequence) and not isinstance(value, str) else as_literal(as_text(value))
    found = [found] if isinstance(found, dict) else found
    if not isinstance(found, Sequence) or isinstance(found, str) or not all(isinstance(one, dict) for one in found):
        raise Unreadable(f"no list of questions: {as_text(value)[:80]!r}")
    return list(found)


def as_question(given: dict[str, Any]) -> tuple[str, str, list[int]]:
    """(question, Yes | No | NA, evidence line ids) of one entry."""
    cells = {key.strip().lower(): value for key, value in given.items() if isinstance(key, str)}
    question = as_text(cells.get("question"))
    if not question:
        raise Unreadable(f"an entry without a question: {str(given)[:80]!r}")
    said = cells.get("answer")
    answer = _ANSWERS.get(as_text(said).lower())
    if answer is None:
        raise Unreadable(f"the answer {str(said)[:60]!r} to {question[:60]!r} is none of Yes, No, NA")
    proof = cells.get("proof_message_ids") or []
    numbers = re.findall(r"\b\d{1,9}\b", proof if isinstance(proof, str) else " ".join(map(str, proof)))
    return question, answer, list(dict.fromkeys(map(int, numbers)))


def as_lines(text: str) -> list[dict[str, Any]]:
    """The numbered lines of a transcript: "AGENT[3]: ..." keeps its number, "Agent: ..." is counted from 1."""
    marks = list(_NUMBERED.finditer(text)) or list(_PLAIN.finditer(text))
    lines = []
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(text)
        who = _WHO.get(mark[1].lower(), "IVR" if mark[1].lower().startswith(("ivr", "bot")) else "System")
        lines.append({"id": int(mark[2] or place + 1), "who": who, "text": text[mark.end() : end].strip()})
    return lines


def to_json(value: Any) -> str:
    """Compact JSON, umlauts as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
