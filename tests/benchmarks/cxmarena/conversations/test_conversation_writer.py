"""Conversations: whole records, true labels, facts of the ledger only, resumable, deterministic, varied."""

import functools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import brand_pack, fact_statements, pack_files
from cxlab.benchmarks.cxmarena.conversations import (
    conversation_plan,
    conversation_writer,
    personas,
    phrasebook,
    step_phrasing,
)
from cxlab.benchmarks.cxmarena.conversations.grounding import ArticleIndex, SourcePassage
from cxlab.benchmarks.cxmarena.generation import dataset_statistics
from cxlab.benchmarks.cxmarena.simulated import service_quality
from cxlab.benchmarks.cxmarena.simulated.conversations import dialogue_script, dialogue_words, scripted_dialogue
from cxlab.benchmarks.generation import stages
from cxlab.errors import BadOption
from cxlab.files import grammar
from cxlab.metrics import text_statistics as stats
from tests.benchmarks.cxmarena import prose
from tests.benchmarks.cxmarena.cxm_brand import generate

MODEL = llm.load("simulated:strong")
PACKS = {"hearthwise": "en", "solvanne": "fr", "talvero": "de"}


@functools.cache
def make(name: str) -> tuple[Any, Any, Any, Any, Any]:
    """Ledger, articles, tools, plans and conversations of a small brand; made once."""
    made = generate(pack_files.load(name), 60, 40, 45)
    return made.ledger, made.articles, made.tools, made.plans, made.conversations


@pytest.mark.parametrize("name", PACKS)
def test_records_are_whole_and_point_to_what_exists(name: str) -> None:
    _, found, tools, cases, said = make(name)
    by_id = {a.id: a for a in found}
    names = {t["function"]["name"]: t["function"] for t in tools}
    assert [c.id for c in said] == [f"C_{n}" for n in range(1, 46)] == [c.id for c in cases]
    assert len({c.article for c in cases[:40]}) == min(40, sum(a.kind == "issue" for a in found))
    for c in said:
        assert {c.messages[0].role, c.messages[-1].role} <= {"customer", "agent"}
        assert all(m.text.strip() for m in c.messages)
        assert [1, *(m.turn for m in c.messages)] == sorted([1, *(m.turn for m in c.messages)])
        assert c.labels["issue_article"] == c.persona["agent"]["issue"] == c.persona["agent"]["articles"][0]
        assert {"problem", "traits", "masked", "details"} <= set(c.persona["customer"])
        for place, m in enumerate(c.messages):
            if m.role == "agent":
                assert m.data["class"] in ("general", "knowledge_base", "tool_information_gathering", "tool_call")
                assert set(m.data["sources"]) <= set(by_id)
                assert (m.data["class"] == "tool_call") == bool(m.tool_calls)
                assert c.grounding.get(place, ()) == tuple(m.data["sources"])
                if m.data["class"] == "knowledge_base":
                    assert m.data["sources"]
                # A passage is a piece of an article that the message is grounded in.
                for passage in m.data["passages"]:
                    assert any(passage in by_id[a].body or passage == by_id[a].title for a in m.data["sources"])
            if m.tool_calls:
                call = m.tool_calls[0]
                arguments = json.loads(call.arguments)
                assert set(arguments) == set(names[call.name]["parameters"]["required"])
                after = c.messages[place + 1]
                assert (after.role, after.data["tool"]) == ("tool", call.name)
                assert after.data["result"]


@pytest.mark.parametrize("name", PACKS)
def test_every_fact_that_is_stated_is_in_the_ledger(name: str) -> None:
    facts, _, _, _, said = make(name)
    held = 0
    for c in said:
        details = c.persona["customer"]["details"].values()
        for m in c.messages:
            if m.role != "tool":
                text = scripted_dialogue.plain(m.text, details)
                assert fact_statements.contradictions(text, facts, c.labels["subject"]) == set(), m.text
                held += len(fact_statements.find_facts(text, facts, c.labels["subject"]))
            for key in m.data.get("facts", ()):
                assert key in facts.facts
    assert held > 30  # the check above has something to check


