"""The kept Chroma index: equal to exact search where it is small, and brought up to date by what has changed."""

import numpy as np
import pytest
from typer.testing import CliRunner

from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.benchmarks.cdr.retrievers import open_index
from cxlab.benchmarks.cdr.retrievers.approximate import (
    IndexOptions,
    is_current,
    measure_index,
    search_index,
    update_index,
)
from cxlab.cli import app
from cxlab.errors import BadOption
from cxlab.records import Dataset, Sample
from cxlab.store import write
from tests.benchmarks.cdr.conftest import CORPUS, QUERIES, stored, talk

__all__ = ["stored"]


@pytest.fixture(scope="module")
def indexed(stored: tuple[Dataset, list[Sample]]) -> str:
    """The dataset's id; its index of single messages is built."""
    options = IndexOptions.read({"embedder": "hashing", "granularity": "turn"})
    assert list(update_index(stored[0].id, options))[-1] == ("index", 18, 18)
    return stored[0].id


def test_of_few_units_the_index_finds_what_exact_search_finds(indexed: str) -> None:
    found = measure_index(indexed, "hashing", "turn", list(QUERIES.values()), k=3)
    assert (found.recall, found.k, found.questions, found.units) == (1.0, 3, 4, 18)
    with pytest.raises(BadOption, match="one question"):
        measure_index(indexed, "hashing", "turn", [])


def test_the_index_orders_conversations_as_exact_search_does(indexed: str) -> None:
    exact = open_index(indexed, "hashing", "turn").index
    for query in QUERIES.values():
        near = search_index(indexed, "hashing", "turn", query, set(CORPUS), 4)
        found = exact.rank(query, 4).found
        assert [(each.id, each.unit.first, each.unit.last) for each in near] == [
            (each.id, each.unit.first, each.unit.last) for each in found
        ]
        np.testing.assert_allclose([each.score for each in near], [each.score for each in found], atol=1e-5)


def test_filters_are_filled_up_with_what_comes_later(indexed: str) -> None:
    near = search_index(indexed, "hashing", "turn", "my parcel is late", {"refund", "login"}, 1)
    assert len(near) == 1
    assert near[0].id in {"refund", "login"}


def test_another_version_of_the_same_conversations_costs_what_is_new(
    indexed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {**CORPUS, "boots": talk("boots", "do you have brown boots", "we do")}
    dataset, samples, tables = build("Six talks", "generated", more, {}, {}, {}, config={}, licence="own work")
    write.save_dataset(dataset, samples, tables=tables)
    assert not is_current(dataset.id, "hashing", "turn")
    with pytest.raises(BadOption, match="up to date"):
        search_index(dataset.id, "hashing", "turn", "boots", set(more), 1)
    options = IndexOptions.read({"embedder": "hashing", "granularity": "turn"})
    assert [each for each in update_index(dataset.id, options) if each.stage == "index"] == [
        ("index", 0, 2),
        ("index", 2, 2),
    ]
    assert search_index(dataset.id, "hashing", "turn", "brown boots", set(more), 1)[0].id == "boots"
    assert not is_current(indexed, "hashing", "turn")


def test_the_command_builds_it_and_refuses_what_it_does_not_know(stored: tuple[Dataset, list[Sample]]) -> None:
    run = CliRunner()
    done = run.invoke(app, ["index", stored[0].id, "--embedder=hashing", "--granularity=window"])
    assert done.exit_code == 0
    assert "the index is up to date" in done.output
    assert is_current(stored[0].id, "hashing", "window")
    with pytest.raises(BadOption, match="granularity"):
        run.invoke(app, ["index", stored[0].id, "--granularity=week"], catch_exceptions=False)
