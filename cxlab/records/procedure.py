"""Procedures that agents are held to: their graphs, turns compared with them, and what a benchmark declares of them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from cxlab.errors import BadOption
from cxlab.records.base import Record
from cxlab.records.declarations import Declarations


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
    """The graph of a procedure. `stages` maps id to title in the order of the file; `actions` are the possible ends.

    Where the procedure hands over plans, `plans` are their names with what each is, and `plan_action` the action that
    they go with: traces name the plan in the action's place, the map shows one node for all. `fields`: what is read
    from customers, and the values that each may take, as judges write them.
    """

    id: str
    title: str
    stages: dict[str, str] = field(hash=False)
    actions: tuple[str, ...]
    edges: tuple[Edge, ...]
    plan_action: str | None = None
    plans: dict[str, str] = field(default_factory=dict, hash=False)
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

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


def _phrase(values: str) -> str:
    return values if values.startswith((">", "<", "≥", "≤")) else f"is {values.replace(', ', ' or ')}"


class SingleJudgeTrace(Record):
    """What a turn would come to if one judge alone were the panel: the way its fields lead, and the scores.

    `path` is empty and `action` None where its fields lead nowhere (one is missing or outside the options). `scores`:
    metric → points, of those metrics for which this judge gave enough.
    """

    judge: str
    path: tuple[str, ...] = ()
    action: str | None = None
    scores: dict[str, float] = {}


class Trace(Record):
    """One evaluated turn compared with a procedure.

    `reference_*` follow from the judges' fields, `own_path` and `own_action` from the agent's own
    fields, `gold_*` from the leaf the customer was made from. `moves` aligns predicted with reference
    as (`sync` | `inserted` | `skipped`, stage). `error`: `none`, `format`, `unscored`, or one of the classes that the
    benchmark declares (`Procedures`).
    `single_judges`: the same turn by each judge on its own.
    """

    attempt_id: str
    turn: int
    last: bool
    parsed: bool
    predicted_fields: dict[str, Any] = {}
    panel_fields: dict[str, Any] = {}
    gold_fields: dict[str, Any] = {}
    predicted_path: tuple[str, ...] = ()
    reference_path: tuple[str, ...] = ()
    own_path: tuple[str, ...] = ()
    gold_path: tuple[str, ...] = ()
    predicted_action: str | None = None
    reference_action: str | None = None
    own_action: str | None = None
    gold_action: str | None = None
    moves: tuple[tuple[str, str], ...] = ()
    error: str = "unscored"
    single_judges: tuple[SingleJudgeTrace, ...] = ()


@dataclass(frozen=True)
class SingleJudgeScores:
    """Metrics among `SingleJudgeTrace.scores` that the page Judges compares judges by: `way` follows from the way that
    a judge's fields lead, models are ranked by `whole`."""

    way: str
    whole: str


@dataclass(frozen=True)
class Procedures:
    """What a benchmark declares whose agents are held to procedures, so that its turns have traces.

    `facet`: the facet of a sample that names its procedure, `leaf` the one that names the way due through it,
    `level` how hard the customer makes it. `ids()`: the procedures that there are; `load(id)`: one of
    them, as its file is now; UnknownName without one.
    The classes of what goes wrong on a turn, `Trace.error` → words: of `misread` the way taken is where the agent's own
    fields lead, of `deviations` it is the one it reported; `others` are not the agent's doing. `disputed` are those of
    `others` on which panel, the customer's own account and its card differ on whether the agent was right.
    `words`: what ids of fields, values and actions are called on pages where the id does not say it.
    `meanings`: of such a class or of `none`, `format` and `unscored`, what it means in a clause; `told_apart`: a
    sentence on how the classes are told apart. `turn_scores`: the metrics that a turn's card shows, the first in its
    title. `path_scores`: those of them that compare its path, whose
    meaning the card tells. `single_judge`: the metrics that each judge alone gives, where it gives any.
    `exact`: metric → whether it asks for the path or the action of the reference, all or nothing.
    """

    facet: str
    ids: Callable[[], tuple[str, ...]]
    load: Callable[[str], Procedure]
    misread: Mapping[str, str]
    deviations: Mapping[str, str]
    others: Mapping[str, str] = field(default_factory=dict)
    disputed: Collection[str] = ()
    leaf: str = ""
    level: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    told_apart: str = ""
    turn_scores: tuple[str, ...] = ()
    path_scores: tuple[str, ...] = ()
    single_judge: SingleJudgeScores | None = None
    exact: Mapping[str, Literal["path", "action"]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        facets = filter(None, (self.leaf, self.level))
        for name in (self.facet, *facets, *self.misread, *self.deviations, *self.others):
            if not name.isidentifier():
                raise BadOption(f"{name!r}: name facets and classes by plain words")


DECLARED: Declarations[Procedures] = Declarations("which procedures there are")
add_source, declared = DECLARED.add_source, DECLARED.read