def test_a_wrong_fact_is_seen_and_a_detail_is_not_taken_for_one() -> None:
    facts, *_ = make("hearthwise")
    price = next(f for f in facts.facts.values() if f.property == "price")
    wrong = f"{price.subject} costs £1.23."
    assert fact_statements.contradictions(scripted_dialogue.plain(wrong, ["23"]), facts)
    assert not fact_statements.contradictions(scripted_dialogue.plain(wrong, ["£1.23"]), facts)


@pytest.mark.parametrize("name", PACKS)
def test_arguments_that_the_customer_gave_were_said_before_the_call(name: str) -> None:
    _, _, _, _, said = make(name)
    checked = 0
    for c in said:
        heard = ""
        details = c.persona["customer"]["details"]
        for m in c.messages:
            if m.role == "customer":
                heard += m.text + "\n"
                for detail in m.data["details"]:
                    spoken = details.get(f"{detail} as said", details.get(detail))
                    if spoken is not None:
                        checked += 1
                        assert spoken.lower() in heard.lower()  # a sentence may begin with it
            for call in m.tool_calls:
                for parameter, value in json.loads(call.arguments).items():
                    assert details[parameter] == value
    assert checked > 50


@pytest.mark.parametrize("name", PACKS)
def test_nobody_reacts_to_being_who_they_are_as_to_news(name: str) -> None:
    _, _, _, _, said = make(name)
    news = {form for line in phrasebook.load(PACKS[name]).customer["react_report"] for form in grammar.every(line, 60)}
    checked = 0
    for c in said:
        for at, message in enumerate(c.messages):
            if any("identi" in call.name for call in message.tool_calls):
                checked += 1
                after = next((m.text for m in c.messages[at + 1 :] if m.role == "customer"), "")
                assert not [form for form in news if form.casefold() in after.casefold()], (c.id, after)
    assert checked


@pytest.mark.parametrize("name", PACKS)
def test_quality_answers_are_what_the_agent_did(name: str) -> None:
    _, _, _, _, said = make(name)
    language = phrasebook.load(PACKS[name])
    wait = {"en": r"moment|minute|while|second|hold|bear", "fr": r"instant|atient", "de": r"Moment|Augenblick|Geduld"}
    seen: dict[tuple[str, str], int] = {}
    for c in said:
        agent = {i: m for i, m in enumerate(c.messages) if m.role == "agent"}
        quality = {q["id"]: q for q in c.labels["quality"]}
        assert 7 <= len(quality) <= 11
        for q in quality.values():
            seen[q["id"], q["answer"]] = seen.get((q["id"], q["answer"]), 0) + 1
            assert q["question"] in language.standards[q["id"]]
            assert set(q["evidence"]) <= set(agent)
            if q["answer"] == "Yes" and q["id"] != "jargon":
                assert q["evidence"]
            if q["answer"] == "NA":
                assert not q["evidence"]
        # What only colleagues say stands nowhere unmarked: not where it is not asked about.
        inside = {i for i, m in agent.items() if re.search(r"\b(?:CRM|SLA|L2|ERP|KPI)\b", m.text)}
        assert inside == set(quality["jargon"]["evidence"] if "jargon" in quality else ())
        # Some of them by other means than the plan: by the names and by what tools were called.
        if "name" in quality:
            named = {i for i, m in agent.items() if c.persona["customer"]["name"] in m.text}
            assert named == set(quality["name"]["evidence"])
        if "introduction" in quality:
            known = {i for i, m in agent.items() if c.persona["agent"]["name"] in m.text}
            assert known == set(quality["introduction"]["evidence"])
        if "hold" in quality:
            called = [i for i, m in agent.items() if m.tool_calls]
            assert (quality["hold"]["answer"] == "NA") == (not called)
            assert all(re.search(wait[PACKS[name]], c.messages[i].text, re.I) for i in quality["hold"]["evidence"])
    assert len({standard for standard, _ in seen}) == len(personas.STANDARDS)
    assert {answer for _, answer in seen} == {"Yes", "No", "NA"}


