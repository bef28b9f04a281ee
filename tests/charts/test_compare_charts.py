from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.sage.procedures import graph
from cxlab.charts import compare
from cxlab.charts.dots import draw_dots, spread
from cxlab.charts.theme import mark_models, palette
from cxlab.views.sop import charts as path_charts
from cxlab.views.sop.charts_variants import badge_of, draw_variants

MARKS = mark_models(["simulated:a", "b"])


def board(values: list[tuple[str, float, float]]) -> pl.DataFrame:
    return pl.DataFrame(
        [(side, value, value - 1, value + 1, 0.0, price, 10) for side, price, value in values],
        schema=["side", "value", "low", "high", "cost_usd", "latency_s", "attempts"],
        orient="row",
    )


@pytest.mark.parametrize(
    ("values", "front"),
    [
        ([("a", 1.0, 50.0), ("b", 2.0, 60.0), ("c", 3.0, 55.0)], ["a", "b"]),
        ([("a", 2.0, 50.0), ("b", 1.0, 60.0)], ["b"]),
        ([("a", 1.0, 50.0), ("b", 1.0, 60.0)], ["b"]),
        ([("a", 1.0, 50.0), ("b", 2.0, 50.0)], ["a"]),
        ([], []),
    ],
)
def test_the_front_holds_those_that_none_beats(values: list[tuple[str, float, float]], front: list[str]) -> None:
    frame = board(values) if values else board([("x", 1.0, 1.0)]).clear()
    assert compare.front_of(frame, "latency_s")["side"].to_list() == front
    turned = frame.with_columns(pl.col("value") * -1)
    assert compare.front_of(turned, "latency_s", less_is_better=True)["side"].to_list() == front


def test_short_times_are_told_in_milliseconds_and_near_floors_at_both_ends() -> None:
    quick = board([("simulated:a", 0.0002, 50.0), ("b", 0.0004, 60.0)])
    figure = compare.draw_front(
        quick, (0.0, 100.0), "hit", "latency_s", MARKS, False, one="query", floors=[("Hub", 7.0), ("Random", 6.5)]
    )
    assert figure.layout.xaxis.title.text == "time of a query, ms"
    points = [trace for trace in figure.data if trace.mode == "markers+text"]
    assert [trace.x[0] for trace in points] == pytest.approx([0.2, 0.4])
    assert {note.text: note.xanchor for note in figure.layout.annotations} == {"Random 6.5": "right", "Hub 7.0": "left"}
    slow = compare.draw_front(board([("b", 4.0, 60.0)]), (0.0, 100.0), "hit", "latency_s", MARKS, False)
    assert slow.layout.xaxis.title.text == "time of a dialogue, s"


def scores() -> pl.DataFrame:
    return pl.DataFrame(
        [("simulated:a", "g", 80.0, 75.0, 85.0, 40, 10), ("b", "g", 70.0, None, None, 4, 1)],
        schema=["side", "grp", "mean", "low", "high", "n", "clusters"],
        orient="row",
    )


def test_one_sample_has_no_whisker_and_says_so() -> None:
    figure = compare.draw_scores(scores(), (0.0, 100.0), "Overall", {"g": "group"}, MARKS, False)
    lone = next(trace for trace in figure.data if trace.name == "b")
    assert (lone.error_x.array[0], lone.error_x.arrayminus[0]) == (0, 0)
    assert "fewer than two samples" in lone.hovertext[0]
    low, high = figure.layout.xaxis.range
    assert -2 < low < 0 < 100 < high < 104
    assert "circle-open" in str(figure.data[0].marker.symbol)  # simulated


def test_each_dot_has_its_name_beside_it_and_no_legend_is_left_to_look_up() -> None:
    long = "n" * 200
    frame = pl.concat([scores(), scores().with_columns(side=pl.lit(long), grp=pl.lit("h"))])
    figure = compare.draw_scores(frame, (0.0, 100.0), "Overall", {"g": "group", "h": "other"}, MARKS, False)
    assert not any(trace.showlegend for trace in figure.data)
    written = [(text.strip("\xa0"), y) for trace in figure.data if trace.mode == "text"
               for text, y in zip(trace.text, trace.y, strict=True)]  # fmt: skip
    dots = {y for trace in figure.data if trace.mode == "markers" for y in trace.y}
    assert {y for _, y in written} == dots
    names = [text.replace("\u2068", "").replace("\u2069", "") for text, _ in written]
    assert names[:2] == ["a 80.0", "b 70.0"]
    assert all(len(text) < 36 for text in names)


@given(st.lists(st.floats(0, 1), max_size=12).map(sorted))
def test_names_are_kept_apart_and_stay_in_order(values: list[float]) -> None:
    found = spread(values, 0.1)
    assert all(above - below > 0.1 - 1e-9 for below, above in pairwise(found))
    assert sum(found) == pytest.approx(sum(values))
    if all(above - below >= 0.1 for below, above in pairwise(values)):
        assert found == pytest.approx(values)
    capped = spread(values, 0.1, 0.5)
    assert all(above - below > 0.1 - 1e-9 for below, above in pairwise(capped))
    assert max(capped, default=0.0) <= 0.5


