"""Relative dates (`TODAY`, `LAST_N_DAYS:30`, …): the days that each stands for, seen from a given day.

Weeks begin on Sunday, and the fiscal year is the calendar year. What is "last" ends before the present one begins,
save for days: LAST_N_DAYS counts today and n days before it.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

_UNIT = re.compile(r"(?:FISCAL_)?(DAY|WEEK|MONTH|QUARTER|YEAR)S?")
_NAMED = re.compile(r"(LAST|THIS|NEXT)_((?:FISCAL_)?(?:QUARTER|YEAR)|WEEK|MONTH)")
_COUNTED = re.compile(r"(LAST|NEXT)_N_((?:FISCAL_)?(?:QUARTERS|YEARS)|DAYS|WEEKS|MONTHS)")
_AGO = re.compile(r"N_((?:FISCAL_)?(?:QUARTERS|YEARS)|DAYS|WEEKS|MONTHS)_AGO")
_DAYS = {"YESTERDAY": (-1, 0), "TODAY": (0, 1), "TOMORROW": (1, 2), "LAST_90_DAYS": (-90, 1), "NEXT_90_DAYS": (1, 91)}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def is_known(word: str) -> bool:
    """Whether a word in capitals is a relative date."""
    return word in _DAYS or takes_number(word) or _NAMED.fullmatch(word) is not None


def takes_number(word: str) -> bool:
    """Whether it needs a number behind it, as LAST_N_DAYS:30 does."""
    return _COUNTED.fullmatch(word) is not None or _AGO.fullmatch(word) is not None


def days_of(word: str, n: int | None, today: date) -> tuple[date, date]:
    """The first day, and the day after the last; OverflowError beyond the years 1 to 9999."""
    if word in _DAYS:
        first, end = _DAYS[word]
        return today + timedelta(first), today + timedelta(end)
    if found := _NAMED.fullmatch(word):
        first = {"LAST": -1, "THIS": 0, "NEXT": 1}[found[1]]
        return _units(found[2], first, first + 1, today)
    count = n or 0
    if found := _AGO.fullmatch(word):
        return _units(found[1], -count, 1 - count, today)
    found = _COUNTED.fullmatch(word)
    if found is None:
        raise ValueError(f"{word} is no relative date")
    if found[1] == "NEXT":
        return _units(found[2], 1, 1 + count, today)
    return _units(found[2], -count, 1 if found[2] == "DAYS" else 0, today)


def _units(name: str, first: int, end: int, today: date) -> tuple[date, date]:
    """From the start of the first-th unit to the start of the end-th; 0 is the present one."""
    found = _UNIT.fullmatch(name)
    unit = found[1] if found else name
    if unit == "DAY":
        return today + timedelta(first), today + timedelta(end)
    if unit == "WEEK":
        sunday = today - timedelta((today.weekday() + 1) % 7)
        return sunday + timedelta(weeks=first), sunday + timedelta(weeks=end)
    size = _MONTHS[unit]
    start = (today.year * 12 + today.month - 1) // size
    return _month((start + first) * size), _month((start + end) * size)


def _month(number: int) -> date:
    year, month = divmod(number, 12)
    try:
        return date(year, month + 1, 1)
    except ValueError:
        raise OverflowError("beyond the calendar") from None