@pytest.mark.parametrize("language", brand_pack.LANGUAGES)
def test_talk_files_have_a_line_for_each_act_and_no_unknown_slot(language: str) -> None:
    found = phrasebook.load(language)
    mine, theirs = (dialogue_words.acts(listed) for listed in (dialogue_words.AGENT_ACTS, dialogue_words.CUSTOMER_ACTS))
    assert set(mine) == set(found.agent)
    assert {k.partition(".")[0] for k in found.customer} == set(theirs)
    assert {k.partition(".")[2] for k in found.customer} - {""} <= set(found.traits)
    assert set(found.standards) == set(personas.STANDARDS)
    assert phrasebook.check(language, {**mine, **theirs}) == []
    for lines in (*found.agent.values(), *found.customer.values(), *found.parts.values()):
        for line in lines:
            assert grammar.variants(line) >= 1
            # A figure in a phrase would be a statement of nobody's; in "L2" it is part of a name.
            assert not re.search(r"(?<![A-Z])\d", line)
    for key, questions in found.standards.items():
        for question in questions:
            known = service_quality.find(question)
            assert known is not None, question
            assert known.id == key, question


def test_steps_become_what_an_agent_says() -> None:
    en, fr, de = phrasebook.load("en"), phrasebook.load("fr"), phrasebook.load("de")
    assert step_phrasing.step_act(en, "Ask whether other devices are online")[:2] == (
        "ask_step",
        "whether other devices are online",
    )
    assert step_phrasing.step_act(en, "Tell the customer not to open the lamp")[:2] == ("warn", "open the lamp")
    assert step_phrasing.step_act(en, "Remind the customer to keep the box")[:2] == ("later", "keep the box")
    assert step_phrasing.step_act(en, "Watch the lamp overnight")[:2] == ("later", "watch the lamp overnight")
    assert step_phrasing.step_act(en, "Find out what the error says")[:2] == ("ask_open", "what the error says")
    assert step_phrasing.step_act(en, "Open the order", tool=True)[:2] == ("call", "open the order")
    assert step_phrasing.step_act(en, "Explain that data is kept for a year")[:2] == (
        "tell_step",
        "data is kept for a year",
    )
    assert step_phrasing.step_act(en, "Apologise plainly").act == ""
    de = phrasebook.load("de")
    assert step_phrasing.own(de, "Vergleichen Sie, was verlangt wurde") == "vergleichen, was verlangt wurde"
    assert step_phrasing.own(de, "Entsperren Sie es von hier aus") == "es von hier aus entsperren"
    assert step_phrasing.own(de, "Tragen Sie die Kündigung ein") == "die Kündigung eintragen"
    assert step_phrasing.step_act(fr, "Relisez la commande", tool=True)[:2] == ("call", "relire la commande")
    assert step_phrasing.step_act(fr, "Vérifiez le stock", tool=True).step == "vérifier le stock"
    assert (
        step_phrasing.step_act(de, "Rufen Sie die Akkudaten von Atlas ab", tool=True).step
        == "die Akkudaten von Atlas abrufen"
    )
    assert step_phrasing.step_act(de, "Öffnen Sie die Bestellung", tool=True).step == "die Bestellung öffnen"


@pytest.mark.parametrize("name", PACKS)
def test_tool_results_are_told_in_words(name: str) -> None:
    facts, _, _, _, said = make(name)
    pack, language = facts.brand, phrasebook.load(PACKS[name])
    # The last form of each language catches what no other knows: no pack of ours needs it.
    for tool in pack.tools.values():
        for item in tool.returns.split(","):
            found = next(f for f in language.results if re.search(f.match, item.strip(), re.I))
            assert found is not language.results[-1], item
    told = 0
    for c in said:
        for place, m in enumerate(c.messages):
            if m.role != "tool":
                continue
            result = m.data["result"]
            report = next(after.text for after in c.messages[place + 1 :] if after.role == "agent")
            for key, value in list(result.items())[:2]:
                # Codes are told as they are, fields by no name of theirs in quotes.
                if re.fullmatch(r"[A-Z]+-\d+", value):
                    told += 1
                    assert value in report
                assert f'"{key}"' not in report
                assert f"« {key} »" not in report
                assert f"„{key}“" not in report
    assert told > 10