def test_published_figures_are_named_and_marked() -> None:
    published = pl.DataFrame({"grp": ["g"], "entity": ["GPT"], "value": [66.8], "source": ["Table 1"]})
    figure = compare.draw_scores(scores(), (0.0, 100.0), "Overall", {"g": "group"}, MARKS, False, published)
    diamonds = figure.data[-1]
    assert (diamonds.name, diamonds.marker.symbol) == ("published", "diamond")
    assert "Table 1" in diamonds.hovertext[0]
    assert "not paired" in diamonds.hovertext[0]


def test_profiles_put_each_metric_on_its_own_scale() -> None:
    frame = pl.DataFrame(
        [("b", "path", 50.0, 40.0, 60.0, 9), ("b", "user_satisfaction", 6.0, 5.0, 7.0, 9)],
        schema=["side", "metric", "mean", "low", "high", "n"],
        orient="row",
    )
    names = {"path": "Path", "user_satisfaction": "User satisfaction"}
    scales = {"path": (0.0, 100.0), "user_satisfaction": (3.0, 9.0)}
    figure = compare.draw_profile(frame, names, scales, MARKS, False)
    assert list(figure.data[0].y) == [0.5, 0.5]


def test_flows_keep_every_turn_on_both_sides() -> None:
    frame = pl.DataFrame(
        [("Pay", "", "Pay", 5), ("Pay", "stage2", "Talk", 3), ("Talk", "stage2", "Talk", 2)],
        schema=["expected", "left_at", "taken", "n"],
        orient="row",
    )
    sankey = path_charts.draw_flows(frame, graph.load("telecom_package"), False).data[0]
    assert sum(sankey.link.value) == 2 * 10
    assert "on the reference" in sankey.node.label
    assert "left after 2 What the customer wants" in sankey.node.label


def test_untested_leaves_stay_visible() -> None:
    frame = pl.DataFrame(
        [("TP-01", "b", 3, 9, 80.0), ("TP-02", None, 0, 0, None)],
        schema={"leaf": pl.String, "model": pl.String, "dialogues": pl.Int64, "n": pl.Int64, "mean": pl.Float64},
        orient="row",
    )
    squares = path_charts.draw_coverage(frame, "overall", MARKS, False).data[0]
    assert list(squares.text) == ["3", "·"]
    assert "not tested" in squares.hovertext[1]


def test_variants_colour_every_move_and_carry_their_way() -> None:
    procedure = graph.load("telecom_package")
    way = ["stage1", "stage5", "ChangeOrder"]
    frame = pl.DataFrame(
        {
            "way": [way],
            "n": [4],
            "share": [1.0],
            "right": [0],
            "acted": [3],
            "steps": [[{"stage": "stage1", "followed": 4}, {"stage": "stage5", "followed": 1}]],
            "skipped": [[{"stage": "stage2", "n": 3}]],
        }
    )
    figure = draw_variants(frame, procedure, False)
    drawn = {trace.name: [y for y in trace.y if y is not None] for trace in figure.data if trace.fill == "toself"}
    assert set(drawn) == {"due there", "not due there", "due and left out"}
    # Of the second stage a quarter is green and the rest red.
    assert (min(drawn["not due there"]), max(drawn["not due there"])) == pytest.approx((-0.15, 0.3))
    told = [text for trace in figure.data if trace.hovertext is not None for text in trace.hovertext]
    assert any("due in 1 of 4 turns" in text for text in told)
    assert any("due and left out in 3 of 4 turns" in text for text in told)
    assert any(text.startswith("75 %") for trace in figure.data if trace.text is not None for text in trace.text)
    assert {tuple(data) for trace in figure.data if trace.customdata is not None for data in trace.customdata} == {
        ("stage1>stage5>ChangeOrder",)
    }
    assert badge_of(procedure, way, 0, 4) == "impossible"
    assert badge_of(procedure, ["stage1", "stage2", "stage5", "ChangeOrder"], 1, 4) == "branch"
    assert badge_of(procedure, ["stage1", "stage2", "stage5", "ChangeOrder"], 2, 4) == "reference"


def test_names_stand_inside_an_axis_that_ends_far_from_the_dots():
    # By the dots' own range the second name would stand left of its dot, over the names of the bands.
    low = scores().with_columns(mean=pl.Series([10.0, 20.0][: scores().height]), low=pl.lit(8.0), high=pl.lit(22.0))
    figure = compare.draw_scores(low, (0.0, 100.0), "Overall", {"g": "group"}, MARKS, False)
    placed = {place for trace in figure.data if trace.mode == "text" for place in trace.textposition}
    assert placed == {"middle right"}


def test_a_name_stands_where_there_is_room_and_small_groups_are_grey() -> None:
    rows = [
        {"model": model, "group": group, "value": value, "low": low, "high": high, "hover": "", "faint": group == "few"}
        for group, value, low, high in (("wide", 40.0, 10.0, 70.0), ("few", 90.0, 80.0, 99.0))
        for model in ("a", "b")
    ]
    names, marks = {"wide": "wide", "few": "few"}, mark_models(["a", "b"])
    figure = draw_dots(rows, list(names), ["a", "b"], names, marks, False, axis=(0.0, 100.0))
    (texts, _) = (each for each in figure.data if each.mode == "text")
    # The whisker ends past the middle, but left of it are the names of groups.
    assert list(texts.textposition) == ["middle right", "middle left"]
    dots = [each for each in figure.data if each.mode == "markers" and each.name == "a"]
    assert [[group for group, _ in each.customdata] for each in dots] == [["wide"], ["few"]]
    assert dots[0].marker.color == marks["a"].colour
    assert dots[1].marker.color == palette(False).muted
