"""The map of a procedure: nothing hides anything else, every mark can be clicked, widths and colours are true."""

import html
import itertools
import random
import re
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.sage.procedures import graph
from cxlab.charts.theme import palette
from cxlab.records.procedure import Branch, Edge, Procedure
from cxlab.views.sop import queries
from cxlab.views.sop.map import charts as charts_map
from cxlab.views.sop.map import labels
from cxlab.views.sop.map.charts import enlarge, fit
from cxlab.views.sop.map.counts import count_map, made
from cxlab.views.sop.map.difference import draw_difference
from cxlab.views.sop.map.drawing import MapTexts, PlacedTexts, place_texts, shape_title
from cxlab.views.sop.map.labels import (
    NODE_PX,
    Box,
    Label,
    place_labels,
    stands_apart,
)
from cxlab.views.sop.map.layout import lay_out, name_whole, wrap
from cxlab.views.sop.map.lines import PointGrid, count_points, curve, dense

TRAFFIC = pl.DataFrame(
    [
        ("m", "stage1", "stage2", "followed", 100),
        ("m", "stage2", "stage3", "followed", 60),
        ("m", "stage2", "stage5", "inserted", 30),
        ("m", "stage2", "stage5", "skipped", 10),
        ("m", "stage2", "stage4", "followed", 10),
        ("m", "stage3", "stage6", "followed", 60),
        ("m", "stage6", "GoodBye", "followed", 60),
        ("m", "stage4", "ChangeOrder", "followed", 10),
        ("m", "stage5", "ChangeOrder", "inserted", 28),
        ("m", "stage5", "", "inserted", 2),
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


def texts(found: Procedure, count: str) -> tuple[dict[str, Any], dict[tuple[str, str], list[list[str]]]]:
    stages = {stage: shape_title(title, [f"{count} · 88 %"]) for stage, title in found.stages.items()}
    return stages, {(e.source, e.target): charts_map.edge_texts(e, count) for e in charts_map.several_ways(found)}


def overlap(a: Box, b: Box) -> float:
    wide = (a.width + b.width) / 2 - abs(a.x - b.x)
    high = (a.height + b.height) / 2 - abs(a.y - b.y)
    return wide * high if wide > 0 and high > 0 else 0.0


@pytest.mark.parametrize("scenario", graph.ids())
def test_texts_hide_neither_each_other_nor_a_stage_nor_a_line(scenario: str) -> None:
    found = graph.load(scenario)
    of_stages, of_edges, *_ = place_labels(found, *texts(found, "888"))
    boxes = [label.box for label in (*of_stages.values(), *of_edges.values())]
    nodes = [Box(x, y, 2 * NODE_PX, 2 * NODE_PX) for x, y in lay_out(found).nodes.values()]
    assert len(boxes) == len(found.stages) + len(charts_map.several_ways(found))
    # A touch of 20 square pixels (a corner of 4 by 5) is within what the widths are estimated to.
    assert all(overlap(a, b) <= 20 for a, b in itertools.combinations(boxes, 2))
    assert all(overlap(box, node) <= 20 for box in boxes for node in nodes)
    # Lines are taken at about every fifth pixel: at most the corners of two texts touch one.
    points = np.array([point for bends in lay_out(found).edges.values() for point in curve(bends)])
    assert count_points(np.array(boxes), points).sum() <= 4


def test_every_text_is_large_enough_and_stands_on_no_plate() -> None:
    figure = charts_map.draw_map(graph.load("airline_refund"), TRAFFIC, BRANCHES.head(1), False, "", "simulated")
    notes = figure.layout.annotations
    assert {note.font.size for note in notes} == {12}
    assert figure.layout.legend.font.size == 12
    assert all(note.bgcolor is None for note in notes)
    assert "simulated" in [trace.name for trace in figure.data if trace.showlegend]


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
    assert place_labels(found, *texts(found, "7")) == place_labels(found, *texts(found, "99"))
    assert place_labels(found, *texts(found, "7")) != place_labels(found, *texts(found, "12,345"))


@st.composite
def ways(draw: st.DrawFn, found: Procedure) -> list[str]:
    """Any way that an agent may report: in a circle, from the middle, through stages that nobody knows, to no end."""
    stages = st.sampled_from([*found.stages, "stage99", "?"])
    action = st.sampled_from([*found.actions, *found.plans, "", "Dance"])
    allowed = [edge.target for edge in found.edges if edge.source == found.start and not edge.ends]
    start = draw(st.sampled_from([[found.start, step] for step in allowed] or [[found.start]]))
    return [*draw(st.sampled_from([start, []])), *draw(st.lists(stages, max_size=6)), draw(action)]


@pytest.mark.parametrize("scenario", graph.ids())
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_what_leaves_a_stage_is_what_came_to_it(scenario: str, data: st.DataObject) -> None:
    found = graph.load(scenario)
    rows = data.draw(st.lists(st.tuples(ways(found), ways(found), st.integers(1, 900)), min_size=1, max_size=25))
    pairs = pl.DataFrame(
        [("m", *row) for row in rows],
        schema={"model": pl.String, "way": pl.List(pl.String), "wanted": pl.List(pl.String), "n": pl.Int64},
        orient="row",
    )
    layout = lay_out(found)
    counts = count_map(found, queries.count_steps(pairs), layout.nodes)
    drawn = found.steps() | {*counts.detours}
    # Counted by hand: every time that a way is at the node.
    came = Counter[str]()
    for way, _, n in rows:
        for step in way:
            came[found.node(step)] += n
    for node in layout.nodes:
        into = sum(made(kinds) for step, kinds in counts.moved.items() if step in drawn and step[1] == node)
        out = sum(made(kinds) for step, kinds in counts.moved.items() if step in drawn and step[0] == node)
        begun = counts.begun if node == found.start else 0
        assert begun + into + counts.entered[node] == counts.came[node]
        if node in found.stages:
            assert counts.came[node] == came[node]
            assert out + counts.left[node] == counts.came[node]
            assert min(begun, counts.entered[node], counts.left[node]) >= 0


def test_the_numbers_of_a_map_add_up_where_they_stand() -> None:
    found = graph.load("telecom_package")
    figure = charts_map.draw_map(found, TRAFFIC, BRANCHES.head(1), False)
    words = [note.text for note in figure.layout.annotations]

    def at(name: str) -> str:
        return next(text for text in words if name in text.replace("<br>", " "))

    # 150 came to stage 2, of which 60 went to 3, 80 to 5 and 10 to 4; of 80 at stage 5, 2 ended without an action.
    assert "150 · 60 %" in at("What the")
    assert "(" not in at("What the")
    assert [sum(bool(re.search(f">{n}[ <]", text)) for text in words) for n in (60, 80, 10)] == [3, 2, 2]
    assert "80 (−2)" in at("5 Early-exit fee").replace("<br>", " ")
    assert "9" in at("Hand-over to a person")


def lay_texts(found: Procedure, kind: str, away: int) -> PlacedTexts:
    """The texts of a map as pages write them, in the widest numbers that they hold: `kind` is the map of all models or
    of one, that for an audience, or the difference of two; with so many arcs that the procedure does not know."""
    value = {"all": "888", "brief": ""}.get(kind, "88\u00a0:\u00a088")
    below = {"all": ["888 · 88 % (+8 −8)"], "brief": ["88 % right"], "difference": ["+88.8 points"]}.get(kind, [])
    layout = lay_out(found, flat=kind in _FLAT)
    unknown = [
        step
        for step in itertools.permutations(layout.nodes, 2)
        if step not in found.steps() and step[0] in found.stages and step[1] != found.start
    ]
    edges = {(edge.source, edge.target): charts_map.edge_texts(edge, value) for edge in charts_map.several_ways(found)}
    drawn = MapTexts(
        {
            # For an audience few lines differ for sure; here every fourth has its figures.
            "brief": {},
            "brief difference": {step: [[value]] for step in sorted(edges)[::4]},
        }.get(kind, edges),
        dict.fromkeys(random.Random(7).sample(unknown, away), value or "888"),
        dict.fromkeys(found.stages, below),
        {},
    )
    return place_texts(found, layout, drawn)


def touched(found: Procedure, placed: PlacedTexts, flat: bool) -> list[tuple[str, str]]:
    """Each label with each line, arc or hairline, that it lies on: at least 4 px of it are within its box."""
    layout = lay_out(found, flat)
    runs = {step: curve(points) for step, points in layout.edges.items()} | dict(placed.detours)
    of_stages = {stage: label.box for stage, label in placed.stages.items()}
    boxes = of_stages | {label: each.box for label, each in (*placed.edges.items(), *placed.beside.items())}
    leads = {
        stage: [layout.nodes[stage], (box.x, box.y)]
        for stage, box in of_stages.items()
        if stands_apart(layout.nodes[stage], box)
    }
    return [
        (str(name), str(run))
        for name, box in boxes.items()
        for run, line in {**runs, **leads}.items()
        if not (run in leads and run == name) and count_points(np.array([box]), dense(line))[0] > 2
    ]


_TOUCHING = {"all": 8, "brief": 2, "difference": 22, "brief difference": 5}
_FLAT = ("brief", "brief difference")


@pytest.mark.parametrize("kind", _TOUCHING)
@pytest.mark.parametrize("away", [0, 3, 6])
def test_no_name_is_cut_and_no_text_lies_on_another_or_on_a_line(kind: str, away: int) -> None:
    cut, hidden, on_lines, every = [], [], [], 0
    for scenario in graph.ids():
        found = graph.load(scenario)
        placed = lay_texts(found, kind, away)
        titles = [" ".join(placed.titles[stage][label.shape][0]) for stage, label in placed.stages.items()]
        cut += [title for title in titles if "…" in title]
        labels = {**placed.stages, **placed.edges, **placed.beside}
        assert len(placed.beside) == away
        # Beyond the last column stand the names of actions.
        assert all(x <= lay_out(found, kind in _FLAT).width + 4 for line in placed.detours.values() for x, _ in line)
        every += len(labels)
        hidden += [
            (scenario, a, b)
            for (a, one), (b, other) in itertools.combinations(labels.items(), 2)
            if overlap(one.box, other.box) > 20
        ]
        on_lines += [(scenario, *pair) for pair in touched(found, placed, kind in _FLAT)]
    assert every >= 40 + 6 * away
    assert not cut
    assert not hidden
    # So many labels of all six maps together touch a line; arcs between any two places are worse than any run has.
    assert len(on_lines) <= _TOUCHING[kind], on_lines


def test_what_does_not_lead_to_the_right_has_a_head() -> None:
    found = graph.load("airline_refund")
    steps = [("stage8", "stage4", 5), ("stage4", "stage8", 5), ("stage7", "stage6", 9), ("stage1", "stage2", 9)]
    traffic = pl.DataFrame(
        [("m", source, target, "inserted", n) for source, target, n in steps], schema=TRAFFIC.schema, orient="row"
    )
    figure = charts_map.draw_map(found, traffic, BRANCHES.head(0), False)
    (heads,) = [trace for trace in figure.data if trace.mode == "markers" and trace.marker.symbol == "arrow"]
    layout = lay_out(found)
    back = {step for step in found.steps() if layout.nodes[step[0]][0] > layout.nodes[step[1]][0]}
    detours = {step[:2] for step in steps} - found.steps()
    assert back
    assert list(heads.marker.size).count(11) == len(back & {step[:2] for step in steps}) + len(detours)
    alone = charts_map.draw_map(found, traffic.tail(1), BRANCHES.head(0), False)
    assert not [trace for trace in alone.data if trace.mode == "markers" and trace.marker.symbol == "arrow"]


def test_a_text_that_stands_apart_is_led_to_its_stage() -> None:
    led = 0
    for scenario in graph.ids():
        found = graph.load(scenario)
        figure = charts_map.draw_map(found, TRAFFIC.head(0), BRANCHES.head(0), False)
        for note in figure.layout.annotations:
            if note.showarrow:
                led += 1
                assert (note.x, note.y) in lay_out(found).nodes.values()
                assert note.axref == "x"
                assert not note.arrowhead
    assert led


@pytest.mark.parametrize(
    "title",
    [
        "x" * 200,
        "ABC" * 66,
        "\u05de\u05d4 \u05e8\u05d5\u05e6\u05d4 \u05d4\u05dc\u05e7\u05d5\u05d7 " * 8,
        "<b>$x$</b>",
        " ",
    ],
)
def test_names_of_any_kind_are_cut_and_stay_text(title: str) -> None:
    stages = {f"stage{place}": title for place in (1, 2, 3)}
    branch = (Branch((("Field", title),)),)
    edges = (
        Edge("stage1", "stage2", False, branch), Edge("stage1", "stage3", False, branch),
        Edge("stage2", title, True, ()), Edge("stage3", title, True, ()),
    )  # fmt: skip
    found = Procedure("long", title, stages, (title,), edges)
    figure = charts_map.draw_map(found, TRAFFIC, BRANCHES.head(1), True)
    for note in figure.layout.annotations:
        shown = re.sub(r"</?(b|br|span)[^>]*>", "|", note.text)
        assert "<" not in shown
        assert max(len(html.unescape(line)) for line in shown.split("|")) <= 40


def test_a_procedure_of_sixty_stages_opens_at_its_left_end() -> None:
    stages = {f"stage{place}": f"Step {place}" for place in range(1, 61)}
    edges = [Edge(f"stage{place}", f"stage{place + 1}", False, ()) for place in range(1, 60)]
    edges += [Edge(f"stage{place}", f"stage{place + 7}", False, ()) for place in range(1, 53, 3)]
    edges.append(Edge("stage60", "Done", True, ()))
    found = Procedure("many", "Many", stages, ("Done",), tuple(edges))
    figure = charts_map.draw_map(found, TRAFFIC.head(0), BRANCHES.head(0), False)
    layout = lay_out(found)
    xs = sorted({x for x, _ in layout.nodes.values()})
    assert min(b - a for a, b in itertools.pairwise(xs)) >= 50
    assert figure.layout.xaxis.range[1] < layout.width / 4
    assert (figure.layout.dragmode, figure.layout.uirevision) == ("pan", "many")
    assert sum("Step" in note.text for note in figure.layout.annotations) == 60


@pytest.mark.parametrize("stages", [1, 2])
def test_the_smallest_procedures_and_empty_ones_are_drawn(stages: int) -> None:
    names = {f"stage{place}": "One" for place in range(1, stages + 1)}
    edges = [Edge("stage1", "stage2", False, ())] * (stages - 1) + [Edge(f"stage{stages}", "End", True, ())]
    figure = charts_map.draw_map(
        Procedure("p", "P", names, ("End",), tuple(edges)), TRAFFIC.head(0), BRANCHES.head(0), False
    )
    assert len(figure.layout.annotations) == stages + 1


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


def test_each_edge_is_one_line_of_up_to_three_colours() -> None:
    figure = charts_map.draw_map(graph.load("telecom_package"), TRAFFIC, BRANCHES.head(1), False)
    colours = palette(False)
    lines = {(t.line.color, t.line.dash, t.line.width) for t in figure.data if t.mode == "lines" and t.x[0] is not None}
    assert (colours.good, "solid", 14.0) in lines  # 150 turns from stage 1 to 2 are the busiest
    # From stage 2 to 5 went 50 followed and 30 inserted, and 10 more should have gone: 90 of 150.
    assert (charts_map._grey(False), "solid", round(14 * 90 / 150)) in lines
    assert (colours.bad, "solid", round(14 * 80 / 150)) in lines
    assert (colours.good, "solid", round(2 * 14 * 50 / 150) / 2) in lines
    assert (colours.bad, "dot", charts_map._THINNEST_PX) not in lines
    assert {dash for _, dash, _ in lines} == {"solid", "dot"}
    # The bands of an edge lie on the same points.
    named = [t for t in figure.data if t.mode == "lines" and t.x[0] is not None and t.line.color != colours.hairline]
    assert len({(t.x[0], t.y[0]) for t in named}) < len(named)
    words = [note.text for note in figure.layout.annotations]
    assert sum(f"· {share} %" in text for text in words for share in (60, 100)) == 1
    legend = [t.name for t in figure.data if t.showlegend]
    assert legend == [
        "followed",
        "inserted",
        "skipped",
        "not in the procedure",
        "50 % right or less",
        "75 %",
        "95 % or more",
    ]


DIFFERENCES = pl.DataFrame(
    [
        ("stage1", "stage2", 1.0, 1.0, 0.0, -0.1, 0.1, 1.0, 20, False),
        ("stage2", "stage5", 0.3, 0.9, -0.6, -0.7, -0.5, 0.001, 20, True),
        ("stage2", "stage3", 0.6, 0.5, 0.1, -0.1, 0.3, 0.9, 20, False),
        ("stage1", "stage7", 0.2, 0.0, 0.2, 0.1, 0.3, 0.01, 20, True),
    ],
    schema=["source", "target", "first", "second", "difference", "low", "high", "p", "n", "sure"],
    orient="row",
)


def test_the_difference_of_two_models_has_both_shares_and_a_colour_where_it_is_sure() -> None:
    found = graph.load("telecom_package")
    figure = draw_difference(found, DIFFERENCES, BRANCHES, ("m", "n"), ("m", "n"), False)
    words = [note.text.replace("\u00a0", " ") for note in figure.layout.annotations]
    assert any("−40.0 points" in text for text in words)
    assert any("30 : 90" in text for text in words)
    assert [t.name for t in figure.data if t.showlegend] == [
        "more of m",
        "more of n",
        "cannot tell",
        "not in the procedure",
    ]
    lines = {(t.line.color, t.line.dash) for t in figure.data if t.mode == "lines" and t.x[0] is not None}
    assert ("#D55E00", "solid") in lines  # stage 2 to 5: more of the second, for sure
    assert ("#0072B2", "dot") in lines  # stage 1 to 7: more of the first, no step of the procedure
    assert ("#0072B2", "solid") not in lines  # stage 2 to 3 is not sure


def test_for_an_audience_the_difference_says_only_what_is_sure() -> None:
    found = graph.load("telecom_package")
    figure = draw_difference(found, DIFFERENCES, BRANCHES, ("m", "n"), ("m", "n"), False, brief=True)
    words = [note.text.replace("\u00a0", " ") for note in figure.layout.annotations]
    assert sorted(re.findall(r"\d+ : \d+", " ".join(words))) == ["20 : 0", "30 : 90"]
    assert not any("points" in text for text in words)
    colours = {t.line.color for t in figure.data if t.mode == "lines" and t.x[0] is not None}
    assert colours == {"#D55E00", "#0072B2", palette(False).hairline}
    unsure = DIFFERENCES.with_columns(sure=pl.lit(False))
    figure = draw_difference(found, unsure, BRANCHES, ("m", "n"), ("m", "n"), False, brief=True)
    assert "not in the procedure" not in [t.name for t in figure.data]


@pytest.mark.parametrize("scenario", graph.ids())
def test_for_an_audience_all_of_a_map_goes_into_the_window_in_letters_that_can_be_read(scenario: str) -> None:
    found = graph.load(scenario)
    brief = charts_map.draw_map(found, TRAFFIC.head(0), BRANCHES.head(0), False, brief=True)
    layout = lay_out(found, flat=True)
    low, high = brief.layout.xaxis.range
    assert all(low <= x <= high and 0 <= y <= layout.height for x, y in layout.nodes.values())
    # What a browser's window has left beside and above the map: 1024 x 768, and 1440 x 900.
    sizes = []
    for room in ((944, 616), (1360, 748)):
        figure = fit(brief, found, room)
        margin = figure.layout.margin
        size = min(note.font.size for note in figure.layout.annotations)
        assert figure.layout.height <= room[1] + 4
        # Nothing that stands apart comes together: the map's own unit stays at least as long as type is large.
        assert (room[0] - margin.l - margin.r) / layout.width >= size / 12 - 0.03
        sizes.append(size)
    assert 12 <= sizes[0] <= sizes[1]
    assert sizes[1] > 14


def test_the_label_of_a_sure_difference_is_never_left_out() -> None:
    found = graph.load("telecom_package")
    ways = Counter(edge.source for edge in found.edges)
    source, target = next((e.source, e.target) for e in found.edges if ways[e.source] == 1)
    row = (source, target, 0.9, 0.3, 0.6, 0.5, 0.7, 0.001, 20, True)
    only = pl.DataFrame([row], schema=DIFFERENCES.schema, orient="row")
    figure = draw_difference(found, only, BRANCHES, ("m", "n"), ("m", "n"), False)
    assert "90\u00a0:\u00a030" in " ".join(note.text for note in figure.layout.annotations)


def test_accuracy_colours_run_from_bad_to_good() -> None:
    colours = palette(False)
    assert charts_map.accuracy_colour(0.2, colours) == colours.bad
    assert charts_map.accuracy_colour(0.75, colours) == colours.warning
    assert charts_map.accuracy_colour(1.0, colours) == colours.good
    assert charts_map.accuracy_colour(0.85, colours) not in (colours.warning, colours.good)


def test_a_label_knows_its_shape() -> None:
    found = graph.load("telecom_package")
    of_edges = place_labels(found, *texts(found, "888")).edges
    shapes = {step: len(offered) for step, offered in texts(found, "888")[1].items()}
    assert all(isinstance(label, Label) and 0 <= label.shape < shapes[step] for step, label in of_edges.items())


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=30), st.integers(-5, 45))
def test_points_under_a_box_are_counted_at_once_as_one_by_one(points: list[tuple[int, int]], middle: int) -> None:
    # Even coordinates fall on the cells of the grid, where it is exact.
    found = np.array(points, dtype=np.float64) * 2
    boxes = np.array([[2.0 * middle, 2.0 * middle, 16.0, 8.0], [0.0, 40.0, 4.0, 200.0]])
    assert PointGrid(found).count(boxes, 0.0).tolist() == count_points(boxes, found).tolist()


