"""The charts of the Persona lab's results hold the numbers of their tables."""

import polars as pl

from cxlab.benchmarks.mmtaup2.evaluation.left_undecided import add_bounds
from cxlab.charts.theme import mark_models
from cxlab.views.persona.results.charts import draw_differences, draw_results
from cxlab.views.persona.results.labels import find, write_cell

MARKS = mark_models(["simulated:a", "b"])
GROUPS = {"all": "All", "hard": "Hard <b>"}
ROWS = pl.DataFrame(
    [("simulated:a", "all", 0.5, 0.4, 0.6, 20, 10), ("b", "all", 1.2, 1.1, 1.3, 20, 10),
     ("b", "hard", None, None, None, 0, 0)],
    schema=["side", "grp", "value", "low", "high", "n", "tasks"], orient="row",
)  # fmt: skip
BASELINES = pl.DataFrame(
    [("all", 0.2, "does nothing", False), ("hard", 0.1, "does nothing", True)],
    schema=["grp", "value", "name", "whole"], orient="row",
)  # fmt: skip
PAPER = pl.DataFrame([("hard", "x", 0.4, "Table 5")], schema=["grp", "entity", "value", "source"], orient="row")


def test_dots_floors_and_published_cells_stand_at_their_values() -> None:
    figure = draw_results(ROWS, "mm-tap", GROUPS, MARKS, False, floors=BASELINES, published=PAPER, shares=True)
    traces = {trace.name: trace for trace in figure.data if trace.mode != "text"}
    assert {name: list(trace.x) for name, trace in traces.items()} == {
        "a": [0.5], "b": [1.2], "floor: does nothing": [0.2, 0.2, None, 0.1, 0.1, None], "published": [0.4]
    }  # fmt: skip
    assert abs(traces["b"].error_x.array[0] - 0.1) < 1e-9
    # A composite may be above 1: nothing is cut off.
    assert figure.layout.xaxis.range[1] > 1.3
    assert "of the parts that it has" in traces["floor: does nothing"].hovertext[0]
    assert "of the parts that it has" not in traces["floor: does nothing"].hovertext[3]
    assert "Hard &lt;b&gt;" in figure.layout.yaxis.ticktext
    plain = draw_results(
        ROWS, "Turns", GROUPS, MARKS, True, floors=BASELINES.clear(), published=PAPER.clear(), shares=False
    )
    low, high = plain.layout.xaxis.range
    assert 0.3 < low < 0.5  # what is no share need not begin at 0
    assert high > 1.2
    shares = draw_results(
        ROWS, "Passed", GROUPS, MARKS, False, floors=BASELINES, published=PAPER, shares=True, percent=True
    )
    assert list(shares.data[0].x) == [100 * value for value in plain.data[0].x]
    assert shares.layout.xaxis.title.text == "Passed, %"
    assert shares.layout.xaxis.range[1] >= 100
    far = draw_results(
        ROWS, "Turns", GROUPS, MARKS, True, floors=BASELINES.with_columns(value=pl.lit(9.0)), published=PAPER.clear(),
        shares=False,
    )  # fmt: skip
    assert far.layout.xaxis.range[1] > 9  # a floor is never cut off


def test_differences_stand_around_zero() -> None:
    rows = pl.DataFrame(
        [("b", "p|hard|none", -0.2, -0.3, -0.1, 0.01, 40, "worse"),
         ("b", "p|easy|none", None, None, None, None, 0, "cannot tell")],
        schema=["side", "pair", "difference", "low", "high", "p_corrected", "n", "verdict"], orient="row",
    )  # fmt: skip
    names = {"p|easy|none": "Easy", "p|hard|none": "Hard<br>against none"}
    figure = draw_differences(rows, "Pass rate", names, MARKS, False)
    assert list(figure.data[0].x) == [-0.2]
    assert "✕ worse" in figure.data[0].hovertext[0]
    assert figure.layout.shapes[-1].x0 == 0


