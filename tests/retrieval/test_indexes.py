"""Indexes as a user sees them: documents in, distinct documents out."""

import math
import random
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.errors import BadOption, UnknownName
from cxlab.metrics.retrieval import evaluate
from cxlab.records import Article
from cxlab.retrieval import KINDS, Chunk, Hit, cut, index, index_documents, split_kind
from cxlab.retrieval.bm25 import BM25Ranker
from cxlab.retrieval.documents import DocumentIndex
from cxlab.retrieval.embedders.embeddings import Hashing
from cxlab.retrieval.hybrid import HybridIndex

LAMP = Article(id="KB_2", kind="information", topic=("home",), title="Lamp Aurora", body="The lamp dims at night.")
LOCK = Article(id="KB_1", kind="issue", topic=("home",), title="Lock Nova", body="The door lock blinks red. " * 30)
PUMP = Article(id="KB_10", kind="policy", topic=("heat",), title="", body="Returns of a heat pump take ten days.")
ARTICLES = (LAMP, LOCK, PUMP)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_finds_the_article_and_its_best_piece(kind):
    built = index(kind, 120, 20, "hashing", ARTICLES)
    found = built.search(["why does my door lock blink red?", "heat pump returns", "lamp dims"], 2)
    assert [hits[0].id for hits in found] == ["KB_1", "KB_10", "KB_2"]
    assert all(len({hit.id for hit in hits}) == len(hits) <= 2 for hits in found)
    best = found[0][0]
    whole = f"{LOCK.title}\n\n{LOCK.body}"
    assert best.chunk.document == "KB_1"
    assert best.chunk.text == whole[best.chunk.start : best.chunk.end]
    assert "lock" in best.chunk.text.lower()
    assert found[2][0].chunk.text.startswith("Lamp Aurora\n\n")  # the title is indexed with the body
    assert evaluate(found, [["KB_1"], ["KB_10"], ["KB_2"]], (1,))["acc@1"] == 1
    text = str(built.description)
    assert "120" in text
    assert ("1.5" in text and r"\\w+" in text) == (kind in ("bm25", "hybrid"))
    assert ("hashing-1024" in text) == (kind in ("exact", "hybrid", "chroma"))


@pytest.mark.parametrize("kind", KINDS)
def test_odd_queries_and_corpora(kind):
    built = index(kind, 120, 20, "hashing", ARTICLES)
    assert built.search(["", "  \n", "lamp \ud800"], 3)[:2] == [[], []]
    assert built.search([], 3) == []
    assert index(kind, 120, 20, "hashing", ()).search(["lamp"], 3) == [[]]
    blank = Article(id="e", kind="policy", topic=(), title="", body=" \n ")
    assert index(kind, 10, 0, "hashing", (blank,)).search(["lamp"], 3) == [[]]
    odd = Article(id="o", kind="policy", topic=(), title="", body="...\n\n!!! \ud800 ???")
    assert len(index(kind, 50, 0, "hashing", (odd, LAMP)).search(["lamp dims"], 3)[0]) >= 1
    with pytest.raises(BadOption, match="list of queries"):
        built.search("lamp", 3)
    with pytest.raises(BadOption, match="k = 0"):
        built.search(["lamp"], 0)


@pytest.mark.parametrize("kind", ["bm25", "lexical"])
def test_lexical_indexes_return_nothing_that_shares_nothing(kind):
    assert index(kind, 120, 20, None, ARTICLES).search(["xyzzy"], 3) == [[]]
    assert index(kind, 120, 20, None, ARTICLES).search(["dims"], 3)[0][0].id == "KB_2"


def test_misuse_is_refused(tmp_path):
    with pytest.raises(UnknownName, match="kind of index 'faiss'"):
        index("faiss", 100, 0, None, ARTICLES)
    with pytest.raises(BadOption, match="needs an embedder"):
        index("exact", 100, 0, None, ARTICLES)
    with pytest.raises(UnknownName, match="unknown embedder 'word2vec'"):
        index("exact", 100, 0, "word2vec", ARTICLES)
    with pytest.raises(BadOption, match="'KB_2' comes twice"):
        index("bm25", 100, 0, None, (LAMP, LAMP))
    with pytest.raises(BadOption, match="overlap 100"):
        index("bm25", 100, 100, None, ARTICLES)
    with pytest.raises(BadOption, match="leave folder out"):
        index("bm25", 100, 0, None, ARTICLES, tmp_path)
    with pytest.raises(BadOption, match="k1 = -1"):
        BM25Ranker(["a"], k1=-1)


