"""Comparison sets and rankings: against a look at everything by hand, and what must never move a ranking."""

import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks import REGISTRY
from cxlab.read import View
from cxlab.read.comparison.ranking import rank
from cxlab.read.comparison.sets import find_set
from cxlab.read.comparison.words import (
    leads,
    say_customers,
    say_floors,
    say_leader,
    say_leaders,
    say_no_floors,
    say_set,
)
from cxlab.views.compare.other_tasks import list_tasks
from tests.pages.app_script import open_page, words
from tests.stores.runs import write_run

ABOUT = REGISTRY["sage"].declaration
VIEW = View(benchmark="sage")
FLOOR = ABOUT.floor_models[0]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def steady(shift: float, samples: int = 30, trials: int = 1, seed: int = 0) -> dict[tuple[str, int], float | None]:
    """Values that follow from the sample, with a model's own shift and noise."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 3, (samples, trials))
    return {(f"s{i}", t + 1): 60 + i % 20 + shift + noise[i, t] for i in range(samples) for t in range(trials)}


RUN = st.fixed_dictionaries({
    "model": st.sampled_from(["a", "b", "c", FLOOR]),
    "dataset": st.sampled_from(["d1", "d1", "d2"]),
    "options": st.sampled_from([{}, {}, {"turns": 15}, {"turns": 7}]),
    "judges": st.sampled_from([("j1", "j2"), ("j2", "j1"), ("j1",)]),
    "seed": st.sampled_from([0, 0, 1]),
    "scorer": st.sampled_from(["1", "1", "2"]),
    "values": st.dictionaries(
        st.tuples(st.sampled_from(["s0", "s1", "s2", "s3"]), st.integers(1, 2)),
        st.one_of(st.none(), st.integers(0, 100).map(float)),
        max_size=8,
    ),
})  # fmt: skip


def key_of(run: dict[str, Any]) -> tuple[Any, ...]:
    """What must be alike: the switch that is left out stands at its default."""
    return (run["dataset"], {"turns": 15, **run["options"]}["turns"], tuple(sorted(run["judges"])), run["seed"],
            run["scorer"])  # fmt: skip


def look_at_all(runs: list[dict[str, Any]]) -> tuple[tuple[bool, int], dict[Any, dict[Any, dict[Any, float]]]]:
    """Size of the largest complete set, and by conditions, model and (sample, trial) the value that counts."""
    held: dict[Any, dict[Any, dict[Any, float]]] = {}
    for run in runs:  # in the order they were made: a later value takes the place of an earlier one
        for place, value in run["values"].items():
            if value is not None:
                held.setdefault(key_of(run), {}).setdefault(run["model"], {})[place] = value
    best = (False, 0)
    for models in held.values():
        contestants = [model for model in models if model != FLOOR]
        for size in range(1, len(contestants) + 1):
            for chosen in combinations(contestants, size):
                common = set.intersection(*(set(models[model]) for model in chosen))
                best = max(best, (size > 1 and bool(common), size * len(common)))
    return best, held


@settings(max_examples=15)
@given(runs=st.lists(RUN, min_size=1, max_size=7))
def test_the_default_set_is_the_largest_complete_one(
    runs: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("sets")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        for number, run in enumerate(runs):
            write_run(home, number, **run)
        found = find_set(ABOUT, VIEW)
        ranked = rank(ABOUT, VIEW)
    shutil.rmtree(home)
    (several, size), held = look_at_all(runs)
    if not size:
        assert found.choices == ()
        return
    task = found.tasks["dialogue"]
    assert (len(task.sides) > 1, len(task.sides) * task.trials) == (several, size)
    assert found.conditions is not None
    assert found.choices[0].results == size
    parts = dict(found.conditions.parts)
    key = (parts["Dataset"], int(parts["Turns"]), tuple(parts["Judges"].split(", ")), int(parts["Seed"]),
           parts["Scorer"])  # fmt: skip
    mine = held[key]
    common = set.intersection(*(set(mine[side]) for side in task.sides))
    for side in task.sides:
        rows = task.results.filter(side=side)
        assert {(s, t): v for s, t, v in rows.select("sample_id", "trial", "value").iter_rows()} == {
            place: mine[side][place] for place in common
        }
        own = [np.mean([v for (s, _), v in mine[side].items() if (s, _) in common and s == sample])
               for sample in {s for s, _ in common}]  # fmt: skip
        row = ranked.tasks[0].table.filter(side=side).row(0, named=True)
        assert row["value"] == pytest.approx(np.mean(own))
        assert row["samples"] == len(own)
    everyone = {model for models in held.values() for model in models} - {FLOOR}
    told = {row["side"]: row["reason"] for row in task.coverage.iter_rows(named=True)}
    assert set(told) == everyone
    assert all(bool(reason) == (side not in task.sides) for side, reason in told.items())


def test_four_more_trials_on_an_easy_scenario_change_nothing(home: Path) -> None:
    base, curt = steady(0, seed=1), steady(1.5, seed=2)
    write_run(home, 1, "base", base)
    write_run(home, 2, "curt", curt)
    before = rank(ABOUT, VIEW).tasks[0]
    easy = {(f"s{i}", trial): 99.0 for i in range(8) for trial in range(2, 6)}
    write_run(home, 3, "base", easy)
    after = rank(ABOUT, VIEW).tasks[0]
    assert after.table.equals(before.table)
    assert after.gaps.equals(before.gaps)
    # Made by both, they say more of these samples, but weigh no more than the others do.
    write_run(home, 4, "curt", easy)
    both = rank(ABOUT, VIEW).tasks[0]
    assert both.compared.trials == 30 + 32
    assert both.table["samples"].to_list() == [30, 30]
    assert abs(both.gaps["difference"][0]) < abs(after.gaps["difference"][0])


def test_a_run_made_again_counts_once_and_the_newest_result_counts(home: Path) -> None:
    write_run(home, 1, "a", steady(0))
    write_run(home, 2, "b", steady(2))
    before = rank(ABOUT, VIEW).tasks[0].table
    write_run(home, 3, "a", steady(0))
    assert rank(ABOUT, VIEW).tasks[0].table.equals(before)
    changed: dict[tuple[str, int], float | None] = {("s0", 1): 0.0, ("s1", 1): None}
    write_run(home, 4, "a", changed)
    after = rank(ABOUT, VIEW).tasks[0].compared.results.filter(side="a")
    assert after.filter(sample_id="s0")["value"].to_list() == [0.0]
    # One that could not be scored takes nothing's place.
    assert after.filter(sample_id="s1")["run_id"].to_list() == ["run-260101-000003-aaaaaaaa"]


def test_a_partial_run_is_left_out_with_the_reason_and_is_compared_when_asked_for(home: Path) -> None:
    for number, model in enumerate("abc"):
        write_run(home, number, model, steady(number, 100))
    write_run(home, 9, "late", steady(30, 13))
    found = rank(ABOUT, VIEW).tasks[0]
    assert found.compared.sides == ("a", "b", "c")
    row = found.compared.coverage.filter(side="late").row(0, named=True)
    assert (row["samples"], row["in_set"]) == (13, False)
    assert row["reason"] == "has 13 of the 100 results that the others have"
    asked = rank(ABOUT, VIEW.change(models=("a", "late"))).tasks[0]
    assert (asked.compared.sides, asked.compared.samples, asked.compared.known) == (("a", "late"), 13, 100)
    assert "13 of the dataset's 100 samples that both models have" in say_set(asked.compared)


def test_other_conditions_are_named_and_can_be_chosen(home: Path) -> None:
    write_run(home, 1, "a", steady(0))
    write_run(home, 2, "b", steady(1))
    write_run(home, 3, "short", steady(2), options={"turns": 5})
    write_run(home, 4, "b", steady(9), options={"turns": 5})
    write_run(home, 5, "asked anew", steady(3), prompts={"agent": "x"}, judges=("j2",))
    found = rank(ABOUT, VIEW)
    reasons = dict(found.tasks[0].compared.coverage.select("side", "reason").iter_rows())
    # Two sets of the same size: the newer one.
    assert dict(found.set.conditions.parts)["Turns"] == "5"
    assert reasons["a"] == "run under other conditions: Turns 15, not 5"
    assert reasons["asked anew"].startswith("run under other conditions: Judges j2, not j1; Turns 15, not 5; Prompts")
    other = next(each for each in found.set.choices if dict(each.conditions.parts)["Turns"] == "15")
    chosen = rank(ABOUT, VIEW.change(sets=("other benchmark's", other.conditions.id)))
    assert chosen.tasks[0].compared.sides == ("a", "b")


def test_a_seed_is_a_condition_where_a_customer_speaks_and_nowhere_else(home: Path) -> None:
    for number, seed in enumerate((0, 1)):
        write_run(home, number, f"m{seed}", steady(number), seed=seed)
        write_run(home, number + 5, f"n{seed}", steady(number), seed=seed, customer=None)
    sets = [set(each.tasks["dialogue"].sides) for choice in find_set(ABOUT, VIEW).choices
            for each in [find_set(ABOUT, VIEW.change(sets=(choice.conditions.id,)))]]  # fmt: skip
    assert sets == [{"n0", "n1"}, {"m1"}, {"m0"}]


def test_a_floor_that_ran_on_fewer_samples_is_named_with_how_many(home: Path) -> None:
    all_of_them = steady(0)
    write_run(home, 1, "a", all_of_them)
    write_run(home, 2, FLOOR, dict.fromkeys(list(all_of_them)[:18], 20.0))
    (name,) = rank(ABOUT, VIEW).tasks[0].floors["name"]
    assert name == "Floor, on 18 of 30"
    write_run(home, 3, FLOOR, dict.fromkeys(all_of_them, 20.0))
    assert rank(ABOUT, VIEW).tasks[0].floors["name"].to_list() == ["Floor"]


def test_floors_are_lines_and_no_sides_unless_picked(home: Path) -> None:
    write_run(home, 1, "a", steady(0))
    write_run(home, 2, FLOOR, dict.fromkeys(steady(0), 20.0))
    found = rank(ABOUT, VIEW).tasks[0]
    assert found.compared.sides == ("a",)
    assert found.floors.select("value", "samples").rows() == [(20.0, 30)]
    assert say_leader(found) == "only a has been evaluated, so nobody leads"
    picked = rank(ABOUT, VIEW.change(models=("a", FLOOR))).tasks[0]
    assert (picked.compared.sides, picked.floors.height) == (("a", FLOOR), 0)
    assert say_leader(picked) == "a leads for sure"


def test_no_lead_is_claimed_that_the_comparison_does_not_support(home: Path) -> None:
    write_run(home, 1, "a", steady(0, seed=1))
    write_run(home, 2, "b", steady(0.3, seed=2))
    found = rank(ABOUT, VIEW).tasks[0]
    assert not found.decided
    assert say_leader(found) == f"cannot tell yet who leads: {found.leader} is first, but " + (
        "a" if found.leader == "b" else "b") + " is not behind for sure"  # fmt: skip
    write_run(home, 3, "c", steady(25, seed=3))
    sure = rank(ABOUT, VIEW).tasks[0]
    assert (sure.leader, say_leader(sure)) == ("c", "c leads, ahead of all 2 others for sure")


@pytest.mark.parametrize(("floor", "told"), [
    (20.0, ""),
    (70.0, "Whoever is first does no better than a constant agent: a 67.5, Floor 70.0"),
])  # fmt: skip
def test_a_leader_below_a_constant_agent_is_told_of(home: Path, floor: float, told: str) -> None:
    write_run(home, 1, "a", steady(0))
    write_run(home, 2, FLOOR, dict.fromkeys(steady(0), floor))
    assert say_floors(rank(ABOUT, VIEW).tasks) == told


@pytest.mark.parametrize(("floor", "low"), [
    (20.0, ""), (67.5, "is as good"), (70.0, "does better"),
])  # fmt: skip
def test_who_is_ahead_of_all_but_a_constant_agent_leads_nobody(home: Path, floor: float, low: str) -> None:
    write_run(home, 1, "a", steady(0))
    write_run(home, 2, "b", {key: (value or 0) - 30 for key, value in steady(0).items()})
    write_run(home, 3, FLOOR, dict.fromkeys(steady(0), floor))
    found = rank(ABOUT, VIEW).tasks
    if not low:
        assert leads(found[0])
        assert say_leader(found[0]) == "a leads for sure"
        assert say_leaders([found[0], found[0]]) == "a leads for sure in 2 of 2 tasks"
        return
    assert not leads(found[0])
    assert say_leader(found[0]) == f"nobody leads: a is ahead of b for sure, but a constant agent {low}"
    below = "somebody is ahead for sure, but no better than a constant agent"
    assert say_leaders([found[0], found[0]]) == f"nobody leads for sure in any of 2 tasks, in 2 {below}"
    write_run(home, 4, "c", {key: (value or 0) + 20 for key, value in steady(0).items()})
    (above,) = rank(ABOUT, VIEW).tasks
    assert say_leaders([found[0], above]) == f"c leads for sure in 1 of 2 tasks, in 1 {below}"


def test_leads_for_sure_and_first_places_below_a_constant_agent_are_told_as_two_things(home: Path) -> None:
    write_run(home, 1, "a", steady(0))
    write_run(home, 2, "b", steady(0, seed=2))
    write_run(home, 3, FLOOR, dict.fromkeys(steady(0), 80.0))
    found = rank(ABOUT, VIEW).tasks
    # Nobody is ahead for sure, so that says nothing of it; that the first place is no better says so itself.
    assert "constant agent" not in say_leaders([*found, *found])
    assert say_floors([*found, *found]).startswith("In 2 of 2 tasks whoever is first, for sure or not, is no better")


def test_a_task_beside_others_is_told_with_its_scores_and_their_difference(home: Path) -> None:
    write_run(home, 1, "a", dict.fromkeys(steady(0), 40.0))
    write_run(home, 2, "b", dict.fromkeys(steady(0), 40.0))
    (level,) = list_tasks(rank(ABOUT, VIEW).tasks, ("a", "b"), "").rows(named=True)
    assert (level["a"], level["b"], str(level["difference"]), level["verdict"]) == (40.0, 40.0, "0.0", "? cannot tell")
    assert level["samples"] == len(steady(0))
    write_run(home, 3, "c", {key: 90.0 + (place % 2) for place, key in enumerate(steady(0))})
    found = rank(ABOUT, VIEW).tasks
    (sure,) = list_tasks(found, ("a", "c"), found[0].task.id).rows(named=True)
    assert sure["name"] == f"{found[0].task.title} (below)"
    assert (sure["a"], sure["verdict"]) == (40.0, "✕ behind")
    assert sure["difference"] == pytest.approx(sure["c"] - 40.0)
    assert 0 < sure["low"] <= sure["difference"] <= sure["high"]


def test_that_no_constant_agent_has_run_is_said_where_there_are_some(home: Path) -> None:
    write_run(home, 1, "a", steady(0))
    found = rank(ABOUT, VIEW).tasks
    assert say_no_floors(found, known=True).startswith("No constant agent has run here")
    assert say_no_floors(found, known=False) == ""
    assert "No constant agent has run here" in words(open_page())
    write_run(home, 2, FLOOR, steady(0))
    assert say_no_floors(rank(ABOUT, VIEW).tasks, known=True) == ""


def test_a_constant_agent_that_passes_more_than_a_ranked_model_is_told_of(home: Path) -> None:
    samples = [(f"s{i}", 1) for i in range(8)]
    write_run(home, 1, "a", dict.fromkeys(samples, 90.0))
    write_run(home, 2, "b", {key: 90.0 if place < 1 else 40.0 for place, key in enumerate(samples)})
    write_run(home, 3, FLOOR, {key: 90.0 if place < 2 else 0.0 for place, key in enumerate(samples)})
    assert say_floors(rank(ABOUT, VIEW).tasks) == (
        "By decidable score both are better than Floor (22.5), but Floor passes 25.0 %, more often than b (12.5 %)"
    )
    # Below by its mean alone, and by both.
    write_run(home, 4, "b", dict.fromkeys(samples, 20.0))
    assert say_floors(rank(ABOUT, VIEW).tasks) == (
        "By decidable score b is no better than Floor (22.5), and Floor passes 25.0 %, more often than b (0.0 %)"
    )
    write_run(home, 5, "b", {key: 90.0 if place < 3 else 0.0 for place, key in enumerate(samples)})
    write_run(home, 6, FLOOR, {key: 90.0 if place < 2 else 40.0 for place, key in enumerate(samples)})
    assert say_floors(rank(ABOUT, VIEW).tasks) == "By decidable score b is no better than Floor (52.5)"


def test_customers_whose_words_were_not_shared_are_noticed(home: Path) -> None:
    other = {("s0", 1): "good evening", ("s1", 1): "hi"}
    write_run(home, 1, "a", steady(0))
    write_run(home, 2, "b", steady(1), openings=other)
    found = rank(ABOUT, VIEW).tasks[0].customers
    assert found is not None
    assert (found.compared, found.same, found.scripts) == (30, 28, 0)
    assert "in 2 of 30 conversations they began with other words" in say_customers(found)


def test_runs_are_compared_whatever_their_conditions(home: Path) -> None:
    first = write_run(home, 1, "a", steady(0))
    second = write_run(home, 2, "a", steady(8), options={"turns": 5})
    found = rank(ABOUT, VIEW.change(runs=(first, second)), "run_id")
    assert found.set.conditions is None
    assert found.tasks[0].compared.sides == (first, second)
    assert found.tasks[0].leader == second


def test_turns_count_once_a_sample_and_filters_narrow_the_set(home: Path) -> None:
    levels = {f"s{i}": {"level": "zero" if i < 12 else "weak"} for i in range(30)}
    write_run(home, 1, "a", steady(0), turns=9, facets=levels)
    write_run(home, 2, "b", steady(1), facets=levels)
    found = rank(ABOUT, VIEW).tasks[0]
    wanted = np.mean(list(steady(0).values()))
    assert found.table.filter(side="a")["value"][0] == pytest.approx(wanted)
    assert found.table.filter(side="a")["samples"][0] == 30
    assert rank(ABOUT, VIEW.narrow(level=("zero",))).tasks[0].compared.samples == 12


def test_where_nothing_is_scored_by_the_headline_another_metric_ranks(home: Path) -> None:
    other = next(metric for metric in ABOUT.card.leading if metric != ABOUT.card.headline)
    write_run(home, 1, "a", steady(0), metric=other)
    write_run(home, 2, "b", steady(9), metric=other)
    assert rank(ABOUT, VIEW).tasks[0].task.metric == other
    write_run(home, 3, "c", steady(0))
    assert rank(ABOUT, VIEW).tasks[0].task.metric == ABOUT.card.headline


def test_an_empty_store_ranks_nobody(home: Path) -> None:
    assert rank(ABOUT, VIEW).tasks == ()
    assert find_set(ABOUT, VIEW).choices == ()
