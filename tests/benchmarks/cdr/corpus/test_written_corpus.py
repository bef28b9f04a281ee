"""The corpus written by hand is as promised, and what is wrong with such files is found."""

import functools
import re
import shutil
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from cxlab.benchmarks.cdr.corpus import AREAS, DOMAINS, load_written
from cxlab.benchmarks.cdr.corpus.written import FOLDER, load_vocabulary
from cxlab.errors import BadFile
from cxlab.records import Conversation

RUN, MOST = 6, 2
SHORT_FORMS = re.compile(r"(n['’]t|['’](s|d|ll|ve|re|m))$")


@pytest.fixture(scope="module")
def corpus():
    return load_written()


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’.][^\W_]+)*", text.casefold())


@functools.cache
def function_words() -> frozenset[str]:
    """Words that carry no matter of their own: a reversal may differ in these."""
    # Here, because each process that collects tests would take 2 s for it.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS | {"did", "do", "does"}


def content_words(conversation: Conversation) -> set[str]:
    said = {word for message in conversation.messages for word in words(message.text)}
    return {SHORT_FORMS.sub("", word) for word in said} - function_words()


def test_corpus_is_as_large_as_promised(corpus):
    assert len(corpus.conversations) == 100
    assert Counter(one.labels["domain"] for one in corpus.conversations.values()).keys() == DOMAINS.keys()
    assert min(Counter(one.labels["domain"] for one in corpus.conversations.values()).values()) >= 8
    areas = Counter(one.labels["area"] for one in corpus.conversations.values())
    assert areas.keys() == AREAS.keys()
    assert min(areas.values()) >= 18
    assert sum(one.labels["partner"] == "agent" for one in corpus.conversations.values()) >= 20


def test_each_query_has_some_matches_and_not_many(corpus):
    assert {name: len(found) for name, found in corpus.relevant.items() if not 1 <= len(found) <= 15} == {}
    # Nearly every conversation is an answer to something, or is the reversal of one that is.
    found = frozenset().union(*corpus.relevant.values())
    assert corpus.conversations.keys() - found == set()


def test_each_way_has_a_match_whose_reversal_is_none(corpus):
    """All words are shared, and only the order tells the two apart."""
    directed = [query for query in corpus.queries if query.rule.directed]
    assert {query.area for query in directed} == AREAS.keys()
    assert len(directed) >= 15
    for query in directed:
        gold = corpus.relevant[query.id]
        other_way = {name: corpus.conversations[name].labels.get("reversal") for name in gold}
        assert any(other and other not in gold for other in other_way.values()), query.id


def test_labels_are_those_of_the_list_and_all_in_use(corpus):
    known = load_vocabulary()
    used: dict[str, set[str]] = {"user": set(), "assistant": set()}
    for one in corpus.conversations.values():
        for message in one.messages:
            used["user" if message.role == "customer" else "assistant"] |= set(message.data["labels"])
            assert ("terse" in message.data["labels"]) == (len(message.text.split()) <= 5), message.text
    assert used["user"] <= known["user"]
    assert used["assistant"] <= known["assistant"]
    assert (known["user"] | known["assistant"]) - (used["user"] | used["assistant"]) == set()


def test_conversations_have_six_to_fourteen_messages(corpus):
    assert {len(one.messages) for one in corpus.conversations.values()} <= set(range(6, 15))
    for one in corpus.conversations.values():
        sides = [message.role for message in one.messages]
        assert sides[0] == "customer"
        assert all(a != b for a, b in pairwise(sides)), one.id


def test_no_phrase_is_used_up(corpus):
    """No run of six words in more than two conversations."""
    where: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for one in corpus.conversations.values():
        for message in one.messages:
            said = words(message.text)
            for at in range(len(said) - RUN + 1):
                where[tuple(said[at : at + RUN])].add(one.id)
    assert {" ".join(run): sorted(ids) for run, ids in where.items() if len(ids) > MOST} == {}


