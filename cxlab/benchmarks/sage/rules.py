"""The rule engine: a procedure as a graph, its unique path for given facts, and all its leaves.

A scenario is one YAML file in `data/scenarios/`; nothing in this folder knows any of them by name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from cxlab import files, resources
from cxlab.errors import CxError, UnknownName
from cxlab.files import Complaint

FOLDER = resources.data("scenarios")
FORM = "see the other scenarios for the form"
LEVELS = ("zero", "weak", "strong")

# A condition of an integer: above this number.
MORE = re.compile(r">\s*(-?\d{1,18})")
# A procedure of more leaves is not one that anybody follows, and enumerating it would never end.
MOST_LEAVES = 5_000

Value = bool | int | str


class ScenarioPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Option(ScenarioPart):
    """One value of a field: what it means, how it is recognised, how a customer says it.

    `signals` are plain wordings and `subtle` indirect ones (a trailing * matches any ending); both are
    printed in the procedure. The other lists are grammar lines for the simulated customer:
    `says` plainly, `heated` in anger, `oblique` indirectly, `denies` says that it is not so.
    """

    description: str
    signals: tuple[str, ...] = ()
    subtle: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    heated: tuple[str, ...] = ()
    oblique: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()


class FieldSpec(ScenarioPart):
    """A classification field; `default` holds until the customer says otherwise."""

    description: str
    default: Value
    ask: tuple[str, ...]
    topic: tuple[str, ...]
    emotion: bool = False
    options: dict[Value, Option]


class Variable(ScenarioPart):
    """A system variable: named values, or an integer with the sample values that leaves use."""

    description: str
    values: dict[Value, str] = {}
    integer: bool = False
    samples: tuple[int, ...] = ()
    context_only: bool = False

    @property
    def domain(self) -> tuple[Value, ...]:
        return self.samples if self.integer else tuple(self.values)


class Branch(ScenarioPart):
    """Taken when every condition holds; leads to a stage or ends in an action.

    A condition is a value, a list of values, or for integers `">N"`. `set` notes further outputs that
    are handed over only together with the action that the scenario's `plan.with` names.
    """

    when: dict[str, Any] = {}
    to: str | None = None
    action: str | None = None
    set: dict[str, str] = {}


class Stage(ScenarioPart):
    title: str
    branches: tuple[Branch, ...]


class Action(ScenarioPart):
    """What the agent may do; `clause` completes "I will …", `done` is what the customer then knows."""

    description: str
    clause: tuple[str, ...]


class Plan(ScenarioPart):
    """A second output beside the action, delivered only with one action, else `none`."""

    name: str
    with_action: str = Field(alias="with")
    none: str
    values: dict[str, str]


class Intent(ScenarioPart):
    """Why customers call; `when` says to which leaves it belongs, `level` is its natural level."""

    title: str
    level: str
    when: dict[str, Any] = {}
    background: tuple[str, ...]
    goal: str
    openings: tuple[str, ...]


class Personality(ScenarioPart):
    description: str
    style: tuple[str, ...] = ()


class SmallTalk(ScenarioPart):
    """What customers say besides their facts, by adversarial level."""

    small_talk: tuple[str, ...]
    objections: dict[str, tuple[str, ...]]


class Trace(NamedTuple):
    """The one path and action for given facts; `read` names what was looked at, in order."""

    path: tuple[str, ...]
    action: dict[str, str]
    read: tuple[str, ...]


class Leaf(NamedTuple):
    """A minimal decision leaf: only the values that the traversal reads, its path and its action."""

    id: str
    given: dict[str, Value]
    path: tuple[str, ...]
    action: dict[str, str]


class Untraceable(CxError):
    """The procedure reads a value that is missing or outside its options."""


class Scenario(ScenarioPart):
    """One procedure with everything needed to play and to judge it."""

    id: str
    short: str
    title: str
    business: str
    role: str
    slots: dict[str, tuple[str, ...]]
    fields: dict[str, FieldSpec]
    system: dict[str, Variable]
    actions: dict[str, Action]
    plan: Plan | None = None
    stages: dict[str, Stage] = Field(min_length=1)
    intents: dict[str, Intent]
    personalities: dict[str, Personality]
    talk: SmallTalk

    @property
    def start(self) -> str:
        return next(iter(self.stages))

    def domain(self, name: str) -> tuple[Value, ...]:
        """The values a field or system variable can take (sample values for an integer)."""
        return tuple(self.fields[name].options) if name in self.fields else self.system[name].domain

    def defaults(self) -> dict[str, Value]:
        """What each field is until the customer says otherwise."""
        return {name: spec.default for name, spec in self.fields.items()}

    def trace(self, fields: Mapping[str, Any], system: Mapping[str, Any]) -> Trace:
        """Follow the procedure from fields and system variables to its unique path and action.

        Raises Untraceable when a stage reads a value that is missing or unknown, so that an unknown
        value never falls into an `else`.
        """
        facts = {**fields, **system}
        path: list[str] = []
        read: dict[str, None] = {}
        noted: dict[str, str] = {}
        stage = self.start
        while True:
            if stage in path:
                raise Untraceable(f"{self.id}: the procedure returns to {stage}")
            path.append(stage)
            branch = self._choose(stage, facts, read)
            noted.update(branch.set)
            if branch.action is not None:
                return Trace(tuple(path), self._outputs(branch.action, noted), tuple(read))
            stage = str(branch.to)

    def leaves(self) -> tuple[Leaf, ...]:
        """All minimal decision leaves, in the order of options; their paths cover the procedure."""
        return tuple(_enumerate(self))

    def _choose(self, stage: str, facts: Mapping[str, Any], read: dict[str, None]) -> Branch:
        for branch in self.stages[stage].branches:
            for name, condition in branch.when.items():
                read[name] = None
                if not self._known(name, facts.get(name)):
                    raise Untraceable(
                        f"{self.id}: {stage} reads {name}, which is {facts.get(name)!r}; known: {self.domain(name)}"
                    )
                if not meets(facts[name], condition):
                    break
            else:
                return branch
        raise Untraceable(f"{self.id}: no branch of {stage} fits {dict(facts)}")

    def _known(self, name: str, value: Any) -> bool:
        variable = self.system.get(name)
        if variable is not None and variable.integer:
            return isinstance(value, int) and not isinstance(value, bool)
        return any(same(value, option) for option in self.domain(name))

    def _outputs(self, action: str, noted: Mapping[str, str]) -> dict[str, str]:
        outputs = {"Action": action}
        if self.plan:
            given = self.plan.with_action == action
            outputs[self.plan.name] = noted.get(self.plan.name, self.plan.none) if given else self.plan.none
        return outputs


def same(a: Any, b: Any) -> bool:
    """Equal in type and value: True is not 1, and 0 is not False."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def meets(value: Any, condition: Any) -> bool:
    """Whether a value meets a branch's condition: a value, a list of them, or `">N"` for integers."""
    if isinstance(condition, list | tuple):
        return any(same(value, one) for one in condition)
    if isinstance(condition, str) and isinstance(value, int) and (more := MORE.fullmatch(condition)):
        return value > int(more[1])
    return same(value, condition)


