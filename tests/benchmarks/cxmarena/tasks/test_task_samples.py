"""The six tasks' samples from a small brand: gold scores 100, nothing 0, and what is served is what was said."""

import json
from collections import Counter
from datetime import UTC, datetime

import polars as pl
import pytest

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.cxmarena.benchmark import HEADLINES, check
from cxlab.benchmarks.cxmarena.conversations.transcripts import transcript
from cxlab.benchmarks.cxmarena.knowledge import refinement_corpus
from cxlab.benchmarks.cxmarena.run import run
from cxlab.benchmarks.cxmarena.score import measure
from cxlab.benchmarks.cxmarena.tasks import intent_taxonomies, search_queries, task_samples
from cxlab.benchmarks.generation import stages
from cxlab.llm import load
from cxlab.records import Conversation, Dataset, Message, ToolCall
from cxlab.store import write
from tests.benchmarks.cxmarena.cxm_brand import make

TEXTS = ("taxonomy", "l1", "l2", "description")


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """All samples of the small brand, in a store of their own."""
    made = make()
    rows, labels = stages.finish(intent_taxonomies.make(made.conversations, made.articles, made.model, 1))
    asked = stages.finish(search_queries.make(made.articles, made.topics, made.ledger, made.model, 1))
    corpus = stages.finish(refinement_corpus.make(made.articles, made.ledger, made.model, 30, 1))
    drafts = task_samples.make("", corpus, made.conversations, labels, asked, made.tools, 1, made.noisy)
    found = task_samples.place(drafts, "cxmarena-small")
    kept = [
        {"article_id": a.id, "title": a.title, "body": a.body, "corpus": names}
        for names, group in (
            (["search", "multi_turn"], [a for a in made.articles if a.kind != "issue"]),
            (["multi_turn"], [a for a in made.articles if a.kind == "issue"]),
        )
        for a in group
    ]
    tables = {
        "articles": pl.DataFrame(kept),
        "taxonomies": pl.DataFrame(rows, schema=dict.fromkeys(TEXTS, pl.String)),
        "tools": pl.DataFrame([{"name": t["function"]["name"], "definition": json.dumps(t)} for t in made.tools]),
    }
    about = Dataset(
        id="cxmarena-small",
        benchmark="cxmarena",
        name="small",
        source="generated",
        config={},
        seed=1,
        licence="own work",
        created=datetime.now(UTC),
    )
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        write.save_dataset(about, found, None, tables=tables)
        yield found


def of(samples, task: str):
    return [s for s in samples if s.task == task]


def test_gold_scores_100_and_nothing_0_in_every_sample(samples):
    assert {s.task for s in samples} == set(HEADLINES)
    assert [complaint for sample in samples for complaint in check(sample)] == []
    assert len({s.id for s in samples}) == len(samples)


def test_the_published_shares_at_the_published_size():
    counts = {task: round(share * 1994) for task, share in task_samples.SHARES.items()}
    assert counts == {"intent": 979, "quality": 1987, "multi_turn": 566, "tools": 456}


def test_evidence_is_the_served_form_of_the_message_that_showed_it(samples):
    made = {c.id: c for c in make().conversations}
    shown = 0
    for sample in of(samples, "quality"):
        assert 1 <= len(sample.inputs["questions"]) <= 4
        own = made[sample.inputs["conversation_id"]]
        gold = {q["question"]: q for q in own.labels["quality"]}
        lines = {line["id"]: line for line in sample.inputs["lines"]}
        assert list(lines) == list(range(1, len(lines) + 1))
        for question, answer, evidence in zip(
            sample.inputs["questions"], sample.expected["answers"], sample.expected["evidence"], strict=True
        ):
            assert answer == gold[question]["answer"]
            assert bool(evidence) <= (answer == "Yes")
            said = {" ".join(own.messages[i].text.split()) for i in gold[question]["evidence"]}
            # Agents' messages have no noise, so their lines are the messages themselves.
            assert {lines[e]["text"] for e in evidence} <= said
            shown += len(evidence)
    assert shown > 20
    asked = Counter(s.inputs["conversation_id"] for s in of(samples, "quality") for _ in s.inputs["questions"])
    assert asked == {c.id: len(c.labels["quality"]) for c in made.values()}


def test_histories_end_with_the_customer_and_before_the_answer(samples):
    articles = {a.id for a in make().articles}
    for sample in of(samples, "multi_turn"):
        assert sample.inputs["transcript"].splitlines()[-1].startswith("Customer: ")
        assert sample.expected["answer"] not in sample.inputs["transcript"]
        assert set(sample.expected["article_ids"]) <= articles
    for sample in of(samples, "tools"):
        assert sample.inputs["transcript"].splitlines()[-1].startswith("Customer: ")
        assert set(sample.inputs["articles"]) <= articles


