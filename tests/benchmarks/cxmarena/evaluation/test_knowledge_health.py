"""What is suspected of a knowledge base, on articles whose faults were put in by hand."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab.benchmarks.cxmarena.evaluation import knowledge_health
from cxlab.benchmarks.cxmarena.evaluation.contradiction_candidates import find_contrasts
from cxlab.benchmarks.cxmarena.evaluation.knowledge_health import (
    KnowledgeHealth,
    examine,
    find_conversations,
    read_questions,
)
from cxlab.benchmarks.cxmarena.evaluation.unnamed_contrasts import find_unnamed
from cxlab.records import Dataset, Sample
from cxlab.store import write

PARKING = "Parking\n\nThe Gabriel Oak has 8 charging points on the car deck. Bays are marked in green paint."
LETTER = "Letter\n\nThe Gabriel Oak has 4 charging points on the car deck. We wish you a calm crossing."
PETS = "Pets\n\nDogs travel in the kennel on deck two, and their owners may visit them every hour with a steward."
PETS_AGAIN = "Pets, again\n\nDogs travel in the kennel on deck two, and their owners may visit them every hour."
VOUCHERS = "Vouchers\n\nA gift voucher is valid for three years and pays for any crossing."


def make(home: Path, samples: list[tuple[str, dict[str, Any], dict[str, Any]]], **more: pl.DataFrame) -> str:
    texts = {"A_1": PARKING, "A_2": LETTER, "A_3": PETS, "A_4": PETS_AGAIN, "A_5": VOUCHERS}
    rows = [
        {"article_id": id, "title": text.partition("\n")[0], "body": text, "corpus": ["search"]}
        for id, text in texts.items()
    ]
    dataset = Dataset(
        id="kb", benchmark="cxmarena", name="kb", source="imported", config={}, seed=None, licence="own",
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    made = [
        Sample(id=f"s{n}", dataset_id="kb", benchmark="cxmarena", task=task, inputs=inputs, expected=expected)
        for n, (task, inputs, expected) in enumerate(samples)
    ]
    write.save_dataset(dataset, made, home, tables={"articles": pl.DataFrame(rows), **more})
    return dataset.id


def kinds(health: KnowledgeHealth) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for each in health.suspicions:
        found.setdefault(each.kind, []).append(each.articles or (each.question,))
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def test_without_gold_and_questions_only_the_texts_speak(home: Path) -> None:
    health = examine(make(home, []), home)
    assert kinds(health) == {"contradiction": [("A_1", "A_2")], "repetition": [("A_3", "A_4")]}
    contradiction = health.suspicions[0]
    assert [[text[20:30] for text in pair] for pair in contradiction.passages] == [["8 charging", "4 charging"]]
    assert not contradiction.known
    assert health.questions == {}


def test_what_both_sentences_state_is_no_contradiction() -> None:
    """A sentence with a value for each of two cases agrees with one that states either of them."""
    texts = {
        "A_1": "Carriage\n\nCheck-in for Port Anna closes 60 minutes before departure with a car, 40 minutes on foot.",
        "A_2": "Checking in\n\nCheck-in for Port Anna closes 60 minutes before departure, whatever the ticket.",
        "A_3": "Leaflet\n\nCheck-in for Port Anna closes 30 minutes before departure for vehicles.",
    }
    found = {(each.first, each.second) for each in find_contrasts(texts)}
    assert found == {("A_1", "A_3"), ("A_2", "A_3")}


def test_rules_without_a_name_contradict_each_other_where_they_count_differently() -> None:
    texts = {
        "A_1": "Lost things\n\nIt is kept for 60 days and then given to the seamen's mission.",
        "A_2": "Left on board\n\nWhat was left is kept for ninety minutes. It is given to the seamen's mission after "
        "90 days, and kept in Harwich until then.",
        "A_3": "Post\n\nAn e-mail is answered within 2 working days. Tickets cost £40 and are kept at the desk.",
        "A_4": "Money\n\nThe money is paid within 10 working days. Tickets kept at the desk cost £25.",
        "A_5": "Seamen\n\nIt is kept for two months, 60 days at most, and then given to the seamen's mission.",
    }
    found = find_unnamed(texts)
    # Not those that agree (A_1 with A_5), nor those that share a unit and one word alone, nor prices.
    assert {each[:2] for each in found} == {("A_1", "A_2"), ("A_2", "A_5")}
    assert found[0].passages[0][0].startswith("It is kept for 60 days")
    assert 0.35 <= found[0].same <= 1


def test_rules_of_two_named_things_do_not_contradict_each_other() -> None:
    texts = {
        "A_1": "Basic Fare: terms\n\nA change of the Basic Fare is possible until 14 days before departure.",
        "A_2": "Open Fare: terms\n\nA change of the Open Fare is possible until 2 days before departure.",
    }
    assert find_unnamed(texts) == []
    nameless = {id: text.replace(" Fare", " fare").replace(" fare: terms", "") for id, text in texts.items()}
    nameless = {id: text.replace("the Basic", "the").replace("the Open", "the") for id, text in nameless.items()}
    assert len(find_unnamed(nameless)) == 1


def test_german_nouns_of_two_things_do_not_contradict_each_other() -> None:
    """Each is written with a capital, and none is a name that is known."""
    texts = {
        "A_1": "Versand\n\nDie Lieferzeit ist bei Standardversand mit 4 Werktagen angegeben.",
        "A_2": "Übersicht\n\nIn der Übersicht zu Standardversand ist die Lieferzeit mit 5 Werktagen angegeben.",
        "A_3": "Abends\n\nDie Lieferzeit ist bei Abendversand mit 11 Werktagen angegeben.",
    }
    assert [each[:2] for each in find_unnamed(texts)] == [("A_1", "A_2")]


def test_the_page_is_told_of_rules_without_a_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        f"{__name__}.VOUCHERS", "Vouchers\n\nA gift voucher can be redeemed within 24 months of the purchase."
    )
    monkeypatch.setattr(
        f"{__name__}.PETS_AGAIN", "Gifts\n\nThe voucher must be redeemed within 12 months after its purchase."
    )
    assert kinds(examine(make(home, []), home))["contradiction"] == [("A_1", "A_2"), ("A_4", "A_5")]


def test_questions_tell_what_nobody_reaches_and_what_nobody_answers(home: Path) -> None:
    ask = [
        ("article_search", {"query": "how long is a gift voucher valid"}, {}),
        ("article_search", {"query": "do dogs travel in the kennel"}, {"article_id": "A_3"}),
        ("article_search", {"query": "how many charging points on the car deck"}, {"article_id": "A_1"}),
        ("article_search", {"query": "helicopter landing permission overnight insurance"}, {}),
        ("article_search", {"query": "where are the bays"}, {"article_id": "GONE"}),
        ("article_search", {"query": "hello"}, {}),
    ]
    found = kinds(examine(make(home, ask), home))
    wanted = [("helicopter landing permission overnight insurance",), ("where are the bays",)]
    assert sorted(found["unanswered"]) == wanted


def test_an_article_that_no_question_leads_to_is_unreached(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge_health, "REACH", 1)
    ask = [
        ("article_search", {"query": "how long is a gift voucher valid"}, {}),
        ("article_search", {"query": "gift voucher"}, {"article_id": "A_2"}),
    ]
    assert kinds(examine(make(home, ask), home))["unreached"] == [("A_1",), ("A_3",), ("A_4",)]


def test_known_pairs_are_marked_and_those_the_texts_do_not_show_are_added(home: Path) -> None:
    gold = ("kb_refinement", {"corpus": "search"}, {"contradictory": [["A_2", "A_1"]], "similar": [["A_5", "A_1"]]})
    found = {each.key: each for each in examine(make(home, [gold]), home).suspicions}
    assert found["contradiction:search:A_1+A_2"].known
    assert found["contradiction:search:A_1+A_2"].passages
    added = found["repetition:search:A_1+A_5"]
    assert (added.known, added.sure) == (True, None)
    assert not found["repetition:search:A_3+A_4"].known


def test_conversations_are_those_that_rest_on_an_article_and_damage_is_passed_over(home: Path) -> None:
    talks = pl.DataFrame(
        {"conversation_id": ["C_1", "C_2", "C_3"], "grounding": ['{"2": ["A_1"], "4": "x"}', "not json", None]}
    )
    said = {"transcript": "Agent: hi\nCustomer: and dogs?", "corpus": "search", "conversation_id": "C_9"}
    dataset = make(home, [("multi_turn", said, {"article_ids": ["A_3", "A_1"]})], conversations=talks)
    assert find_conversations(dataset, home) == {"A_1": ("C_1", "C_9"), "A_3": ("C_9",)}
    question = next(iter(read_questions(write.load_samples(dataset, home))))
    assert (question.text, question.right) == ("and dogs?", ("A_3", "A_1"))


def test_a_dataset_without_articles_is_healthy(home: Path) -> None:
    dataset = Dataset(
        id="bare", benchmark="cxmarena", name="bare", source="imported", config={}, seed=None, licence="own",
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    write.save_dataset(dataset, [], home)
    assert examine("bare", home) == KnowledgeHealth()
