"""MM-tau-p2 from end to end with every role a real model, over HTTP: agent, customer, profile and judge."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cxlab import llm
from cxlab.benchmarks import get
from cxlab.benchmarks.contract import Scored, Setup
from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.generate import exposure_facet
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.benchmarks.mmtaup2.tasks import samples, telecom_tasks
from cxlab.records import Attempt, Sample
from tests.benchmarks.mmtaup2.scripted_model import THOUGHT, ScriptedModel


async def play(sample: Sample, setup: Setup) -> tuple[Attempt, Scored]:
    benchmark = get("mmtaup2")
    attempt = await benchmark.run(sample, setup, 0)
    scored = await benchmark.score(sample, attempt, setup)
    assert setup.customer is not None
    for model in (setup.model, setup.customer, *setup.judges):
        await model.aclose()
    return attempt, scored


@pytest.fixture(scope="module")
def played(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[ScriptedModel, dict[str, tuple[Attempt, Scored]]]]:
    """Issue → its conversation and scores, by a hard customer under exposure 2."""
    home: Path = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as patch, ScriptedModel() as server:
        patch.setenv("CXLAB_HOME", str(home))
        (home / "models.toml").write_text(server.settings())
        benchmark = get("mmtaup2")
        found = {}
        for issue in ("airplane_mode_on", "lock_sim_card_pin"):
            task = telecom_tasks.compose("service", [issue], 1)
            terms = {"persona": "hard", "exposure": 2, "modality": "text"}
            facets = {"persona": "hard", "exposure": exposure_facet(2), "modality": "text"}
            sample = samples.to_sample(task, "d1", facets, terms=terms)
            setup = Setup(
                model=llm.load("endpoint:agent"),
                customer=llm.load("endpoint:customer"),
                judges=(llm.load("endpoint:judge"),),
                run_id="r",
                options=benchmark.Options.read({}),
            )

            found[issue] = asyncio.run(play(sample, setup))
        yield server, found


def test_every_role_plays_its_part_well(played: tuple[ScriptedModel, dict[str, tuple[Attempt, Scored]]]) -> None:
    for issue, (attempt, scored) in played[1].items():
        rows = {row.metric: row for row in scored.scores}
        assert attempt.output["passed"], (issue, [m.text for m in attempt.messages])
        assert rows["right"].value == rows["judged_pass"].value == 100, issue
        assert attempt.failures == ()
        assert attempt.output["profiles"][0]["profile"]["technical_skill"] == 3
        assert all(vote.valid for vote in scored.votes)
        assert attempt.output["transferred"] == (issue == "lock_sim_card_pin")


def test_no_thought_and_no_key_reaches_the_other_side(
    played: tuple[ScriptedModel, dict[str, tuple[Attempt, Scored]]],
) -> None:
    server, found = played
    for attempt, _ in found.values():
        assert not any(THOUGHT in message.text or "<think>" in message.text for message in attempt.messages)
    assert not any(THOUGHT in str(body["messages"]) for each in server.bodies.values() for body in each)
    shown = [m["content"] for body in server.bodies["customer"] for m in body["messages"] if m["role"] == "tool"]
    assert shown
    assert not any("{" in text or "_" in text for text in shown)


def test_each_side_is_sent_what_is_its_own(
    played: tuple[ScriptedModel, dict[str, tuple[Attempt, Scored]]],
) -> None:
    bodies = played[0].bodies
    agents = [body for body in bodies["agent"] if "response_format" not in body]
    assert {tool["function"]["name"] for tool in agents[0]["tools"]} >= {"get_customer_by_phone", "refuel_data"}
    assert all("Why you get in touch" not in str(body["messages"]) for body in agents)
    assert all("Before money moves" not in str(body["messages"]) for body in bodies["customer"])
    policy = worlds.policy("telecom")[:200]
    judged = [body["messages"][0]["content"] for body in bodies["judge"]]
    assert sum(policy in text for text in judged) >= len(judged) / 3
    for body in bodies["judge"]:
        assert next(iter(body["response_format"]["json_schema"]["schema"]["properties"])) == "reason"


def test_annoyance_is_asked_once_a_conversation_and_counted_with_the_judges(
    played: tuple[ScriptedModel, dict[str, tuple[Attempt, Scored]]],
) -> None:
    server, found = played
    asked = [body for body in server.bodies["judge"] if "verdicts" in _fields(body)]
    told = [scored for _, scored in found.values() if any(one.field == "annoyed" for one in scored.judgements)]
    assert len(asked) == len(told) > 0
    for scored in told:
        [vote] = [one for one in scored.votes if "annoyance: " in one.raw]
        rows = {row.metric: row for row in scored.scores}
        assert (rows["annoyance"].value, rows["annoyance_undecided"].value) == (0, 0)
        groups = ("outcome", *judge_prompts.TURN_GROUPS)
        assert vote.usage.calls == 1 + sum(f"{group}: " in vote.raw for group in groups)
    spent = sum(vote.usage.calls for _, scored in found.values() for vote in scored.votes)
    assert spent == sum("technical_skill" not in _fields(body) for body in server.bodies["judge"])


def _fields(body: Mapping[str, Any]) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = body["response_format"]["json_schema"]["schema"]["properties"]
    return fields
