"""The metrics once more, judged: a panel reads each turn with the conversation up to it, and the whole at its end.

The panel's word on a field is its majority; ties and values outside the options have none. Beside the judges stands a
record of the same fields as they were measured, under the name `measured`, so that the Judges page compares each judge
with the log as it compares judges with one another. Fields without a truth in the log (`necessary`) are left out of it.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from cxlab.benchmarks.contract import Scored, Setup, lost_customer
from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.conversation import personas
from cxlab.benchmarks.mmtaup2.evaluation import adaptations, events, measured_metrics, unknown_world
from cxlab.benchmarks.mmtaup2.evaluation.judging import joined_votes, left_open, rubric_versions
from cxlab.benchmarks.mmtaup2.evaluation.judging.verdict_figures import Verdicts, figures
from cxlab.benchmarks.mmtaup2.options import MmOptions
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.judging import JudgeAnswer, poll, tally
from cxlab.records import Attempt, Judgement, Vote
from cxlab.records.evaluation import MEASURED


@dataclass(frozen=True)
class JudgedFigures:
    """What a panel came to on one attempt."""

    figures: Mapping[str, measured_metrics.Figure]
    verdicts: Verdicts
    votes: tuple[Vote, ...]
    judgements: tuple[Judgement, ...]


async def assess(task: events.ReferenceTask, attempt: Attempt, setup: Setup) -> Scored:
    """All of an attempt: measured scores, and with judges the judged ones, their votes, and the measured record."""
    versions = rubric_versions.read_option(MmOptions.of(setup.options).escalation)
    if versions is not None:  # what was measured stands in the run that is asked about
        return Scored((), *await ask_versions(task, attempt, setup, versions))
    found = measured_metrics.measure_attempt(task, attempt)
    if not setup.judges or attempt.outcome == "provider" or lost_customer(attempt):
        return Scored(tuple(measured_metrics.scores(attempt, found)))
    judged = await judge(task, attempt, setup, found)
    rows = measured_metrics.scores(attempt, left_open.decide(found, judged.verdicts))
    rows += measured_metrics.scores(attempt, measured_metrics.Measurement(judged.figures), "judged_")
    votes, judgements = record(attempt, measured_verdicts(task, found, attempt, judged.verdicts))
    return Scored(tuple(rows), (*judged.votes, *votes), (*judged.judgements, *judgements))


def reassess(task: events.ReferenceTask, attempt: Attempt, stored: Scored, setup: Setup) -> Scored:
    """`assess` from what the judges said when they were asked; what was measured is measured anew."""
    votes = tuple(vote for vote in stored.votes if vote.judge != MEASURED)
    said = [one for one in stored.judgements if one.judge != MEASURED]
    option = MmOptions.of(setup.options).escalation
    if option is not None and not isinstance(option, int):
        if votes:
            turn = judge_prompts.turns_of(attempt.messages)[-1]
            said += _truth(task, attempt, turn, [int(rule["version"]) for rule in option])
        return Scored((), votes, tuple(said))
    found = measured_metrics.measure_attempt(task, attempt)
    if not setup.judges or attempt.outcome == "provider":
        return Scored(tuple(measured_metrics.scores(attempt, found)))
    if lost_customer(attempt):  # older runs had it judged, and paid for that
        return Scored(tuple(measured_metrics.scores(attempt, found)), votes, tuple(said))
    verdicts = majority(said)
    turns = judge_prompts.turns_of(attempt.messages)
    judged = figures(_of_groups(verdicts, _groups(setup), turns), len(turns))
    rows = measured_metrics.scores(attempt, left_open.decide(found, verdicts))
    rows += measured_metrics.scores(attempt, measured_metrics.Measurement(judged), "judged_")
    measured_votes, measured = record(attempt, measured_verdicts(task, found, attempt, verdicts))
    return Scored(tuple(rows), (*votes, *measured_votes), (*said, *measured))


def _groups(setup: Setup) -> Sequence[str]:
    return MmOptions.of(setup.options).judge_groups or judge_prompts.USUAL


def _of_groups(verdicts: Verdicts, groups: Iterable[str], turns: Iterable[int]) -> Verdicts:
    """The verdicts on what was asked at every turn; a question that was put where the log is open is no figure."""
    names = {name for group in groups for name in judge_prompts.GROUPS[group]}
    there = {turn: verdicts[turn] for turn in turns if turn in verdicts}
    return {turn: {name: word for name, word in said.items() if name in names} for turn, said in there.items()}


async def judge(
    task: events.ReferenceTask, attempt: Attempt, setup: Setup, found: measured_metrics.Measurement | None = None
) -> JudgedFigures:
    """Put every turn and the outcome to all judges of the set-up.

    The options say which groups of questions are asked, and which version of the rule about handing over. What the
    wording leaves open (`found`) is asked in any case, all turns that may be annoyed at once, at the last of them.
    """
    options, groups = MmOptions.of(setup.options), _groups(setup)
    turns, voice = judge_prompts.turns_of(attempt.messages), _by_voice(attempt)
    log = (found or measured_metrics.measure_attempt(task, attempt)).log
    undecided = left_open.find(log)
    votes: list[Vote] = []
    judgements: list[Judgement] = []
    names = list(judge_prompts.GROUPS)
    moods = max(log.maybe_annoyed, default=None)
    for turn in sorted({*turns, *([] if moods is None else [moods])}.union(*undecided.values())):
        seed = setup.seed * 1009 + attempt.trial * 31 + turn
        asked = [group for group in judge_prompts.TURN_GROUPS if group in groups and turn in turns]
        asked += [group for group, where in undecided.items() if turn in where and group not in asked]
        inputs, said = turn_inputs(task, attempt, turn, asked), joined_votes.split(setup.votes, turn, names)
        draw = attempt.sample_id
        polls: list[Any] = [
            poll(setup.judges, judge_prompts.turn_prompt(group, voice), inputs[group], seed, said[group], draw=draw)
            for group in asked
        ]
        if turns and turn == turns[-1] and "outcome" in groups:
            rule = rubric_versions.find(options.escalation if isinstance(options.escalation, int) else None)
            prompt = judge_prompts.outcome_prompt(rule.version)
            whole = judge_prompts.outcome_inputs(
                attempt.messages, rule.say(task.domain), policy_of(task.domain, attempt)
            )
            polls.append(poll(setup.judges, prompt, whole, seed, said["outcome"], draw=draw))
            asked.append("outcome")
        if turn == moods:
            open_turns = left_open.annoyance_inputs(log, attempt.messages)
            prompt_of_all = judge_prompts.annoyance_prompt()
            polls.append(poll(setup.judges, prompt_of_all, open_turns, seed, said["annoyance"], draw=draw))
            asked.append("annoyance")
        ballots = dict(zip(asked, await asyncio.gather(*polls), strict=True))
        for group, one in ballots.items():
            if group == "annoyance":
                judgements += [j for ballot in one for j in count_annoyance(attempt.id, log.maybe_annoyed, ballot)]
                continue
            judgements += [j for ballot in one for j in count(attempt.id, turn, group, ballot, voice)]
        if ballots:
            votes += joined_votes.join(attempt.id, turn, ballots)
    verdicts = majority(judgements)
    told = figures(_of_groups(verdicts, groups, turns), len(turns), bool(setup.judges))
    return JudgedFigures(told, verdicts, tuple(votes), tuple(judgements))


async def ask_versions(
    task: events.ReferenceTask, attempt: Attempt, setup: Setup, versions: Sequence[rubric_versions.EscalationRule]
) -> tuple[tuple[Vote, ...], tuple[Judgement, ...]]:
    """The outcome put to all judges under several versions of the rule, a field a version: `transfer_v1`, `solved_v1`.

    They are not shown the policy here, for it decides what the versions leave open. The truth stands beside them, as
    the judge `measured`. A conversation that is not decided, or in which the agent said nothing, is asked nothing.
    """
    turns = judge_prompts.turns_of(attempt.messages)
    passed = attempt.output.get("passed")
    if passed is None or not turns or attempt.outcome == "provider":
        return (), ()
    # As in `judge`: what a seed decides is no difference between versions, nor between here and there.
    seed = setup.seed * 1009 + attempt.trial * 31 + turns[-1]
    earlier = joined_votes.split(setup.votes, turns[-1], [f"v{rule.version}" for rule in versions])
    polls = [
        poll(
            setup.judges,
            judge_prompts.outcome_prompt(rule.version),
            judge_prompts.outcome_inputs(attempt.messages, rule.say(task.domain)),
            seed,
            earlier[f"v{rule.version}"],
            draw=attempt.sample_id,
        )
        for rule in versions
    ]
    ballots = {rule.version: found for rule, found in zip(versions, await asyncio.gather(*polls), strict=True)}
    said: list[Judgement] = []
    for version, each in ballots.items():
        named = [one for ballot in each for one in count(attempt.id, turns[-1], "outcome", ballot)]
        said += [one.model_copy(update={"field": f"{one.field}_v{version}"}) for one in named]
    said += _truth(task, attempt, turns[-1], ballots)
    by_name = {f"v{version}": each for version, each in ballots.items()}
    return tuple(joined_votes.join(attempt.id, turns[-1], by_name)), tuple(said)


def _truth(task: events.ReferenceTask, attempt: Attempt, turn: int, versions: Iterable[int]) -> list[Judgement]:
    """What became of the conversation, as the judge `measured` says it under each version of the rule."""
    truth = {
        "solved": _yes(bool(attempt.output.get("passed"))),
        "transfer": events.transfer_truth(task, bool(attempt.output.get("transferred"))),
    }
    return [
        _judgement(attempt.id, turn, MEASURED, f"{name}_v{version}", value, "ok")
        for version in versions
        for name, value in truth.items()
    ]


def turn_inputs(
    task: events.ReferenceTask, attempt: Attempt, turn: int, groups: Iterable[str]
) -> dict[str, judge_prompts.TurnInputs]:
    """Group of questions → what every judge sees of a turn: what they need of policy and values, nothing later."""
    known: dict[str, Any] = {
        "turn": turn,
        "talk": judge_prompts.show(judge_prompts.lines(attempt.messages, turn)),
        "policy": policy_of(task.domain, attempt),
        "fields": {name: judge_prompts.spell(value) for name, value in task.critical_fields.items()},
        "irreversible": tuple(sorted({*irreversible_tools(task.domain), *task.irreversible})),
        "customer": _describe_customer(attempt),
        "voice": _by_voice(attempt),
    }
    kinds = {group: judge_prompts.INPUTS[group] for group in groups}
    return {group: kind(**{name: known[name] for name in kind.model_fields}) for group, kind in kinds.items()}


def _describe_customer(attempt: Attempt) -> str:
    name = attempt.output.get("persona") or ""
    return personas.describe(name, _by_voice(attempt)) if name in personas.NAMES else ""


def _by_voice(attempt: Attempt) -> bool:
    return bool(attempt.output.get("modality") == "voice")


def policy_of(domain: str, attempt: Attempt) -> str:
    """The policy that the agent of a conversation had; "" where it is not known.

    An imported one was held under the policy of those who held it, which its file may tell, and not under ours.
    """
    if samples.HELD_ELSEWHERE in attempt.output:
        return unknown_world.policy_told(attempt)
    return worlds.policy(domain) if domain in worlds.DOMAINS else ""


@functools.cache
def irreversible_tools(domain: str) -> tuple[str, ...]:
    """The agent's tools of a domain that nothing takes back; () for a world that we do not have."""
    if domain not in worlds.DOMAINS:
        return ()
    world = worlds.load(domain, 0, 1)
    names = (tool["function"]["name"] for tool in world.tools("agent"))
    return tuple(name for name in names if world.is_irreversible(name))


