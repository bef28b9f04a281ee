"""When is handing over right? The rule that judges are given has versions, and each version's verdicts are kept.

The world knows the answer (`Task.transfer_right`), so every version of the rule has an error rate, and from one
version to the next every verdict stays, is mended, is broken, or moves from one wrong answer to another.

    verdicts = await compare(conversations, judges, rules())        # asks only what was not kept
    rates(verdicts)          # judge and version -> how often wrong, with an interval
    flips(verdicts, 1, 2)    # what became of each verdict
    steps(verdicts)          # mended against broken, with McNemar's exact p
"""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from cxlab.benchmarks import yaml_files
from cxlab.benchmarks.mmtaup2 import events, rubrics
from cxlab.errors import BadFile, UnknownName
from cxlab.judging import Ballot, poll
from cxlab.llm.base import ChatModel
from cxlab.metrics.intervals import proportion_interval
from cxlab.metrics.paired import mcnemar_exact
from cxlab.records import Attempt, Judgement, content_id
from cxlab.records.base import Record

FILE = rubrics.HERE / "escalation.yaml"
Which = Literal["transfer", "solved"]


class Rule(Record):
    """One version: the rule as judges read it, and what was found wrong with the one before."""

    version: int = Field(ge=1)
    found: str
    rule: str = Field(min_length=1)


class _File(Record):
    rules: tuple[Rule, ...]

    @model_validator(mode="after")
    def _counted(self) -> _File:
        if [rule.version for rule in self.rules] != list(range(1, len(self.rules) + 1)):
            raise ValueError("versions must count up from 1")
        return self


class Verdict(Record):
    """What one judge said of one conversation under one version; `ask` counts repetitions of the same question.

    `question` is the hash of prompt and rule. `transfer` and `solved` are None where the reply had no such option.
    """

    attempt_id: str
    judge: str
    version: int
    question: str
    ask: int = 0
    transfer: str | None = None
    solved: str | None = None
    true_transfer: str
    true_solved: str
    reason: str = ""
    failure: str | None = None

    def said(self, which: Which) -> str | None:
        return self.transfer if which == "transfer" else self.solved

    def truth(self, which: Which) -> str:
        return self.true_transfer if which == "transfer" else self.true_solved


@dataclass(frozen=True)
class Rate:
    """How often a judge is wrong under a version, of the verdicts that could be read; a Wilson interval."""

    judge: str
    version: int
    n: int
    wrong: int
    share: float | None
    low: float | None
    high: float | None
    unread: int
    confusions: dict[tuple[str, str], int]  # (truth, what was said) -> how often, wrong ones only


@dataclass(frozen=True)
class Flip:
    """One conversation and judge from one version to another."""

    attempt_id: str
    judge: str
    ask: int
    before: str
    after: str
    truth: str
    became: Literal["mended", "broken", "moved"]


@dataclass(frozen=True)
class Step:
    """A judge from one version to the next; `p` of McNemar's exact test of mended against broken."""

    judge: str
    before: int
    after: int
    n: int
    kept: int
    mended: int
    broken: int
    moved: int
    p: float


@functools.cache
def rules() -> tuple[Rule, ...]:
    """All versions, the first one first."""
    found, complaints = yaml_files.read(FILE, _File, "see escalation.yaml as it came")
    if found is None:
        raise BadFile(FILE, complaints[0].line, complaints[0].problem, complaints[0].fix)
    return found.rules


def find(version: int | None = None, among: Sequence[Rule] | None = None) -> Rule:
    """A version of the rule, the last one for None."""
    known = rules() if among is None else among
    if version is None:
        return known[-1]
    for rule in known:
        if rule.version == version:
            return rule
    raise UnknownName("version of the rule about handing over", version, [rule.version for rule in known])


def patch(rule: str, found: str, among: Sequence[Rule] | None = None) -> tuple[Rule, ...]:
    """The versions with a new one at the end."""
    known = tuple(rules() if among is None else among)
    return (*known, Rule(version=known[-1].version + 1 if known else 1, found=found, rule=rule))


