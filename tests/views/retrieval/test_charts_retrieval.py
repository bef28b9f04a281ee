"""Charts of indexes: what can be clicked, in which order, and names that are shown as they are."""

import math

import polars as pl

from cxlab.charts.theme import mark_models
from cxlab.views.retrieval import charts
from cxlab.views.retrieval.charts_answers import draw_answers

NAMES = {"a": "BM25 500/50", "b": "<img src=x> 1000/100", "c": "MiniLM 500/50"}
MARKS = mark_models(NAMES, dict.fromkeys(NAMES, False))


def means(**values: tuple[float, float, float]) -> pl.DataFrame:
    rows = [(run, *value, 50) for run, value in values.items()]
    return pl.DataFrame(rows, schema=["run_id", "mean", "low", "high", "n"], orient="row")


def test_the_best_index_is_on_top_and_floors_are_drawn() -> None:
    frame = means(a=(50.0, 40.0, 60.0), b=(80.0, 70.0, 90.0), c=(20.0, 10.0, 30.0))
    figure = charts.draw_indexes(frame, "hit@10", NAMES, MARKS, False, [5.0, 9.0])
    assert [trace.customdata[0][0] for trace in figure.data] == ["c", "a", "b"]
    assert list(figure.layout.yaxis.categoryarray)[-1] == "&lt;img src=x&gt; 1000/100"
    assert [shape.x0 for shape in figure.layout.shapes] == [5.0, 9.0]
    assert "n 50 queries" in figure.data[0].hovertemplate


def test_an_interval_that_is_not_known_is_said_to_be_missing() -> None:
    frame = pl.DataFrame({"run_id": ["a"], "mean": [50.0], "low": [None], "high": [None], "n": [1]})
    figure = charts.draw_indexes(frame, "hit@10", NAMES, MARKS, True)
    assert "no interval" in figure.data[0].hovertemplate
    assert figure.data[0].error_x.array[0] == 0.0


def test_curves_have_a_line_an_index_and_can_be_clicked() -> None:
    rows = [(run, k, 5.0 * k, 4.0 * k, 6.0 * k, 50) for run in ("a", "b") for k in (1, 2, 3)]
    frame = pl.DataFrame(rows, schema=["run_id", "k", "mean", "low", "high", "n"], orient="row")
    figure = charts.draw_curves(frame, "hit", NAMES, MARKS, False, 2, "calls")
    assert [list(map(tuple, trace.customdata)) for trace in figure.data] == [
        [(run, 1), (run, 2), (run, 3)] for run in ("a", "b")
    ]
    assert figure.layout.shapes[0].x0 == 2
    assert figure.layout.xaxis.title.text == "calls looked at (k)"


def test_names_of_neighbours_part() -> None:
    frame = means(a=(50.0, 40.0, 60.0), b=(80.0, 70.0, 90.0), c=(20.0, 10.0, 30.0)).with_columns(
        search_s=pl.Series([0.001, 0.002, 0.1]), slow_s=pl.Series([0.002, 0.003, 0.2]), cost_usd=pl.lit(0.0)
    )
    figure = charts.draw_price(frame, "search_s", "hit@10", ["a", "b"], NAMES, MARKS, False)
    assert [trace.textposition for trace in figure.data[1:]] == ["bottom right", "top center", "bottom center"]
    assert [trace.x[0] for trace in figure.data[1:]] == [1.0, 2.0, 100.0]
    paid = charts.draw_price(
        frame.with_columns(cost_usd=pl.Series([0.0, 0.001, 0.0005])), "cost_usd", "", [], NAMES, MARKS, False
    )
    # A search that costs nothing is not cut in two by the axis.
    assert paid.layout.xaxis.range[0] < 0
    assert paid.layout.xaxis.tickprefix == "$"


def test_a_search_too_fast_for_the_clock_is_drawn() -> None:
    frame = means(a=(50.0, 40.0, 60.0), b=(80.0, 70.0, 90.0)).with_columns(
        search_s=pl.Series([0.0, 0.002]), slow_s=pl.Series([0.0, 0.003]), cost_usd=pl.lit(None, dtype=pl.Float64)
    )
    figure = charts.draw_price(frame, "search_s", "hit@10", ["a", "b"], NAMES, MARKS, False)
    assert [trace.x[0] for trace in figure.data[1:]] == [0.001, 2.0]
    assert all(math.isfinite(edge) for edge in figure.layout.xaxis.range)


def test_cells_of_areas_and_kinds_carry_what_they_stand_for() -> None:
    frame = means(a=(50.0, 40.0, 60.0), b=(80.0, 70.0, 90.0)).with_columns(area=pl.lit("Lamps"))
    figure = charts.draw_areas(frame, ["Lamps"], ["b", "a", "c"], NAMES, "hit@10", False)
    assert [list(each) for each in figure.data[-1].customdata] == [["Lamps", "b"], ["Lamps", "a"]]
    assert figure.layout.yaxis.ticktext[0].startswith("Lamps (50)")
    kinds = pl.DataFrame({"where": ["late"], "first": ["sibling"], "n": [3], "queries": [10]})
    figure = charts.draw_kinds(kinds, {"missing": "no", "late": "later"}, {"sibling": "a sibling"}, "a", False)
    assert [list(each) for each in figure.data[-1].customdata] == [["late", "sibling", "a"]]
    assert "3 of 10 queries, 30.0 %" in figure.data[-1].hovertext[0]


def test_answers_stand_in_one_order_and_bars_can_be_clicked() -> None:
    rows = [("a", "unread", 1), ("a", "correct", 3), ("b", "refusal", 2), ("b", "correct", 2)]
    frame = pl.DataFrame(
        [(run, kind, n, n / 4, 0.1, 0.9, 4) for run, kind, n in rows],
        schema=["run_id", "kind", "n", "share", "low", "high", "total"],
        orient="row",
    )
    figure = draw_answers(frame, NAMES, False)
    assert [trace.name for trace in figure.data] == ["correct", "refused", "judge unreadable"]
    assert list(figure.layout.yaxis.categoryarray)[-1] == NAMES["a"]
    assert [list(each) for each in figure.data[0].customdata] == [["b", "correct"], ["a", "correct"]]
