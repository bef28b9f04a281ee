"""The graph of a procedure, read from its file: what a map needs, and nothing of how it is judged."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from cxlab import files, resources
from cxlab.errors import BadFile, UnknownName
from cxlab.store import layout

FOLDER = resources.data("scenarios")
_SIGNS = {">=": "≥", "<=": "≤"}
FACET = "scenario"
"""The facet that names the procedure which traces are held against."""


@dataclass(frozen=True)
class Branch:
    """One way out of a stage: `conditions` are (field, wording of its values); empty where the way is always open."""

    conditions: tuple[tuple[str, str], ...]

    @property
    def short(self) -> str:
        """The values alone: "Exchange · Signed"."""
        return " · ".join(values for _, values in self.conditions)

    @property
    def full(self) -> str:
        """With the fields: "CoreIntention = Exchange, ShippingStatus = Signed"."""
        return ", ".join(f"{name} {_phrase(values)}" for name, values in self.conditions) or "always"


@dataclass(frozen=True)
class Edge:
    """All branches from a stage to one target (a stage, or an action when `ends`)."""

    source: str
    target: str
    ends: bool
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Procedure:
    """A scenario's graph. `stages` maps id to title in the order of the file; `actions` are the possible ends.

    Where the procedure hands over plans, `plans` are their names and `plan_action` the action that they go with:
    traces name the plan in the action's place, the map shows one node for all.
    """

    id: str
    title: str
    stages: dict[str, str] = field(hash=False)
    actions: tuple[str, ...]
    edges: tuple[Edge, ...]
    plan_action: str | None = None
    plans: tuple[str, ...] = ()

    @property
    def start(self) -> str:
        return next(iter(self.stages))

    def node(self, step: str) -> str:
        """The node of a step of a trace: a plan belongs to the action that hands it over."""
        return self.plan_action if self.plan_action and step in self.plans else step

    def steps(self) -> frozenset[tuple[str, str]]:
        """All transitions that the procedure knows, between nodes."""
        return frozenset((edge.source, edge.target) for edge in self.edges)

    def allows(self, path: list[str] | tuple[str, ...]) -> bool:
        """Whether a whole path, its action last, could be taken by some customer."""
        known = self.steps()
        nodes = [self.node(step) for step in path]
        return bool(nodes) and nodes[0] == self.start and all(pair in known for pair in pairwise(nodes))

    def name(self, step: str) -> str:
        """A step for people: "2 What the customer wants" for a stage, an action as it is."""
        return f"{number(step)} {self.stages[step]}" if step in self.stages else step


def number(stage: str) -> str:
    """ "3" of "stage3"; an id of another form stays whole."""
    return stage.removeprefix("stage")


def procedures() -> tuple[str, ...]:
    """The ids of all scenarios that have a file: those that ship, and a user's own in the store."""
    return tuple(sorted(_files()))


def _files() -> dict[str, Path]:
    own = {path.stem: path for path in (layout.home() / "scenarios").glob("*.yaml")}
    return own | {path.stem: path for path in FOLDER.glob("*.yaml")}


def procedure(scenario: str) -> Procedure:
    """The graph of a scenario, read again when its file changes; UnknownName where there is none."""
    found = _files()
    if scenario not in found:
        raise UnknownName("scenario", scenario, found)
    path = found[scenario]
    return _load(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=32)
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
            plans=tuple(plan.get("values") or ()),
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


def _phrase(values: str) -> str:
    return values if values.startswith((">", "<", "≥", "≤")) else f"is {values.replace(', ', ' or ')}"


def to_mermaid(found: Procedure) -> str:
    """The procedure as a Mermaid flowchart: stages as boxes, actions as rounded ends, values on the arrows."""
    lines = ["flowchart LR"]
    lines += [f'    {stage}["{_quote(found.name(stage))}"]' for stage in found.stages]
    lines += [f'    {_node_id(action)}(["{_quote(action)}"])' for action in found.actions]
    for edge in found.edges:
        label = "; ".join(branch.short for branch in edge.branches if branch.short)
        arrow = f'-- "{_quote(label)}" -->' if label else "-->"
        lines.append(f"    {edge.source} {arrow} {_node_id(edge.target) if edge.ends else edge.target}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return text.replace('"', "#quot;")


def _node_id(action: str) -> str:
    # Prefixed, so that an action can bear a word that Mermaid keeps for itself ("end").
    return "action_" + "".join(char if char.isalnum() else "_" for char in action)
