"""Where wrong answers left the way, beside what a person said of the same traces."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from cxlab.benchmarks.crmarena.evaluation.causes import Cause
from cxlab.benchmarks.crmarena.evaluation.evidence import Window, read_call
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.records import Sample, Verdict
from tests.benchmarks.crmarena.crm_play import Scripted, play, verdict_of

TRACES = yaml.safe_load(Path(__file__).with_name("traces.yaml").read_text())


class Replying(Scripted):
    """Gives the replies of a trace; $N in a call's arguments is what reply N was answered."""

    async def complete(self, request: Any) -> Any:
        reply = self.replies[min(len(self.requests), len(self.replies) - 1)]
        if isinstance(reply, dict):
            answers = {message.turn: message.text for message in request.inputs.history if message.role == "tool"}
            ((name, given),) = reply.items()
            arguments = {
                key: json.loads(answers[int(value[1:])]) if isinstance(value, str) and value.startswith("$") else value
                for key, value in given.items()
            }
            self.replies[len(self.requests)] = (name, json.dumps(arguments))
        return await super().complete(request)


@pytest.fixture(scope="module")
def judged(small_store: tuple[Path, list[Sample]]) -> Iterator[list[tuple[dict[str, Any], Sample, Verdict]]]:
    home, samples = small_store
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        found = []
        for trace in TRACES:
            sample = samples[trace["question"]]
            attempt = play(sample, Replying(list(trace["replies"])), {"framework": trace["framework"]})
            found.append((trace, sample, verdict_of(sample, attempt)))
        yield found


def test_causes_are_those_that_a_person_named(judged: list[tuple[dict[str, Any], Sample, Verdict]]) -> None:
    assert len(judged) >= 40
    named = Counter(trace["cause"] for trace, _, _ in judged)
    assert set(named) == set(get_args(Cause))
    assert {sample.task for _, sample, _ in judged} == set(TASKS)
    wrong = [
        f"{n} (question {trace['question']}): {trace['cause']}@{trace.get('turn')}, not {verdict.reason}@{verdict.turn}"
        for n, (trace, _, verdict) in enumerate(judged)
        if verdict.field != trace["cause"]
        or trace.get("turn") not in (None, verdict.turn)
        or trace.get("reason") not in (None, verdict.reason.partition(": ")[2])
    ]
    assert wrong == []


def test_each_verdict_says_what_failures_need(judged: list[tuple[dict[str, Any], Sample, Verdict]]) -> None:
    for _, _, verdict in judged:
        assert (verdict.value, verdict.owner) == ("failed", "agent")
        assert verdict.reason.partition(":")[0] == verdict.field


SPRING = ("2020-03-01T00:00:00+00:00", "2020-06-01T00:00:00+00:00")


@pytest.mark.parametrize(
    ("condition", "bounds"),
    [
        ("CreatedDate >= 2020-03-01T00:00:00Z AND CreatedDate < 2020-06-01T00:00:00Z", SPRING),
        ("CreatedDate >= 2020-03-01T00:00:00Z AND CreatedDate <= 2020-05-31T23:59:59Z", SPRING),
        ("CreatedDate > 2020-02-29T23:59:59Z AND CreatedDate < 2020-06-01T00:00:00Z", SPRING),
        ("CALENDAR_YEAR(CreatedDate) = 2020 AND CALENDAR_QUARTER(CreatedDate) = 2", None),
        ("CALENDAR_YEAR(CreatedDate) = 2020 AND CALENDAR_MONTH(CreatedDate) = 3", None),
        ("(CreatedDate >= 2020-03-01T00:00:00Z AND CreatedDate < 2020-09-01T00:00:00Z)", None),
        ("CreatedDate = LAST_QUARTER", SPRING),
        ("NOT (Status = 'New') AND CreatedDate = LAST_QUARTER", SPRING),
    ],
)
def test_windows_are_read_from_queries(condition: str, bounds: tuple[str, str] | None) -> None:
    # Seen from a summer whose last quarter begins a month later, so that the relative one differs.
    today = date(2020, 7, 1)
    asked = read_call("issue_soql_query", {"query": f"SELECT Id FROM Case WHERE {condition}"}, today)
    assert asked.window is not None
    due = Window(*(datetime.fromisoformat(each) for each in SPRING))
    relative = "LAST_QUARTER" in condition
    assert asked.window.differs(due) == (bounds is None or relative)
    assert asked.objects == {"Case"}


def test_a_call_and_its_query_ask_for_the_same() -> None:
    today = date(2021, 1, 1)
    start, end = "2020-03-01T00:00:00Z", "2020-06-01T00:00:00Z"
    called = read_call("get_cases", {"start_date": start, "end_date": end, "statuses": ["Closed"]}, today)
    within = f"CreatedDate >= {start} AND CreatedDate < {end}"
    query = f"SELECT OwnerId, ClosedDate FROM Case WHERE Status = 'Closed' AND {within}"
    asked = read_call("issue_soql_query", {"query": query}, today)
    assert (called.objects, called.window) == (asked.objects, asked.window)
    assert called.names("Closed")
    assert asked.names("Closed")
    inner = "SELECT Id FROM Case WHERE OrderItemId__c IN (SELECT Id FROM OrderItem WHERE Product2Id = '01t')"
    nested = read_call("issue_soql_query", {"query": inner}, today)
    assert nested.objects == {"Case", "OrderItem"}
    assert nested.names("01t")
    assert read_call("issue_soql_query", {"query": "no query"}, today).objects == frozenset()
