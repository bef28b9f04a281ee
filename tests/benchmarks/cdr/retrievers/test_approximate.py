"""The kept Chroma index: equal to exact search where it is small, and brought up to date by what has changed."""

from pathlib import Path

import pytest

from cxlab.benchmarks.cdr.retrievers.approximate import measure_index
from cxlab.errors import BadOption
from cxlab.records import Dataset, Sample
from cxlab.retrieval import chroma
from cxlab.retrieval.embeddings import load_embedder
from tests.benchmarks.cdr.conftest import QUERIES, stored

__all__ = ["stored"]


def test_of_few_units_the_index_finds_what_exact_search_finds(stored: tuple[Dataset, list[Sample]]) -> None:
    found = measure_index(stored[0].id, "hashing", "turn", list(QUERIES.values()), k=3)
    assert (found.recall, found.k, found.questions, found.units) == (1.0, 3, 4, 18)
    with pytest.raises(BadOption, match="one question"):
        measure_index(stored[0].id, "hashing", "turn", [])


def test_an_update_embeds_only_what_is_new_and_drops_what_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = load_embedder("hashing")
    chroma.update({"a": "a late parcel", "b": "a refund"}, embedder, tmp_path, "units")
    embedded: list[str] = []
    real = embedder.embed
    monkeypatch.setattr(embedder, "embed", lambda texts: embedded.extend(texts) or real(texts))
    kept = chroma.update({"b": "a refund", "c": "brown boots"}, embedder, tmp_path, "units")
    assert embedded == ["brown boots"]
    assert set(kept.get(include=[])["ids"]) == {"b", "c"}
