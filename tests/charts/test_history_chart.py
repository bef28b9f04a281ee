"""A headline over time: a line a model and conditions, whose names do not stand upon each other."""

from datetime import UTC, datetime

import polars as pl
import pytest

from cxlab.charts.history import draw_history
from cxlab.charts.theme import mark_models
from cxlab.read.comparison.history import HISTORY


def runs(*values: tuple[str, str, int, float]) -> pl.DataFrame:
    """(model, conditions, hour, value) of each run."""
    rows = [
        {"run_id": f"{model}-{hour}", "model": model, "conditions": conditions, "value": value, "low": None,
         "high": None, "created": datetime(2026, 1, 1, hour, tzinfo=UTC), "samples": 1, "of": 1, "runs": 1}
        for model, conditions, hour, value in values
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=HISTORY).with_columns(side="model")


@pytest.mark.parametrize(
    ("last", "places"),
    [(50.0, ["middle right", "middle right"]), (93.0, ["top right", "bottom right"])],
)
def test_names_that_would_touch_stand_above_and_below(last: float, places: list[str]) -> None:
    frame = runs(("a", "c1", 1, 40.0), ("a", "c1", 2, 94.0), ("a", "c2", 3, 10.0), ("b", "c1", 2, last))
    names = {run: run for run in frame["run_id"]}
    figure = draw_history(frame, (0.0, 100.0), "told", mark_models(["a", "b"]), names, False)
    lines = {tuple(each.text): each for each in figure.data}
    # Runs under other conditions are a line of their own.
    assert {key[-1].strip() for key in lines} == {"a-2", "a-3", "b-2"}
    shown = {key[-1].strip(): line.textposition for key, line in lines.items()}
    assert [shown["a-2"], shown["b-2"]] == places
