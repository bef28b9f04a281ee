"""Prompts as real models get them: readable by command, held to rules over all samples, seen in review when changed."""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks import REGISTRY, get
from cxlab.benchmarks.prompt_renderings import find_fitting, record, record_writer, render, to_rendering
from cxlab.cli import app
from cxlab.errors import NotConfigured, UnknownName
from cxlab.records import Sample
from cxlab.runner.plan import SampleFilter, choose
from tests.benchmarks import prompt_rules
from tests.goldens import prompts as goldens

# Samples that are gone through, a bit of each kind; CXLAB_EXPLORE=1 takes them all, as who changes a prompt should.
LIMITS = {} if os.environ.get("CXLAB_EXPLORE") else {"sage": 60, "cxmarena": 40, "mmtaup2": 80, "crmarena": 12}
# What does not hold yet, with the reason: to be emptied. An entry that holds fails the test.
NOT_YET: dict[tuple[str, str], str] = {}


@pytest.fixture(scope="module", params=list(REGISTRY))
def benchmark_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A benchmark's name, in an empty store of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(tmp_path_factory.mktemp("prompts")))
        yield request.param


@pytest.fixture(scope="module")
def asked(benchmark_of: str) -> list[prompt_rules.Asked]:
    """Everything that models are asked: briefly of many samples, in full of the usual ones, and of a writer."""
    benchmark = get(benchmark_of)
    made = benchmark.generate_now({} if benchmark.own_data or benchmark.demo is None else benchmark.demo.generate)[1]
    found = []
    for sample in choose(benchmark, made, SampleFilter(LIMITS.get(benchmark_of))):
        found.append((sample, record(benchmark, sample, most=1)))
    found += [
        (fitting, record(benchmark, fitting, options=options))
        for options in benchmark.prompt_options
        for sample in choose(benchmark, made, SampleFilter(4))
        if (fitting := find_fitting(benchmark, sample, options, made)) is not None
    ]
    found.append(
        (
            Sample(id="none", dataset_id="", benchmark=benchmark_of, task="", inputs={}, expected={}),
            record_writer(benchmark),
        )
    )
    return [one for sample, recording in found for one in prompt_rules.read(benchmark_of, sample, recording)]


@pytest.mark.parametrize("rule", prompt_rules.RULES)
def test_every_prompt_keeps_the_rules(benchmark_of: str, asked: list[prompt_rules.Asked], rule: str) -> None:
    broken = list(dict.fromkeys(prompt_rules.RULES[rule](asked)))
    if (benchmark_of, rule) in NOT_YET:
        assert broken, f"{benchmark_of} keeps {rule!r} now: take it from the list"
        pytest.skip(NOT_YET[benchmark_of, rule])
    assert not broken, f"{len(broken)}, the first ones:\n" + "\n".join(broken[:12])


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Write as <agent> would.", "no unfilled placeholder"),
        ("Dear {{ name }}", "no unfilled placeholder"),
        ("Set bill_id first.", "no machine key"),
        ("Facts:\n\nBegin.", "no field that the sample has not"),
        ("- price: None", "no field that the sample has not"),
        ("- it is red- It is old", "one thing a line"),
        ("The colours are ['red', 'blue'].", "one thing a line"),
    ],
)
def test_the_rules_see_what_they_forbid(asked: list[prompt_rules.Asked], text: str, rule: str) -> None:
    one = asked[0]
    assert list(prompt_rules.RULES[rule]([replace(one, text=text)]))
    assert not list(prompt_rules.RULES[rule]([replace(one, text="A plain sentence, with nothing in it.")])) or rule == (
        "no field that the sample has not"
    )


def test_a_card_that_leaks_is_seen(asked: list[prompt_rules.Asked]) -> None:
    by_role = {one.recorded.role: one for one in asked if one.recorded.request.inputs is not None}
    if "customer" not in by_role:
        pytest.skip("nobody plays a customer here")
    secret = max(prompt_rules._told(by_role["customer"].recorded.request.inputs).values(), key=len)
    agent = next(
        one for one in asked if one.recorded.role == "agent" and one.sample.id == by_role["customer"].sample.id
    )
    leaking = replace(agent, text=agent.text + "\n" + secret)
    assert list(prompt_rules.RULES["no words of another side's card"]([by_role["customer"], leaking]))


def test_renderings_are_the_recorded_ones(benchmark_of: str) -> None:
    now, before = goldens.texts(benchmark_of), goldens.recorded(benchmark_of)
    differing = [name for name in now.keys() | before.keys() if now.get(name) != before.get(name)]
    assert not differing, f"{differing} differ: look at them, then python -m tests.goldens.prompts {benchmark_of}"


def test_every_prompt_that_the_benchmark_lists_is_shown(benchmark_of: str) -> None:
    shown = {name.removesuffix(".md") for name in goldens.recorded(benchmark_of)}
    listed = {name.partition("/")[0] for name in get(benchmark_of).prompts()}
    # Articles are compared with one another in a sample of its own kind, of which the small dataset has none.
    assert listed - shown <= {"cxm_similar"}


def test_prompts_prints_a_line_of_json_a_prompt(benchmark_of: str) -> None:
    if not get(benchmark_of).own_data:
        pytest.skip("the same code; making its data once is enough")
    said = CliRunner().invoke(app, ["prompts", benchmark_of, "agent", "--json"])
    assert said.exit_code == 0, said.output
    for line in map(json.loads, said.output.splitlines()):
        assert {"benchmark", "name", "role", "messages", "schema"} <= set(line)
        assert (line["benchmark"], line["role"]) == (benchmark_of, "agent")
        assert all(isinstance(message["content"], str) for message in line["messages"])
    told = CliRunner().invoke(app, ["prompts", benchmark_of, "agent"])
    assert "## system" in told.output


def test_a_sample_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    benchmark = get("sage")
    sample = benchmark.generate_now({})[1][-1]
    found = render(benchmark, sample.id)
    assert {one.sample for one in found if one.role != "writer"} == {sample.id}
    with pytest.raises(UnknownName, match="sample 'nobody'"):
        render(benchmark, "nobody")
    said = CliRunner().invoke(app, ["prompts", "sage", "nothing"])
    assert isinstance(said.exception, UnknownName)


def test_a_process_with_other_work_makes_no_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    with pytest.raises(NotConfigured, match="no dataset of cxmarena"):
        render(get("cxmarena"), make=False)
    assert not any(tmp_path.iterdir())


def test_the_schema_is_the_one_that_is_sent() -> None:
    benchmark = get("sage")
    sample = benchmark.generate_now({"scenarios": "telecom_package", "levels": "zero"})[1][0]
    recording = record(benchmark, sample)
    agents = [one for one in recording.requests if one.role == "agent"]
    assert recording.attempt is not None
    assert len(agents) == sum(message.role == "agent" for message in recording.attempt.messages)
    sent = to_rendering("sage", sample.id, agents[0]).schema
    assert sent is not None
    assert sent["additionalProperties"] is False
    assert set(sent["required"]) == set(sent["properties"])
