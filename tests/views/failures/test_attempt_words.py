"""What a dialogue's page says of a turn that nobody can be held to, of others' slips, and of figures that differ."""

import json
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

from cxlab.charts.names import name_id
from cxlab.read import StoredAttempt
from cxlab.records.benchmark_card import Search
from cxlab.records.metric_names import name_metric
from cxlab.views.benchmarks import declared, questions_of
from cxlab.views.failures.attempt_procedure import define_path, say_against
from cxlab.views.failures.attempt_procedure_words import define_fields, explain_trace, list_passing
from cxlab.views.failures.attempt_set import is_local, name_columns, say_samples, write_dialogues
from cxlab.views.failures.attempt_verdict import _list_took, _say_evidence


def trace(kind: str, said: str, panel: str, card: str, **more: Any) -> dict[str, Any]:
    """A turn on which one field is read by agent, panel and card."""
    read = {"predicted": said, "panel": panel, "gold": card}
    fields = {f"{who}_fields": json.dumps({"mood": value}) for who, value in read.items()}
    ways = {f"{who}_{name}": value for who in ("predicted", "own", "reference", "gold")
            for name, value in (("path", ["stage1"]), ("action", "go"))}  # fmt: skip
    return {"error": kind, "procedure": None, **fields, **ways, **more}


@pytest.mark.parametrize(
    ("kind", "said", "panel", "card", "words"),
    [
        ("panel", "calm", "angry", "calm",
         "The panel reads mood as angry; the customer's card holds calm, as the agent read it"),
        ("both_off", "angry", "angry", "calm",
         "The panel reads mood as angry, as the agent does; the customer's card holds calm"),
        ("account_off", "calm", "angry", "angry",
         "The agent read mood as calm, the panel and the customer's card say angry; by the customer's own account it "
         "had not said so by then"),
        ("account_off", "angry", "angry", "angry",
         "Agent, panel and card agree; by the customer's own account it had not said all of it by then"),
    ],
)  # fmt: skip
def test_a_disputed_turn_says_who_read_what(kind: str, said: str, panel: str, card: str, words: str) -> None:
    assert explain_trace(trace(kind, said, panel, card), None) == f"{words}, so the turn is not scored"


def test_an_action_is_called_right_by_whom_it_is() -> None:
    lucky = trace("lucky", "calm", "angry", "angry")
    assert explain_trace(lucky, None).endswith("; all the same the action is right")
    by_panel = trace("field", "calm", "angry", "sad")
    assert explain_trace(by_panel, None).endswith(
        "the panel calls the action right, by the customer's own account it is wrong"
    )
    wrong = trace("field", "calm", "angry", "angry", reference_action="stop")
    assert explain_trace(wrong, None) == "Read mood as calm; the panel says angry"


def test_all_misread_fields_are_named_not_one_alone() -> None:
    read = {"predicted": {"mood": "calm", "urge": "no", "size": "big"},
            "panel": {"mood": "angry", "urge": "yes", "size": "big"}}  # fmt: skip
    fields = {f"{who}_fields": json.dumps(values) for who, values in read.items()}
    assert explain_trace(trace("lucky", "", "", "", **fields), None) == (
        "Read mood as calm; the panel says angry; it misread urge (no, not yes), too; all the same the action is right"
    )
    left = trace("execution", "", "", "", **fields) | {"predicted_path": ["stage2"]}
    assert explain_trace(left, None).endswith(". It misread mood (calm, not angry), urge (no, not yes)")


def test_an_end_says_that_the_agent_had_handed_over() -> None:
    about, end = declared("mmtaup2"), {"ended_by": "customer_stop"}
    assert about.end_of({**end, "output": {"transferred": False}}) == about.end_of(end) == "the customer"
    handed = {**end, "output": {"transferred": True}}
    assert about.end_of(handed) == "the customer, after the agent had handed over to a person"
    assert declared("sage").end_of({"ended_by": None, "output": {"transferred": True}}) == "nothing noted"


def test_a_turn_off_its_path_says_how_a_path_is_counted() -> None:
    off = {"predicted_path": ["a", "b", "c"], "reference_path": ["a", "c"]}
    told = define_path("sage", off, {"path": 100.0, "path_fitness": 80.0})
    assert "stages too many" in told.partition("Path fitness: ")[0]
    assert "insertions" in told.partition("Path fitness: ")[2]
    assert define_path("sage", off, {}) == ""
    assert define_path("sage", off | {"reference_path": ["a", "b", "c"]}, {"path": 100.0}) == ""


