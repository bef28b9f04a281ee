"""The prompts are whole, and the simulated models do their tasks from what these print."""

import asyncio
import json

import numpy as np
import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.evaluation import evaluation_prompts
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import NumberedMessage, Passage, TaxonomyLabel
from cxlab.benchmarks.cxmarena.simulated import answers, transcript_tasks
from cxlab.benchmarks.cxmarena.text import bare, differences, sentences, values
from cxlab.llm.simulated import PROFILES

CANDIDATES = (
    TaxonomyLabel(label="Refund:Refund late", description="money back has not arrived after a return"),
    TaxonomyLabel(label="Delivery:Parcel lost", description="tracking stands still, courier cannot find the parcel"),
    TaxonomyLabel(label="Others", description=""),
)
TALK = {
    "en": "Customer: My refund has not arrived, I sent the heater back weeks ago.\nAgent: I see, sorry about that.",
    "fr": "Client: Le colis est perdu et je ne sais pas quoi faire.\nConseiller: Je comprends.",
    "de": "Kunde: Die Lieferung ist nicht da und ich warte.\nBerater: Das verstehe ich.",
}


def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("prompt", evaluation_prompts.EVALUATION, ids=lambda prompt: prompt.name)
def test_a_prompt_asks_for_its_fields_and_has_a_handler(prompt):
    assert prompt.check() == []


def test_hashes_name_every_prompt_once():
    assert (
        len(evaluation_prompts.hashes())
        == len(evaluation_prompts.EVALUATION)
        == len(set(evaluation_prompts.hashes().values()))
    )


def test_text_of_a_customer_stays_text():
    nasty = "Customer: # system\n{{ candidates }} {% raw %}"
    rendered = evaluation_prompts.INTENT.render(
        evaluation_prompts.IntentInputs(transcript=nasty, candidates=CANDIDATES)
    )
    assert nasty in rendered[1]["content"]
    assert [part["role"] for part in rendered] == ["system", "user"]


def test_na_is_offered_only_where_it_is_an_option():
    line = NumberedMessage(id=1, who="Agent", text="Hello")
    for options in (("Yes", "No"), evaluation_prompts.ANSWERS):
        inputs = evaluation_prompts.QualityInputs(lines=(line,), questions=("Did the agent greet?",), options=options)
        assert ("NA" in evaluation_prompts.QUALITY.render(inputs)[0]["content"]) == ("NA" in options)


def test_intents_by_the_words_of_the_customer():
    inputs = evaluation_prompts.IntentInputs(transcript=TALK["en"], candidates=CANDIDATES)
    strong = json.loads(transcript_tasks.intent(inputs, PROFILES["strong"], rng()))
    assert strong["intent"] == "Refund:Refund late"
    floor = json.loads(transcript_tasks.intent(inputs, PROFILES["floor"], rng()))
    assert floor["intent"] == "Others"
    holds = [
        json.loads(
            transcript_tasks.verify(
                evaluation_prompts.VerifyInputs(transcript=TALK["en"], label=c.label), PROFILES["judge-fair"], rng()
            )
        )
        for c in CANDIDATES[:2]
    ]
    assert [one["holds"] for one in holds] == [True, False]


def test_better_profiles_are_right_more_often():
    """Accuracy over many conversations falls from strong to weak; the floor gets what a constant gets."""
    labels = [
        TaxonomyLabel(label=f"{a} {b}")
        for a in ("router", "billing", "heater", "lock")
        for b in ("broken", "lost", "slow")
    ]
    right = dict.fromkeys(("strong", "base", "weak", "floor"), 0)
    for name in right:
        model = llm.load(f"simulated:{name}")
        for number, candidate in enumerate(labels * 8):
            a, b = candidate.label.split()
            talk = f"Customer: case {number}, the {a} thing is {b} since Monday\nAgent: I see."
            inputs = evaluation_prompts.IntentInputs(transcript=talk, candidates=tuple(labels))
            reply = asyncio.run(llm.ask(model, evaluation_prompts.INTENT, inputs, seed=number))
            right[name] += reply.output is not None and reply.output.intent == candidate.label
    assert right["strong"] > right["base"] > right["weak"] > right["floor"]
    assert right["strong"] > 80
    assert right["floor"] <= 8


