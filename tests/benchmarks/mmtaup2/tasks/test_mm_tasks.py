"""Telecom tasks: those of tau2-bench replay on our world, and so do ours; what is marked, and what is not taken."""

import json
import os
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.tasks import (
    CustomerKnowledge,
    GoldAction,
    Task,
    begin,
    evaluate,
    make,
    replay_gold,
    same,
    telecom_tasks,
)
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import BadOption, UnknownName

TAU2 = Path(os.environ.get("CXLAB_TAU2") or Path(__file__).parents[5] / "shared" / "data" / "tau2-bench") / "telecom"
SIDES: dict[str, Any] = {"assistant": "agent", "user": "customer"}
needs_tau2 = pytest.mark.skipif(not (TAU2 / "tasks.json").exists(), reason=f"tau2-bench's telecom is not at {TAU2}")


@pytest.fixture(scope="module")
def tau2_world() -> World:
    databases = [tomllib.loads((TAU2 / name).read_text()) for name in ("db.toml", "user_db.toml")]
    return worlds.from_data("telecom", *databases)


@pytest.fixture(scope="module")
def tau2_tasks() -> list[Task]:
    rows = json.loads((TAU2 / "tasks.json").read_text())
    base = set(json.loads((TAU2 / "split_tasks.json").read_text())["base"])
    return [as_task(row) for row in rows if row["id"] in base]


def as_task(row: dict[str, Any]) -> Task:
    """Only what replaying needs; the importer has the rest."""
    wanted = row["evaluation_criteria"]
    gold = tuple(
        GoldAction(
            side=SIDES[action["requestor"]],
            tool=action["name"],
            arguments=action["arguments"],
            compare=None if action["compare_args"] is None else tuple(action["compare_args"]),
        )
        for action in wanted["actions"] or []
    )
    return Task(
        id=row["id"],
        domain="telecom",
        issues=tuple(row["id"].split("]")[1].split("[")[0].split("|")),
        known=CustomerKnowledge(reason=""),
        prepare=tuple(row["initial_state"]["initialization_actions"]),
        gold=gold,
        assertions=tuple(wanted["env_assertions"] or []),
        reward_basis=tuple(wanted["reward_basis"]),
        optimal_turns=1,
        critical_fields={},
        irreversible=(),
        transfer_right=any(action.tool == "transfer_to_human_agents" for action in gold),
        source="tau2",
    )


def play(task: Task, actions: list[tuple[str, str, dict[str, Any]]], world: World | None = None) -> dict[str, Any]:
    end = begin(task, world)
    for side, tool, arguments in actions:
        end.call(side, tool, arguments)
    return evaluate(task, end, end.log, [])


HAND_OVER: list[tuple[str, str, dict[str, Any]]] = [("agent", "transfer_to_human_agents", {"summary": "?"})]


@needs_tau2
def test_all_114_tasks_of_tau2_replay(tau2_tasks: list[Task], tau2_world: World) -> None:
    """Every environment assertion, action and database check; the database holds because both sides stay in step."""
    untouched = tau2_world.state_hash()
    assert len(tau2_tasks) == 114
    for task in tau2_tasks:
        marks = replay_gold(task, tau2_world)
        parts = {part: marks[part] for part in ("reward", "db", "actions", "env_assertions", "bystanders")}
        assert set(parts.values()) == {1.0}, (task.id, marks)
    assert tau2_world.state_hash() == untouched


@needs_tau2
def test_trivial_agents_earn_on_our_world_what_they_earn_on_theirs(tau2_tasks: list[Task], tau2_world: World) -> None:
    """Measured on the original: always handing over passes 20 of 114, doing nothing none."""
    assert sum(play(task, HAND_OVER, tau2_world)["reward"] for task in tau2_tasks) == 20
    assert sum(play(task, [], tau2_world)["reward"] for task in tau2_tasks) == 0


