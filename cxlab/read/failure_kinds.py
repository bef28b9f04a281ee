"""Kinds of what goes wrong, in words; and what procedures ask for, as judges and agents write it."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from cxlab import files
from cxlab.read import scenarios

KINDS = {
    "any": "anything at all",
    "field": "misread field",
    "execution": "left the procedure",
    "action": "wrong action",
    "lucky": "right by luck",
    "panel": "panel off the truth",
    "answer": "wrong result",
    "format": "unreadable reply",
    "unmarked": "not scored",
    "provider": "provider fault",
    "customer": "simulated customer fault",
    "judge": "judge without a usable vote",
    "scorer": "scorer fault",
    "unscored": "no reference: judges tied",
    "refused": "tool call refused",
    "arguments": "tool call with bad arguments",
    "unknown_tool": "call of a tool that is not there",
    "tool": "other tool error",
    "customer_tool": "customer's tool call refused",
    "agent": "slip of the agent",
}
"""Kinds of trouble in words. `any` stands for those that are a fault of an agent, a provider or a customer."""

EVENTS = ("refused", "arguments", "unknown_tool", "tool", "customer_tool", "agent")
"""Kinds that may happen on the way to a good end: an agent that is refused and mends it has done nothing wrong."""

VERDICTS = {"failed": ("failed",), "unscored": ("unscored",), "wrong": ("failed", "unscored"), "passed": ("passed",)}
"""What View.verdict lets through; all other values let everything through."""

NOT_ANY = ("judge", "scorer", "unscored", "unmarked", *EVENTS)
"""Kinds that `any` does not stand for."""

TOOL_ERRORS = ("refused", "arguments", "unknown_tool")
"""Types of failures with a kind of their own, where a tool is where they happened."""


def kind_of(where: str, type_: str) -> str:
    """The kind of a stored failure, as the SQL of `troubles` has it."""
    if type_ not in TOOL_ERRORS:
        return where
    return {"tool": type_, "customer": "customer_tool"}.get(where, where)


def stage_fields() -> str:
    """JSON rows of scenario, stage and the fields that the stage asks for, in order; read anew when a file changes."""
    return _reads(_stamp())


def _stamp() -> tuple[tuple[str, int], ...]:
    return tuple((path.stem, path.stat().st_mtime_ns) for path in sorted(scenarios.FOLDER.glob("*.yaml")))


@lru_cache(maxsize=4)
def _reads(stamp: tuple[tuple[str, int], ...]) -> str:
    """JSON: which fields each stage of each procedure asks for, in order."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, _ in stamp:
        for edge in scenarios.procedure(name).edges:
            fields = rows.setdefault((name, edge.source), [])
            fields += [field for branch in edge.branches for field, _ in branch.conditions if field not in fields]
    return json.dumps(
        [{"scenario": scenario, "stage": stage, "fields": fields} for (scenario, stage), fields in rows.items()]
    )


def field_options(scenario: str) -> dict[str, tuple[str, ...]]:
    """The fields of a scenario and their options as judges write them; {} where there is no such scenario."""
    path = scenarios.FOLDER / f"{scenario}.yaml"
    return _options(path, path.stat().st_mtime_ns) if scenario in scenarios.procedures() else {}


@lru_cache(maxsize=32)
def _options(path: Path, stamp: int) -> dict[str, tuple[str, ...]]:
    fields = files.read_yaml(path).get("fields") or {}
    return {name: tuple(_show(option) for option in spec.get("options") or ()) for name, spec in fields.items()}


def _show(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
