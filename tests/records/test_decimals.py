"""Numbers as they are written."""

import numpy as np

from cxlab.records.decimals import write_decimals


def test_counts_of_an_array_are_written_as_counts() -> None:
    """Judges' grades are counted in one, and the page ended in a traceback."""
    assert write_decimals(np.int64(12_345), ",.0f") == "12,345"
    assert write_decimals(7, ".1f") == "7.0"
    assert write_decimals(81.25) == "81.3"
