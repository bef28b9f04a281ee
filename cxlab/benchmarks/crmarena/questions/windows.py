"""The stretch of time that a question is about: what a solver takes, how people say it, and reading it back."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from cxlab.benchmarks.crmarena.tasks import MONTHS

NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_NUMBER = rf"(\d+|{'|'.join(NUMBERS[1:])})"
_PAST = re.compile(rf"\b(?:past|last|previous|preceding|recent)\s+(?:{_NUMBER}\s+)?(day|week|month|quarter)s?\b", re.I)
_AGO = re.compile(rf"\b(?:{_NUMBER}|an?)\s+(day|week|month|quarter)s?\s+ago\b", re.I)
_YEAR = r"(\d{4})"
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})(?:\s+of)?,?\s+{_YEAR}\b|\b{_YEAR}\s+({'|'.join(MONTHS)})\b", re.I)
_ORDINALS = {"first": "Q1", "second": "Q2", "third": "Q3", "fourth": "Q4", "last": "Q4"}
_QUARTER = re.compile(
    rf"\b(Q[1-4])(?:\s+of)?,?\s+{_YEAR}\b|\b{_YEAR}[,\s]+(Q[1-4])\b|"
    rf"\b({'|'.join(_ORDINALS)})\s+quarter(?:\s+of)?,?\s+{_YEAR}\b",
    re.I,
)
_SEASONS = {"Spring": 3, "Summer": 6, "Fall": 9, "Winter": 12}
_SEASON = re.compile(
    rf"\b(spring|summer|fall|autumn|winter)(?:\s+of)?,?\s+{_YEAR}\b|\b{_YEAR}\s+(spring|summer|fall|autumn|winter)\b",
    re.I,
)
PATTERNS = (_QUARTER, _PAST, _AGO, _MONTH, _SEASON)


@dataclass(frozen=True)
class Window:
    """A window as a solver takes it: the past `count` periods, or a month, quarter or season `name` of a `year`."""

    period: str = ""
    count: int = 0
    name: str = ""
    year: int = 0

    @property
    def argument(self) -> dict[str, Any]:
        """The solver's argument `window`."""
        return {"name": self.name, "year": self.year} if self.name else {"period": self.period, "count": self.count}

    def bounds(self, today: date) -> tuple[datetime, datetime]:
        """(first moment, first moment after it)."""
        if not self.name:
            return _at(back(today, self.period, self.count)), _at(today)
        if self.name in MONTHS:
            month, length = MONTHS.index(self.name) + 1, 1
        elif self.name in _SEASONS:
            month, length = _SEASONS[self.name], 3
        else:
            month, length = 3 * int(self.name[1]) - 2, 3
        start = date(self.year, month, 1)
        return _at(start), _at(back(start, "month", -length))

    def phrases(self) -> list[str]:
        """How people say it; the first is the plainest."""
        if not self.name:
            if self.count == 1:
                return [f"in the past {self.period}", f"over the last {self.period}", f"during the past {self.period}"]
            many = [f"{self.count} {self.period}s"]
            if self.count < len(NUMBERS):
                many.append(f"{NUMBERS[self.count]} {self.period}s")
            return [f"{how} {each}" for each in many for how in ("in the past", "over the last", "during the past")]
        if self.name in MONTHS:
            return [f"in {self.name} {self.year}", f"during {self.name} {self.year}"]
        if self.name in _SEASONS:
            season = self.name.lower()
            return [f"in {season} {self.year}", f"in the {season} of {self.year}", f"during {season} {self.year}"]
        ordinal = list(_ORDINALS)[int(self.name[1]) - 1]
        return [
            f"in {self.name} {self.year}",
            f"in the {ordinal} quarter of {self.year}",
            f"during {self.name} of {self.year}",
        ]


def _at(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def back(day: date, period: str, count: int) -> date:
    """The day some periods before; the last of a month that has no such day. A negative count leads ahead."""
    if period in ("day", "week"):
        return day - timedelta(days=count * (7 if period == "week" else 1))
    year, month = divmod(day.year * 12 + day.month - 1 - count * (3 if period == "quarter" else 1), 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def read(text: str) -> list[Window]:
    """The windows that a text names, however it says them."""
    found: list[Window] = []
    for match in _PAST.finditer(text):
        if match[1] is None and _QUARTER.match(text, match.start()):
            continue  # the last quarter of a year
        found.append(Window(period=match[2].lower(), count=read_number(match[1])))
    for match in _AGO.finditer(text):
        found.append(Window(period=match[2].lower(), count=read_number(match[1])))
    found += _read_named(text)
    return found


def _read_named(text: str) -> Iterator[Window]:
    for match in _MONTH.finditer(text):
        name, year = (match[1], match[2]) if match[1] else (match[4], match[3])
        yield Window(name=name.capitalize(), year=int(year))
    for match in _QUARTER.finditer(text):
        if match[1]:
            yield Window(name=match[1].upper(), year=int(match[2]))
        elif match[4]:
            yield Window(name=match[4].upper(), year=int(match[3]))
        else:
            yield Window(name=_ORDINALS[match[5].lower()], year=int(match[6]))
    for match in _SEASON.finditer(text):
        name, year = (match[1], match[2]) if match[1] else (match[4], match[3])
        yield Window(name="Fall" if name.lower() == "autumn" else name.capitalize(), year=int(year))


def read_number(text: str | None) -> int:
    """A number in digits or words; 1 where none is said."""
    if text is None:
        return 1
    return int(text) if text.isdigit() else NUMBERS.index(text.lower())


def draw_named(rng: np.random.Generator, start: date, end: date, names: tuple[str, ...]) -> Window:
    """A month, quarter or season of a kind in `names` (month, quarter, season) that lies between two days."""
    kind = names[int(rng.integers(len(names)))]
    while True:
        year = int(rng.integers(start.year, end.year + 1))
        if kind == "month":
            window = Window(name=MONTHS[int(rng.integers(12))], year=year)
        elif kind == "quarter":
            window = Window(name=f"Q{int(rng.integers(1, 5))}", year=year)
        else:
            window = Window(name=list(_SEASONS)[int(rng.integers(4))], year=year)
        first, after = window.bounds(end)
        if first.date() >= start and after.date() <= end:
            return window


def draw_past(rng: np.random.Generator, periods: dict[str, tuple[int, int]]) -> Window:
    """The past so many days, weeks, months or quarters; `periods` says of each how many at least and at most."""
    period = list(periods)[int(rng.integers(len(periods)))]
    low, high = periods[period]
    return Window(period=period, count=int(rng.integers(low, high + 1)))
