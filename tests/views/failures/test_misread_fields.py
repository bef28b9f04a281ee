"""What stands beside the verdict of an attempt that passed although a field was misread."""

import json
from typing import Any

import polars as pl
import pytest

from cxlab.read.attempts import StoredAttempt
from cxlab.views.failures.attempt_verdict import misread_fields


def attempt(verdict: str, *turns: tuple[int, dict[str, Any], dict[str, Any]]) -> StoredAttempt:
    none = pl.DataFrame()
    traces = pl.DataFrame(
        [(turn, json.dumps(read), json.dumps(due)) for turn, read, due in turns],
        schema=["turn", "predicted_fields", "panel_fields"],
        orient="row",
    )
    return StoredAttempt({"verdict": verdict}, {}, {}, none, none, none, none, traces, none, none)


CALM, UPSET = {"Mood": "Calm", "Wish": "Refund"}, {"Mood": "Upset", "Wish": "Refund"}


@pytest.mark.parametrize(
    ("whole", "found"),
    [
        (attempt("passed", (1, CALM, CALM), (4, CALM, UPSET)), {"Mood": (4, "Calm", "Upset")}),
        (attempt("passed", (5, CALM, UPSET), (1, UPSET, CALM)), {"Mood": (1, "Upset", "Calm")}),
        (attempt("passed", (1, CALM, CALM)), {}),
        (attempt("passed", (1, CALM, {"Mood": None, "Wish": "Refund"})), {}),
        (attempt("passed", (1, {}, UPSET)), {}),
        (attempt("failed", (1, CALM, UPSET)), {}),
    ],
)
def test_a_passed_attempt_tells_the_fields_that_it_misread(whole: StoredAttempt, found: dict[str, Any]) -> None:
    assert misread_fields(whole) == found


def test_an_attempt_without_fields_has_none_misread() -> None:
    whole = attempt("passed")
    whole = StoredAttempt({"verdict": "passed"}, {}, {}, *[pl.DataFrame()] * 4, pl.DataFrame(), *[pl.DataFrame()] * 2)
    assert misread_fields(whole) == {}
