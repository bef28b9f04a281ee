"""Brands written by hand: their labels hold, what is wrong is found, and no phrase is used up."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.cxmarena.benchmark import check, check_files, plan
from cxlab.benchmarks.cxmarena.knowledge.formats import FORMATS
from cxlab.benchmarks.cxmarena.options import CxmDataset
from cxlab.benchmarks.cxmarena.written import brand_files, dataset, proof
from cxlab.benchmarks.cxmarena.written.marked_text import numbers, read_marks
from cxlab.benchmarks.generation import GenerationContext, stages
from cxlab.errors import BadFile, UnknownName
from cxlab.store import write
from tests.benchmarks.cxmarena.cxm_brand import read_conversation
from tests.data import reader_questions

ALL = [(name, language) for name in brand_files.names() for language in brand_files.languages(name)]
RUN, MOST = 6, 2


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    """(dataset, samples, frames) of the English part."""
    return dataset.make(brand_files.load("aldersea"), tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize(("name", "language"), ALL)
def test_labels_hold(name, language):
    assert [str(one) for one in proof.prove(brand_files.load(name, language))] == []


def test_every_fact_stands_in_an_article():
    stated = {
        fact for name, language in ALL for a in brand_files.load(name, language).articles for fact in a.body.facts
    }
    assert sorted(set(brand_files.load("aldersea").facts) - stated) == []


def test_knowledge_base_is_as_promised(made):
    brand = brand_files.load("aldersea")
    assert len(brand.articles) >= 40
    assert sum(len(a.body.text.split()) >= 1500 for a in brand.articles) >= 4
    assert {a.head["format"] for a in brand.articles} == set(FORMATS)
    assert len(brand.causes) == 20
    assert {a.head.get("intent") for a in brand.articles if a.issue} == set(brand.causes)
    own = made[2]["articles"].filter(made[2]["articles"]["corpus"].list.contains("multi_turn"))
    facts = {row["fact_id"]: row["shown"] for row in made[2]["facts"].iter_rows(named=True)}
    for row in own.iter_rows(named=True):
        assert row["facts"]
        assert row["format"] == next(a.head["format"] for a in brand.articles if a.title == row["title"])
    assert len(facts) > 150


def test_pairs_follow_from_the_facts(made):
    brand, gold = brand_files.load("aldersea"), next(s for s in made[1] if s.task == "kb_refinement").expected
    assert Counter(
        kind for one in brand.refinement for kind in one.head if kind in ("plants", "copy of", "passage of")
    ) == {
        "plants": 6,
        "copy of": 5,
        "passage of": 3,
    }
    similar, contradictory = ({tuple(pair) for pair in gold[kind]} for kind in ("similar", "contradictory"))
    assert len(similar) == 8
    assert not similar & contradictory
    # By hand: an outdated leaflet says £7 for the car park, and one article alone says £9.
    ids = {a.slug: f"RKB_{n}" for n, a in enumerate((*brand.articles, *brand.refinement), 1)}
    parking = {pair for pair in contradictory if ids["outdated_parking"] in pair}
    assert parking == {tuple(sorted((ids["outdated_parking"], ids["harbour_north"])))}
    assert {one for pair in contradictory for one in pair if ids["outdated_notice"] in pair} == {
        ids[slug] for slug in ("outdated_notice", "conditions", "desk_lost")
    }


def test_same_dataset_whatever_the_seed(tmp_path: Path):
    found = [
        stages.finish(dataset.generate("aldersea", "en", GenerationContext(seed=seed, home=tmp_path)))
        for seed in (1, 7)
    ]
    assert found[0].dataset.id == found[1].dataset.id
    samples = write.load_samples(found[0].dataset.id, tmp_path)
    assert Counter(s.task for s in samples) == found[0].counts
    assert list((found[0].folder / "files").glob("*.pdf"))


def test_gold_scores_full_and_nothing_scores_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    for name, language in ALL:
        built = stages.finish(dataset.generate(name, language, GenerationContext(home=tmp_path)))
        samples = write.load_samples(built.dataset.id, tmp_path)
        assert samples
        assert [complaint for sample in samples for complaint in check(sample)] == []


def test_check_of_files_covers_them():
    assert check_files(None) == []


@pytest.mark.parametrize(("name", "language"), ALL)
def test_no_phrase_is_used_up(name, language):
    """No run of six words in more than two conversations, names apart."""
    brand = brand_files.load(name, language)
    names = set(
        re.findall(r"\w+", " ".join((brand.name, *brand.subjects.values(), "Gabriel Oak Margaret Hale")).casefold())
    )
    where: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for talk in brand.conversations:
        for message in talk.messages:
            words = re.findall(r"[^\W_]+(?:['’][^\W_]+)?", message.said.text.casefold())
            for at in range(len(words) - RUN + 1):
                if not names & set(run := tuple(words[at : at + RUN])):
                    where[run].add(talk.id)
    assert {" ".join(run): sorted(talks) for run, talks in where.items() if len(talks) > MOST} == {}


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match="aldersea"):
        brand_files.load("nobody")
    with pytest.raises(UnknownName, match="it"):
        brand_files.load("aldersea", "it")


# What the proof finds ---------------------------------------------------------------------------------


def _prove(text: str, **keys: str) -> list[str]:
    """Complaints about a brand whose only article is this text."""
    brand = brand_files.load("aldersea")
    head = {"topic": "Tickets", "format": "text", **keys}
    article = replace(brand.articles[0], slug="one", head=head, body=read_marks(text))
    return [
        one.problem
        for one in proof.prove(replace(brand, articles=(article,), refinement=(), conversations=(), queries=()))
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("It costs [[£36|basic.change_fee]].", "'£36' is not '£35'"),
        ("It costs £35.", "35 stands in no mark"),
        ("It costs [[£35|basic.fee]].", "unknown fact 'basic.fee'"),
        ("It costs [[£35]].", "a bracket that is no mark"),
        ("It costs [[£36|basic.change_fee!]].", "is planted and not said to be"),
        ("Wait [[forty minutes|hc.check_in_closes_vehicles]].", "'forty minutes' is not '60 minutes'"),
    ],
)
def test_what_is_stated_wrongly_is_found(text, problem):
    assert any(problem in one for one in _prove(text))


@pytest.mark.parametrize(
    "text",
    [
        "It costs [[£35|basic.change_fee]].",
        "It costs [[35 pounds|basic.change_fee]] and is rung up on the M20.",
        "Be there [[an hour|hc.check_in_closes_vehicles]] before.",
        "1. A fare of [[£12|-]], say.",
    ],
)
def test_what_is_stated_rightly_passes(text):
    assert _prove(text) == []


def test_planted_value_is_named():
    assert _prove("It costs [[£36|basic.change_fee!]].", plants="basic.change_fee") == []


@given(st.lists(st.tuples(st.text("ab .,", max_size=8), st.sampled_from(["x.y", "x.y!", "-"])), max_size=5))
def test_marks_leave_the_text(parts):
    written = "".join(f"{before}[[w {n}|{fact}]]" for n, (before, fact) in enumerate(parts))
    read = read_marks(written)
    assert read.text == "".join(f"{before}w {n}" for n, (before, _) in enumerate(parts))
    assert [mark.words for mark in read.marks] == [f"w {n}" for n in range(len(parts))]
    assert not numbers(read.rest)


def _talk(tmp_path: Path, lines: str):
    path = tmp_path / "1.md"
    path.write_text(f"## C_01 · chat · date_change · solved\nwho: somebody\nagent: Ann\n\n{lines}\n", encoding="utf-8")
    return next(brand_files.read_conversations(path))


def test_conversation_is_read(tmp_path):
    talk = _talk(
        tmp_path,
        "C?: How much?\nA: [[£35|basic.change_fee]]. #price\n"
        "> quote_change: reference=AF1; sailing=X\n< sum=£35\nC: Fine.",
    )
    roles = [(one.role, one.said.text) for one in talk.messages]
    assert roles == [("customer", "How much?"), ("agent", "£35."), ("customer", "Fine.")]
    assert talk.messages[0].asks
    assert talk.messages[1].tags == ("price",)
    assert talk.messages[1].calls == [("quote_change", {"reference": "AF1", "sailing": "X"}, {"sum": "£35"})]


@pytest.mark.parametrize("line", ["Hello.", "< a=b", "C: Hi.\n> quote_change: reference", "C: Hi.\n< a=b"])
def test_conversation_that_cannot_be_read(tmp_path, line):
    with pytest.raises(BadFile, match=r"1\.md:"):
        _talk(tmp_path, line)


def test_agents_figures_come_from_somewhere(tmp_path):
    brand = brand_files.load("aldersea")
    talk = _talk(tmp_path, "C: I booked 2 beds.\nA: 2 beds, for £84?\nC: Yes.")
    found = [one.problem for one in proof.prove(replace(brand, conversations=(talk,)))]
    assert any("nobody said 84 before" in one for one in found)
    assert not any("nobody said 2 before" in one for one in found)


# The conversations ------------------------------------------------------------------------------------


def test_conversations_are_as_promised():
    talks = brand_files.load("aldersea").conversations
    assert len(talks) == 60
    assert set(Counter(talk.intent for talk in talks).values()) == {3}
    assert min(Counter(talk.channel for talk in talks).values()) >= 25
    assert min(Counter(talk.outcome for talk in talks).values()) >= 15
    assert sum(any(one.calls for one in talk.messages) for talk in talks) >= 50
    assert all(any(one.asks for one in talk.messages) for talk in talks)


def test_gold_of_a_turn_is_all_that_states_its_facts(made):
    """By brute force over the tables, for each grounded message of each conversation."""
    own = made[2]["articles"].filter(made[2]["articles"]["corpus"].list.contains("multi_turn"))
    stating = {row["article_id"]: set(row["facts"]) for row in own.iter_rows(named=True)}
    seen = 0
    for row in made[2]["conversations"].iter_rows(named=True):
        talk = read_conversation(row)
        for place, message in enumerate(talk.messages):
            facts = set(message.data.get("facts") or ())
            right = {name for name, stated in stating.items() if facts & stated}
            assert set(talk.grounding.get(place, ())) == right
            assert set(message.data.get("sources") or ()) == right
            seen += bool(right)
    assert seen > 60


def test_evidence_lies_within_the_conversation(made):
    for sample in made[1]:
        if sample.task == "quality":
            numbers_ = {line["id"] for line in sample.inputs["lines"]}
            for answer, evidence in zip(sample.expected["answers"], sample.expected["evidence"], strict=True):
                assert set(evidence) <= numbers_
                assert bool(evidence) == (answer == "Yes")


@pytest.mark.parametrize("language", ["de", "fr"])
def test_other_languages_are_as_promised(language):
    brand = brand_files.load("aldersea", language)
    assert len(brand.articles) == 12
    assert len(brand.conversations) == 15
    assert {a.head["format"] for a in brand.articles} == set(FORMATS)
    assert len(brand.causes) == 20
    assert len({talk.intent for talk in brand.conversations}) >= 10
    assert len(brand.queries) >= 12
    assert set(brand.quality) == set(brand_files.load("aldersea").quality)


def test_nobody_is_asked_to_write_it():
    assert plan(CxmDataset(brand="aldersea", model="openai:gpt-4.1"), GenerationContext()) is None


def test_sixty_questions_for_readers():
    asked = reader_questions.draw()
    assert len(asked) == 60
    assert [one["number"] for one in asked] == list(range(1, 61))
    # What readers get holds no label of the conversations' files.
    assert not [one for one in asked if re.search(r"#[a-z]+|^(?:no|na|who): ", one["read"], re.MULTILINE)]


@pytest.mark.parametrize(("name", "language"), ALL)
def test_definitions_quote_no_conversation(name, language):
    """No run of five words of a cause's definition stands in a conversation that is evaluated."""
    brand = brand_files.load(name, language)

    def runs(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", text.casefold())
        return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}

    said = {run for talk in brand.conversations for one in talk.messages for run in runs(one.said.text)}
    assert not {run for _, _, about in brand.causes.values() for run in runs(about)} & said


