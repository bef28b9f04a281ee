"""Values as a language writes them, and back: 1299.0 ↔ "£1,299.00", "1 299,00 €", "1.299,00 €".

`show(value, property, language, symbol)` writes a value; `find(text, language)` yields every figure of a text
as ValueMention(start, end, kind, unit, value). Canonical values: float for numbers (prices to the cent), "2026-03-14"
for dates, "09:30" for times, the words themselves for material, compatibility and choice.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from cxlab.benchmarks.cxmarena.brand.brand_pack import CURRENCIES, Language, Property

Value = float | str
_DIGIT = re.compile(r"\d")
# What stands before an hour of the day in French: "à partir de 15 h", but "sous 24 h".
_AT_HOUR = "|".join(
    rf"(?<={before} {hour}h)"
    for before in ("à", "partir de", "avant", "dès", "vers", "entre")
    for hour in (r"\d", r"\d ", r"\d\d", r"\d\d ")
)


@dataclass(frozen=True, slots=True)
class ValueMention:
    """A figure in a text; `kind` is price, percent, date, time, size (any number with a unit) or count."""

    start: int
    end: int
    kind: str
    unit: str
    value: Value


def show(value: Value, spec: Property, language: Language, symbol: str, dative: bool = False) -> str:
    """The value in the language's form, with its unit."""
    if isinstance(value, str):
        if spec.kind == "date":
            year, month, day = value.split("-")
            # French counts the first day of a month, and it alone.
            shown = "1er" if language.language == "fr" and int(day) == 1 else int(day)
            return language.date.format(day=shown, month=language.months[int(month) - 1], year=year)
        if spec.kind == "time":
            hour, minute = value.split(":")
            return language.time.format(hour=int(hour), minute=int(minute))
        return value
    if spec.kind == "price":
        return language.money.format(symbol=symbol, amount=number(value, language, 2))
    if spec.kind == "percent":
        return language.percent.format(number=number(value, language))
    if spec.unit:
        forms = language.units[spec.unit]
        many = value >= 2 if language.language == "fr" else value != 1
        word = forms[2] if dative and many and len(forms) > 2 else forms[1 if many else 0]
        return f"{number(value, language)} {word}"
    return number(value, language)


def number(value: float, language: Language, places: int | None = None) -> str:
    """The number with the language's signs; without `places`, as many decimals as it has (three at most)."""
    text = f"{value:,.{places}f}" if places is not None else f"{round(value, 3):,.3f}".rstrip("0").rstrip(".")
    if places is None and abs(value) < 10_000:
        text = text.replace(",", "")  # years, milliamperes and the like are not grouped below five digits
    return text.translate({ord(","): language.thousands, ord("."): language.decimal})


def find(text: str, language: Language) -> Iterator[ValueMention]:
    """Every figure of the text, left to right, longest reading first."""
    if not _DIGIT.search(text):
        return
    pattern, units, months = _patterns(language.language)
    for match in pattern.finditer(text):
        yield _figure(match, language, units, months)


def _figure(match: re.Match[str], language: Language, units: dict[str, str], months: dict[str, int]) -> ValueMention:
    start, end = match.span()
    if match["month"]:
        value = f"{match['year']}-{months[match['month'].lower()]:02d}-{int(match['day']):02d}"
        return ValueMention(start, end, "date", "", value)
    if match["hour"]:
        return ValueMention(start, end, "time", "", _time(match))
    amount = parse_number(match["number"], language)
    if match["cents"]:
        return ValueMention(start, end, "price", "", round(amount / 100, 4))
    if match["before"] or match["after"]:
        return ValueMention(start, end, "price", "", amount)
    if match["percent"]:
        return ValueMention(start, end, "percent", "", amount)
    if match["unit"]:
        return ValueMention(start, end, "size", units[match["unit"].lower()], amount)
    return ValueMention(start, end, "count", "", amount)


def _time(match: re.Match[str]) -> str:
    """ "15 Uhr" and "3 pm" as "15:00"."""
    hour, half = int(match["hour"]), match.groupdict().get("half")
    if half:
        hour = hour % 12 + 12 * (half.lower() == "p")
    return f"{hour:02d}:{match['minute'] or '00'}"


def parse_number(text: str, language: Language) -> float:
    """The number that the language's signs mean; a group of three after a sign is thousands, not decimals."""
    plain = re.sub(r"[\s’]", "", text)
    if language.thousands.strip():
        plain = plain.replace(language.thousands, "")
    return float(plain.replace(language.decimal, "."))


@functools.cache
def _patterns(language_id: str) -> tuple[re.Pattern[str], dict[str, str], dict[str, int]]:
    from cxlab.benchmarks.cxmarena.brand.brand_pack import load_language

    language = load_language(language_id)
    units = {form.lower(): unit for unit, forms in language.units.items() for form in forms}
    months = {month.lower(): i + 1 for i, month in enumerate(language.months)}
    if language_id == "fr":
        units["h"] = "hour"
    symbols = "|".join(re.escape(s) for s in CURRENCIES.values())
    group = re.escape(language.thousands) if language.thousands.strip() else "[ \u00a0\u202f]"
    decimal = re.escape(language.decimal)
    digits = rf"\d{{1,3}}(?:{group}\d{{3}})+(?:{decimal}\d+)?(?!\d)|\d+(?:{decimal}\d+)?"
    words = "|".join(re.escape(w) for w in sorted(units, key=len, reverse=True))
    times = {
        "en": r"(?=:\d\d|\s?[ap](?:\.m\.|m\b))(?::(?P<minute>\d\d))?(?:\s?(?P<half>[ap])(?:\.m\.|m\b))?",
        "de": r"(?::(?P<minute>\d\d)(?:\sUhr\b)?|\sUhr\b)",
        # Of "6 h" alone only what stands around it shows that it is no length of time.
        "fr": rf"\s?h(?:\s?(?P<minute>\d\d)|(?!\w)(?:(?=\sà\s\d)|{_AT_HOUR}))",
    }
    # "24p" is a sum, "1080p" none.
    cents = {"en": r"cents?|pence|(?<=\d)(?<!\d{3})p", "de": "Cent|ct", "fr": "centimes?|cents"}
    pattern = (
        rf"(?<![\w.,])(?:(?P<day>\d{{1,2}})\.?(?:er)?\s(?P<month>{'|'.join(months)})\s(?P<year>\d{{4}})"
        rf"|(?P<hour>[01]?\d|2[0-3]){times[language_id]}(?!\d)"
        rf"|(?:(?P<before>{symbols})\s?)?(?P<number>{digits})"
        rf"(?:\s?(?P<after>{symbols})|\s?(?P<percent>%)|\s?(?P<cents>{cents[language_id]})(?!\w)"
        rf"|\s?(?P<unit>{words})(?!\w))?)"
    )
    return re.compile(pattern, re.IGNORECASE), units, months
