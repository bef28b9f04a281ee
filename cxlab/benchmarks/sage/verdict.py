"""What one attempt at SAGE came to: the first turn that went wrong decides, and says where."""

from cxlab.benchmarks.contract import Scored, lost_customer, name_fault, name_unread
from cxlab.benchmarks.sage import conversation_check
from cxlab.benchmarks.sage.attribution import DISPUTED, ERRORS
from cxlab.judging import find_silence
from cxlab.records import Attempt, Score, Trace, Verdict

REASONS = {
    "field": "misread field",
    "execution": "left the procedure",
    "action": "wrong action",
    "lucky": "right by luck",
    "panel": "panel off the truth",
    "both_off": "agent and panel off the truth alike",
    "account_off": "the customer's account is behind its words",
    "untold": "the customer kept a fact to itself",
}


UNREAD_CUSTOMER = "unreadable customer"


def cut_short(attempt: Attempt) -> str | None:
    """Why a dialogue ended early through nothing that the agent did: a provider's fault, or a customer that could not
    be read any more; None for one that came to its end."""
    if attempt.outcome == "provider":
        return name_fault(attempt)
    return UNREAD_CUSTOMER if lost_customer(attempt) else None


def without_fault(attempt: Attempt, score: Score) -> Score:
    """The score, empty where a fault that is not the agent's is in the way: it may not move an agent's means.

    A dialogue that such a fault ended is scored nowhere, for what is left of it are early turns alone; a message of the
    customer's that could not be read, and that the dialogue outlived, empties its own turn.
    """
    reason = cut_short(attempt)
    unread = (each.turn for each in attempt.failures if each.where == "customer")
    if reason is None and score.turn in unread:
        reason = UNREAD_CUSTOMER
    return score if reason is None else score.model_copy(update={"value": None, "reason": reason})


def judge_attempt(task: str, attempt: Attempt, scored: Scored) -> Verdict:
    """Failed where an evaluated turn went wrong or a reply could not be read; passed where every evaluated turn is
    right; unscored where one of them has no reference or a disputed one (`attribution`), where the customer did not
    play its part, or a provider cut the dialogue short before anything was wrong."""
    if task == conversation_check.TASK:
        return conversation_check.judge(attempt)
    wrong = next((trace for trace in scored.traces if trace.error in ("format", *ERRORS)), None)
    if wrong is not None:
        stage, field = _place(wrong)
        unread = next((each for each in attempt.failures if each.turn == wrong.turn and each.where == "format"), None)
        reason = name_unread(unread) if wrong.error == "format" else REASONS.get(wrong.error, wrong.error)
        return Verdict(
            attempt_id=attempt.id, value="failed", reason=reason, owner="agent",
            turn=wrong.turn, stage=stage, field=field,
        )  # fmt: skip
    unread = next((failure for failure in attempt.failures if failure.where == "format"), None)
    if unread is not None:
        return Verdict(
            attempt_id=attempt.id, value="failed", reason=name_unread(unread), owner="agent", turn=unread.turn
        )
    if attempt.outcome == "provider":
        return Verdict(attempt_id=attempt.id, value="unscored", reason=name_fault(attempt), owner="provider")
    if any(each.where == "customer" for each in attempt.failures):
        return Verdict(attempt_id=attempt.id, value="unscored", reason=UNREAD_CUSTOMER, owner="customer")
    off = next((trace for trace in scored.traces if trace.error in DISPUTED), None)
    if off is not None:
        return Verdict(
            attempt_id=attempt.id, value="unscored", reason=REASONS[off.error], owner=DISPUTED[off.error],
            turn=off.turn,
        )  # fmt: skip
    untold = next((each.value for each in scored.scores if each.metric == "untold"), None)
    if untold and attempt.ended_by in ("turns", "loop", "goodbye"):
        return Verdict(attempt_id=attempt.id, value="unscored", reason=REASONS["untold"], owner="customer")
    tied = next((trace for trace in scored.traces if trace.error == "unscored"), None)
    if scored.traces and tied is None:
        return Verdict(attempt_id=attempt.id, value="passed")
    reason = "no reference: judges tied" if tied else "no turn was evaluated"
    reason, owner = find_silence(scored.votes) or (reason, "judge")
    return Verdict(
        attempt_id=attempt.id, value="unscored", reason=reason, owner=owner, turn=tied.turn if tied else None
    )


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
