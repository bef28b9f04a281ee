"""A headline over time: a line a model and conditions, whose names do not stand upon each other."""

from datetime import UTC, datetime
from itertools import pairwise

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


@pytest.mark.parametrize(("last", "apart"), [(50.0, False), (93.0, True)])
def test_names_stand_beside_the_ends_of_lines_and_do_not_touch(last: float, apart: bool) -> None:
    frame = runs(("a", "c1", 1, 40.0), ("a", "c1", 2, 94.0), ("a", "c2", 3, 10.0), ("b", "c1", 2, last))
    names = {run: run for run in frame["run_id"]}
    figure = draw_history(frame, (0.0, 100.0), "told", mark_models(["a", "b"]), names, False)
    # Runs under other conditions are a line of their own.
    shown = {each.text[-1].strip(): tuple(each.y) for each in figure.data if each.text}
    assert set(shown) == {"a-2", "a-3", "b-2"}
    assert [shown[name][0] for name in ("a-2", "a-3", "b-2")] == [94.0, 10.0, last]
    heights = sorted(height for _, height in shown.values())
    assert all(above - below >= 7 for below, above in pairwise(heights))
    assert (shown["a-2"][1] > 94.0, shown["b-2"][1] < last) == (apart, apart)


def test_the_axis_tells_moments_of_runs_alone_and_leads_to_names_are_no_lines_of_runs() -> None:
    frame = runs(("a", "c1", 1, 40.0), ("a", "c1", 2, 50.0), ("b", "c1", 9, 60.0))
    figure = draw_history(frame, (0.0, 100.0), "told", mark_models(["a", "b"]), {r: r for r in frame["run_id"]}, False)
    assert list(figure.layout.xaxis.tickvals) == [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in (1, 9)]
    dashes = {(bool(each.text), each.line.dash) for each in figure.data}
    assert dashes == {(True, "dot"), (False, None)}


def test_constant_agents_are_lines_with_their_names() -> None:
    frame = runs(("a", "c1", 1, 40.0), ("a", "c1", 2, 50.0))
    floors = [("Best <constant>", 0.0)]
    figure = draw_history(frame, (-100.0, 100.0), "skill", mark_models(["a"]), {r: r for r in frame["run_id"]}, False,
                          floors)  # fmt: skip
    (line,) = figure.layout.shapes
    assert (line.y0, line.y1, line.xref, line.line.dash) == (0.0, 0.0, "paper", "dot")
    assert [each.text for each in figure.layout.annotations] == ["Best &lt;constant&gt; 0.0"]