def test_resumed_and_fresh_are_the_same_and_another_seed_is_not(tmp_path: Path) -> None:
    facts, found, tools, cases, said = make("hearthwise")
    few = cases[:6]
    half = stages.finish(conversation_writer.write_conversations(facts, found, tools, few[:3], MODEL, 1, tmp_path))
    path = tmp_path / "conversations.jsonl"
    path.write_bytes(path.read_bytes()[:-40])  # a kill in the middle of a line
    again = stages.finish(conversation_writer.write_conversations(facts, found, tools, few, MODEL, 1, tmp_path))
    assert half == said[:3]
    assert again == said[:6]
    other = stages.finish(conversation_writer.write_conversations(facts, found, tools, few, MODEL, 2))
    assert all(a.messages != b.messages for a, b in zip(other, again, strict=True))


@pytest.mark.parametrize("name", PACKS)
def test_it_is_plain_and_short_and_no_two_are_alike(name: str) -> None:
    """Published lengths are targets for real writers; stand-ins say what is to be said and stop."""
    _, _, _, _, said = make(name)
    found, published = stats.conversations(said, PACKS[name]), dataset_statistics.published()
    for key in ("message_tokens_mean", "conversation_tokens_mean"):
        assert 0.4 * published[key][0] < found[key] < published[key][0], key
    assert found["consecutive_max"] <= 3
    assert stats.near_duplicates([conversation_writer.transcript(c) for c in said]) == []
    for talk in said:
        asked = sum(m.role == "customer" and m.data["asks"] for m in talk.messages)
        assert asked <= dialogue_script.MOST_QUESTIONS + len(talk.messages) / 6
        assert max(len(m.text.split()) for m in talk.messages if m.role != "tool") <= 75


@pytest.mark.parametrize("name", PACKS)
def test_it_reads_without_slips_of_grammar(name: str) -> None:
    _, found, _, _, said = make(name)
    language, slips = PACKS[name], []
    for c in said:
        for m in c.messages:
            # Who types without care leaves out capitals and the last stop, and nothing else.
            casual = m.role == "customer" and c.persona["customer"]["casual"]
            if m.role != "tool":
                some = prose.faults(m.text, language, ends=not casual)
                slips += [s for s in some if not (casual and s.startswith("small start"))]
    for article in found:
        lines = (re.sub(r"^(?:\d+\.|-) | \[\w+\]", "", line) for line in article.body.split("\n"))
        slips += [s for line in lines if line for s in prose.faults(line, language, ends=False)]
    assert slips == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "It is a online order."),
        ("en", "Could you tell me the <what>?"),
        ("en", "I will push it from here from here, the the end."),
        ("fr", "Je vois le article dans la commande."),
        ("fr", "C’est de le sérum."),
        ("fr", "Voici la réponse: deux pièces."),
        ("de", "Hier ist Talvero – ihre Bestellung ist da."),
        ("de", "Könnten Sie mir Ihre Seriennummer des Geräts nennen?"),
        ("de", "Das gilt für einem Gerät mit ein Kabel."),
        ("de", "Das ist erledigt,; danke."),
    ],
)
def test_a_slip_is_found(language: str, text: str) -> None:
    assert prose.faults(text, language)


