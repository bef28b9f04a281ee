"""Conversations that real models write: what is kept of them holds, and what cannot be kept is left out."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.conversations import (
    conversation_plan,
    conversation_writer,
    personas,
    phrasebook,
    written_dialogue,
)
from cxlab.benchmarks.cxmarena.conversations import written_dialogue_prompts as prompts
from cxlab.benchmarks.cxmarena.evaluation import evaluation_prompts
from cxlab.benchmarks.cxmarena.generation import pipeline
from cxlab.benchmarks.generation import stages
from cxlab.benchmarks.prompt_renderings import RecordingModel
from cxlab.errors import CxError
from cxlab.records import Conversation
from tests.benchmarks import prompt_rules
from tests.benchmarks.cxmarena import cxm_brand, strong_writer
from tests.goldens import prompts as goldens

Reply = Callable[[str, str], dict[str, Any]]


class Writer:
    """A model that answers as the strong writer does, but for one side."""

    name, simulated, prices = "scripted", False, None

    def __init__(self, agent: Reply = strong_writer.agent, customer: Reply = strong_writer.customer) -> None:
        self.agent, self.customer = agent, customer
        self.asked: list[tuple[str, str]] = []

    async def complete(self, request):
        system, user = (message["content"] for message in request.messages)
        self.asked.append((system, user))
        side = {prompts.AGENT_MESSAGE.name: self.agent, prompts.CUSTOMER_MESSAGE.name: self.customer}
        reply = side.get(request.prompt.name)
        body = {"messages": request.messages}
        text = json.dumps(reply(system, user)) if reply else strong_writer.answer(body)
        return llm.base.Completion(text, (), llm.base.Usage(calls=1), 0.0, "stop")

    async def aclose(self) -> None: ...


def write(model: Any, count: int = 4) -> list[Conversation]:
    made = cxm_brand.make()
    cases = conversation_plan.plan_conversations(made.ledger, made.articles, made.tools, count, 1)
    stage = conversation_writer.write_conversations(made.ledger, made.articles, made.tools, cases, model, 1)
    return stages.finish(stage)


@pytest.fixture(scope="module")
def talks() -> list[Conversation]:
    return write(Writer(), 12)


def test_what_an_agent_says_stands_where_it_is_said_to_stand(talks: list[Conversation]) -> None:
    made = cxm_brand.make()
    articles = {a.id: " ".join(a.body.split()) for a in made.articles}
    assert len(talks) == 12
    for talk in talks:
        assert talk.grounding
        for place, sources in talk.grounding.items():
            message = talk.messages[place]
            assert message.role == "agent"
            for passage in message.data["passages"]:
                assert any(" ".join(passage.split()) in articles[source] for source in sources)
            for fact in message.data["facts"]:
                assert made.ledger.show(made.ledger.facts[fact]).lower() in message.text.lower()


def test_tools_get_what_the_customer_told_and_their_results_steer_what_follows(talks: list[Conversation]) -> None:
    called = 0
    for talk in talks:
        for place, message in enumerate(talk.messages):
            told = " ".join(m.text for m in talk.messages[:place])
            for call in message.tool_calls:
                called += 1
                assert message.data["class"] == "tool_call"
                for value in json.loads(call.arguments).values():
                    assert not any(c.isdigit() for c in value) or value in told
                result, report = talk.messages[place + 1], talk.messages[place + 2]
                assert result.role == "tool"
                assert next(iter(result.data["result"].values())) in report.text
    assert called >= 6


def test_a_day_is_told_in_words_and_called_for_in_figures() -> None:
    made = cxm_brand.make()
    case = conversation_plan.plan_conversations(made.ledger, made.articles, made.tools, 1, 1)[0]
    visit = replace(case, tools=("reschedule_delivery",))
    stage = conversation_writer.write_conversations(made.ledger, made.articles, made.tools, [visit], Writer(), 1)
    talk = stages.finish(stage)[0]
    [call] = [call for message in talk.messages for call in message.tool_calls]
    day = json.loads(call.arguments)["date"]
    told = " ".join(message.text for message in talk.messages if message.role == "customer")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", day)
    assert f"Day: {personas.spoken_day(day, made.ledger.brand)}" in told
    assert day not in told


def test_details_are_noted_where_they_come_out(talks: list[Conversation]) -> None:
    for talk in talks:
        masked = {one["detail"]: one["value"] for one in talk.persona["customer"]["masked"]}
        for message in talk.messages:
            for name in message.data.get("details", ()):
                assert masked[name].lower().rstrip(".") in message.text.lower()
        assert talk.messages[0].data["details"] == [] or talk.messages[0].text


def test_quality_answers_have_evidence_in_what_was_said(talks: list[Conversation]) -> None:
    for talk in talks:
        for one in talk.labels["quality"]:
            assert one["answer"] in ("Yes", "No", "NA")
            assert bool(one["evidence"]) == (one["answer"] == "Yes")
            assert all(talk.messages[place].role in ("agent", "customer") for place in one["evidence"])


def test_neither_side_reads_the_other_sides_card() -> None:
    model = Writer()
    write(model, 3)
    customers = [system for system, _ in model.asked if "a customer of" in system]
    agents = [(system, user) for system, user in model.asked if "a service agent of" in system]
    assert customers
    assert agents
    for system, user in agents:
        said = strong_writer.between(user, "The conversation so far:\n", "\n\nYour next message:")
        for card in customers:
            for detail in strong_writer.listed(card, strong_writer.KNOWN):
                value = detail.partition(": ")[2]
                assert not re.search(r"YYYY|\d{4}-\d\d", detail)
                assert not any(c.isdigit() for c in value) or value not in system or value in said
    for system, _ in model.asked:
        assert "<" not in system.replace("<think>", "")
        assert "None" not in system


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        ({"message": "Ember Mini costs £3.17."}, "No article states Ember Mini price 3.17."),
        (
            {"kind": "knowledge_base", "sources": [{"article": "KB_1", "words": "Nobody ever wrote this down."}]},
            "no sentence that was named stands in them word for word",
        ),
        ({"kind": "general", "call": {"name": "fly_home", "arguments": {}}}, "There is no fly_home."),
        ({"kind": "tool_call", "call": None}, "A message of the kind tool_call makes a call"),
        ({"message": "I use every one of TOOLS for you."}, "leave out what systems call it"),
    ],
)
def test_a_message_that_cannot_be_sent_is_asked_for_again(spoil: dict[str, Any], complaint: str) -> None:
    def agent(system: str, user: str) -> dict[str, Any]:
        sound = strong_writer.agent(system, user)
        names = " ".join(re.findall(r"^- (\w+): .*? It needs: ", system, re.MULTILINE))
        spoilt = {key: part.replace("TOOLS", names) if isinstance(part, str) else part for key, part in spoil.items()}
        return sound if "You wrote a message that cannot be sent" in user else {**sound, **spoilt}

    model = Writer(agent)
    assert len(write(model, 2)) == 2
    again = [user for _, user in model.asked if "You wrote a message that cannot be sent" in user]
    assert any(complaint in user for user in again)


def test_what_holds_for_another_model_alone_is_no_source_unless_it_is_said_of_that_one() -> None:
    """A sibling's article states other figures, and would be the gold of a question that it does not answer."""
    made = cxm_brand.make()
    index = conversation_writer.ArticleIndex(made.ledger, made.articles)
    cases = conversation_plan.plan_conversations(made.ledger, made.articles, made.tools, 24, 1)
    seen = set()
    for case in cases:
        talk = written_dialogue.WrittenDialogue(made.ledger, index, {}, case, Writer(), 1)
        talk._begin(0)
        mine = talk.person.subject
        for article in case.articles:
            other = index.articles[article].properties.get("subject")
            facts = [fact for fact in made.ledger.of(other or "") if article in index.by_fact.get(fact.id, ())]
            for fact in facts:
                passage = index.states(fact, [article])
                own = made.ledger.get(mine, fact.property)
                if passage is None or passage.article != article or own is None or mine in passage.text:
                    continue
                # What is told without a figure is told in words of many kinds, which nobody holds against each other.
                if not re.search(r"\d", passage.text):
                    continue
                alike, sibling = own.value == fact.value, other in {one.name for one in made.ledger.siblings(mine)}
                talk.messages.clear()
                talk._add("customer", f"It is about my {mine}. What do I do?", {})
                wrong = talk.check._of_another("Then it is like this.", [passage])
                assert bool(wrong) == (sibling and not alike), (passage, mine)
                assert not wrong or f"is said of {other}, and the talk is about {mine}." in wrong[0]
                assert talk.check._of_another(f"For {other} it is like this.", [passage]) == []
                talk._add("customer", f"And for {other}?", {})
                assert talk.check._of_another("Then it is like this.", [passage]) == []
                seen.add((sibling, alike))
    assert seen >= {(True, True), (True, False), (False, True)}


