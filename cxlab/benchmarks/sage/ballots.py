"""What a panel of judges said of one turn: each verdict checked against its options, then counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.procedures.sop_text import show
from cxlab.benchmarks.sage.prompts.scenario_prompts import DIMENSIONS, GRADES, JudgeReply
from cxlab.benchmarks.sage.rules import Scenario
from cxlab.judging import JudgeAnswer, Tally, tally
from cxlab.records import Attempt, Judgement, Vote


def count(s: Scenario, attempt_id: str, turn: int, ballot: JudgeAnswer[JudgeReply]) -> list[Judgement]:
    """One judge's verdicts, each checked against the options."""
    output = ballot.reply.output
    found = []
    for name, spec in s.fields.items():
        said = output.fields.get(name) if output else None
        value = option_of(said, tuple(spec.options))
        status = "missing" if said is None else "ok" if value is not None else "oov"
        verdict = show(value) if value is not None else None if said is None else str(said)
        found.append(_judgement(attempt_id, turn, ballot.judge, "field", name, verdict, status))
    for name in DIMENSIONS:
        said = output.grades.get(name) if output else None
        value = None if isinstance(said, bool) else option_of(said, GRADES)
        status = "missing" if said is None else "ok" if value is not None else "oov"
        verdict = str(value) if value is not None else None if said is None else str(said)
        found.append(_judgement(attempt_id, turn, ballot.judge, "dimension", name, verdict, status))
    return found


def option_of(said: Any, options: Sequence[Any]) -> Any:
    """The option that a judge's value names, or None: spelling counts, JSON's true and "true" are one."""
    if isinstance(said, str):
        text = said.strip()
        return next((option for option in options if said == option or text == show(option)), None)
    return next((option for option in options if same(said, option)), None)


def labels_of(s: Scenario, ballot: Sequence[Judgement]) -> dict[str, Any]:
    """Field → the option that one judge read; values outside the options never count."""
    read = {one.field: one.verdict for one in ballot if one.kind == "field" and one.status == "ok"}
    return {name: option_of(read[name], tuple(spec.options)) for name, spec in s.fields.items() if name in read}


def tallies(
    s: Scenario, counted: Sequence[Sequence[Judgement]], labels: Sequence[Mapping[str, Any]]
) -> dict[str, Tally]:
    """The panel's count for each field, of what each judge read."""
    unread = Counter(one.field for ballot in counted for one in ballot if one.status == "missing")
    return {
        name: tally([read[name] for read in labels if name in read], len(counted), unread[name]) for name in s.fields
    }


def vote_of(attempt: Attempt, turn: int, ballot: JudgeAnswer[JudgeReply]) -> Vote:
    reply = ballot.reply
    output = reply.output
    reasons = [r for r in (output.fields_reasoning, output.grades_reasoning) if r] if output else []
    return Vote(
        attempt_id=attempt.id,
        turn=turn,
        judge=ballot.judge,
        valid=output is not None,
        raw=reply.raw,
        rationale="\n".join(reasons),
        failure=f"{reply.failure.where}:{reply.failure.type}" if reply.failure else None,
        usage=reply.usage,
        latency_s=reply.latency_s,
        cost_usd=reply.cost_usd,
    )


def _judgement(
    attempt_id: str, turn: int, judge: str, kind: Any, field: str, verdict: str | None, status: Any
) -> Judgement:
    return Judgement(
        attempt_id=attempt_id, turn=turn, judge=judge, kind=kind, field=field, verdict=verdict, status=status
    )
