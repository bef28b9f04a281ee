"""Which terms all levels of a factor were tried under, so that levels are compared like with like."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Cell = TypeVar("Cell", bound=Hashable)


def find_shared_cells(tried: Iterable[tuple[Hashable, Cell]]) -> frozenset[Cell]:
    """The cells that every level was tried in, of (level, cell) of all trials; a cell is a combination of other terms.

    Means of levels over these cells alone differ by nothing but the level, as far as the terms say. Empty where no
    cell has all levels: then nothing of the kind can be compared.
    """
    levels: set[Hashable] = set()
    by_cell: dict[Cell, set[Hashable]] = {}
    for level, cell in tried:
        levels.add(level)
        by_cell.setdefault(cell, set()).add(level)
    return frozenset(cell for cell, own in by_cell.items() if own == levels)
