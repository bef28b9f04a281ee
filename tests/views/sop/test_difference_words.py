"""What two models do differently in a procedure, in a sentence."""

import polars as pl

from cxlab.benchmarks.sage.procedures import graph
from cxlab.views.sop.difference_words import say_difference

SCHEMA = {
    **dict.fromkeys(("source", "target"), pl.String),
    **dict.fromkeys(("first", "second", "difference"), pl.Float64),
    "sure": pl.Boolean,
}


def say(*rows: tuple[str, str, float, float, bool]) -> str:
    steps = [(a, b, first, second, first - second, sure) for a, b, first, second, sure in rows]
    frame = pl.DataFrame(steps, schema=SCHEMA, orient="row")
    return say_difference(frame, graph.load("ecommerce_refund"), ("strong", "curt"))


def test_the_stage_that_one_goes_past_is_named_with_both_shares() -> None:
    told = say(("stage3", "stage5", 0.23, 0.60, True), ("stage3", "stage4", 0.49, 0.15, True))
    assert told == "strong goes past “5 Whose doing it is” (3 → 4) in 49 % of turns, curt in 15 %"
    told = say(("stage3", "stage4", 0.15, 0.49, True), ("stage3", "stage5", 0.60, 0.23, True))
    assert told == "curt goes past “5 Whose doing it is” (3 → 4) in 49 % of turns, strong in 15 %"


def test_a_step_that_leaves_nothing_out_is_named_by_its_ends() -> None:
    told = say(("stage3", "stage5", 0.2, 0.9, True), ("stage3", "stage4", 0.3, 0.1, True))
    assert told == "curt goes from “3 Where the parcel is” to “5 Whose doing it is” in 90 % of turns, strong in 20 %"


def test_what_is_not_sure_is_not_told() -> None:
    told = say(("stage3", "stage4", 0.9, 0.1, False))
    assert told == "No step of 1 tells strong and curt apart for sure"
