"""Labels against gold, with scikit-learn as the other library."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.errors import BadOption
from cxlab.metrics.classification import (
    accuracy,
    confusion_matrix,
    macro_f1,
    majority_floor,
    matthews,
    precision_recall_f1,
    rogan_gladen,
)

from .referees import sk

pairs = st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz")), min_size=1, max_size=30)


@given(pairs)
def test_matthews_is_scikit_learns_where_it_says_anything(items):
    gold, predicted = [a for a, _ in items], [b for _, b in items]
    found = matthews(gold, predicted)
    if len(set(gold)) == 1 or len(set(predicted)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(sk.matthews_corrcoef(gold, predicted), abs=1e-12)


def test_matthews_leaves_out_what_has_no_gold_and_counts_no_answer_as_one():
    assert matthews([True, False, None], [True, False, True]) == 1.0
    silent = sk.matthews_corrcoef(["y", "n", "y", "n"], ["y", "silent", "y", "silent"])
    assert matthews([True, False, True, False], [True, None, True, None]) == pytest.approx(silent)
    assert math.isnan(matthews([], []))


@given(pairs)
def test_like_scikit_learn(items):
    gold, predicted = [a for a, _ in items], [b for _, b in items]
    assert accuracy(gold, predicted) == pytest.approx(sk.accuracy_score(gold, predicted))
    assert (
        confusion_matrix(gold, predicted, "xyz").table.tolist()
        == sk.confusion_matrix(gold, predicted, labels=list("xyz")).tolist()
    )
    assert macro_f1(gold, predicted) == pytest.approx(sk.f1_score(gold, predicted, average="macro"))
    precision, recall, f1, support = sk.precision_recall_fscore_support(
        gold, predicted, labels=["x"], zero_division=np.nan
    )
    theirs = (precision[0], recall[0], f1[0], support[0])
    assert tuple(precision_recall_f1(gold, predicted, "x")) == pytest.approx(theirs, nan_ok=True)


def test_a_missing_prediction_is_wrong_and_missing_gold_is_left_out():
    gold, predicted = ["a", "b", None, "a", float("nan")], ["a", None, "a", float("nan"), "b"]
    assert accuracy(gold, predicted) == pytest.approx(1 / 3)
    found = confusion_matrix(gold, predicted)
    assert found.labels == ("a", "b", None)
    assert found.table.tolist() == [[1, 0, 1], [0, 0, 1], [0, 0, 0]]
    # a: one of two found, no false alarm; b: never found. The missing answer is no class of its own.
    assert macro_f1(gold, predicted) == pytest.approx((2 / 3 + 0) / 2)
    assert precision_recall_f1(gold, predicted, "a") == (1.0, 0.5, pytest.approx(2 / 3), 2)


def test_undefined_ratios_are_nan_not_zero():
    never = precision_recall_f1([True, False], [False, False])
    assert math.isnan(never.precision)
    assert (never.recall, never.f1, never.support) == (0.0, 0.0, 1)
    absent = precision_recall_f1([False], [False])
    assert math.isnan(absent.precision)
    assert math.isnan(absent.recall)
    assert math.isnan(absent.f1)
    assert math.isnan(accuracy([], []))
    assert math.isnan(majority_floor([]))
    assert math.isnan(macro_f1([], []))


def test_misuse_is_refused():
    with pytest.raises(BadOption, match="'z' is not among"):
        confusion_matrix(["x"], ["z"], labels=["x", "y"])
    with pytest.raises(BadOption, match="2 values against 1"):
        accuracy(["x", "y"], ["x"])
    with pytest.raises(BadOption, match="name each label once"):
        confusion_matrix(["x"], ["x"], labels=["x", "x"])


def test_majority_floor_is_what_a_constant_answer_reaches():
    gold = ["a", "b", "b", None, "c", "b"]
    assert majority_floor(gold) == pytest.approx(3 / 5)
    assert majority_floor(gold) == max(accuracy(gold, [label] * 6) for label in "abc")


@given(
    st.floats(0, 1),
    st.floats(0.55, 1),
    st.floats(0.55, 1),
)
def test_rogan_gladen_undoes_a_judges_errors(true_rate, tpr, tnr):
    observed = true_rate * tpr + (1 - true_rate) * (1 - tnr)
    assert rogan_gladen(observed, tpr, tnr) == pytest.approx(true_rate, abs=1e-9)


def test_rogan_gladen_at_its_edges():
    assert rogan_gladen(0.05, 0.9, 0.9) == 0.0  # fewer alarms than false ones alone
    assert rogan_gladen(0.95, 0.9, 0.9) == 1.0
    assert math.isnan(rogan_gladen(0.5, 0.7, 0.3))
    assert math.isnan(rogan_gladen(0.5, 0.2, 0.3))
    assert math.isnan(rogan_gladen(0.5, math.nan, 0.9))
    with pytest.raises(BadOption, match="divide a percentage"):
        rogan_gladen(50, 0.9, 0.9)
