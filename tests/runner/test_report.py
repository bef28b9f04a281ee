"""What a run took, by role: nothing twice, nothing left out, and unknown is not zero."""

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from cxlab import read
from cxlab.benchmarks.contract import Scored
from cxlab.read import View
from cxlab.records import Attempt, Failure, Message, Run, Usage, Vote
from cxlab.runner.display.runs import describe
from cxlab.runner.execute import find_unread, spending
from cxlab.runner.report import by_role, tally
from cxlab.runner.stored.replay import adopt
from cxlab.store import write
from cxlab.store.load import load_attempts
from cxlab.store.run_status import Status
from tests.store.store_records import NOON, make_dataset, make_run, make_samples, samples_by_id


def asked(prompt: int | None, calls: int = 1) -> Usage:
    return Usage(prompt_tokens=prompt, completion_tokens=None if prompt is None else 1, calls=calls)


def attempt(number: int, agent_usd: float | None = 1.0, customer_usd: float | None = 0.25) -> tuple[Attempt, Scored]:
    key = f"a{number}"
    said = (
        Message(role="customer", text="Hi", turn=1, usage=asked(5), latency_s=1.0, cost_usd=customer_usd),
        Message(role="agent", text="Yes", turn=1, usage=asked(9), latency_s=2.0, cost_usd=agent_usd),
        Message(role="tool", text="7", turn=1),
        Message(role="customer", text="Bye", turn=2, usage=asked(5), latency_s=1.0, cost_usd=0.25),
    )
    votes = (
        Vote(attempt_id=key, turn=1, judge="j1", valid=True, raw="", usage=asked(20), cost_usd=0.5),
        # Counted from the log, by no call.
        Vote(attempt_id=key, turn=1, judge="measured", valid=True, raw=""),
    )
    made = Attempt(
        id=key, run_id="r1", sample_id=f"s{number}", trial=1, messages=said, usage=asked(9), latency_s=2.0,
        cost_usd=agent_usd, started=NOON,
    )  # fmt: skip
    return made, Scored(votes=votes)


def store(home: Path, *items: tuple[Attempt, Scored]) -> Run:
    run = make_run()
    run = run.model_copy(update={"setup": {**run.setup, "customer": "simulated:customer"}})
    write.save_dataset(make_dataset(), make_samples(), home)
    write.create_run(run, home)
    with write.PartWriter(run, samples_by_id(), home=home) as writer:
        for made, scored in items:
            writer.add(made, scored)
    return run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def test_each_role_has_its_own_and_the_run_all_of_them(home: Path) -> None:
    run = store(home, attempt(0), attempt(1))
    assert by_role(run) == {
        "agent": {"cost_usd": 2.0, "tokens": 20},
        "customer": {"cost_usd": 1.0, "tokens": 24},
        "judge": {"cost_usd": 1.0, "tokens": 42},
    }
    total = tally(run.id)
    assert (total["done"], total["cost_usd"], total["known_usd"], total["tokens"]) == (2, 4.0, 4.0, 86)
    assert tally(run.id, {"s0"})["cost_usd"] == 2.0
    # The executor counts the same as it goes.
    assert sum(cost or 0.0 for item in (attempt(0), attempt(1)) for _, cost in spending(*item)) == 4.0


def test_an_unknown_part_makes_a_sum_unknown_and_a_budget_knows_the_rest(home: Path) -> None:
    run = store(home, attempt(0, customer_usd=None), attempt(1))
    assert {role: row["cost_usd"] for role, row in by_role(run).items()} == {
        "agent": 2.0, "customer": None, "judge": 1.0,
    }  # fmt: skip
    total = tally(run.id)
    assert (total["cost_usd"], total["known_usd"]) == (None, 3.75)


def test_tokens_that_were_not_reported_are_unknown(home: Path) -> None:
    made, scored = attempt(0)
    run = store(home, (made.model_copy(update={"usage": asked(None)}), scored))
    assert {role: row["tokens"] for role, row in by_role(run).items()} == {"agent": None, "customer": 12, "judge": 21}


