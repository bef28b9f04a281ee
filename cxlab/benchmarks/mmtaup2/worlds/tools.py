"""Tools: how a world declares them, and whether arguments fit."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from cxlab.benchmarks.mmtaup2.worlds.database import copy_json
from cxlab.errors import CxError

Json = Any  # null, bool, int, float, str, list and dict with text keys
Side = Literal["agent", "customer"]
Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as its world declares it. `parameters` are JSON schemas; `optional` names those that may be missing."""

    side: Side
    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Json]]
    optional: frozenset[str]
    write: bool
    irreversible: bool

    def definition(self) -> dict[str, Json]:
        """The tool in OpenAI's function format."""
        schema = {
            "type": "object",
            "properties": copy_json({name: dict(kind) for name, kind in self.parameters.items()}),
            "required": [name for name in self.parameters if name not in self.optional],
            "additionalProperties": False,
        }
        function = {"name": self.name, "description": self.description, "parameters": schema}
        return {"type": "function", "function": function}


def text(description: str, *options: str) -> dict[str, Json]:
    """A parameter that is text, one of `options` if any are given."""
    return {"type": "string", "description": description} | ({"enum": list(options)} if options else {})


def number(description: str) -> dict[str, Json]:
    return {"type": "number", "description": description}


def integer(description: str) -> dict[str, Json]:
    return {"type": "integer", "description": description}


def fields(description: str, **schemas: Mapping[str, Json]) -> dict[str, Json]:
    """A parameter that is an object; each of its fields may be missing, and others may not be there."""
    return {"type": "object", "description": description, "properties": schemas, "additionalProperties": False}


def texts(description: str) -> dict[str, Json]:
    """A parameter that is a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _marked(method: Method, mark: str, value: Tool | Side) -> Method:
    # Read by World.__init_subclass__.
    setattr(method, mark, value)
    return method


def tool(
    side: Side,
    description: str,
    parameters: Mapping[str, Mapping[str, Json]] | None = None,
    *,
    write: bool = False,
    irreversible: bool = False,
    optional: Iterable[str] = (),
) -> Callable[[Callable[..., Json]], Callable[..., Json]]:
    """Mark a method as a tool of a side. `write`: it may change something; `irreversible`: no tool takes it back."""

    def mark(method: Callable[..., Json]) -> Callable[..., Json]:
        declared = Tool(side, method.__name__, description, parameters or {}, frozenset(optional), write, irreversible)
        return _marked(method, "tool", declared)

    return mark


def setup(side: Side) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a method that tasks may name to bring about their first state."""

    def mark(method: Callable[..., Any]) -> Callable[..., Any]:
        return _marked(method, "setup", side)

    return mark


def assertion(side: Side) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """Mark a method that says whether something holds, for tasks to name."""

    def mark(method: Callable[..., bool]) -> Callable[..., bool]:
        return _marked(method, "assertion", side)

    return mark


def find_complaint(declared: Tool, arguments: Json) -> str | None:
    """What is wrong with the arguments, in a sentence the caller can act on."""
    if not isinstance(arguments, dict):
        return f"{declared.name} takes its arguments as a JSON object."
    extra = [str(name)[:40] for name in arguments if name not in declared.parameters]
    missing = [name for name in declared.parameters if name not in arguments and name not in declared.optional]
    if missing:
        return f"{declared.name} also needs: {', '.join(missing)}."
    if extra:
        return f"{declared.name} does not take: {', '.join(sorted(extra))}."
    for name, value in arguments.items():
        if not fits(declared.parameters[name], value):
            return f"{declared.name}: {name} must be {_wanted(declared.parameters[name])}."
    return None


def fits(schema: Mapping[str, Json], value: Json) -> bool:
    """Whether a value is of the schema's type. A whole number passes as a number; true and false are never numbers."""
    match schema["type"]:
        case "string":
            return isinstance(value, str) and _encodes(value) and value in schema.get("enum", [value])
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and _finite(value)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list) and all(fits(schema["items"], item) for item in value)
        case "object":
            kinds = schema["properties"]
            return isinstance(value, dict) and all(name in kinds and fits(kinds[name], value[name]) for name in value)
        case [kind, "null"]:
            return value is None or fits({**schema, "type": kind}, value)
        case unknown:
            raise CxError(f"a tool declares a parameter of type {unknown!r}, which is not known here")


def _finite(value: float) -> bool:
    """A number that a double can hold."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _encodes(value: str) -> bool:
    """Half a surrogate pair, as broken models send it, can be stored nowhere."""
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _wanted(schema: Mapping[str, Json]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    if schema["type"] == "object":
        return "an object of " + ", ".join(schema["properties"])
    names = {"string": "text", "number": "a number", "integer": "a whole number", "boolean": "true or false"}
    return names.get(str(schema["type"]), "a list of texts")
