"""What can this model do? A few small calls, for the connection test of the Models page and the CLI."""

import copy
import difflib
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel

from cxlab.llm.ask import ModelCall, call
from cxlab.llm.base import ChatModel, ProviderFault, Request
from cxlab.llm.ladder import Ladder
from cxlab.llm.parsing import parse
from cxlab.records import Failure

_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up_order",
        "description": "Look up the state of an order.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
    },
}


class _Colour(BaseModel):
    """A shape that nobody would answer with by chance: only an enforced schema yields it."""

    signal_colour: Literal["vermilion", "teal"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What was found; None = not applicable or not reached. `problem` says why nothing answered."""

    name: str
    answers: bool
    json_schema: bool | None = None
    json_object: bool | None = None
    tools: bool | None = None
    usage: bool | None = None
    latency_s: float | None = None
    problem: str = ""
    notes: tuple[str, ...] = ()


async def probe(model: ChatModel) -> Capabilities:
    """Up to four small calls (some tens of tokens); never raises for a provider's fault.

    `json_schema` is tested by enforcement, not by acceptance: a question that does not mention the shape
    must come back in it. `json_object` by acceptance with a question for JSON.
    """
    plain = await call(model, _request("Reply with the single word OK."))
    if plain.completion is None:
        problem = plain.failure.message if plain.failure else "no answer"
        return Capabilities(model.name, False, problem=problem)
    usage = plain.usage.prompt_tokens is not None
    if model.simulated:
        return Capabilities(
            model.name,
            True,
            usage=usage,
            latency_s=plain.latency_s,
            notes=("Simulated: answers prompts that come with a simulation, in the form that they ask for.",),
        )
    tools = await call(model, replace(_request("What is the state of order A-17? Use the tool."), tools=[_TOOL]))
    return Capabilities(
        model.name,
        True,
        json_schema=await _enforces(model, "json_schema"),
        json_object=await _enforces(model, "json_object"),
        tools=tools.completion is not None and any(one.name == "look_up_order" for one in tools.completion.tool_calls),
        usage=usage,
        latency_s=plain.latency_s,
        notes=_notes(model),
    )


# Whatever else a server says, it has answered.
_NO_ANSWER = ("connection", "timeout", "auth")
# As many of the names that a server lists are told.
_MOST_TOLD = 3


async def reach(model: ChatModel) -> Failure | None:
    """Whether a model's server answers, takes the key and has the model: None, or the fault.

    The server is asked which models it has, which costs nothing. Some tell that to anybody and do not look at the
    key; then the first calls of a run find out. A name that it does not list may be one all the same (an alias, another
    version), so it is put to it in one small call; what it says then is of no account unless it knows no such model.
    """
    if model.simulated:
        return None
    own = getattr(model, "reach", None)
    if own is not None:
        fault: ProviderFault | None = await own()
        failure = fault.failure if fault is not None else None
    else:
        failure = (await call(model, _request("Reply with the single word OK."))).failure
    if failure is None and own is not None:
        return await _find_unknown(model)
    return failure if failure is not None and failure.type in _NO_ANSWER else None


async def _find_unknown(model: ChatModel) -> Failure | None:
    """The fault of a model that its server neither lists nor has, with the nearest of the names that it lists."""
    asked, listed = getattr(model, "model", None), getattr(model, "listed", ())
    if not asked or not listed or asked in listed:
        return None
    failure = (await call(model, _request("Reply with the single word OK."))).failure
    if failure is None or failure.type not in ("not_found", "bad_request"):
        return None
    if failure.type == "bad_request" and "model" not in failure.message.lower():
        return None  # something else about the call, which a run may ask in another way
    by_lower = {name.lower(): name for name in listed}
    near = [by_lower[name] for name in difflib.get_close_matches(asked.lower(), by_lower, _MOST_TOLD, 0.5)]
    told = ", ".join(near or sorted(listed)[:_MOST_TOLD])
    names = f"the nearest of the models that it lists: {told}" if near else f"among the models that it lists: {told}"
    return failure.model_copy(update={"type": "not_found", "message": f"{failure.message} ({names})"})


def _request(text: str) -> Request:
    return Request(messages=[{"role": "user", "content": text}])


async def _enforces(model: ChatModel, rung: str) -> bool | None:
    """Whether a rung works here; None for models that have no such rung."""
    ladder = getattr(model, "ladder", None)
    if not isinstance(ladder, Ladder) or rung not in ladder.rungs:
        if isinstance(ladder, Ladder) and rung == "json_schema" and "native" in ladder.rungs:
            rung = "native"
        else:
            return None
    # A copy with a ladder of one rung: it may not step down to a plainer one behind our back.
    bound: Any = copy.copy(model)
    bound.ladder = Ladder((rung,))
    asked = "Name a colour." if rung != "json_object" else "Name a colour, as JSON."
    answer: ModelCall = await call(bound, replace(_request(asked), schema=_Colour))
    if answer.completion is None:
        return False
    output, _, _ = parse(answer.completion.text, _Colour)
    return output is not None


def _notes(model: ChatModel) -> tuple[str, ...]:
    dropped = sorted(getattr(model, "dropped", ()))
    chosen = getattr(model, "model", None)
    notes = [f"answers as {chosen}"] if chosen else []
    return (*notes, *(f"does not take the parameter {name!r}" for name in dropped))