def test_no_constant_answer_gets_far(made):
    """One label for all is right at most in a twentieth of the causes, one answer for all in two of three questions."""
    labels = Counter(s.expected["label"] for s in made[1] if s.task == "intent" and s.inputs["taxonomy"] == "A")
    assert max(labels.values()) / labels.total() <= 0.05 + 1e-9
    answers = Counter(answer for s in made[1] if s.task == "quality" for answer in s.expected["answers"])
    assert max(answers.values()) / answers.total() < 2 / 3


def test_choices_of_tools_are_as_large_as_published_and_intents_have_two_levels(made):
    tools = [s for s in made[1] if s.task == "tools"]
    assert all(list(s.inputs["candidates"]) == ["16", "32", "64", "96", "128"] for s in tools)
    catalogue = brand_files.load("aldersea").tools
    assert len(catalogue) == 128
    assert len({told["does"] for told in catalogue.values()}) == 128
    rows = made[2]["taxonomies"].to_dicts()
    two = {f"{row['l1']}:{row['l2']}" for row in rows if row["taxonomy"] == "B"}
    assert len(two) == 20
    by_talk: dict[str, dict[str, str]] = defaultdict(dict)
    for sample in made[1]:
        if sample.task == "intent":
            by_talk[sample.inputs["conversation_id"]][sample.inputs["taxonomy"]] = sample.expected["label"]
    assert len(by_talk) == 60
    for labels in by_talk.values():
        assert labels["B"] == f"{labels['C']}:{labels['A']}"
        assert labels["B"] in two


def test_noise_can_be_switched_on_and_off(made, tmp_path):
    brand = brand_files.load("aldersea")
    _, samples, frames = dataset.make(brand, tmp_path, ("speech", "ivr", "fragmentation"), 0.2)
    assert set(frames["articles"]["format"].to_list()) == {"text"}
    clean = dict(zip(made[2]["conversations"]["conversation_id"], made[2]["conversations"]["noisy"], strict=True))
    changed = Counter()
    for row in frames["conversations"].iter_rows(named=True):
        noise = json.loads(row["noise"])
        assert row["messages"] == clean[row["conversation_id"]]
        assert (noise["wer"] > 0) == (row["channel"] == "voice")
        assert not noise["opening"] or row["channel"] == "voice"
        changed[row["noisy"] != row["messages"]] += 1
    assert changed[True] > 20
    rows = [sample for sample in samples if sample.task in ("quality", "multi_turn")]
    assert [complaint for sample in rows for complaint in check(sample)] == []
