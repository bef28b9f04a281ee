"""What a conversation is about: words of the matter in three languages, and what is read from them."""

import json

import numpy as np
import pytest

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import Passage, QueryInputs
from cxlab.benchmarks.cxmarena.simulated import task_derivation, topic_words, transcript_tasks
from cxlab.benchmarks.cxmarena.tasks.task_prompts import RelevantInputs
from cxlab.llm.simulated import PROFILES

TALK = {
    "en": (
        "Customer: Hello, my name is Nigel Binborne, the Gatekeeper Solar does not open in the app.\n"
        "Agent: Thank you, Mr Binborne. Please delete the old phone from the list of keys of Gatekeeper Solar.\n"
        "Customer: It's number 16, nigel@mail.example. Sorry, why is that needed?"
    ),
    "fr": (
        "Customer: Bonjour, je m'appelle Lise Morin, la pompe de Sérum Aube Riche bloque.\n"
        "Agent: Merci, Mme Morin. Rincez la pompe de Sérum Aube Riche à l'eau tiède.\n"
        "Customer: J'habite au numéro 16. Pourquoi est-ce nécessaire ?"
    ),
    "de": (
        "Customer: Hallo, ich heiße Jana Bergmann, Atlas Zwölf lädt mit keinem Kabel.\n"
        "Agent: Danke, Frau Bergmann. Bitte prüfen Sie die Buchse von Atlas Zwölf.\n"
        "Customer: Hausnummer 16. Warum ist das nötig?"
    ),
}
WANTED = {"en": {"Gatekeeper", "Solar", "keys"}, "fr": {"Sérum", "Aube", "pompe"}, "de": {"Atlas", "Zwölf", "Buchse"}}


@pytest.mark.parametrize("language", TALK)
def test_a_query_that_points_back_names_the_product_and_the_step(language: str) -> None:
    inputs = QueryInputs(transcript=TALK[language])
    # Of these draws some look back, as the profile is one that nearly always does.
    queries = [transcript_tasks.query(inputs, PROFILES["strong"], np.random.default_rng(n)).split() for n in range(5)]
    query = set(max(queries, key=len))
    assert query >= WANTED[language]
    assert not query & {"Nigel", "Binborne", "Lise", "Morin", "Jana", "Bergmann", "16", "nigel@mail.example"}


def test_small_talk_is_left_out_and_names_of_products_stay_whole() -> None:
    asked = "Quick question, before I forget: how quickly will I get an answer through Watchline Day, AB123456?"
    assert topic_words.terms(asked) == ["Watchline", "Day"]
    assert topic_words.things(asked) == ["Watchline Day"]
    assert topic_words.terms("May I ask why that matters?") == []


def test_what_was_asked_last_stands_behind_the_colon() -> None:
    said = [
        ("customer", "Is it loud?"),
        ("agent", "No."),
        ("customer", "Fine. One thing:"),
        ("customer", "since you ask: what does it cost?"),
    ]
    assert topic_words.last_words(said) == "what does it cost?"
    assert topic_words.last_words([*said, ("agent", "£5."), ("customer", "Thanks.")]) == "Thanks."


def test_a_misheard_name_is_mended_by_what_was_said_more_often() -> None:
    known = ["Gatekeeper Solar", "Gatikeeper Zolar", "Gatekeeper Solar", "Calda Mini"]
    assert topic_words.correct_misheard("Gatikeeper Zolar", known) == "Gatekeeper Solar"
    # A sibling that was itself named is no mishearing.
    assert topic_words.correct_misheard("Calda One", [*known, "Calda Mini"]) == "Calda One"
    assert (
        topic_words.correct_misheard("Gatikeeper Zolar", ["Gatikeeper Zolar", "Gatekeeper Solar"]) == "Gatikeeper Zolar"
    )


def relevant(talk: str, text: str) -> bool:
    inputs = RelevantInputs(transcript=talk, passage=Passage(id="KB_1", text=text))
    return bool(json.loads(task_derivation.relevant(inputs, PROFILES["strong"], np.random.default_rng(1)))["relevant"])


ARTICLES = {
    "Gatekeeper Solar cannot be opened in the app\n\nDelete the old phone from the list of keys.": True,
    # Served with the initials of the product and the publisher above it.
    "Hearthwise\nGS cannot be opened in the app\n\nAn old phone may hold the keys. Delete it from the list.": True,
    "Calda Mini: Cleaning\n\nWipe it with a soft cloth. Why that is needed is told in the list of parts.": False,
    "Rinsewell Slim cannot be opened\n\nPress the lock sign for ten seconds.": False,
}


@pytest.mark.parametrize(("text", "expected"), ARTICLES.items())
def test_an_article_on_what_was_said_before_is_relevant_to_why(text: str, expected: bool) -> None:
    assert relevant(TALK["en"], text) is expected


def test_the_product_in_the_question_counts_not_the_one_of_the_conversation() -> None:
    talk = TALK["en"] + "\nAgent: The account was frozen.\nCustomer: I see. How long is the warranty on Alder Base?"
    assert relevant(talk, "Alder Base: Repair\n\nThe warranty on Alder Base runs for 60 months.")
    assert not relevant(talk, "Gatekeeper Solar: Repair\n\nThe warranty on Gatekeeper Solar runs for 24 months.")
