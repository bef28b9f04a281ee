"""The map of a procedure: nothing hides anything else, every mark can be clicked, widths and colours are true."""

import itertools

import polars as pl
import pytest

from cxlab.benchmarks.sage.procedures import graph
from cxlab.charts.theme import palette
from cxlab.records.procedure import Procedure
from cxlab.views.sop import charts_map
from cxlab.views.sop.charts_map_labels import NODE_PX, Box, Label, curve, place_labels, wrap
from cxlab.views.sop.charts_map_layout import lay_out

TRAFFIC = pl.DataFrame(
    [
        ("m", "stage1", "stage2", "followed", 100),
        ("m", "stage2", "stage3", "followed", 60),
        ("m", "stage2", "stage5", "inserted", 30),
        ("m", "stage2", "stage5", "skipped", 10),
        ("m", "stage1", "stage7", "inserted", 9),
        ("m", "stage7", "TransHuman", "inserted", 9),
        ("n", "stage1", "stage2", "followed", 50),
        ("n", "stage2", "stage5", "followed", 50),
        ("n", "stage5", "ChangeOrder", "followed", 50),
    ],
    schema={"model": pl.String, "source": pl.String, "target": pl.String, "kind": pl.String, "n": pl.Int64},
    orient="row",
)
BRANCHES = pl.DataFrame(
    {
        "model": ["m", "n"], "stage": ["stage2", "stage2"], "n": [100, 50], "clusters": [20, 20],
        "share": [0.6, 1.0], "low": [0.5, 0.9], "high": [0.7, 1.0],
    }
)  # fmt: skip


def texts(found: Procedure, count: str) -> tuple[dict[str, list[str]], dict[tuple[str, str], list[list[str]]]]:
    stages = {stage: [*wrap(title, 15, 3), f"88 % · n {count}"] for stage, title in found.stages.items()}
    return stages, {(e.source, e.target): charts_map._edge_texts(found, e, count) for e in found.edges}


def overlap(a: Box, b: Box) -> float:
    wide = (a.width + b.width) / 2 - abs(a.x - b.x)
    high = (a.height + b.height) / 2 - abs(a.y - b.y)
    return wide * high if wide > 0 and high > 0 else 0.0


@pytest.mark.parametrize("scenario", graph.ids())
def test_labels_hide_neither_each_other_nor_a_stage(scenario: str) -> None:
    found = graph.load(scenario)
    of_stages, of_edges = place_labels(found, *texts(found, "888"))
    boxes = [label.box for label in (*of_stages.values(), *of_edges.values())]
    nodes = [Box(x, y, 2 * NODE_PX, 2 * NODE_PX) for x, y in lay_out(found).nodes.values()]
    assert len(boxes) == len(found.stages) + len(found.edges)
    # A touch of 20 square pixels (a corner of 4 by 5) is within what the widths are estimated to.
    assert all(overlap(a, b) <= 20 for a, b in itertools.combinations(boxes, 2))
    assert all(overlap(box, node) <= 20 for box in boxes for node in nodes)


@pytest.mark.parametrize("scenario", graph.ids())
def test_layers_run_to_the_right_and_actions_stand_at_the_end(scenario: str) -> None:
    found = graph.load(scenario)
    layout = lay_out(found)
    right = max(x for x, _ in layout.nodes.values())
    assert {x for name, (x, _) in layout.nodes.items() if name in found.actions} == {right}
    forward = [layout.nodes[e.source][0] < layout.nodes[e.target][0] for e in found.edges]
    # The airline's stage 8 leads back to stage 4 for other customers than stage 4 leads to it.
    assert forward.count(False) == (1 if scenario == "airline_refund" else 0)
    assert all(0 < y < layout.height for _, y in layout.nodes.values())
    for a, b in itertools.combinations(layout.nodes.values(), 2):
        assert abs(a[0] - b[0]) > 1 or abs(a[1] - b[1]) >= 40


def test_numbers_of_the_same_size_keep_the_labels_where_they_are() -> None:
    found = graph.load("telecom_package")
    assert place_labels(found, *texts(found, "7")) == place_labels(found, *texts(found, "999"))
    assert place_labels(found, *texts(found, "7")) != place_labels(found, *texts(found, "12,345"))


def test_curves_start_and_end_level_at_their_points() -> None:
    line = curve([(0, 0), (10, 30), (20, 30)])
    assert (line[0], line[-1]) == ((0, 0), (20, 30))
    assert abs(line[1][1] - line[0][1]) < 0.5


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("What the customer wants", ["What the", "customer wants"]),
        ("RescheduleOrRefund", ["RescheduleOr", "Refund"]),
        ("Comfort+Compensation", ["Comfort+", "Compensation"]),
        ("one two three four five six", ["one two three", "four five six"]),
        ("a very long title that never ends at all", ["a very long", "title that…"]),
        ("", []),
    ],
)
def test_texts_wrap_at_words_and_cut_with_a_sign(text: str, lines: list[str]) -> None:
    assert wrap(text, 15, 2) == lines


def test_every_stage_action_and_edge_can_be_clicked() -> None:
    found = graph.load("telecom_package")
    figure = charts_map.draw_map(found, TRAFFIC, BRANCHES.head(1), False, "stage2")
    marks = [tuple(data) for trace in figure.data if trace.customdata is not None for data in trace.customdata]
    assert {mark[1] for mark in marks if mark[0] == "stage"} == set(found.stages)
    assert {mark[1] for mark in marks if mark[0] == "action"} == set(found.actions)
    assert {mark[1:] for mark in marks if mark[0] == "step"} == found.steps() | {("stage1", "stage7")}


def test_width_is_traffic_and_colour_and_dash_are_the_move() -> None:
    figure = charts_map.draw_map(graph.load("telecom_package"), TRAFFIC, BRANCHES.head(1), False)
    colours = palette(False)
    lines = {(t.line.color, t.line.dash, t.line.width) for t in figure.data if t.mode == "lines" and t.x[0] is not None}
    assert (colours.good, "solid", 15.0) in lines  # 150 turns from stage 1 to 2 are the busiest
    assert (colours.bad, "dot", 3.0) in lines  # 30 inserted
    assert max(width for colour, _, width in lines if colour == colours.bad) == 3.0
    words = [note.text for note in figure.layout.annotations]
    assert any("60 % · n 100" in text for text in words)
    assert sum("no arrivals" in text for text in words) == 6


def test_the_difference_of_two_models_has_a_sign_and_a_colour() -> None:
    found = graph.load("telecom_package")
    figure = charts_map.draw_difference(found, TRAFFIC, BRANCHES, ("m", "n"), ("m", "n"), False)
    words = [note.text for note in figure.layout.annotations]
    assert any("-40.0 points" in text for text in words)
    assert {t.name for t in figure.data if t.showlegend} == {"more of m", "more of n"}


def test_accuracy_colours_run_from_bad_to_good() -> None:
    colours = palette(False)
    assert charts_map.accuracy_colour(0.2, colours) == colours.bad
    assert charts_map.accuracy_colour(0.75, colours) == colours.warning
    assert charts_map.accuracy_colour(1.0, colours) == colours.good
    assert charts_map.accuracy_colour(0.85, colours) not in (colours.warning, colours.good)


def test_a_label_knows_its_shape() -> None:
    found = graph.load("telecom_package")
    _, of_edges = place_labels(found, *texts(found, "888"))
    shapes = {step: len(offered) for step, offered in texts(found, "888")[1].items()}
    assert all(isinstance(label, Label) and 0 <= label.shape < shapes[step] for step, label in of_edges.items())
