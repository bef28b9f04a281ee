"""Retrieval metrics against ir-measures, against the definitions written out, and against numbers done by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.errors import BadOption
from cxlab.metrics.retrieval import evaluate, evaluate_each

CUTOFFS = (1, 3, 5, 20)
ids = st.integers(0, 12).map(lambda number: f"d{number:02d}")
queries = st.lists(st.tuples(st.lists(ids, max_size=15), st.lists(ids, min_size=1, max_size=6)), min_size=1, max_size=8)


def by_definition(ranking, gold, k):
    """The five figures of one query, as the docstring of the module defines them."""
    gold = set(gold)
    seen = []
    for one in ranking or []:
        if one not in seen:
            seen.append(one)
    relevant = [one in gold for one in seen[:k]]
    gain = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(relevant, 1) if hit)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(gold)) + 1))
    return {
        f"acc@{k}": float(any(relevant)),
        f"p@{k}": sum(relevant) / k,
        f"r@{k}": sum(relevant) / len(gold),
        f"ndcg@{k}": gain / ideal,
        f"mrr@{k}": next((1 / rank for rank, hit in enumerate(relevant, 1) if hit), 0.0),
    }


@given(queries)
def test_each_query_is_as_defined(items):
    found = evaluate_each([ranking for ranking, _ in items], [gold for _, gold in items], CUTOFFS)
    for row, (ranking, gold) in enumerate(items):
        for k in CUTOFFS:
            for name, value in by_definition(ranking, gold, k).items():
                assert found[name][row] == pytest.approx(value, abs=1e-12), name


@given(queries)
def test_like_ir_measures(items):
    measures = pytest.importorskip("ir_measures", reason="ir-measures, the referee, is not installed")
    names = {"acc": measures.Success, "p": measures.P, "r": measures.R, "ndcg": measures.nDCG, "mrr": measures.RR}
    asked = {measure @ k: f"{name}@{k}" for name, measure in names.items() for k in CUTOFFS}
    qrels = [measures.Qrel(f"q{row}", one, 1) for row, (_, gold) in enumerate(items) for one in set(gold)]
    run = [
        measures.ScoredDoc(f"q{row}", one, -float(rank))
        for row, (ranking, _) in enumerate(items)
        for rank, one in enumerate(dict.fromkeys(ranking))
    ]
    # It takes no empty run at all; one stray query, without gold, changes nothing.
    theirs = measures.calc_aggregate(list(asked), qrels, [*run, measures.ScoredDoc("stray", "d00", 1.0)])
    ours = evaluate([ranking for ranking, _ in items], [gold for _, gold in items], CUTOFFS)
    assert {asked[measure]: value for measure, value in theirs.items()} == pytest.approx(ours, abs=1e-9)


@given(queries, st.permutations([f"d{number:02d}" for number in range(13)]))
def test_names_do_not_matter(items, names):
    other = {f"d{number:02d}": name for number, name in enumerate(names)}
    renamed = [([other[one] for one in ranking], [other[one] for one in gold]) for ranking, gold in items]
    assert evaluate(*zip(*items, strict=True)) == pytest.approx(evaluate(*zip(*renamed, strict=True)))


tables = st.integers(1, 8).flatmap(
    lambda width: st.lists(
        st.tuples(st.lists(st.integers(0, 9), min_size=width, max_size=width), st.sets(st.integers(0, 12), max_size=6)),
        min_size=1,
        max_size=8,
    )
)


@given(tables)
def test_whole_numbers_count_as_names_do(items):
    rankings, gold = [ranking for ranking, _ in items], [wanted for _, wanted in items]
    names = [[str(one) for one in ranking] for ranking in rankings], [{str(one) for one in wanted} for wanted in gold]
    expected = evaluate_each(*names, CUTOFFS)
    for given_as in (rankings, np.array(rankings), np.array(rankings, dtype=np.int16)):
        for name, values in evaluate_each(given_as, gold, CUTOFFS).items():
            np.testing.assert_array_equal(values, expected[name], name)


def test_many_relevant_numbers_and_huge_ones_count_as_well():
    assert evaluate([[1, 2], [3, 4]], [range(1, 200), {2**70}], (2,))["p@2"] == 0.5
    assert evaluate([[1, 2.0], [2**70, 4]], [[2], [2**70]], (2,))["acc@2"] == 1


@given(queries)
def test_bounds_and_monotony(items):
    found = evaluate_each(*zip(*items, strict=True), cutoffs=(1, 2, 5, 20))
    for name, values in found.items():
        assert ((values >= 0) & (values <= 1)).all(), name
    for name in ("acc", "r", "mrr"):
        rows = np.array([found[f"{name}@{k}"] for k in (1, 2, 5, 20)])
        assert (np.diff(rows, axis=0) >= 0).all(), name
    # In all 48 rows of the published tables these four are one figure: hence p divides by k, ideals are cut.
    at_one = {name: found[f"{name}@1"].tolist() for name in ("acc", "p", "ndcg", "mrr")}
    assert len(set(map(tuple, at_one.values()))) == 1


@given(queries, st.randoms(use_true_random=False))
def test_scores_decide_and_ties_go_by_id(items, random):
    scored = [[(one, random.choice((0.25, 0.5, 1.0))) for one in ranking] for ranking, _ in items]
    ordered = [[one for one, _ in sorted(ranking, key=lambda entry: (-entry[1], entry[0]))] for ranking in scored]
    gold = [each for _, each in items]
    assert evaluate(scored, gold) == evaluate(ordered, gold)
    for ranking in scored:
        random.shuffle(ranking)
    assert evaluate(scored, gold) == evaluate(ordered, gold)


def test_by_hand():
    found = evaluate([["b", "x", "a"]], [["a", "b"]], cutoffs=(1, 3))
    assert found == pytest.approx(
        {"acc@1": 1, "acc@3": 1, "p@1": 1, "p@3": 2 / 3, "r@1": 0.5, "r@3": 1, "ndcg@1": 1, "mrr@1": 1, "mrr@3": 1}
        | {"ndcg@3": (1 + 0.5) / (1 + 1 / math.log2(3))}
    )
    assert list(evaluate([], []))[:4] == ["acc@1", "acc@5", "acc@10", "acc@20"]
    assert set(evaluate([["a"]], [["a"]])) == {
        f"{m}@{k}" for m in ("acc", "p", "r", "ndcg", "mrr") for k in (1, 5, 10, 20)
    }


def test_duplicates_are_removed_before_the_cut_and_gold_counts_once():
    assert evaluate([["x", "x", "a"]], [["a"]], (2,))["mrr@2"] == 0.5
    assert evaluate([["a"]], [["a", "a", "b"]], (1,))["r@1"] == 0.5
    assert evaluate([[("a", 0.1), ("x", 0.5), ("a", 0.9)]], [["a"]], (1,))["acc@1"] == 1  # its best score counts


def test_an_unanswered_query_counts_0():
    for nothing in ([], None, ()):
        assert evaluate([["a"], nothing], [["a"], ["b"]], (5,))["r@5"] == 0.5
    assert evaluate({"q1": ["a"]}, {"q1": ["a"], "q2": ["b"]}, (5,))["ndcg@5"] == 0.5


def test_a_query_without_gold_is_nan_and_left_out_or_0_when_asked_for():
    each = evaluate_each([["a"], ["a"]], [["a"], []])
    assert all(values[0] in (1, 0.2, 0.1, 0.05) and math.isnan(values[1]) for values in each.values())
    assert evaluate([["a"], ["a"]], [["a"], []])["r@5"] == 1
    assert evaluate([["a"], ["a"]], [["a"], []], without_gold="zero")["r@5"] == 0.5
    assert all(math.isnan(value) for value in evaluate([["a"]], [[]]).values())
    assert all(math.isnan(value) for value in evaluate([], []).values())


def test_other_forms_of_the_same():
    numbers = np.array([[3, 1, 2], [2, 3, 1]])
    assert evaluate(numbers, [{1}, np.array([1])], (2,)) == evaluate([[3, 1, 2], [2, 3, 1]], [[1], [1]], (2,))
    assert evaluate([[["a", 0.5], ["b", 0.7]]], [["b"]], (1,))["acc@1"] == 1  # as read from JSON
    assert evaluate([[("a", 0.5, "more"), ("b", np.float32(0.7), "more")]], [["b"]], (1,))["acc@1"] == 1
    assert evaluate([["a"]], [["a"]], (1_000_000,))["r@1000000"] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([["a"]], []), "1 rankings for 0 queries"),
        (([["a"]], ["a"]), r"relevant\[0\] is 'a'"),
        ((["a"], [["a"]]), "ranking 0 is 'a'"),
        (([{"a": 1.0}], [["a"]]), "ranking 0"),
        (([["a"]], [{"a": 0}]), "give a list or set of ids"),
        (([["a", ("b", 1.0)]], [["a"]]), "mixes ids"),
        (([[("a", float("nan")), ("b", 1.0)]], [["a"]]), "not a number"),
        (([[("a", "high")]], [["a"]]), "not a number"),
        (([[("a", 1.0), (2, 1.0)]], [["a"]]), "several types"),
        (({"q": ["a"]}, [["a"]]), "both be mappings"),
        (({"q": ["a"]}, {}), "query 'q' has a ranking"),
        (([["a"]], [["a"]], ()), "cutoffs"),
        (([["a"]], [["a"]], (0,)), "cutoffs"),
        (([["a"]], [["a"]], (True,)), "cutoffs"),
        (([["a"]], [["a"]], (1,), "drop"), "without_gold"),
    ],
)
def test_misuse_is_refused(arguments, says):
    with pytest.raises(BadOption, match=says):
        evaluate(*arguments)