def test_an_invented_order_number_is_not_sent_to_a_tool() -> None:
    def agent(system: str, user: str) -> dict[str, Any]:
        said = strong_writer.agent(system, user)
        if said["call"] and "You wrote a message that cannot be sent" not in user:
            said["call"]["arguments"] = dict.fromkeys(said["call"]["arguments"], "ZZ00000001")
        return said

    model = Writer(agent)
    talks = write(model, 4)
    assert any("Nobody gave the value of" in user for _, user in model.asked)
    assert not any("ZZ00000001" in call.arguments for talk in talks for m in talk.messages for call in m.tool_calls)


def test_a_sum_of_an_article_and_a_day_without_its_year_are_given() -> None:
    """What a strong model rightly sends is not asked for again; what nobody gave and no article states is."""
    made = cxm_brand.make()
    index = conversation_writer.ArticleIndex(made.ledger, made.articles)
    tools = {t["function"]["name"]: t for t in made.tools}
    priced = next(f for f in made.ledger.facts.values() if f.property == "price" and index.by_fact.get(f.id))
    case = conversation_plan.plan_conversations(made.ledger, made.articles, made.tools, 1, 1)[0]
    case = replace(case, articles=(*case.articles, index.by_fact[priced.id][0]))
    talk = written_dialogue.WrittenDialogue(made.ledger, index, tools, case, Writer(), 1)
    talk._begin(0)
    kinds = {spec.sample: name for name, spec in made.ledger.brand.parameters.items()}
    assert talk.check._given(kinds["amount"], f"{priced.value:.2f}")
    assert not talk.check._given(kinds["amount"], "31.07")
    assert talk.check._given(kinds["reason"], "the 2 lamps differ")
    assert not talk.check._given(kinds["date"], "2025-03-20")
    talk._add("customer", "On 20 March would be best.", {})
    assert talk.check._given(kinds["date"], "2025-03-20")
    assert not talk.check._given(kinds["date"], "2025-03-21")


