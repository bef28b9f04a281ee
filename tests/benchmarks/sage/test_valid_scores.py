"""Scores beside the paper's: what was told decides, the truth is not the panel's, and a constant gets nothing."""

import asyncio
from datetime import UTC, datetime

import pytest

from cxlab.benchmarks.contract import Scored, Setup
from cxlab.benchmarks.sage import rules, score, valid_scores
from cxlab.benchmarks.sage.benchmark import BENCHMARK
from cxlab.benchmarks.sage.customer_card import ToldFacts, told_until
from cxlab.benchmarks.sage.verdict import judge_attempt
from cxlab.llm import load
from cxlab.records import Attempt, Failure, Message, Score, Trace
from tests.benchmarks.sage.played import EVERY, play, setup_of

FACTS = [
    {"field": "ConsumptionType", "value": "Cancel", "delivery": "opening", "wording": "plain", "wrong": None},
    {"field": "EmotionTag", "value": "Discontent", "delivery": "corrected", "wording": "plain", "wrong": "Calm"},
]
SYSTEM = {"PackageStatus": "Contracted", "Penalty": 100}


def sample_of():
    sample = next(s for s in BENCHMARK.generate_now({"scenarios": "telecom_package"})[1] if s.facets["leaf"] == "TP-19")
    return sample.model_copy(update={"inputs": {**sample.inputs, "facts": FACTS, "system": SYSTEM}})


def customer(turn: int, told: list[int] | None, back: list[int] = []) -> Message:  # noqa: B006 never changed
    data = {} if told is None else {"told": told, "taken_back": back}
    return Message(role="customer", text=f"message {turn}", turn=turn, data=data)


def agent(turn: int, fields: dict, path: list[str], action: str) -> Message:
    return Message(role="agent", text="I see.", turn=turn, data={"fields": fields, "path": path, "action": action})


def attempt_of(messages: list[Message]) -> Attempt:
    return Attempt(id="a", run_id="r", sample_id="s", trial=0, messages=tuple(messages), started=datetime.now(UTC))


def test_what_was_told_is_kept_turn_by_turn_mistakes_included() -> None:
    talk = [customer(1, [1]), customer(2, [2]), customer(3, []), customer(4, [2], [2])]
    assert told_until(FACTS, talk, 1) == ToldFacts(frozenset({1}))
    assert told_until(FACTS, talk, 3) == ToldFacts(frozenset({1, 2}), frozenset({2}))
    assert told_until(FACTS, talk, 3).untold(2) == (2,)
    assert told_until(FACTS, talk) == ToldFacts(frozenset({1, 2}))
    assert told_until(FACTS, [*talk, customer(5, None)]) is None
    assert told_until(FACTS, [customer(1, [7, -1, 1])]) == ToldFacts(frozenset({1}))


def test_only_what_was_told_is_decidable() -> None:
    s, sample = rules.load("telecom_package"), sample_of()
    talk = [customer(1, []), customer(2, [1]), customer(3, [2]), customer(4, [2], [2])]
    nothing, kind, mistaken, all_told = (valid_scores.truth_at(s, sample, talk, turn) for turn in (1, 2, 3, 4))
    assert (nothing.decidable.fields, nothing.decidable.path) == ({}, ("stage1", "stage2"))
    assert valid_scores.grade(nothing.decidable, s.defaults(), ["stage1", "stage2"], None) == {}
    assert kind.decidable.path == ("stage1", "stage2", "stage5", "stage7")
    assert kind.decidable.action is None
    assert mistaken.decidable.action == {"Action": "ChangeOrder"}
    assert all_told.decidable.action == {"Action": "TransHuman"}
    assert valid_scores.truth_at(s, sample, [customer(1, None)], 1) is None


@pytest.mark.parametrize(
    ("path", "credit"),
    [
        (["stage1", "stage2", "stage5", "stage7"], 1.0),
        (["stage1", "stage2", "stage5"], 0.5),
        (["stage1", "stage2", "stage3", "stage6"], 0.0),
        (["stage1", "stage2", "stage5", "stage7", "stage3"], 1.0),
        ([], 0.0),
    ],
)
def test_a_path_is_credited_as_far_as_it_is_certain(path: list[str], credit: float) -> None:
    s = rules.load("telecom_package")
    due = valid_scores.decide(s, {"ConsumptionType": "Cancel"}, SYSTEM)
    assert valid_scores.grade(due, {"ConsumptionType": "Cancel"}, path, None) == {"classification": 1.0, "path": credit}


def test_weights_are_those_of_the_parts_that_there_are() -> None:
    assert valid_scores.weigh({}) is None
    assert valid_scores.weigh({"classification": 1.0}) == 1.0
    assert valid_scores.weigh({"classification": 1.0, "path": 0.0}) == pytest.approx(0.5)
    assert valid_scores.weigh({"classification": 1.0, "path": 1.0, "action": 0.0}) == pytest.approx(0.8)


@pytest.mark.parametrize("name", rules.ids())
def test_no_constant_agent_beats_chance(name: str) -> None:
    """Brute force over what a constant can say: the fields of any leaf, any leaf's path and any leaf's action."""
    s = rules.load(name)
    chance = valid_scores.chance_of(s)
    assert 0 < chance < 1
    states = [pair for leaf in s.leaves() for pair in valid_scores._states(s, leaf)]
    for one in s.leaves():
        fields = {**s.defaults(), **{n: v for n, v in one.given.items() if n in s.fields}}
        total = got = 0.0
        for state, weight in states:
            acted = score.action(one.action, state.action) if state.action else None
            value = valid_scores.weigh(valid_scores.grade(state, fields, one.path, acted))
            if value is not None:
                total, got = total + weight, got + weight * value
        assert got / total <= chance + 0.03, one.id
    assert valid_scores.over_chance(1.0, chance) == 1
    assert valid_scores.over_chance(chance, chance) == 0


