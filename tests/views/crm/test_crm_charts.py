"""The map of objects: what refers stands right of what it refers to, and every reference is a line."""

from itertools import pairwise

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.views.crm.records.charts import draw_objects, lay_out


def test_what_refers_stands_right_and_nothing_stands_on_another() -> None:
    schema = load_default()
    drawn = lay_out(schema)
    places = drawn.places
    assert set(places) == set(schema.objects)
    for name, info in schema.objects.items():
        for field in info.references:
            assert field.reference is not None
            assert places[field.reference.to][0] < places[name][0]
    taken = sorted(places.values())
    gaps = [b[1] - a[1] for a, b in pairwise(taken) if a[0] == b[0]]
    assert min(gaps) >= 0.999
    assert lay_out(schema) == drawn


def test_no_line_runs_behind_a_box() -> None:
    """Each line leads from the middle of one box to that of another, past all others; boxes are 0.7 rows high."""
    drawn = lay_out(load_default())
    assert {end for ends in drawn.ways for end in ends} <= set(drawn.places)
    for (first, last), way in drawn.ways.items():
        assert (way[0], way[-1]) == (drawn.places[first], drawn.places[last])
        assert [x for x, _ in way] == sorted(x for x, _ in way)
        for name in set(drawn.places) - {first, last}:
            (x, y), half = drawn.places[name], drawn.widths[name] / 2
            # Lines are straight from point to point: where neither end of a piece is near, neither is its middle.
            pieces = [(a, b) for a, b in pairwise(way) if a[0] < x + half and b[0] > x - half]
            assert all(min(abs(a[1] - y), abs(b[1] - y)) > 0.35 for a, b in pieces), (first, last, name)


def test_every_reference_is_a_line_and_every_object_can_be_clicked() -> None:
    schema = load_default()
    figure = draw_objects(schema, dict.fromkeys(schema.objects, 3), dark=False)
    declared, other, boxes = figure.data
    assert [sum(x is None for x in trace.x) for trace in (declared, other)] == [schema.size.references, 2]
    assert other.line.dash == "dot"
    assert [each[0] for each in boxes.customdata] == list(schema.objects)
    assert len(figure.layout.annotations) == len(schema.objects)
