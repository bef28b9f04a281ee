"""What models said of a sample as an attempt, for benchmarks that hold no conversation with the model under test."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from cxlab.benchmarks.contract import Setup
from cxlab.llm import Reply
from cxlab.records import Attempt, Failure, Message, Sample, Usage, content_id


def to_attempt(
    reply: Reply[Any], sample: Sample, setup: Setup, trial: int, *, asked: str, started: datetime
) -> Attempt:
    """The attempt of a reply: what was asked and said as messages, the parsed answer as `output`, {} without one."""
    output = reply.output.model_dump(mode="json") if isinstance(reply.output, BaseModel) else {}
    messages = (Message(role="customer", text=asked, turn=1), Message(role="agent", text=reply.raw, turn=1))
    return of_reply(reply, sample, setup, trial, output=output, started=started, messages=messages)


def of_reply(
    reply: Reply[Any],
    sample: Sample,
    setup: Setup,
    trial: int,
    *,
    output: dict[str, Any],
    started: datetime,
    messages: Sequence[Message] = (),
    ended_by: str = "",
) -> Attempt:
    """The attempt of a reply from which `output` was made."""
    return make_attempt(
        sample,
        setup,
        trial,
        output=output,
        failures=() if reply.failure is None else (reply.failure,),
        usage=reply.usage,
        latency_s=reply.latency_s,
        cost_usd=reply.cost_usd,
        started=started,
        messages=messages,
        ended_by=ended_by,
    )


def make_attempt(
    sample: Sample,
    setup: Setup,
    trial: int,
    *,
    output: dict[str, Any],
    failures: Sequence[Failure],
    usage: Usage,
    latency_s: float,
    cost_usd: float | None,
    started: datetime,
    messages: Sequence[Message] = (),
    ended_by: str = "",
) -> Attempt:
    """The attempt of any number of calls: a provider's fault among `failures` makes it the provider's, else one reply
    that could not be read makes it one of format."""
    where = {failure.where for failure in failures}
    return Attempt(
        id=content_id(setup.run_id, sample.id, trial),
        run_id=setup.run_id,
        sample_id=sample.id,
        trial=trial,
        messages=tuple(messages),
        output=output,
        outcome="provider" if "provider" in where else "format" if "format" in where else "ok",
        ended_by=ended_by,
        failures=tuple(failures),
        usage=usage,
        latency_s=latency_s,
        cost_usd=cost_usd,
        started=started,
    )
