"""The charts of the page Knowledge: what lies where, and what a click says."""

import polars as pl
import pytest

from cxlab.charts.theme import mark_models
from cxlab.views.knowledge import charts, charts_intents

TREE = pl.DataFrame(
    {
        "path": [["A"], ["B"], ["A", "x"], ["A", "y"], ["A", "x", "1"], ["A", "x", "1", "deep"]],
        "title": ["A", "B", "x", "<b>$y$</b>", "1", "deep"],
        "n": [7, 3, 4, 2, 4, 4],
        "wrong": [4, 0, 4, 0, 4, 4],
    }
)
SWEEP = pl.DataFrame(
    {"threshold": [0.4, 0.5, 0.6], "predicted": [9, 4, 2], "hits": [3, 3, 1], "precision": [1 / 3, 0.75, 0.5],
     "recall": [1.0, 1.0, 1 / 3], "f1": [0.5, 6 / 7, 0.4]}
)  # fmt: skip


@pytest.mark.parametrize("focus", [(), ("A",), ("A", "x", "1"), ("gone",)])
def test_blocks_lie_inside_the_block_above_them(focus: tuple[str, ...]) -> None:
    blocks = {each["path"]: each for each in charts.lay_out(TREE, focus)}
    assert max(each["column"] for each in blocks.values()) <= charts.LEVELS
    for path, each in blocks.items():
        above = blocks.get(path[:-1])
        if each["column"] and above:
            assert above["start"] <= each["start"]
            assert each["start"] + each["n"] <= above["start"] + above["n"]
    by_column: dict[int, list[tuple[int, int]]] = {}
    for each in blocks.values():
        by_column.setdefault(each["column"], []).append((each["start"], each["start"] + each["n"]))
    for spans in by_column.values():
        for (_, end), (start, _) in zip(sorted(spans), sorted(spans)[1:], strict=False):
            assert end <= start


def test_a_click_leads_down_and_the_first_block_leads_up() -> None:
    figure = charts.draw_tree(TREE, ("A",), "All", dark=False, wrong="with a pair")
    assert [list(each) for each in figure.data[0].customdata] == [[""]]
    assert [list(each) for each in figure.data[1].customdata] == [["A", "x"], ["A", "y"]]
    assert "&lt;b&gt;&#36;y&#36;" in figure.data[1].text[1]
    assert "4 with a pair (57.1 %)" in figure.data[0].hovertext[0]
    # What has more trouble than usual is of another colour than what has less.
    fills = figure.data[1].marker.color
    assert fills[0] != fills[1]
    plain = charts.draw_tree(TREE, ("A",), "All", dark=True)
    assert len(set(plain.data[1].marker.color)) == 1


def test_the_sweep_marks_the_run_and_the_best() -> None:
    figure = charts.draw_sweep(SWEEP, 0.6, dark=False)
    assert figure.layout.shapes[0].x0 == 0.6
    best = next(trace for trace in figure.data if trace.name == "best F1")
    assert (best.x[0], best.y[0]) == (0.5, pytest.approx(600 / 7))
    nothing = SWEEP.with_columns(f1=pl.lit(0.0))
    assert charts.best_cut(nothing) is None
    assert len(charts.draw_sweep(nothing, None, dark=True).data) == 3


def test_confusions_are_clicked_where_there_are_any() -> None:
    found = pl.DataFrame({"gold": ["a", "a", "b"], "said": ["a", "b", "b"], "n": [1, 3, 2], "of": [4, 4, 2]})
    figure = charts_intents.draw_confused(found, ["a", "b"], dark=False)
    cells = [list(each) for each in figure.data[2].customdata]
    assert cells == [["a", "a"], ["a", "b"], ["b", "b"]]
    assert list(figure.data[1].text) == ["1", "3", "2"]
    assert figure.data[0].z[0][1] == pytest.approx(0.75)


def test_labels_are_split_only_where_a_run_is_looked_at() -> None:
    rows = pl.DataFrame({"label": ["a", "b"], "n": [4, 2], "right": [1, 2], "wrong": [3, 0]})
    figure = charts_intents.draw_labels(rows, dark=False)
    assert [list(trace.x) for trace in figure.data] == [[1, 2], [3, 0]]
    assert list(figure.data[0].customdata[0]) == ["a"]
    alone = rows.with_columns(right=pl.lit(None, pl.Int64), wrong=pl.lit(None, pl.Int64))
    assert [list(trace.x) for trace in charts_intents.draw_labels(alone, dark=True).data] == [[4, 2]]


def test_standards_show_floor_and_interval() -> None:
    rows = pl.DataFrame(
        {"question": ["Did **a**?" + " word" * 40, "b"], "n": [4, 9], "right": [1, 8], "share": [0.25, 8 / 9],
         "low": [0.1, 0.6], "high": [0.6, 0.98], "floor": [0.5, 0.7]}
    )  # fmt: skip
    figure = charts_intents.draw_standards(rows, "simulated:weak", mark_models(["simulated:weak"]), dark=False)
    floor, right = figure.data
    assert list(floor.x) == [50, 70]
    assert right.error_x.array[0] == pytest.approx(35)
    assert all(text.count("<br>") <= 1 for text in figure.layout.yaxis.ticktext)
    ways = pl.DataFrame({"model": ["m"], "way": ["raw"], "share": [0.5], "low": [0.4], "high": [0.6], "n": [10]})
    assert list(charts_intents.draw_ways(ways, mark_models(["m"]), dark=True).data[0].x) == [50]
