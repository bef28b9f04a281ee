"""Paths: brute-force alignments, properties, and SAGE's six procedures worked by hand."""

from itertools import permutations, product
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.errors import BadOption
from cxlab.metrics.paths import alignment, exact, first_divergence, nearest, prefix, recall

paths = st.lists(st.sampled_from("abcd"), max_size=6)

# The distinct stage paths of SAGE's six scenarios, one digit a stage, and how many stages there are.
VALID = {
    "telecom_package": (7, "1236 12364 123645 1236457 124 1245 12457 125 1257"),
    "ecommerce_refund": (8, "123 1234 12354 123546 1235468 123547"),
    "property_service": (8, "123 1236 12367 1237 12456 124568 12458"),
    "logistics_delivery": (9, "12 123 12345 123456 123457 1234578 12345789"),
    "airline_refund": (8, "1234 1235 12358 123584 1235847 124 1246 12468 125"),
    "online_education": (8, "12 1234 12345 1234567 12345678 12367 123678"),
}

# Scored against each valid path: recall of a wrong valid path, how many such pairs recall calls perfect,
# prefix of all stages and of a wrong path, fitness of all stages, of a wrong and of the reversed path.
WORKED = {
    "telecom_package": (0.735, 22, 72, 0.35, 0.50, 0.72, 0.71, 0.24),
    "ecommerce_refund": (0.831, 13, 30, 0.40, 0.64, 0.68, 0.80, 0.21),
    "property_service": (0.663, 7, 42, 0.32, 0.53, 0.72, 0.65, 0.23),
    "logistics_delivery": (0.782, 18, 42, 0.49, 0.59, 0.71, 0.71, 0.23),
    "airline_refund": (0.718, 18, 72, 0.33, 0.51, 0.67, 0.68, 0.24),
    "online_education": (0.753, 16, 42, 0.57, 0.52, 0.77, 0.69, 0.23),
}


def every_alignment(predicted, reference):
    """All ways of aligning the two, as lists of moves."""
    if not predicted and not reference:
        yield []
    if predicted and reference and predicted[0] == reference[0]:
        yield from ([("sync", predicted[0]), *rest] for rest in every_alignment(predicted[1:], reference[1:]))
    if reference:
        yield from ([("skipped", reference[0]), *rest] for rest in every_alignment(predicted, reference[1:]))
    if predicted:
        yield from ([("inserted", predicted[0]), *rest] for rest in every_alignment(predicted[1:], reference))


def dearness(moves):
    order = ("sync", "skipped", "inserted")
    return sum(move != "sync" for move, _ in moves), [order.index(move) for move, _ in moves]


@pytest.mark.parametrize("reference", ["", "a", "ab", "aab", "abca"])
def test_alignment_is_the_cheapest_of_all_and_the_first_by_the_tie_rule(reference):
    for length in range(4):
        for predicted in product("abc", repeat=length):
            best = min(every_alignment(predicted, tuple(reference)), key=dearness)
            found = alignment(predicted, reference)
            assert list(found.moves) == best
            assert found.cost == dearness(best)[0]


@given(paths, paths)
def test_moves_spell_both_paths(predicted, reference):
    found = alignment(predicted, reference)
    assert [stage for move, stage in found.moves if move in ("sync", "inserted")] == predicted
    assert [stage for move, stage in found.moves if move in ("sync", "skipped")] == reference
    assert found.cost == sum(move != "sync" for move, _ in found.moves)


@given(paths, paths)
def test_metrics_keep_their_bounds_and_agree_on_equality(predicted, reference):
    scores = (alignment(predicted, reference).fitness, prefix(predicted, reference), exact(predicted, reference))
    assert all(0 <= score <= 1 for score in scores)
    assert {score == 1 for score in scores} == {predicted == reference}
    assert (first_divergence(predicted, reference) is None) == (predicted == reference)
    assert alignment(reference, predicted).cost == alignment(predicted, reference).cost


@given(paths, paths)
def test_first_divergence_is_where_the_common_beginning_ends(predicted, reference):
    index = first_divergence(predicted, reference)
    if index is None:
        assert predicted == reference
    else:
        assert predicted[:index] == reference[:index]
        assert predicted[index : index + 1] != reference[index : index + 1]


