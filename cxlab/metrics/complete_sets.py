"""The largest set of systems that all have results on the same things: what a ranking may stand on."""

from collections.abc import Mapping, Sequence

import numpy as np

_MOST_SETS = 2_000


def largest_complete(held: Mapping[int, int], newest: Sequence[float], least: int = 2) -> tuple[int, int]:
    """The systems (as bits) with the most systems x results that all of them have, and how many results that is.

    `held`: systems as bits → how many results exactly these have; `newest`: of each system, when its newest result was
    made, in any unit. Sets of at least `least` systems come first, then more results in all, then the set with the
    newest result, then more systems. (0, 0) where nothing is held. Exact: the best set is an intersection of patterns
    in `held`; only where these have more than 2,000 intersections the rarest patterns are not looked into.
    """
    patterns = {mask: count for mask, count in held.items() if mask and count}
    if not patterns:
        return 0, 0
    closed: set[int] = set()
    for mask in sorted(patterns, key=lambda each: (-patterns[each] * each.bit_count(), each)):
        closed |= {mask, *(mask & other for other in closed)} - {0}
        if len(closed) > _MOST_SETS:
            break
    sets = np.array(sorted(closed), dtype=np.uint64)
    masks = np.array(list(patterns), dtype=np.uint64)
    counts = np.array(list(patterns.values()), dtype=np.int64)
    results = ((sets[:, None] & masks[None, :]) == sets[:, None]) @ counts

    def rank(place: int) -> tuple[bool, int, float, int, int]:
        mask = int(sets[place])
        size = mask.bit_count()
        made = max(newest[bit] for bit in range(mask.bit_length()) if mask >> bit & 1)
        return size >= least, size * int(results[place]), made, size, -mask

    best = max(range(len(sets)), key=rank)
    return int(sets[best]), int(results[best])


def shared(held: Mapping[int, int], systems: int) -> int:
    """How many results all of these systems have."""
    return sum(count for mask, count in held.items() if mask & systems == systems)