def test_names_of_dots_have_room_within_what_is_drawn_and_no_value_stands_beyond_the_scale() -> None:
    sides = "endpoint:a-large-model", "endpoint:a-small-model"
    rows = pl.DataFrame(
        [(sides[0], "all", 0.5, 0.19, 0.81, 9, 9), (sides[1], "all", 0.25, 0.04, 0.73, 9, 9),
         (sides[0], "hard", 0.9, 0.8, 1.0, 9, 9)],
        schema=ROWS.schema, orient="row",
    )  # fmt: skip
    figure = draw_results(
        rows, "Passed", GROUPS, mark_models(sides), False, floors=BASELINES.clear(), published=PAPER.clear(),
        shares=True, percent=True,
    )  # fmt: skip
    low, high = figure.layout.xaxis.range
    letter = 0.012 * (high - low)
    for trace in (trace for trace in figure.data if trace.mode == "text"):
        for x, text, side in zip(trace.x, trace.text, trace.textposition, strict=True):
            end = x + (-1 if side == "middle left" else 1) * letter * (len(text) - 2)
            assert low - letter <= end <= high + letter
    assert list(figure.layout.xaxis.tickvals) == [0, 20, 40, 60, 80, 100]


def test_a_figure_of_which_much_is_undecided_has_bounds_and_no_mean() -> None:
    rows = add_bounds(
        pl.DataFrame(
            # Of 20 turns 9 are undecided; of the 11 others one is annoyed. Of 20 messages one is undecided.
            [("simulated:a", "all", "annoyance", 1 / 11, 0.0, 0.3, 11, 5),
             ("simulated:a", "all", "annoyance_undecided", 9 / 20, 0.2, 0.7, 20, 5),
             ("simulated:a", "all", "user_effort", 3 / 19, 0.1, 0.3, 19, 5),
             ("simulated:a", "all", "user_effort_undecided", 1 / 20, 0.0, 0.2, 20, 5),
             ("simulated:a", "all", "clarification_precision", None, None, None, 0, 0),
             ("simulated:a", "all", "clarification_recall", 0.5, 0.1, 0.9, 2, 2),
             ("simulated:a", "all", "clarification_undecided", 0.4, 0.1, 0.7, 10, 5)],
            schema=["side", "grp", "metric", "value", "low", "high", "n", "tasks"], orient="row",
        ),
        ["side", "grp"],
    )  # fmt: skip
    found = {row["metric"]: row for row in rows.iter_rows(named=True)}
    assert (found["annoyance"]["least"], found["annoyance"]["most"]) == (1 / 20, 10 / 20)
    assert found["user_effort"]["least"] is None
    assert found["user_effort"]["undecided"] == 0.05
    assert (found["clarification_precision"]["least"], found["clarification_precision"]["most"]) == (0.0, 1.0)
    # How many occasions hang on an open message nobody knows.
    assert found["clarification_recall"]["least"] is None
    assert found["annoyance_undecided"]["undecided"] is None
    gaps = pl.DataFrame(schema={"factor": pl.String})
    said = find("annoyance", "persona", rows.filter(metric="annoyance"), gaps).replace("\\", "")
    assert "at least 0.050, at most 0.500" in said
    assert "45 % of the turns of the customer undecided" in said
    assert "0.091" not in said
    some = find("user_effort", "persona", rows.filter(metric="user_effort"), gaps).replace("\\", "")
    assert "0.158" in some
    assert "5 % of the messages of the customer undecided" in some
    assert write_cell(found["annoyance"]) == "≥ 0.050, ≤ 0.500"
    figure = draw_results(
        rows.filter(metric="annoyance"), "Annoyed", GROUPS, MARKS, False, floors=BASELINES.clear(),
        published=PAPER.clear(), shares=True,
    )  # fmt: skip
    (dots,) = [trace for trace in figure.data if trace.mode == "markers"]
    assert list(dots.x) == [0.05]
    assert [round(end, 6) for end in dots.error_x.array] == [0.45]
    assert "at least 0.050, at most 0.500" in dots.hovertext[0]
    assert "95 %" not in dots.hovertext[0]