@pytest.mark.parametrize("name", PACKS)
def test_nobody_asks_or_tells_a_thing_twice(name: str) -> None:
    _, _, _, _, said = make(name)
    for c in said:
        told = [d for m in c.messages if m.role == "customer" for d in m.data["details"]]
        assert len(told) == len(set(told)), (c.id, told)
        spoken = [s for m in c.messages if m.role != "tool" for s in re.split(r"(?<=[.?!]) ", m.text)]
        long = [s for s in spoken if len(s.split()) > 7]
        assert len(long) == len(set(long)), c.id
        person = c.persona["customer"]
        if "full_name" in told and any(a[1] == "Yes" for a in _answers(c, "verify")):
            text = " ".join(m.text for m in c.messages if m.role == "customer")
            assert re.search(rf"(?<!\d){re.search(r'[0-9]+', person['details']['home'])[0]}(?!\d)", text)


def _answers(c: Any, standard: str) -> list[tuple[str, str]]:
    return [(q["id"], q["answer"]) for q in c.labels["quality"] if q["id"] == standard]


def test_a_heading_becomes_a_sentence_and_an_answer_fits_the_question() -> None:
    en, de = phrasebook.load("en"), phrasebook.load("de")
    assert step_phrasing.step_act(en, "Find out where the money should go").reply == "answer_money"
    assert step_phrasing.step_act(en, "Tell the day of the booking").act == ""  # the report has given it
    assert step_phrasing.step_act(de, "Vergleichen Sie das Etikett mit dem Inhalt").act == "instruct"
    for language in ("en", "fr", "de"):
        spoken = phrasebook.load(language)
        for rewrite in spoken.rewrites:
            assert not rewrite.reply or rewrite.reply in spoken.customer, rewrite


def test_without_issue_articles_there_is_nothing_to_talk_about() -> None:
    facts, found, tools, _, _ = make("hearthwise")
    with pytest.raises(BadOption, match="no issue articles"):
        conversation_plan.plan_conversations(facts, [a for a in found if a.kind != "issue"], tools, 3, 1)


@pytest.mark.parametrize("name", ["hearthwise", "talvero"])
def test_what_takes_days_is_not_done_while_they_talk(name: str) -> None:
    facts, found, tools, cases, _ = make(name)
    index, by_name = ArticleIndex(facts, found), {t["function"]["name"]: t for t in tools}
    seen = 0
    for case in cases:
        moves = scripted_dialogue.ScriptedDialogue(facts, index, by_name, case, 1).outline.moves
        kinds = [kind for move in moves for kind, _ in move.acts]
        if "later" in kinds:
            seen += 1
            after = kinds[kinds.index("later") :]
            assert not {"instruct", "solved"} & {*after}, (case.id, after)
    assert seen


@pytest.mark.parametrize("name", PACKS)
def test_nobody_asks_for_what_was_just_told(name: str) -> None:
    facts, found, tools, cases, _ = make(name)
    index, by_name = ArticleIndex(facts, found), {t["function"]["name"]: t for t in tools}
    for case in cases:
        moves = scripted_dialogue.ScriptedDialogue(facts, index, by_name, case, 1).outline.moves
        told: set[str] = set()
        for move in moves:
            if [kind for kind, _ in move.acts] in (["fact"], ["keep_promise"]):
                assert not told & {*move.facts}, (case.id, move.facts)
            told |= {*move.facts} if move.role == "agent" else set()


def test_sources_say_what_the_agent_said() -> None:
    facts, found, _, _, said = make("hearthwise")
    article_index = ArticleIndex(facts, found)
    stated = [f for f in facts.facts.values() if len(article_index.by_fact.get(f.id, ())) > 1][:30]
    assert stated
    for fact in stated:
        first, *others = article_index.by_fact[fact.id]
        everything = [a.id for a in found]
        ranked = article_index.rank("Here you are.", [SourcePassage(first, "")], everything, [fact.id])
        # Beside its source only what states the same fact; nothing where the message states none.
        assert ranked[0] == first
        assert set(ranked[1:]) <= set(others)
        assert article_index.rank("Here you are.", [SourcePassage(first, "")], everything) == (first,)
    assert article_index.rank("Here you are.", [], everything, [stated[0].id]) == ()
    asks = [m.data["asks"] for c in said for m in c.messages if m.role == "customer"]
    assert 0 < sum(asks) < len(asks) / 2