def test_messages_come_back_with_what_they_took(home: Path) -> None:
    store(home, attempt(0))
    ((found, _),) = load_attempts("r1", home)
    assert found.messages == attempt(0)[0].messages


def test_what_is_taken_over_is_charged_once(home: Path) -> None:
    made = adopt(attempt(0)[0], "r2")
    assert [cost for _, cost in spending(made, Scored())] == [0.0, 0.0, 0.0]
    assert {usage.calls for usage, _ in spending(made, Scored())} == {0}
    assert made.messages[0].latency_s == 1.0
    assert made.messages[2].usage is None
    # What it took when it was made stays: that is what such an attempt takes.
    assert (made.cost_usd, made.usage.prompt_tokens, made.messages[0].cost_usd) == (1.0, 9, 0.25)
    taken = made.model_copy(update={"run_id": "r1"})
    run = store(home, (taken, Scored()), attempt(1))
    assert {role: row["cost_usd"] for role, row in by_role(run).items()} == {
        "agent": 1.0, "customer": 0.5, "judge": 0.5
    }  # fmt: skip
    assert by_role(run)["agent"]["tokens"] == 10
    assert (tally(run.id)["cost_usd"], tally(run.id)["tokens"]) == (2.0, 10 + 12 + 21)
    again = run.model_copy(update={"setup": {**run.setup, "rescored_from": "r0"}})
    assert set(by_role(again)) == {"judge"}


def test_what_was_answered_in_two_runs_is_listed_without_the_cost_of_one_of_them(home: Path) -> None:
    made, scored = attempt(0)
    # Of ten replies nine had been kept by the run whose fault is tried again.
    mixed = made.model_copy(update={"usage": Usage(prompt_tokens=9, completion_tokens=1, calls=1, cached_calls=9)})
    third = adopt(mixed, "r3")
    assert (third.usage.cached_calls, third.usage.elsewhere) == (10, True)
    taken = third.model_copy(update={"id": "a2", "run_id": "r1", "sample_id": "s2"})
    run = store(home, (mixed, scored), attempt(1), (taken, Scored()))
    assert tally(run.id)["cost_usd"] == 4.0, "this run paid its own part"
    listed = read.attempts(View(), order="oldest").frame
    told = dict(listed.select("sample_id", "cost_usd").iter_rows())
    assert told == {"s0": None, "s1": 1.0, "s2": None}
    assert listed["latency_s"].null_count() == 2


def test_parts_of_before_say_that_the_customers_share_is_unknown(home: Path) -> None:
    run = store(home, attempt(0))
    for path in home.glob("runs/r1/parts/*/messages.parquet"):
        pl.read_parquet(path).drop("calls", "cost_usd", "latency_s").write_parquet(path)
    assert by_role(run)["customer"] == {"cost_usd": None, "tokens": None}
    # There the agent's sum holds the customer's, so nothing is missing from the run's.
    assert tally(run.id)["cost_usd"] == 1.5
    ((found, _),) = load_attempts("r1", home)
    assert {message.usage for message in found.messages} == {None}
    assert json.loads(found.messages[0].model_dump_json()).keys() == {"role", "text", "turn", "tool_calls", "data"}


def test_only_what_could_not_be_read_is_told_as_unread() -> None:
    kinds = ("text_and_tool", "refused", "truncated")
    failures = [Failure(where="customer", type=kind, message=kind) for kind in kinds]
    failures.append(Failure(where="format", type="not_json", message="not_json"))
    one, scored = attempt(1)
    one = one.model_copy(update={"failures": tuple(failures)})
    assert find_unread(one, scored) == [("the agent", "not_json"), ("the customer", "truncated")]


def test_the_line_of_a_run_says_where_its_cost_is_not_known() -> None:
    told = Status("running", 4, done=2, cost_usd=None)
    assert describe(told) == "cost unknown"
    assert describe(replace(told, known_usd=0.5)) == "$0.5000 and an unknown rest"
    assert describe(replace(told, cost_usd=0.25)) == "$0.2500"
    assert describe(replace(told, cost_usd=0.0)) == describe(replace(told, done=0)) == ""