class Listed:
    """A ranker with fixed scores, which counts how it is asked."""

    def __init__(self, scores):
        self.scores = np.array(scores, dtype=np.float64)
        self.asked = []

    def encode(self, queries):
        return queries

    def rank(self, encoded, rows, n):
        self.asked.append(n)
        order = np.lexsort((np.arange(len(self.scores)), -self.scores))[:n]
        return [(order, self.scores[order]) for _ in rows]


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from((0.1, 0.2, 0.3, 0.4))), min_size=1, max_size=60),
    st.integers(1, 8),
)
def test_pieces_become_documents_and_are_refilled(pieces, k):
    pieces = sorted(pieces, key=lambda piece: piece[0])
    chunks = [Chunk(name, place, place + 1, "x") for place, (name, _) in enumerate(pieces)]
    found = DocumentIndex(chunks, Listed([score for _, score in pieces]), {}).search(["q"], k)[0]
    best = {name: max(score for other, score in pieces if other == name) for name, _ in pieces}
    expected = sorted(best, key=lambda name: (-best[name], name))[:k]
    assert [hit.id for hit in found] == expected
    assert [hit.score for hit in found] == [best[name] for name in expected]
    assert all(pieces[hit.chunk.start] == (hit.id, hit.score) for hit in found)


def test_refilling_stops_when_there_is_enough():
    chunks = [Chunk("a", place, place + 1, "x") for place in range(100)] + [Chunk("b", 0, 1, "x")]
    ranker = Listed([1.0] * 100 + [0.5])
    assert [hit.id for hit in DocumentIndex(chunks, ranker, {}).search(["q"], 2)[0]] == ["a", "b"]
    assert ranker.asked == [6, 24, 96, 101]
    ranker.asked.clear()
    DocumentIndex(chunks, ranker, {}).search(["q"], 1)
    assert ranker.asked == [3]


WORDS = "lamp lock pump red green door night heat"
words = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@given(st.lists(words, min_size=1, max_size=8), words, st.floats(0, 3), st.floats(0, 1))
def test_bm25_is_the_formula(texts, query, k1, b):
    ranker = BM25Ranker(texts, k1, b)
    [(places, scores)] = ranker.rank(ranker.encode([query]), np.array([0]), len(texts))
    counts = [Counter(re.findall(r"\w+", text)) for text in texts]
    mean = sum(c.total() for c in counts) / len(texts)
    expected = {}
    for place, count in enumerate(counts):
        score = 0.0
        for word in query.split():
            n = sum(word in other for other in counts)
            if count[word]:
                norm = k1 * (1 - b + b * count.total() / mean)
                score += math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) * count[word] / (count[word] + norm)
        if score > 0:
            expected[place] = score
    assert dict(zip(places.tolist(), scores.tolist(), strict=True)) == pytest.approx(expected, abs=1e-5)


def test_lexical_forgives_a_slip_of_the_pen_and_case():
    documents = [("a", "Rückgabe der Wärmepumpe"), ("b", "Garantie der Türschlösser")]
    built = index_documents("lexical", 100, 0, None, documents)
    assert [hits[0].id for hits in built.search(["WÄRMEPUMPEN", "türschloss"], 1)] == ["a", "b"]


class Fixed:
    """An index that gives fixed hits."""

    def __init__(self, hits):
        self.hits = [Hit(name, score, Chunk(name, 0, 1, self_text)) for name, score, self_text in hits]
        self.description = {"kind": "fixed"}

    def search(self, queries, k):
        return [self.hits[:k] for _ in queries]


def test_fusion_adds_reciprocal_ranks_of_what_scored():
    words = Fixed([("a", 3.0, "wa"), ("b", 1.0, "wb"), ("z", 0.0, "wz")])
    meaning = Fixed([("b", 0.9, "mb"), ("c", 0.8, "mc"), ("y", -0.1, "my")])
    found = HybridIndex([words, meaning]).search(["q"], 10)[0]
    assert [(hit.id, hit.chunk.text) for hit in found] == [("b", "mb"), ("a", "wa"), ("c", "mc")]
    assert [hit.score for hit in found] == pytest.approx([1 / 61 + 1 / 62, 1 / 61, 1 / 62])
    tied = HybridIndex([Fixed([("d", 1.0, "")]), Fixed([("c", 1.0, "")])]).search(["q"], 10)[0]
    assert [hit.id for hit in tied] == ["c", "d"]
    assert HybridIndex([words, meaning]).search(["q"], 1)[0][0].id == "b"  # fused over more than k
    with pytest.raises(BadOption, match="one index or more"):
        HybridIndex([])


@given(st.dictionaries(st.sampled_from("abcd"), st.text("xy \n", max_size=60), max_size=4), st.randoms())
def test_pieces_are_ordered_by_id_whatever_the_order_of_documents(documents, shuffle):
    items = list(documents.items())
    chunks = cut(items, 10, 3)
    mixed = shuffle.sample(items, len(items))
    assert cut(mixed, 10, 3) == chunks == sorted(chunks, key=lambda c: (c.document, c.start))
    assert all(
        chunk.text.strip() and documents[chunk.document][chunk.start : chunk.end] == chunk.text for chunk in chunks
    )


