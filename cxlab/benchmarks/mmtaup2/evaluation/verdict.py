"""Whether a conversation reached its goal, and if not, why, in a few words that alike failures share, and whose doing.

It is the agent's, but where the customer's own calls, for which nobody had asked, are all that stands between the
conversation and its goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cxlab.benchmarks.contract import lost_customer, name_unread
from cxlab.benchmarks.mmtaup2.evaluation import unasked
from cxlab.benchmarks.mmtaup2.evaluation.measured_metrics import CUT_SHORT, NO_CUSTOMER
from cxlab.benchmarks.mmtaup2.tasks import Task, same, samples
from cxlab.errors import BadOption, BadStore, UnknownName
from cxlab.records import Attempt, Message, Sample, Verdict

Value = tuple[float | None, str | None]
# Why an end leaves nothing to mark; the dialogue's own reasons.
_ENDS = {
    "loop": "went in circles",
    "unreadable": "replies could not be read",
    "too_many_errors": "too many tool errors",
    "max_steps": "did not come to an end",
    "timeout": "took too long",
}
_PARTS = {
    "DB": "db",
    "ACTION": "actions",
    "ENV_ASSERTION": "env_assertions",
    "COMMUNICATE": "communicate",
    "BYSTANDERS": "bystanders",
}


def find_verdict(task: Task, attempt: Attempt) -> Value:
    """100 when the task passed, else 0 with the reason; None where it was not decided."""
    if attempt.outcome == "provider":
        return None, CUT_SHORT
    if lost_customer(attempt):
        return None, NO_CUSTOMER
    passed = attempt.output.get("passed")
    if passed is None:
        return None, "whether the goal was reached is not known"
    return (100.0, None) if passed else (0.0, find_reason(task, attempt))


def blame_customer(sample: Sample, attempt: Attempt) -> Verdict | None:
    """The verdict on a goal that was missed by what the customer did unasked, and by nothing else; None else.

    It names the first of these calls. Imported tasks whose world is not there are not played again.
    """
    reward = attempt.output.get("reward") or {}
    if (
        attempt.outcome == "provider"
        or lost_customer(attempt)
        or attempt.output.get("passed") is not False
        or not reward.get("over", True)
    ):
        return None
    task = samples.task_of(sample)
    if not unasked.find_unasked(task, attempt.messages):
        return None
    try:
        calls = unasked.find_blame(task, attempt.messages, samples.world_of(sample))
    except (BadOption, BadStore, UnknownName):
        return None
    if not calls:
        return None
    first = calls[0]
    tools = ", ".join(dict.fromkeys(str(call.data["tool"]) for call in calls))
    return Verdict(
        attempt_id=attempt.id,
        value="failed",
        reason=f"the customer did what nobody had asked for: {tools}",
        owner="customer",
        turn=first.turn,
        tool=str(first.data["tool"]),
    )


def find_reason(task: Task, attempt: Attempt) -> str:
    """What went wrong first: the end, a hand-over, then the parts of the reward that count for this task."""
    output = attempt.output
    if attempt.ended_by == "unreadable":
        unread = [each for each in attempt.failures if each.where == "format"]
        return name_unread(unread[-1] if unread else None, _ENDS["unreadable"])
    if attempt.ended_by in _ENDS:
        return _ENDS[attempt.ended_by]
    if output.get("transferred") and not task.transfer_right:
        return "handed over without need"
    if task.transfer_right and not output.get("transferred"):
        return "not handed over, though nobody else could help"
    reward: Mapping[str, Any] = output.get("reward") or {}
    checks: Mapping[str, Any] = reward.get("checks") or {}
    failed = [part for part in task.reward_basis if reward.get(_PARTS.get(part, ""), 1) != 1]
    if "BYSTANDERS" in failed:
        return "changed what belongs to another customer"
    # Of actions it can be told best what was wrong; they explain a wrong state, too.
    if {"ACTION", "DB", "ENV_ASSERTION"} & set(failed):
        wrong = _explain_actions(checks.get("actions") or (), attempt.messages)
        if wrong:
            return wrong
    if "ENV_ASSERTION" in failed:
        unmet = [str(each["func_name"]) for each in checks.get("env_assertions") or () if not each.get("met")]
        return "does not hold: " + ", ".join(dict.fromkeys(unmet)).replace("assert_", "").replace("_", " ")
    if "DB" in failed:
        return _explain_state(task, attempt.messages)
    if "COMMUNICATE" in failed:
        return "did not tell what was asked"
    return "did not reach the goal"


def _explain_actions(actions: Iterable[Mapping[str, Any]], messages: Sequence[Message]) -> str:
    """The first gold action that is not there, or that was carried out with another argument."""
    calls = [message.data for message in messages if message.role == "tool"]
    for action in actions:
        if action.get("matched"):
            continue
        side, tool, wanted = action["side"], action["tool"], action["arguments"]
        close = [call for call in calls if (call.get("side"), call.get("tool")) == (side, tool)]
        who = "" if side == "agent" else "customer's "
        for call in close:
            given = call.get("arguments")
            compared = wanted if action.get("compare") is None else action["compare"]
            wrong = [
                name for name in compared
                if not isinstance(given, dict) or name not in given or not same(wanted.get(name), given[name])
            ]  # fmt: skip
            if wrong:
                return f"wrong {wrong[0]} in {who}{tool}"
            if call.get("kind") != "ok":
                return f"{who}{tool} failed"
        return f"not done: {tool}" if side == "agent" else _explain_undone(tool, messages)
    return ""


def _explain_undone(tool: str, messages: Sequence[Message]) -> str:
    """Of a step of the customer's that is missing, whether the agent had asked for it, as far as the words tell."""
    asked = unasked.was_asked(tool, messages)
    if asked is None:
        return f"the customer did not {tool}, and the words leave open whether the agent had asked"
    if asked:
        return f"the customer did not {tool}, though the agent seems to have asked"
    last = next((message for message in reversed(messages) if message.role == "customer"), None)
    # The mark without a word says that the customer's card did not tell how to go on.
    gave_up = last is not None and last.data.get("stop") == "out_of_scope" and last.text.strip()
    return f"the agent never asked the customer to {tool}" + (", who gave up" if gave_up else "")


def _explain_state(task: Task, messages: Iterable[Message]) -> str:
    """All gold actions were done and yet the rows differ: something more was."""
    gold = {(action.side, action.tool) for action in task.gold}
    for message in messages:
        call = message.data
        done = message.role == "tool" and call.get("write") and call.get("kind") == "ok"
        if done and (call.get("side"), call.get("tool")) not in gold:
            return f"not asked for: {call['tool']}"
    return "changed more than was asked for"
