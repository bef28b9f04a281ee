"""Numbers as they are written."""

from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cxlab.records.decimals import write_decimals


def test_counts_of_an_array_are_written_as_counts() -> None:
    """Judges' grades are counted in one, and the page ended in a traceback."""
    assert write_decimals(np.int64(12_345), ",.0f") == "12,345"
    assert write_decimals(7, ".1f") == "7.0"
    assert write_decimals(81.25) == "81.3"


HALVES = st.builds(lambda whole, power: whole / 2**power, st.integers(-(10**9), 10**9), st.integers(0, 12))
TYPED = st.builds(lambda whole, parts: whole / parts, st.integers(-(10**6), 10**6), st.sampled_from([20, 200, 2000]))


@pytest.mark.parametrize("form", [".0f", ",.1f", "+.1f", ".2f", ".3f"])
@given(value=st.floats(-1e20, 1e20) | HALVES | TYPED)
@example(value=0.5)
@example(value=-2.5)
@example(value=0.0625)
@example(value=1.005)
@example(value=-0.04)
@example(value=2.0**53 + 2)
def test_every_number_is_rounded_as_its_exact_value_is_by_hand(value: float, form: str) -> None:
    with localcontext() as context:
        context.rounding = ROUND_HALF_UP
        assert write_decimals(value, form) == format(Decimal(value), form)
