"""CXMArena's tasks done and scored on a small imported folder, by simulated models and by scripted ones."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from cxlab import llm
from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.cxmarena import run as running
from cxlab.benchmarks.cxmarena.benchmark import CARD, HEADLINES, METRICS, check, generate
from cxlab.benchmarks.cxmarena.importers.published_dataset import import_folder
from cxlab.benchmarks.cxmarena.options import CxmDataset
from cxlab.benchmarks.cxmarena.run import run
from cxlab.benchmarks.cxmarena.score import empty_output, gold_output, measure, score
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.stages import finish
from cxlab.errors import BadOption, UnknownName
from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.llm.cache import ReplyCache
from cxlab.llm.openai_model import OpenAIModel
from cxlab.records import ToolCall, Usage
from cxlab.store import write
from tests.benchmarks.cxmarena.importers.cxm_folder import make, store

JUDGES = ("simulated:judge-strict", "simulated:judge-lenient", "simulated:judge-fair")


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Task → sample (the first of its kind) of the small folder, stored."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "home"))
    found = {}
    for sample in import_folder(store(tmp_path / "in", make())).samples:
        found.setdefault(sample.task, sample)
    return found


class Scripted:
    """A model that says what it is told to; `refuses` names a part of the request that it does not take."""

    simulated = False

    def __init__(self, text: str = "", calls: tuple[ToolCall, ...] = (), refuses: str = "", name: str = "x:scripted"):
        self.name, self.text, self.calls, self.refuses = name, text, calls, refuses
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        if self.refuses == "all":
            raise ProviderFault("server_error", "down", retryable=True)
        if self.refuses == "tools" and request.tools:
            raise ProviderFault("bad_request", "this model does not support tools")
        return Completion(self.text, self.calls, Usage(prompt_tokens=10, completion_tokens=5, calls=1), 0.5, "stop")

    async def aclose(self) -> None:
        """Nothing to close."""


def play(sample, model: Any = "simulated:strong", trial: int = 1, judges=(), **options):
    """(attempt, metric → value of the whole attempt, scored)."""
    model = llm.load(model) if isinstance(model, str) else model
    setup = Setup(model, None, tuple(map(llm.load, judges)), "run-1", 0, options)

    async def go():
        attempt = await run(sample, setup, trial)
        return attempt, await score(sample, attempt, setup)

    attempt, scored = asyncio.run(go())
    return attempt, {one.metric: one.value for one in scored.scores if one.turn is None}, scored


@pytest.mark.parametrize("task", list(HEADLINES))
def test_a_strong_model_does_every_task_and_every_metric_is_explained(samples, task):
    attempt, values, _ = play(samples[task], judges=JUDGES)
    assert attempt.outcome == "ok"
    assert set(values) <= set(METRICS)
    assert all(values[metric] is None or values[metric] > 0 for metric in HEADLINES[task] if metric in values)
    assert any(values.get(metric) is not None for metric in HEADLINES[task])
    assert task in {one.id for one in CARD.tasks}


@pytest.mark.parametrize("task", list(HEADLINES))
@pytest.mark.parametrize("model", ["simulated:weak", "simulated:floor"])
def test_the_same_seed_gives_the_same_output_and_trials_are_of_their_own(samples, task, model):
    def output(trial):
        found = play(samples[task], model, trial)[0].output
        return {name: value for name, value in found.items() if name != "steps"}

    assert output(1) == output(1)
    assert play(samples[task], model, 1)[0].id != play(samples[task], model, 2)[0].id


def test_gold_scores_100_and_nothing_scores_0(samples):
    for sample in samples.values():
        assert list(check(sample)) == []
        best, worst = measure(sample, gold_output(sample)), measure(sample, empty_output(sample))
        for metric in HEADLINES[sample.task]:
            if metric in best and best[metric][0] is not None:
                assert (best[metric][0], worst[metric][0]) == (100, 0)
        assert best["right"] == (100, None)
        assert worst["right"][0] == 0
        assert worst["right"][1]


def test_what_is_wrong_is_said_in_words_that_alike_failures_share(samples):
    def reason(task, **output):
        sample = samples[task]
        return measure(sample, {**gold_output(sample), **output})["right"]

    due = samples["intent"].expected["label"]
    assert reason("intent", label="Nonsense") == (
        0,
        f"called 'Nonsense', which the taxonomy does not have; due '{due}'",
    )
    assert reason("article_search", ranked=["KB_0"] * 3) == (0, "right article missing among the first ten")
    far = [f"X{i}" for i in range(12)] + [samples["article_search"].expected["article_id"]]
    assert reason("article_search", ranked=far) == (
        0,
        "right article missing among the first ten (within the first 13)",
    )
    names = {name: [{"name": "nothing_such", "arguments": "{}"}] for name in samples["tools"].inputs["candidates"]}
    right = ", ".join(each["name"] for each in samples["tools"].expected["tools"])
    assert reason("tools", calls=names) == (0, f"called nothing_such; due {right}")
    # Each question that is answered wrongly has a line of its own.
    asked, gold = samples["quality"].inputs["questions"], samples["quality"].expected["answers"]
    said = ["No such answer", None, *gold[2:]]
    assert reason("quality", answers=said) == (
        0,
        f"{asked[0]} said No such answer; due {gold[0]}\n{asked[1]} no answer; due {gold[1]}",
    )


def test_check_sees_a_gold_that_cannot_be_reached(samples):
    wrong = samples["intent"].model_copy(update={"expected": {"label": "Nothing such"}})
    assert "is not among the candidates" in " ".join(check(wrong))
    empty = samples["kb_refinement"].model_copy(update={"expected": {"similar": [], "contradictory": []}})
    assert "the gold is empty" in " ".join(check(empty))


def test_refinement_finds_the_copy_and_the_altered_number(samples):
    for method in ("facts", "model"):
        attempt, values, _ = play(samples["kb_refinement"], contradictions=method)
        assert attempt.output["similar"] == [["KB_0", "KB_100"]]
        assert ["KB_0", "KB_13"] in attempt.output["contradictory"]
        # KB_100 is a copy of KB_0, so it contradicts KB_13 as well; the gold does not know.
        assert values["contradictory_precision"] == 50
        assert values["contradictory_candidates"] == 100
        shown = next(one for one in attempt.output["shown"] if one["pair"] == ["KB_0", "KB_13"])
        assert ("10 months" in shown["first"], "99 months" in shown["second"]) == (True, True)
    assert attempt.output["steps"]["contradiction"]["calls"] == attempt.output["candidates"]
    public = play(samples["kb_refinement"], contradictions="similar", candidates="articles", most=3)[0].output
    assert len(public["contradictory"]) == 3
    with pytest.raises(BadOption, match="give one of model, facts, similar"):
        play(samples["kb_refinement"], contradictions="guess")


def test_refinement_by_an_embedder_and_a_threshold_of_ones_own(samples):
    low = play(samples["kb_refinement"], similarity="hashing", threshold=0.3, contradictions="facts")
    high = play(samples["kb_refinement"], similarity="hashing", threshold=0.95, contradictions="facts")
    assert low[1]["similar_recall"] == 100
    assert len(low[0].output["similar"]) > len(high[0].output["similar"])
    assert low[1]["best_similar_f1"] >= low[1]["similar_f1"]


def test_pairs_that_a_provider_did_not_check_leave_contradictions_unscored(samples):
    attempt, values, scored = play(samples["kb_refinement"], Scripted(refuses="all"), candidates="articles")
    assert attempt.outcome == "provider"
    assert len(attempt.failures) == 50
    assert values["contradictory_f1"] is None
    assert values["similar_f1"] == 100
    reason = next(one.reason for one in scored.scores if one.metric == "contradictory_f1")
    assert "did not deliver" in reason


def test_a_label_that_is_almost_right_is_wrong_raw_and_right_fuzzy(samples):
    model = Scripted('{"intent": "pairing problem"}')
    attempt, values, _ = play(samples["intent"], model, judges=JUDGES)
    assert (values["intent"], values["intent_fuzzy"], values["intent_outside"]) == (0, 100, 100)
    assert values["intent_verified"] is not None
    assert attempt.usage.completion_tokens == 5
    assert "verify" not in str(play(samples["intent"], model, judges=JUDGES, verify=False)[1])
    assert "Pairing problem: pair the product" in str(model.requests[0].messages)


def test_a_reply_that_cannot_be_read_is_a_format_failure_and_wrong(samples):
    attempt, values, _ = play(samples["intent"], Scripted("It is about pairing."))
    assert attempt.outcome == "format"
    assert (values["intent"], values["format_error"]) == (0, 100)
    attempt, values, _ = play(samples["quality"], Scripted("Yes and yes."))
    assert (values["question_accuracy"], values["public_question_accuracy"], values["row_exact"]) == (0, 0, 0)


def test_a_missing_answer_is_wrong_for_us_and_skipped_in_the_public_way(samples):
    reply = json.dumps({"answers": [{"question": 1, "answer": True, "evidence": [2, 3]}]})
    attempt, values, scored = play(samples["quality"], Scripted(reply))
    assert attempt.output["answers"] == ["Yes", None]
    assert values["question_accuracy"] == 50
    assert values["public_question_accuracy"] == 100
    assert (values["evidence_precision"], values["evidence_recall"]) == (50, 50)
    rows = [(one.metric, one.turn, one.value) for one in scored.scores if one.turn is not None]
    # Means over questions, not over rows of questions: the public way leaves out what was not answered.
    assert rows == [("question_accuracy", 1, 100), ("question_accuracy", 2, 0), ("public_question_accuracy", 1, 100)]


def test_an_answer_that_was_not_offered_or_asked_is_refused(samples):
    for entry in (
        {"question": 7, "answer": "Yes"},
        {"question": 1, "answer": "NA"},
        {"question": 1, "answer": "Maybe"},
    ):
        attempt, _, _ = play(samples["quality"], Scripted(json.dumps({"answers": [entry]})), na=False)
        assert attempt.outcome == "format", entry


@pytest.mark.parametrize("kind", ["bm25", "lexical", "hashing", "hybrid:hashing", "chroma:hashing"])
def test_every_kind_of_retrieval_finds_the_article(samples, kind):
    attempt, values, _ = play(samples["article_search"], retrieval=kind, chunk=120, overlap=20)
    assert values["hit@1"] == 100
    assert len(attempt.output["ranked"]) == len(set(attempt.output["ranked"])) <= 20
    assert attempt.usage.calls == 0
    # A fused ranking has no chunks to count.
    assert ("public_hit@10" in values) == (kind != "hybrid:hashing")
    with pytest.raises(BadOption, match="retrieval='telepathy'"):
        play(samples["article_search"], retrieval="hybrid:telepathy")


def test_chunks_are_counted_before_documents_in_the_public_way(samples):
    attempt, _, _ = play(samples["article_search"], chunk=60, overlap=0)
    assert len(attempt.output["chunks"]) == 10
    assert len(set(attempt.output["chunks"])) < 10 < len(attempt.output["ranked"])


def test_multi_turn_asks_for_a_query_and_answers_from_what_it_found(samples):
    attempt, values, scored = play(samples["multi_turn"], judges=JUDGES)
    assert attempt.output["ranked"][0] == "KB_12"
    assert "19 seconds" in attempt.output["response"]
    assert values["recall@10"] == values["response_correct"] == 100
    assert sum(values[f"response_{name}"] for name in ("correct", "incorrect", "hallucinated", "refusal")) == 100
    assert len(scored.votes) == 3
    assert set(attempt.output["steps"]) == {"query", "search", "response"}
    last = play(samples["multi_turn"], query="last", respond=False)[0]
    assert last.output["query"].startswith("How many seconds")
    assert last.usage.calls == 0


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        ("Hold the round button for 19 seconds until the light blinks.", "correct"),
        ("Hold the round button of the Aero Lamp for 12 seconds until the light blinks.", "incorrect"),
        ("Our heaters come with a free holiday in Norway, worth 5000 euros.", "hallucinated"),
        ("I'm sorry, I don't have that information.", "refusal"),
    ],
)
def test_judges_tell_the_four_kinds_of_answers_apart(samples, response, verdict):
    _, values, _ = play(samples["multi_turn"], Scripted(response), judges=JUDGES, query="last")
    assert values[f"response_{verdict}"] == 100
    assert values["judge_error"] == 0


def test_no_judges_means_unscored(samples):
    _, values, scored = play(samples["multi_turn"])
    assert values["response_correct"] is None
    assert {one.reason for one in scored.scores if one.metric == "response_correct"} == {"no judges"}


def test_tools_go_natively_with_the_request(samples):
    called = ToolCall(id="1", name="track_parcel", arguments='{"order_number": "AB-1234"}')
    model = Scripted(calls=(called,))
    _, values, _ = play(samples["tools"], model)
    assert (values["tools@16"], values["tools@32"]) == (100, 100)
    assert values["tools_arguments@16"] is None  # the published gold has names only
    assert [len(one.tools) for one in model.requests] == [3, 4]
    assert not model.requests[0].require_tool
    assert "create_return_label" not in str(model.requests[0].messages)
    assert play(samples["tools"], model, sizes="32")[0].output["calls"].keys() == {"32"}
    with pytest.raises(UnknownName, match="size of the list of tools '64'"):
        play(samples["tools"], model, sizes="64")
    play(samples["tools"], model, mode="forced")
    assert model.requests[-1].require_tool


def test_arguments_count_where_the_gold_has_them(samples):
    gold = {"tools": [{"name": "track_parcel", "arguments": {"order_number": "AB-1234"}}]}
    sample = samples["tools"].model_copy(update={"expected": gold})
    for number, value in (("AB-1234", 100), ("AB-1235", 0)):
        call = ToolCall(id="1", name="track_parcel", arguments=json.dumps({"order_number": number}))
        assert play(sample, Scripted(calls=(call,)))[1]["tools_arguments@16"] == value


def test_a_server_without_tools_gets_them_as_text_from_then_on(samples):
    model = Scripted('{"calls": [{"name": "track_parcel", "arguments": {}}], "message": ""}', refuses="tools")
    attempt, values, _ = play(samples["tools"], model)
    assert attempt.outcome == "ok"
    assert values["tools@32"] == 100
    # Refused once; the second size is asked as text right away.
    assert [bool(one.tools) for one in model.requests] == [True, False, False]
    assert "create_return_label" in str(model.requests[1].messages)
    fresh = Scripted(refuses="tools", name="x:other")
    assert play(samples["tools"], fresh, tool_calls="native")[0].outcome == "provider"
    assert fresh not in running._TOOLLESS


def test_simulated_tools_work_both_ways_and_forcing_leaves_no_silence(samples):
    for way in ("native", "json"):
        played = [play(samples["tools"], trial=trial, tool_calls=way) for trial in range(8)]
        right = [attempt.output["calls"]["16"] for attempt, values, _ in played if values["tools@16"] == 100]
        # Which trials it gets wrong is drawn by what it is asked.
        assert len(right) >= 5
        assert all(json.loads(_as_text(calls[0]["arguments"])) == {"order_number": "AB-1234"} for calls in right)
    for model in ("simulated:strong", "simulated:weak", "simulated:eloquent", "simulated:floor"):
        for trial in range(1, 6):
            assert play(samples["tools"], model, trial, mode="forced")[1]["tools_silent@16"] == 0


def _as_text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def test_a_provider_fault_scores_nothing(samples):
    attempt, values, _ = play(samples["intent"], Scripted(refuses="all"))
    assert attempt.outcome == "provider"
    assert set(values.values()) == {None}


def test_options_and_tasks_are_checked(samples):
    for name, value in (("chunk", "many"), ("query", "shout"), ("respond", "perhaps")):
        with pytest.raises(BadOption, match=f"{name}="):
            play(samples["multi_turn"], **{name: value})
    with pytest.raises(UnknownName, match="task of cxmarena"):
        play(samples["intent"].model_copy(update={"task": "poetry"}))


def test_forcing_a_tool_reaches_the_server_and_the_cache_tells_it_apart():
    offered = [{"type": "function", "function": {"name": "f"}}]
    forced = Request([], tools=offered, require_tool=True)
    model = OpenAIModel("openai:x", "x", None, None)
    assert model._body(forced, None)["tool_choice"] == "required"
    assert "tool_choice" not in model._body(Request([], tools=offered), None)
    assert ReplyCache.key("m", forced) != ReplyCache.key("m", Request([], tools=offered))


def test_an_answered_search_is_graded_under_names_of_its_own(samples):
    attempt, values, _ = play(samples["article_search"], judges=JUDGES, answer="true")
    assert "24 months" in attempt.output["response"]
    assert values["answer_correct"] == 100
    assert set(values) <= set(METRICS)
    assert not {name for name in values if name.startswith("response_")}


def test_no_constant_scores_more_than_the_constant_floor(tmp_path, monkeypatch):
    """Held against every label there is, on the written brand: one label a taxonomy, one answer to all questions."""
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    made = finish(generate(CxmDataset(brand="aldersea"), GenerationContext(home=tmp_path)))
    rows = write.load_samples(made.dataset.id)
    for taxonomy in "ABC":
        gold = [s.expected["label"] for s in rows if s.task == "intent" and s.inputs["taxonomy"] == taxonomy]
        sample = next(s for s in rows if s.task == "intent" and s.inputs["taxonomy"] == taxonomy)
        said = play(sample, "simulated:floor-constant")[0].output["label"]
        assert said in gold
        assert all(gold.count(said) >= gold.count(label) for label in set(gold))
    for task in HEADLINES:
        sample = next(s for s in rows if s.task == task)
        attempt, values, _ = play(sample, "simulated:floor-constant")
        assert (attempt.outcome, attempt.usage.calls) == ("ok", 0)
        assert any(values.get(metric) is not None for metric in HEADLINES[task])
    answers = [answer for s in rows if s.task == "quality" for answer in s.expected["answers"]]
    said = play(next(s for s in rows if s.task == "quality"), "simulated:floor-constant")[0].output["answers"][0]
    assert answers.count(said) == max(answers.count(each) for each in ("Yes", "No", "NA"))