def test_exact_and_chroma_agree_and_chroma_opens_again(tmp_path):
    from cxlab.retrieval import chroma
    from cxlab.retrieval.embedders.embeddings import load_embedder

    rng = random.Random(0)
    names = [f"w{number}" for number in range(300)]
    documents = [(f"d{n:03d}", " ".join(rng.choices(names, k=40))) for n in range(120)]
    queries = [" ".join(rng.choices(names, k=6)) for _ in range(30)]
    exact = index_documents("exact", 80, 10, "hashing", documents).search(queries, 5)
    folder = tmp_path / "kb"
    hashing = load_embedder("hashing")
    built = chroma.build(cut(documents, 80, 10), hashing, {"kind": "chroma"}, folder)
    near = built.search(queries, 5)
    shared = sum(len({h.id for h in a} & {h.id for h in b}) for a, b in zip(exact, near, strict=True))
    assert shared >= 0.95 * 150
    opened = chroma.open_index(folder)
    assert opened.search(queries, 5) == near
    assert opened.description == built.description
    again = chroma.build(cut(documents[:3], 80, 10), hashing, {"kind": "chroma"}, folder)  # replaces what was there
    assert again.description["documents"] == 3
    assert {hit.id for hit in chroma.open_index(folder).search(queries[:1], 5)[0]} <= {"d000", "d001", "d002"}


def test_two_indexes_in_memory_do_not_mix():
    one = index_documents("chroma", 80, 10, "hashing", [("a", "the lamp")])
    other = index_documents("chroma", 80, 10, "hashing", [("b", "the lamp")])
    assert [hits[0].id for built in (one, other) for hits in built.search(["lamp"], 5)] == ["a", "b"]


def test_a_second_writer_and_an_unfinished_folder_are_refused(tmp_path):
    from cxlab.errors import BadStore, Busy
    from cxlab.retrieval import chroma
    from cxlab.store import layout

    with pytest.raises(BadOption, match="no knowledge base"):
        chroma.open_index(tmp_path)
    pieces = cut([("a", "the lamp")], 80, 10)
    with layout.lock(tmp_path / ".writer.lock"), pytest.raises(Busy, match="another process writes"):
        chroma.build(pieces, Hashing(), {}, tmp_path)
    built = chroma.build(pieces, Hashing(), {}, tmp_path)
    with pytest.raises(BadOption, match="no collection 'other'"):
        chroma.open_index(tmp_path, "other")
    built.collection.modify(metadata={"state": "building"})
    with pytest.raises(BadStore, match="never finished"):
        chroma.open_index(tmp_path)


def test_chroma_fetches_nothing(tmp_path, monkeypatch):
    import socket

    def refuse(*_, **__):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    built = index_documents("chroma", 80, 10, Hashing(256), [("a", "the lamp"), ("b", "a lock")], tmp_path)
    assert built.search(["lock"], 1)[0][0].id == "b"
    assert built.collection.query(query_texts=["lamp"], n_results=1)["ids"] == [["000000000"]]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("bm25", ("bm25", "")), ("hybrid", ("hybrid", "")), ("chroma:minilm", ("chroma", "minilm")),
        ("hybrid:openai:m", ("hybrid", "openai:m")), ("minilm", ("exact", "minilm")),
        ("endpoint:a/b", ("exact", "endpoint:a/b")),
    ],
)  # fmt: skip
def test_a_choice_names_a_kind_and_an_embedder(name, split):
    assert split_kind(name) == split


def test_a_kept_chroma_is_opened_while_nothing_changed_and_made_anew_otherwise(tmp_path, monkeypatch):
    from cxlab.errors import Busy
    from cxlab.retrieval import chroma
    from cxlab.store import layout

    class Counting(Hashing):
        embedded = 0

        def embed(self, texts):
            Counting.embedded += len(texts)
            return super().embed(texts)

    def made(documents):
        Counting.embedded = 0
        found = index_documents("chroma", 80, 10, Counting(), documents, tmp_path)
        return found.search(["lamp number 7"], 3)[0], Counting.embedded

    documents = [(f"d{n}", f"lamp number {n} stands on table {n * 7}") for n in range(40)]
    exact = index_documents("exact", 80, 10, "hashing", documents).search(["lamp number 7"], 3)[0]
    assert made(documents) == (exact, 41)
    assert made(documents) == (exact, 1)  # the query alone
    assert made([*documents[1:], ("d0", "another lamp")])[1] == 41
    assert made(documents) == (exact, 41)
    current = tmp_path / (tmp_path / "current").read_text()
    assert [path.parent for path in tmp_path.glob("*/chroma.sqlite3")] == [current]
    (tmp_path / "current").write_text("never finished")
    assert made(documents) == (exact, 41)
    current = tmp_path / (tmp_path / "current").read_text()
    moved = current.rename(f"{current}-damaged")  # this process holds the old one open
    (tmp_path / "current").write_text(moved.name)
    (moved / "chroma.sqlite3").write_bytes(b"x" * 5000)
    assert made(documents) == (exact, 41)
    monkeypatch.setattr(chroma, "WAIT_S", 0.0)
    with layout.lock(tmp_path / ".lock"), pytest.raises(Busy, match="another process"):
        made(documents)
