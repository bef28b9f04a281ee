"""tau2-bench's files with values that nobody meant well: rejected by row, or the file refused in one line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.importers import tau2, tau2_results
from cxlab.errors import BadFile, BadOption
from cxlab.store import write
from tests.importers.hostile import DEEP, ODD, few, places, save, spoil

MESSAGES = [
    {"role": "user", "content": "My phone number is 555-123-2002."},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "name": "get_line", "arguments": {"a": "b"}}]},
    {"role": "tool", "id": "c", "content": '{"x": 1}'},
    {
        "role": "assistant",
        "content": "Would you like to proceed?",
        "usage": {"prompt_tokens": 5, "completion_tokens": 5},
    },
]


def simulation(task: str = "1", **more: Any) -> dict[str, Any]:
    return {
        "id": f"s-{task}",
        "task_id": task,
        "trial": 0,
        "messages": MESSAGES,
        "reward_info": {"reward": 1.0, "db_check": {"db_match": True}},
        "termination_reason": "user_stop",
        "start_time": "2025-06-01T10:00:00",
        "agent_cost": 0.1,
        **more,
    }


def results(*simulations: Any, **more: Any) -> dict[str, Any]:
    info = {"environment_info": {"domain_name": "telecom"}, "agent_info": {"llm": "m"}, "user_info": {"llm": "u"}}
    return {"info": info, "tasks": [], "simulations": list(simulations), **more}


SOUND = simulation("1")


@few
@given(st.lists(st.tuples(st.sampled_from(places(SOUND)[1:]), ODD), min_size=1, max_size=3))
def test_one_odd_simulation_never_takes_the_others(tmp_path: Path, spoilt: list[tuple[tuple[Any, ...], Any]]) -> None:
    odd = SOUND
    for where, value in spoilt:
        if where in places(odd):
            odd = spoil(odd, where, value)
    found = tau2_results.read_file(save(tmp_path / "results.json", results(odd, simulation("sound"))))
    kept = {attempt.output["tau2_id"] for attempt, _ in found.attempts}
    assert "s-sound" in kept
    assert len(found.attempts) + len(found.rejected) == 2
    home = tmp_path / "home"
    tau2_results.store(found, home)
    assert len(write.finished(found.run.id, home)) == len(found.attempts)


@pytest.mark.parametrize(
    ("spoilt", "column"),
    [
        ({"trial": 2**62}, "trial"),
        ({"trial": -1}, "trial"),
        ({"agent_cost": 1e300}, "agent_cost"),
        ({"agent_cost": -1}, "agent_cost"),
        ({"reward_info": {"reward": math.nan}}, "reward_info.reward"),
        ({"reward_info": {"reward": -1e300}}, "reward_info.reward"),
        ({"duration": math.inf}, "duration"),
        ({"messages": DEEP}, "messages.0.0.0.0.0"),
        ({"messages": [{"role": "assistant", "usage": {"prompt_tokens": 2**62}}]}, "messages.0.usage"),
        ({"task_id": "x" * 600}, "task_id"),
        ({"termination_reason": "a\0b"}, "termination_reason"),
    ],
)
def test_what_no_store_could_hold_is_rejected_by_row(tmp_path: Path, spoilt: dict[str, Any], column: str) -> None:
    found = tau2_results.read_file(save(tmp_path / "results.json", results(simulation("2"), simulation(**spoilt))))
    assert [(one.row, one.column) for one in found.rejected] == [(2, column)]
    assert found.run.trials == 1


def test_a_seed_beyond_all_refuses_the_file_and_one_that_is_no_whole_number_is_none(tmp_path: Path) -> None:
    info = results()["info"]
    path = save(tmp_path / "results.json", results(simulation(), info={**info, "seed": 2**63}))
    with pytest.raises(BadFile, match=r"info\.seed: a number beyond 64 bits"):
        tau2_results.read_file(path)
    for seed in (math.nan, 0.5, "x", True):
        save(path, results(simulation(), info={**info, "seed": seed}))
        assert tau2_results.read_file(path).run.seed == 0


def test_a_time_at_the_end_of_time_is_unknown(tmp_path: Path) -> None:
    odd = simulation(start_time="0001-01-01T00:00:00+14:00")
    found = tau2_results.read_file(save(tmp_path / "results.json", results(odd)))
    assert found.attempts[0][0].started.year > 1


def test_folders_with_brackets_in_their_names(tmp_path: Path) -> None:
    tasks = save(tmp_path / "[x]" / "retail" / "tasks.json", [])
    with pytest.raises(BadFile, match=r"db\.json: does not exist"):
        tau2.read_folder(tasks.parents[1])
    file = save(tmp_path / "[y]" / "results.json", results(simulation()))
    assert len(tau2_results.read_file(file.parent).attempts) == 1


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("set_user_info", {"name": 1, "phone_number": "x"}),
        ("set_user_location", {"abroad": "yes"}),
        ("set_wifi_calling", {"enabled": True, "mms_over_wifi": []}),
        ("set_user_info", {"name": "x"}),
    ],
)
def test_a_task_function_is_given_what_it_takes(function: str, arguments: dict[str, Any]) -> None:
    world = worlds.load("telecom", 0, 1).fresh()
    with pytest.raises(BadOption, match=rf"task function {function}: "):
        world.prepare([{"env_type": "user", "func_name": function, "arguments": arguments}])
