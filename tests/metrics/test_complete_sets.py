"""The largest complete set against a look at every set of systems."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from cxlab.metrics.complete_sets import largest_complete, shared

PATTERNS = st.dictionaries(st.integers(0, 63), st.integers(0, 6), max_size=12)


def look_at_all(held, newest, least):
    """Every set of systems, one by one."""
    known = sorted({bit for mask, count in held.items() if count for bit in range(6) if mask >> bit & 1})
    found = []
    for size in range(1, len(known) + 1):
        for systems in combinations(known, size):
            mask = sum(1 << bit for bit in systems)
            results = sum(count for pattern, count in held.items() if pattern & mask == mask)
            if results:
                found.append((size >= least, size * results, max(newest[bit] for bit in systems), size, mask))
    return max((each[:4] for each in found), default=None)


@given(PATTERNS, st.lists(st.integers(0, 3), min_size=6, max_size=6), st.sampled_from([1, 2]))
def test_no_set_is_larger(held, newest, least):
    systems, results = largest_complete(held, newest, least)
    wanted = look_at_all(held, newest, least)
    if wanted is None:
        assert (systems, results) == (0, 0)
        return
    size = systems.bit_count()
    made = max(newest[bit] for bit in range(6) if systems >> bit & 1)
    assert (size >= least, size * results, made, size) == wanted
    assert shared(held, systems) == results


def test_a_partial_run_is_left_out_and_a_lone_one_is_no_set_of_two():
    # Three systems have 310 results, a fourth has 47 of them as well.
    assert largest_complete({0b0111: 310, 0b1111: 47}, [0, 0, 0, 9]) == (0b0111, 357)
    # Two have 47 in common: that is a comparison, though one of them alone has more.
    assert largest_complete({0b01: 310, 0b11: 47}, [0, 1]) == (0b11, 47)
    assert largest_complete({0b01: 310, 0b10: 47}, [0, 1]) == (0b01, 310)


def test_of_equal_sets_the_newer_one_is_taken():
    assert largest_complete({0b0011: 10, 0b1100: 10}, [1, 1, 1, 2])[0] == 0b1100
    assert largest_complete({0b0011: 10, 0b1100: 10}, [3, 1, 1, 2])[0] == 0b0011
