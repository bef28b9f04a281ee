"""The filter's steps: what is left out, why, and that nothing goes without a word."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.cdr.corpus.filtering import FilterOptions, filter_corpus
from cxlab.benchmarks.cdr.corpus.filtering.duplicates import find_alike, find_exact, find_near
from cxlab.benchmarks.cdr.corpus.filtering.personal_data import redact, redact_text
from cxlab.benchmarks.cdr.corpus.filtering.quality import find_fault, score
from cxlab.records import Message
from cxlab.records.conversation import ToolCall
from tests.benchmarks.cdr.conftest import CORPUS, talk

WORDS = [f"word{n}" for n in range(400)]


def write(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))


def jaccard(a: str, b: str) -> float:
    """Written out: the share of the five words in a row that both have."""

    def pieces(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[at : at + 5]) for at in range(max(1, len(words) - 4))}

    return len(pieces(a) & pieces(b)) / len(pieces(a) | pieces(b))


def test_near_duplicates_are_those_that_share_their_words_in_a_row() -> None:
    rng = random.Random(1)
    texts = {f"t{n:03d}": write(rng, 60) for n in range(60)}
    for n in range(0, 40, 2):
        words = texts[f"t{n:03d}"].split()
        words[rng.randrange(60)] = "changed"
        # One word in sixty leaves 51 of 61 fives, of which 56 stand in both.
        texts[f"u{n:03d}"] = " ".join(words)
    found = find_near(texts, 0.8)
    brute = {b: a for b in texts for a in texts if a < b and jaccard(texts[a], texts[b]) >= 0.8}
    assert found == brute
    assert len(found) == 20
    assert find_near(texts, 1.0) == {}


def test_the_same_letters_are_the_same_whatever_the_capitals() -> None:
    assert find_exact({"a": "Hello  there", "b": "hello there", "c": "hello", "d": "HELLO THERE"}) == {
        "b": "a",
        "d": "a",
    }


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_meaning_keeps_the_first_and_every_other_is_near_one_that_is_kept(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [f"n{place:02d}" for place in range(count)]
    found = find_alike(names, vectors, 0.9)
    kept = [name for name in names if name not in found]
    at = {name: place for place, name in enumerate(names)}
    assert all(other in kept and at[other] < at[name] for name, other in found.items())
    cosines = vectors[[at[name] for name in kept]] @ vectors[[at[name] for name in kept]].T
    assert (np.triu(cosines, 1) < 0.9 + 1e-6).all()
    assert find_alike(names, np.zeros((count, 3), dtype=np.float32), 0.5) == {}


def test_the_steps_come_in_order_and_nothing_is_lost() -> None:
    corpus = {
        **CORPUS,
        "again": CORPUS["late"].model_copy(update={"id": "again"}),
        "one": talk("one", "hi"),
        "links": talk(
            "links", "see https://example.com/a/very/long/address/of/a/page", "and www.example.com/another/one"
        ),
        "marks": talk("marks", "what?!?!?!?!?!?! is this ?!?!?!", "no idea at all !!!!!!!!!!!!!!!!!!"),
        "mail": talk("mail", "please write to jo.doe@example.com about my order", "I will, thank you for the address"),
    }
    done = filter_corpus(corpus, FilterOptions.read({"semantic": "hashing"}))
    reasons = {one.id: (one.step, one.reason) for one in done.rejected}
    assert reasons["again"] == ("exact", "the same as late")
    assert reasons["one"][0] == "quality"
    assert reasons["links"][0] == reasons["marks"][0] == "heuristics"
    assert [each.step for each in done.counts] == ["exact", "near", "semantic", "quality", "heuristics", "personal"]
    assert len(done.kept) + len(done.rejected) == len(corpus)
    assert "jo.doe" not in done.kept["mail"].messages[0].text
    assert done.redacted == {"e-mail": 1}
    for before, after in zip(done.counts, done.counts[1:], strict=False):
        assert before.kept == after.given
    assert done.to_frame().height == len(done.rejected)
    assert any("e-mail" in line for line in done.lines())


def test_a_step_without_an_embedder_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from cxlab.retrieval.embedders import minilm

    monkeypatch.setattr(minilm, "missing", lambda: "not here")
    done = filter_corpus(CORPUS)
    (semantic,) = [each for each in done.counts if each.step == "semantic"]
    assert (semantic.given, semantic.kept) == (6, 6)
    assert "no embedder" in semantic.note
    none = FilterOptions.read({"near": 0, "alike": 0, "quality": 0, "heuristics": False, "personal": False})
    assert [each.step for each in filter_corpus(CORPUS, none).counts] == ["exact"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("call (555) 123-4567 now", "call [phone] now"),
        ("a@b.co and 4111-1111-1111-1111", "[e-mail] and [card number]"),
        ("from 192.168.0.12", "from [IP address]"),
        ("order 48213 of 2024-03-02", "order 48213 of 2024-03-02"),
        ("no number", "no number"),
    ],
)
def test_personal_data(text: str, left: str) -> None:
    assert redact_text(text)[0] == left


def test_calls_of_tools_are_no_words_and_may_hold_personal_data() -> None:
    late = CORPUS["late"]
    call = ToolCall(id="c1", name="look_up", arguments='{"mail": "jo.doe@example.com", "order": "B-1"}')
    asking = late.model_copy(
        update={"messages": (*late.messages, Message(role="agent", text="", turn=9, tool_calls=(call,)))}
    )
    assert score(asking) == score(late)
    cleaned, counts = redact(asking)
    assert cleaned.messages[-1].tool_calls[0].arguments == '{"mail": "[e-mail]", "order": "B-1"}'
    assert counts["e-mail"] == redact(late)[1]["e-mail"] + 1


def test_quality_and_faults() -> None:
    assert score(CORPUS["late"]) > 0.75
    assert score(talk("x")) == score(talk("x", "", "")) == 0.0
    assert find_fault(CORPUS["late"]) == ""
    assert find_fault(talk("x", " ")) == "no text"
    assert "repeat" in find_fault(talk("x", "the same thing here", "the same thing here", "the same thing here"))
    assert "comes 4 times" in find_fault(
        talk("x", "buy now it is cheap buy now it is cheap buy now it is cheap buy now it is")
    )
