"""The map of objects: what refers stands right of what it refers to, and every reference is a line."""

from itertools import pairwise

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.views.crm.charts import draw_objects, lay_out


def test_what_refers_stands_right_and_nothing_stands_on_another() -> None:
    schema = load_default()
    places = lay_out(schema)
    assert list(places) != []
    assert set(places) == set(schema.objects)
    for name, info in schema.objects.items():
        for field in info.references:
            assert field.reference is not None
            assert places[field.reference.to][0] < places[name][0]
    taken = sorted(places.values())
    gaps = [b[1] - a[1] for a, b in pairwise(taken) if a[0] == b[0]]
    assert min(gaps) >= 1
    assert lay_out(schema) == places


def test_every_reference_is_a_line_and_every_object_can_be_clicked() -> None:
    schema = load_default()
    figure = draw_objects(schema, dict.fromkeys(schema.objects, 3), dark=False)
    declared, other, boxes = figure.data
    assert [sum(x is None for x in trace.x) for trace in (declared, other)] == [schema.size.references, 2]
    assert other.line.dash == "dot"
    assert [each[0] for each in boxes.customdata] == list(schema.objects)
    assert len(figure.layout.annotations) == len(schema.objects)
