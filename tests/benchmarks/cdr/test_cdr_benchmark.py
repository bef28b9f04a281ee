"""A run of CDR: the same figures as the evaluation, each miss with its kind, and what a chat model may reorder."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab import llm, retrieval
from cxlab.benchmarks import get
from cxlab.benchmarks.cdr import evaluate
from cxlab.benchmarks.cdr.benchmark import BENCHMARK, check, document
from cxlab.benchmarks.cdr.failure_analysis import KINDS, explain
from cxlab.benchmarks.cdr.options import CdrOptions, read_size
from cxlab.benchmarks.cdr.retrievers import fitted, open_index, search
from cxlab.benchmarks.cdr.run import find_span, prepare, run
from cxlab.benchmarks.cdr.score import METRICS, measure, score
from cxlab.benchmarks.cdr.units import GRANULARITIES, UnitText, cut_middle, split
from cxlab.benchmarks.contract import Setup
from cxlab.errors import BadOption, UnknownName
from cxlab.llm.base import Completion, ProviderFault, Request
from cxlab.metrics.text_statistics import tokens
from cxlab.records import Attempt, Conversation, Dataset, Message, Sample
from tests.benchmarks.cdr.conftest import AREAS, CORPUS, QUERIES, RELEVANT, talk

Stored = tuple[Dataset, list[Sample]]


class Scripted:
    """A chat model that says the same whatever it is asked."""

    simulated = False
    name = "endpoint:scripted"

    def __init__(self, text: str) -> None:
        self.text, self.asked = text, list[Request]()

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        if self.text == "down":
            raise ProviderFault("connection", "no answer")
        return Completion(self.text)

    async def aclose(self) -> None:
        pass


def setup_of(model: object, **options: object) -> Setup:
    return Setup(model=model, customer=None, judges=(), run_id="run", options=CdrOptions.read(options))


def attempt_of(sample: Sample, model: object, **options: object) -> Attempt:
    return asyncio.run(run(sample, setup_of(model, **options), 1))


def scored_of(sample: Sample, attempt: Attempt):
    return BENCHMARK.complete(sample.task, attempt, asyncio.run(score(sample, attempt, setup_of(None))))


@pytest.mark.parametrize("name", ["bm25", "conversation"])
def test_a_run_has_the_figures_of_the_evaluation(stored: Stored, name: str) -> None:
    model = llm.load(f"retriever:{name}")
    for granularity in GRANULARITIES:
        expected = evaluate(CORPUS, QUERIES, RELEVANT, retrieval.load(name), granularity)
        for place, query in enumerate(QUERIES):
            sample = next(s for s in stored[1] if s.task == granularity and s.inputs["query_id"] == query)
            attempt = attempt_of(sample, model)
            assert attempt.output["ranked"] == expected.rankings[query]
            assert attempt.output["units"] == [[u.first, u.last] for u in expected.matched[query]]
            values = {one.metric: one.value for one in scored_of(sample, attempt).scores}
            assert values.keys() == METRICS.keys()
            for ours, theirs in (("hit", "acc"), ("precision",) * 2, ("recall",) * 2, ("ndcg",) * 2, ("mrr",) * 2):
                for k in (1, 5, 10, 20):
                    assert values[f"{ours}@{k}"] == pytest.approx(100 * expected.each[f"{theirs}@{k}"][place])


def test_the_index_is_fitted_once_and_not_once_a_query(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    monkeypatch.setattr(fitted, "load", lambda name, _="": loaded.append(name) or retrieval.load(name))
    fitted._open.cache_clear()
    for sample in stored[1]:
        attempt_of(sample, llm.load("retriever:lexical"))
    assert loaded == ["lexical"] * 3


def test_a_sample_for_each_query_and_granularity_holds_its_gold(stored: Stored) -> None:
    samples = stored[1]
    assert len(samples) == 3 * len(QUERIES)
    assert {(s.task, s.facets["granularity"], s.facets["area"]) for s in samples} == {
        (g, g, area) for g in GRANULARITIES for area in AREAS.values()
    }
    assert [complaint for sample in samples for complaint in check(sample)] == []
    lost = samples[0].model_copy(update={"expected": {"conversations": ["late", "nowhere"]}})
    assert [c for c in check(lost) if "nowhere" in c]
    none = samples[0].model_copy(update={"expected": {"conversations": []}})
    assert list(check(none))
    assert measure(samples[0], []) == dict.fromkeys(METRICS, 0.0)


def test_a_miss_says_its_kind_and_what_came_first(stored: Stored) -> None:
    sample = next(s for s in stored[1] if s.inputs["query_id"] == "q2")
    attempt = attempt_of(sample, llm.load("retriever:bm25"))
    assert scored_of(sample, attempt).verdict.value == "passed"
    wrong = attempt.model_copy(update={"output": {"ranked": ["advice"], "alike": False}})
    verdict = scored_of(sample, wrong).verdict
    assert (verdict.value, verdict.owner, verdict.stage) == ("failed", "agent", "unrelated")
    assert verdict.reason == KINDS["unrelated"]
    alike = attempt.model_copy(update={"output": {"ranked": ["advice"], "alike": True}})
    assert scored_of(sample, alike).verdict.reason == KINDS["undecided"]


# The kinds of the paper's Table 4, each in words of our own.
@pytest.mark.parametrize(
    ("query", "said", "kind"),
    [
        ("The assistant gives tips for raising children", ("I give tips for raising children", "Do you?"), "role"),
        ("The assistant gives tips for raising children", ("hm", "Tips for raising children: sleep"), "context"),
        ("Users who grow more satisfied with the answers", ("I am satisfied with all answers", "Good"), "progression"),
        ("From anger to calm over a lost suitcase", ("suitcase lost", "Which one"), "progression"),
        ("Advice on renting a house", ("I need a house for one night", "House found"), "context"),
        ("Advice on renting a house", ("good morning", "hello there"), "unrelated"),
    ],
)
def test_kinds_of_failure(query: str, said: Sequence[str], kind: str) -> None:
    assert explain(query, talk("x", *said)) == kind


def shown_ids(model: Scripted, sample: Sample, ids: list[str]) -> list[str]:
    """The conversations in the order of their numbers in the prompt."""
    asked = "\n".join(message["content"] for message in model.asked[0].messages)
    parts = re.split(r"^Conversation \d+:$", asked, flags=re.MULTILINE)[1:]
    texts = {one: CORPUS[one].messages[0].text for one in ids}
    return [next(one for one, text in texts.items() if text in part) for part in parts]


def test_a_chat_model_orders_the_candidates_and_what_it_leaves_out_stays_behind(stored: Stored) -> None:
    sample = next(s for s in stored[1] if s.inputs["query_id"] == "q1" and s.task == "session")
    first = attempt_of(sample, llm.load("retriever:bm25")).output["ranked"]
    model = Scripted('{"reason": "it is late", "order": [3, 1]}')
    attempt = attempt_of(sample, model, candidates=4)
    # The candidates are shown in an order of their own; what the model leaves out keeps the first stage's.
    shown = shown_ids(model, sample, first[:4])
    assert set(shown) == set(first[:4])
    assert shown != first[:4]
    named = [shown[2], shown[0]]
    assert attempt.output["ranked"] == [*named, *(one for one in first if one not in named)]
    assert (attempt.outcome, attempt.output["reranked"]) == ("ok", 2)
    asked = "\n".join(message["content"] for message in model.asked[0].messages)
    assert "my parcel is late again" in asked
    assert "relevant" not in asked.casefold()
    for text, outcome, value in (("no JSON", "format", "failed"), ("down", "provider", "unscored")):
        broken = attempt_of(sample, Scripted(text))
        assert (broken.outcome, scored_of(sample, broken).verdict.value) == (outcome, value)
        assert {one.value for one in scored_of(sample, broken).scores} == {None}
    for order in ("[1, 1]", "[99]"):
        assert attempt_of(sample, Scripted(f'{{"reason": "", "order": {order}}}')).outcome == "format"


def test_a_stand_in_reranks_by_words(stored: Stored) -> None:
    sample = next(s for s in stored[1] if s.inputs["query_id"] == "q2" and s.task == "session")
    attempt = attempt_of(sample, llm.load("simulated:strong"), first="random")
    assert attempt.output["ranked"][0] == "login"
    assert "reranked by strong" in attempt.output["index"]["name"]


@given(
    st.lists(st.tuples(st.sampled_from(["customer", "agent", "tool"]), st.text("ab \n", max_size=6)), max_size=6),
    st.sampled_from(GRANULARITIES),
    st.booleans(),
    st.sampled_from([("customer", "agent"), ("customer",), ("agent",)]),
)
def test_a_span_is_where_the_unit_stands_in_the_whole(said, granularity, prefix, roles) -> None:
    text = UnitText(prefix=prefix, roles=roles)
    messages = tuple(Message(role=role, text=words, turn=1) for role, words in said)
    whole = text.write(messages)
    for unit in split(Conversation(id="x", messages=messages), granularity, text):
        if unit.text:
            start, end = find_span(messages, unit.first, unit.last, text)
            assert whole[start:end] == unit.text


def test_a_question_is_asked_of_any_stored_conversations(stored: Stored) -> None:
    dataset = stored[0].id
    hits = search(dataset, "cannot log in", "turn", "bm25", k=3)
    assert (hits[0].conversation.id, hits[0].unit.first, hits[0].unit.last) == ("login", 0, 0)
    assert search(dataset, "  ") == search(dataset, "zebra crossings") == []
    with pytest.raises(UnknownName):
        search(dataset, "x", "chapter")
    with pytest.raises(BadOption):
        search(dataset, "x", k=0)
    with pytest.raises(UnknownName):
        search("cdr-nowhere", "x")
    whole = document(dataset, "corpus", "login")
    assert whole.startswith("user: I cannot log in\nassistant: ")
    sample = next(s for s in stored[1] if s.inputs["query_id"] == "q2" and s.task == "turn")
    for options in ({}, {"prefix": False}, {"side": "customer"}):
        output = attempt_of(sample, llm.load("retriever:bm25"), **options).output
        start, end = output["spans"][output["ranked"].index("login")]
        assert whole[start:end] == "user: I cannot log in"


def test_vectors_are_made_before_the_first_query_where_they_take_time(stored: Stored, monkeypatch) -> None:
    from cxlab.retrieval.embedders.embeddings import Hashing
    from cxlab.retrieval.embedders.vector_cache import CachedEmbedder
    from cxlab.retrieval.retriever import Retriever

    monkeypatch.setattr(fitted, "load", lambda name, _="": Retriever(name, "exact", CachedEmbedder(Hashing())))
    told = list(prepare(stored[1], CdrOptions.read({}), "retriever:slow"))
    # Windows of three messages are the whole of these talks, so they are there already.
    assert {what for _, _, what in told} == {"sessions embedded", "turns embedded"}
    assert list(prepare(stored[1], CdrOptions.read({}), "retriever:slow")) == []
    assert list(prepare(stored[1], CdrOptions.read({}), "retriever:bm25")) == []
    about = open_index(stored[0].id, "slow", "turn").about
    assert (about["dimensions"], about["chunks"], about["documents"]) == (1024, 18, 6)


def test_what_a_run_will_ask_is_told_before_it_starts(stored: Stored) -> None:
    options = CdrOptions.read({})
    rows = BENCHMARK.estimate(stored[1], options, {"agent": ["retriever:bm25"]})
    assert [(row.calls, row.prompt_tokens) for row in rows] == [(0, 0)]
    (row,) = BENCHMARK.estimate(stored[1], options, {"agent": ["endpoint:any"]})
    assert row.calls == len(stored[1])
    assert row.prompt_tokens > 100 * row.calls


def test_the_written_corpus_is_a_dataset_whose_gold_holds(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    dataset, samples = get("cdr").generate_now({})
    assert [complaint for sample in samples for complaint in check(sample)] == []
    assert dataset.config["queries"] == len(samples) / 3
    assert replace(BENCHMARK).generate_now({}, seed=7)[0].id == dataset.id


def test_small_things() -> None:
    assert cut_middle("abcdef", 4) == "ab\n[2 characters are left out]\nef"
    assert read_size("written") is None
    assert read_size("9146") == 9146
    for wrong in ("", "12", "1e3", "-5", "99999999"):
        with pytest.raises(BadOption):
            read_size(wrong)


def test_a_runs_table_has_intervals_by_area_and_what_was_odd(stored: Stored) -> None:
    from cxlab.benchmarks.cdr import run_figures
    from cxlab.runner.launch import ExecutionOptions, launch
    from cxlab.runner.request import RunRequest, create_runs

    runs = create_runs(RunRequest("cdr", ("retriever:bm25", "retriever:hub"), dataset_id=stored[0].id))
    launch([run.id for run in runs], ExecutionOptions(quiet=True, workers=1))
    tables = {run.model: run_figures.list_figures(run.id, {}) for run in runs}
    expected = evaluate(CORPUS, QUERIES, RELEVANT, retrieval.load("bm25"), "session")
    whole = next(r for r in tables["retriever:bm25"] if (r["granularity"], r["area"]) == ("session", "all areas"))
    assert whole["ndcg@10"] == pytest.approx(100 * expected.metrics["ndcg@10"])
    interval = expected.interval("ndcg@10")
    assert (whole["n"], whole["units"], whole["empty"], whole["cut"]) == (4, 6, 0, 0)
    assert whole["from"] == pytest.approx(100 * interval.low)
    by_area = {r["area"]: r["n"] for r in tables["retriever:bm25"] if r["granularity"] == "turn"}
    assert by_area == {"all areas": 4, "Emotion & Feedback": 1, "Intent & Purpose": 2, "Conversation Dynamics": 1}
    # The hub puts one conversation before all others, whatever is asked.
    hub = next(r for r in tables["retriever:hub"] if (r["granularity"], r["area"]) == ("session", "all areas"))
    assert hub["hubs"] == len(evaluate(CORPUS, QUERIES, RELEVANT, retrieval.load("hub"), "session").hubs)
    with pytest.raises(BadOption):
        run_figures.list_figures(runs[0].id, {"by": "x"})


def test_a_dataset_stands_beside_the_papers_sizes(stored: Stored) -> None:
    from cxlab.benchmarks.cdr.corpus import statistics

    found = statistics.measure(stored[0])
    assert (found["conversations"], found["queries"], found["pairs"], found["relevant"]) == (6, 4, 5, 1.25)
    assert found["messages"] == 3
    assert found["area:intent_purpose"] == 50
    texts = [UnitText().write(each.messages) for each in CORPUS.values()]
    assert found["tokens"] == pytest.approx(sum(map(tokens, texts)) / 6)
    table, domains = BENCHMARK.dataset_figures(stored[0])
    assert table.frame.height == 6 + 5
    assert domains.frame.is_empty()
    assert f"send {stored[0].id} domain" in domains.lacking
    assert len(BENCHMARK.describe(stored[0])) == 1 + table.frame.height + 1
