"""Charts of failures and judges: what can be clicked carries its key, text from outside stays text."""

import polars as pl
import pytest

from cxlab.charts.failure_names import describe_group
from cxlab.charts.matrix import draw_confusion, draw_matrix, name_item, name_judge
from cxlab.charts.theme import mark_models
from cxlab.views.benchmarks import declared
from cxlab.views.failures.charts import draw_groups
from cxlab.views.judges import charts as draw
from cxlab.views.judges.slices import Slices

GROUP = {
    "alike": "abc",
    "scenario": "ecommerce_refund",
    "kind": "field",
    "stage": "stage3",
    "took": "Exchange",
    "due": "Refund",
    "field": "CoreIntention",
    "given": "Exchange",
    "wanted": "ReturnOrRefund",
    "detail": None,
    "n": 5,
    "attempts": 4,
    "models": ["simulated:weak"],
    "levels": ["zero"],
    "share": 0.5,
    "of": 10,
    "of_attempts": 8,
    "groups": 2,
    "level": 1,
    "owner": "agent",
}
EVIL = "<img src=x>$a$"


@pytest.mark.parametrize(
    ("changes", "what", "where"),
    [
        (
            {},
            "Read core intention as exchange, it was return or refund",
            "at “Where the parcel is”: leads to the action “exchange”, not the action “refund”",
        ),
        ({"given": "Inqury", "wanted": "true"}, "Read core intention as inquiry, it was yes", ""),
        (
            {"kind": "action", "took": "PLAN_C", "due": "TransHuman"},
            "Went to plan C, due was hand-over to a person",
            "",
        ),
        (
            {"scenario": "online_education", "kind": "action", "took": "PLAN_F", "due": "PLAN_E"},
            "Handed out plan “other matter, written instructions with links”, due was plan “other matter, joint",
            "",
        ),
        (
            {"scenario": "online_education", "took": "PLAN_F", "due": "GUIDE"},
            "Read",
            "leads to the plan “other matter, written instructions with links”, not the action “",
        ),
        ({"kind": "lucky"}, "Read core intention", "right by luck"),
        (
            {"kind": "execution", "took": "stage5", "due": "stage4"},
            "Went to “Whose doing it is”, due was “Standing of the account”",
            "after “Where the parcel is”",
        ),
        (
            {"kind": "execution", "took": None, "due": "stage4"},
            "Stopped, due was “Standing of the account”",
            "after “Where the parcel is”",
        ),
        (
            {"kind": "execution", "took": "stage5", "due": None},
            "Went to “Whose doing it is”, the path was over",
            "",
        ),
        ({"kind": "action", "due": "Interception"}, "Handed out exchange, due was interception", "Where the parcel is"),
        (
            {"kind": "format", "detail": "not_json"},
            "Unreadable reply: the reply held no JSON object that can be read",
            "Ecommerce refund",
        ),
        ({"kind": "format", "detail": "invalid fields.Core"}, "Unreadable reply: core missing", ""),
        ({"kind": "provider", "detail": "rate_limit", "scenario": None}, "Provider fault: rate limit", "Any scenario"),
    ],
)
def test_a_group_says_what_happened(changes: dict, what: str, where: str) -> None:
    said = describe_group({**GROUP, **changes})
    assert said[0].startswith(what)
    assert where in said[1]


def test_bars_of_groups_carry_their_key_and_escape_what_models_wrote() -> None:
    rows = pl.DataFrame([GROUP, {**GROUP, "alike": "def", "given": EVIL, "n": 3}])
    figure = draw_groups(rows, False, {}, ("dialogue", "dialogues"))
    row, bar, words = figure.data
    assert row.customdata == bar.customdata == words.customdata == (["def"], ["abc"])
    assert bar.x == (4, 4)
    assert bar.text[1].startswith("5 failures in 4 dialogues · ")
    assert "the\u00a0agent's\u00a0doing" in words.text[1]
    # All of a row can be clicked: from its bar up to its words, as wide as the chart, and no row into the next.
    assert set(row.x) == {figure.layout.xaxis.range[1]}
    assert all(place - row.width / 2 < at < place + row.width / 2 for place, at in zip(row.y, words.y, strict=True))
    assert row.y[1] - row.y[0] > row.width
    shown = str(figure.to_json())
    assert "<img" not in shown.replace("\\u003c", "<")
    assert "&lt;img src=x&gt;&#36;a&#36;" in shown.replace("\\u0026", "&").replace("\\u003c", "<")


def test_cells_of_a_matrix_can_be_clicked_where_there_is_something() -> None:
    figure = draw_matrix(
        ["a", EVIL],
        ["x", "y"],
        [[0.1, None], [0.5, 1.0]],
        [["1", ""], ["5", "10"]],
        [["h"] * 2] * 2,
        [[["a", "x"], None], [["b", "x"], ["b", "y"]]],
        False,
        low=0,
        high=1,
    )
    assert list(figure.data[2].customdata) == [["a", "x"], ["b", "x"], ["b", "y"]]
    assert figure.data[1].text == ("1", "5", "10")
    assert "&lt;img" in figure.layout.yaxis.ticktext[1]
    assert figure.layout.yaxis.range == (1.5, -0.5)


