"""A path of stages compared with the reference path of a procedure.

A path is a sequence of stage names. SAGE's paper and its code compute two different things under
one name, so both are here under their own: `recall` (paper) and `prefix` (code). Recall is blind to
order and to stages that should not be there; `alignment` sees both and says where.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple

from cxlab.errors import BadOption

Move = Literal["sync", "inserted", "skipped"]


class Alignment(NamedTuple):
    """How one path becomes the other.

    `moves`: (move, stage) in order; `sync` = in both, `inserted` = only predicted, `skipped` = only in
    the reference. `cost`: number of moves that are not sync. `fitness`: 1 - cost / (both lengths), 1..0.
    """

    moves: tuple[tuple[Move, str], ...]
    cost: int
    fitness: float


def exact(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """1.0 when both paths are the same stages in the same order, else 0.0."""
    return float(list(predicted) == list(reference))


def recall(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """Share of the reference's stages that were visited at all, as SAGE's paper defines path accuracy.

    Sets: order, repetition and additional stages do not count, so naming every stage scores 1.0.
    An empty reference has nothing to visit: nan.
    """
    wanted = set(reference)
    return len(wanted & set(predicted)) / len(wanted) if wanted else float("nan")


def prefix(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """Length of the common beginning / length of the longer path, as SAGE's code computes path accuracy.

    Equal paths, two empty ones included, score 1.0.
    """
    divergence = first_divergence(predicted, reference)
    return 1.0 if divergence is None else divergence / max(len(predicted), len(reference))


def first_divergence(predicted: Sequence[str], reference: Sequence[str]) -> int | None:
    """Index (from 0) of the first stage that differs, None for equal paths.

    Where one path is the beginning of the other, it diverges at its end: the index is its length.
    """
    end = object()  # equal to no stage, so that the shorter path differs where it stops
    pairs = zip_longest(predicted, reference, fillvalue=end)
    return next((index for index, (ours, theirs) in enumerate(pairs) if ours != theirs), None)


def alignment(predicted: Sequence[str], reference: Sequence[str]) -> Alignment:
    """Cheapest alignment of the two paths: sync costs 0, inserted 1, skipped 1; two empty paths fit 1.0.

    Sync and inserted moves in order spell the predicted path, sync and skipped ones the reference.
    Ties between equally cheap alignments: reading from the left, sync comes before skipped and skipped
    before inserted. O(len * len); standard alignment costs of process mining.
    """
    ours, theirs = list(predicted), list(reference)
    rest = _remaining_costs(ours, theirs)
    moves: list[tuple[Move, str]] = []
    i = j = 0
    while i < len(ours) or j < len(theirs):
        # Syncing equal stages is never dearer than any other move, so it needs no look at the costs.
        if i < len(ours) and j < len(theirs) and ours[i] == theirs[j]:
            moves.append(("sync", ours[i]))
            i, j = i + 1, j + 1
        elif j < len(theirs) and rest[i][j] == rest[i][j + 1] + 1:
            moves.append(("skipped", theirs[j]))
            j += 1
        else:
            moves.append(("inserted", ours[i]))
            i += 1
    cost, length = rest[0][0], len(ours) + len(theirs)
    return Alignment(tuple(moves), cost, 1.0 - cost / length if length else 1.0)


def nearest(predicted: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The reference that the predicted path fits best (alignment fitness; ties: the first one given).

    BadOption without a reference.
    """
    if not references:
        raise BadOption("no reference path to compare with; pass at least one")
    fitness = [alignment(predicted, reference).fitness for reference in references]
    return tuple(references[fitness.index(max(fitness))])


def _remaining_costs(ours: list[str], theirs: list[str]) -> list[list[int]]:
    """cost[i][j] of aligning what is left of both paths from positions i and j on."""
    rows, columns = len(ours), len(theirs)
    cost = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows, -1, -1):
        for j in range(columns, -1, -1):
            if i == rows or j == columns:
                cost[i][j] = (rows - i) + (columns - j)
            elif ours[i] == theirs[j]:
                cost[i][j] = cost[i + 1][j + 1]
            else:
                cost[i][j] = 1 + min(cost[i + 1][j], cost[i][j + 1])
    return cost