@needs_tau2
def test_our_issues_do_what_tau2s_do(tau2_tasks: list[Task], tau2_world: World) -> None:
    """The same combination: the same functions to bring it about, the same gold tools, but for whose line it is."""
    combinations = set(telecom_tasks.combinations())
    for task in tau2_tasks:
        family = task.id[1:].split("_issue]")[0]
        assert (family, task.issues) in combinations
    theirs = {task.id.split("[PERSONA")[0]: task for task in tau2_tasks}
    compared = 0
    for own in make("telecom", seed=3, count=40):
        if own.id in theirs:
            compared += 1
            task = theirs[own.id]
            names = [Counter(step["func_name"] for step in each.prepare) for each in (own, task)]
            for each in names:
                del each["simulate_network_search"]  # theirs also search where nothing comes of it
            assert names[0] == names[1], own.id
            assert Counter(step.tool for step in own.gold) == Counter(step.tool for step in task.gold), own.id
            assert {each["func_name"] for each in own.assertions} == {each["func_name"] for each in task.assertions}
    assert compared == 40  # the paper's forty are among tau2's


def test_every_combination_replays_and_none_is_solved_by_doing_nothing() -> None:
    tasks = make("telecom", seed=1, count=160)
    assert len({task.id for task in tasks}) == 160
    for task in tasks:
        marks = replay_gold(task)
        assert [marks[part] for part in ("reward", "db", "actions", "env_assertions")] == [1.0] * 4, task.id
        assert play(task, [])["reward"] == 0.0, task.id
        assert play(task, HAND_OVER)["reward"] == float(task.transfer_right), task.id


def test_the_first_forty_are_the_papers() -> None:
    tasks = make("telecom", seed=2, count=40)
    families = Counter(task.id.split("]")[0] for task in tasks)
    assert families == {"[mms_issue": 16, "[mobile_data_issue": 9, "[service_issue": 15}
    assert sum(task.transfer_right for task in tasks) == 12
    assert len({task.known.facts["phone_number"] for task in tasks}) == 40
    assert tasks == make("telecom", seed=2, count=40)
    assert tasks[:7] == make("telecom", seed=2, count=7)
    assert Counter(task.id[:5] for task in tasks[:10]) == {"[mms_": 4, "[mobi": 2, "[serv": 4}
    assert {task.id for task in make("telecom", seed=9, count=40)} == {task.id for task in tasks}
    assert Task.model_validate_json(tasks[0].model_dump_json()) == tasks[0]


def test_no_gold_action_is_idle() -> None:
    """Leave out one that occurs once, and the task is not done: so the gold actions are as few as they can be.

    But for a restart after a resumed line, where something later makes the phone look for a network as well.
    """
    for task in make("telecom", seed=4, count=40):
        often = Counter(action.tool for action in task.gold)
        for left_out, action in enumerate(task.gold):
            searched_anyway = action.tool == "reboot_device" and "unseat_sim_card" in task.issues
            if often[action.tool] == 1 and not searched_anyway:
                rest = [(a.side, a.tool, a.arguments) for n, a in enumerate(task.gold) if n != left_out]
                assert play(task, rest)["reward"] == 0.0, (task.id, action.tool)


def test_a_task_knows_what_it_hangs_on() -> None:
    """Turns: who it is, a look, each thing to do, a question before money moves, a last word if the agent acts last."""
    task = telecom_tasks.compose("service", ["overdue_bill_suspension", "unseat_sim_card"], seed=1)
    assert [action.tool for action in task.gold] == [
        "send_payment_request", "make_payment", "resume_line", "reboot_device", "reseat_sim_card",
    ]  # fmt: skip
    assert task.irreversible == ("send_payment_request",)
    assert set(task.critical_fields) == {"phone_number", "customer_id", "bill_id", "line_id"}
    assert task.optimal_turns == 1 + 1 + 3 + 1
    assert not task.transfer_right
    locked = telecom_tasks.compose("service", ["lock_sim_card_pin", "airplane_mode_on"], seed=1)
    assert locked.transfer_right
    assert locked.optimal_turns == 1 + 1 + 1
    in_the_records = telecom_tasks.compose("mobile_data", ["data_usage_exceeded"], seed=1)
    assert in_the_records.optimal_turns == 1 + 1 + 1
    ended = telecom_tasks.compose("service", ["contract_end_suspension", "lock_sim_card_pin"], seed=1)
    assert ended.optimal_turns == 1 + 1
    assert not {"lock_sim_card_pin", "airplane_mode_on"} & set(locked.known.model_dump_json().split('"'))