def count(
    attempt_id: str, turn: int, group: str, ballot: JudgeAnswer[BaseModel], voice: bool = True
) -> list[Judgement]:
    """One judge's verdicts of a group, each checked against its options."""
    found = []
    for name, options in judge_prompts.fields_of(group, voice).items():
        said = getattr(ballot.reply.output, name) if ballot.reply.output else None
        value = judge_prompts.option_of(said, options)
        status: Any = "missing" if said is None else "ok" if value else "oov"
        verdict = value if value else None if said is None else str(said)
        found.append(_judgement(attempt_id, turn, ballot.judge, name, verdict, status))
    return found


def count_annoyance(attempt_id: str, turns: Iterable[int], ballot: JudgeAnswer[BaseModel]) -> list[Judgement]:
    """One judge's verdicts on the turns that it was asked about; a turn that it left out has none."""
    told = getattr(ballot.reply.output, "verdicts", ())
    said = {one.turn: one.annoyed for one in told}
    found = []
    for turn in turns:
        value = judge_prompts.option_of(said.get(turn), judge_prompts.YES_NO)
        status: Any = "missing" if said.get(turn) is None else "ok" if value else "oov"
        verdict = value or (None if said.get(turn) is None else str(said[turn]))
        found.append(_judgement(attempt_id, turn, ballot.judge, "annoyed", verdict, status))
    return found


