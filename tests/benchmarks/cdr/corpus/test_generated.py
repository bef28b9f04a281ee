"""Made conversations: what happens in them is known, backwards too, and is asked for in other words."""

import re
from collections import Counter
from pathlib import Path

import pytest

from cxlab.benchmarks.cdr.benchmark import check, generate, plan
from cxlab.benchmarks.cdr.corpus import generated
from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.corpus.happenings import load_happenings
from cxlab.benchmarks.cdr.options import CdrDataset
from cxlab.benchmarks.cdr.queries.templates import AREA_SHARES
from cxlab.benchmarks.cdr.simulated.writing import find_steps, load_phrases
from cxlab.benchmarks.generation import GenerationContext
from cxlab.benchmarks.generation.stages import finish
from cxlab.errors import BadOption
from cxlab.llm import load
from cxlab.llm.base import Completion, Request
from cxlab.records import Conversation


@pytest.fixture(scope="module")
def made() -> tuple[list[generated.PlannedConversation], generated.GeneratedCorpus]:
    plans = generated.plan(400, 3)
    talks = finish(generated.write(plans, load("simulated:strong"), 3))
    return plans, generated.ask_for(plans, talks, 3)


def lines_of(talk: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in talk.messages]


def test_relevance_is_what_was_planned_and_was_really_said(made) -> None:
    plans, corpus = made
    planned = {one.id: one for one in plans}
    assert corpus.conversations.keys() == planned.keys()
    known = load_happenings().happenings
    texts = {(text, topic): name for name, one in known.items() for text in one.queries
             for topics in load_happenings().topics.values() for topic in topics}  # fmt: skip
    asked = {text.format(topic=topic): (name, topic) for (text, topic), name in texts.items()}
    for query, text in corpus.queries.items():
        name, topic = asked[text]
        assert corpus.relevant[query] == {one.id for one in plans if name in one.happenings and one.topic == topic}
        assert corpus.areas[query] == known[name].area
        assert 1 <= len(corpus.relevant[query]) <= generated.MOST_RELEVANT
    for one in plans[:60]:
        talk = corpus.conversations[one.id]
        said = lines_of(talk)
        assert one.topic in said[0][1]
        assert [role for role, _ in said] == ["customer", "agent"] * (len(said) // 2)
        for name in one.happenings:
            places = [
                next(at for at, (role, text) in enumerate(said)
                     if role == ("customer" if step.user else "agent") and text in (step.user or step.assistant or ()))
                for step in find_steps(name)
            ]  # fmt: skip
            assert places == sorted(places)


def test_backwards_has_the_same_words_in_the_opposite_order() -> None:
    known = load_happenings().happenings
    reversals = [(name, one.backwards) for name, one in known.items() if one.backwards]
    assert len(reversals) == 3
    for name, other in reversals:
        assert find_steps(name) == find_steps(other)[::-1]
        assert known[name].area == known[other].area == "conversation_dynamics"
    # Every happening can be said, and nobody says what cannot happen.
    assert {name for name, one in known.items() if not one.backwards} == {*load_phrases().steps}
    # The same words by the other side, so that only who says it tells them apart.
    sides = {name: [(bool(step.user), step.user or step.assistant) for step in find_steps(name)] for name in known}
    assert sides["user_apologises"][0][1] == sides["assistant_apologises"][0][1]
    assert sides["user_apologises"][0][0] != sides["assistant_apologises"][0][0]


def test_queries_share_no_run_of_four_words_with_what_writers_are_told() -> None:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", text.casefold())
        return {tuple(words[at : at + 4]) for at in range(len(words) - 3)}

    for name, one in load_happenings().happenings.items():
        for query in one.queries:
            assert not runs(query) & runs(one.means), (name, query)


def test_the_same_seed_gives_the_same_and_areas_are_as_in_the_paper(made) -> None:
    plans, corpus = made
    assert generated.plan(400, 3) == plans
    assert generated.plan(400, 4) != plans
    assert generated.ask_for(plans, corpus.conversations, 3) == corpus
    whole = generated.plan(9146, 1)
    talks = {one.id: Conversation(id=one.id, messages=()) for one in whole}
    large = generated.ask_for(whole, talks, 1)
    assert len(large.queries) == 1583
    counts = Counter(large.areas.values())
    for area, share in AREA_SHARES.items():
        assert counts[area] / 1583 == pytest.approx(share / sum(AREA_SHARES.values()), abs=0.002)


def test_a_generated_dataset_is_stored_with_gold_that_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    options = CdrDataset.read({"size": "100"})
    found = finish(generate(options, GenerationContext(seed=2)))
    assert [complaint for sample in found.samples for complaint in check(sample)] == []
    assert len(load_corpus(found.dataset.id)) == 100
    assert finish(generate(options, GenerationContext(seed=2))).dataset.id == found.dataset.id
    assert not list((tmp_path / "work").glob("*/"))
    with pytest.raises(BadOption):
        finish(generate(CdrDataset.read({"size": "many"}), GenerationContext()))
    assert plan(options, GenerationContext()) is None
    cost = plan(CdrDataset.read({"size": "100", "model": "openai:gpt-4.1"}), GenerationContext())
    assert cost is not None
    assert cost.calls == 100


class Writer:
    """A real writer that delivers, now and then, what cannot be read."""

    simulated, name = False, "endpoint:writer"

    def __init__(self, refused: str) -> None:
        self.asked, self.refused = list[str](), refused

    async def complete(self, request: Request) -> Completion:
        self.asked.append("\n".join(message["content"] for message in request.messages))
        if self.refused in self.asked[-1]:
            return Completion("I would rather not")
        return Completion('{"messages": [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hello"}]}')

    async def aclose(self) -> None:
        pass


def test_a_real_writer_is_told_what_happens_and_not_how_it_is_asked_for(tmp_path: Path) -> None:
    plans = generated.plan(10, 1)
    writer = Writer(plans[0].topic)
    talks = finish(generated.write(plans, writer, 1, tmp_path))
    assert talks.keys() == {one.id for one in plans if one.topic != plans[0].topic}
    known = load_happenings().happenings
    for one in plans:
        asked = next(each for each in writer.asked if one.topic in each and known[one.happenings[0]].means in each)
        assert all(known[name].means in asked for name in one.happenings)
        assert not any(
            query.format(topic=one.topic) in asked for name in one.happenings for query in known[name].queries
        )
        assert not any(name in asked for name in known)
    # What was paid for is not asked again.
    again = Writer("")
    assert finish(generated.write(plans, again, 1, tmp_path)) == talks
    assert again.asked == []
