"""SAGE's scores: published weights, gold and empty outputs, votes that must not count."""

import asyncio
import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.sage import ballots, rules, score
from cxlab.benchmarks.sage.benchmark import BENCHMARK
from cxlab.benchmarks.sage.prompts.scenario_prompts import DIMENSIONS
from cxlab.llm import load
from cxlab.llm.base import Completion
from cxlab.records import Attempt, Message, Usage

GRADES = dict.fromkeys(DIMENSIONS, 9)


def test_weights_and_ranges() -> None:
    assert score.chat(dict.fromkeys(DIMENSIONS, 9)) == 90
    assert score.chat(dict.fromkeys(DIMENSIONS, 3)) == 30
    assert score.chat({**dict.fromkeys(DIMENSIONS, 3), "content_utility": 9}) == 45
    assert score.logic(1, 1, 1) == pytest.approx(1)
    assert score.logic(80, 50, 0) == pytest.approx(52)
    assert score.overall(100, 90) == pytest.approx(98)


@pytest.mark.parametrize(
    ("classification", "path", "action", "logic"),
    # SAGE, Table 4 (class, path, action) gives Table 2's logic at turn 1.
    [(72.5, 64.4, 29.4, 60.7), (88.0, 66.0, 29.5, 67.5), (66.9, 64.3, 32.3, 58.9), (80.2, 67.0, 43.0, 67.5)],
)
def test_logic_reproduces_the_paper(classification: float, path: float, action: float, logic: float) -> None:
    assert score.logic(classification, path, action) == pytest.approx(logic, abs=0.1)


@pytest.mark.parametrize(
    ("dims", "chat"),
    [
        ((68.3, 56.2, 60.6, 62.0, 73.1), 63.1),
        ((70.1, 58.8, 62.1, 64.0, 71.4), 64.6),
        ((67.9, 52.8, 52.1, 53.9, 66.3), 57.8),
    ],
)
def test_chat_reproduces_the_paper(dims: tuple[float, ...], chat: float) -> None:
    assert score.chat({n: d / 10 for n, d in zip(DIMENSIONS, dims, strict=True)}) == pytest.approx(chat, abs=0.06)


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 100), st.floats(30, 90))
def test_scale_in_is_scale_out(c: float, p: float, a: float, talk: float) -> None:
    low, high = min(c, p, a), max(c, p, a)
    assert low - 1e-9 <= score.logic(c, p, a) <= high + 1e-9
    assert score.overall(c / 100, talk / 100) * 100 == pytest.approx(score.overall(c, talk))


@pytest.mark.parametrize(
    ("predicted", "reference", "value"),
    [
        ({"Action": "PLAN", "PLAN": "PLAN_A"}, {"Action": "PLAN", "PLAN": "PLAN_A"}, 1.0),
        ({"Action": "PLAN", "PLAN": "PLAN_B"}, {"Action": "PLAN", "PLAN": "PLAN_A"}, 0.7),
        ({"Action": "GUIDE", "PLAN": "PLAN_A"}, {"Action": "PLAN", "PLAN": "PLAN_A"}, 0.0),
        ({"Action": "GUIDE", "PLAN": "PLAN_A"}, {"Action": "GUIDE", "PLAN": "none"}, 1.0),
        ({"Action": "Refund"}, {"Action": "Refund"}, 1.0),
        ({}, {"Action": "Refund"}, 0.0),
    ],
)
def test_action_and_plan(predicted: dict, reference: dict, value: float) -> None:
    assert score.action(predicted, reference) == pytest.approx(value)


@pytest.mark.parametrize(
    ("last", "turns"), [(0, ()), (1, (1,)), (4, (1, 4)), (5, (1, 5)), (12, (1, 5, 10, 12)), (30, (1, 5, 10, 15, 30))]
)
def test_evaluated_turns(last: int, turns: tuple[int, ...]) -> None:
    assert score.evaluated_turns(last) == turns


@pytest.mark.parametrize(
    ("said", "option"),
    [(True, True), ("true", True), (1, None), ("True", None), (False, False), ("yes", None), (None, None)],
)
def test_option_of_tells_true_from_one(said: object, option: object) -> None:
    assert ballots.option_of(said, (True, False)) is option


