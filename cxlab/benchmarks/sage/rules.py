"""The rule engine: a procedure as a graph, its unique path for given facts, and all its leaves.

A scenario is one YAML file in `data/scenarios/` or in `scenarios/` of the store; nothing here knows any by name.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from cxlab import files, resources
from cxlab.benchmarks.sage import conditions
from cxlab.benchmarks.sage.conditions import Kind, ValueInterval
from cxlab.errors import CxError, UnknownName
from cxlab.files import Complaint
from cxlab.store import home

FOLDER = resources.data("scenarios")
FORM = "see the other scenarios for the form"
LEVELS = ("zero", "weak", "strong")

# A procedure of more leaves is not one that anybody follows, and enumerating it would never end.
MOST_LEAVES = 5_000

Value = bool | int | float | str


class ScenarioPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Option(ScenarioPart):
    """One value of a field: `description` is what it means to the desk, `customer` what it is for the one who has it.

    `customer` is in the second person and in other words than the description: each side reads its own. Slots in angle
    brackets are filled in.
    """

    description: str
    customer: str = ""


class FieldSpec(ScenarioPart):
    """A classification field; `default` holds until the customer says otherwise."""

    description: str
    default: Value
    emotion: bool = False
    options: dict[Value, Option]


class Variable(ScenarioPart):
    """A system variable: named values, or a number or date of which branches read bounds.

    `number`: integer (also `integer: true`), amount (to the cent) or date; `low` is the least value that occurs, with
    dates none unless given. `samples` are the values that stand for their cells in leaves; else they are solved. The
    `hidden` ones the desk has noted and the customer does not know of.
    """

    description: str
    title: str = ""
    values: dict[Value, str] = {}
    integer: bool = False
    number: Kind | None = None
    low: int | float | str | None = None
    samples: tuple[Any, ...] = ()
    context_only: bool = False
    hidden: tuple[Value, ...] = ()

    @property
    def kind(self) -> Kind | None:
        return "integer" if self.integer else self.number

    @property
    def least(self) -> int | None:
        """The least step of a number; None where there is no end."""
        kind = self.kind
        if kind is None or (kind == "date" and self.low is None):
            return None
        return conditions.to_step(0 if self.low is None else self.low, kind)


class Branch(ScenarioPart):
    """Taken when every condition holds; leads to a stage or ends in an action.

    A condition is a value, a list of values, or for numbers and dates a bound or a range (`conditions`). `set` notes
    further outputs that are handed over only together with the action that the scenario's `plan.with` names.
    """

    when: dict[str, Any] = {}
    to: str | None = None
    action: str | None = None
    set: dict[str, str] = {}


class Stage(ScenarioPart):
    title: str
    branches: tuple[Branch, ...]


class Action(ScenarioPart):
    """What the agent may do."""

    description: str


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


class Personality(ScenarioPart):
    description: str
    style: tuple[str, ...] = ()


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
    slots: dict[str, tuple[str, ...]] = {}
    fields: dict[str, FieldSpec]
    system: dict[str, Variable] = {}
    actions: dict[str, Action]
    plan: Plan | None = None
    stages: dict[str, Stage] = Field(min_length=1)
    intents: dict[str, Intent]
    personalities: dict[str, Personality]

    def __hash__(self) -> int:
        """So that what is worked out of a procedure can be kept; two versions of one are told apart by `==`."""
        return hash(self.id)

    @property
    def start(self) -> str:
        return next(iter(self.stages))

    def domain(self, name: str) -> tuple[Value, ...]:
        """The values a field or system variable can take; of a number one for each cell that its bounds cut."""
        if name in self.fields:
            return tuple(self.fields[name].options)
        variable = self.system[name]
        if variable.kind is None:
            return tuple(variable.values)
        return tuple(self._stand_in(name, cell) for cell in self.cells(name))

    def kind(self, name: str) -> Kind | None:
        """What kind of number a variable is; None for one with named values, and for a field."""
        return self.system[name].kind if name in self.system else None

    def cells(self, name: str) -> tuple[ValueInterval, ...]:
        """The pieces into which all conditions of the procedure cut a number."""
        return self._cells[name]

    def cell_of(self, name: str, value: Any) -> ValueInterval | None:
        """The cell in which a number lies."""
        step = conditions.to_step(value, self.system[name].kind or "integer")
        return next((cell for cell in self.cells(name) if step is not None and cell.holds(step)), None)

    def meets(self, name: str, value: Any, condition: Any) -> bool:
        """Whether a field's or variable's value meets a condition."""
        return conditions.meets(value, condition, self.kind(name))

    def applies(self, when: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
        """Whether all conditions hold; a fact that is not there meets none."""
        return all(name in facts and self.meets(name, facts[name], condition) for name, condition in when.items())

    @functools.cached_property
    def _leaves(self) -> tuple[Leaf, ...]:
        return tuple(_enumerate(self))

    @functools.cached_property
    def _options(self) -> dict[str, frozenset[tuple[bool, Value]]]:
        """The domain of each name that is no number, values told apart as `same` does."""
        return {
            name: frozenset((isinstance(value, bool), value) for value in self.domain(name))
            for name in (*self.fields, *self.system)
            if self.kind(name) is None
        }

    @functools.cached_property
    def _cells(self) -> dict[str, tuple[ValueInterval, ...]]:
        read: dict[str, list[Any]] = {name: [] for name, variable in self.system.items() if variable.kind}
        for stage in self.stages.values():
            for branch in stage.branches:
                for name, condition in branch.when.items():
                    if name in read:
                        read[name] += condition if isinstance(condition, list | tuple) else [condition]
        return {
            name: conditions.cells(found, self.system[name].kind or "integer", self.system[name].least)
            for name, found in read.items()
        }

    def _stand_in(self, name: str, cell: ValueInterval) -> Value:
        """The value that stands for a cell in leaves."""
        variable = self.system[name]
        kind = variable.kind or "integer"
        inside = (v for v in variable.samples if (step := conditions.to_step(v, kind)) is not None and cell.holds(step))
        found: Value = next(inside, conditions.representative(cell, kind))
        return found

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
        return self._leaves

    def _choose(self, stage: str, facts: Mapping[str, Any], read: dict[str, None]) -> Branch:
        for branch in self.stages[stage].branches:
            for name, condition in branch.when.items():
                read[name] = None
                if not self._known(name, facts.get(name)):
                    raise Untraceable(
                        f"{self.id}: {stage} reads {name}, which is {facts.get(name)!r}; known: {self.domain(name)}"
                    )
                if not self.meets(name, facts[name], condition):
                    break
            else:
                return branch
        raise Untraceable(f"{self.id}: no branch of {stage} fits {dict(facts)}")

    def _known(self, name: str, value: Any) -> bool:
        if kind := self.kind(name):
            return conditions.to_step(value, kind) is not None
        try:
            return (isinstance(value, bool), value) in self._options[name]
        except TypeError:  # a list or an object, which is no value of a field
            return False

    def _outputs(self, action: str, noted: Mapping[str, str]) -> dict[str, str]:
        outputs = {"Action": action}
        if self.plan:
            given = self.plan.with_action == action
            outputs[self.plan.name] = noted.get(self.plan.name, self.plan.none) if given else self.plan.none
        return outputs


def load(scenario_id: str) -> Scenario:
    """The scenario of that id, read again when its file changes; raises UnknownName or BadFile."""
    found = files_by_id()
    if scenario_id not in found:
        raise UnknownName("scenario", scenario_id, found)
    path = found[scenario_id]
    return _load(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _load(path: Path, stamp: int) -> Scenario:
    return read_file(path)


def own_folder() -> Path:
    """Where a user's own scenarios lie."""
    return home() / "scenarios"


def files_by_id() -> dict[str, Path]:
    """The files of all scenarios: those that ship, and a user's own beside them under other names."""
    folder = own_folder()
    shipped = _list_files(FOLDER, FOLDER.stat().st_mtime_ns)
    own = {path.stem: path for path in sorted(folder.glob("*.yaml"))} if folder.is_dir() else {}
    return dict(sorted((own | shipped).items())) if own else dict(shipped)


def ids() -> tuple[str, ...]:
    """The ids of all scenarios that ship: what a dataset is made of when none is named."""
    return tuple(_list_files(FOLDER, FOLDER.stat().st_mtime_ns))


@functools.lru_cache(maxsize=8)
def _list_files(folder: Path, changed_ns: int) -> dict[str, Path]:
    """Listed again when a file came or went."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


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
                if not scenario.meets(name, given[name], condition):
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
