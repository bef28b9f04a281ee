"""Charts of what judges get wrong: they are valid figures, and their marks say what was clicked."""

import polars as pl
import pytest

from cxlab.views.escalation import queries as queries_escalation
from cxlab.views.escalation.charts import draw_rates, draw_steps
from cxlab.views.judges.measured import queries
from cxlab.views.judges.measured.charts import draw_fields, draw_gaps

A, B = "simulated:judge-a", "openai:gpt-<b>x</b>"


def verdicts() -> pl.DataFrame:
    truth = ["right", "wrong", "missed", "none"] * 3
    rows = []
    for judge, version, said in ((A, 1, ["none"] * 12), (A, 2, truth), (B, 1, truth), (B, 2, [None] * 12)):
        rows += [
            {"source": "r", "sample_id": f"s{i}", "trial": 1, "judge": judge, "version": version, "said": s, "truth": t}
            for i, (s, t) in enumerate(zip(said, truth, strict=True))
        ]
    about = {"attempt_id": "a", "model": "m", "scenario": "telecom", "persona": "none", "modality": "text"}
    place = {"question": "q", "patch": "p", "judged": "j", "turn": 1}
    return pl.DataFrame(rows).with_columns(**{name: pl.lit(value) for name, value in (about | place).items()})


@pytest.mark.parametrize("dark", [False, True])
def test_rates_are_three_panels_with_a_floor(dark: bool) -> None:
    rates = queries_escalation.rates(verdicts())
    figure = draw_rates(rates, {"by what happened": 0.5}, dark)
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.xaxis for trace in marks] == ["x", "x2", "x3"]
    # A version that could not be read has no rate, and so no mark.
    assert [tuple(key) for key in marks[0].customdata] == [(B, 1), (A, 1), (A, 2)]
    assert list(marks[0].x) == [0.0, 75.0, 0.0]
    assert figure.layout.shapes[0].x0 == 50.0
    assert "<b>x" not in "".join(figure.layout.yaxis.ticktext)
    assert draw_rates(rates.clear(), {}, dark).layout.height > 0


def test_steps_go_left_when_broken_and_right_when_mended() -> None:
    frame = verdicts().with_columns(said=pl.col("said").fill_null("none"))
    broken, mended = draw_steps(queries_escalation.steps(frame), dark=False).data
    assert [tuple(key) for key in mended.customdata] == [(B, 1, 2), (A, 1, 2)]
    assert (list(broken.x), list(mended.x)) == ([-9, 0], [0, 9])


@pytest.mark.parametrize("dark", [False, True])
def test_gaps_show_both_values_and_the_difference(dark: bool) -> None:
    names = ["far", "near"]
    both = pl.DataFrame(
        {
            "run_id": "r",
            "attempt_id": [f"a{i}" for i in range(40)],
            "sample_id": [f"s{i}" for i in range(40)],
            "metric": [names[i % 2] for i in range(40)],
            "measured": [float(i) for i in range(40)],
            "judged": [i + (30.0 + i % 3 if i % 2 == 0 else i % 4 - 2.0) for i in range(40)],
        }
    )
    frame = queries.compare(both)
    figure = draw_gaps(frame, {"far": "<i>far", "near": "near"}, dark, unit="points", scale=100.0)
    measured, said, gap = (trace for trace in figure.data if trace.mode == "markers")
    assert [tuple(key) for key in gap.customdata] == [("far",), ("near",)]
    assert list(measured.x) == frame["measured"].to_list()
    assert list(said.x) == frame["judged"].to_list()
    assert (gap.xaxis, len(set(gap.marker.color))) == ("x2", 2)
    assert "<i>" not in figure.layout.yaxis.ticktext[0]


def test_fields_are_cells_that_can_be_clicked() -> None:
    schema = ("judge", "field", "n", "mean", "low", "high", "mcc")
    rows = [
        (A, "solved", 9, 0.3, 0.1, 0.5, 0.4),
        (B, "solved", 9, 0.1, None, None, None),
        (A, "error", 4, 0.0, 0, 0, 1.0),
    ]
    figure = draw_fields(pl.DataFrame(rows, schema=schema, orient="row"), {"solved": "solved", "error": "error"}, True)
    clicked = next(trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers")
    assert [tuple(key) for key in clicked.customdata] == [("solved", B), ("solved", A), ("error", A)]