def test_one_alignment_by_hand():
    found = alignment(["s1", "s2", "s4", "s9"], ["s1", "s2", "s3", "s4"])
    assert found.moves == (("sync", "s1"), ("sync", "s2"), ("skipped", "s3"), ("sync", "s4"), ("inserted", "s9"))
    assert found.cost == 2
    assert found.fitness == pytest.approx(1 - 2 / 8)
    assert first_divergence(["s1", "s2", "s4", "s9"], ["s1", "s2", "s3", "s4"]) == 2
    assert prefix(["s1", "s2", "s4", "s9"], ["s1", "s2", "s3", "s4"]) == 0.5


def test_nothing_in_common_fits_zero():
    assert alignment("ab", "cd").fitness == 0.0
    assert alignment("ab", "cd").moves == (("skipped", "c"), ("skipped", "d"), ("inserted", "a"), ("inserted", "b"))


def test_empty_paths():
    assert recall(["s1"], []) != recall(["s1"], [])  # nan: nothing to recall
    assert recall([], ["s1"]) == 0.0
    assert (prefix([], []), exact([], []), alignment([], []).fitness) == (1.0, 1.0, 1.0)
    assert (prefix([], ["s1"]), first_divergence([], ["s1"])) == (0.0, 0)


def test_recall_counts_sets():
    assert recall(["s1", "s1", "s2"], ["s1", "s2", "s3", "s4"]) == 0.5
    assert recall("abc", "abcc") == 1.0


@pytest.mark.parametrize("scenario", VALID)
def test_recall_is_gamed_by_all_stages_and_by_any_order(scenario):
    size, valid = VALID[scenario]
    everything = [str(stage) for stage in range(1, size + 1)]
    for reference in valid.split():
        assert recall(everything, reference) == 1.0
        assert recall(reference[::-1], reference) == 1.0
        assert alignment(reference[::-1], reference).fitness < 0.51


@pytest.mark.parametrize("scenario", VALID)
def test_worked_figures_of_the_six_procedures(scenario):
    size, listed = VALID[scenario]
    valid = listed.split()
    everything = "".join(str(stage) for stage in range(1, size + 1))
    wrong = list(permutations(valid, 2))
    wrong_recall, perfect, pairs, prefix_all, prefix_wrong, fit_all, fit_wrong, fit_reversed = WORKED[scenario]

    assert len(wrong) == pairs
    assert mean(recall(a, b) for a, b in wrong) == pytest.approx(wrong_recall, abs=0.0006)
    assert sum(recall(a, b) == 1 for a, b in wrong) == perfect
    assert mean(prefix(everything, b) for b in valid) == pytest.approx(prefix_all, abs=0.0055)
    assert mean(prefix(a, b) for a, b in wrong) == pytest.approx(prefix_wrong, abs=0.0055)
    assert mean(alignment(everything, b).fitness for b in valid) == pytest.approx(fit_all, abs=0.0055)
    assert mean(alignment(a, b).fitness for a, b in wrong) == pytest.approx(fit_wrong, abs=0.0055)
    assert mean(alignment(b[::-1], b).fitness for b in valid) == pytest.approx(fit_reversed, abs=0.0055)


def test_nearest_finds_the_best_fit_and_takes_the_first_of_equals():
    references = ["12", "1234", "1256", "12"]
    assert nearest("12x4", references) == ("1", "2", "3", "4")
    assert nearest("1235", ["1234", "1236"]) == tuple("1234")
    assert nearest("1235", ["1236", "1234"]) == tuple("1236")


@given(paths, st.lists(paths, min_size=1, max_size=4))
def test_nearest_is_beaten_by_no_reference(predicted, references):
    best = alignment(predicted, nearest(predicted, references)).fitness
    assert best == max(alignment(predicted, reference).fitness for reference in references)


def test_nearest_of_nothing_is_an_error():
    with pytest.raises(BadOption, match="at least one"):
        nearest(["s1"], [])
