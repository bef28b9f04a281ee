"""Conversations that nobody has labelled, sent to tasks: samples without gold, runs, what was said of each."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from typer.testing import CliRunner

from cxlab import cli
from cxlab.benchmarks import sending
from cxlab.benchmarks.cxmarena.tasks.unlabelled_tasks import (
    QUALITY,
    QUESTIONS,
    list_terms,
    make_quality,
    split_questions,
    split_reasons,
)
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.conversation_check import hold_against
from cxlab.benchmarks.sage.procedures.sop_text import show_known
from cxlab.benchmarks.sage.prompts.scenario_prompts import check_prompt
from cxlab.benchmarks.unlabelled import NO_GOLD
from cxlab.errors import BadOption, UnknownName
from cxlab.records import Attempt, Conversation, Message, Sample
from cxlab.records.progress import finish
from cxlab.runner.estimate import estimate
from cxlab.runner.request import RunRequest
from cxlab.store import load, write
from cxlab.store.exports.sharing import check_sharing
from tests.pages.test_pages_conversations import lines


def invoke(*words: str) -> str:
    done = CliRunner().invoke(cli.app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store with somebody's nine conversations, which may not be passed on; the dataset's id."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("sending")
        patch.setenv("CXLAB_HOME", str(home))
        (home / "talks.jsonl").write_text("\n".join(lines()))
        words = ("--no-filter", "--source=lmsys", "--messages=messages", "--id=id", "--json", "--quiet")
        told = invoke("import", "cdr", str(home / "talks.jsonl"), *words)
        yield json.loads(told)["dataset"]


def send(dataset: str, task: str, *words: str) -> str:
    return str(json.loads(invoke("send", dataset, task, *words, "--json", "--quiet"))["dataset"])


def run(benchmark: str, dataset: str, *words: str) -> str:
    invoke("run", benchmark, "--dataset", dataset, "--model", "simulated:strong", "--quiet", *words)
    return next(each.id for each in write.list_runs() if each.dataset_id == dataset)


def test_quality_is_answered_for_each_conversation_and_says_what_it_cannot(own: str) -> None:
    made = send(own, "quality")
    dataset = write.load_dataset(made)
    assert dataset.redistributable is False
    assert dataset.licence == write.load_dataset(own).licence
    samples = write.load_samples(made)
    assert len(samples) == 9
    assert all(sample.expected == {} and sample.task == "quality" for sample in samples)
    (row,) = estimate(RunRequest("cxmarena", ("openai:gpt-4.1",), dataset_id=made))
    assert row.cost_usd is not None
    assert row.cost_usd > 0
    run_id = run("cxmarena", made)
    answers = sending.read_answers(run_id)
    assert answers.height == 9 * len(QUESTIONS)
    assert answers["asked"].unique(maintain_order=True).to_list() == list(QUESTIONS)
    assert set(answers["said"].drop_nulls()) <= {"Yes", "No", "NA"}
    # "Is there anything else?" stands in the last reply of each.
    asked_more = answers.filter(asked=QUESTIONS[-1], said="Yes")
    assert asked_more.height >= 8
    assert set(asked_more["lines"].explode()) == {5}
    for _, scored in load.load_attempts(run_id):
        assert scored.verdict is not None
        assert scored.verdict.value in ("unscored", "failed")
        values = {score.metric: (score.value, score.reason) for score in scored.scores}
        assert values["question_accuracy"] == (None, NO_GOLD)
        assert values["right"] == (None, NO_GOLD)
    told = invoke("answers", run_id)
    assert "nobody has labelled these" in told
    assert "(simulated)" in told
    assert len(invoke("answers", run_id, "--json").splitlines()) == answers.height


def test_conversations_that_may_not_be_passed_on_stay_out_of_exports_of_their_samples(own: str, tmp_path: Path) -> None:
    made = send(own, "quality", "--questions=Was it kind?")
    run_id = run("cxmarena", made)
    said = "My parcel has not come yet"
    for format in ("jsonl", "duckdb", "folder"):
        to = tmp_path / format
        invoke("export", run_id, "--format", format, "--to", str(to))
        files = [to] if to.is_file() else [path for path in to.rglob("*") if path.is_file()]
        assert files
        assert not any(said.encode() in path.read_bytes() for path in files), format
        assert not any(path.name == "samples.parquet" for path in files)
    with duckdb.connect(str(tmp_path / "duckdb"), read_only=True) as made_file:
        assert made_file.execute("SELECT count(*) FROM samples").fetchall() == [(0,)]
        assert made_file.execute("SELECT count(*) FROM attempts").fetchall() == [(9,)]
    with pytest.raises(BadOption, match="may not be passed on"):
        check_sharing(write.load_dataset(made), "samples")


def test_reasons_are_found_or_given_and_judges_may_check_them(own: str) -> None:
    found = send(own, "intent", "--count=3")
    reasons = write.load_dataset(found).config["reasons"]
    assert len(reasons) == 3
    given = send(own, "intent", "--reasons=Parcel - a parcel is late: lost; Shoes - sizes and colours; Complaint")
    labels = write.load_table(given, "taxonomies")
    assert labels["l1"].to_list() == ["Parcel", "Shoes", "Complaint"]
    run_id = run("cxmarena", given, "--option", "verify=true", "--judge", "simulated:judge-fair")
    answers = sending.read_answers(run_id)
    counts = sending.count_answers(answers)
    assert counts["asked"].unique(maintain_order=True).to_list() == [
        "Why the customer got in touch", "Judges accept that reason",
    ]  # fmt: skip
    assert counts.filter(asked="Why the customer got in touch")["n"].sum() == 9
    shoes = answers.filter(asked="Why the customer got in touch", said="Shoes")["conversation_id"].to_list()
    assert set(shoes) == {"t2", "t5", "t8"}
    assert sending.plan(own, "intent", {"model": "openai:gpt-4.1", "count": 3}) is not None
    assert sending.plan(own, "intent", {"reasons": "A; B", "model": "openai:gpt-4.1"}) is None


def test_a_procedure_is_held_against_conversations(own: str) -> None:
    made = send(own, "procedure_check", "--procedure=ecommerce_refund")
    run_id = run("sage", made)
    answers = sending.read_answers(run_id)
    asked_by = {attempt.output["prompt"] for attempt, _ in load.load_attempts(run_id)}
    assert asked_by == {check_prompt(rules.load("ecommerce_refund")).hash}
    assert answers.height == 27
    kept = sending.count_answers(answers).filter(asked="The procedure was kept")
    assert kept["n"].sum() + kept["unread"][0] == 9
    # Nobody tells in these what the back end shows, so nothing can be decided, and it is said why.
    undecided = answers.filter(asked="The procedure was kept", said="cannot be told")
    assert all("does not tell" in why for why in undecided["reason"])


@pytest.mark.parametrize("name", rules.ids())
def test_what_is_due_is_what_the_rule_engine_says(name: str) -> None:
    scenario = rules.load(name)
    for leaf in scenario.leaves():
        fields = {**scenario.defaults(), **{k: v for k, v in leaf.given.items() if k in scenario.fields}}
        told = {
            key: show_known(value) if scenario.system[key].kind is None else str(value)
            for key, value in leaf.given.items()
            if key in scenario.system
        }
        said = {"fields": fields, "back_end": told, "action": leaf.action["Action"], "lines": []}
        if scenario.plan is not None:
            said["plan"] = leaf.action[scenario.plan.name]
        found = hold_against(scenario, said)
        assert found["path"] == list(leaf.path), leaf.id
        assert found["did"] == found["due"], leaf.id
        if told:
            untold = hold_against(scenario, {**said, "back_end": dict.fromkeys(told, "untold")})
            # Without the back end it is decided only where all that it may show comes to the same.
            known = [
                {key: show_known(value) for key, value in zip(scenario.system, values, strict=True)}
                for values in itertools.product(*(each.values for each in scenario.system.values()))
            ]
            ends = {hold_against(scenario, {**said, "back_end": one})["due"] for one in known}
            if len(ends) == 1 and None not in ends:
                assert (untold["due"], untold["undecided"]) == (*ends, "")
            else:
                assert untold["due"] is None
                assert "does not tell" in untold["undecided"]


def test_lines_that_a_model_names_become_places_of_messages() -> None:
    roles: list[tuple[Any, str]] = [("customer", "Hi"), ("tool", "{}"), ("agent", "Hello"), ("agent", "  ")]
    said = tuple(Message(role=role, text=text, turn=1) for role, text in roles)
    silent = Conversation(id="b", messages=said[:2])
    settings = QUALITY.Settings.read({"questions": "Was it kind? And was it quick?"})
    made = finish(make_quality({"a": Conversation(id="a", messages=said), "b": silent}, settings, GenerationContext()))
    (one,) = made.samples
    assert made.config["left_out"] == 1
    sample = Sample(id="s", dataset_id="d", benchmark="cxmarena", task="quality", inputs=dict(one.inputs), expected={})
    output = {"answers": ["Yes"], "reasons": ["It says hello."], "evidence": [[2, 9, 0]]}
    attempt = Attempt(
        id="x", run_id="r", sample_id="s", trial=1, output=output, outcome="ok", ended_by="quality", latency_s=0,
        cost_usd=0, started=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    first, second = QUALITY.read(sample, attempt, ())
    assert (first.asked, first.said, first.lines) == ("Was it kind?", "Yes", (2,))
    assert (second.asked, second.said, second.lines) == ("And was it quick?", None, ())


def test_shares_are_of_what_was_answered_with_wilsons_interval() -> None:
    rows = [(f"c{n}", "Q?", said, "", [], "a", "s") for n, said in enumerate(["Yes"] * 8 + ["No"] * 2 + [None])]
    schema = ["conversation_id", "asked", "said", "reason", "lines", "attempt_id", "sample_id"]
    counts = sending.count_answers(pl.DataFrame([*rows, rows[0]], schema=schema, orient="row"))
    yes = counts.row(0, named=True)
    assert (yes["said"], yes["n"], yes["of"], yes["unread"]) == ("Yes", 8, 10, 1)
    # scipy.stats.binomtest(8, 10).proportion_ci(method="wilson")
    assert (yes["share"], yes["low"], yes["high"]) == pytest.approx((0.8, 0.4901624715, 0.9433178485), abs=1e-6)


def test_questions_and_reasons_are_read_as_people_write_them() -> None:
    assert split_questions("Was it kind?\nWas it, after all, quick? Was it kind?") == [
        "Was it kind?", "Was it, after all, quick?",
    ]  # fmt: skip
    assert split_reasons("Refund - money back; Delivery: late;") == [("Refund", "money back"), ("Delivery, late", "")]
    for wrong in ("", "Be kind.", " ? ", "x" * 400 + "?", " ".join(f"Q{n}?" for n in range(21))):
        with pytest.raises(BadOption):
            split_questions(wrong)
    with pytest.raises(BadOption):
        split_reasons("Refund")
    assert list_terms([["my parcel is late", "parcel lost"], ["brown shoes", "shoes please"]])[1][0] == "shoes"


def test_what_cannot_be_sent_is_refused(own: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="procedure_check"):
        sending.find_task("nonsense")
    with pytest.raises(UnknownName):
        finish(sending.send("no-dataset", "quality", {}, GenerationContext()))
    with pytest.raises(BadOption, match="airline_refund"):
        finish(sending.send(own, "procedure_check", {}, GenerationContext()))
    with pytest.raises(UnknownName, match="airline_refund"):
        finish(sending.send(own, "procedure_check", {"procedure": "none"}, GenerationContext()))
    made = send(own, "quality")
    with pytest.raises(UnknownName):  # it holds samples about them and not the conversations once more
        finish(sending.send(made, "quality", {}, GenerationContext()))
