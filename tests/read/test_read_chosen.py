"""Attempts by their numbers: the filters on what is kept let through what the store's own queries do."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from cxlab.read import View
from cxlab.read.comparison.score_sums import FullScore, score_attempts
from cxlab.read.kept import chosen
from cxlab.read.kept.numbers import facts, look_up, number
from cxlab.read.query import AttemptSet, ask, where
from cxlab.store import trash
from tests.stores.troubled import MODELS, Made, make_troubled_store

KEYS = ["run_id", "attempt_id"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Made]]:
    home = tmp_path_factory.mktemp("chosen")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        yield make_troubled_store(home, seed=0)


def asked(view: View) -> set[tuple[Any, ...]]:
    condition, params = where(view)
    return set(ask(f"SELECT run_id, attempt_id FROM attempts WHERE {condition}", params).iter_rows())


VIEWS: list[dict[str, Any]] = [
    {},
    {"benchmark": "sage"},
    {"benchmark": "?"},
    {"models": MODELS[:1]},
    {"without": MODELS[:1]},
    {"tasks": ("other",)},
    {"outcomes": ("format", "provider")},
    {"failures": ("provider:rate",)},
    {"ends": ("customer",)},
    {"verdict": "failed"},
    {"verdict": "wrong"},
    {"verdict": "unscored", "models": MODELS[1:]},
    {"verdict": "passed"},
    {"errors": ("any",)},
    {"errors": ("answer", "judge"), "verdict": "wrong"},
    {"splits": ("yes",)},
    {"owners": ("agent",)},
    {"written": ("nothing",)},
    {"search": "e"},
    {"facets": (("level", ("weak", "strong")),)},
    {"facets": (("level", ("weak",)), ("scenario", ("ecommerce_refund",)))},
    {"facets": (("no_such_facet", ("x",)),)},
]


@pytest.mark.parametrize("filters", VIEWS, ids=str)
def test_what_is_chosen_is_what_the_store_says(made: list[Made], filters: dict[str, Any]) -> None:
    view = View(**filters)
    found = chosen.choose(view)
    assert set(found.select(KEYS).iter_rows()) == asked(view)
    assert set(chosen.keep(facts().drop_nulls("run_id").select(KEYS), view).select(KEYS).iter_rows()) == asked(view)


def test_a_group_a_run_and_a_set_of_attempts_are_chosen_alike(made: list[Made]) -> None:
    rows = ask("SELECT alike, run_id, attempt_id FROM troubles ORDER BY ALL")
    for alike in rows["alike"].unique().sort()[:6]:
        for decides in ("", "yes"):
            view = View(alike=alike, decides=decides)
            assert set(chosen.choose(view).select(KEYS).iter_rows()) == asked(view)
    run = rows["run_id"][0]
    assert set(chosen.choose(View(runs=(run,))).select(KEYS).iter_rows()) == asked(View(runs=(run,)))
    few = chosen.choose(View()).select(KEYS).sort(KEYS).head(3)
    for attempts in (few, number(few)):
        view = View(among=AttemptSet.of(attempts).keep())
        assert set(chosen.choose(view).select(KEYS).iter_rows()) == set(few.iter_rows()) == asked(view)
    sample = made[0].sample.id
    assert sample not in set(chosen.choose(View(without_samples=(sample,)))["sample_id"])


def test_a_number_stays_the_attempts_own(made: list[Made], monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    runs = make_troubled_store(tmp_path, seed=1)
    before = facts().drop_nulls("run_id").select("nth", *KEYS)
    # In the order of their ids, so that each process adds up in one order.
    assert before.equals(before.sort(KEYS))
    assert before["nth"].to_list() == list(range(before.height))
    gone = runs[0].run.id
    trash.delete("run", gone)
    after = facts()
    left = after.drop_nulls("run_id").select("nth", *KEYS)
    assert left.equals(before.filter(pl.col("run_id") != gone))
    assert left.height < before.height
    # What was read while it was there still finds nothing of another attempt at its number.
    lost = before.filter(pl.col("run_id") == gone)["nth"]
    assert look_up(after.select("run_id"), lost).null_count().item() == lost.len()
    assert chosen.passes(View()).gather(lost).any() is False


def test_an_attempt_comes_to_what_its_scores_say(made: list[Made]) -> None:
    every = chosen.choose(View())["nth"]
    for metric in ("overall", "chat"):
        asked_for = ask(
            """SELECT run_id, attempt_id, coalesce(avg(value) FILTER (turn IS NULL), avg(value)) AS score FROM scores
            WHERE metric = $metric AND run_id <> 'run-3' GROUP BY ALL HAVING score IS NOT NULL""",
            {"metric": metric},
        )
        found = score_attempts(every, View(metric=metric))
        both = number(asked_for).join(found, on="nth", suffix="_kept")
        assert both.height == asked_for.height == found.height
        assert both["score"].to_list() == pytest.approx(both["score_kept"].to_list())
    main = FullScore("sage", made[0].sample.task, "overall", 100.0)
    own = set(look_up(facts(), score_attempts(every, View(), [main])["nth"])["task"])
    assert own == {made[0].sample.task}
    assert score_attempts(every, View(), [replace(main, task="no such task")]).is_empty()
