"""Which tasks are worth showing, and whether being told shows: from frames as the store gives them."""

import itertools
from dataclasses import replace
from typing import Any

import polars as pl

from cxlab.benchmarks.mmtaup2.evaluation.worth_showing import (
    SETS,
    PairedEffect,
    TaskContrast,
    find_telling,
    is_borne,
    measure_effect,
    rank,
)

TERMS = sorted(set(itertools.chain(*SETS.values())))


def frames(cells: dict[tuple[str, str, int], tuple[bool, int]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Conversations of one run, (task, persona, exposure) → (passed, turns)."""
    told = [
        {"run_id": "r", "attempt_id": f"a{n}", "domain": "telecom", "trial": 1, "task": task, "persona": persona,
         "modality": "text", "exposure": str(exposure)}
        for n, (task, persona, exposure) in enumerate(cells)
    ]  # fmt: skip
    rows = [
        {"run_id": "r", "attempt_id": f"a{n}", "metric": metric, "value": value, "n": 1, "counted": True}
        for n, (passed, turns) in enumerate(cells.values())
        for metric, value in (("pass", 100.0 * passed), ("turns", float(turns)))
    ]
    return pl.DataFrame(told), pl.DataFrame(rows)


def test_what_differs_most_comes_first_and_what_lacks_a_side_is_left_out() -> None:
    cells = {("far", *term): (term != ("hard", 0), 5) for term in TERMS}
    cells |= {("near", *term): (True, 5 + (term == ("hard", 2))) for term in TERMS}
    cells |= {("half", "hard", 0): (False, 9)}
    found = rank(*frames(cells), {"r": "d"})
    assert [(one.task, one.kind, one.size) for one in found] == [
        ("far", "exposure", (1, 0)), ("far", "persona", (1, 0)), ("near", "exposure", (0, 1)),
        ("near", "persona", (0, 0)),
    ]  # fmt: skip
    assert found[0].passed == (False, True, True)
    assert (found[0].dataset, found[0].run_id) == ("d", "r")


def test_the_telling_task_is_the_largest_that_keeps_to_what_is_measured() -> None:
    more = {"none": 0, "little": 2, "usual": 4, "much": 9, "most": 20}
    cells = {(task, persona, 0): (True, 5 + extra * (persona == "hard")) for task, extra in more.items()
             for persona in ("none", "easy", "hard")}  # fmt: skip
    found = rank(*frames(cells), {"r": "d"})
    assert tell(found) == "most"
    assert find_telling([]) is None
    # An example that promises more than the mean is none, where there is another one.
    assert tell(found, within=(1.0, 12.0)) == "much"
    assert tell(found, within=(30.0, 40.0)) == "most"
    # Of an easy customer, whose conversations are all as long as without a persona, the first of equals.
    assert find_telling(found, place=1) == found[0]
    # What the agent knows counts as well.
    beside = {one.key: 1.0 for one in found if one.task == "usual"}
    assert tell(found, within=(1.0, 12.0), beside=beside) == "usual"


def test_a_telling_task_is_one_that_the_agent_solves_by_itself() -> None:
    more = {"mends": 1, "misses": 5, "hands over": 9}
    cells = {(task, persona, 0): (task != "misses", 5 + extra * (persona == "hard")) for task, extra in more.items()
             for persona in ("none", "easy", "hard")}  # fmt: skip
    found = [replace(one, hand_over=one.task == "hands over") for one in rank(*frames(cells), {"r": "d"})]
    assert tell(found) == "mends"
    # Where none is solved, one is missed rather than handed over.
    assert tell([one for one in found if one.task != "mends"]) == "misses"
    assert tell([one for one in found if one.hand_over]) == "hands over"


def tell(contrasts: list[TaskContrast], **more: Any) -> str:
    found = find_telling(contrasts, **more)
    assert found is not None
    return found.task


def test_the_telling_task_also_shows_how_the_agent_adapts() -> None:
    cells = {(task, persona, 0): (True, 5 + extra * (persona == "hard"))
             for task, extra in (("bare", 5), ("kind", 5), ("less", 3))
             for persona in ("none", "easy", "hard")}  # fmt: skip
    conversations, figures = frames(cells)
    kind, bare = ["Take your time.", "And the number?"], ["What is it?", "And the number?"]
    said = {
        ("r", row["attempt_id"]): kind if row["persona"] == "hard" and row["task"] != "bare" else bare
        for row in conversations.iter_rows(named=True)
    }
    # "bare" has as many turns, and nothing in it to point at.
    assert tell(rank(conversations, figures, {"r": "d"}, said)) == "kind"
    assert tell(rank(conversations, figures, {"r": "d"})) == "bare"


def test_an_effect_that_is_there_shows_and_one_that_is_not_does_not() -> None:
    tasks = [f"t{n}" for n in range(12)]
    cells = {(task, "hard", level): (n % 2 == 0, 9) for n, task in enumerate(tasks) for level in (0, 1)}
    conversations, figures = frames(cells)
    kind, bare = ["Take your time.", "And the number?"], ["What is it?", "And the number?"]
    said = {
        ("r", row["attempt_id"]): kind if row["exposure"] == "1" else bare
        for row in conversations.iter_rows(named=True)
    }
    found = {one.figure: one for one in measure_effect(conversations, figures, said, ("hard", 1), ("hard", 0))}
    assert found["adapted"].shown
    assert (found["adapted"].base, found["adapted"].told, found["adapted"].n) == (0.0, 0.5, 12)
    assert not found["pass"].shown
    assert found["pass"].low <= 0 <= found["pass"].high
    assert not found["turns"].shown
    assert measure_effect(conversations, figures, said, ("hard", 2), ("hard", 0)) == []


def test_voice_is_held_against_text_of_another_run_task_by_task() -> None:
    cells = {(f"t{n}", "hard", 0): (True, 9) for n in range(12)}
    typed, figures = frames(cells)
    cells = dict.fromkeys(cells, (False, 12))
    spoken, heard = (each.with_columns(run_id=pl.lit("v")) for each in frames(cells))
    both = pl.concat([typed, spoken.with_columns(modality=pl.lit("voice"))]), pl.concat([figures, heard])
    found = measure_effect(*both, {}, ("hard", 0), ("hard", 0), lines=("voice", "text"))
    assert [(one.figure, one.base, one.told, one.n, one.shown) for one in found] == [
        ("pass", 1.0, 0.0, 12, True), ("turns", 9.0, 12.0, 12, True),
    ]  # fmt: skip
    assert measure_effect(typed, figures, {}, ("hard", 0), ("hard", 0), lines=("voice", "text")) == []


def test_what_a_task_shows_is_borne_where_it_keeps_to_what_is_sure_over_all() -> None:
    cells = {(task, persona, 0): (True, 5 + extra * (persona == "hard"))
             for task, extra in (("usual", 6), ("far", 20), ("none", 0))
             for persona in ("none", "easy", "hard")}  # fmt: skip
    cells["missed", "none", 0] = cells["missed", "easy", 0] = (True, 5)
    cells["missed", "hard", 0] = (False, 11)
    found = {one.task: one for one in rank(*frames(cells), {"r": "d"})}
    turns = PairedEffect("turns", 5.0, 11.0, 6.0, 3.0, 9.0, 12, 12)
    goals = PairedEffect("pass", 1.0, 0.7, -0.3, -0.6, 0.1, 12, 12)

    def borne(*effects: PairedEffect) -> set[str]:
        return {task for task, one in found.items() if is_borne(one, 2, effects)}

    assert borne(turns, goals) == {"usual"}
    # Goals that differ for sure bear a goal that is missed; turns that do not differ for sure bear none.
    assert borne(turns, replace(goals, high=-0.1)) == {"usual", "missed"}
    assert borne(replace(turns, low=-1.0)) == borne() == set()