class Panel:
    """A judge that gives these fields."""

    simulated = True

    def __init__(self, name: str, fields: dict) -> None:
        self.name, self.fields = name, fields

    async def complete(self, request):
        import json

        from cxlab.llm.base import Completion

        grades = dict.fromkeys(score.DIMENSIONS, 9)
        return Completion(json.dumps({"fields": self.fields, "grades": grades}))

    async def aclose(self) -> None: ...


def scored(talk: list[Message], panel: dict) -> tuple[Attempt, Scored]:
    attempt = attempt_of(talk)
    judges = tuple(Panel(f"j{n}", panel) for n in range(3))
    return attempt, asyncio.run(score.score(sample_of(), attempt, Setup(load("simulated:strong"), None, judges, "r")))


def value(found: Scored, metric: str, turn: int | None = 1) -> float | None:
    return next(one.value for one in found.scores if one.metric == metric and one.turn == turn)


RIGHT = {"ConsumptionType": "Cancel", "ApplicationTendency": "Hesitate", "ConsumptionProfile": "Data"}
WAY = ["stage1", "stage2", "stage5", "stage7"]


def test_a_panel_off_the_truth_is_not_the_agents_fault() -> None:
    upset = {**RIGHT, "EmotionTag": "Discontent"}
    talk = [customer(1, [1, 2], [2]), agent(1, upset, WAY, "TransHuman")]
    attempt, found = scored(talk, {**RIGHT, "EmotionTag": "Calm"})
    assert (value(found, "told"), value(found, "truth"), value(found, "skill")) == (100, pytest.approx(100), 100)
    assert value(found, "logic") < 100
    assert value(found, "claims") == 50
    assert found.traces[0].error == "panel"
    verdict = judge_attempt("dialogue", attempt, found)
    assert (verdict.value, verdict.owner, verdict.reason, verdict.turn) == (
        "unscored",
        "judge",
        "panel off the truth",
        1,
    )


def test_an_agent_that_the_panel_agrees_with_against_the_truth_gets_no_more_than_it_earned() -> None:
    calm = {**RIGHT, "EmotionTag": "Calm"}
    talk = [customer(1, [1, 2], [2]), agent(1, calm, WAY, "ChangeOrder")]
    attempt, found = scored(talk, calm)
    assert value(found, "logic") == pytest.approx(100)
    assert value(found, "told") == pytest.approx(100 * (0.4 * 0.5 + 0.4 * 1.0))
    assert found.traces[0].error == "both_off"
    verdict = judge_attempt("dialogue", attempt, found)
    assert (verdict.value, verdict.owner) == ("unscored", "judge")
    assert verdict.reason == "agent and panel off the truth alike"
    assert value(found, "truth") < 100
    assert value(found, "skill") < 100


def test_without_reports_the_new_scores_are_unknown_and_the_papers_stand() -> None:
    calm = {**RIGHT, "EmotionTag": "Calm"}
    _, found = scored([customer(1, None), agent(1, calm, WAY, "ChangeOrder")], calm)
    assert value(found, "overall") == pytest.approx(98)
    assert [value(found, metric) for metric in ("told", "truth", "skill", "claims")] == [None] * 4
    assert value(found, "untold", None) is None
    assert found.traces[0].error == "none"


def test_an_unreadable_reply_earns_nothing_of_what_was_decidable() -> None:
    talk = [customer(1, [1]), Message(role="agent", text="?", turn=1, data={"raw": "?"})]
    _, found = scored(talk, {})
    assert (value(found, "told"), value(found, "overall")) == (0, None)


@pytest.mark.parametrize(
    ("failures", "untold", "owner"),
    [
        ((), 0.0, ""),
        ((), 1.0, "customer"),
        ((Failure(where="customer", type="not_json", message="?"),), 0.0, "customer"),
        ((Failure(where="provider", type="timeout", message="?"),), 0.0, "provider"),
    ],
)
def test_each_error_has_its_owner(failures: tuple[Failure, ...], untold: float, owner: str) -> None:
    attempt = attempt_of([]).model_copy(update={"failures": failures, "ended_by": "turns"})
    if owner == "provider":
        attempt = attempt.model_copy(update={"outcome": "provider"})
    right = Trace(attempt_id="a", turn=1, last=True, parsed=True, error="none")
    found = Scored(scores=(Score(attempt_id="a", turn=None, metric="untold", value=untold),), traces=(right,))
    assert judge_attempt("dialogue", attempt, found).owner == owner


def test_the_floor_stands_at_the_bottom_at_a_visible_distance(samples, dialogues) -> None:
    # Of few samples the weak agent's mean lies anywhere from 48 to 62.
    played, setup = samples[::EVERY], setup_of("strong")

    async def mean(attempts) -> float:
        scored = [await BENCHMARK.score(*pair, setup) for pair in zip(played, attempts, strict=True)]
        found = [s for each in scored for s in each.scores if s.turn is None and s.metric == BENCHMARK.card.headline]
        assert len(found) == len(played)
        return sum(s.value for s in found) / len(found)

    strong, weak, floor = (
        asyncio.run(mean(attempts)) for attempts in (dialogues["strong"], dialogues["weak"], play("floor", played))
    )
    assert strong - weak > 10
    assert weak - floor > 3
