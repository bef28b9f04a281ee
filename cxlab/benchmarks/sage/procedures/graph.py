"""The graph of a procedure, read from its file: what a map needs, and nothing of how it is judged."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from cxlab import files
from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.procedures.sop_text import show
from cxlab.errors import BadFile, UnknownName
from cxlab.records.procedure import Branch, Edge, Procedure

_SIGNS = {">=": "≥", "<=": "≤"}


def ids() -> tuple[str, ...]:
    """The ids of all scenarios that have a file: those that ship, and a user's own in the store."""
    return tuple(rules.files_by_id())


def load(scenario: str) -> Procedure:
    """The graph of a scenario, read again when its file changes; UnknownName where there is none."""
    found = rules.files_by_id()
    if scenario not in found:
        raise UnknownName("scenario", scenario, found)
    path = found[scenario]
    return _load(path, path.stat().st_mtime_ns)


# What is still being written reads as far as a map needs it, so a file is not held to the whole form of a scenario.
@lru_cache(maxsize=64)
def _load(path: Path, stamp: int) -> Procedure:
    try:
        content: dict[str, Any] = files.read_yaml(path)
        found: dict[tuple[str, str, bool], list[Branch]] = {}
        for stage, spec in content["stages"].items():
            for branch in spec["branches"]:
                ends = "action" in branch
                key = (stage, str(branch["action"] if ends else branch["to"]), ends)
                conditions = tuple((str(k), _values(v)) for k, v in (branch.get("when") or {}).items())
                found.setdefault(key, []).append(Branch(conditions))
        plan = content.get("plan") or {}
        return Procedure(
            id=content["id"],
            title=content["title"],
            stages={stage: spec["title"] for stage, spec in content["stages"].items()},
            actions=tuple(content["actions"]),
            edges=tuple(Edge(*key, tuple(branches)) for key, branches in found.items()),
            plan_action=plan.get("with"),
            plans={str(name): str(about) for name, about in (plan.get("values") or {}).items()},
            fields={
                name: tuple(map(show, spec.get("options") or ()))
                for name, spec in (content.get("fields") or {}).items()
            },
        )
    except (KeyError, TypeError, AttributeError) as fault:
        raise BadFile(path.name, None, f"not a scenario ({fault})", "check it with `python -m cxlab check`") from fault


def _values(condition: Any) -> str:
    if isinstance(condition, list):
        return ", ".join(map(_values, condition))
    if isinstance(condition, bool):
        return "yes" if condition else "no"
    if not isinstance(condition, str):
        return str(condition)
    bound = re.sub(r"^(>=|<=|>|<)\s*", lambda found: f"{_SIGNS.get(found[1], found[1])} ", condition)
    return re.sub(r"^(-?\d[\d.-]*)\.\.(-?\d)", r"\1 to \2", bound)
