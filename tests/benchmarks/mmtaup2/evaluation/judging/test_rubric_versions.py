"""Versions of the rule about handing over: the files, what judges are asked under each, and how simulated ones read."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.mmtaup2.evaluation.judging import judged_metrics, rubric_versions
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.benchmarks.mmtaup2.simulated.rubric_parser import parse_rule, shown
from cxlab.errors import BadFile, BadOption, UnknownName
from cxlab.llm import Request
from cxlab.llm.base import ChatModel, Completion
from cxlab.llm.simulated.model import SimulatedModel
from cxlab.llm.simulated.profiles import PROFILES
from cxlab.records import Attempt, Message, Usage
from tests.benchmarks.mmtaup2.mm_conversations import agent, attempt, customer, task, tool

# Judges that read all there is, and differ in their leaning only.
STRICT, FAIR, LENIENT = (
    SimulatedModel(
        replace(
            PROFILES[f"judge-{name}"], comprehension=1, subtlety=1, rule_following=1, joint_conditions=1,
            format_reliability=1,
        )
    )
    for name in ("strict", "fair", "lenient")
)  # fmt: skip


class Says:
    """A judge with a fixed reply that keeps what it was asked."""

    simulated = True

    def __init__(self, transfer: str, name: str = "says") -> None:
        self.text, self.name = json.dumps({"solved": "no", "transfer": transfer, "reason": "so"}), name
        self.asked: list[str] = []

    async def complete(self, request: Request) -> Completion:
        self.asked.append("\n".join(str(message["content"]) for message in request.messages))
        return Completion(self.text, usage=Usage(calls=1))

    async def aclose(self) -> None: ...


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def handed(*middle: Message, said: str = "A colleague takes over.") -> list[Message]:
    return [
        customer(1, "My phone says that there is no service."),
        *middle,
        tool(2, "transfer_to_human_agents", summary="Needs a person."),
        agent(2, said),
    ]


STEPS = [tool(1, name) for name in ("get_customer_by_phone", "get_data_usage", "get_details_by_id")]
TALKS = {
    # A locked SIM: right. Lenient judges count the steps, strict ones count no hand-over at all.
    "sim": (
        True,
        handed(*STEPS, agent(1, "What does the SIM status say?"), customer(2, "It says locked, PIN required.")),
    ),
    # Nothing named and nothing done: wrong.
    "lazy": (False, handed(agent(1, "I see."), customer(2, "Well?"))),
    # Steps without success: wrong, though it looks like work.
    "tried": (False, handed(*STEPS, agent(1, "Restart it."), customer(2, "Still no service."), said="Please hold on.")),
    "contract": (True, handed(*STEPS, agent(1, "Your contract has ended in May."), customer(2, "Oh."))),
}


def talk(name: str) -> tuple[Any, Attempt]:
    right, messages = TALKS[name]
    one = attempt(messages, right, transferred=True).model_copy(update={"id": name})
    return task(id=name, transfer_right=right), one


def verdicts(
    name: str, *judges: ChatModel, versions: tuple[rubric_versions.EscalationRule, ...] = ()
) -> dict[tuple[str, str], str | None]:
    """(judge, field) -> what was said of a conversation under all versions, by way of `assess`."""
    given, one = talk(name)
    option = rubric_versions.write_option(versions or rubric_versions.rules())
    setup = Setup(model=FAIR, customer=None, judges=judges, run_id="r", options={"escalation": option})
    found = asyncio.run(judged_metrics.assess(given, one, setup))
    assert not any(score.metric.startswith("judged_") for score in found.scores)
    return {(j.judge.rsplit("-")[-1], j.field): j.verdict for j in found.judgements}


def test_versions_of_the_rule_mend_what_they_name() -> None:
    wrong: dict[tuple[str, int], int] = {}
    for name in TALKS:
        said = verdicts(name, STRICT, FAIR, LENIENT)
        for judge in ("strict", "fair", "lenient"):
            for version in (1, 2, 3):
                field = f"transfer_v{version}"
                wrong[judge, version] = wrong.get((judge, version), 0) + (said[judge, field] != said["measured", field])
    # Version 1: strict misses both right ones, lenient takes the tried one. 2: only the contract is missed. 3: none.
    assert [wrong["strict", v] for v in (1, 2, 3)] == [2, 1, 0]
    assert [wrong["lenient", v] for v in (1, 2, 3)] == [1, 1, 0]
    assert [wrong["fair", v] for v in (2, 3)] == [1, 0]


def test_every_version_is_a_question_of_its_own_with_the_truth_beside_it() -> None:
    one = Says("wrong")
    said = verdicts("sim", one)
    assert len(one.asked) == 3
    assert all(
        rule.say("telecom")[:60] in asked for rule, asked in zip(rubric_versions.rules(), one.asked, strict=True)
    )
    assert {field for _, field in said} == {f"{name}_v{v}" for name in ("transfer", "solved") for v in (1, 2, 3)}
    assert [said["measured", f"transfer_v{v}"] for v in (1, 2, 3)] == ["right"] * 3
    assert said["says", "transfer_v1"] == "wrong"


def test_undecided_and_silent_conversations_are_asked_nothing() -> None:
    one, setup = Says("wrong"), {"escalation": rubric_versions.write_option(rubric_versions.rules())}
    for messages, passed in ((TALKS["sim"][1], None), ([customer(1, "Hi.")], False)):
        given = Setup(model=FAIR, customer=None, judges=(one,), run_id="r", options=setup)
        found = asyncio.run(judged_metrics.assess(task(), attempt(messages, passed), given))
        assert (found.votes, found.judgements) == ((), ())
    assert one.asked == []


def test_another_rule_is_another_answer() -> None:
    def rule(text: str) -> tuple[rubric_versions.EscalationRule, ...]:
        return (rubric_versions.EscalationRule(version=1, found="", rule=text),)

    def said(name: str, text: str, judge: ChatModel = FAIR) -> str | None:
        return verdicts(name, judge, versions=rule(text))[judge.name.rsplit("-")[-1], "transfer_v1"]

    assert [said(name, "Handing over never counts.") for name in TALKS] == ["wrong"] * 4
    assert [said(name, "Handing over always counts.") for name in TALKS] == ["right"] * 4
    turned = "Handing over never counts, unless the contract of the line has ended."
    assert [said(name, turned) for name in TALKS] == ["wrong", "wrong", "wrong", "right"]
    assert said("sim", "Handing over counts only if the SIM card is locked.") == "right"
    barred = "A locked SIM card is no reason. Handing over counts if the contract has ended."
    assert [said(name, barred) for name in ("sim", "contract")] == ["wrong", "right"]
    # Lenient judges count tried steps until they are told not to.
    assert said("tried", "Handing over counts if it was necessary.", LENIENT) == "right"
    assert (
        said("tried", "Handing over counts if it was necessary. Steps that were tried do not count.", LENIENT)
        == "wrong"
    )
    # What the vocabulary does not know is looked for by its own words.
    own = "Handing over counts if the phone shows no service after a restart."
    assert parse_rule(own).decides
    assert said("contract", "Handing over counts if the customer's dog ate the router cable.") == "wrong"


def test_a_rule_is_read_clause_by_clause() -> None:
    first, second, third = (parse_rule(rule.say("telecom")) for rule in rubric_versions.rules())
    assert (first.decides, first.bars_steps) == (False, False)
    assert [case.name for case in second.counts] == ["a locked SIM card"]
    assert second.bars_steps
    assert [case.name for case in third.counts] == ["a locked SIM card", "an ended contract", "no tool for it"]
    assert [case.name for case in third.barred] == ["the customer's wish for a person"]
    own = parse_rule("Handing over counts if the parcel locker refused the delivery code.").counts
    lines = ["The parcel locker refuses my delivery code again!", "Nothing else."]
    assert len(shown(own, lines)) == 1
    assert shown(own, lines[1:]) == []
    assert not third.taken_in(lambda clause: False).decides
    assert parse_rule("").decides is False


def test_own_versions_count_on_in_a_file_of_their_own(home: Path) -> None:
    assert [rule.version for rule in rubric_versions.rules()] == [1, 2, 3]
    fresh = rubric_versions.add("Handing over  counts if\nthe customer is angry.", "Anger was left out.")
    assert (fresh.version, fresh.rule) == (4, "Handing over counts if the customer is angry.")
    assert rubric_versions.add('A "quoted": rule - with # signs', "").version == 5
    assert [rule.version for rule in rubric_versions.rules()] == [1, 2, 3, 4, 5]
    assert rubric_versions.find() == rubric_versions.find(5)
    assert rubric_versions.find(5).rule == 'A "quoted": rule - with # signs'
    assert rubric_versions.own_file().is_relative_to(home)
    with pytest.raises(BadOption, match="version 4 of the rule says just that"):
        rubric_versions.add("Handing over counts if the customer is  angry.", "")
    with pytest.raises(BadOption, match="from 1 to"):
        rubric_versions.add("   ", "")
    with pytest.raises(UnknownName, match="known: 1, 2, 3, 4, 5"):
        rubric_versions.find(9)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rules:\n  - {version: 7, found: x, rule: y}\n", "begins with version 7.*count on from 4"),
        ("rules:\n  - {version: 4, found: x, rule: ' '}\n", "says nothing"),
        ("rules:\n  - {version: 4, found: x, rule: y}\n  - {version: 4, found: x, rule: z}\n", "count up by one"),
        ("rules: [", "escalation.yaml"),
        ("rules:\n  - {version: 4, found: x}\n", "add the key"),
    ],
)
def test_a_broken_file_of_own_versions_is_told(text: str, complaint: str) -> None:
    path = rubric_versions.own_file()
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(BadFile, match=complaint):
        rubric_versions.rules()


def test_verdicts_belong_to_a_text_and_not_to_its_number() -> None:
    first = rubric_versions.find(1)
    assert first.model_copy(update={"rule": "Something else."}).question != first.question
    assert len({rule.question for rule in rubric_versions.rules()}) == 3
    entries = rubric_versions.write_option(rubric_versions.rules())
    assert rubric_versions.read_option(entries) == rubric_versions.rules()
    assert rubric_versions.read_option(2) is None is rubric_versions.read_option(None)
    with pytest.raises(BadOption, match="has changed since"):
        rubric_versions.read_option([{**entries[0], "rule": "Another."}])
    for wrong in ("two", True, 1.5):
        with pytest.raises(BadOption, match="number of a version"):
            rubric_versions.read_option(wrong)
    with pytest.raises(BadOption, match="cxlab rejudge"):
        rubric_versions.read_option([1, 2])
    with pytest.raises(BadOption, match="escalation"):
        rubric_versions.read_option([{"version": 0}])


def test_the_prompt_of_a_version_holds_its_rule_and_no_truth() -> None:
    rule = rubric_versions.find(3)
    inputs = judge_prompts.outcome_inputs(TALKS["sim"][1], rule.rule)
    printed = str(judge_prompts.outcome_prompt(3).render(inputs))
    assert rule.rule[:40] in printed
    assert "transfer_right" not in printed
