"""Paired comparisons: enumeration of all sign patterns, scipy, and power by simulation."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.errors import BadOption
from cxlab.metrics.intervals import proportion_interval
from cxlab.metrics.paired import (
    LEAST_CLUSTERS,
    clusters_to_reject,
    compare_pairs,
    holm,
    least_clusters,
    mcnemar_exact,
    minimum_detectable,
    paired_difference,
    samples_needed,
    sign_flip_p,
)

from .referees import stats


def enumerate_p(sums):
    totals = [abs(sum(sign * value for sign, value in zip(signs, sums, strict=True)))
              for signs in product((1, -1), repeat=len(sums))]  # fmt: skip
    return sum(total >= abs(sum(sums)) - 1e-9 for total in totals) / len(totals)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=10))
def test_sign_flip_counts_every_pattern(sums):
    assert sign_flip_p(np.array(sums, dtype=float), np.random.default_rng(0)) == enumerate_p(sums)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, -0.1, -0.2, -0.6]), min_size=2, max_size=9))
def test_rounding_does_not_move_a_tie(sums):
    in_tenths = [round(10 * value) for value in sums]
    assert sign_flip_p(np.array(sums), np.random.default_rng(0)) == enumerate_p(in_tenths)


def test_p_is_scipys_exact_permutation_p():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.5, 1, 11), rng.normal(0, 1, 11)
    theirs = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert paired_difference(a, b, seed=0).p == pytest.approx(theirs)


def test_sampled_p_meets_the_exact_one():
    sums = np.random.default_rng(2).normal(0.45, 1, 20)
    signs = 1 - 2 * ((np.arange(1 << 20)[:, None] >> np.arange(20)) & 1)
    exact = float((np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9).mean())
    assert 0.01 < exact < 0.2
    assert sign_flip_p(sums, np.random.default_rng(3), 40_000) == pytest.approx(exact, abs=0.005)


def test_p_is_right_as_often_as_it_says_where_there_is_no_difference():
    rng = np.random.default_rng(4)
    found = [sign_flip_p(rng.normal(size=25), rng, 400) for _ in range(600)]
    assert 0.03 < np.mean(np.array(found) <= 0.05) < 0.07
    assert 0.45 < np.mean(np.array(found) <= 0.5) < 0.55


def test_counts_interval_and_difference():
    a, b = [1.0, 0.0, 1.0, math.nan, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0, math.nan]
    found = paired_difference(a, b, seed=5)
    assert (found.n, found.clusters, found.wins, found.ties, found.losses) == (4, 4, 1, 2, 1)
    assert found.difference == pytest.approx(0.125)
    # Four pairs reject nothing at 95 %: whatever a difference can be.
    assert (found.low, found.high) == (-math.inf, math.inf)
    bounded = paired_difference(a, b, seed=5, bounds=(-1, 1))
    assert (bounded.low, bounded.high) == (-1, 1)


def p_by_hand(differences, shift):
    """Two-sided p of the mean difference `shift`, by all patterns of signs."""
    values = np.asarray(differences, dtype=float) - shift
    signs = np.array(list(product((1, -1), repeat=len(values))))
    return float((np.abs(signs @ values) >= abs(values.sum()) - 1e-9).mean())


@given(st.lists(st.integers(-4, 4), min_size=6, max_size=9), st.sampled_from([0.05, 0.1, 0.02]))
def test_the_interval_is_what_the_test_does_not_reject(differences, alpha):
    found = paired_difference(differences, np.zeros(len(differences)), seed=0, level=1 - alpha)
    assert (found.low <= 0 <= found.high) == (found.p >= alpha - 1e-12)
    for end, out in ((found.low, -1), (found.high, 1)):
        if math.isfinite(end):
            assert p_by_hand(differences, end) >= alpha - 1e-9
            assert p_by_hand(differences, end + out * 1e-6) < alpha or found.low == found.high


@given(
    st.lists(st.sampled_from([-1.0, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0]), min_size=17, max_size=40), st.integers(0, 10**6)
)
def test_interval_and_p_agree_where_patterns_are_drawn(differences, seed):
    found = paired_difference(differences, np.zeros(len(differences)), seed=seed, resamples=500, bounds=(-1, 1))
    if found.wins or found.losses:
        assert (found.low <= 0 <= found.high) == (found.p >= 0.05)
    assert -1 <= found.low <= found.difference + 1e-9
    assert found.difference - 1e-9 <= found.high <= 1


def test_intervals_of_differences_cover_what_they_promise():
    rng, covered = np.random.default_rng(11), 0
    for _ in range(400):
        both = rng.random((60, 2)) < (0.55, 0.4)
        found = paired_difference(*both.T.astype(float), seed=0, resamples=400)
        covered += found.low <= 0.15 <= found.high
    assert 0.93 <= covered / 400 <= 0.98


def test_all_ties_leave_room_where_a_scale_is_known():
    same = np.ones(20)
    found = paired_difference(same, same, seed=0, bounds=(-1, 1))
    wide = proportion_interval(0, 20).high
    assert (found.difference, found.p, found.low, found.high) == (0, 1, pytest.approx(-wide), pytest.approx(wide))


def test_several_comparisons_are_corrected_together_and_never_contradict_themselves():
    rng = np.random.default_rng(12)
    base = rng.normal(70, 10, 40)
    others = [base + rng.normal(shift, 6, 40) for shift in (0, 1, 2, 2.5, 3, 8)]
    told = compare_pairs([(other, base) for other in others] + [([math.nan] * 40, base)], seed=1)
    assert [each.verdict for each in told][-2:] == ["above", "cannot tell"]
    assert math.isnan(told[-1].p)
    for each in told[:-1]:
        assert each.p == min(1.0, 6 * each.found.p)
        assert (each.verdict == "cannot tell") == (each.found.low <= 0 <= each.found.high) == (each.p >= 0.05)
    alone = compare_pairs([(others[3], base)], seed=1)[0]
    assert alone.found.high - alone.found.low < told[3].found.high - told[3].found.low
    assert alone.detectable < told[3].detectable


def test_corrected_verdicts_are_wrong_as_seldom_as_they_say():
    rng, wrong = np.random.default_rng(13), 0
    for _ in range(200):
        base, others = rng.normal(size=30), rng.normal(size=(4, 30))
        told = compare_pairs([(base + other, base) for other in others], seed=2, resamples=500)
        wrong += any(each.verdict != "cannot tell" for each in told)
    assert wrong / 200 <= 0.09


def test_samples_needed_turns_the_detectable_difference_round():
    assert samples_needed(10, minimum_detectable(10, 50)) in (50, 51)
    assert samples_needed(10, -minimum_detectable(10, 50, alpha=0.01), alpha=0.01) in (50, 51)
    assert samples_needed(10, 0) == math.inf


def test_turning_it_round_turns_the_signs():
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=12), rng.normal(size=12)
    one, other = paired_difference(a, b, seed=0), paired_difference(b, a, seed=0)
    assert other.difference == pytest.approx(-one.difference)
    assert (other.p, other.wins, other.losses) == (one.p, one.losses, one.wins)
    assert other.low == pytest.approx(-one.high, abs=0.02)


def test_turns_of_one_conversation_are_not_independent_evidence():
    a, b = np.repeat([1.0, 1.0, 1.0, 0.0], 20), np.zeros(80)
    conversations = np.repeat(list("wxyz"), 20)
    by_turn, by_conversation = paired_difference(a, b, seed=0), paired_difference(a, b, conversations, seed=0)
    assert by_turn.p < 0.001
    assert by_conversation.p == 0.25  # three conversations that differ: 2 of 2**3 patterns are as extreme
    assert (by_conversation.n, by_conversation.clusters, by_conversation.wins) == (80, 4, 60)
    assert by_conversation.high - by_conversation.low > 2 * (by_turn.high - by_turn.low)


def test_a_real_difference_is_found_and_none_is_not():
    rng = np.random.default_rng(7)
    base = rng.normal(size=200)
    better, same = base + rng.normal(0.5, 1, 200), base.copy()
    found = paired_difference(better, base, seed=0)
    assert found.p < 0.001
    assert 0 < found.low < found.difference < found.high
    nothing = paired_difference(same, base, seed=0)
    assert (nothing.p, nothing.difference, nothing.low, nothing.high, nothing.ties) == (1.0, 0.0, 0.0, 0.0, 200)


def test_too_few_pairs():
    none = paired_difference([math.nan], [1.0], seed=0)
    assert (none.n, none.wins) == (0, 0)
    assert math.isnan(none.difference)
    assert math.isnan(none.p)
    one = paired_difference([2.0], [1.0], seed=0)
    assert (one.n, one.difference, one.p) == (1, 1.0, 1.0)
    assert math.isnan(one.low)


def test_a_seed_fixes_everything():
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, 60))
    assert paired_difference(a, b, seed=1) == paired_difference(a, b, seed=1)
    assert paired_difference(a, b, seed=1) != paired_difference(a, b, seed=2)


def test_unequal_lengths_are_refused():
    with pytest.raises(BadOption, match="pair them by sample"):
        paired_difference([1.0, 2.0], [1.0], seed=0)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, math.nan, 0.04]) == pytest.approx([0.02, math.nan, 0.04], nan_ok=True)
    assert holm([0.6, 0.7]) == pytest.approx([1.0, 1.0])
    assert holm([]).size == 0
    with pytest.raises(BadOption, match="outside"):
        holm([1.2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.999))
def test_holm_rejects_what_the_step_down_procedure_rejects(pvalues, alpha):
    order, rejected = sorted(range(len(pvalues)), key=pvalues.__getitem__), set()
    for step, index in enumerate(order):
        if pvalues[index] * (len(pvalues) - step) > alpha:
            break
        rejected.add(index)
    assert {index for index, p in enumerate(holm(pvalues)) if p <= alpha} == rejected


@pytest.mark.parametrize(("b", "c"), [(0, 1), (1, 0), (5, 5), (2, 9), (9, 2), (30, 12), (1200, 1100)])
def test_mcnemar_is_the_exact_binomial_test(b, c):
    assert mcnemar_exact(b, c) == pytest.approx(stats.binomtest(b, b + c).pvalue)


def test_mcnemar_at_its_edges():
    assert mcnemar_exact(0, 0) == 1.0
    with pytest.raises(BadOption, match="negative"):
        mcnemar_exact(-1, 2)


def test_the_minimum_detectable_difference_is_detected_with_its_power():
    n, sd = 80, 2.0
    effect = minimum_detectable(sd, n)
    means = np.random.default_rng(10).normal(effect, sd / math.sqrt(n), 20_000)
    assert np.mean(np.abs(means) > 1.959964 * sd / math.sqrt(n)) == pytest.approx(0.8, abs=0.01)
    assert minimum_detectable(sd, 4 * n) == pytest.approx(effect / 2)
    assert minimum_detectable(sd, n, power=0.9) > effect
    assert math.isnan(minimum_detectable(1.0, 0))
    with pytest.raises(BadOption, match="between 0 and 1"):
        minimum_detectable(1.0, 10, power=1.0)
    with pytest.raises(BadOption, match="negative"):
        minimum_detectable(-1.0, 10)


def test_the_closed_form_agrees_with_the_bootstrap_on_many_clusters() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(3000), 2)
    shift = np.repeat(rng.normal(0.0, 1.0, 3000), 2)
    a = shift + rng.normal(0.05, 1.0, 6000)
    b = rng.normal(0.0, 0.5, 6000)
    drawn = paired_difference(a, b, clusters, seed=1)
    closed = paired_difference(a, b, clusters, seed=1, closed_form_from=2000)
    assert closed.difference == drawn.difference
    assert closed.low == pytest.approx(drawn.low, abs=0.004)
    assert closed.high == pytest.approx(drawn.high, abs=0.004)
    assert closed.p == pytest.approx(drawn.p, abs=0.015)
    few = paired_difference(a[:100], b[:100], clusters[:100], seed=1, closed_form_from=2000)
    assert few == paired_difference(a[:100], b[:100], clusters[:100], seed=1)


@pytest.mark.parametrize("comparisons", [1, 5, 13, 16, 40])
def test_so_many_clusters_can_reject_something_and_one_less_nothing_whatever_they_hold(comparisons):
    enough = clusters_to_reject(comparisons)
    for clusters, verdict in ((enough, "above"), (enough - 1, "cannot tell")):
        (found,) = compare_pairs([(np.full(clusters, 90.0), np.zeros(clusters))], seed=1, among=comparisons)
        assert found.verdict == verdict, clusters


@settings(deadline=None)
@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 5))
def test_slices_that_are_large_enough_can_each_be_told_apart_and_no_smaller_limit_would_do(sizes, times):
    least = least_clusters(sizes, times)

    def needed(limit):
        return clusters_to_reject(times * sum(size >= limit for size in sizes))

    assert least >= max(LEAST_CLUSTERS, needed(least))
    assert least == LEAST_CLUSTERS or needed(least - 1) > least - 1
