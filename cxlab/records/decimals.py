"""Numbers rounded to decimals in one way, so that a figure reads alike in a sentence, a table and a chart."""

import math
from decimal import ROUND_HALF_UP, Decimal, localcontext


def write_decimals(value: float, form: str = ".1f") -> str:
    """The number in Python's fixed-point format, halves away from zero: 81.25 → "81.3".

    As browsers write the cells of a table and the labels of a chart; Python itself writes "81.2", halves to even.
    """
    if not math.isfinite(value):
        return format(value, form)
    with localcontext() as context:
        context.rounding = ROUND_HALF_UP
        # The float's exact value: only what lies in the very middle is a half. Counts of an array are no Python ints.
        return format(Decimal(value if isinstance(value, float) else int(value)), form)
