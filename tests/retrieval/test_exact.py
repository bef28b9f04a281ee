"""Exact search against sorting everything, with ties in plenty."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.bench import retrieval
from cxlab.errors import BadFile, BadOption
from cxlab.retrieval.exact import ExactIndex
from cxlab.retrieval.top_k import best


def by_sorting(scores, k, above=None):
    found = []
    for row in scores:
        rounded = np.round(row.astype(np.float64), 6)
        order = sorted(range(len(row)), key=lambda place: (-rounded[place], place))
        found.append([(place, rounded[place]) for place in order if above is None or row[place] > above][:k])
    return found


def as_pairs(ranked):
    return [list(zip(places.tolist(), scores.tolist(), strict=True)) for places, scores in ranked]


@pytest.mark.parametrize("columns", [1, 7, 600, 2_100, 9_000])
@pytest.mark.parametrize("values", ["few", "near", "many", "alike", "large", "sorted"])
@pytest.mark.parametrize("k", [1, 20])
def test_the_best_are_those_of_a_full_sort(columns, values, k):
    rng = np.random.default_rng(columns)
    scores = {
        "few": lambda: rng.choice([0.0, 0.25, 0.5], (5, columns)),  # whole groups of ties across the cut
        "near": lambda: 0.5 + rng.integers(0, 9, (5, columns)) * 2e-7,  # apart by less than the rounding
        "many": lambda: rng.standard_normal((5, columns)),
        "alike": lambda: np.zeros((5, columns)),
        "large": lambda: 100 * rng.standard_normal((5, columns)),
        "sorted": lambda: np.sort(rng.standard_normal((5, columns)))[:, ::-1],  # all the best side by side
    }[values]().astype(np.float32)
    assert as_pairs(best(scores, k)) == by_sorting(scores, k)
    assert as_pairs(best(scores, k, above=0.0)) == by_sorting(scores, k, above=0.0)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1), st.integers(1, 10), st.randoms())
def test_neither_order_of_storing_nor_ties_matter(ids, k, random):
    vectors = {one: np.array([random.choice((0.0, 0.6, 1.0)), 0.5], dtype=np.float32) for one in ids}
    query = np.array([[0.5, 0.5]], dtype=np.float32)
    straight = ExactIndex(ids, np.stack([vectors[one] for one in ids])).search(query, k)
    mixed = random.sample(ids, len(ids))
    assert ExactIndex(mixed, np.stack([vectors[one] for one in mixed])).search(query, k) == straight
    expected = sorted(((round(float(vectors[one] @ query[0]), 6), one) for one in ids), key=lambda e: (-e[0], e[1]))
    assert [one for one, _ in straight[0]] == [one for _, one in expected[:k]]


def test_many_queries_are_found_in_blocks():
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((3_000, 8)).astype(np.float32)
    queries = rng.standard_normal((1_100, 8)).astype(np.float32)
    index = ExactIndex([f"{n:05d}" for n in range(3_000)], vectors)
    found = index.rank(queries, 5)
    assert len(found) == 1_100
    for row in (0, 511, 512, 1_099):
        assert found[row][0].tolist() == np.argsort(-(vectors @ queries[row]))[:5].tolist()


def test_saved_and_loaded_it_is_the_same(tmp_path):
    rng = np.random.default_rng(2)
    index = ExactIndex(["b", "a", "ü"], rng.standard_normal((3, 4)))
    for _ in range(2):  # the second replaces the first
        index.save(tmp_path / "deep" / "index")
    again = ExactIndex.load(tmp_path / "deep" / "index")
    query = rng.standard_normal((2, 4))
    assert again.search(query, 3) == index.search(query, 3)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["index"]


def test_a_damaged_index_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"index\.json is missing"):
        ExactIndex.load(tmp_path)
    folder = tmp_path / "index"
    ExactIndex(["a", "b"], np.eye(2)).save(folder)
    (folder / "index.json").write_text(json.dumps({"version": 1, "ids": ["a"], "dim": 2}))
    with pytest.raises(BadFile, match="do not fit"):
        ExactIndex.load(folder)
    (folder / "index.json").write_text("[]")
    with pytest.raises(BadFile, match="not an index of version"):
        ExactIndex.load(folder)
    (folder / "vectors.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(BadFile, match="damaged"):
        ExactIndex.load(folder)


def test_misuse_is_refused():
    with pytest.raises(BadOption, match="2 ids for vectors"):
        ExactIndex(["a", "b"], np.eye(3))
    with pytest.raises(BadOption, match="'a' comes twice"):
        ExactIndex(["a", "a"], np.eye(2))
    with pytest.raises(BadOption, match="vector 1 holds"):
        ExactIndex(["a", "b"], np.array([[1.0, 0.0], [np.nan, 0.0]]))
    index = ExactIndex(["a", "b"], np.eye(2))
    with pytest.raises(BadOption, match="against vectors of 2"):
        index.search(np.ones((1, 3)), 1)
    with pytest.raises(BadOption, match="vector 0 holds"):
        index.search(np.array([[np.inf, 0.0]]), 1)
    with pytest.raises(BadOption, match="k = 0"):
        index.search(np.ones((1, 2)), 0)
    assert ExactIndex([], np.zeros((0, 2))).search(np.ones((2, 2)), 3) == [[], []]


def test_the_bench_measures_and_compares(capsys):
    retrieval.main(["--queries", "40", "--vectors", "3000", "--dim", "16", "--rounds", "1"])
    said = capsys.readouterr().out
    assert "40 queries over 3,000 vectors of 16 numbers" in said
    assert "found for 100.00% of the queries" in said
    with pytest.raises(BadOption, match="more vectors"):
        retrieval.main(["--vectors", "20"])
