"""SAGE's scores: a panel labels the fields, the rule engine says what should have happened.

Scores are a turn's own, on 0–100 (dimensions on their 3–9). The reference of a turn follows from the
panel's fields at that turn; where the panel is split on a field that the path reads, the turn has no
reference and its logic is not scored, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cxlab.benchmarks.contract import Scored, Setup
from cxlab.benchmarks.sage import conversation_check, valid_scores
from cxlab.benchmarks.sage.attribution import attribute
from cxlab.benchmarks.sage.ballots import count, labels_of, tallies, vote_of
from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.customer_card import told_until
from cxlab.benchmarks.sage.formulae import action, chat, logic, overall
from cxlab.benchmarks.sage.options import SageOptions
from cxlab.benchmarks.sage.procedures.sop_text import show_fields, show_policy, shown_system
from cxlab.benchmarks.sage.prompts import scenario_prompts
from cxlab.benchmarks.sage.prompts.scenario_prompts import DIMENSIONS
from cxlab.benchmarks.sage.rules import Scenario, Untraceable, load
from cxlab.benchmarks.sage.rules import Trace as Route
from cxlab.benchmarks.sage.verdict import cut_short, without_fault
from cxlab.judging import JudgeAnswer, Tally, poll, quorum
from cxlab.metrics import paths
from cxlab.records import Attempt, Judgement, Message, Sample, Score, SingleJudgeTrace, Trace, Vote

EVALUATED = (1, 5, 10, 15)
UNPARSED = "the reply could not be parsed"
MOST_WORDS = 40
"""What the procedure allows a message to have; counted and not judged."""
# What an attempt has as the mean of its evaluated turns.
MEANS = ("overall", "logic", "chat", "format_error", "overall_zero", "told", "truth", "skill", "claims", "too_long")
LOGIC_METRICS = ("classification", "path", "action", "logic", "overall")


def evaluated_turns(last: int) -> tuple[int, ...]:
    """Turns 1, 5, 10, 15 as far as they were reached, and the last one."""
    return tuple(sorted({t for t in EVALUATED if t <= last} | ({last} if last else set())))


async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    """Judge and score the evaluated turns of one attempt."""
    if sample.task == conversation_check.TASK:
        return conversation_check.score(sample, attempt, setup)
    s = load(sample.inputs["scenario"])
    replies = {m.turn: m for m in attempt.messages if m.role == "agent"}
    turns = evaluated_turns(max(replies, default=0))
    prompt = scenario_prompts.judge_prompt(s)
    votes: list[Vote] = []
    counted: dict[int, list[list[Judgement]]] = {}
    for turn in turns:
        parsed = "fields" in replies[turn].data
        ballots: list[JudgeAnswer[scenario_prompts.JudgeReply]] = []
        if parsed and setup.judges:
            heard = [m for m in attempt.messages if m.turn <= turn]
            inputs = judge_inputs(s, sample, heard, setup)
            seed = setup.seed * 1009 + attempt.trial * 31 + turn
            said = [vote for vote in setup.votes if vote.turn == turn]
            ballots = await poll(setup.judges, prompt, inputs, seed, said, draw=sample.id)
        votes += [vote_of(attempt, turn, ballot) for ballot in ballots]
        counted[turn] = [count(s, attempt.id, turn, ballot) for ballot in ballots]
    judgements = tuple(judgement for ballots in counted.values() for one in ballots for judgement in one)
    scores, traces = _score_turns(s, sample, attempt, counted, bool(setup.judges))
    return Scored(scores, tuple(votes), judgements, traces)


def rescore(sample: Sample, attempt: Attempt, stored: Scored, setup: Setup) -> Scored:
    """The same from what the judges said when they were asked."""
    if sample.task == conversation_check.TASK:
        return conversation_check.score(sample, attempt, setup)
    by_judge: dict[int, dict[str, list[Judgement]]] = {}
    for one in stored.judgements:
        by_judge.setdefault(one.turn, {}).setdefault(one.judge, []).append(one)
    # Means are taken in the order of the panel; another order would change their last digit.
    panel = {judge.name: place for place, judge in enumerate(setup.judges)}
    counted = {
        turn: [found[name] for name in sorted(found, key=lambda name: panel.get(name, len(panel)))]
        for turn, found in by_judge.items()
    }
    s = load(sample.inputs["scenario"])
    scores, traces = _score_turns(s, sample, attempt, counted, bool(setup.judges))
    return Scored(scores, stored.votes, stored.judgements, traces)


def _score_turns(
    s: Scenario, sample: Sample, attempt: Attempt, counted: Mapping[int, Sequence[Sequence[Judgement]]], judged: bool
) -> tuple[tuple[Score, ...], tuple[Trace, ...]]:
    replies = {m.turn: m for m in attempt.messages if m.role == "agent"}
    turns = evaluated_turns(max(replies, default=0))
    scores: list[Score] = []
    traces: list[Trace] = []
    for turn in turns:
        last = turn == turns[-1]
        truth = valid_scores.truth_at(s, sample, attempt.messages, turn)
        trace, values = score_turn(s, sample, replies[turn], turn, last, counted.get(turn, ()), judged, truth)
        traces.append(trace.model_copy(update={"attempt_id": attempt.id}))
        scores += [Score(attempt_id=attempt.id, turn=turn, metric=m, value=v, reason=r) for m, (v, r) in values.items()]
    scores = [without_fault(attempt, each) for each in scores]
    scores += summarise(attempt, scores, len(replies))
    scores.append(_untold(sample, attempt))
    return tuple(scores), tuple(traces)


def judge_inputs(
    s: Scenario, sample: Sample, messages: Sequence[Message], setup: Setup
) -> scenario_prompts.JudgeInputs:
    """What every judge of the panel sees: the dialogue up to the judged reply and no more."""
    return scenario_prompts.JudgeInputs(
        business=s.business,
        fields=show_fields(s, SageOptions.of(setup.options).glossary),
        policy=show_policy(s),
        system=shown_system(sample.inputs["system"], s),
        history=scenario_prompts.lines(messages),
    )


def score_turn(
    s: Scenario,
    sample: Sample,
    reply: Message,
    turn: int,
    last: bool,
    counted: Sequence[Sequence[Judgement]],
    judged: bool,
    truth: valid_scores.TurnTruth | None = None,
) -> tuple[Trace, dict[str, tuple[float | None, str | None]]]:
    """Trace and scores of one evaluated turn: metric → (value or None, reason when None)."""
    system = sample.inputs["system"]
    gold = Route(tuple(sample.expected["path"]), sample.expected["action"], ())
    base: dict[str, Any] = {
        "attempt_id": "-",
        "turn": turn,
        "last": last,
        "gold_fields": sample.expected["fields"],
        "gold_path": gold.path,
        "gold_action": label(gold.action),
    }
    if "fields" not in reply.data:
        nothing: tuple[float | None, str | None] = (None, UNPARSED)
        values = dict.fromkeys((*LOGIC_METRICS, "chat"), nothing)
        values |= {"format_error": (100.0, None), "logic_zero": (0.0, None), "overall_zero": (0.0, None)}
        values |= _valid(s, truth, {}, Route((), {"Action": ""}, ()))
        return Trace(parsed=False, error="format", **base), values

    labels = [labels_of(s, ballot) for ballot in counted]
    panel = tallies(s, counted, labels) if judged else {}
    fields = (
        {name: t.winner for name, t in panel.items() if t.winner is not None} if judged else dict(base["gold_fields"])
    )
    predicted = Route(tuple(reply.data["path"]), outputs(s, reply.data), ())
    own = s.trace(reply.data["fields"], system)
    known: dict[str, tuple[Route | None, dict[str, tuple[float | None, str | None]]]] = {}

    def against(fields: Mapping[str, Any]) -> tuple[Route | None, dict[str, tuple[float | None, str | None]]]:
        """The reference of these fields and the scores against it; the panel and its judges mostly read the same."""
        if (key := repr(fields)) not in known:
            reference, reason = route(s, fields, system)
            known[key] = reference, _logic(reply.data["fields"], fields, predicted, reference, reason)
        return known[key]

    reference, half_scores = against(fields)
    values = {"format_error": (0.0, None), "chat_words": (float(len(reply.text.split())), None)}
    values |= half_scores
    values |= _chat(counted, judged)
    half, talk = values["logic"], values["chat"]
    if half[0] is not None and talk[0] is not None:
        values["overall"] = (overall(half[0], talk[0]), None)
    else:
        values["overall"] = (None, half[1] or talk[1])
    values["overall_zero"], values["logic_zero"] = values["overall"], values["logic"]
    values["too_long"] = (100.0 * (len(reply.text.split()) > MOST_WORDS), None)
    values |= _valid(s, truth, reply.data["fields"], predicted)
    values["claims"] = _claims(panel, truth)
    trace = Trace(
        parsed=True,
        predicted_fields=reply.data["fields"],
        panel_fields={name: t.winner for name, t in panel.items()} if judged else {},
        predicted_path=predicted.path,
        predicted_action=label(predicted.action),
        own_path=own.path,
        own_action=label(own.action),
        reference_path=reference.path if reference else (),
        reference_action=label(reference.action) if reference else None,
        moves=paths.alignment(predicted.path, reference.path).moves if reference else (),
        error=attribute(predicted, own, reference, truth.route if truth else None, gold),
        single_judges=tuple(
            alone(ballot, *against(read)) for ballot, read in zip(counted, labels, strict=True) if ballot
        ),
        **base,
    )
    return trace, values


def _valid(
    s: Scenario, truth: valid_scores.TurnTruth | None, fields: Mapping[str, Any], predicted: Route
) -> dict[str, tuple[float | None, str | None]]:
    """The scores beside the paper's; an unreadable reply, which has no fields, gets nothing."""
    if truth is None:
        return dict.fromkeys(("told", "truth", "skill"), (None, valid_scores.NOT_REPORTED))
    due = truth.decidable
    acted = action(predicted.action, due.action) if due.action is not None else None
    told = valid_scores.weigh(valid_scores.grade(due, fields, predicted.path, acted))
    skill = None if told is None else valid_scores.over_chance(told, valid_scores.chance_of(s))
    right = sum(same(fields.get(name), value) for name, value in truth.fields.items()) / len(truth.fields or [0])
    found: dict[str, tuple[float | None, str | None]] = {
        "told": (None, valid_scores.NOTHING_YET) if told is None else (100 * told, None),
        "skill": (None, valid_scores.NOTHING_YET) if skill is None else (100 * skill, None),
        "truth": (None, "what was told leads nowhere"),
    }
    if truth.route is not None:
        a = paths.recall(predicted.path, truth.route.path)
        found["truth"] = (100 * logic(right, a, action(predicted.action, truth.route.action)), None)
    return found