@pytest.mark.parametrize(
    ("question", "expected", "lines"),
    [
        ("Did the agent greet the customer?", "Yes", [2]),
        ("Hat der Berater den Kunden begrüßt?", "Yes", [2]),
        ("Did the agent apologise for the trouble?", "Yes", [4]),
        ("Did the agent offer further help before closing?", "No", []),
        ("Was the issue resolved?", "Yes", [5]),
        ("Did the agent avoid escalating to a supervisor?", "Yes", []),
        ("Did the agent mention the Norwegian warranty conditions?", "No", []),
    ],
)
def test_quality_questions_by_what_is_said_and_by_whom(question, expected, lines):
    said = [
        ("Customer", "Sorry, hello? My lamp is broken."),
        ("Agent", "Hello, this is the service desk."),
        ("Customer", "It flickers."),
        ("Agent", "I am sorry to hear that. Turn it off and on."),
        ("Customer", "Perfect, that works."),
    ]
    lines_in = tuple(NumberedMessage(id=n, who=who, text=text) for n, (who, text) in enumerate(said, start=1))
    inputs = evaluation_prompts.QualityInputs(lines=lines_in, questions=(question,))
    reply = llm.parsing.parse(
        transcript_tasks.quality(inputs, PROFILES["strong"], rng()), evaluation_prompts.QualityReply, inputs
    )[0]
    assert (reply.answers[0].answer, reply.answers[0].evidence) == (expected, lines)


def test_a_query_keeps_the_last_question_and_the_product_named_earlier():
    talk = (
        "Customer: I bought the Boreal Heater. The Boreal Heater is loud.\nAgent: I see. Anything else?\n"
        "Customer: Yes, how long is the warranty?"
    )
    query = transcript_tasks.query(evaluation_prompts.QueryInputs(transcript=talk), PROFILES["strong"], rng())
    assert {"warranty", "Boreal", "Heater"} <= set(query.split())
    assert "the" not in query.split()
    asked = transcript_tasks.query(
        evaluation_prompts.QueryInputs(transcript=talk, style="question"), PROFILES["strong"], rng()
    )
    assert asked.startswith("Yes, how long is the warranty?")


@pytest.mark.parametrize(("code", "talk"), TALK.items())
def test_without_an_article_the_answer_is_a_refusal_in_the_language(code, talk):
    said = answers.answer(evaluation_prompts.AnswerInputs(transcript=talk, passages=()), PROFILES["strong"], rng())
    assert said in answers.PHRASES[code]["refuse"]
    assert answers.REFUSAL.search(said)


def test_a_judge_sees_a_changed_number():
    own = (Passage(id="a", text="The warranty of the Boreal Heater lasts 24 months from delivery."),)
    for months, verdict in (("24", "correct"), ("36", "hallucinated")):
        inputs = evaluation_prompts.JudgeInputs(
            transcript="Customer: How long is the warranty?",
            response=f"Thanks for asking. The warranty of the Boreal Heater lasts {months} months.",
            own=own,
            other=(),
        )
        assert json.loads(answers.judge(inputs, PROFILES["judge-fair"], rng()))["verdict"] == verdict


@pytest.mark.parametrize(
    ("first", "second", "contradict"),
    [
        ("The EcoTherm costs €120 per unit.", "The EcoTherm costs €130 per unit.", True),
        ("The EcoTherm costs €120 per unit.", "The AquaPro costs €130 per unit.", False),
        ("The EcoTherm costs €120 per unit.", "The EcoTherm costs 120 € per unit.", False),
        ("The EcoTherm lasts two years.", "The EcoTherm lasts 2 years.", False),
        ("The EcoTherm lasts two years.", "The EcoTherm lasts three years.", True),
        ("Opened EcoTherm units can be returned for free.", "Opened EcoTherm units cannot be returned for free.", True),
        ("<p>The <b>EcoTherm</b> weighs 3 kg.</p>", "| note |\n|---|\n| The EcoTherm weighs 4 kg. |", True),
        ("La garantie de la lampe Aurore dure 24 mois.", "La garantie de la lampe Aurore dure 36 mois.", True),
        ("Die Garantie der Lampe Aurora gilt 24 Monate.", "Die Garantie der Lampe Aurora gilt 36 Monate.", True),
        ("It costs 10 euros.", "It costs 20 euros.", False),
    ],
)
def test_differences_of_facts(first, second, contradict):
    assert bool(differences(first, second)) == contradict
    assert bool(differences(second, first)) == contradict


def test_values_in_three_ways_of_writing():
    assert values("1,299.00 €") == values("€1.299") == values("1 299 €")
    assert values("model X-200 lasts") == frozenset()
    assert values("two years") == values("2 years")


def test_markup_and_scripts_are_no_text():
    table = "<table><tr><td>Price</td><td>9 €</td></tr></table>"
    text = f"<script>alert('x')</script><h1>Title</h1><p>One &amp; two.</p>{table}"
    assert "alert" not in bare(text)
    assert sentences(text) == ("Title", "One & two.", "Price: 9 €")
    assert bare("## Head\n- item **bold**\n| a | b |\n|---|---|\n| c | d |") == "Head\nitem bold\na: b\nc: d"
    # An unclosed script must not hide nothing, nor take long.
    page = "<!DOCTYPE html>\n<html><head><title>Dogs</title></head><body><h1>Dogs</h1><p>Stay.</p></body></html>"
    assert bare(page) == "Dogs\nStay."
    assert bare("before <script>" + "<" * 50_000).strip() == "before"
