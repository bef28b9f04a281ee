"""A world that two can act on: the agent's tools on the company's records, the customer's on a device of their own.

A domain is one class: methods marked `@tool` are what models may call, methods marked `@setup` and `@assertion` are
the functions that tasks name to bring about a first state and to judge the last. A model may send anything: `call`
answers with a `Result` and leaves both sides as they were when it does not carry the call out.
"""

import copy
import functools
import hashlib
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_type_hints

from pydantic import TypeAdapter, ValidationError

from cxlab.benchmarks.mmtaup2.worlds.database import Database, copy_json
from cxlab.benchmarks.mmtaup2.worlds.tools import Json, Side, Tool, find_complaint
from cxlab.errors import BadOption, UnknownName

Kind = Literal["ok", "unknown_tool", "arguments", "refused"]

# How tau2-bench's files call the two sides
SIDES: Mapping[str, Side] = {"assistant": "agent", "user": "customer", "agent": "agent", "customer": "customer"}


# Arguments nested deeper than this are logged without what lies below
_DEEPEST = 20


class ToolRefusal(Exception):
    """Raised inside a tool: the call is well formed, and the world will not have it. The text goes to the caller."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call came to. `value` is JSON-able and nobody else's; `error` is the sentence the caller reads."""

    kind: Kind
    value: Json = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A line of the world's log; the hashes are of both sides together."""

    side: str
    tool: str
    arguments: Json
    kind: Kind
    value: Json
    error: str | None
    before_hash: str
    after_hash: str


