"""What a stand-in reads in a question and what it is told beside it: the kind of question, the period, the bounds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from cxlab.benchmarks.crmarena.tasks import MONTHS

_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_COUNT = rf"(\d+|{'|'.join(_NUMBERS)}|a|an)"
_UNIT = r"(day|week|month|quarter|year)s?"
_PAST = re.compile(
    rf"\b(?:past|last|previous|preceding|recent|trailing)\s+(?:{_COUNT}[\s-]+)?{_UNIT}\b|\b{_COUNT}\s+{_UNIT}\s+(?:ago|back|before)\b"
    rf"|\b{_UNIT}\s+(?:just\s+)?(?:ago|back)\b",
    re.I,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# A year beside what it is the year of: a product's name may hold one, too.
_NAMED = re.compile(
    rf"(?:\b(?:{'|'.join(MONTHS)}|spring|summer|fall|autumn|winter)|\bQ[1-4]|quarter)(?:\s+of)?,?\s+((?:19|20)\d\d)\b",
    re.I,
)
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b")
_SEASON = re.compile(r"\b(spring|summer|fall|autumn|winter)\b", re.I)
_QUARTER = re.compile(r"\bQ([1-4])\b|\b(first|second|third|fourth|1st|2nd|3rd|4th|last) quarter of\b", re.I)
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}
_MORE = re.compile(rf"\b(?:more than|over|above|exceeding|exceeded|in excess of|upwards of)\s+{_COUNT}\b", re.I)
_LEAST = re.compile(rf"\b(?:at least|no fewer than|no less than|a minimum of)\s+{_COUNT}\b", re.I)
_OR_FEWER = re.compile(rf"\b{_COUNT}\s+cases?\s+or\s+(?:fewer|less)\b", re.I)
_LOW = re.compile(
    r"\b(shortest|lowest|least|fewest|smallest|minimum|minimal|quickest|fastest|briefest|rarely|seldom|lower)\b", re.I
)
_HIGH = re.compile(
    r"\b(longest|highest|most|largest|greatest|maximum|maximal|slowest|biggest|often|frequently|higher)\b", re.I
)
_TODAY = re.compile(r"today\D{0,40}(\d{4}-\d\d-\d\d)", re.I)
_ID = re.compile(r"(?<![A-Za-z0-9])([A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?)(?![A-Za-z0-9])")
_KINDS: tuple[tuple[str, str], ...] = (
    ("handle_time", r"handl\w+ time|time (?:per|for a|on a) case|time to (?:handle|resolve)"),
    (
        "transfer_count",
        r"transfer|hand(?:ed|ing|s)?\b.{0,30}\b(?:over|off|on)\b|handovers?|pass(?:ed|ing)? (?:on|along)|"
        r"g[ai]ve\b.{0,30}\b(?:to (?:somebody|someone|others|another|colleagues)|away)",
    ),
    ("policy_violation_identification", r"polic|violat|breach|broke\b|broken|rule|guideline"),
    ("best_region_identification", r"\bstates?\b|\bregions?\b"),
    ("top_issue_identification", r"\b(?:issue|problem|complaint|trouble)s?\b"),
    ("monthly_trend_analysis", r"\bwhich month|\bany month|\bmonths?\b.*\b(?:cases|most|peak|more)\b|\bpeak\b"),
    ("named_entity_disambiguation", r"\bI (?:\w+ )?(?:ordered|bought|purchased|got)\b|\bmy (?:order|purchase)\b"),
    ("case_routing", r"assign|route|routing|best agent|who should"),
)

Window = tuple[Literal["past"], str, int] | tuple[Literal["named"], str, int]


@dataclass(frozen=True)
class UnderstoodQuestion:
    """A question as it is understood. `ids`: the first three characters → the ids that are named, in their order."""

    kind: str
    text: str
    context: str
    today: date | None
    window: Window | None
    more_than: int | None
    extreme: Literal["min", "max"]
    ids: dict[str, list[str]]

    @property
    def first_line(self) -> str:
        """The question without what is said of its answer's form."""
        return self.text.partition("\n")[0]

    def id(self, prefix: str) -> str | None:
        """The first id of an object."""
        return next(iter(self.ids.get(prefix, [])), None)


def read(text: str, context: str) -> UnderstoodQuestion:
    """The question as far as its words are known."""
    both = f"{context}\n{text}"
    found = _TODAY.search(both)
    ids: dict[str, list[str]] = {}
    for each in _ID.findall(both):
        if any(letter.isdigit() for letter in each):
            ids.setdefault(each[:3], []).append(each)
    return UnderstoodQuestion(
        kind=_kind(text, context, ids),
        text=text,
        context=context,
        today=date.fromisoformat(found[1]) if found else None,
        window=_window(text),
        more_than=_bound(text),
        extreme=_extreme(text),
        ids=ids,
    )


def _kind(text: str, context: str, ids: dict[str, list[str]]) -> str:
    if "003" in ids:
        return "named_entity_disambiguation"
    if "500" in ids:
        return "policy_violation_identification"
    if re.search(r"new case|routing", context, re.I) and "01t" not in ids:
        return "case_routing"
    for kind, pattern in _KINDS:
        if kind in ("named_entity_disambiguation", "policy_violation_identification"):
            continue
        if re.search(pattern, text, re.I | re.S) and (kind != "top_issue_identification" or "01t" in ids):
            return kind
    return "knowledge_qa"


def _window(text: str) -> Window | None:
    named = _NAMED.search(text)
    year = named[1] if named is not None else (_YEAR.findall(text) or [None])[-1]
    if year is not None:
        month, season, quarter = _MONTH.search(text), _SEASON.search(text), _QUARTER.search(text)
        if quarter is not None:
            number = int(quarter[1]) if quarter[1] else _ORDINALS[quarter[2].lower()]
            return "named", f"Q{number}", int(year)
        if month is not None:
            return "named", month[1], int(year)
        if season is not None:
            return "named", season[1].capitalize(), int(year)
    past = _PAST.search(text)
    if past is None:
        return None
    count, unit = past[1] or past[3], past[2] or past[4] or past[5]
    number = 1 if count is None else number_of(count)
    return ("past", "month", 12 * number) if unit.lower() == "year" else ("past", unit.lower(), number)


def number_of(word: str) -> int:
    """A number in figures or words."""
    word = word.lower()
    return int(word) if word.isdigit() else 1 if word in ("a", "an") else _NUMBERS.index(word)


def _bound(text: str) -> int | None:
    if found := _OR_FEWER.search(text):
        return number_of(found[1])
    if found := _MORE.search(text):
        return number_of(found[1])
    found = _LEAST.search(text)
    return number_of(found[1]) - 1 if found else None


def _extreme(text: str) -> Literal["min", "max"]:
    # "more than 3 cases" says nothing of the extreme.
    rest = _OR_FEWER.sub("", _LEAST.sub("", _MORE.sub("", text)))
    low, high = _LOW.search(rest), _HIGH.search(rest)
    if low and high:
        return "min" if low.start() < high.start() else "max"
    return "min" if low else "max"


def past_start(today: date, unit: str, count: int) -> str:
    """The first moment of some periods before a day, reckoned without a tool."""
    from cxlab.benchmarks.crmarena.tools import TOOLS

    end = f"{today.isoformat()}T00:00:00Z"
    return str(TOOLS["get_start_date"](None, end_date=end, period=unit, interval_count=count))
