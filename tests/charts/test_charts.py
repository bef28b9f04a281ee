from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from cxlab.charts import numbers
from cxlab.charts.board import draw_board, draw_published
from cxlab.charts.matrix import draw_matrix
from cxlab.charts.selection import read_points, read_rows
from cxlab.charts.theme import MODEL_COLOURS, channels, contrast, mark_models, palette, plain, template


@pytest.mark.parametrize(
    ("customdata", "wanted"),
    [
        ([7], [[7]]),
        ({"0": 7}, [[7]]),
        ({"1": "b", "0": "a", "10": "k", "2": "c"}, [["a", "b", "c", "k"]]),
        (["a", 1], [["a", 1]]),
        ("text", [["text"]]),
        (None, []),
        ([], []),
    ],
)
def test_customdata_is_read_in_all_its_forms(customdata: object, wanted: list[list[object]]) -> None:
    assert read_points({"selection": {"points": [{"customdata": customdata}]}}) == wanted


@pytest.mark.parametrize("event", [None, {}, {"selection": None}, {"selection": {"points": "x"}}, 3, {"selection": {}}])
def test_anything_else_is_no_selection(event: object) -> None:
    assert read_points(event) == []
    assert read_rows(event) == []


def test_rows_are_positions() -> None:
    assert read_rows({"selection": {"rows": [2, 0], "columns": []}}) == [2, 0]


def test_a_new_model_changes_no_other_models_mark() -> None:
    names = [f"m{place}" for place in range(20)]
    before, after = mark_models(names[:7]), mark_models(names)
    assert all(after[name] == mark for name, mark in before.items())
    assert len({(mark.colour, mark.symbol) for mark in after.values()}) == 20
    assert [mark.colour for mark in after.values()][:8] == list(MODEL_COLOURS)


def test_a_simulated_model_is_open_and_hatched() -> None:
    marks = mark_models(["simulated:strong", "openai:gpt-4.1"])
    assert marks["simulated:strong"].marker["symbol"] == "circle-open"
    assert marks["simulated:strong"].dot("#fff")["color"] == "#fff"
    assert "pattern" in marks["simulated:strong"].bar
    assert marks["openai:gpt-4.1"].marker["symbol"] == "circle"
    assert "pattern" not in marks["openai:gpt-4.1"].bar


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (numbers.format_ratio, 0.6829, "0.683"),
        # Halves away from zero, as a browser writes the same number in a table.
        (numbers.format_points, 68.25, "68.3"),
        (numbers.format_points, -68.25, "−68.3"),
        (numbers.format_points, 68.24999, "68.2"),
        (numbers.format_share, 0.8125, "81.3 %"),
        (numbers.format_count, 2.5, "3"),
        (numbers.format_p, 0.0123, "0.012"),
        (numbers.format_p, 2e-7, "< 0.001"),
        (numbers.format_p, None, "–"),
        (numbers.format_share, 0.683, "68.3 %"),
        (numbers.format_share, 0.0012, "0.1 %"),
        (numbers.format_share, 0.0004, "under 0.1 %"),
        (numbers.format_share, 0.0, "0.0 %"),
        (numbers.format_usd, 0.0012, "$0.0012"),
        (numbers.format_usd, 1.234, "$1.23"),
        (numbers.format_usd, 12345.6, "$12,346"),
        (numbers.format_usd, 0, "$0"),
        (numbers.format_usd, -0.5, "−$0.50"),
        (numbers.format_seconds, 1.3, "1.3 s"),
        (numbers.format_seconds, 0.0124, "12 ms"),
        (numbers.format_seconds, 250, "4 min 10 s"),
        (numbers.format_seconds, 7500, "2 h 5 min"),
        (numbers.format_count, 12345, "12,345"),
        (numbers.format_points, -1450.04, "−1,450.0"),
        (numbers.format_points, -0.04, "0.0"),
        (numbers.format_change, 3.21, "+3.2"),
        (numbers.format_change, -3.21, "−3.2"),
        (numbers.format_change, 0.0, "0.0"),
        (numbers.format_change, None, "–"),
        (numbers.format_points, None, "–"),
        (numbers.format_points, float("nan"), "–"),
        (numbers.format_time, "2026-11-21T14:05:09.123+00:00", "2026-11-21 14:05"),
    ],
)
def test_numbers_have_one_format(function: Callable[[Any], str], value: object, text: str) -> None:
    assert function(value) == text


