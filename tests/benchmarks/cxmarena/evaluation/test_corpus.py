"""What all attempts of a run share is made once, before the first of them."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from cxlab.benchmarks.cxmarena.evaluation import corpus
from cxlab.benchmarks.cxmarena.options import CxmOptions
from cxlab.retrieval.embedders.vector_cache import CachedEmbedder
from tests.llm.fault_server import FaultServer
from tests.stores.searches import DATASET, make_searched_store, samples


class Counting:
    name, dim = "counting", 2

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts):
        self.seen += texts
        return np.array([[1.0, len(text)] for text in texts], dtype=np.float32)


@pytest.fixture
def inner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counting:
    monkeypatch.setenv("CXLAB_HOME", str(make_searched_store(tmp_path)))
    made = Counting()
    monkeypatch.setattr(corpus, "embedder", lambda kind: CachedEmbedder(made))
    return made


def test_pieces_are_embedded_once_and_found_by_whoever_builds_the_index(inner: Counting) -> None:
    options = CxmOptions(retrieval="counting", chunk=20, overlap=5)
    steps = list(corpus.prepare(samples(), options))
    assert steps[0][0] == 0
    assert steps[-1][:2] == (len(inner.seen), len(inner.seen))
    done = list(inner.seen)
    assert len(set(done)) == len(done) > len(corpus.load(DATASET, "search").texts)
    assert list(corpus.prepare(samples(), options)) == []
    for name in ("search", "multi_turn"):
        corpus.index(DATASET, name, "counting", 20, 5)
    assert inner.seen == done


def test_indexes_over_words_and_tasks_without_search_prepare_nothing(inner: Counting) -> None:
    assert list(corpus.prepare(samples(), CxmOptions())) == []
    other = [replace_task(sample) for sample in samples()]
    assert list(corpus.prepare(other, CxmOptions(retrieval="counting"))) == []
    assert inner.seen == []


@pytest.mark.parametrize("price", [0.5, None])
def test_a_servers_vectors_are_in_the_sums_of_the_search_that_asked_for_them(
    price: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 tokens a call, by the server's word: the index's with the first search, none for what was kept."""
    monkeypatch.setenv("CXLAB_HOME", str(make_searched_store(tmp_path)))
    prices = tmp_path / "models.toml"
    prices.write_text(
        f'[embeddings]\n"endpoint:env/tiny" = {{ prompt_usd = {price}, as_of = "2026-01-01", source = "test" }}\n'
        if price
        else ""
    )
    monkeypatch.setenv("CXLAB_MODELS", str(prices))
    with FaultServer() as server:
        scene = server.scene()
        monkeypatch.setenv("CXLAB_ENDPOINT_URL", scene.url)
        kind = "endpoint:env/tiny"
        assert list(corpus.prepare(samples(), CxmOptions(retrieval=kind)))
        built = scene.calls
        assert built > 0

        def ask(query: str) -> corpus.SearchResult:
            return asyncio.run(corpus.search(DATASET, "search", query, 3, kind=kind))

        first, other, again = ask("lamp"), ask("delivery"), ask("lamp")
    calls = [sum(one.usage.calls for one in found.spent) for found in (first, other, again)]
    assert calls[0] > built
    assert calls[1:] == [1, 0]
    assert sum(calls) == scene.calls
    (paid,) = other.spent
    assert paid.usage.prompt_tokens
    assert paid.cost_usd == (None if price is None else pytest.approx(paid.usage.prompt_tokens * price / 1e6))


def test_chroma_ranks_as_the_exact_index_and_is_kept_with_the_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_searched_store(tmp_path)
    monkeypatch.setenv("CXLAB_HOME", str(home))
    (home / "indexes" / "cxmarena-gone").mkdir(parents=True)

    def ask(kind: str) -> corpus.SearchResult:
        return asyncio.run(corpus.search(DATASET, "search", "cleaning the lamp", 5, kind=kind))

    exact, near = ask("hashing"), ask("chroma:hashing")
    assert (near.hits, near.chunks) == (exact.hits, exact.chunks)
    assert near.built.about["embedder"] == "hashing-1024"
    assert [path.name for path in (home / "indexes").iterdir()] == [DATASET]
    ids = corpus.nearest(DATASET, "search", "cleaning the lamp", 3)
    assert len(ids) == 3
    assert set(ids) <= set(corpus.load(DATASET, "search").texts)


def replace_task(sample):
    return sample.model_copy(update={"task": "intent"})


def test_a_long_article_is_cut_where_a_sentence_ends_and_says_so() -> None:
    whole = "Opening hours\n\nWe open at 9.30 a.m. every day. On Sundays we close."
    assert corpus.shorten(whole, len(whole)) == whole
    assert corpus.shorten(whole, len(whole) - 1) == "Opening hours\n\nWe open at 9.30 a.m. every day.\n…"
    assert corpus.shorten(whole, 20) == "Opening hours\n…"
    assert corpus.shorten("x" * 30, 10) == f"{'x' * 10}\n…"
