"""What one attempt came to: its answer's worth, its turns and errors, and the verdict; no judge is asked.

`exact` and `f1` compare one answer with the gold one: `answers.py`, from 0 to 1. Scores of attempts are points.
"""

from __future__ import annotations

from collections.abc import Sequence

from cxlab.benchmarks.contract import Scored, Setup, name_fault
from cxlab.benchmarks.crmarena.agents.episode import BAD_ARGUMENTS
from cxlab.benchmarks.crmarena.answers import exact, exact_extracted, f1
from cxlab.benchmarks.crmarena.evaluation.verdict import is_overlong, judge_attempt
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.records import Attempt, Sample, Score

__all__ = ["exact", "f1", "grade", "measure", "rescore", "score"]


async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    """What one attempt came to, in points; no judge is asked."""
    del setup
    return measure(sample, attempt)


def rescore(sample: Sample, attempt: Attempt, stored: Scored, setup: Setup) -> Scored:
    """The same of a stored attempt."""
    del stored, setup
    return measure(sample, attempt)


def measure(sample: Sample, attempt: Attempt) -> Scored:
    """Scores and verdict of an attempt. An attempt that a provider cut short has none."""
    task, cut = TASKS[sample.task], attempt.ended_by == "provider" and not is_overlong(attempt)
    reason = name_fault(attempt) if cut else None
    if cut:
        # Neither is how far it had come a figure of the agent's: it would have gone on.
        names = ("score", "f1") if task.metric == "fuzzy_match" else ("score", "exact", "exact_extracted")
        names = (*names, "turns", "queries", "format_error")
        rows = [Score(attempt_id=attempt.id, turn=None, metric=name, value=None, reason=reason) for name in names]
        return Scored(tuple(rows), verdict=judge_attempt(sample, attempt, None))
    answered = [message for message in attempt.messages if message.role == "tool"]
    failed = [message.data.get("error") is not None for message in answered]
    values = {name: 100 * value for name, value in grade(sample, attempt.output.get("answer")).items()}
    values |= {
        "turns": float(len([message for message in attempt.messages if message.role == "agent"])),
        "queries": float(len(answered)),
        "format_error": 100.0 * has_slip(attempt),
    }
    rows = [Score(attempt_id=attempt.id, turn=None, metric=name, value=value) for name, value in values.items()]
    recovered = share_recovered(failed)
    if recovered is not None:
        rows.append(Score(attempt_id=attempt.id, turn=None, metric="recovery", value=100 * recovered, n=sum(failed)))
    if failed:
        share = 100 * sum(failed) / len(failed)
        rows.append(Score(attempt_id=attempt.id, turn=None, metric="errors", value=share, n=len(failed)))
    return Scored(tuple(rows), verdict=judge_attempt(sample, attempt, values.get("score")))


def has_slip(attempt: Attempt) -> bool:
    """Whether a reply was in the wrong form: sent back, or with arguments that are no JSON object, cut off or not."""
    reminded = any(message.role == "system" for message in attempt.messages)
    return reminded or any(each.type in (BAD_ARGUMENTS, "truncated") for each in attempt.failures)


def grade(sample: Sample, answer: object) -> dict[str, float]:
    """The metrics of an answer, from 0 to 1: the headline `score`, and what it is made of."""
    task, gold = TASKS[sample.task], sample.expected.get("answer")
    if task.metric == "fuzzy_match":
        value = f1(answer, gold)
        return {"score": value, "f1": value}
    given = None if answer is None else str(answer)
    value = exact(given, gold)
    return {"score": value, "exact": value, "exact_extracted": exact_extracted(given, gold, task.answer)}


def share_recovered(failed: Sequence[bool]) -> float | None:
    """Of the runs of failed actions, the share that was followed by one that was answered; None without any."""
    ends = [place for place, bad in enumerate(failed) if bad and (place + 1 == len(failed) or not failed[place + 1])]
    return sum(place + 1 < len(failed) for place in ends) / len(ends) if ends else None
