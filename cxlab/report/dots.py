"""Means with their intervals as places in a drawing of our own: small, sharp in print, and readable without a script.

A chart is 720 units wide; the template draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cxlab.charts.numbers import format_points
from cxlab.charts.theme import Mark

WIDTH, LEFT, RIGHT, TOP = 720.0, 210.0, 20.0, 10.0
_STEP, _GAP, _FOOT = 17.0, 12.0, 26.0
_LONGEST = 26
# What ends to the right of the first has its name on its left, this far from the end of its whisker.
_TURN, _SPACE = 560.0, 9.0
# How wide a character of a label is at most, on average.
_CHARACTER = 6.4


@dataclass(frozen=True)
class Value:
    """A mean of one side with the ends of its interval, None where there is none, and what a pointer is told; `label`
    is written beside it, with the mean."""

    mean: float
    low: float | None
    high: float | None
    mark: Mark
    told: str
    label: str = ""


@dataclass(frozen=True)
class Dot:
    """A value's place: from left to right `low`, `x`, `high`, all in units of the drawing. `label` stands at `beside`,
    which is where it begins, or ends where that is to the left of the dot (`before`)."""

    x: float
    y: float
    low: float | None
    high: float | None
    colour: str
    open: bool
    told: str
    label: str
    beside: float
    before: bool
    over: bool = False
    """Whether it lies over the whisker, for want of room beside it."""


@dataclass(frozen=True)
class Chart:
    """A drawing: its height, rows as (name, whole name, y), dots, floors as x, and ticks as (x, words)."""

    height: float
    rows: tuple[tuple[str, str, float], ...]
    dots: tuple[Dot, ...]
    floors: tuple[float, ...]
    ticks: tuple[tuple[float, str], ...]
    alt: str


def draw(
    rows: Sequence[tuple[str, Sequence[Value]]], scale: tuple[float, float] | None, alt: str,
    floors: Sequence[float] = (),
) -> Chart:  # fmt: skip
    """Rows of values below each other on one axis: the metric's scale, or what the values take where it has no end."""
    known = [end for _, values in rows for each in values for end in (each.mean, each.low, each.high)
             if end is not None]  # fmt: skip
    first, last = (min(scale), max(scale)) if scale else (min([0.0, *known, *floors]), max([1.0, *known, *floors]))

    def place(value: float) -> float:
        return LEFT + (value - first) / (last - first or 1.0) * (WIDTH - LEFT - RIGHT)

    names, dots, y = [], [], TOP
    for name, values in rows:
        names.append((_cut(name), name, y + _STEP * len(values) / 2))
        for each in values:
            low, high = (None if end is None else place(end) for end in (each.low, each.high))
            ends = [place(each.mean), *(end for end in (low, high) if end is not None)]
            before, beside, over = _place_label(ends, len(_say_beside(each)) * _CHARACTER)
            mark = each.mark
            dots.append(Dot(place(each.mean), y + _STEP / 2, low, high, mark.colour, mark.simulated, each.told,
                            _say_beside(each), beside, before, over))  # fmt: skip
            y += _STEP
        y += _GAP
    ticks = [(place(value), f"{value:g}") for value in (first + (last - first) * part / 4 for part in range(5))]
    return Chart(y + _FOOT, tuple(names), tuple(dots), tuple(map(place, floors)), tuple(ticks), alt)


def _place_label(ends: Sequence[float], width: float) -> tuple[bool, float, bool]:
    """Whether a label stands before a dot, whose place is the first of `ends`, and where it ends or else begins: beside
    the whisker, or, where that leaves no room on either side, beside the dot and over the whisker, which is told."""
    before = max(ends) > _TURN or max(ends) + _SPACE + width > WIDTH
    if before and min(ends) - _SPACE - width < LEFT:
        before = ends[0] + _SPACE + width > WIDTH
        return before, ends[0] - _SPACE if before else ends[0] + _SPACE, True
    return before, min(ends) - _SPACE if before else max(ends) + _SPACE, False


def _say_beside(each: Value) -> str:
    # Set apart, or a name from right to left would turn the sign of its value round.
    return f"\u2068{_cut(each.label)}\u2069 {format_points(each.mean)}" if each.label else ""


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