def _claims(panel: Mapping[str, Tally], truth: valid_scores.TurnTruth | None) -> tuple[float | None, str | None]:
    """How far the panel reads in the dialogue what the customer says that it told."""
    if truth is None:
        return None, valid_scores.NOT_REPORTED
    known = [(value, panel[name].winner) for name, value in truth.decidable.fields.items() if name in panel]
    labelled = [(value, winner) for value, winner in known if winner is not None]
    if not labelled:
        return None, "nothing was told that the panel agrees on"
    return 100 * sum(same(value, winner) for value, winner in labelled) / len(labelled), None


def _untold(sample: Sample, attempt: Attempt) -> Score:
    """How many facts the customer had not told, or not put right, when the dialogue ended."""
    facts = sample.inputs["facts"]
    told = told_until(facts, attempt.messages)
    if told is None or not attempt.messages:
        return Score(attempt_id=attempt.id, turn=None, metric="untold", value=None, reason=valid_scores.NOT_REPORTED)
    return Score(attempt_id=attempt.id, turn=None, metric="untold", value=float(len(told.untold(len(facts)))))


def alone(
    ballot: Sequence[Judgement], reference: Route | None, scores: Mapping[str, tuple[float | None, str | None]]
) -> SingleJudgeTrace:
    """The turn as it would be if this ballot were the whole panel: what judges' splits matter for."""
    half = scores["logic"][0]
    talk = _chat([ballot], True)["chat"][0]
    values = {"logic": half, "chat": talk, "overall": None if half is None or talk is None else overall(half, talk)}
    return SingleJudgeTrace(
        judge=ballot[0].judge,
        path=reference.path if reference else (),
        action=label(reference.action) if reference else None,
        scores={metric: value for metric, value in values.items() if value is not None},
    )


