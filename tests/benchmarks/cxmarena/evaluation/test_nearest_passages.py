"""Candidates by nearness: against brute force, and on the articles that people wrote."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.cxmarena.evaluation.contradiction_candidates import excerpt, propose
from cxlab.benchmarks.cxmarena.evaluation.cosines import cosine_rows
from cxlab.benchmarks.cxmarena.evaluation.nearest_passages import FIGURES, TOPIC, find_near_pairs
from cxlab.benchmarks.cxmarena.written import articles, brand_files, dataset

WORDS = ["ship", "cabin", "deck", "ticket", "berth", "12", "30"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=4, max_size=6).map(lambda words: f"The {' '.join(words)}.")
TEXTS = st.lists(st.lists(SENTENCES, max_size=4), min_size=1, max_size=6)


@settings(max_examples=20, deadline=None)
@given(TEXTS, st.integers(1, 4), st.lists(st.sampled_from(["", "On board", "Tickets"]), min_size=6, max_size=6))
def test_near_pairs_are_those_of_brute_force(bodies: list[list[str]], k: int, under: list[str]) -> None:
    texts = {f"A{n}": "\n".join([f"Page {n}", *body]) for n, body in enumerate(bodies)}
    topics = {f"A{n}": topic for n, topic in enumerate(under) if topic}
    said = [(f"A{n}", f"Page {n}. {s}", s) for n, body in enumerate(bodies) for s in dict.fromkeys(body)]
    cosines = cosine_rows([each[1] for each in said], "words")(0, len(said)) if said else np.zeros((0, 0))
    near: dict[str, dict[str, float]] = {name: {} for name in texts}
    for i, (one, _, mine) in enumerate(said):
        for j, (other, _, theirs) in enumerate(said):
            if one != other and mine != theirs and cosines[i, j] > 0:
                both = any(map(str.isdigit, mine)) and any(map(str.isdigit, theirs))
                alike = TOPIC * (one in topics and topics[one] == topics.get(other))
                near[one][other] = max(near[one].get(other, 0.0), float(cosines[i, j]) + FIGURES * both + alike)
    found = {pair[:2]: pair for pair in find_near_pairs(texts, k=k, topics=topics)}
    assert list(found.values()) == sorted(found.values(), key=lambda one: (one.rank, -one.nearness, *one[:2]))
    for one, others in near.items():
        for other, value in others.items():
            closer = sum(v > value + 1e-5 for v in others.values())
            level = sum(v > value - 1e-5 for v in others.values())
            pair = (min(one, other), max(one, other))
            if level <= k:
                assert found[pair].rank <= level
            if pair in found:
                assert found[pair].nearness == pytest.approx(value, abs=1e-5)
            elif closer < k:
                assert level > k  # one of several that are as near
    for pair in found.values():
        for mine, theirs in pair.passages:
            assert (mine in texts[pair.first], theirs in texts[pair.second], mine != theirs) == (True, True, True)


def test_every_planted_contradiction_of_the_written_brand_is_shown_to_the_model() -> None:
    """Whoever reads well finds all of them: each pair is proposed, and both values stand in what is shown."""
    brand = brand_files.load("aldersea")
    tools = {name: dataset.define_tool(name, told) for name, told in brand.tools.items()}
    own = [articles.make_article(brand, one, f"KB_{n}", tools) for n, one in enumerate(brand.articles, 1)]
    corpus = articles.refine(brand, own, tools)
    written = dict(zip((a.id for a in corpus.articles), (*brand.articles, *brand.refinement), strict=True))
    texts = {article.id: article.body for article in corpus.articles}
    topics = {article.id: article.topic[0] for article in corpus.articles}
    proposed = {one[:2]: one for one in propose(texts, topics=topics)}
    assert len(corpus.contradictory) == 11
    assert len(proposed) <= 450
    for pair in corpus.contradictory:
        fact = next(m.fact for name in pair for m in written[name].body.marks if m.planted)
        for name, shown in zip(pair, zip(*proposed[pair].passages, strict=True), strict=True):
            told = next(m.words for m in written[name].body.marks if m.fact == fact)
            assert told in excerpt(texts[name], shown)


def test_sentences_that_are_the_same_everywhere_bring_nobody_together() -> None:
    shared = "All prices hold for the ship of the day."
    texts = {f"A{n}": f"{name}\n\n{shared}" for n, name in enumerate(("Berths", "Meals", "Dogs"))}
    assert find_near_pairs(texts) == []
    assert find_near_pairs({"A": "Alone"}) == []


def test_of_two_that_are_as_near_the_one_under_the_same_topic_comes_first() -> None:
    said = "Dogs stay in the car."
    texts = {
        name: f"{name}\n\n{said[:-1]} {more}." for name, more in (("A", "kennel"), ("B", "crate"), ("C", "basket"))
    }
    assert find_near_pairs(texts, k=1)[0][:2] == ("A", "B")
    topics = {"A": "Animals", "B": "Tickets", "C": "Animals"}
    assert find_near_pairs(texts, k=1, topics=topics)[0][:2] == ("A", "C")