async def compare(
    conversations: Iterable[tuple[events.Goal, Attempt]],
    judges: Sequence[ChatModel],
    versions: Sequence[Rule],
    *,
    asks: int = 1,
    seed: int = 0,
    kept: Iterable[Verdict] = (),
    **shared: Any,
) -> list[Verdict]:
    """Verdicts of all judges on all conversations under all versions; those `kept` are not asked for again.

    `asks`: how often each question is put, to tell a judge's change of mind from the rule's effect. Conversations that
    are not decided (no `passed`) or in which the agent said nothing are left out. `shared`: cache and budget.
    """
    told = {_key(one): one for one in kept}
    found: list[Verdict] = []
    for task, attempt in conversations:
        if attempt.output.get("passed") is None or not rubrics.turns_of(attempt.messages):
            continue
        truth = events.transfer_truth(task, bool(attempt.output.get("transferred")))
        waiting, polls = [], []
        for rule in versions:
            for again in range(asks):
                question = content_id(rubrics.outcome_prompt(rule.version).hash, rule.rule)
                keys = {judge: (attempt.id, judge.name, question, again) for judge in judges}
                found += [told[key] for key in keys.values() if key in told]
                left = [judge for judge, key in keys.items() if key not in told]
                if left:
                    inputs = rubrics.outcome_inputs(attempt.messages, rule.rule)
                    prompt = rubrics.outcome_prompt(rule.version)
                    waiting.append((rule, question, again))
                    polls.append(poll(left, prompt, inputs, seed=seed + 7919 * again, **shared))
        for (rule, question, again), ballots in zip(waiting, await asyncio.gather(*polls), strict=True):
            found += [_verdict(attempt, rule, question, again, truth, ballot) for ballot in ballots]
    return sorted(found, key=lambda v: (v.attempt_id, v.judge, v.version, v.ask))


def rates(verdicts: Iterable[Verdict], which: Which = "transfer") -> list[Rate]:
    """How often each judge is wrong under each version."""
    groups: dict[tuple[str, int], list[Verdict]] = {}
    for one in verdicts:
        groups.setdefault((one.judge, one.version), []).append(one)
    found = []
    for (judge, version), part in sorted(groups.items()):
        read = [one for one in part if one.said(which) is not None]
        wrong = [one for one in read if one.said(which) != one.truth(which)]
        about = proportion_interval(len(wrong), len(read))
        share, low, high = (about.mean, about.low, about.high) if read else (None, None, None)
        confused = Counter((one.truth(which), str(one.said(which))) for one in wrong)
        found.append(
            Rate(judge, version, len(read), len(wrong), share, low, high, len(part) - len(read), dict(confused))
        )
    return found


def flips(verdicts: Iterable[Verdict], before: int, after: int, which: Which = "transfer") -> list[Flip]:
    """The verdicts that changed between two versions; what was not read on one side has not changed."""
    found = []
    for old, new in _pairs(verdicts, before, after, which):
        was, now, truth = str(old.said(which)), str(new.said(which)), new.truth(which)
        if was != now:
            became: Literal["mended", "broken", "moved"]
            became = "mended" if now == truth else "broken" if was == truth else "moved"
            found.append(Flip(new.attempt_id, new.judge, new.ask, was, now, truth, became))
    return found


def steps(verdicts: Iterable[Verdict], which: Which = "transfer") -> list[Step]:
    """Each judge from each version to the next one."""
    every = list(verdicts)
    versions = sorted({one.version for one in every})
    found = []
    for before, after in itertools.pairwise(versions):
        for judge in sorted({one.judge for one in every}):
            mine = [one for one in every if one.judge == judge]
            n = len(_pairs(mine, before, after, which))
            became = Counter(flip.became for flip in flips(mine, before, after, which))
            p = mcnemar_exact(became["mended"], became["broken"])
            changed = sum(became.values())
            found.append(
                Step(judge, before, after, n, n - changed, became["mended"], became["broken"], became["moved"], p)
            )
    return found