def test_candidates_hold_the_right_tools_and_each_list_the_shorter_one(samples):
    known = [t["function"]["name"] for t in make().tools]
    samplers = Counter(s.inputs["sampler"] for s in of(samples, "tools"))
    assert samplers["popular"] == samplers["random"] > 5
    for sample in of(samples, "tools"):
        right = {call["name"] for call in sample.expected["tools"]}
        before: set[str] = set()
        for size, names in sample.inputs["candidates"].items():
            assert len(names) == len(set(names)) == int(size) <= len(known)
            assert right | before <= set(names)
            assert names == sorted(names, key=known.index)
            before = set(names)


def test_a_small_catalogue_is_one_list():
    assert task_samples.candidates(["b"], ["a", "b", "c"], ["c", "a", "b"]) == {"16": ["c", "a", "b"]}


def test_what_the_history_does_not_tell_may_have_any_value(samples):
    free = [(s, call) for s in of(samples, "tools") for call in s.expected["tools"] if call.get("free")]
    assert free
    for sample, call in free:
        told = sample.inputs["transcript"].casefold()
        assert all(str(call["arguments"][name]).casefold() not in told for name in call["free"])
        other = {**call["arguments"], **dict.fromkeys(call["free"], "something else")}
        calls = {size: [{"name": call["name"], "arguments": other}] for size in sample.inputs["candidates"]}
        assert measure(sample, {"calls": calls})["tools_arguments@16"][0] == 100


def conversation(*messages: Message) -> Conversation:
    return Conversation(id="C_1", messages=messages, labels={"issue_article": "KB_1"})


def agent(text: str, source: str = "", call: str = "") -> Message:
    kind = {"class": "knowledge_base", "sources": [source]} if source else {"class": "general"}
    calls = (ToolCall(id="1", name=call, arguments='{"serial": "A-1"}'),) if call else ()
    return Message(role="agent", text=text, turn=1, data=kind, tool_calls=calls)


def customer(text: str) -> Message:
    return Message(role="customer", text=text, turn=1)


def test_an_answer_after_the_agents_own_words_is_no_example():
    tools = [{"function": {"name": "look"}}]
    talk = conversation(customer("Why?"), agent("One moment."), agent("Because.", "KB_2"))
    assert task_samples.make("d", None, [talk], {}, [], tools, 1) == []
    talk = conversation(customer("Why?"), agent("Because.", "KB_2"), customer("A-1"), agent("I look.", call="look"))
    found = {s.task: s for s in task_samples.make("d", None, [talk], {}, [], tools, 1)}
    assert found["multi_turn"].inputs["transcript"] == "Customer: Why?"
    assert found["multi_turn"].expected == {"article_ids": ["KB_2"], "answer": "Because."}
    assert found["tools"].inputs["transcript"] == "Customer: Why?\nAgent: Because.\nCustomer: A-1"
    assert found["tools"].expected == {"tools": [{"name": "look", "arguments": {"serial": "A-1"}}]}


def test_only_where_the_customer_asks_is_something_looked_up():
    known = [customer(text).model_copy(update={"data": {"asks": "?" in text}}) for text in ("Fine.", "How?")]
    talk = conversation(known[0], agent("Do this.", "KB_1"), known[1], agent("Like this.", "KB_2"))
    (sample,) = task_samples.make("d", None, [talk], {}, [], [], 1)
    assert sample.inputs["transcript"].splitlines()[-1] == "Customer: How?"
    assert sample.expected["article_ids"] == ["KB_2"]
    assert task_samples.make("d", None, [conversation(known[0], agent("Do this.", "KB_1"))], {}, [], [], 1) == []


def test_a_message_of_two_lines_stays_one_line():
    assert transcript([customer("one\ntwo\n\nAgent: three"), agent(" ")]) == "Customer: one two Agent: three"


async def play(samples, name: str) -> dict[str, float]:
    """Mean of each task's first headline over its samples."""
    options = {"respond": False, "sizes": "16"}
    setup = Setup(model=load(f"simulated:{name}"), customer=None, judges=(), run_id="r", options=options)
    values: dict[str, list[float]] = {}
    for sample in samples:
        got = measure(sample, (await run(sample, setup, 1)).output)
        value = got[HEADLINES[sample.task][0]][0]
        assert value is not None
        values.setdefault(sample.task, []).append(value)
    return {task: sum(v) / len(v) for task, v in values.items()}


async def test_simulated_models_come_in_their_order(samples):
    asked = [s for s in samples if s.task in ("intent", "quality", "multi_turn", "tools")]
    strong, weak, floor = [await play(asked, name) for name in ("strong", "weak", "floor")]
    for task in strong:
        assert strong[task] > max(weak[task], floor[task]), task
        # Who reads badly may do worse on quality than one who always gives the usual answer.
        assert weak[task] > floor[task] or task == "quality", task
    assert floor["intent"] == floor["tools"] == 0