def route(s: Scenario, fields: Mapping[str, Any], system: Mapping[str, Any]) -> tuple[Route | None, str | None]:
    """The reference for the panel's fields, or None with the reason why there is none."""
    try:
        return s.trace(fields, system), None
    except Untraceable as error:
        return None, f"the panel gives no reference: {error}"


def outputs(s: Scenario, data: Mapping[str, Any]) -> dict[str, str]:
    """The agent's action, and its plan where the procedure has plans."""
    found = {"Action": data["action"]}
    if s.plan:
        found[s.plan.name] = data.get("plan") or s.plan.none
    return found


def label(action: Mapping[str, str]) -> str:
    """An action as one word: the plan's name in place of the action that hands it over."""
    plan = next((v for k, v in action.items() if k != "Action" and v != "none"), None)
    return plan or action["Action"]


def summarise(attempt: Attempt, scores: Sequence[Score], turns: int) -> list[Score]:
    """The attempt's own figures: means over its evaluated turns, its format-error rate, its length."""
    cut = cut_short(attempt)
    length = None if cut else float(turns)  # how long somebody else let it go on is no figure of the agent's
    found = [Score(attempt_id=attempt.id, turn=None, metric="turns", value=length, reason=cut)]
    for metric in MEANS:
        values = [v.value for v in scores if v.metric == metric and v.value is not None]
        name = "format_error_rate" if metric == "format_error" else metric
        mean = sum(values) / len(values) if values else None
        reason = None if values else cut or "no evaluated turn could be scored"
        found.append(Score(attempt_id=attempt.id, turn=None, metric=name, value=mean, reason=reason))
    return found