def test_agreement_is_symmetric_and_says_nothing_of_a_judge_with_itself() -> None:
    summary = pl.DataFrame({"a": ["j1"], "b": ["j2"], "n": [4], "agree": [0.75], "kappa": [0.5], "fields": [1]})
    figure = draw.draw_agreement(summary, ["j1", "j2"], "kappa", dark=True)
    assert figure.data[1].text == ("–", "0.500", "0.500", "–")
    assert [key for key in figure.data[2].customdata if key] == [["j1", "j2"], ["j1", "j2"]]


def test_items_put_the_least_agreed_on_top() -> None:
    pairs = pl.DataFrame(
        {
            "kind": ["field"] * 2,
            "name": ["s.Good", "s.Bad"],
            "a": ["j1"] * 2,
            "b": ["j2"] * 2,
            "n": [9, 9],
            "agree": [0.9, 0.4],
            "kappa": [0.8, None],
        }
    )
    figure = draw.draw_items(pairs, "agree", dark=False)
    assert figure.data[2].customdata[0] == ["s.Bad", "j1", "j2"]
    assert figure.layout.yaxis.ticktext[0].startswith("bad · s")
    assert "" not in draw.draw_items(pairs, "kappa", dark=False).data[1].text


def test_confusion_colours_by_row() -> None:
    figure = draw_confusion(["A", "B"], [[3, 1], [0, 0]], "across", "down", dark=False, key="f")
    assert [list(line) for line in figure.data[0].z] == [[0.75, 0.25], [0.0, 0.0]]
    assert figure.data[2].customdata[1] == ["f", "A", "B"]


def test_means_have_whiskers_and_say_n() -> None:
    frame = pl.DataFrame(
        {
            "judge": ["j1", "j2"],
            "mean": [0.2, 0.5],
            "low": [0.1, None],
            "high": [0.4, None],
            "n": [5, 6],
            "clusters": [2, 1],
        }
    )
    figure = draw.draw_means(frame, "judge", {}, False, unit="share", title="share")
    trace = figure.data[0]
    assert list(trace.x) == [50.0, 20.0]
    assert list(trace.error_x.array) == pytest.approx([0.0, 20.0])
    assert "n 5, 2 clusters" in trace.hovertext[1]


def test_ranks_draw_one_line_a_model_in_its_colour() -> None:
    ranks = pl.DataFrame(
        {
            "judge": ["panel", "panel", "j1", "j1"],
            "model": ["a", "b", "a", "b"],
            "rank": [1.0, 2.0, 2.0, 1.0],
            "mean": [9.0, 8.0, 7.0, 8.0],
        }
    )
    marks = mark_models(["b", "a"])
    figure = draw.draw_ranks(ranks, marks, dark=False)
    assert [trace.line.color for trace in figure.data] == [marks["a"].colour, marks["b"].colour]
    assert list(figure.data[0].y) == [1.0, 2.0]
    assert list(figure.data[0].x) == ["the panel", "j1 alone"]


def test_splits_add_up_and_reliability_shows_both_measures() -> None:
    splits = pl.DataFrame(
        {"kind": ["field"] * 2, "name": ["s.A"] * 2, "split": ["unanimous", "tie"], "n": [3, 1], "share": [0.75, 0.25]}
    )
    figure = draw.draw_splits(splits, dark=False)
    assert sum(trace.x[0] for trace in figure.data) == 100
    rows = pl.DataFrame(
        {"slice": ["a"], "n": [4], "agree": [0.9], "unanimous": [0.8], "fleiss": [None], "alpha": [-0.1]},
        schema_overrides={"fleiss": pl.Float64},
    )
    figure = draw.draw_reliability(rows, {"a": "A"}, dark=False)
    assert [trace.name for trace in figure.data] == ["agreement", "alpha"]
    assert figure.layout.xaxis.range[0] == -0.1


def test_names() -> None:
    assert name_judge("simulated:judge-strict") == "strict"
    assert name_judge("openai:gpt-4.1") == "openai:gpt-4.1"
    assert name_item("airline_refund.CoreDemand") == "core demand · airline refund"
    assert name_item("content_utility") == "content utility"


def test_tools_in_reasons_and_places_are_named_in_words() -> None:
    row = {"kind": "answer", "scenario": "serve", "scenarios": 1, "detail": "not done: find_user_id_by_email",
           "tool": "get_order_details", "stage": None, "took": None, "due": None, "field": None}  # fmt: skip
    what, where = describe_group(row)
    assert what == "Not done: “find user id by email”"
    assert where == "Serve · tool “get order details”"


def test_agreement_is_sliced_where_a_facet_is_not_known_of_some_attempts() -> None:
    slices = Slices(("corpus",), {"corpus": "Corpus"}, declared("cxmarena"))
    assert slices.name("corpus", None) == "not known"
    frame = pl.DataFrame({"slice": ["a_b", None], "agree": [0.9, 0.8], "unanimous": [0.8, 0.7], "fleiss": [0.5, 0.4],
                          "alpha": [0.5, 0.4], "n": [10, 20]})  # fmt: skip
    names = {value: slices.name("corpus", value) for value in frame["slice"]}
    figure = draw.draw_reliability(frame, names, False)
    assert any("not known" in str(label) for label in figure.data[0].y)