class Fixed:
    """A judge that always casts the same ballot."""

    simulated = True

    def __init__(self, name: str, fields: dict, grades: dict | None = None, raw: str | None = None) -> None:
        self.name = name
        ballot = {"fields_reasoning": "because", "fields": fields, "grades_reasoning": "so", "grades": grades or GRADES}
        self.raw = raw if raw is not None else json.dumps(ballot)
        self.seen: list[str] = []

    async def complete(self, request) -> Completion:
        self.seen.append(request.messages[-1]["content"])
        return Completion(self.raw, usage=Usage(calls=1))

    async def aclose(self) -> None: ...


def sample_of(scenario: str = "telecom_package", leaf: str = "TP-18", level: str = "zero"):
    _, samples = BENCHMARK.generate_now({"scenarios": [scenario]}, 0)
    return next(s for s in samples if s.facets["leaf"] == leaf and s.facets["level"] == level)


def attempt_of(sample, replies: list[dict | None]) -> Attempt:
    messages = []
    for turn, data in enumerate(replies, 1):
        messages.append(Message(role="customer", text=f"customer {turn}", turn=turn))
        messages.append(Message(role="agent", text=f"I will do it, word {turn}.", turn=turn, data=data or {"raw": "?"}))
    return Attempt(
        id="a", run_id="r", sample_id=sample.id, trial=0, messages=tuple(messages), started=datetime.now(UTC)
    )


def scored(sample, replies, judges):
    setup = Setup(load("simulated:strong"), None, tuple(judges), "r")
    return asyncio.run(score.score(sample, attempt_of(sample, replies), setup))


def gold_reply(sample) -> dict:
    action = sample.expected["action"]
    return {
        "fields": sample.expected["fields"],
        "path": sample.expected["path"],
        "action": action["Action"],
        **({"plan": action["PLAN"]} if "PLAN" in action else {}),
    }


def value(result, metric: str, turn: int | None = 1) -> float | None:
    return next(s.value for s in result.scores if s.metric == metric and s.turn == turn)


@pytest.mark.parametrize("scenario", rules.ids())
def test_gold_scores_full_marks_on_every_leaf(scenario: str) -> None:
    _, samples = BENCHMARK.generate_now({"scenarios": [scenario], "levels": ["zero"]}, 0)
    for sample in samples:
        assert list(BENCHMARK.check(sample)) == []
        judges = [Fixed(f"j{i}", sample.expected["fields"]) for i in range(3)]
        result = scored(sample, [gold_reply(sample)], judges)
        for metric in (
            "classification",
            "classification_read",
            "path",
            "path_exact",
            "path_fitness",
            "action",
            "logic",
        ):
            assert value(result, metric) == pytest.approx(100), (sample.facets["leaf"], metric)
        assert value(result, "overall") == pytest.approx(98)
        assert result.traces[0].error == "none"
        assert {move for move, _ in result.traces[0].moves} == {"sync"}


def test_an_empty_attempt_scores_nothing() -> None:
    result = scored(sample_of(), [], [])
    assert [s.value for s in result.scores if s.metric == "overall"] == [None]


def test_unparsed_replies_are_reported_both_ways() -> None:
    sample = sample_of()
    judges = [Fixed("j", sample.expected["fields"])]
    result = scored(sample, [None, gold_reply(sample)], judges)
    assert value(result, "overall", 1) is None
    assert value(result, "overall_zero", 1) == 0
    assert value(result, "format_error", 1) == 100
    assert value(result, "overall", 2) == pytest.approx(98)
    assert value(result, "overall", None) == pytest.approx(98)
    assert value(result, "overall_zero", None) == pytest.approx(49)
    assert value(result, "format_error_rate", None) == pytest.approx(50)
    assert [t.error for t in result.traces] == ["format", "none"]
    assert len(judges[0].seen) == 1


def test_a_judge_sees_the_dialogue_up_to_its_turn_and_no_more() -> None:
    sample = sample_of()
    judge = Fixed("j", sample.expected["fields"])
    scored(sample, [gold_reply(sample)] * 7, [judge])
    assert len(judge.seen) == 3
    for seen, turn in zip(sorted(judge.seen, key=len), (1, 5, 7), strict=True):
        for t in range(1, 8):
            assert (f"customer {t}" in seen) == (t <= turn)
            assert (f"word {t}." in seen) == (t <= turn)


