"""The numbers that people may give, and those that the stored columns can hold."""

from typing import Any

from cxlab.errors import BadOption

WHOLE_64 = (-(2**63), 2**63 - 1)
"""What a 64-bit column holds, both ends included."""
COUNT_32 = (0, 2**31 - 1)
"""What a 32-bit column of counts holds."""

MOST_ATTEMPTS = 2_000_000
"""Attempts of one run: their plan is held in memory (about 200 MB at this many)."""

# Whole numbers by the name of their option. A seed ends where a browser and JSON still tell whole numbers apart.
_WHOLE = {
    "seed": (0, 2**53 - 1),
    "trials": (1, 10_000),
    "limit": (1, 100_000_000),
    "concurrency": (1, 4_096),
    "workers": (1, 1_024),
}
_MOST_USD = 1_000_000


def check_whole(name: str, value: Any) -> None:
    """BadOption unless `value` is a whole number that the option `name` allows; None passes."""
    low, high = _WHOLE[name]
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high):
        raise BadOption(f"--{name} {_short(value)}: must be a whole number from {low:,} to {high:,}")


def check_budget(value: Any) -> None:
    """BadOption unless `value` is an amount of USD that can be spent; None passes."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and 0 < value <= _MOST_USD):  # a NaN is neither
        raise BadOption(f"--budget {_short(value)}: must be an amount of USD more than 0 and at most {_MOST_USD:,}")


def check_attempts(planned: int, trials: int) -> None:
    """BadOption when a run would be of more attempts than one run can hold."""
    if planned > MOST_ATTEMPTS:
        raise BadOption(f"--trials {trials}: makes {planned:,} attempts; one run may have {MOST_ATTEMPTS:,} at most")


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
