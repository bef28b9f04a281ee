"""Tree, articles, tools and the refinement corpus: sound, deterministic, resumable, varied, free of contradictions."""

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import fact_statements, ledger, pack_files
from cxlab.benchmarks.cxmarena.knowledge import article_prompts, article_writer, refinement_corpus, topic_tree
from cxlab.benchmarks.generation import stages
from cxlab.errors import BadOption
from cxlab.files import grammar
from cxlab.metrics import text_statistics as stats
from cxlab.metrics.text_statistics import SENTENCE

MODEL = llm.load("simulated:strong")
_MADE: dict[str, Any] = {}


def make(name: str, size: int = 90, issues: int = 50, seed: int = 1) -> tuple[Any, Any, Any, Any]:
    key = f"{name} {size} {issues} {seed}"
    if key not in _MADE:
        pack = pack_files.load(name)
        facts = ledger.make(pack, seed, topic_tree.plan(pack, size, issues))
        topics = stages.finish(topic_tree.grow(facts, MODEL, size, seed))
        found = stages.finish(article_writer.write_information(facts, topics, MODEL, seed))
        plans = article_writer.plan_issues(facts, topics, issues, seed)
        found += stages.finish(article_writer.write_issues(facts, plans, MODEL, seed, first=len(found) + 1))
        _MADE[key] = (facts, topics, plans, found)
    return _MADE[key]


NAMES = ("hearthwise", "solvanne", "talvero")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [20, 90, 300])
def test_the_tree_has_the_size_asked_for_and_is_in_order(name: str, size: int) -> None:
    pack = pack_files.load(name)
    topics = stages.finish(topic_tree.grow(ledger.make(pack, 1, topic_tree.plan(pack, size)), MODEL, size, 1))
    assert len(topics) == size
    seen: set[str] = set()
    for topic in topics:
        assert topic.parent is None or topic.parent in seen
        assert set(topic.after) <= seen
        assert topic.depth == len(topic.path)
        seen.add(topic.id)
    assert len(seen) == size
    if size > 50:
        assert len({t.depth for t in topics if t.id not in {c.parent for c in topics}}) > 2  # the depth varies
        assert any(t.after for t in topics)


def test_a_tree_that_is_too_small_is_refused() -> None:
    with pytest.raises(BadOption, match="7 information articles; a brand needs at least 20"):
        topic_tree.plan(pack_files.load("talvero"), 7)


def test_near_duplicate_topics_are_pruned_with_what_hangs_below() -> None:
    def topic(key: str, parent: str | None, title: str, text: str) -> topic_tree.Topic:
        return topic_tree.Topic(key, parent, title, text, 1, (title,), "products", "f", "m", "s")

    one = topic("a", None, "Price and availability", "What it costs and when it is in stock.")
    two = topic("b", None, "Availability and price", "When it is in stock and what it costs.")
    below = topic("c", "b", "Discounts", "Who pays less.")
    other = topic("d", None, "Price and availability", "Entirely different matters are dealt with in here.")
    assert [t.id for t in topic_tree.prune([one, two, below, other])] == ["a", "d"]


def test_a_cycle_among_topics_is_named() -> None:
    def topic(key: str, after: str) -> topic_tree.Topic:
        return topic_tree.Topic(key, None, key, "", 1, (key,), "products", after=(after,))

    with pytest.raises(BadOption, match="cyclic precursor: a → b → a"):
        topic_tree.order([topic("a", "b"), topic("b", "a")])


@pytest.mark.parametrize("name", NAMES)
def test_clean_articles_state_facts_of_the_ledger_only(name: str) -> None:
    facts, topics, plans, found = make(name)
    assert article_writer.check(found, facts) == []
    assert len(found) == len(topics) + len(plans) == 140
    assert [a.id for a in found] == [f"KB_{n}" for n in range(1, 141)]
    stated = 0
    for article in found:
        told = {f for f, _ in article_writer.statements(article, facts)}
        assert told <= set(article.properties["facts"])
        stated += len(told)
    assert stated > 4 * len(found)


def test_the_check_sees_a_contradiction() -> None:
    facts, _, _, found = make("hearthwise")
    article = next(a for a in found if a.properties["subject"] and facts.get(a.properties["subject"], "price"))
    subject = article.properties["subject"]
    spoilt = article.model_copy(update={"body": f"{article.body}\n\n{subject} costs £3.17 today."})
    told = article_writer.check([spoilt], facts)
    assert told == [f"{article.id} ({article.title}): states ('{subject}', 'price', 3.17)"]
    assert article_writer.drop_contradictions(spoilt.body, facts, subject) == article.body


@pytest.mark.parametrize("name", NAMES)
def test_stand_ins_say_each_thing_once_and_stop(name: str) -> None:
    _, _, _, found = make(name)
    assert stats.near_duplicates([a.body for a in found]) == []
    for article in found:
        assert "<" not in article.body
        assert "|" not in article.body
        assert "  " not in article.body
        parts = article_writer.sections(article.body)
        assert all(text for _, text in parts)
        sentences = [s for _, text in parts for s in SENTENCE.split(text)]
        assert len(sentences) == len(set(sentences)), article.title


