"""An attempt of one question and one answer, for benchmarks whose model under test is asked once a sample."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel

from cxlab.benchmarks.contract import Setup
from cxlab.llm import Reply
from cxlab.records import Attempt, Message, Sample, content_id


def to_attempt(
    reply: Reply[Any], sample: Sample, setup: Setup, trial: int, *, asked: str, started: datetime
) -> Attempt:
    """The attempt of a reply: what was asked and said as messages, the parsed answer as `output`, {} without one."""
    outcome: Literal["ok", "format", "provider"] = (
        "ok" if reply.failure is None else "provider" if reply.failure.where == "provider" else "format"
    )
    return Attempt(
        id=content_id(setup.run_id, sample.id, trial),
        run_id=setup.run_id,
        sample_id=sample.id,
        trial=trial,
        messages=(Message(role="customer", text=asked, turn=1), Message(role="agent", text=reply.raw, turn=1)),
        output=reply.output.model_dump(mode="json") if isinstance(reply.output, BaseModel) else {},
        outcome=outcome,
        failures=() if reply.failure is None else (reply.failure,),
        usage=reply.usage,
        latency_s=reply.latency_s,
        cost_usd=reply.cost_usd,
        started=started,
    )
