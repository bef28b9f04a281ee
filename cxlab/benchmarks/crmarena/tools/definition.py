"""What a tool is: a function over a sandbox, its description and arguments as an agent is shown them.

A tool never raises for what an agent did: it answers "Error: …", as the agent would get it from the product.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.errors import CxError

ERROR = "Error: "
# How moments are written in arguments and answers.
MOMENT = "%Y-%m-%dT%H:%M:%SZ"


class ToolError(CxError):
    """What a tool cannot do with what it was given; agents read the sentence behind "Error: "."""


@dataclass(frozen=True)
class Tool:
    """One tool. `call(sandbox, **arguments)` answers, or says "Error: …"; `Arguments` is what an agent may give."""

    name: str
    description: str
    call: Callable[..., Any]
    Arguments: type[BaseModel]

    @functools.cached_property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of its arguments, without the titles that pydantic adds."""
        found: dict[str, Any] = _without_titles(self.Arguments.model_json_schema())
        return found

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """The tool as chat models with native function calling are told of it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


def define(function: Callable[..., Any], name: str | None = None) -> Tool:
    """The tool of a function whose first parameter is the sandbox; its docstring is what agents are told.

    What it answers to wrong arguments, to a query that fails and to a ToolError is text that begins with "Error: ".
    """
    signature = inspect.signature(function, eval_str=True)
    parameters = list(signature.parameters.values())[1:]
    fields: dict[str, Any] = {
        each.name: (each.annotation, ... if each.default is each.empty else each.default) for each in parameters
    }
    called = name or function.__name__
    config = ConfigDict(extra="forbid", strict=False, coerce_numbers_to_str=False)
    arguments = create_model(called, __config__=config, **fields)

    @functools.wraps(function)
    def call(sandbox: Any, *given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(sandbox, *given, **named)
        except TypeError as fault:
            return f"{ERROR}{called}: {fault}"
        try:
            values = arguments.model_validate(dict(list(bound.arguments.items())[1:]))
            return function(sandbox, **{each.name: getattr(values, each.name) for each in parameters})
        except ValidationError as fault:
            first = fault.errors(include_url=False)[0]
            return f"{ERROR}{called}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        except QueryError as fault:
            return f"{ERROR}{fault}"
        except ToolError as fault:
            return f"{ERROR}{fault}"

    call.__name__ = called
    return Tool(called, " ".join((function.__doc__ or "").split()), call, arguments)


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _without_titles(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)
        }
    return [_without_titles(each) for each in schema] if isinstance(schema, list) else schema


# --- arguments that several tools take

Moment = Annotated[str, Field(description="A moment as YYYY-MM-DDTHH:MM:SSZ", max_length=40)]
Ids = list[Annotated[str, Field(max_length=255)]]
Cases = Annotated[list[dict[str, Any]], Field(description="Cases as get_cases returns them")]


def read_moment(given: str) -> datetime:
    """The moment in UTC; ToolError for text that is none."""
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        found = None
    if found is None or "T" not in given:
        raise ToolError(f"{given[:40]!r} is no moment; write it as 2021-02-01T00:00:00Z")
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def write_moment(moment: datetime) -> str:
    """The moment as tools take and give it."""
    return moment.strftime(MOMENT) if moment.year >= 1000 else moment.strftime(MOMENT).zfill(20)


def text(value: str) -> str:
    """A text as a quoted literal of SOQL."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def one_of(field: str, values: Ids) -> str:
    """The condition that a field has one of some values."""
    if len(values) == 1:
        return f"{field} = {text(values[0])}"
    return f"{field} IN ({', '.join(map(text, values))})"


def get_owner(case: Mapping[str, Any]) -> str:
    """The agent of a case; ToolError where it names none."""
    owner = case.get("OwnerId")
    if not isinstance(owner, str):
        raise ToolError("a case has no OwnerId")
    return owner