@pytest.mark.parametrize("name", NAMES)
def test_issues_carry_steps_and_tools(name: str) -> None:
    facts, _, plans, found = make(name)
    tools = article_writer.define_tools(facts.brand, plans)
    assert len(tools) == 150
    names = [t["function"]["name"] for t in tools]
    assert len(set(names)) == len({t["function"]["description"] for t in tools}) == 150
    assert {n for p in plans for n in p.tools} <= set(names)
    for tool in tools:
        assert tool["type"] == "function"
        schema = tool["function"]["parameters"]
        assert schema["required"] == list(schema["properties"]) != []
        assert schema["additionalProperties"] is False
        assert json.dumps(tool)
    issues = [a for a in found if a.kind == "issue"]
    assert sum(bool(a.tools) for a in issues) > 0.9 * len(issues)
    for article in issues:
        assert "\n1. " in article.body
        assert "\n3. " in article.body
        for tool in article.tools:
            assert f"[{tool['function']['name']}]" in article.body


def test_the_same_seed_gives_the_same_articles() -> None:
    first = [a.body for a in make("talvero", 30, 10)[3]]
    _MADE.pop("talvero 30 10 1")
    assert [a.body for a in make("talvero", 30, 10)[3]] == first
    assert [a.body for a in make("talvero", 30, 10, seed=2)[3]] != first


def test_a_stage_goes_on_where_it_stopped(tmp_path: Path) -> None:
    pack = pack_files.load("solvanne")
    facts = ledger.make(pack, 1, topic_tree.plan(pack, 90))
    topics = stages.finish(topic_tree.grow(facts, MODEL, 90, 1))
    whole = [a.body for a in stages.finish(article_writer.write_information(facts, topics, MODEL, 1))]
    started = article_writer.write_information(facts, topics, MODEL, 1, tmp_path)
    told = list(itertools.islice(started, 3))
    assert told == [stages.Progress("information", n, 90) for n in (0, 32, 64)]
    started.close()
    path = tmp_path / "information.jsonl"
    path.write_bytes(path.read_bytes()[:-40])  # a kill tears the last line
    again = article_writer.write_information(facts, topics, MODEL, 1, tmp_path)
    assert next(again) == stages.Progress("information", 63, 90)
    assert [a.body for a in stages.finish(again)] == whole
    assert next(article_writer.write_information(facts, topics, MODEL, 1, tmp_path)).done == 90


@pytest.mark.parametrize("name", NAMES)
def test_the_refinement_gold_is_exactly_what_the_facts_prove(name: str) -> None:
    facts, _, _, found = make(name, 150, 90)
    corpus = stages.finish(refinement_corpus.make(found, facts, MODEL, 145, 1))
    assert refinement_corpus.check(corpus, facts) == []
    assert len(corpus.articles) == len({a.id for a in corpus.articles}) == 145
    assert len(corpus.similar) == round(145 * refinement_corpus.SIMILAR)
    assert len(corpus.contradictory) >= 0.6 * 145 * refinement_corpus.CONTRADICTORY
    kinds = {c["kind"] for c in corpus.changes}
    assert kinds == {"copy", "insertion", "contradiction"}
    by_id = {a.id: a for a in corpus.articles}
    for change in corpus.changes:
        if change["kind"] != "copy":
            assert (
                change["text"] in by_id[change["to"]].body.replace("\n", " ")
                or change["text"] in by_id[change["to"]].body
            )
        else:
            one, two = by_id[change["from"]].body, by_id[change["to"]].body
            assert one != two
            assert topic_tree.alike(topic_tree.words_of(one), topic_tree.words_of(two)) > 0.6
    spoilt = corpus.contradictory[1:]
    corpus.contradictory = spoilt
    assert any("the gold lacks it" in c for c in refinement_corpus.check(corpus, facts))


class Writer:
    """A real model that says what it was told to say."""

    name, simulated, prices = "scripted", False, None

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer, self.asked = answer, []

    async def complete(self, request):
        self.asked.append(request.messages)
        text = self.answer(request.messages[-1]["content"])
        return llm.base.Completion(text, (), llm.base.Usage(calls=1), 0.0, "stop")

    async def aclose(self) -> None: ...


def listed(prompt: str) -> list[str]:
    return prompt.partition("Facts that have to be stated:\n")[2].partition("\n\n")[0].replace("- ", "").splitlines()


def test_a_real_model_that_invents_facts_is_asked_again_and_then_mended() -> None:
    facts, topics, _, _ = make("talvero")
    topic = next(t for t in topics if t.subject == "Fjord Mini")
    model = Writer(lambda prompt: "\n\n".join(["Title", "Fjord Mini kostet 1,00 €. It stays.", *listed(prompt)]))
    found = stages.finish(article_writer.write_information(facts, [topic], model, 1))
    assert len(model.asked) == article_writer.TRIES
    assert "It says what is not so: Fjord Mini preis 1.0." in model.asked[1][-1]["content"]
    assert found[0].body.startswith("Title\n\nIt stays.\n\n")