def unsteady(verdicts: Iterable[Verdict], which: Which = "transfer") -> dict[tuple[str, int], tuple[int, int]]:
    """Judge and version -> (conversations on which it changed its mind between asks, conversations asked twice)."""
    said: dict[tuple[str, int, str], list[str | None]] = {}
    for one in verdicts:
        said.setdefault((one.judge, one.version, one.attempt_id), []).append(one.said(which))
    found: dict[tuple[str, int], tuple[int, int]] = {}
    for (judge, version, _), each in sorted(said.items()):
        if len(each) > 1:
            changed, n = found.get((judge, version), (0, 0))
            found[(judge, version)] = (changed + (len(set(each)) > 1), n + 1)
    return found


def judgements(verdicts: Iterable[Verdict], turns: dict[str, int]) -> list[Judgement]:
    """The verdicts as rows of a run, a field a version (`transfer_v1`, ...), with the truth as the judge `measured`.

    `turns`: attempt -> the turn in which it ended. Only the first ask of each question is shown.
    """
    found, known = [], set()
    for one in verdicts:
        if one.ask:
            continue
        field, at = f"transfer_v{one.version}", turns[one.attempt_id]
        rows = [(one.judge, one.transfer)]
        if (one.attempt_id, field) not in known:
            known.add((one.attempt_id, field))
            rows.append(("measured", one.true_transfer))
        for judge, verdict in rows:
            status: Literal["ok", "missing"] = "missing" if verdict is None else "ok"
            found.append(
                Judgement(
                    attempt_id=one.attempt_id,
                    turn=at,
                    judge=judge,
                    kind="field",
                    field=field,
                    verdict=verdict,
                    status=status,
                )
            )
    return found


def keep(verdicts: Iterable[Verdict], path: Path) -> None:
    """Write verdicts, a line of JSON each; a file that is there is replaced as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(path.suffix + ".part")
    partial.write_text("".join(f"{one.model_dump_json()}\n" for one in verdicts), encoding="utf-8")
    partial.replace(path)


def kept(path: Path) -> list[Verdict]:
    """Verdicts as they were kept; none where there is no file."""
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found.append(Verdict.model_validate_json(line))
        except ValidationError as error:
            problem = f"not a verdict: {error.errors()[0]['msg']}"
            raise BadFile(path, number, problem, "delete the line; it will be asked for again") from None
    return found


def _key(one: Verdict) -> tuple[str, str, str, int]:
    return one.attempt_id, one.judge, one.question, one.ask


def _verdict(attempt: Attempt, rule: Rule, question: str, ask: int, truth: str, ballot: Ballot[Any]) -> Verdict:
    reply = ballot.reply
    options = rubrics.GROUPS["outcome"]

    def option(name: str) -> str | None:
        return rubrics.option_of(getattr(reply.output, name, None), options[name])

    return Verdict(
        attempt_id=attempt.id,
        judge=ballot.judge,
        version=rule.version,
        question=question,
        ask=ask,
        transfer=option("transfer"),
        solved=option("solved"),
        true_transfer=truth,
        true_solved="yes" if attempt.output["passed"] else "no",
        reason=str(getattr(reply.output, "reason", "")),
        failure=f"{reply.failure.where}:{reply.failure.type}" if reply.failure else None,
    )


def _pairs(verdicts: Iterable[Verdict], before: int, after: int, which: Which) -> list[tuple[Verdict, Verdict]]:
    """The same judge on the same conversation under both versions, where both could be read."""
    sides: dict[int, dict[tuple[str, str, int], Verdict]] = {before: {}, after: {}}
    for one in verdicts:
        if one.version in sides and one.said(which) is not None:
            sides[one.version][(one.attempt_id, one.judge, one.ask)] = one
    return [(sides[before][key], sides[after][key]) for key in sorted(sides[before]) if key in sides[after]]
