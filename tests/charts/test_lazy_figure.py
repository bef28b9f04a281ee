import copy
import json

import plotly.graph_objects as go
import pytest

from cxlab.charts.lazy_figure import LazyFigure
from cxlab.charts.theme import style_figure


def draw(figure: go.Figure) -> go.Figure:
    """All calls that the charts make, with what plotly changes on the way: titles as texts, None, nested changes."""
    figure.add_scatter(x=[1, None], y=[2, 3], name=None, marker={"size": 9, "color": None}, customdata=[["a"], ["b"]])
    figure.add_bar(x=[1.5], y=["one"], orientation="h", text=["1"])
    figure.add_heatmap(z=[[1, None]], colorscale=[[0, "#ffffff"], [1, "#000000"]])
    figure.add_sankey(node={"label": ["a", "b"]}, link={"source": [0], "target": [1], "value": [2]})
    figure.add_vline(x=0, line={"color": "#123456", "width": 1.5}, layer="below")
    figure.add_shape(type="rect", x0=0, x1=1, y0=0, y1=1, line={"color": "#000000"})
    figure.add_annotation(x=0, y=1, text="here", showarrow=False, font={"size": 10, "color": None})
    figure.update_xaxes(title="points", range=None, tickfont={"color": "#111111"})
    figure.update_yaxes(range=[0, 2], tickvals=[0, 1])
    figure.update_layout(legend={"traceorder": "normal"}, showlegend=True)
    style_figure(figure, False, height=300, values="y")
    figure.update_layout(margin={"r": 130}, legend={"x": 0.5})
    return figure


def sent(figure: go.Figure) -> object:
    return json.loads(figure.to_json())


def test_what_is_sent_is_what_plotly_would_send() -> None:
    assert sent(draw(LazyFigure())) == sent(draw(go.Figure()))


def test_looking_into_a_drawing_makes_the_checked_figure() -> None:
    drawing = draw(LazyFigure())
    before = sent(drawing)
    assert drawing.data[0].customdata == (["a"], ["b"])
    assert drawing.layout.xaxis.title.text == "points"
    assert sent(drawing) == before
    drawing.add_annotation(x=1, y=1, text="later")
    drawing.update_xaxes(title="more")
    assert [each.text for each in drawing.layout.annotations] == ["here", "later"]
    assert drawing.layout.xaxis.title.text == "more"


def test_a_wrong_property_is_found_by_looking() -> None:
    drawing = LazyFigure()
    drawing.add_scatter(x=[1], y=[1], markr={"size": 3})
    with pytest.raises(ValueError, match="markr"):
        _ = drawing.data


def test_drawings_do_not_share_what_they_hold() -> None:
    one, other = style_figure(LazyFigure(), False, height=100), style_figure(LazyFigure(), False, height=100)
    plain = sent(other)
    one.update_layout(template={"layout": {"margin": {"l": 99}}}, height=200)
    assert sent(other) == plain
    twin = copy.deepcopy(one)
    twin.update_layout(height=300)
    assert one.layout.height == 200