def test_for_an_audience_the_map_says_less_in_larger_type() -> None:
    found = graph.load("telecom_package")
    usual = charts_map.draw_map(found, TRAFFIC, BRANCHES.head(1), False, simulated="simulated")
    brief = charts_map.draw_map(found, TRAFFIC, BRANCHES.head(1), False, simulated="simulated", brief=True)
    large = enlarge(brief, 1.4)
    said = " ".join(note.text for note in brief.layout.annotations)
    assert "60 % right" in said
    assert "(+" not in said
    assert "(−" not in said
    assert len(brief.layout.annotations) < len(usual.layout.annotations)
    assert "simulated" in [trace.name for trace in brief.data if trace.showlegend]
    for before, after in zip(brief.layout.annotations, large.layout.annotations, strict=True):
        assert (after.x, after.y, after.text) == (before.x, before.y, before.text)
        assert after.font.size == pytest.approx(1.4 * before.font.size)
        assert after.font.size > 16
        # What leads to a stage is as far away from it as its text is high.
        if before.ay is not None:
            assert (after.ay, after.ax) == (pytest.approx(1.4 * before.ay), before.ax)
    assert large.layout.height == pytest.approx(1.4 * brief.layout.height)
    assert list(large.layout.xaxis.range) == list(brief.layout.xaxis.range)
    # What is clicked is what was clicked before.
    marks = [[trace.customdata for trace in each.data if trace.customdata is not None] for each in (brief, large)]
    assert [list(map(list, each)) for each in marks[0]] == [list(map(list, each)) for each in marks[1]]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), others=st.integers(0, 12))
