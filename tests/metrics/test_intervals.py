"""Intervals against scipy, against formulas written out, and against their own promise of 95 %."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.errors import BadOption
from cxlab.metrics.intervals import (
    Interval,
    bootstrap_interval,
    change_of_mean,
    clustered_interval,
    clustered_proportion,
    mean_interval,
    number_clusters,
    pooled_interval,
    proportion_interval,
    student_quantile,
)

from .referees import stats


def draw(seed, size):
    return np.random.default_rng(seed).normal(3, 2, size)


@pytest.mark.parametrize("degrees", [*range(1, 42), 199, 200, 201, 202, 1000, 10**6])
def test_student_quantile_is_scipys(degrees):
    for level in (0.5, 0.95, 0.99, 0.9999):
        assert student_quantile(degrees, level) == pytest.approx(stats.t.ppf((1 + level) / 2, degrees), rel=1e-8)
    assert student_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-10)


@pytest.mark.parametrize("n", [2, 3, 10, 500])
def test_mean_interval_is_the_t_interval(n):
    values = draw(n, n)
    found = mean_interval(values)
    low, high = stats.t.interval(0.95, n - 1, loc=values.mean(), scale=stats.sem(values))
    assert found == pytest.approx((values.mean(), low, high, n, n))


def test_clustered_interval_is_its_formula():
    values, clusters = draw(1, 9), list("aabbbbccd")
    mean = sum(values) / 9
    total = 0.0
    for name in "abcd":
        total += sum(value - mean for value, cluster in zip(values, clusters, strict=True) if cluster == name) ** 2
    error = math.sqrt(4 / 3 * total) / 9
    reach = stats.t.ppf(0.975, 3) * error
    assert clustered_interval(values, clusters) == pytest.approx((mean, mean - reach, mean + reach, 9, 4))


def test_sums_and_sizes_of_clusters_say_as_much_as_the_values():
    values, clusters = draw(1, 9), np.array(list("aabbbbccd"))
    sums = [values[clusters == name].sum() for name in "abcde"]
    found = pooled_interval(sums, [2, 4, 2, 1, 0])
    assert found == pytest.approx(clustered_interval(values, clusters))
    lone, none = pooled_interval([3.0, 0.0], [2, 0]), pooled_interval([], [])
    assert (lone.mean, lone.n, lone.clusters, math.isnan(lone.low)) == (1.5, 2, 1, True)
    assert math.isnan(none.mean)


def test_copies_within_a_cluster_add_no_certainty():
    values = draw(2, 30)
    once, copied = mean_interval(values), clustered_interval(np.repeat(values, 7), np.repeat(np.arange(30), 7))
    assert copied[:3] == pytest.approx(once[:3])
    assert (copied.n, copied.clusters) == (210, 30)
    naive = mean_interval(np.repeat(values, 7))
    assert naive.high - naive.low < 0.5 * (copied.high - copied.low)


def test_clusters_of_one_are_no_clusters():
    values = draw(3, 12)
    assert clustered_interval(values, range(12)) == pytest.approx(mean_interval(values))


def test_clustered_interval_covers_the_truth_as_often_as_it_says_and_the_naive_one_does_not():
    rng, rounds, groups, size = np.random.default_rng(4), 1000, 12, 6
    clusters, covered, naive = np.repeat(np.arange(groups), size), 0, 0
    for _ in range(rounds):
        values = (rng.normal(size=groups)[:, None] + rng.normal(size=(groups, size))).ravel()
        found, careless = clustered_interval(values, clusters), mean_interval(values)
        covered += found.low < 0 < found.high
        naive += careless.low < 0 < careless.high
    assert 0.93 < covered / rounds < 0.97
    assert naive / rounds < 0.8


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 20), (20, 20), (3, 20), (481, 979)])
def test_proportion_interval_is_wilsons(successes, trials):
    theirs = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    found = proportion_interval(successes, trials)
    assert found == pytest.approx((successes / trials, theirs.low, theirs.high, trials, trials), abs=1e-12)
    assert 0 <= found.low <= found.mean <= found.high <= 1


@pytest.mark.parametrize(("successes", "trials"), [(0, 20), (20, 20), (3, 20)])
def test_clustered_proportion_of_single_observations_is_wilsons(successes, trials):
    hits = [1.0] * successes + [0.0] * (trials - successes)
    plain = proportion_interval(successes, trials)
    assert clustered_proportion(hits, range(trials)) == pytest.approx(plain)
    # Said three times, each observation is worth one still: by the factor G / (G - 1) a little less.
    thrice = clustered_proportion(np.repeat(hits, 3), np.repeat(np.arange(trials), 3))
    assert (thrice.n, thrice.clusters, thrice.mean) == (3 * trials, trials, pytest.approx(plain.mean))
    assert thrice.high - thrice.low == pytest.approx(plain.high - plain.low, rel=0.03)
    assert thrice.high - thrice.low >= plain.high - plain.low - 1e-12


def test_clustered_proportion_covers_what_it_promises():
    rng, covered, plain = np.random.default_rng(8), 0, 0
    for _ in range(400):
        # Clusters of 5 that go together: shares of them are drawn around 0.2 from a beta distribution.
        hits = (rng.random((60, 5)) < rng.beta(0.4, 1.6, size=(60, 1))).astype(float)
        found = clustered_proportion(hits.ravel(), np.repeat(np.arange(60), 5))
        naive = proportion_interval(int(hits.sum()), hits.size)
        covered += found.low <= 0.2 <= found.high
        plain += naive.low <= 0.2 <= naive.high
    assert covered / 400 > 0.92
    assert plain / 400 < 0.9


def test_clustered_proportion_refuses_what_is_no_hit():
    with pytest.raises(BadOption, match="1 and 0"):
        clustered_proportion([0.5])
    assert math.isnan(clustered_proportion([]).mean)
    one = clustered_proportion([1, 1, 0], ["a", "a", "a"])
    assert (one.n, one.clusters) == (3, 1)
    assert one.high - one.low > 0.7


def errors(count, samples, trials, packed=False):
    """So many errors among samples x trials: in one sample after another, or as many to a sample as fit."""
    found = np.zeros((samples, trials))
    for place in range(count):
        found[(place // trials, place % trials) if packed else (place % samples, place // samples)] = 1
    return clustered_proportion(found.ravel(), np.repeat(np.arange(samples), trials))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("trials", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("samples", [5, 8, 10, 20, 57, 100, 357])
def test_more_errors_never_have_a_lower_upper_bound(samples, trials, packed):
    """0 of 57 x 3 said up to 6.3 %, 1 up to 3.3 % and 4 up to 5.9 %."""
    bounds = [errors(count, samples, trials, packed).high for count in range(5)]
    assert bounds == sorted(bounds)
    assert bounds[0] == pytest.approx(proportion_interval(0, samples).high)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("alike", [0.0, 0.4, 1.0])
def test_a_clustered_share_covers_what_it_promises_near_the_ends_as_well(share, alike):
    rng, covered, rounds = np.random.default_rng(5), 0, 400
    for _ in range(rounds):
        # With that probability a trial repeats what the sample's first one came to.
        hits = rng.random((57, 3)) < share
        hits = np.where(rng.random((57, 3)) < alike, hits[:, :1], hits)
        found = clustered_proportion(hits.ravel().astype(float), np.repeat(np.arange(57), 3))
        covered += found.low <= share <= found.high
    assert covered / rounds >= 0.93


def test_a_mean_on_a_scale_covers_what_it_promises_though_most_are_perfect():
    rng, covered, plain, rounds = np.random.default_rng(6), 0, 0, 500
    for _ in range(rounds):
        values = np.where(rng.random(40) < 0.9, 100.0, rng.uniform(0, 100, 40))
        found, careless = mean_interval(values, (0, 100)), mean_interval(values)
        covered += found.low <= 95 <= found.high
        plain += careless.low <= 95 <= careless.high
    assert covered / rounds >= 0.93
    assert plain / rounds < covered / rounds


def test_in_the_middle_of_a_scale_it_is_students_interval():
    values = np.random.default_rng(7).normal(55, 8, 200)
    bounded, free = mean_interval(values, (0, 100)), mean_interval(values)
    assert (bounded.low, bounded.high) == pytest.approx((free.low, free.high), abs=0.02)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 100.0, 100.0, 40.0, 66.7])), min_size=1, max_size=30),
    st.sampled_from([(0.0, 100.0), (100.0, 0.0)]),
    st.sampled_from([0.95, 0.99, 0.999]),
)
def test_no_interval_leaves_its_scale_or_its_mean(rows, scale, level):
    found = clustered_interval([value for _, value in rows], [name for name, _ in rows], scale, level)
    if found.clusters < 2:
        assert math.isnan(found.low)
        return
    assert -1e-9 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= 100 + 1e-9
    assert found.high - found.low > 1
    wider = clustered_interval([value for _, value in rows], [name for name, _ in rows], scale, 1 - (1 - level) / 10)
    assert wider.low <= found.low + 1e-9
    assert wider.high >= found.high - 1e-9


def test_a_scale_that_values_leave_is_none():
    values = [-20.0, 130.0, 140.0]
    assert mean_interval(values, (0, 50)) == mean_interval(values)


def test_bootstrap_of_single_values_meets_scipys():
    values = np.random.default_rng(5).exponential(size=60)
    theirs = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=20_000, rng=np.random.default_rng(6)
    ).confidence_interval
    found = bootstrap_interval(values, seed=7, resamples=20_000)
    assert found.low == pytest.approx(theirs.low, abs=0.012)
    assert found.high == pytest.approx(theirs.high, abs=0.012)
    assert found.mean == pytest.approx(values.mean())


def test_bootstrap_draws_whole_clusters_and_weighs_them_by_size():
    # Two clusters, of 1 and of 3 values: the resamples are both of one, both of the other, or one of each.
    found = bootstrap_interval([0.0, 1.0, 1.0, 1.0], list("abbb"), seed=1, resamples=4000)
    assert found == Interval(0.75, 0.0, 1.0, 4, 2)
    rng = np.random.default_rng(8)
    clusters = rng.integers(0, 150, 2000)
    values = rng.normal(size=150)[clusters] + rng.normal(size=2000)
    boot, closed = bootstrap_interval(values, clusters, seed=9), clustered_interval(values, clusters)
    assert (boot.low, boot.high) == pytest.approx((closed.low, closed.high), abs=0.02)
    single = bootstrap_interval(values, seed=9)
    assert single.high - single.low < 0.5 * (boot.high - boot.low)


def test_a_seed_fixes_the_bootstrap():
    values = draw(10, 40)
    assert bootstrap_interval(values, seed=1) == bootstrap_interval(values, seed=1)
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


INTERVALS = [mean_interval, clustered_interval, lambda values: bootstrap_interval(values, seed=0)]


@pytest.mark.parametrize("interval", INTERVALS)
def test_unscored_values_are_left_out_not_zero(interval):
    found = interval([2.0, math.nan, 4.0, math.nan, 6.0])
    assert (found.mean, found.n, found.clusters) == (4.0, 3, 3)
    assert found.low == interval([2.0, 4.0, 6.0]).low


@pytest.mark.parametrize("interval", INTERVALS)
def test_one_value_has_a_mean_but_no_interval_and_none_has_neither(interval):
    one = interval([5.0])
    assert (one.mean, one.n, one.clusters) == (5.0, 1, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    none = interval([math.nan])
    assert (none.n, none.clusters) == (0, 0)
    assert math.isnan(none.mean)
    assert math.isnan(proportion_interval(0, 0).mean)


def test_one_cluster_has_no_interval():
    for found in (clustered_interval([1.0, 2.0], ["a", "a"]), bootstrap_interval([1.0, 2.0], ["a", "a"], seed=0)):
        assert (found.mean, found.n, found.clusters) == (1.5, 2, 1)
        assert math.isnan(found.low)
        assert math.isnan(found.high)


def test_misuse_is_refused():
    with pytest.raises(BadOption, match="3 values but 2 cluster names"):
        clustered_interval([1, 2, 3], ["a", "b"])
    with pytest.raises(BadOption, match="no cluster name"):
        clustered_interval([1, 2], ["a", None])
    with pytest.raises(BadOption, match="infinite"):
        mean_interval([1.0, math.inf])
    with pytest.raises(BadOption, match="5 successes in 4"):
        proportion_interval(5, 4)
    with pytest.raises(BadOption, match="0 resamples"):
        bootstrap_interval([1.0, 2.0], seed=0, resamples=0)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=2, max_size=30))
def test_a_change_of_single_values_is_the_mean_of_paired_differences(pairs: list[tuple[float, float]]) -> None:
    old, new = np.array(pairs).T
    ones = np.ones(len(pairs))
    found = change_of_mean(old, ones, new, ones)
    wanted = mean_interval(new - old)
    assert found[:3] == pytest.approx(wanted[:3], abs=1e-6)


def test_values_that_come_and_go_move_a_mean_too() -> None:
    # Means 50 of two turns, then 60 of three: the second sample had none that was scored.
    found = change_of_mean([100.0, 0.0], [2, 0], [100.0, 80.0], [2, 1])
    assert (found.mean, found.n, found.clusters) == (pytest.approx(10.0), 3, 2)
    assert found.low < 10 < found.high
    assert math.isnan(change_of_mean([0.0], [0], [1.0], [1]).mean)


@given(st.lists(st.integers(-3, 3), max_size=30))
def test_clusters_named_by_numbers_are_numbered_as_those_named_by_words(names: list[int]) -> None:
    values = np.arange(len(names), dtype=float)
    values[::4] = math.nan
    of_words = number_clusters(values, [f"c{name}" for name in names])
    of_numbers = number_clusters(values, np.array(names, dtype=np.int64))
    assert of_numbers[1].tolist() == of_words[1].tolist()
    assert of_numbers[2] == of_words[2]
