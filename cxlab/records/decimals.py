"""Numbers rounded to decimals in one way, so that a figure reads alike in a sentence, a table and a chart."""

import functools
import math
from decimal import ROUND_HALF_UP, Decimal, localcontext


def write_decimals(value: float, form: str = ".1f") -> str:
    """The number in Python's fixed-point format, halves away from zero: 81.25 → "81.3".

    As browsers write the cells of a table and the labels of a chart; Python itself writes "81.2", halves to even.
    """
    if not math.isfinite(value) or not _may_be_half(value, form):
        return format(value, form)
    with localcontext() as context:
        context.rounding = ROUND_HALF_UP
        # The float's exact value: only what lies in the very middle is a half. Counts of an array are no Python ints.
        return format(Decimal(value if isinstance(value, float) else int(value)), form)


def _may_be_half(value: float, form: str) -> bool:
    """Whether the number may lie in the very middle between two that the form writes: of all others Python says the
    same, at a fifth of the cost. Twice as many units of the last decimal are a whole number then, also as a float."""
    twice = value * _twice(form)
    return not math.isfinite(twice) or twice % 1 == 0


@functools.cache
def _twice(form: str) -> float:
    return 2 * 10.0 ** int(form.partition(".")[2][:-1])
