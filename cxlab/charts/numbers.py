"""One format for each kind of number, on every page and in every hover."""

import math
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from cxlab.records.decimals import write_decimals

if TYPE_CHECKING:
    import polars as pl

NONE = "–"
# As figures draw it on their axes; a hyphen beside it would look like another sign.
MINUS = "−"


def _write(value: float, form: str) -> str:
    """The number in Python's format, halves away from zero, with a true minus, and none before a zero."""
    told = write_decimals(value, form) if form.endswith("f") else format(value, form)
    if not any(digit in told for digit in "123456789"):
        return told.lstrip("+-")
    return MINUS + told[1:] if told.startswith("-") else told


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def format_decimals(value: float, places: int) -> str:
    """−0.4, 12.0: with as many decimals."""
    return _write(value, f".{places}f")


def format_ratio(value: float | None) -> str:
    """0.683"""
    return _write(value, ".3f") if value is not None and _known(value) else NONE


def format_p(value: float | None) -> str:
    """0.012; what is smaller than 0.001 is said to be so, for no test tells it closer."""
    if value is None or not _known(value):
        return NONE
    return "< 0.001" if value < 0.001 else write_decimals(value, ".3f")


def format_points(value: float | None) -> str:
    """68.3 (a score from 0 to 100), 1,450.0 of many summed up."""
    return _write(value, ",.1f") if value is not None and _known(value) else NONE


def format_share(value: float | None) -> str:
    """68.3 % of a share from 0 to 1; what is there but rounds to nothing is said to be under 0.1 %."""
    if value is None or not _known(value):
        return NONE
    percent = value * 100
    return "under 0.1 %" if 0 < percent < 0.05 else f"{_write(percent, '.1f')} %"


def format_change(value: float | None, places: int = 1) -> str:
    """+3.2, −0.4; 0.0 without a sign."""
    return _write(value, f"+,.{places}f") if value is not None and _known(value) else NONE


def format_changes(low: float | None, high: float | None, places: int = 1) -> str:
    """−0.4 to +3.2"""
    return f"{format_change(low, places)} to {format_change(high, places)}"


def format_usd(value: float | None) -> str:
    """$0.0012, $1.23, $1,234"""
    if value is None or not _known(value):
        return NONE
    if value == 0:
        return "$0"
    size = abs(value)
    sign = MINUS if value < 0 else ""
    return f"{sign}${size:,.0f}" if size >= 1000 else f"{sign}${size:.2f}" if size >= 0.1 else f"{sign}${size:.4f}"


def format_seconds(value: float | None) -> str:
    """12 ms, 1.3 s, 4 min 10 s, 2 h 5 min"""
    if value is None or not _known(value):
        return NONE
    if 0 < value < 0.1:
        return f"{value * 1000:.0f} ms" if value >= 0.001 else "under 1 ms"
    if value < 60:
        return f"{value:.1f} s"
    minutes, seconds = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def format_elapsed(value: float) -> str:
    """40 s, 4 min 10 s: of work that goes on, whose parts of a second tell nobody anything."""
    return f"{value:.0f} s" if value < 59.5 else format_seconds(value)


def largest(numbers: "pl.Series", default: float) -> float:
    """The largest of a column's numbers; the default where there is none above 0."""
    return max((float(each) for each in numbers if each is not None), default=default) or default


def format_count(value: float | None) -> str:
    """12,345"""
    return _write(value, ",.0f") if value is not None and _known(value) else NONE


def format_rough(value: int) -> str:
    """3,135 → "3,100": two figures, as an estimate has no more."""
    digits = max(0, len(str(abs(value))) - 2)
    return format_count(round(value, -digits))


def format_rough_count(value: int) -> str:
    """5,895,297 → "5.9 million", 41,234 → "41,000": two figures, as an estimate has no more."""
    if value < 995_000:
        return format_rough(value)
    return f"{_write(value / 1e6, '.1f' if value < 9.95e6 else ',.0f')} million"


def format_interval(low: float | None, high: float | None) -> str:
    """66.1 to 70.2; says so where there is none."""
    if low is None or high is None or not (_known(low) and _known(high)):
        return "no interval: fewer than two samples"
    return f"{_write(low, '.1f')} to {_write(high, '.1f')}"


def interval_of(frame: "pl.DataFrame", low: str, high: str) -> "pl.Series":
    """`format_interval` of two columns of a frame, null where either is."""
    import polars as pl

    ends = zip(frame[low].to_list(), frame[high].to_list(), strict=True)
    told = [None if None in pair else format_interval(*pair) for pair in ends]
    return pl.Series("interval", told, dtype=pl.String)


def format_time(value: datetime | str | None, zone: tzinfo | None = None) -> str:
    """2026-11-21 14:05 in the given zone (UTC when None); text is read as ISO."""
    if not value:
        return NONE
    when = datetime.fromisoformat(value) if isinstance(value, str) else value
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
    return when.astimezone(zone or UTC).strftime("%Y-%m-%d %H:%M")


def format_cell(value: float | None, form: str) -> str:
    """A number in the form of a table's column ("%.1f %%", "$%.2f", or "localized" for counts): −1.4 %, −$0.20, −12."""
    if form == "localized":
        return format_count(value)
    if value is None or not _known(value):
        return NONE
    head, _, rest = form.partition("%.")
    places, _, tail = rest.partition("f")
    told = _write(value, f".{places}f")
    sign = MINUS if told.startswith(MINUS) else ""
    return f"{sign}{head}{told.removeprefix(MINUS)}{tail.replace('%%', '%')}"


FORMATS = {
    "ratio": format_ratio,
    "points": format_points,
    "percent": lambda value: format_share(None if value is None else value / 100),
    "share": format_share,
    "usd": format_usd,
    "seconds": format_seconds,
    "count": format_count,
}


def format_value(value: float | None, unit: str | None) -> str:
    """A number in the format of its unit; of an unknown unit with three significant digits."""
    if unit in FORMATS:
        return FORMATS[unit](value)
    return _write(value, ".3g") if value is not None and _known(value) else NONE
