"""Cells that all levels of a factor share."""

from cxlab.metrics.like_with_like import find_shared_cells


def test_only_cells_that_every_level_was_tried_in_are_shared() -> None:
    tried = [("easy", "text"), ("hard", "text"), ("hard", "voice"), ("easy", "text")]
    assert find_shared_cells(tried) == {"text"}
    assert find_shared_cells([("easy", "text"), ("hard", "voice")]) == frozenset()
    assert find_shared_cells([("easy", "text"), ("easy", "voice")]) == {"text", "voice"}
