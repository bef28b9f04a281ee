"""Score an attempt at MM-tau-p2: whether it passed, the parts of that, and the metrics, measured and judged.

Of the twelve metrics, ten stand for themselves in one conversation. Modality robustness and turn overhead compare
voice with text: rows of them say so, and `summary.py` makes them from `pass` and `turns` of both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cxlab.benchmarks.contract import Scored, Setup, lost_customer
from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import tool_executor
from cxlab.benchmarks.mmtaup2.evaluation import unknown_world
from cxlab.benchmarks.mmtaup2.evaluation.composite import mm_tap
from cxlab.benchmarks.mmtaup2.evaluation.judging import judged_metrics
from cxlab.benchmarks.mmtaup2.evaluation.verdict import blame_customer, find_verdict
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.records import Attempt, Message, Sample, Score, ToolCall

__all__ = ["DECIDED_BY", "gold_attempt", "mm_tap", "own_scores", "rescore", "score"]

DECIDED_BY = "right"
"""The metric that the verdict follows."""
PARTS = ("db", "actions", "env_assertions", "communicate", "bystanders")


async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    """All figures of a conversation, in points from 0 to 100 but for counts; judges add what they say of it."""
    if samples.lacking_of(sample):
        there = await judged_metrics.assess(unknown_world.describe_task(attempt, sample), attempt, setup)
        return unknown_world.keep_known(there, attempt, sample)
    task = samples.task_of(sample)
    found = await judged_metrics.assess(task, attempt, setup)
    return _with_own(sample, task, attempt, found)


def rescore(sample: Sample, attempt: Attempt, stored: Scored, setup: Setup) -> Scored:
    """The same from what the judges said when they were asked."""
    if samples.lacking_of(sample):
        there = judged_metrics.reassess(unknown_world.describe_task(attempt, sample), attempt, stored, setup)
        return unknown_world.keep_known(there, attempt, sample)
    task = samples.task_of(sample)
    found = judged_metrics.reassess(task, attempt, stored, setup)
    return _with_own(sample, task, attempt, found)


def _with_own(sample: Sample, task: tasks.Task, attempt: Attempt, found: Scored) -> Scored:
    """All scores, and the verdict where it is not the agent's doing that the goal was missed."""
    own, verdict = own_scores(task, attempt), blame_customer(sample, attempt)
    if verdict is not None:
        own = [row.model_copy(update={"reason": verdict.reason}) if row.metric == DECIDED_BY else row for row in own]
    return Scored((*own, *found.scores), found.votes, found.judgements, found.traces, verdict)


def own_scores(task: tasks.Task, attempt: Attempt) -> list[Score]:
    """Whether it is right, the parts of the reward, and what became of the channel and of the form."""
    value, reason = find_verdict(task, attempt)
    rows = [_row(attempt, "right", value, reason)]
    reward: Mapping[str, Any] = attempt.output.get("reward") or {}
    for part in PARTS:
        if attempt.outcome != "provider" and not lost_customer(attempt) and isinstance(reward.get(part), int | float):
            rows.append(_row(attempt, part, 100.0 * reward[part]))
    rows.append(_row(attempt, "format_error", 100.0 * any(failure.where == "format" for failure in attempt.failures)))
    rates = [message.data["wer"] for message in attempt.messages if message.turn and _was_spoken(message)]
    if attempt.output.get("modality") == "voice":
        mean = 100.0 * sum(rates) / len(rates) if rates else None
        rows.append(_row(attempt, "wer", mean, None if rates else "nothing was said"))
    return rows


def _was_spoken(message: Message) -> bool:
    return message.role in ("agent", "customer") and isinstance(message.data.get("wer"), int | float)


def _row(attempt: Attempt, metric: str, value: float | None, reason: str | None = None) -> Score:
    return Score(attempt_id=attempt.id, turn=None, metric=metric, value=value, reason=reason)


def gold_attempt(sample: Sample, *, acts: bool = True) -> Attempt:
    """The conversation in which just the gold actions are carried out; without `acts` one in which nothing is done.

    It is played on the task's world and marked as any other, and no model is called.
    """
    task = samples.task_of(sample)
    world = tasks.begin(task, samples.world_of(sample))
    carry_out = tool_executor(world)
    messages = [Message(role="customer", text=task.known.reason or "Hello.", turn=1)]
    for number, action in enumerate(task.gold if acts else (), start=1):
        call = ToolCall(id=f"gold_{number}", name=action.tool, arguments=json.dumps(action.arguments))
        done = carry_out(action.side, call, number)
        data = {**done.data, "side": action.side, "call": call.id, "step": number}
        messages += [
            Message(role=action.side, text="", turn=1, tool_calls=(call,), data={"delivered": False}),
            Message(role="tool", text=done.text, turn=1, data=data),
        ]
    said = list(task.communicate) if acts else []
    messages.append(Message(role="agent", text=" ".join(["That is all.", *said]), turn=1))
    reward = tasks.evaluate(task, world, world.log, [messages[-1].text])
    transferred = any(call.tool == "transfer_to_human_agents" and call.kind == "ok" for call in world.log)
    return Attempt(
        id="gold" if acts else "empty",
        run_id="check",
        sample_id=sample.id,
        trial=1,
        messages=tuple(messages),
        output={
            "reward": {**reward, "over": True},
            "passed": reward["reward"] == 1.0,
            "transferred": transferred,
            **samples.terms_of(sample),
        },
        ended_by="customer_stop",
        started=datetime.now(UTC),
    )
