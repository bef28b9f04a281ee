"""Agreement: published worked examples, scikit-learn, krippendorff, scipy and brute force."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.errors import BadOption
from cxlab.metrics.agreement import (
    alpha_of_counts,
    cohen_kappa,
    double_centred,
    double_centred_reach,
    fleiss_kappa,
    kappa_of_table,
    kendall_tau_b,
    krippendorff_alpha,
    leave_one_out_ranks,
    percent_agreement,
    self_preference,
)

from .referees import krippendorff, sk, stats

_ = None


# Krippendorff's example of four observers and twelve units.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
# Fourteen raters, ten items, five categories: the usual example of Fleiss' kappa.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
grades = st.lists(st.tuples(st.sampled_from([3, 6, 9]), st.sampled_from([3, 6, 9])), min_size=2, max_size=25)


def test_cohens_kappa_by_hand():
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4)
    assert percent_agreement(a, b) == pytest.approx(0.7)


@given(grades, st.sampled_from([None, "linear", "quadratic"]))
def test_cohens_kappa_is_scikit_learns(items, weights):
    a, b = [x for x, _ in items], [y for _, y in items]
    ours = cohen_kappa(a, b, weights, labels=[3, 6, 9])
    if len(set(a + b)) == 1:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(sk.cohen_kappa_score(a, b, weights=weights, labels=[3, 6, 9]))


def test_weights_follow_the_order_of_the_labels():
    a, b = ["low", "mid", "high", "high"], ["low", "high", "high", "mid"]
    ordered = cohen_kappa(a, b, "quadratic", ["low", "mid", "high"])
    assert ordered == pytest.approx(sk.cohen_kappa_score(a, b, weights="quadratic", labels=["low", "mid", "high"]))
    assert ordered != pytest.approx(cohen_kappa(a, b, "quadratic", ["mid", "low", "high"]))


def test_without_labels_numbers_are_ordered_as_numbers():
    a, b = [1, 2, 10, 10, 2], [1, 10, 10, 2, 1]
    assert cohen_kappa(a, b, "quadratic") == pytest.approx(cohen_kappa(a, b, "quadratic", [1, 2, 10]))
    assert cohen_kappa(a, b, "quadratic") == pytest.approx(sk.cohen_kappa_score(a, b, weights="quadratic"))


def test_items_that_one_rater_left_out_do_not_count():
    a, b = ["x", None, "y", "x", float("nan")], ["x", "y", "y", "y", "x"]
    assert cohen_kappa(a, b) == cohen_kappa(["x", "y", "x"], ["x", "y", "y"])
    assert percent_agreement(a, b) == pytest.approx(2 / 3)
    assert math.isnan(percent_agreement([None], ["x"]))
    assert math.isnan(cohen_kappa([None], ["x"]))


def test_agreement_of_raters_who_know_one_label_only_is_undefined():
    assert math.isnan(cohen_kappa(["x"] * 5, ["x"] * 5))
    assert math.isnan(cohen_kappa([], []))
    assert math.isnan(fleiss_kappa([[3, 0], [3, 0]]))
    assert math.isnan(fleiss_kappa([[1, 0], [0, 1]]))
    assert math.isnan(fleiss_kappa([]))
    assert math.isnan(krippendorff_alpha([["x", "x"], ["x", "x"]]))
    assert math.isnan(krippendorff_alpha([["x", None], [None, "y"]]))
    assert math.isnan(krippendorff_alpha([[None], [None]]))
    assert math.isnan(krippendorff_alpha([]))
    # Two different constants: chance expects disagreement everywhere, so this is kappa 0, not undefined.
    assert cohen_kappa(["x"] * 4, ["y"] * 4) == 0.0


def test_fleiss_kappa_of_the_published_table():
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=0.0005)


def test_fleiss_kappa_runs_from_minus_to_one():
    assert fleiss_kappa([[4, 0], [0, 4], [4, 0]]) == 1.0
    assert fleiss_kappa([[1, 1], [1, 1]]) == -1.0


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_alpha_of_the_published_example(level, published):
    assert krippendorff_alpha(OBSERVERS, level) == pytest.approx(published, abs=0.0006)
    as_floats = np.array(OBSERVERS, dtype=float)
    assert krippendorff_alpha(as_floats, level) == pytest.approx(krippendorff_alpha(OBSERVERS, level))


@given(
    st.integers(2, 4).flatmap(
        lambda raters: st.lists(
            st.lists(st.sampled_from([3.0, 6.0, 9.0, math.nan]), min_size=raters, max_size=raters),
            min_size=2,
            max_size=12,
        )
    ),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_krippendorffs_alpha_is_the_other_librarys(items, level):
    data = np.array(items).T
    pairable = [[value for value in item if not math.isnan(value)] for item in items]
    pairable = [item for item in pairable if len(item) > 1]
    ours = krippendorff_alpha(data, level)
    if len({value for item in pairable for value in item}) < 2:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(krippendorff.alpha(reliability_data=data, level_of_measurement=level))


def test_ordinal_labels_need_their_order():
    data = [["low", "mid", "high", "low"], ["low", "high", "high", "mid"]]
    numbers = [[1, 2, 3, 1], [1, 3, 3, 2]]
    ordered = krippendorff_alpha(data, "ordinal", ["low", "mid", "high"])
    assert ordered == pytest.approx(krippendorff_alpha(numbers, "ordinal"))
    assert ordered != pytest.approx(krippendorff_alpha(data, "ordinal"))


def test_misuse_is_refused():
    with pytest.raises(BadOption, match="2 to 3 ratings"):
        fleiss_kappa([[1, 1], [2, 1]])
    with pytest.raises(BadOption, match="numbers from 0"):
        fleiss_kappa([[3, -1], [1, 1]])
    with pytest.raises(BadOption, match="needs numbers"):
        krippendorff_alpha([["a", "b"], ["a", "a"]], "interval")
    with pytest.raises(BadOption, match="'ratio' is unknown"):
        krippendorff_alpha([[1, 2], [1, 1]], "ratio")
    with pytest.raises(BadOption, match="one entry for each item"):
        krippendorff_alpha([[1, 2], [1]])
    with pytest.raises(BadOption, match="'cubic' are unknown"):
        cohen_kappa(["x", "y"], ["y", "x"], "cubic")
    with pytest.raises(BadOption, match="'z' is not among"):
        cohen_kappa(["x"], ["z"], labels=["x", "y"])
    with pytest.raises(BadOption, match="1 values against 2"):
        percent_agreement(["x"], ["x", "y"])
    with pytest.raises(BadOption, match="judges x agents"):
        double_centred([1.0, 2.0])
    with pytest.raises(BadOption, match="own is"):
        self_preference(np.ones((2, 2)), np.ones((2, 3)), seed=0)


def test_double_centring_by_hand_and_its_margins():
    assert double_centred([[1, 2], [3, 8]]).tolist() == [[1.0, -1.0], [-1.0, 1.0]]
    residuals = double_centred(np.random.default_rng(0).normal(size=(3, 5)))
    assert np.allclose(residuals.sum(axis=0), 0)
    assert np.allclose(residuals.sum(axis=1), 0)


def test_leniency_and_quality_alone_leave_nothing_with_or_without_gaps():
    table = np.add.outer([0.0, 2.0, -1.0], [5.0, 1.0, 3.0, 9.0])
    assert np.allclose(double_centred(table), 0)
    table[0, 1] = table[2, 3] = np.nan
    residuals = double_centred(table)
    assert np.isnan(residuals).sum() == 2
    assert np.allclose(residuals[~np.isnan(residuals)], 0)


def test_a_gap_is_fitted_not_filled():
    table = np.random.default_rng(1).normal(size=(4, 4))
    table[1, 2] = np.nan
    residuals = double_centred(table)
    # Least squares: what is left has no mean in any row or column of the cells there are.
    assert np.allclose(np.nansum(residuals, axis=0), 0)
    assert np.allclose(np.nansum(residuals, axis=1), 0)


def slow_self_preference(matrix, own):
    residuals, own = double_centred(matrix), np.asarray(own, dtype=bool)

    def contrast(mask):
        return np.nanmean(residuals[mask]) - np.nanmean(residuals[~mask])

    drawn = [abs(contrast(own[:, list(order)])) for order in permutations(range(own.shape[1]))]
    return contrast(own), np.mean([value >= abs(contrast(own)) - 1e-9 for value in drawn])


OWN = np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0]], dtype=bool)


@pytest.mark.parametrize("gaps", [0, 3])
def test_self_preference_is_every_reassignment_counted(gaps):
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(3, 6)) + 0.8 * OWN
    matrix.ravel()[rng.choice(18, gaps, replace=False)] = np.nan
    difference, p = slow_self_preference(matrix, OWN)
    found = self_preference(matrix, OWN, seed=0)
    assert (found.difference, found.p) == pytest.approx((difference, p))
    assert found.own_cells == int((OWN & ~np.isnan(matrix)).sum())


def test_a_reassignment_that_lands_in_a_gap_does_not_count():
    # The gap's column has one cell and thus residual 0; the other four are +-r, equally far from the rest.
    # Own is one cell of the gap's row, so two of the six reassignments have nothing to compare.
    found = self_preference([[5.0, 1.0, np.nan], [1.0, 5.0, 3.0]], [[1, 0, 0], [0, 0, 0]], seed=0)
    assert found.p == 1.0
    assert found.difference == pytest.approx(2 + 2 / 4)


def test_self_preference_is_found_where_it_was_planted_and_only_there():
    rng = np.random.default_rng(3)
    own = np.repeat(np.eye(3, dtype=bool), 4, axis=1)
    fair = np.add.outer([0, 8, -5], rng.normal(60, 10, 12)) + rng.normal(size=(3, 12))
    assert self_preference(fair, own, seed=0).p > 0.05
    biased = self_preference(fair + 3 * own, own, seed=0)
    # Centring spreads a planted 3 over the table, but the contrast keeps it whole.
    assert biased.difference == pytest.approx(3 + self_preference(fair, own, seed=0).difference)
    assert biased.p < 0.01
    assert self_preference(np.add.outer([0, 8, -5], np.arange(12.0)), own, seed=0).p == 1.0


def test_sampled_self_preference_meets_the_exact_one_and_keeps_its_seed():
    rng = np.random.default_rng(4)
    matrix = rng.normal(size=(3, 6)) + 2.0 * OWN
    exact = self_preference(matrix, OWN, seed=0, permutations=720).p
    assert 0.005 < exact < 0.5
    sampled = self_preference(matrix, OWN, seed=0, permutations=719)
    assert sampled.p == pytest.approx(exact, abs=0.06)
    assert sampled == self_preference(matrix, OWN, seed=0, permutations=719)
    assert sampled != self_preference(matrix, OWN, seed=1, permutations=719)


def test_self_preference_without_a_contrast_is_undefined():
    nobody = self_preference(np.ones((2, 3)), np.zeros((2, 3)), seed=0)
    assert math.isnan(nobody.difference)
    assert math.isnan(nobody.p)
    assert nobody.own_cells == 0
    assert math.isnan(self_preference(np.ones((2, 3)), np.ones((2, 3)), seed=0).p)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=15))
def test_kendalls_tau_is_scipys(items):
    a, b = [float(x) for x, _ in items], [float(y) for _, y in items]
    theirs = stats.kendalltau(a, b).statistic
    assert kendall_tau_b(a, b) == pytest.approx(theirs, nan_ok=True)
    assert kendall_tau_b([*a, math.nan], [*b, 1.0]) == pytest.approx(theirs, nan_ok=True)


def test_kendalls_tau_of_a_reversed_ranking():
    assert kendall_tau_b([1, 2, 3], [1, 2, 3]) == 1.0
    assert kendall_tau_b([1, 2, 3], [3, 2, 1]) == -1.0
    assert math.isnan(kendall_tau_b([1, 1], [1, 2]))


def test_ranks_without_one_judge_against_scipys_ranks():
    for seed, shape in product(range(5), [(2, 4), (4, 7)]):
        matrix = np.random.default_rng(seed).integers(0, 5, shape).astype(float)
        found = leave_one_out_ranks(matrix)
        left = np.array([stats.rankdata(-np.delete(matrix, j, 0).sum(0), method="min") for j in range(shape[0])])
        assert found.ranks.tolist() == stats.rankdata(-matrix.sum(0), method="min").tolist()
        assert found.best.tolist() == left.min(axis=0).tolist()
        assert found.worst.tolist() == left.max(axis=0).tolist()


def test_ranks_by_hand():
    # Without the last judge the first two agents change places; the third is last whoever is left out.
    found = leave_one_out_ranks([[9, 8, 1], [6, 5, 1], [3, 9, 1]])
    assert found.ranks.tolist() == [2, 1, 3]
    assert found.best.tolist() == [1, 1, 3]
    assert found.worst.tolist() == [2, 2, 3]


def test_ranks_with_rounding_gaps_and_one_judge():
    tied = leave_one_out_ranks([[0.1, 0.3], [0.2, 0.0], [0.0, 0.0]])
    assert tied.ranks.tolist() == [1, 1]  # 0.1 + 0.2 and 0.3 differ in the last bit only
    gaps = leave_one_out_ranks([[1.0, np.nan, 3.0], [1.0, np.nan, 3.0]])
    assert gaps.ranks.tolist()[::2] == [2, 1]
    assert np.isnan([gaps.ranks[1], gaps.best[1], gaps.worst[1]]).all()
    alone = leave_one_out_ranks([[1.0, 2.0]])
    assert alone.ranks.tolist() == [2, 1]
    assert np.isnan(alone.best).all()
    assert np.isnan(alone.worst).all()


@given(
    st.lists(st.tuples(*[st.sampled_from([3, 6, 9, None])] * 3), min_size=1, max_size=40),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_tables_of_counts_say_the_same_as_lists_of_labels(rows: list[tuple], level: str) -> None:
    labels = [3, 6, 9]
    counts = [[sum(v == label for v in row) for label in labels] for row in rows]
    whole = krippendorff_alpha([list(each) for each in zip(*rows, strict=True)], level, labels)
    assert alpha_of_counts(counts, level, labels) == pytest.approx(whole, nan_ok=True)
    table = [[sum(row[:2] == (a, b) for row in rows) for b in labels] for a in labels]
    first, second = [row[0] for row in rows], [row[1] for row in rows]
    for weights in (None, "quadratic"):
        pairwise = cohen_kappa(first, second, weights, labels)
        assert kappa_of_table(table, weights) == pytest.approx(pairwise, nan_ok=True)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=8),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_a_row_of_counts_may_stand_for_many_items(rows: list[tuple[int, int]], level: str) -> None:
    counts, times = [[first, 3 - first] for first, _ in rows], [often for _, often in rows]
    each = np.repeat(counts, times, axis=0)
    assert fleiss_kappa(counts, times) == pytest.approx(fleiss_kappa(each), nan_ok=True)
    gaps = [[first, (2 * first) % 3] for first, _ in rows]
    alpha = alpha_of_counts(np.repeat(gaps, times, axis=0), level)
    assert alpha_of_counts(gaps, level, times=times) == pytest.approx(alpha, nan_ok=True)


def test_tables_of_counts_must_be_tables() -> None:
    for wrong_times in ([1], [1, -1]):
        with pytest.raises(BadOption):
            alpha_of_counts([[1, 2], [2, 1]], times=wrong_times)
        with pytest.raises(BadOption):
            fleiss_kappa([[1, 2], [2, 1]], wrong_times)
    assert math.isnan(kappa_of_table([[0, 0], [0, 0]]))
    assert math.isnan(alpha_of_counts([]))
    for wrong in ([[1, 2]], [[1, -1], [0, 1]]):
        with pytest.raises(BadOption):
            kappa_of_table(wrong)
    with pytest.raises(BadOption):
        alpha_of_counts([1, 2])


def test_what_double_centring_leaves_is_as_sure_as_drawing_samples_says() -> None:
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 5, size=(80, 3, 4)).astype(float)
    ease = rng.normal(size=(80, 1, 1))
    sums = sizes * (ease + rng.normal(size=(80, 3, 4)))
    drawn = []
    for _ in range(1_000):
        chosen = rng.integers(0, 80, 80)
        drawn.append(double_centred(sums[chosen].sum(axis=0) / sizes[chosen].sum(axis=0)))
    wanted = np.std(drawn, axis=0) * 1.99
    # Corrected for twelve cells, this level is 95 % for one.
    assert np.allclose(double_centred_reach(sums, sizes, level=1 - 0.05 * 12), wanted, rtol=0.15)
    assert (double_centred_reach(sums, sizes) > wanted).all()
    sizes[:, 1, 2] = 0
    assert np.isnan(double_centred_reach(sums, sizes)).all()
    assert np.isnan(double_centred_reach(sums[:1], sizes[:1])).all()