def board(*rows: tuple[str, float, float | None, float | None]) -> pl.DataFrame:
    columns = ["model", "overall", "overall_low", "overall_high"]
    frame = pl.DataFrame(rows, columns, orient="row")
    return frame.with_columns(simulated=pl.col("model").str.starts_with("simulated:"), samples=40)


def test_the_board_says_n_and_interval_and_shows_names_as_text() -> None:
    figure = draw_board(board(("<b>x</b> $y$", 80.0, 78.0, 82.0)), "overall", {}, dark=False)
    trace = figure.data[0]
    assert "78.0 to 82.0" in trace.hovertemplate
    assert "n 40 samples" in trace.hovertemplate
    assert "&lt;b&gt;x" in trace.y[0]
    assert "$" not in trace.y[0]
    assert list(trace.customdata[0]) == ["<b>x</b> $y$"]


def test_published_figures_are_grey_diamonds() -> None:
    rows = pl.DataFrame(
        {"entity": ["a"], "value": [50.0], "unit": ["points"], "metric": ["Overall"], "source": ["Table 1"]}
    )
    trace = draw_published(rows, dark=True).data[0]
    assert trace.marker.symbol == "diamond"
    assert "Table 1" in trace.hovertext[0]


def test_plain_text_has_no_markup_left() -> None:
    assert plain("<a href='x'>$1$ & co") == "&lt;a href='x'&gt;&#36;1&#36; &amp; co"


def test_both_themes_have_their_own_ink() -> None:
    assert template(True).layout.font.color != template(False).layout.font.color


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("diverging", [False, True])
def test_numbers_in_cells_can_be_read_on_every_colour(dark: bool, diverging: bool) -> None:
    values = [[place / 50 for place in range(51)]]
    texts = [["x"] * 51]
    figure = draw_matrix(
        ["row"], [str(place) for place in range(51)], values, texts, texts, [[None] * 51], dark,
        low=0.0, high=1.0, diverging=diverging,
    ).to_plotly_json()  # fmt: skip
    heat, written = figure["data"][:2]
    stops = [(float(at), channels(colour)) for at, colour in heat["colorscale"]]
    surface = channels(palette(dark).surface)
    for depth, ink in zip(values[0], written["textfont"]["color"], strict=True):
        mixed = [np.interp(depth, [at for at, _ in stops], [colour[each] for _, colour in stops]) for each in range(3)]
        red, green, blue = (
            heat["opacity"] * a + (1 - heat["opacity"]) * b for a, b in zip(mixed, surface, strict=True)
        )
        assert contrast(channels(ink), (red, green, blue)) >= 4.5


def test_contrast_is_that_of_the_guidelines() -> None:
    black, white = channels("#000000"), channels("#ffffff")
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(white, white) == 1
    assert contrast(channels("#767676"), white) == pytest.approx(4.54, abs=0.005)  # the known last grey for AA on white


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0"), (7, "7"), (99, "99"), (105, "100"), (3135, "3,100"), (9999, "10,000")]
)
def test_an_estimate_is_told_in_two_figures(count: int, told: str) -> None:
    assert numbers.format_rough(count) == told


@pytest.mark.parametrize(
    ("count", "told"),
    [(7, "7"), (41_234, "41,000"), (994_999, "990,000"), (996_000, "1.0 million"), (5_895_297, "5.9 million"),
     (58_952_970, "59 million")],
)  # fmt: skip
def test_many_of_an_estimate_are_told_in_millions(count: int, told: str) -> None:
    assert numbers.format_rough_count(count) == told


def test_the_interval_of_two_columns_is_told_where_both_ends_are_known() -> None:
    frame = pl.DataFrame({"low": [66.06, None, 1.0, float("nan")], "high": [70.2, 2.0, None, 3.0]})
    told = numbers.interval_of(frame, "low", "high")
    assert told.to_list() == ["66.1 to 70.2", None, None, "no interval: fewer than two samples"]
    assert numbers.interval_of(frame.clear(), "low", "high").dtype == pl.String
