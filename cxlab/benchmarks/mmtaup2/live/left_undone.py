"""What is still wrong where a task asks for a hand-over alone: its goal says nothing of what could have been mended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cxlab.benchmarks.mmtaup2.live import live_tasks
from cxlab.benchmarks.mmtaup2.tasks import Task
from cxlab.benchmarks.mmtaup2.tasks.telecom_tasks import ISSUES, IssueTarget
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import BadOption

# Its steps are asked for their names alone.
_ANYBODY = IssueTarget("", "", "", 0.0)
# It notices a fault and makes none.
_NOTICES = "simulate_network_search"
_BILL = "new_bill_id"


def find_unmended(task: Task, world: World) -> tuple[str, ...]:
    """What agent and customer could have mended before a hand-over that is the task's goal, and did not, in words."""
    if not task.transfer_right:
        return ()
    found = []
    for name in task.issues:
        issue = ISSUES.get(name)
        if issue is None or issue.mend is None:
            continue
        made = {function for _, function, _ in issue.cause(_ANYBODY)} - {_NOTICES}
        steps = [step for step in task.prepare if step.get("func_name") in made]
        if any(_stands(step, world) for step in steps):
            known = live_tasks.ISSUE_WORDS.get(name, name.replace("_", " "))
            found.append("line still suspended" if any(_is_paid(step, world) for step in steps) else known)
    return tuple(found)


def _stands(step: Mapping[str, Any], world: World) -> bool:
    """Whether a fault is still there: bringing it about once more changes nothing, or is refused, as of a line that is
    suspended already."""
    twin, arguments = world.copy(), dict(step.get("arguments") or {})
    if _BILL in arguments:
        arguments[_BILL] += "0"  # that there is the first one, paid or not, is no reason to refuse
    try:
        twin.prepare([{**step, "arguments": arguments}])
    except BadOption:
        return True
    return twin.state_hash() == world.state_hash()


def _is_paid(step: Mapping[str, Any], world: World) -> bool:
    bill = (step.get("arguments") or {}).get(_BILL)
    paid = {"env_type": "assistant", "func_name": "assert_no_overdue_bill", "arguments": {"overdue_bill_id": bill}}
    return bill is not None and world.check(paid)