def test_reversals_have_the_same_content_words(corpus):
    pairs = [
        (one, corpus.conversations[other])
        for one in corpus.conversations.values()
        if (other := one.labels.get("reversal"))
    ]
    assert len(pairs) >= 32
    for one, other in pairs:
        assert content_words(one) == content_words(other), (one.id, other.id)


def test_queries_are_spread_over_areas(corpus):
    assert Counter(query.area for query in corpus.queries) == dict.fromkeys(AREAS, 12)
    assert len({query.text.casefold() for query in corpus.queries}) == 60
    assert {one.labels["domain"] for one in corpus.conversations.values()} <= DOMAINS.keys()


def test_what_is_relevant_follows_from_the_labels(corpus):
    """By hand, from reading these conversations."""
    assert "travel_01" in corpus.relevant["dynamics01"]
    assert "travel_02" not in corpus.relevant["dynamics01"]
    assert "travel_02" in corpus.relevant["dynamics02"]
    assert "health_01" in corpus.relevant["emotion02"]
    assert "health_01" not in corpus.relevant["emotion03"]
    assert "health_06" in corpus.relevant["style03"]


# Faults -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files without the domains, but for one of a single conversation."""
    for name in ("labels.yaml", "queries.yaml"):
        shutil.copy(FOLDER / name, tmp_path / name)
    lines = ["conversations:", "  - id: health_01", "    area: emotion_feedback", "    messages:"]
    for _ in range(3):
        lines += ['      - user: "Hello."', "        labels: [sad]", '      - assistant: "Hm."']
    (tmp_path / "health.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_a_folder_of_ones_own_is_read(folder):
    found = load_written(folder)
    assert [message.turn for message in found.conversations["health_01"].messages] == [1, 1, 2, 2, 3, 3]
    assert found.relevant["emotion11"] == {"health_01"}
    assert found.relevant["emotion01"] == frozenset()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("health.yaml", "[sad]", "[sadd]", r"health\.yaml:6: sadd: no label of the user"),
        (
            "health.yaml",
            'assistant: "Hm."',
            'assistant: "Hm."\n        labels: [sad]',
            r"health\.yaml:8: sad: no label",
        ),
        ("health.yaml", "area: emotion_feedback", "area: feelings", r"health\.yaml:3: "),
        (
            "health.yaml",
            "area: emotion_feedback",
            "area: emotion_feedback\n    reversal: health_02",
            r"health\.yaml:4: ",
        ),
        (
            "health.yaml",
            "area: emotion_feedback",
            "area: emotion_feedback\n    reversal: health_01",
            r"health\.yaml:4: ",
        ),
        ("health.yaml", 'user: "Hello."', 'user: ""', r"health\.yaml:5: "),
        ("health.yaml", 'user: "Hello."', 'customer: "Hello."', r"health\.yaml:5: "),
        ("health.yaml", '"Hm."', '"Hm."\n        user: "Hm."', r"health\.yaml:7: "),
        ("health.yaml", "- id: health_01", "- id: Health 1", r"health\.yaml:2: "),
        ("labels.yaml", "sad: ", "formal: ", r"labels\.yaml:\d+: the label 'formal' stands in two kinds"),
        ("queries.yaml", "[ashamed]", "[shy]", r"queries\.yaml:\d+: shy: no label of the user"),
        ("queries.yaml", "id: emotion02", "id: emotion01", r"queries\.yaml:\d+: the query 'emotion01' stands twice"),
        ("queries.yaml", "{has: {user: [ashamed]}}", "{had: {user: [ashamed]}}", r"queries\.yaml:\d+: "),
    ],
)
def test_a_fault_is_told_with_file_and_line(folder, file, old, new, said):
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadFile, match=said):
        load_written(folder)


def test_ids_and_files_are_checked(folder):
    text = (folder / "health.yaml").read_text(encoding="utf-8")
    (folder / "science.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match="'health_01' stands twice"):
        load_written(folder)
    (folder / "science.yaml").rename(folder / "gossip.yaml")
    with pytest.raises(BadFile, match=r"gossip\.yaml: 'gossip' is no domain"):
        load_written(folder)