def applies(when: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Whether all conditions hold; a fact that is not there meets none."""
    return all(name in facts and meets(facts[name], condition) for name, condition in when.items())


@functools.cache
def load(scenario_id: str) -> Scenario:
    """The scenario of that id from `data/scenarios/`; raises UnknownName or BadFile."""
    path = FOLDER / f"{scenario_id}.yaml"
    if scenario_id not in ids():
        raise UnknownName("scenario", scenario_id, ids())
    return read_file(path)


def ids() -> tuple[str, ...]:
    """The ids of all scenarios that lie in `data/scenarios/`."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def read_file(path: Path) -> Scenario:
    """Read one scenario file; raises BadFile with the line of the first thing that is wrong."""
    return files.load_model(path, Scenario, FORM)


def parse(path: Path) -> tuple[Scenario | None, list[Complaint]]:
    """Read the file into a Scenario, or say with file and line why it cannot be read."""
    return files.read_model(path, Scenario, FORM)


def _enumerate(scenario: Scenario) -> Iterator[Leaf]:
    """Depth-first over the values in the order in which the procedure asks for them."""
    count = 0
    todo: list[dict[str, Value]] = [{}]
    while todo:
        given = todo.pop()
        missing = _first_missing(scenario, given)
        if missing:
            todo.extend({**given, missing: value} for value in reversed(scenario.domain(missing)))
            continue
        trace = scenario.trace(
            {k: v for k, v in given.items() if k in scenario.fields},
            {k: v for k, v in given.items() if k in scenario.system},
        )
        count += 1
        if count > MOST_LEAVES:
            raise Untraceable(f"{scenario.id}: more than {MOST_LEAVES:,} ways through the procedure")
        yield Leaf(f"{scenario.short}-{count:02d}", given, trace.path, trace.action)


def _first_missing(scenario: Scenario, given: Mapping[str, Value]) -> str | None:
    """The first value that the traversal needs and does not have; None at a leaf."""
    stage, seen = scenario.start, 0
    while True:
        seen += 1
        if seen > len(scenario.stages):
            raise Untraceable(f"{scenario.id}: the procedure runs in a circle at {stage}")
        chosen = None
        for branch in scenario.stages[stage].branches:
            fits = True
            for name, condition in branch.when.items():
                if name not in given:
                    return name
                if not meets(given[name], condition):
                    fits = False
                    break
            if fits:
                chosen = branch
                break
        if chosen is None:
            raise Untraceable(f"{scenario.id}: no branch of {stage} fits {dict(given)}")
        if chosen.action is not None:
            return None
        stage = str(chosen.to)