def majority(judgements: Iterable[Judgement]) -> dict[int, dict[str, str]]:
    """Turn → field → the panel's word, for the fields that have one."""
    said: dict[tuple[int, str], list[str]] = {}
    asked: Counter[tuple[int, str]] = Counter()
    unread: Counter[tuple[int, str]] = Counter()
    for one in judgements:
        asked[one.turn, one.field] += 1
        unread[one.turn, one.field] += one.status == "missing"
        if one.status == "ok" and one.verdict is not None:
            said.setdefault((one.turn, one.field), []).append(one.verdict)
    found: dict[int, dict[str, str]] = {}
    for (turn, name), values in said.items():
        winner = tally(values, asked[turn, name], unread[turn, name]).winner
        if winner is not None:
            found.setdefault(turn, {})[name] = winner
    return found


def measured_verdicts(
    task: events.ReferenceTask, found: measured_metrics.Measurement, attempt: Attempt, panel: Verdicts
) -> dict[int, dict[str, str]]:
    """The fields that judges are asked, as the log has them: what a judge that is never wrong would say.

    Whether a message adapts is no fact but a rule's reading; it stands beside the panel's word where they gave one.
    """
    log, turns = found.log, judge_prompts.turns_of(attempt.messages)
    record: dict[int, dict[str, str]] = {}
    for turn in turns:
        used = [right for d in log.did if d.turn == turn for right in _uses(task, d)]
        final = [one.confirmed for one in log.irreversible if one.turn == turn and one.done]
        record[turn] = {
            "field_used": "none" if not used else "right" if all(used) else "wrong",
            "error": _yes(any(e.turn == turn for e in log.errors)),
            "recovered": _yes(any(e.recovered == turn for e in log.errors)),
            "clarification_needed": _yes(turn in log.lacking),
        }
        if turn not in log.maybe_clarified:
            record[turn]["clarified"] = _yes(any(c.turn == turn for c in log.clarifications))
        if _by_voice(attempt):
            record[turn]["misheard"] = _yes(any(t == turn for t, _ in log.misheard))
        if turn not in log.maybe_effort:
            record[turn]["effort"] = _yes(turn in log.effort)
        if turn not in log.maybe_requests:
            record[turn]["confirmation_asked"] = _yes(any(t == turn for t, _ in log.requests))
        if "adapted" in panel.get(turn, ()):
            mine = [one.meant for one in log.said if one.who == "agent" and one.turn == turn]
            record[turn]["adapted"] = _yes(any(map(adaptations.find, mine)))
        if None not in final:
            record[turn]["irreversible"] = "none" if not final else "confirmed" if all(final) else "unconfirmed"
    if turns and (passed := attempt.output.get("passed")) is not None:
        record[turns[-1]] |= {"solved": _yes(bool(passed)), "transfer": events.transfer_truth(task, log.transferred)}
    return record