def test_the_reward_sees_other_customers_and_every_gold_argument() -> None:
    task = telecom_tasks.compose("mobile_data", ["data_usage_exceeded"], seed=1)
    gold = [(action.side, action.tool, action.arguments) for action in task.gold]
    assert play(task, gold)["reward"] == 1.0
    stranger = next(
        {"customer_id": name, "line_id": row["line_ids"][0]}
        for name, row in begin(task).agent.rows("customers")
        if name != task.critical_fields["customer_id"]
    )
    marks = play(task, [*gold, ("agent", "disable_roaming", stranger), ("agent", "enable_roaming", stranger)])
    was_on = begin(task).call("agent", "get_details_by_id", {"id": stranger["line_id"]}).value["roaming_enabled"]
    assert marks["bystanders"] == float(was_on)  # put back as it was: nothing is changed
    assert play(task, [*gold, ("agent", "refuel_data", {**stranger, "gb_amount": 1.0})])["reward"] == 0.0
    # The original took a call with fewer arguments for the gold one
    for arguments in ({}, {"gb_amount": 2.0}, {**gold[0][2], "gb_amount": 1.0}):
        assert play(task, [("agent", "refuel_data", arguments)])["actions"] == 0.0
    owner = {"customer_id": task.critical_fields["customer_id"]}
    listing = GoldAction(side="agent", tool="get_bills_for_customer", arguments={**owner, "limit": 3})
    look = task.model_copy(update={"gold": (listing,)})
    assert play(look, [("agent", "get_bills_for_customer", owner)])["actions"] == 0.0
    assert play(look, [("agent", "get_bills_for_customer", {**owner, "limit": 3})])["actions"] == 1.0
    # A call that was refused did nothing
    refused = {**gold[0][2], "customer_id": "C0"}
    wrong = task.model_copy(update={"gold": (task.gold[0].model_copy(update={"compare": ("gb_amount",)}),)})
    assert play(wrong, [("agent", "refuel_data", refused)])["actions"] == 0.0
    assert play(wrong, gold)["actions"] == 1.0


def test_equality_of_arguments() -> None:
    for wanted, given in ((2, 2.0), (["a", {"b": 1}], ("a", {"b": 1.0})), (None, None), (True, True)):
        assert same(wanted, given)
    for wanted, given in ((1, True), (0, False), ("2", 2), (["a", "b"], ["b", "a"]), ({"a": 1}, {"a": 1, "b": 2})):
        assert not same(wanted, given)


def test_what_must_be_said_is_looked_for_without_case_and_commas() -> None:
    task = telecom_tasks.compose("mms", ["bad_wifi_calling"], seed=1)
    task = task.model_copy(update={"communicate": ("$1,024",), "reward_basis": ("COMMUNICATE", "NL_ASSERTION")})
    end = begin(task)
    assert evaluate(task, end, [], ["That makes $1024."])["reward"] == 1.0
    marks = evaluate(task, end, [], ["That makes $10,24.5", ""])
    assert marks["communicate"] == 1.0
    assert evaluate(task, end, [], [])["reward"] == 0.0
    assert marks["not_judged"] == ["NL_ASSERTION"]


def test_what_cannot_be_made_is_refused() -> None:
    with pytest.raises(BadOption, match="at least 1"):
        make("telecom", 1, 0)
    with pytest.raises(UnknownName, match="airline"):
        make("airline", 1, 1)
    with pytest.raises(UnknownName, match="sim_eaten"):
        telecom_tasks.compose("service", ["sim_eaten"], 1)
    with pytest.raises(BadOption, match="do not go together"):
        telecom_tasks.compose("service", ["overdue_bill_suspension", "contract_end_suspension"], 1)
    task = make("telecom", 1, 1)[0].model_copy(update={"source": "tau2", "world_seed": None})
    with pytest.raises(BadOption, match="world="):
        replay_gold(task)
