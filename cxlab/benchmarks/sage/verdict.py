"""What one attempt at SAGE came to: the first turn that went wrong decides, and says where."""

from cxlab.benchmarks.contract import Scored
from cxlab.records import Attempt, Trace, Verdict

REASONS = {
    "field": "misread field",
    "execution": "left the procedure",
    "action": "wrong action",
    "lucky": "right by luck",
    "format": "unreadable reply",
}


def judge_attempt(task: str, attempt: Attempt, scored: Scored) -> Verdict:
    """Failed where an evaluated turn went wrong or a reply could not be read; passed where all that was evaluated is
    right; unscored where nothing could be, or a provider cut the dialogue short before anything was wrong."""
    del task
    wrong = next((trace for trace in scored.traces if trace.error not in ("none", "unscored")), None)
    if wrong is not None:
        stage, field = _place(wrong)
        return Verdict(
            attempt_id=attempt.id, value="failed", reason=REASONS.get(wrong.error, wrong.error), owner="agent",
            turn=wrong.turn, stage=stage, field=field,
        )  # fmt: skip
    unread = next((failure for failure in attempt.failures if failure.where == "format"), None)
    if unread is not None:
        return Verdict(attempt_id=attempt.id, value="failed", reason=REASONS["format"], owner="agent", turn=unread.turn)
    if attempt.outcome == "provider":
        fault = next((each for each in attempt.failures if each.where == "provider"), None)
        reason = f"provider: {fault.type}" if fault else "provider fault"
        return Verdict(attempt_id=attempt.id, value="unscored", reason=reason, owner="provider")
    if any(trace.error == "none" for trace in scored.traces):
        return Verdict(attempt_id=attempt.id, value="passed")
    reason = "no reference: judges tied" if scored.traces else "no turn was evaluated"
    return Verdict(attempt_id=attempt.id, value="unscored", reason=reason, owner="judge")


def _place(trace: Trace) -> tuple[str | None, str | None]:
    """The last stage that the way taken and the way due have in common, and the first field that was misread there."""
    misread = trace.error in ("field", "lucky")
    taken = trace.own_path if misread else trace.predicted_path
    stage = None
    for one, other in zip(taken, trace.reference_path, strict=False):
        if one != other:
            break
        stage = one
    if not misread:
        return stage, None
    wrong = (name for name, due in trace.panel_fields.items() if trace.predicted_fields.get(name) != due)
    return stage, next(wrong, None)