def test_what_stays_unusable_is_left_out_with_the_reason() -> None:
    def stubborn(system: str, user: str) -> dict[str, Any]:
        return {
            "reason": "It is asked.",
            "kind": "general",
            "message": "Ember Mini costs £3.17.",
            "sources": [],
            "call": None,
        }

    def silent(system: str, user: str) -> dict[str, Any]:
        return {"message": "Never mind.", "finished": True}

    with pytest.raises(
        CxError, match="scripted: none of its first 2 conversations could be kept, the last one because"
    ):
        write(Writer(stubborn), 2)
    seen: list[str] = []

    def once(system: str, user: str) -> dict[str, Any]:
        # One customer never gets further; the others do.
        name = strong_writer.between(system, "You play ", ",")
        if not seen:
            seen.append(name)
        return silent(system, user) if name in seen else strong_writer.customer(system, user)

    assert len(write(Writer(customer=once), 4)) >= 3
    made = cxm_brand.make()
    case = conversation_plan.plan_conversations(made.ledger, made.articles, made.tools, 1, 1)[0]
    tools = {t["function"]["name"]: t for t in made.tools}
    index = conversation_writer.ArticleIndex(made.ledger, made.articles)
    dialogue = written_dialogue.WrittenDialogue(made.ledger, index, tools, case, Writer(stubborn), 1)
    import asyncio

    row = asyncio.run(dialogue.write())
    assert row == {
        "id": "C_1",
        "dropped": "no message of the agent could be sent: No article states Ember Mini price 3.17.",
    }


