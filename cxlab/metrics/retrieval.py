"""Rankings against relevant ids: did the right documents come up, and how early.

Binary relevance, one rule for every figure. For a query with the relevant ids R and the ranking d1, d2, ...
(each id once), `found(k)` = relevant ids among the first k:

    acc@k   1 when found(k) > 0, else 0 (also called hit rate, success)
    p@k     found(k) / k, also where the ranking is shorter than k
    r@k     found(k) / |R|
    ndcg@k  sum over relevant ranks i <= k of 1 / log2(i + 1), divided by the same sum over i = 1 ... min(k, |R|)
    mrr@k   1 / rank of the first relevant id when that rank is <= k, else 0

A ranking is a list of ids, best first, or a list of tuples that begin with (id, score): those are sorted
by falling score, equal scores by rising id, so that no engine's order of ties can be lucky. An id that
comes twice counts where it comes first, and is taken out before the cut at k. Gold ids that come twice count
once. A query without a ranking (an empty one, None, a missing key) was not answered and counts 0.
A query without gold has nothing to find: see `without_gold`.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain
from numbers import Real
from operator import gt, itemgetter, ne
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption

Ranking = Sequence[Any] | NDArray[Any] | None
Listed = Sequence[Ranking] | NDArray[Any]
Rankings = Listed | Mapping[Any, Ranking]
Relevant = Sequence[Iterable[Hashable]] | Mapping[Any, Iterable[Hashable]]
WithoutGold = Literal["skip", "zero"]
CUTOFFS = (1, 5, 10, 20)
# Types that need no second look, and are most of what comes: this makes it twice as fast.
_PLAIN, _NUMBERS = {str, int}, {int, float}
# Up to so many relevant ids of a query, comparing each with a whole column is the faster way.
_FEW = 64


def evaluate(
    rankings: Rankings,
    relevant: Relevant,
    cutoffs: Sequence[int] = CUTOFFS,
    without_gold: WithoutGold = "skip",
) -> dict[str, float]:
    """Means over the queries, as `acc@k`, `p@k`, `r@k`, `ndcg@k` and `mrr@k` for each cut-off, all in 0..1.

    Queries are matched by position (two lists of one length) or by key (two mappings). A query without
    gold is left out of every mean ("skip"), or counts 0 in it ("zero", as the public CXMArena evaluator
    has it). No query with gold: nan. BadOption for another `without_gold`.
    """
    found = evaluate_each(rankings, relevant, cutoffs)
    if without_gold not in ("skip", "zero"):
        raise BadOption(f"without_gold = {without_gold!r}; known: skip, zero")
    means = {}
    for name, each in found.items():
        counted: NDArray[np.float64] = np.nan_to_num(each, nan=0.0) if without_gold == "zero" else each[~np.isnan(each)]
        means[name] = float(counted.mean()) if counted.size else math.nan
    return means


def evaluate_each(
    rankings: Rankings, relevant: Relevant, cutoffs: Sequence[int] = CUTOFFS
) -> dict[str, NDArray[np.float64]]:
    """The same figures with one value a query, in the order of `relevant`; nan for a query without gold."""
    marks = _check_cutoffs(cutoffs)
    asked, golds = _pair(rankings, relevant)
    hits = _find_hits_of_numbers(asked, golds, max(marks))
    if hits is None:
        hits = _find_hits(asked, golds, max(marks))
    sizes = np.fromiter(map(len, golds), dtype=np.int64, count=len(golds))
    width = hits.shape[1]
    counts = np.cumsum(hits, axis=1, dtype=np.float64)
    deepest = max(width, min(int(sizes.max(initial=0)), max(marks)))
    discounts = 1 / np.log2(np.arange(2, deepest + 2))
    gains = np.cumsum(hits * discounts[:width], axis=1)
    ideals = np.concatenate(([np.nan], np.cumsum(discounts)))
    first = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1.0, np.inf) if width else np.full(len(sizes), np.inf)
    gold = np.where(sizes > 0, sizes, np.nan)
    known = np.where(sizes > 0, 0.0, np.nan)
    found: dict[str, NDArray[np.float64]] = {}
    for mark in marks:
        # Beyond the longest ranking nothing more is found.
        last = min(mark, width) - 1
        count = counts[:, last] if width else np.zeros(len(sizes))
        gain = gains[:, last] if width else np.zeros(len(sizes))
        found[f"acc@{mark}"] = np.where(count > 0, 1.0, 0.0) + known
        found[f"p@{mark}"] = count / mark + known
        found[f"r@{mark}"] = count / gold
        found[f"ndcg@{mark}"] = gain / ideals[np.minimum(sizes, mark)]
        found[f"mrr@{mark}"] = np.where(first <= mark, 1 / first, 0.0) + known
    return {f"{name}@{mark}": found[f"{name}@{mark}"] for name in ("acc", "p", "r", "ndcg", "mrr") for mark in marks}


def _check_cutoffs(cutoffs: Sequence[int]) -> list[int]:
    marks = list(cutoffs)
    if not marks or any(isinstance(mark, bool) or not isinstance(mark, int | np.integer) or mark < 1 for mark in marks):
        raise BadOption(f"cutoffs = {cutoffs!r}; give one or more whole numbers of at least 1")
    return sorted({int(mark) for mark in marks})


def _pair(rankings: Rankings, relevant: Relevant) -> tuple[Listed, list[Set[Hashable]]]:
    """Rankings and gold sets side by side."""
    if isinstance(relevant, Mapping) and isinstance(rankings, Mapping):
        stray = next((query for query in rankings if query not in relevant), None)
        if stray is not None:
            raise BadOption(f"query {stray!r} has a ranking but no entry in relevant; give it one (it may be empty)")
        return [rankings.get(query) for query in relevant], [_gold(ids, query) for query, ids in relevant.items()]
    if isinstance(relevant, Mapping) or isinstance(rankings, Mapping):
        raise BadOption("rankings and relevant must both be lists or both be mappings from query to ids")
    if len(rankings) != len(relevant):
        raise BadOption(f"{len(rankings)} rankings for {len(relevant)} queries; give each query one (None: unanswered)")
    return rankings, [_gold(ids, place) for place, ids in enumerate(relevant)]


def _gold(ids: Any, query: object) -> Set[Hashable]:
    if ids is None:
        return frozenset()
    if isinstance(ids, Set):
        return ids
    if isinstance(ids, list | tuple):
        return frozenset(ids)
    if isinstance(ids, str | bytes | Mapping) or not isinstance(ids, Iterable):
        # A text would be taken apart into its letters, grades would be read as relevant whatever they say.
        raise BadOption(f"relevant[{query!r}] is {str(ids)[:60]!r}; give a list or set of ids")
    return frozenset(ids.tolist() if isinstance(ids, np.ndarray) else ids)


def _find_hits_of_numbers(rankings: Listed, relevant: list[Set[Hashable]], deepest: int) -> NDArray[np.bool_] | None:
    """The same as `_find_hits` by whole columns: for rankings of one length whose ids are whole numbers, else None."""
    table = _table_of_numbers(rankings)
    if table is None:
        return None
    sizes = np.fromiter(map(len, relevant), dtype=np.int64, count=len(relevant))
    gold = list(chain.from_iterable(relevant))
    if not set(map(type, gold)) <= {int} or sizes.max(initial=0) > _FEW:
        return None
    try:
        wanted = np.asarray(gold, dtype=np.int64)
    except OverflowError:
        return None
    ordered = np.sort(table, axis=1)
    lengths = np.full(len(table), table.shape[1])
    for row in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)).tolist():
        once = list(dict.fromkeys(table[row].tolist()))
        table[row, : len(once)], lengths[row] = once, len(once)
    table = table[:, :deepest]
    hits = np.zeros(table.shape, dtype=np.bool_)
    starts = np.cumsum(sizes) - sizes
    for place in range(int(sizes.max(initial=0))):
        rows = np.flatnonzero(sizes > place)
        hits[rows] |= table[rows] == wanted[starts[rows] + place, None]
    hits[np.arange(table.shape[1]) >= lengths[:, None]] = False
    return hits


def _table_of_numbers(rankings: Listed) -> NDArray[np.int64] | None:
    """A table of its own, one ranking a row; None where lengths differ or an id is no whole number."""
    if isinstance(rankings, np.ndarray):
        return rankings.astype(np.int64) if rankings.ndim == 2 and rankings.dtype.kind == "i" else None
    rows = [ranking for ranking in rankings if isinstance(ranking, list) and ranking and type(ranking[0]) is int]
    if not rows or len(rows) < len(rankings) or len(set(map(len, rows))) > 1:
        return None
    try:
        table: NDArray[Any] = np.asarray(rows)
    except (ValueError, OverflowError):
        return None
    return table if table.ndim == 2 and table.dtype == np.int64 else None


def _find_hits(rankings: Listed, relevant: list[Set[Hashable]], deepest: int) -> NDArray[np.bool_]:
    """Whether the id at each rank is relevant: as wide as the longest ranking, at most `deepest`."""
    flags = bytearray()
    rows: list[int] = []
    lengths: list[int] = []
    longest = 0
    for row, (ranking, gold) in enumerate(zip(rankings, relevant, strict=True)):
        if ranking is None or not len(ranking):
            continue
        ordered = _order(ranking, row)
        longest = max(longest, len(ordered))
        if gold.isdisjoint(ordered):
            continue
        ids = dict.fromkeys(ordered)
        rows.append(row)
        lengths.append(len(ids))
        flags.extend(map(gold.__contains__, ids))
    length = np.asarray(lengths, dtype=np.int64)
    starts = np.cumsum(length) - length
    at = np.flatnonzero(np.frombuffer(flags, dtype=np.bool_))
    which = np.searchsorted(starts, at, side="right") - 1
    rank = at - starts[which]
    width = min(longest, deepest)
    hits = np.zeros((len(rankings), width), dtype=np.bool_)
    hits[np.asarray(rows, dtype=np.int64)[which[rank < width]], rank[rank < width]] = True
    return hits


def _order(ranking: Any, row: int) -> Sequence[Any]:
    """The ids of one ranking, best first."""
    if not isinstance(ranking, list) and isinstance(ranking, str | bytes | Mapping):
        raise BadOption(f"ranking {row} is {str(ranking)[:60]!r}; give a list of ids or of (id, score)")
    if isinstance(ranking, np.ndarray):
        ids: list[Any] = ranking.tolist()
        return ids
    kinds = set(map(type, ranking))
    if kinds <= _PLAIN or not any(issubclass(kind, tuple | list) for kind in kinds):
        plain: Sequence[Any] = ranking
        return plain
    if not all(issubclass(kind, tuple | list) for kind in kinds) or min(map(len, ranking)) < 2:
        raise BadOption(f"ranking {row} mixes ids with (id, score); give all scores or none")
    ids, scores = [entry[0] for entry in ranking], [entry[1] for entry in ranking]
    numbers = set(map(type, scores))
    if not (numbers <= _NUMBERS or all(issubclass(kind, Real) for kind in numbers)) or any(map(ne, scores, scores)):
        raise BadOption(f"ranking {row} holds a score that is not a number; leave that document out")
    if all(map(gt, scores, scores[1:])):
        return ids
    try:
        ranking = sorted(ranking, key=itemgetter(0))
    except TypeError:
        raise BadOption(f"ranking {row} holds ids of several types, which have no order among themselves") from None
    ranking.sort(key=itemgetter(1), reverse=True)
    return [entry[0] for entry in ranking]
