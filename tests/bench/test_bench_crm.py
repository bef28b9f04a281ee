"""What the CRM benchmark measures is what it says, on a small organisation."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cxlab.bench import crm
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.errors import BadOption
from cxlab.records import Attempt, Message, ToolCall
from tests.benchmarks.crmarena.small_tasks import TODAY, make_samples, make_small_rows


@pytest.fixture(scope="module")
def small() -> Sandbox:
    return Sandbox.of_tables(to_tables(make_small_rows(), load_default()), compat="policy", today=TODAY)


def test_both_languages_find_the_same_and_hostile_queries_are_over_in_time(
    small: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    soql_ms, sql_ms = crm.time_pairs(small)
    assert soql_ms > sql_ms > 0
    assert len(crm.time_queries(small, [soql for soql, _ in crm._PAIRS])) == len(crm._PAIRS)
    assert crm.tell_hostile(small) == [True, True]
    assert "8 hostile queries" in capsys.readouterr().out


def test_another_number_of_records_is_an_error(small: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crm, "_PAIRS", (("SELECT Id FROM Case LIMIT 3", 'SELECT "Id" FROM "Case" LIMIT 2'),))
    with pytest.raises(RuntimeError, match="another number"):
        crm.time_pairs(small)


def test_answers_that_are_not_the_solvers_are_counted(small: Sandbox) -> None:
    samples = make_samples(small)
    assert crm.time_truth(small, samples)[1] == 0
    other = samples[0].model_copy(update={"expected": {**samples[0].expected, "answer": "nobody"}})
    assert crm.time_truth(small, [other, *samples[1:]])[1] == 1


def test_the_queries_are_those_that_agents_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def say(name: str, text: str) -> Message:
        call = ToolCall(id="c", name=name, arguments=json.dumps({"query": text}))
        return Message(role="agent", text="", turn=1, tool_calls=(call,))

    asked = (say("issue_soql_query", "a"), say("issue_sosl_query", "FIND"), say("issue_soql_query", "a"))
    attempt = Attempt(
        id="a", run_id="r", sample_id="s", trial=0, messages=asked, output={}, outcome="ok", ended_by="submit",
        started=datetime.now(UTC),
    )  # fmt: skip
    monkeypatch.setattr(crm, "load_attempts", lambda run, home: [(attempt, None)])
    assert crm.list_queries("r", Path()) == ["a"]


def test_too_small_an_organisation_is_refused() -> None:
    with pytest.raises(BadOption, match="20"):
        crm.main(["--cases", "5"])