def test_votes_outside_the_options_never_count() -> None:
    sample = sample_of()
    fields = sample.expected["fields"]
    wrong = {**fields, "EmotionTag": "Upset"}
    other = {**fields, "EmotionTag": "Discontent" if fields["EmotionTag"] == "Calm" else "Calm"}
    result = scored(sample, [gold_reply(sample)], [Fixed("a", wrong), Fixed("b", wrong), Fixed("c", other)])
    status = {j.judge: j.status for j in result.judgements if j.field == "EmotionTag"}
    assert status == {"a": "oov", "b": "oov", "c": "ok"}
    assert result.traces[0].panel_fields["EmotionTag"] == other["EmotionTag"]


def test_a_tie_gives_no_reference_and_says_why() -> None:
    sample = sample_of()
    fields = sample.expected["fields"]
    other = {**fields, "EmotionTag": "Discontent" if fields["EmotionTag"] == "Calm" else "Calm"}
    result = scored(sample, [gold_reply(sample)], [Fixed("a", fields), Fixed("b", other)])
    tied = next(s for s in result.scores if s.metric == "logic")
    assert tied.value is None
    assert "EmotionTag" in (tied.reason or "")
    assert result.traces[0].error == "unscored"
    assert value(result, "chat") == 90


def test_a_failing_judge_is_recorded_and_the_others_decide() -> None:
    sample = sample_of()
    fields = sample.expected["fields"]
    result = scored(
        sample, [gold_reply(sample)], [Fixed("a", fields), Fixed("b", fields), Fixed("c", {}, raw="I decline")]
    )
    assert {v.judge: v.valid for v in result.votes} == {"a": True, "b": True, "c": False}
    assert next(v for v in result.votes if v.judge == "c").raw == "I decline"
    assert value(result, "overall") == pytest.approx(98)


def test_each_judge_alone_gives_the_way_and_the_scores_of_its_own_fields() -> None:
    sample = sample_of()
    fields = sample.expected["fields"]
    other = {**fields, "EmotionTag": "Discontent" if fields["EmotionTag"] == "Calm" else "Calm"}
    low = dict.fromkeys(DIMENSIONS, 3)
    judges = [Fixed("a", fields), Fixed("b", fields, low), Fixed("c", other), Fixed("d", {}), Fixed("e", {}, raw="no")]
    trace = scored(sample, [gold_reply(sample)], judges).traces[0]
    a, b, c, d, e = trace.single_judges
    assert [one.judge for one in trace.single_judges] == ["a", "b", "c", "d", "e"]
    assert (list(a.path), a.action) == (sample.expected["path"], trace.gold_action)
    assert a.scores == pytest.approx({"logic": 100, "chat": 90, "overall": 98})
    assert b.scores == pytest.approx({"logic": 100, "chat": 30, "overall": 86})
    wrong = rules.load("telecom_package").trace(other, sample.inputs["system"])
    assert (c.path, c.action) == (wrong.path, score.label(wrong.action))
    assert c.scores["logic"] < 100
    assert (d.path, d.action, d.scores) == ((), None, {"chat": 90})
    assert (e.path, e.scores) == ((), {})
    declared = BENCHMARK.procedures.single_judge
    assert {declared.way, declared.whole} <= a.scores.keys()


def test_the_reference_of_a_panel_of_one_is_that_judge_alone() -> None:
    sample = sample_of()
    result = scored(sample, [gold_reply(sample)], [Fixed("a", sample.expected["fields"])])
    (one,) = result.traces[0].single_judges
    assert (one.path, one.action) == (result.traces[0].reference_path, result.traces[0].reference_action)
    assert one.scores == {metric: value(result, metric) for metric in ("logic", "chat", "overall")}


def test_raw_text_and_rationale_of_votes_are_kept() -> None:
    sample = sample_of()
    vote = scored(sample, [gold_reply(sample)], [Fixed("a", sample.expected["fields"])]).votes[0]
    assert json.loads(vote.raw)["fields_reasoning"] == "because"
    assert vote.rationale == "because\nso"


def test_labels_name_the_plan() -> None:
    assert score.label({"Action": "PLAN", "PLAN": "PLAN_C"}) == "PLAN_C"
    assert score.label({"Action": "GUIDE", "PLAN": "none"}) == "GUIDE"
    assert score.outputs(SimpleNamespace(plan=None), {"action": "X"}) == {"Action": "X"}
