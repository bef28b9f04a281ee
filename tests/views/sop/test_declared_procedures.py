"""The page SOP paths and an attempt's turns show the classes that a benchmark declares, whatever they are called."""

import polars as pl
import pytest

from cxlab.charts.theme import plain
from cxlab.read import failure_kinds, procedures
from cxlab.records import procedure
from cxlab.records.procedure import Edge, Procedure, Procedures
from cxlab.views.failures.attempt_procedure_words import explain_trace
from cxlab.views.sop import charts

POLICY = Procedure("policy", "Policy", {"greet": "Greet"}, ("Done",), (Edge("greet", "Done", True, ()),))
TOY = Procedures(
    facet="policy",
    ids=lambda: ("policy",),
    load=lambda id: POLICY,
    misread={"misheard": "misheard"},
    deviations={"strayed": "strayed from the policy"},
    others={"broken": "the tool broke"},
    meanings={"misheard": "took one thing for another"},
    told_apart="By the log.",
    turn_scores=("kept",),
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procedure.DECLARED, "sources", [lambda: [("toy", TOY)]])


def test_classes_come_from_the_declaration(toy: None) -> None:
    found = failure_kinds.classes("toy")
    assert list(found) == ["none", "misheard", "strayed", "broken", "format", "unscored"]
    assert found["misheard"] == ("misheard", "took one thing for another")
    assert failure_kinds.told_apart("toy") == "By the log."
    assert (failure_kinds.classes("nobody"), failure_kinds.told_apart("nobody")) == ({}, "")
    known = procedures.of("toy")
    assert known is not None
    assert known.turn_scores == ("kept",)


def test_the_chart_draws_declared_classes_and_any_other_that_is_stored(toy: None) -> None:
    row = {"model": "m", "n": 1, "of": 4, "clusters": 2, "share": 0.25, "low": 0.1, "high": 0.4}
    frame = pl.DataFrame([{**row, "error": kind} for kind in ("none", "strayed", "older <b>")])
    figure = charts.draw_errors(frame, failure_kinds.classes("toy"), {}, False)
    assert figure.layout.yaxis.ticktext == ("followed the procedure", "strayed from the policy", plain("older <b>"))


TRACE = {
    "procedure": "policy", "predicted_fields": '{"Mood": "calm"}', "panel_fields": '{"Mood": "angry"}',
    "own_path": ["greet"], "reference_path": ["greet"], "predicted_path": ["greet"],
    "own_action": "Done", "predicted_action": "Done", "reference_action": "Done",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"error": "misheard", "predicted_action": "Wait"}, "Read mood as calm; the panel says angry"),
        ({"error": "misheard"}, "Read mood as calm; the panel says angry; all the same the action is right"),
        ({"error": "strayed", "predicted_action": "Wait"}, "Right path, wrong action: gave wait, due was done"),
        (
            {"error": "strayed", "predicted_path": []},
            "Went to done after the start, due was “Greet”. It misread mood (calm, not angry)",
        ),
        ({"error": "broken"}, "the tool broke"),
        ({"error": "none"}, "Followed the procedure; misread mood, which did not matter"),
    ],
)  # fmt: skip
def test_a_turn_is_explained_by_the_kind_of_its_class(toy: None, changes: dict[str, object], words: str) -> None:
    assert explain_trace({**TRACE, **changes}, None) == words