def test_a_misread_field_is_defined_as_judges_were_asked_of_it() -> None:
    asked = questions_of("sage", {"scenario": "logistics_delivery"}, {})
    read = {"predicted": {"EmotionalState": "Dissatisfied", "RiskStatus": "Safe"},
            "panel": {"EmotionalState": "Calm", "RiskStatus": "Safe"}}  # fmt: skip
    fields = {f"{who}_fields": json.dumps(values) for who, values in read.items()}
    told, *more = define_fields(trace("field", "", "", "", **fields), asked)
    assert not more
    assert told.startswith("Emotional state: How the customer takes what has happened with the parcel. A sharp tone ")
    assert told.endswith("; dissatisfied: resents what has happened and says so.")
    assert define_fields(trace("field", "calm", "angry", "angry"), {}) == []


def test_unreadable_replies_that_decide_nothing_are_told_from_those_that_do() -> None:
    found = whole(
        failures=[{"where_": "format", "turn": turn, "type": "invalid", "message": "x"} for turn in (1, 3, 7)],
        traces=[{"turn": 7, "error": "format"}],
    )  # fmt: skip
    assert list_passing(found) == [1]  # 3 is where the verdict stands, 7 is evaluated
    assert list_passing(whole(failures=[{"where_": "format", "turn": 1, "type": "invalid", "message": "x"}])) == []


def whole(**frames: list[dict[str, Any]]) -> StoredAttempt:
    attempt = {"run_id": "r", "attempt_id": "a", "verdict": "failed", "verdict_turn": 3}
    schemas: dict[str, dict[str, Any]] = {
        "failures": {"where_": pl.String, "turn": pl.Int32, "type": pl.String, "message": pl.String},
        "traces": {"turn": pl.Int32, "error": pl.String},
        "votes": {"judge": pl.String, "turn": pl.Int32, "valid": pl.Boolean},
    }  # fmt: skip
    made = {name: pl.DataFrame(frames.get(name, []), schema=schema) for name, schema in schemas.items()}
    empty = pl.DataFrame()
    return StoredAttempt(attempt, {}, {}, empty, empty, made["votes"], empty, made["traces"], made["failures"], empty)


def test_what_others_did_wrong_is_told_beside_the_owner() -> None:
    assert _say_evidence(whole(), "agent") == "Nothing is stored against others."
    found = whole(
        failures=[{"where_": "provider"}, {"where_": "provider"}, {"where_": "format"}],
        traces=[{"turn": turn, "error": kind} for turn, kind in ((3, "field"), (5, "panel"), (10, "panel"))],
        votes=[{"judge": "simulated:judge-strict", "turn": 5, "valid": False},
               {"judge": "simulated:judge-fair", "turn": 5, "valid": True}],
    )  # fmt: skip
    assert _say_evidence(found, "agent") == (
        "Stored against others here: a provider 2 ×, panel off the truth (turn 5, 10), "
        "judge-strict without a usable verdict (turn 5)."
    )


def test_a_figure_and_a_verdict_that_differ_are_told_of() -> None:
    leading = ("told", "overall")
    assert say_against("failed", "agent", leading, {"told": 100.0, "overall": 91.0}).startswith("Failed with ")
    assert say_against("failed", "agent", leading, {"told": 96.0, "overall": 91.0}) == ""
    assert say_against("unscored", "judge", leading, {"told": 96.0}).startswith("No verdict was possible")
    assert say_against("unscored", "judge", leading, {}) == ""
    assert say_against("passed", "", leading, {"told": 100.0}) == ""


def test_a_file_for_people_has_the_pages_names_and_no_empty_columns() -> None:
    frame = pl.DataFrame({"attempt_id": ["a"], "told": [96.0], "note": [None], "overall": [91.0]})
    assert name_columns(frame, ("told", "overall")).columns == [
        "attempt_id",
        "decidable score",
        "paper's overall score",
    ]
    clash = pl.DataFrame({"turns": [4], "turns_scored": [5.0]})
    assert name_columns(clash, ("turns",)).columns == ["turns", "turns_scored"]


def test_a_file_for_people_has_what_was_said() -> None:
    said = [{"turn": 1, "role": "customer", "text": "Hello"}, {"turn": 1, "role": "agent", "text": "Hi\n"},
            {"turn": 2, "role": "tool", "text": None}]  # fmt: skip
    frame = pl.DataFrame({"attempt_id": ["a", "b", "c"], "messages": [said, [], None]})
    found = write_dialogues(frame)
    assert found["dialogue"].to_list() == ["customer: Hello\nagent: Hi\ntool: ", None, None]
    assert "messages" not in found.columns


