"""Whether an attempt passed, and where a failed one went wrong.

Exact match passes at 100. Knowledge questions, which the paper gives no pass or fail, pass from an F1 of 50 on: half of
the words in common is about where an answer stops to be the same one.
"""

from __future__ import annotations

from functools import partial

from cxlab.benchmarks.contract import name_fault
from cxlab.benchmarks.crmarena.evaluation.departure import find_departure
from cxlab.benchmarks.crmarena.run import open_sandbox
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.records import Attempt, Sample, Verdict

PASS_FROM = {"exact_match": 100.0, "fuzzy_match": 50.0}
"""Metric of a task → its score from which an attempt has passed."""
VERDICT_RULES = {
    "exact_match": "only the final answer counts, and it must be exactly the right one.",
    "fuzzy_match": "only the final answer counts; it must have half of its words in common with the right one.",
}
"""Metric of a task → what counts for the verdict, in a sentence."""


def judge_attempt(sample: Sample, attempt: Attempt, score: float | None) -> Verdict:
    """The verdict of an attempt. `field` is the cause (see departure.py), `turn` the reply and `tool` the action where
    it went wrong, `stage` the solver's tool that it should have been like."""
    if score is None:
        return Verdict(attempt_id=attempt.id, value="unscored", reason=name_fault(attempt), owner="provider")
    if score >= PASS_FROM[TASKS[sample.task].metric]:
        return Verdict(attempt_id=attempt.id, value="passed")
    if is_overlong(attempt):
        reason, turn = "query: more records than the model can read", attempt.failures[-1].turn
        return Verdict(attempt_id=attempt.id, value="failed", reason=reason, owner="agent", field="query", turn=turn)
    found = find_departure(sample, attempt, partial(open_sandbox, linked=True))
    named = found.cause == found.reason
    return Verdict(
        attempt_id=attempt.id,
        value="failed",
        reason=found.reason if named else f"{found.cause}: {found.reason}",
        owner="agent",
        turn=found.turn,
        stage=found.step,
        field=found.cause,
        tool=found.tool,
    )


def is_overlong(attempt: Attempt) -> bool:
    """Whether the agent had asked for more than its model can read. Runs of before have it as a provider's fault."""
    if not attempt.failures or len(attempt.messages) < 2:
        return False
    last = attempt.failures[-1]
    return (last.where, last.type) in (("format", "overlong"), ("provider", "too_long"))