def test_the_prompts_are_whole() -> None:
    assert [complaint for prompt in prompts.ALL for complaint in prompt.check()] == []
    assert set(prompts.SERVICE_RULES) == set(personas.STANDARDS)


def test_a_customer_is_told_nothing_in_the_words_of_the_agents_articles() -> None:
    """Five words in a row that both sides were given would make finding the article a matter of copying."""
    model = Writer()
    write(model, 6)
    runs = prompt_rules._runs
    articles = frozenset().union(*(runs(article.body) for article in cxm_brand.make().articles))
    cards = {system for system, _ in model.asked if "a customer of" in system}
    assert len(cards) >= 6
    template = frozenset().union(*(runs(text) for _, text in prompts.CUSTOMER_MESSAGE.parts))
    for card in cards:
        # A question names the thing and the property, as it must.
        for question in strong_writer.listed(card, strong_writer.QUESTIONS):
            card = card.replace(question, "")
        assert sorted((runs(card) - template) & articles) == []


def test_the_stand_ins_can_play_without_a_script() -> None:
    """As `python -m cxlab prompts` has them do, to show what real writers are sent."""
    model = llm.load("simulated:strong")
    noted: list[Any] = []
    talks = write(RecordingModel(model, "writer", noted, most=500, simulated=False), 3)
    assert talks
    assert any(message.tool_calls for talk in talks for message in talk.messages)
    assert {one.request.prompt.name for one in noted} >= {prompt.name for prompt in prompts.ALL}


def test_every_prompt_of_a_writer_is_there_to_be_read() -> None:
    """What the pipeline asks and what is printed are the same prompts."""
    asked = set(pipeline.hashes()) - set(evaluation_prompts.hashes())
    assert asked <= {name.removesuffix(".md") for name in goldens.recorded("cxmarena")}


@pytest.mark.parametrize(
    ("brand", "agent", "customer"),
    [
        (
            "talvero",
            "Write in German and say Sie to the customer, as",
            "You write in German, saying Sie to the agent, as",
        ),
        ("solvanne", "Write in French and say vous to the customer", "You write in French, saying vous to the agent"),
        ("hearthwise", "Write in English, as people", "You write in English as people"),
    ],
)
def test_a_prompt_is_in_english_whatever_it_asks_for(brand: str, agent: str, customer: str) -> None:
    made = cxm_brand.make(brand)
    cases = conversation_plan.plan_conversations(made.ledger, made.articles, made.tools, 6, 1)
    model = Writer()
    stage = conversation_writer.write_conversations(made.ledger, made.articles, made.tools, cases, model, 1)
    stages.finish(stage)
    systems = [system for system, _ in model.asked]
    assert any(agent in system for system in systems)
    mine = [system for system in systems if customer in system]
    assert mine
    # Who says how a customer is says it in the prompt's language.
    manners = [system.partition("as others would put it: ")[2].partition("\n")[0] for system in mine]
    known = set(phrasebook.load("en").traits.values())
    assert all(
        set(one.rstrip(".").split("; ")) - {"types quickly and does not mind mistakes"} <= known for one in manners
    )