@pytest.mark.parametrize(
    ("samples", "attempts", "words"),
    [(4, 4, "4 samples"), (1, 1, "1 sample"),
     (4, 20, "4 samples: the 20 dialogues are tries at the same ones, 5 of each"),
     (1, 5, "1 sample: the 5 dialogues are tries at it"),
     (4, 7, "4 samples: the 7 dialogues are tries at the same ones")],
)  # fmt: skip
def test_a_dataset_of_fewer_samples_than_attempts_says_why(samples: int, attempts: int, words: str) -> None:
    assert say_samples(samples, attempts, "dialogues") == words


@pytest.mark.parametrize(
    ("address", "local"),
    [("http://127.0.0.1:8501/failures?a=b", True), ("http://localhost:8501/", True), ("http://[::1]:8501/", True),
     ("http://cx.example.org/failures", False), ("", False)],
)  # fmt: skip
def test_an_address_that_nobody_else_reaches_is_known(address: str, local: bool) -> None:
    assert is_local(address) is local


def test_what_is_ranked_stands_there_with_its_title() -> None:
    search = Search(corpus="articles", relevant="article_ids")
    output = {"ranked": ["KB_1", "KB_2"], "scores": [2.0, 1.0]}

    def page(search, output):  # type: ignore[no-untyped-def]  # its source runs alone, without imports
        from cxlab.views.failures.attempt_answer import _draw_ranking

        _draw_ranking(search, {"article_ids": ["KB_2", "KB_9"]}, output, {"KB_1": "Where we sail", "KB_9": "Cabins"})

    at = AppTest.from_function(page, args=(search, output), default_timeout=60).run()
    assert not at.exception
    table = at.get("html")[0].proto.body
    assert "Where we sail (KB_1)" in table
    assert ">KB_2<" in table
    assert "Cabins (KB_9)" in table


def test_a_reply_that_could_not_be_read_is_shown_as_it_came() -> None:
    def page() -> None:
        from cxlab.records.conversation import UNREADABLE
        from cxlab.ui.transcript import transcript

        rows = [("agent", UNREADABLE, '{"raw": "I think <b>so</b>"}'), ("agent", "", '{"raw": "nothing"}'),
                ("agent", "Hello", '{"raw": "{}"}')]  # fmt: skip
        transcript([{"role": role, "text": text, "turn": turn, "data": data}
                    for turn, (role, text, data) in enumerate(rows, 1)])  # fmt: skip

    at = AppTest.from_function(page, default_timeout=60).run()
    assert not at.exception
    came = [each.value for each in at.caption if "What came" in each.value]
    assert len(came) == 2
    assert "<b>" not in came[0]
    assert "so" in came[0]
    assert came[1].endswith("nothing")


def test_an_unreadable_reply_says_once_why_nothing_is_scored() -> None:
    unread = trace("format", {}, {}, {})
    assert explain_trace(unread, None, "the reply was empty") == "The reply was empty, so nothing is scored"
    assert explain_trace(unread, None) == "Nothing is scored"


def test_a_grade_has_one_name_in_a_dialogue_and_where_models_are_compared() -> None:
    assert name_id("anthropomorphism_emotion") == name_metric("anthropomorphism_emotion") == "human manner and emotion"


@pytest.mark.parametrize(
    ("calls", "kept", "tokens", "words"),
    [
        (12, 0, 900, ["4.0 s", "900 tokens", "$0.0200"]),
        (0, 12, 900, ["4.0 s", "900 tokens", "$0.0200"]),
        (3, 9, 200, ["4.0 s", "200 tokens", "$0.0200",
                     "without the 9 replies that were kept from before, which an earlier try paid"]),
        (0, 12, 0, ["time, tokens and cost unknown: its 12 replies were kept from before"]),
    ],
)  # fmt: skip
def test_figures_of_a_part_of_an_attempt_are_told_as_of_a_part(
    calls: int, kept: int, tokens: int, words: list[str]
) -> None:
    took = {"latency_s": 4.0, "cost_usd": 0.02, "prompt_tokens": tokens, "completion_tokens": 0}
    assert _list_took({**took, "calls": calls, "cached_calls": kept, "simulated": False}) == words
