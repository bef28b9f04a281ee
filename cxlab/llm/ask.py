"""`ask`: one typed question, one `Reply`; provider and format faults come back as data.

`call` is the same one floor lower, for conversations with tools: a `Request` in, a `ModelCall` out.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from cxlab.llm.base import ChatModel, Completion, Out, ProviderFault, Reply, Request
from cxlab.llm.metering import Budget, MeteredModel, cost_of
from cxlab.llm.parsing import parse, parse_text, without_thinking
from cxlab.llm.prompts import In, Prompt, RenderedMessages, Text
from cxlab.records import Failure, Usage

if TYPE_CHECKING:
    from cxlab.llm.cache import ReplyCache
    from cxlab.llm.ladder import Ladder

_REPAIRABLE = ("not_json", "invalid")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model: the completion, or the provider's failure; never both."""

    completion: Completion | None
    usage: Usage
    latency_s: float
    cost_usd: float | None
    failure: Failure | None = None


async def call(
    model: ChatModel, request: Request, *, cache: "ReplyCache | None" = None, budget: Budget | None = None
) -> ModelCall:
    """Complete a request; a provider fault is returned, not raised, and as the model's own where it is (`_owned`)."""
    metered = MeteredModel(model, budget, cache) if cache is not None or budget is not None else model
    started = time.perf_counter()
    try:
        completion = await metered.complete(request)
    except ProviderFault as fault:
        spent_s = time.perf_counter() - started
        # What was refused costs nothing; what was broken off may have been written and billed: nobody says.
        cost = None if fault.usage.unanswered and not model.simulated else 0.0
        return ModelCall(None, fault.usage, spent_s, cost, _owned(fault.failure, request))
    return ModelCall(completion, completion.usage, completion.latency_s, cost_of(model, completion.usage))


def _owned(failure: Failure, request: Request) -> Failure:
    """The failure as the model's own where what it is sold with decides it, and would decide it so again.

    A content filter belongs to the model that it is served with, whether it holds back a prompt or a reply: who is
    asked has not answered. A question too long for the model is its own as well once it holds replies of its own: it
    has let the talk grow so, by what it asked tools for. At the first call it is the task that does not fit.
    """
    if failure.type == "refused":
        return failure.model_copy(update={"where": "format", "type": "filtered"})
    if failure.type == "too_long" and _holds_own_replies(request):
        return failure.model_copy(update={"where": "format", "type": "overlong"})
    return failure


def _holds_own_replies(request: Request) -> bool:
    """Whether the model has said some of what it is asked: as the prompt's inputs say, else by who said a message."""
    own = getattr(request.inputs, "holds_own_replies", None)
    return bool(own()) if own else any(each.get("role") == "assistant" for each in request.messages)


def _again(request: Request, said: str, failure: Failure) -> Request:
    """The same question with the reply that could not be used and what is wrong with it."""
    shape = json.dumps(request.schema.model_json_schema(), ensure_ascii=False) if request.schema else ""
    said = without_thinking(said)
    wish = (
        f"That reply could not be used ({failure.message}). Answer the same question again with one JSON object "
        f"and nothing else, following this JSON schema:\n{shape}"
    )
    asked = [{"role": "assistant", "content": said}, {"role": "user", "content": wish}]
    return replace(request, messages=[*request.messages, *asked])


def _ladder(model: ChatModel) -> "Ladder | None":
    while isinstance(model, MeteredModel):
        model = model.inner
    return getattr(model, "ladder", None)


def _sum_costs(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


async def ask(
    model: ChatModel,
    prompt: Prompt[In, Out],
    inputs: In,
    *,
    seed: int = 0,
    temperature: float | None = None,
    max_tokens: int | None = None,
    cache: "ReplyCache | None" = None,
    budget: Budget | None = None,
    on_text: Callable[[str], None] | None = None,
    messages: Sequence[dict[str, Any]] | None = None,
    draw: str = "",
) -> Reply[Out]:
    """Render, call, parse; exactly one of `output` and `failure` is set in the reply.

    Provider failures: `rate_limited`, `timeout`, `server_error`, `connection`, `auth`, `quota`, `not_found`,
    `no_tools`, `bad_request`, `too_long`, `bad_reply`, `budget`. Format failures: `empty`, `not_json`, `truncated`,
    `invalid`, `refusal`, `filtered` (prompt or reply, by a content filter), `overlong` (see `_owned`). A reply that is
    not JSON or not valid is asked for once more when the prompt allows a repair; usage, latency and cost then count
    both calls and `raw` is the second reply. `on_text` is told the raw reply so far while it is written, where the
    server streams. `messages` are the inputs as the prompt renders them, where several are asked the same. `draw` as in
    `Request`.
    """
    request = Request(
        messages=RenderedMessages(prompt, inputs) if messages is None else messages,
        schema=prompt.schema,
        temperature=prompt.temperature if temperature is None else temperature,
        max_tokens=max_tokens,
        seed=seed,
        prompt=prompt,
        inputs=inputs,
        on_text=on_text,
        draw=draw,
    )
    ladder = _ladder(model) if prompt.structured else None
    rung = ladder.rung(prompt.Output) if ladder is not None else ""
    one = await call(model, request, cache=cache, budget=budget)
    if one.completion is None:
        return Reply(None, "", one.usage, one.latency_s, one.cost_usd, one.failure)
    told, raw = one.completion, one.completion.raw
    usage, latency_s, cost_usd = one.usage, one.latency_s, one.cost_usd

    if not prompt.structured:
        said, failure = parse_text(told.text, told.finish_reason)
        text = cast(Out, Text(text=said)) if said is not None else None
        return Reply(text, raw, usage, latency_s, cost_usd, explain_cut(failure, model, told))

    output, failure, ignored = parse(told.text, prompt.Output, inputs, told.finish_reason)
    if ignored and ladder is not None:
        ladder.ignored(prompt.Output, rung)
    if failure is not None and prompt.repair and failure.type in _REPAIRABLE:
        two = await call(model, _again(request, told.text, failure), cache=cache, budget=budget)
        usage, latency_s = usage + two.usage, latency_s + two.latency_s
        cost_usd = _sum_costs(cost_usd, two.cost_usd)
        if two.completion is not None:
            # When the second call breaks off, the first reply and its format failure stand.
            told, raw = two.completion, two.completion.raw
            output, failure, _ = parse(told.text, prompt.Output, inputs, told.finish_reason)
    return Reply(cast("Out | None", output), raw, usage, latency_s, cost_usd, explain_cut(failure, model, told))


def explain_cut(failure: Failure | None, model: ChatModel, told: Completion) -> Failure | None:
    """The failure, and of a reply that was cut off at what limit and how to raise it."""
    if failure is None or failure.type != "truncated":
        return failure
    limit = f"the limit of {told.limit:,} tokens" if told.limit is not None else "a limit of the server's own"
    thought = told.usage.reasoning_tokens
    spent = f" after {thought:,} tokens of reasoning" if thought else ""
    how = f"raise max_output_tokens of {model.name} in models.toml" if told.limit is not None else "shorten the prompt"
    message = f"the reply was cut off at {limit}{spent}, {len(told.text):,} characters came: {how}"
    return failure.model_copy(update={"message": message})