def _uses(task: events.ReferenceTask, call: events.ToolUse) -> list[bool]:
    """Whether each critical field that a call names has its value; another one that was merely looked at is no use."""
    if call.side != "agent":
        return []
    critical = task.critical_fields
    named = {name: events.carries(call, name, critical[name]) for name in call.arguments if name in critical}
    return [right for right in named.values() if right or call.write or call.kind != "ok"]


def record(attempt: Attempt, verdicts: Verdicts) -> tuple[list[Vote], list[Judgement]]:
    """Measurement verdicts as a judge's rows."""
    votes, judgements = [], []
    for turn, fields in verdicts.items():
        raw = json.dumps(fields)
        votes.append(
            Vote(attempt_id=attempt.id, turn=turn, judge=MEASURED, valid=True, raw=raw, rationale="From the log.")
        )
        judgements += [_judgement(attempt.id, turn, MEASURED, name, value, "ok") for name, value in fields.items()]
    return votes, judgements


def _yes(found: bool) -> str:
    return "yes" if found else "no"


def _judgement(attempt_id: str, turn: int, judge: str, name: str, verdict: str | None, status: Any) -> Judgement:
    return Judgement(
        attempt_id=attempt_id, turn=turn, judge=judge, kind="field", field=name, verdict=verdict, status=status
    )