def test_an_article_is_asked_for_again_until_it_states_its_facts() -> None:
    facts, topics, _, _ = make("talvero")
    topic = next(t for t in topics if t.subject == "Fjord Mini")
    said: list[str] = []

    def forgetful(prompt: str) -> str:
        said.append(prompt)
        told = listed(prompt)
        return "Fjord Mini\n\n" + " ".join(told[:-1] if len(said) == 1 else told)

    model = Writer(forgetful)
    article = stages.finish(article_writer.write_information(facts, [topic], model, 1))[0]
    lacking = listed(said[0])[-1]
    assert len(said) == 2
    assert f"It does not state this: {lacking}" in said[1]
    assert lacking in article.body
    # The notes and the comparisons were left out: what an article does not state is none of its facts.
    assert fact_statements.missing(article.body, facts, article.properties["facts"], "Fjord Mini") == []
    own = {fact.id for fact in article_writer.information_inputs(facts, topic, [], 1)[0].facts}
    assert own <= set(article.properties["facts"])


def test_a_writer_of_empty_articles_is_given_up_before_much_is_paid() -> None:
    facts, topics, _, _ = make("talvero")
    model = Writer(lambda prompt: "All is well.")
    with pytest.raises(article_writer.HollowArticles, match=r"scripted left out .* it wrote 'All is well\.'"):
        stages.finish(article_writer.write_information(facts, topics, model, 1))
    assert len(model.asked) <= article_writer.TRIES * stages.CHUNK
    one = iter([""])
    careful = Writer(lambda prompt: next(one, None) or f"Title\n\n{' '.join(listed(prompt))}")
    few = [t for t in topics if t.subject][:6]
    found = stages.finish(article_writer.write_information(facts, few, careful, 1))
    assert len(found) == len(few)
    stubborn = Writer(lambda p: "Nothing." if few[2].title in p.partition("\n")[0] else f"T\n\n{' '.join(listed(p))}")
    kept = stages.finish(article_writer.write_information(facts, few, stubborn, 1))
    assert 0 < len(kept) < len(few)
    ids = {article.id for article in kept}
    assert ids == {f"KB_{n}" for n in range(1, len(kept) + 1)}
    assert all(set(near) <= ids for article in kept for near in article.relations.values())


def test_what_a_real_writer_reads_holds_no_tags_and_no_empty_lists() -> None:
    facts, topics, plans, _ = make("hearthwise")
    pairs = [(article_prompts.INFORMATION, article_writer.information_inputs(facts, t, [], 1)[0]) for t in topics]
    pairs += [(article_prompts.ISSUE, article_writer.issue_inputs(facts, p, 1)[0]) for p in plans]
    for prompt, inputs in pairs:
        text = "\n".join(message["content"] for message in prompt.render(inputs))
        assert not re.search(r"<\w+>|\[also|\[answers|\[remark|\{\{|\{%", text)
        assert not re.search(r":\n\n\n|:\n\n[A-Z][^\n]*:\n", text), text
        assert "\n- \n" not in text


def test_mending_takes_a_sentence_and_leaves_the_numbered_steps_in_their_lines() -> None:
    facts, *_ = make("hearthwise")
    subject = next(f.subject for f in facts.facts.values() if f.property == "price")
    steps = f"1. Open the box. Take your time.\n2. Look inside. {subject} costs £3.17 today.\n3. Close it again."
    body = f"What to do\n\n{steps}"
    assert article_writer.drop_contradictions(body, facts, subject) == body.replace(
        f" {subject} costs £3.17 today.", ""
    )


def test_a_word_inside_another_is_no_value() -> None:
    facts, *_ = make("hearthwise")
    subject = next(f.subject for f in facts.facts.values() if f.property == "colour")
    wrong = next(o for o in facts.brand.properties["colour"].options if o == "oat")
    said = {
        value for _, name, value in fact_statements.find_facts(f"Milk the goat to a fine colour, {subject}.", facts)
    }
    assert said == set()
    told = {value for _, name, value in fact_statements.find_facts(f"{subject} comes in the colour {wrong}.", facts)}
    assert told == {wrong}


def test_a_remark_stands_behind_its_fact_and_an_issue_has_hints_of_its_family() -> None:
    facts, _, plans, found = make("hearthwise")
    remarks = [grammar.every(x) for x in facts.brand.properties["price"].remarks if not grammar.slot_names(x)]
    assert any(f"{said}." in a.body for a in found for lines in remarks for said in lines)
    hints = article_writer.issue_inputs(facts, plans[0], 1)[0].notes
    issue = next(a for a in found if a.title == plans[0].title)
    assert hints
    assert all(hint.text.rstrip(" .")[1:] in issue.body for hint in hints)