def _logic(
    agent: Mapping[str, Any],
    panel: Mapping[str, Any],
    predicted: Route,
    reference: Route | None,
    reason: str | None,
) -> dict[str, tuple[float | None, str | None]]:
    found: dict[str, tuple[float | None, str | None]] = {}

    def share(names: Sequence[str]) -> tuple[float | None, str | None]:
        known = [n for n in names if n in panel]
        if not known:
            return None, "the panel agrees on no field"
        return 100 * sum(same(agent[n], panel[n]) for n in known) / len(known), None

    found["classification"] = share(list(agent))
    if reference is None:
        found |= dict.fromkeys(("classification_read", "path", "path_prefix", "path_fitness"), (None, reason))
        found |= dict.fromkeys(("path_exact", "action", "logic"), (None, reason))
        return found
    read = [n for n in reference.read if n in agent]
    # A path that reads no field at all has none to get wrong.
    found["classification_read"] = share(read) if read else (100.0, None)
    a, b = predicted.path, reference.path
    found["path"] = (100 * paths.recall(a, b), None)
    found["path_prefix"] = (100 * paths.prefix(a, b), None)
    found["path_fitness"] = (100 * paths.alignment(a, b).fitness, None)
    found["path_exact"] = (100 * float(a == b), None)
    found["action"] = (100 * action(predicted.action, reference.action), None)
    labelled = found["classification"][0]
    if labelled is None:
        found["logic"] = (None, found["classification"][1])
    else:
        found["logic"] = (logic(labelled, found["path"][0] or 0.0, found["action"][0] or 0.0), None)
    return found


def _chat(counted: Sequence[Sequence[Judgement]], judged: bool) -> dict[str, tuple[float | None, str | None]]:
    """Mean over the judges of their weighted sums; a judge without all five grades does not count."""
    if not judged:
        return {"chat": (None, "no judges")}
    grades = [
        {j.field: float(j.verdict or 0) for j in ballot if j.kind == "dimension" and j.status == "ok"}
        for ballot in counted
    ]
    whole = [g for g in grades if len(g) == len(DIMENSIONS)]
    if not whole:
        return {"chat": (None, "no judge gave all five grades")}
    read = sum(any(j.kind == "dimension" and j.status != "missing" for j in ballot) for ballot in counted)
    if read < quorum(len(counted)):
        return {"chat": (None, "too few judges answered")}
    found: dict[str, tuple[float | None, str | None]] = {
        name: (sum(g[name] for g in whole) / len(whole), None) for name in DIMENSIONS
    }
    found["chat"] = (sum(chat(g) for g in whole) / len(whole), None)
    return found
