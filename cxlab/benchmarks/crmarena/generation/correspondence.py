"""What was said in a case and when: e-mails, chats, the history of owners and the closing, from a plan and its lines.

Times follow from the latent variables: how long a case takes is drawn from its issue, the agent's pace and skill and
the region; an e-mail is answered within a day, nobody in a chat waits five minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

import numpy as np

from cxlab.benchmarks.crmarena.generation.casework import CasePlan
from cxlab.benchmarks.crmarena.generation.latent import Latent, end_of, rng_for
from cxlab.benchmarks.crmarena.generation.sizes import Size
from cxlab.benchmarks.crmarena.organisation.notes import Notes
from cxlab.benchmarks.crmarena.organisation.talks import Speaker

# Hours that a case of no special kind takes, and how far that spreads (log-normal).
HOURS, SPREAD = 52.0, 0.35
# At most so long until an e-mail of a customer is answered, and until a customer answers one.
ANSWERED_WITHIN, CUSTOMER_WITHIN = timedelta(hours=20), timedelta(hours=40)
# Of the cases that are still open and in which nothing else happened so many have not been looked at.
NEW = 0.3


@dataclass(frozen=True)
class CaseMessage:
    """One e-mail or line of a chat; `who` said it, `agent` has the case at that moment (a place in the list)."""

    who: Speaker
    agent: int
    text: str
    at: datetime


@dataclass(frozen=True)
class CaseCorrespondence:
    """One case with all its texts and times. `moved` is when it changed hands, `closed` when it was closed; None where
    it was not. `status` as in Case.Status.
    """

    plan: CasePlan
    chat: tuple[CaseMessage, ...]
    emails: tuple[CaseMessage, ...]
    moved: datetime | None
    closed: datetime | None
    status: str


Lines = Sequence[tuple[Speaker, str]]


def add_handover(plan: CasePlan, lines: Lines, notes: Notes, rng: np.random.Generator) -> list[tuple[Speaker, str]]:
    """The lines with the words that tell the customer of a colleague, where the case changes hands and they do not.

    After them the colleague answers.
    """
    if plan.second is None or any(who == "colleague" or "<colleague>" in text for who, text in lines):
        return list(lines)
    wordings = notes.handover_chat if plan.talk.form == "chat" else notes.handover_email
    told: tuple[Speaker, str] = ("agent", wordings[int(rng.integers(len(wordings)))])
    rest: list[tuple[Speaker, str]] = [
        ("customer" if who == "customer" else "colleague", text) for who, text in lines[1:]
    ]
    return [lines[0], told, *rest]


def take_time(
    plans: Sequence[CasePlan],
    said: Sequence[Lines],
    latent: Latent,
    notes: Notes,
    size: Size,
    seed: int,
) -> list[CaseCorrespondence]:
    """Each case with its messages in time; `said` are its lines, handovers included, slots filled in."""
    rng = rng_for(seed, "times")
    end = datetime.combine(end_of(size), time())
    found = []
    for plan, lines in zip(plans, said, strict=True):
        hours = HOURS * latent.pace[plan.owner] * (1.6 - latent.skill[plan.owner, plan.issue])
        hours *= latent.region_pace[plan.state] * (0.6 if plan.talk.form == "chat" else 1.0)
        duration = timedelta(hours=float(hours * rng.lognormal(0, SPREAD)))
        found.append(_take_time(plan, lines, duration, end, notes, rng))
    return _add_closings(found, notes, size, rng)


def _take_time(
    plan: CasePlan, lines: Lines, duration: timedelta, end: datetime, notes: Notes, rng: np.random.Generator
) -> CaseCorrespondence:
    chat = plan.talk.form == "chat"
    quick = plan.talk.age[1] == 0
    now, moved, agent = plan.opened, None, plan.first
    messages: list[CaseMessage] = []
    emails: list[CaseMessage] = []
    # What a case lasts beyond the least it needs is spent waiting for the customer.
    slack = duration.total_seconds() / max(len(lines), 1)
    for number, (who, text) in enumerate(lines):
        before = now
        if number:
            now += _wait(who, chat, quick, slack, rng)
        if who == "colleague" and moved is None:
            # Whole seconds, after what was said last.
            moved = before + timedelta(seconds=int((now - before).total_seconds() * rng.uniform(0.3, 0.9)))
            agent = plan.owner
        messages.append(CaseMessage(who, agent, text, now))
        if not number and not chat:
            # Before the answer comes.
            soon = now + timedelta(seconds=int(rng.integers(20, 110) if quick else rng.integers(60, 900)))
            emails.append(CaseMessage("agent", plan.first, _pick(notes.received, rng), soon))
    if plan.second is not None and moved is None:
        # The last words of the agent told of it.
        moved, agent = now + timedelta(seconds=int(rng.integers(30, 600))), plan.owner
        now = moved
    if chat:
        emails.append(
            CaseMessage("agent", agent, _pick(notes.after_chat, rng), now + timedelta(minutes=int(rng.integers(3, 30))))
        )
        last = emails[-1].at
    else:
        emails = sorted([*messages, *emails], key=lambda each: each.at)
        last = max(now, emails[-1].at)
    closed = max(plan.opened + duration, last + timedelta(minutes=int(rng.integers(5, 120)))).replace(microsecond=0)
    if plan.is_open or closed >= end:
        if not chat and plan.breach is None and plan.second is None and rng.random() < NEW:
            return CaseCorrespondence(plan, (), tuple(emails[:2]), None, None, "New")
        status = "Escalated" if rng.random() < 0.2 else "Working"
        return CaseCorrespondence(plan, tuple(messages) if chat else (), tuple(emails), moved, None, status)
    return CaseCorrespondence(plan, tuple(messages) if chat else (), tuple(emails), moved, closed, "Closed")


def _wait(who: Speaker, chat: bool, quick: bool, slack: float, rng: np.random.Generator) -> timedelta:
    """How long the next line takes."""
    if chat:
        return timedelta(seconds=int(rng.integers(8, 150)))
    if quick:
        # Of orders that are minutes old: both sides hurry.
        return timedelta(seconds=int(rng.integers(120, 900)))
    if who == "customer":
        return timedelta(seconds=int(600 + rng.uniform(0.2, 0.8) * min(slack, CUSTOMER_WITHIN.total_seconds())))
    most = min(ANSWERED_WITHIN.total_seconds(), 1200 + slack)
    return timedelta(seconds=int(rng.uniform(900, most)))


def _pick(wordings: Sequence[str], rng: np.random.Generator) -> str:
    return wordings[int(rng.integers(len(wordings)))]


def _add_closings(
    cases: list[CaseCorrespondence], notes: Notes, size: Size, rng: np.random.Generator
) -> list[CaseCorrespondence]:
    """An e-mail at the end to some of those whose case was closed, so many that the wanted number of e-mails is met."""
    missing = size.emails - sum(len(case.emails) for case in cases)
    closed = [place for place, case in enumerate(cases) if case.closed is not None]
    told = set(rng.permutation(closed)[: max(missing, 0)].tolist())
    return [
        CaseCorrespondence(
            case.plan,
            case.chat,
            (
                *case.emails,
                CaseMessage("agent", case.plan.owner, _pick(notes.closing, rng), case.closed - timedelta(minutes=1)),
            ),
            case.moved,
            case.closed,
            case.status,
        )
        if place in told and case.closed is not None
        else case
        for place, case in enumerate(cases)
    ]
