"""Attempts read for people: each reply with what came of it, and where the stored verdict says it went wrong."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from cxlab import read
from cxlab.views.crm.board import queries
from cxlab.views.crm.traces.trace import read_departure, read_turns
from tests.conftest import use
from tests.stores.crm import CALLING, DATASET, HOSTILE, MISSPELT, PERIOD, REACT


@pytest.fixture(autouse=True)
def home(crm_run_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(crm_run_store, monkeypatch)


def test_replies_have_their_thought_query_rows_and_answer() -> None:
    whole = read.attempt(REACT, f"{REACT}-s-crm-2")
    first, second, third = read_turns(whole.messages)
    assert (first.number, first.thought, first.query) == (1, "I look at closed cases.", MISSPELT)
    assert (first.error, first.result, first.records) == ("INVALID_FIELD", None, None)
    assert "No such column 'Statis'" in str(first.seen)
    assert (second.thought, second.query, second.error) == (f"A slip {HOSTILE}", PERIOD, None)
    assert second.records == len(second.result) > 0
    assert set(second.result[0]) == {"Account", "ClosedDate", "CreatedDate"}
    assert (third.answer, third.query, third.seen) == ("TX", None, None)
    departure = read_departure(whole.attempt)
    assert departure is not None
    assert (departure.reason, departure.turn, departure.step) == ("window: another period", 2, "get_period")


def test_a_reply_without_an_action_and_calls_of_tools() -> None:
    lost, answered = read_turns(read.attempt(REACT, f"{REACT}-s-crm-3").messages)
    assert (lost.tool, lost.raw, lost.seen) == ("", "within 30 days", None)
    assert lost.reminder
    assert answered.answer == "within 30 days"
    called = read.attempt(CALLING, f"{CALLING}-s-crm-2")
    turns = read_turns(called.messages)
    assert [turn.tool for turn in turns] == ["get_period", "get_cases", "submit"]
    assert turns[0].arguments == {"period_name": "Q2", "year": 2020}
    assert turns[0].result == {"start_date": "2020-04-01T00:00:00Z", "end_date": "2020-07-01T00:00:00Z"}
    assert read_departure(called.attempt) is None


ANY = some.none() | some.text(max_size=20) | some.integers() | some.just('{"call": []}') | some.just("[1]")
MESSAGE = some.fixed_dictionaries(
    {"role": some.sampled_from(["agent", "tool", "system", "customer"]), "text": some.none() | some.text(max_size=20),
     "turn": some.none() | some.integers(0, 9), "tool_calls": ANY, "data": ANY}
)  # fmt: skip


@settings(max_examples=60)
@given(some.lists(MESSAGE, max_size=6))
def test_any_messages_are_as_many_replies_as_the_agent_has(messages: list[dict[str, object]]) -> None:
    assert len(read_turns(messages)) == sum(each["role"] == "agent" for each in messages)


def test_the_runs_of_a_dataset_and_their_attempts() -> None:
    runs = queries.runs(DATASET)
    assert runs["run_id"].to_list() == [CALLING, REACT]
    assert queries.runs("another").is_empty()
    assert queries.name_run(runs.row(1, named=True)) == "scripted · ReAct · 2026-11-21 09:00"
    found = queries.attempts((REACT, CALLING), "", "")
    assert found.select("number", "framework", "verdict", "answer").rows() == [
        (2, "Function calling", "passed", "NY"), (2, "ReAct", "failed", "TX"),
        (3, "Function calling", "passed", "within 30 days"), (3, "ReAct", "passed", "within 30 days"),
    ]  # fmt: skip
    assert queries.attempts((REACT,), "knowledge_qa", "failed").is_empty()
    assert found["turns"].to_list() == [3, 3, 2, 2]
    assert queries.attempts((REACT,), "", "failed")["reason"].to_list() == ["window: another period"]