@functools.cache
def _checks(function: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    """Parameter → what its argument must be; a task's file may give anything."""
    hints = get_type_hints(function)
    return {name: TypeAdapter(kind) for name, kind in hints.items() if name != "return"}


class World(ABC):
    """Both sides of a domain, and the log of what was done to them."""

    domain: ClassVar[str]
    _tools: ClassVar[dict[Side, dict[str, Tool]]]
    _setups: ClassVar[dict[Side, dict[str, Callable[..., Any]]]]
    _assertions: ClassVar[dict[Side, dict[str, Callable[..., bool]]]]

    def __init_subclass__(cls) -> None:
        cls._tools = {"agent": {}, "customer": {}}
        cls._setups = {"agent": {}, "customer": {}}
        cls._assertions = {"agent": {}, "customer": {}}
        for kind in reversed(cls.__mro__):
            for name, method in vars(kind).items():
                if isinstance(declared := getattr(method, "tool", None), Tool):
                    cls._tools[declared.side][name] = declared
                if (side := getattr(method, "setup", None)) in ("agent", "customer"):
                    cls._setups[side][name] = method
                if (side := getattr(method, "assertion", None)) in ("agent", "customer"):
                    cls._assertions[side][name] = method

    def __init__(self, agent: Database, customer: Database) -> None:
        self.agent = agent
        self.customer = customer
        self.log: list[LoggedCall] = []

    @classmethod
    @abstractmethod
    def generate(cls, seed: int, size: int | None = None) -> Self:
        """A world of our own making; the same seed and size give the same rows."""

    @classmethod
    @abstractmethod
    def from_data(cls, agent_db: Mapping[str, Json], customer_db: Mapping[str, Json] | None) -> Self:
        """A world of tau2-bench's files."""

    def keep_in_step(self) -> None:  # noqa: B027  a world whose customer has no tools has nothing to carry over
        """Carry over what one side's records mean for the other. Called after every call that was carried out."""

    # What models see

    def tools(self, side: str) -> list[dict[str, Json]]:
        """The tools of a side in OpenAI's function format."""
        return [declared.definition() for declared in self._tools[_side(side)].values()]

    def tool(self, side: str, name: str) -> Tool | None:
        return self._tools[_side(side)].get(name)

    def is_write(self, side: str, tool: str) -> bool:
        """Whether the tool may change the state; an unknown one cannot."""
        declared = self._tools[_side(side)].get(tool)
        return declared is not None and declared.write

    def is_irreversible(self, tool: str) -> bool:
        """Whether no tool takes back what this one does, on whichever side it is."""
        return any(tools[tool].irreversible for tools in self._tools.values() if tool in tools)

    def call(self, side: str, tool: str, arguments: Json) -> CallResult:
        """Carry out a tool call and log it. Raises for nothing a model sends; a call that fails changes nothing."""
        before = self.state_hash()
        result = self._answer(_side(side), tool, arguments)
        if result.kind == "ok":
            self.keep_in_step()
            self._checkpoint()
        else:
            self.agent.rollback()
            self.customer.rollback()
        value = copy_json(result.value)  # the reader's own: what is done with it reaches no row
        error, after = _plain(result.error), self.state_hash()
        row = LoggedCall(_side(side), _plain(str(tool)), _plain(arguments), result.kind, value, error, before, after)
        self.log.append(row)
        return CallResult(result.kind, copy_json(value), error)

    def _answer(self, side: Side, name: Json, arguments: Json) -> CallResult:
        declared = self._tools[side].get(name) if isinstance(name, str) else None
        if declared is None:
            return CallResult("unknown_tool", error=f"There is no tool named {str(name)[:80]!r} here.")
        complaint = find_complaint(declared, arguments)
        if complaint:
            return CallResult("arguments", error=complaint)
        self._checkpoint()
        try:
            return CallResult("ok", getattr(self, declared.name)(**arguments))
        except ToolRefusal as refusal:
            return CallResult("refused", error=str(refusal))

    def _checkpoint(self) -> None:
        self.agent.checkpoint()
        self.customer.checkpoint()

    # What tasks do

    def prepare(self, actions: Iterable[Mapping[str, Json]]) -> None:
        """Run a task's initialisation functions (tools may be named too), both sides in step after each. Not logged."""
        for action in actions:
            side, name, arguments = _named(action)
            function = self._setups[side].get(name)
            if function is None and name in self._tools[side]:
                result = self._answer(side, name, arguments)
                if result.kind != "ok":
                    raise BadOption(f"initialisation function {name}: {result.error}")
            elif function is None:
                raise UnknownName("initialisation function", name, self._setups[side])
            else:
                self._apply(function, name, arguments)
            self.keep_in_step()
            self._checkpoint()

    def check(self, assertion: Mapping[str, Json]) -> bool:
        """Whether an environment assertion is met, that is, says what its `assert_value` (True if missing) says."""
        side, name, arguments = _named(assertion)
        function = self._assertions[side].get(name)
        if function is None:
            raise UnknownName("environment assertion", name, self._assertions[side])
        holds = self._apply(function, name, arguments)
        return bool(holds) == bool(assertion.get("assert_value", True))

    def _apply(self, function: Callable[..., Any], name: str, arguments: Mapping[str, Json]) -> Any:
        try:
            inspect.signature(function).bind(self, **arguments)
        except TypeError as problem:
            raise BadOption(f"task function {name}: {problem}; given: {sorted(arguments)}") from problem
        checks = _checks(function)
        for parameter, value in arguments.items():
            try:
                checks[parameter].validate_python(value, strict=True)
            except ValidationError as problem:
                told = problem.errors(include_url=False, include_input=False)[0]["msg"]
                raise BadOption(f"task function {name}: {parameter}: {told}") from None
        try:
            return function(self, **arguments)
        except ToolRefusal as refusal:
            raise BadOption(f"task function {name}: {refusal}") from refusal

    # Looking at it

    def agent_hash(self) -> str:
        return self.agent.hash()

    def customer_hash(self) -> str:
        return self.customer.hash()

    def state_hash(self) -> str:
        """One hash of both sides: equal for equal rows, whatever the way there."""
        return hashlib.sha256(f"{self.agent.hash()} {self.customer.hash()}".encode()).hexdigest()

    def snapshot(self) -> dict[str, Json]:
        """The rows of both sides, JSON-able; a domain narrows it to what a page shows."""
        return {"agent": self.agent.dump(), "customer": self.customer.dump()}

    def bystanders(self) -> list[str]:
        """Rows changed that are not the customer's own ("lines L1004"); a domain says whose they are."""
        return []

    def fresh(self) -> Self:
        """The world as it was made, before a task prepared it, with an empty log."""
        twin = copy.copy(self)
        twin.agent, twin.customer, twin.log = self.agent.fresh(), self.customer.fresh(), []
        return twin

    def copy(self) -> Self:
        """A world in the same state with an empty log; neither sees what happens to the other."""
        twin = copy.copy(self)
        twin.agent, twin.customer, twin.log = self.agent.copy(), self.customer.copy(), []
        return twin


def _side(side: str) -> Side:
    """The side by our name or tau2-bench's. A side is named by our own code, never by a model."""
    if side not in SIDES:
        raise UnknownName("side", side, ("agent", "customer"))
    return SIDES[side]


def _named(function: Mapping[str, Json]) -> tuple[Side, str, dict[str, Json]]:
    try:
        side, name, arguments = function["env_type"], function["func_name"], function.get("arguments") or {}
    except KeyError as missing:
        raise BadOption(f"a task function needs env_type and func_name; missing: {missing}") from missing
    if not isinstance(arguments, dict):
        raise BadOption(f"task function {name}: arguments must be an object")
    return _side(side), str(name), arguments


def _plain(sent: Json, depth: int = 0) -> Json:
    """What was sent, as the log and a store can keep it: what is no JSON, or fits no column, as a description of it."""
    if sent is None or isinstance(sent, bool):
        return sent
    if isinstance(sent, str):
        return sent.encode("utf-8", "replace").decode()
    if isinstance(sent, int):
        return sent if abs(sent) < 1 << 63 else f"<a whole number of {sent.bit_length()} bits>"
    if isinstance(sent, float):
        return sent if math.isfinite(sent) else f"<{sent}>"
    if isinstance(sent, dict | list | tuple) and depth < _DEEPEST:
        if isinstance(sent, dict):
            return {_plain(str(name)): _plain(value, depth + 1) for name, value in sent.items()}
        return [_plain(value, depth + 1) for value in sent]
    return f"<{type(sent).__name__}>"
