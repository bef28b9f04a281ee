"""Conditions of branches: a value, a list of values, or for numbers and dates a bound or a range; and their solution.

A bound is `">100"`, `">=100"`, `"<100"` or `"<=100"` (≥ and ≤ are read, too), a range `"100..500"` holds both ends.
Numbers may be decimals; dates are written as 2026-11-21.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

import numpy as np

Kind = Literal["integer", "amount", "date"]

_POINT = r"-?\d{1,12}(?:\.\d{1,4})?|\d{4}-\d{2}-\d{2}"
_BOUND = re.compile(rf"(>=|<=|>|<|≥|≤)\s*({_POINT})")
_RANGE = re.compile(rf"({_POINT})\s*(?:\.\.|…)\s*({_POINT})")
# How far beyond the outermost bound a value is drawn: in steps of the kind.
_REACH = 200


@dataclass(frozen=True)
class ValueInterval:
    """All steps from `low` to `high`, both in it; None is without end. Steps are units, cents or days."""

    low: int | None
    high: int | None

    def holds(self, step: int) -> bool:
        return (self.low is None or step >= self.low) and (self.high is None or step <= self.high)


def same(a: Any, b: Any) -> bool:
    """Equal in type and value: True is not 1, and 0 is not False."""
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def read_interval(condition: Any, kind: Kind) -> ValueInterval | None:
    """The interval of a bound, a range or an exact value; None for what is none of them."""
    if isinstance(condition, str):
        text = condition.strip()
        if found := _BOUND.fullmatch(text):
            at = to_step(found[2], kind)
            if at is None:
                return None
            return {
                ">": ValueInterval(at + 1, None), ">=": ValueInterval(at, None), "≥": ValueInterval(at, None),
                "<": ValueInterval(None, at - 1), "<=": ValueInterval(None, at), "≤": ValueInterval(None, at),
            }[found[1]]  # fmt: skip
        if found := _RANGE.fullmatch(text):
            low, high = to_step(found[1], kind), to_step(found[2], kind)
            return None if low is None or high is None or low > high else ValueInterval(low, high)
    step = to_step(condition, kind)
    return None if step is None else ValueInterval(step, step)


def to_step(value: Any, kind: Kind) -> int | None:
    """A value as a whole number of units, cents or days; None where it is no value of that kind."""
    if isinstance(value, bool) or value is None:
        return None
    if kind == "date":
        try:
            return (value if isinstance(value, date) else date.fromisoformat(str(value))).toordinal()
        except ValueError:
            return None
    if not re.fullmatch(r"-?\d{1,12}(\.\d{1,4})?", str(value)):
        return None
    number = Decimal(str(value)) * (100 if kind == "amount" else 1)
    return int(number) if number == int(number) else None


def from_step(step: int, kind: Kind) -> int | float | str:
    """The value at a step."""
    if kind == "date":
        return date.fromordinal(step).isoformat()
    if kind == "amount":
        return step // 100 if step % 100 == 0 else step / 100
    return step


def meets(value: Any, condition: Any, kind: Kind | None = None) -> bool:
    """Whether a value meets a condition; a bound or a range needs the kind of number that the value is."""
    if isinstance(condition, list | tuple):
        return any(meets(value, one, kind) for one in condition)
    if kind is not None:
        step, interval = to_step(value, kind), read_interval(condition, kind)
        return step is not None and interval is not None and interval.holds(step)
    return same(value, condition)


def cells(conditions: Iterable[Any], kind: Kind, low: int | None = 0) -> tuple[ValueInterval, ...]:
    """The pieces into which the bounds cut the line from `low` on: within one, no condition tells values apart."""
    cuts: set[int] = set()
    for condition in conditions:
        interval = read_interval(condition, kind)
        if interval is not None:
            cuts |= {interval.low} if interval.low is not None else set()
            cuts |= {interval.high + 1} if interval.high is not None else set()
    starts = sorted(cut for cut in cuts if low is None or cut > low)
    found, begin = [], low
    for cut in starts:
        found.append(ValueInterval(begin, cut - 1))
        begin = cut
    return (*found, ValueInterval(begin, None))


def draw(cell: ValueInterval, kind: Kind, rng: np.random.Generator) -> int | float | str:
    """A value within a cell; without an end it is not far from where the cell begins."""
    reach = _REACH * (100 if kind == "amount" else 1)
    low = cell.low if cell.low is not None else (cell.high or 0) - reach
    high = cell.high if cell.high is not None else low + reach
    if kind == "amount" and high - low >= 200:
        # Amounts are mostly whole.
        return from_step(min(high, 100 * int(rng.integers(-(-low // 100), high // 100 + 1))), kind)
    return from_step(int(rng.integers(low, high + 1)), kind)


def representative(cell: ValueInterval, kind: Kind) -> int | float | str:
    """One value of a cell, the same each time: round where there is room."""
    if cell.low is None:
        return from_step(cell.high if cell.high is not None else 0, kind)
    if cell.high is not None or kind == "date":
        return from_step(cell.low, kind)
    unit = 100 if kind == "amount" else 1
    return from_step(cell.low if cell.low % (10 * unit) == 0 else (cell.low // (50 * unit) + 1) * 50 * unit, kind)


def in_words(condition: Any, kind: Kind | None, show: Any) -> str:
    """A condition as a procedure prints it: "is A or B", "is above 100", "is from 10 to 20"."""
    if isinstance(condition, list | tuple):
        if kind is None:
            return f"is {' or '.join(show(value) for value in condition)}"
        return " or ".join(in_words(one, kind, show) for one in condition)
    if kind is not None and isinstance(condition, str):
        words = {">": "above", ">=": "at least", "≥": "at least", "<": "below", "<=": "at most", "≤": "at most"}
        if kind == "date":
            words = {">": "after", ">=": "on or after", "≥": "on or after", "<": "before", "<=": "on or before",
                     "≤": "on or before"}  # fmt: skip
        if found := _BOUND.fullmatch(condition.strip()):
            return f"is {words[found[1]]} {found[2]}"
        if found := _RANGE.fullmatch(condition.strip()):
            return f"is from {found[1]} to {found[2]}"
    return f"is {show(condition)}"