def test_the_place_that_is_taken_is_the_best_of_all(seed: int, others: int) -> None:
    rng = np.random.default_rng(seed)
    many = 300

    def boxes(count: int) -> Any:
        return np.column_stack((rng.uniform(0, 300, (count, 2)), rng.uniform(10, 80, (count, 2))))

    fixed, mine, around = np.sort(rng.uniform(0, 900, many)), boxes(many), boxes(others)
    leads = np.column_stack((rng.uniform(0, 300, (many, 2)), mine[:, :2]))
    leads[rng.random(many) < 0.5] = np.nan
    led = rng.uniform(0, 300, (others // 3, 4))
    # Every place, one by one, as `labels` says it: overlaps, hairlines through it, and its own through the others.
    costs = fixed + 12 * labels._overlaps(mine, around).sum(axis=1) + 160 * labels._cross(led, mine).sum(axis=0)
    costs += 160 * labels._cross(leads, around).sum(axis=1)
    whole = np.zeros(many)
    options = labels._Options(whole, mine, whole.astype(np.int64), whole, leads)
    place, cost = labels._take_place(options, fixed, around, led)
    assert place == int(np.argmin(costs))
    assert cost == pytest.approx(costs.min())


def test_a_plan_is_told_with_what_it_is() -> None:
    found = graph.load("online_education")
    told = "plan E (other matter, joint session in which staff guide the learner)"
    assert name_whole(found, "PLAN_E") == told
    assert name_whole(found, "stage2") == found.name("stage2")
    traffic = pl.DataFrame(
        [("m", "stage7", "PLAN_E", "followed", 3)], schema=TRAFFIC.schema, orient="row"
    )  # fmt: skip
    figure = charts_map.draw_map(found, traffic, BRANCHES.head(0), False)
    hovers = [text for trace in figure.data for text in trace.hovertext or () if text.startswith("<b>PLAN</b>")]
    assert len(hovers) == 1
    # As lines of the hover, not as text that shows its own marks.
    assert f"<br>{told[0].upper()}{told[1:]}" in hovers[0]
    assert "&lt;" not in hovers[0]
