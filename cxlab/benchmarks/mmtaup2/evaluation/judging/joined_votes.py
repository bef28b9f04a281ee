"""Votes that hold a judge's replies to all questions of a turn: joined, and taken apart to ask only what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel

from cxlab.judging import JudgeAnswer
from cxlab.records import Usage, Vote


def split(votes: Iterable[Vote], turn: int, names: Sequence[str]) -> dict[str, list[Vote]]:
    """Question → the votes of a turn as if it alone had been asked; what its text does not hold, or no reply, is none.

    What a vote took is counted at the first of its questions. A reply that breaks off in the middle, or in which
    another question's name begins a line, is cut there, cannot be read, and is asked again.
    """
    found: dict[str, list[Vote]] = {name: [] for name in names}
    begins = re.compile(rf"^({'|'.join(map(re.escape, names))}): ", re.MULTILINE) if names else None
    for vote in votes:
        if vote.turn != turn or begins is None:
            continue
        heads, taken = list(begins.finditer(vote.raw)), False
        for place, head in enumerate(heads):
            end = heads[place + 1].start() if place + 1 < len(heads) else len(vote.raw)
            raw = vote.raw[head.end() : end].strip()
            if raw:
                spent = {"usage": Usage(), "latency_s": 0.0, "cost_usd": 0.0} if taken else {}
                found[head[1]].append(vote.model_copy(update={"raw": raw, "valid": True, "failure": None, **spent}))
                taken = True
    return found


def join(attempt_id: str, turn: int, ballots: Mapping[str, Sequence[JudgeAnswer[BaseModel]]]) -> list[Vote]:
    """One vote a judge and turn, whatever the number of questions it was given, by name."""
    names = list(dict.fromkeys(ballot.judge for one in ballots.values() for ballot in one))
    votes = []
    for name in names:
        replies = {group: b.reply for group, one in ballots.items() for b in one if b.judge == name}
        failures = [f"{r.failure.where}:{r.failure.type}" for r in replies.values() if r.failure]
        reasons = [f"{g}: {getattr(r.output, 'reason', '')}" for g, r in replies.items() if r.output]
        costs = [r.cost_usd for r in replies.values()]
        votes.append(
            Vote(
                attempt_id=attempt_id,
                turn=turn,
                judge=name,
                valid=not failures,
                raw="\n".join(f"{group}: {reply.raw}" for group, reply in replies.items()),
                rationale="\n".join(reasons),
                failure=failures[0] if failures else None,
                usage=sum((r.usage for r in replies.values()), Usage()),
                latency_s=sum(r.latency_s for r in replies.values()),
                cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
            )
        )
    return votes
