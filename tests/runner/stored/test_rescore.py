"""Stored attempts are scored by today's scorer: alike by the same one, otherwise by another; no model is asked."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab import benchmarks, llm
from cxlab.benchmarks.cxmarena import score as cxmarena
from cxlab.benchmarks.mmtaup2.evaluation.judging import judged_metrics, verdict_figures
from cxlab.benchmarks.sage import score as sage
from cxlab.errors import BadOption, Busy
from cxlab.runner import lock
from cxlab.runner.stored import rescore as scoring
from cxlab.runner.stored.migrate import migrate
from cxlab.runner.stored.rescore import rescore
from cxlab.store import connect, tables, write
from tests.conftest import use
from tests.goldens.store import call, say
from tests.old_store import copy_runs

pytestmark = pytest.mark.xdist_group("old_store")
SAGE, CXMARENA = "run-261122-120326-91666fff", "run-261122-120332-8c26b420"
MMTAUP2, RULES = "run-261122-120335-9c037d9e", "run-261122-120335-26caabbb"
IMPORTED = "tau2-6a1d3dff42ad"
RUNS = (SAGE, CXMARENA, MMTAUP2, RULES, IMPORTED)


@pytest.fixture(scope="module")
def kept(old_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of each benchmark, of judges with several versions of a rule, and an imported one; judged when they ran."""
    home = tmp_path_factory.mktemp("kept") / "home"
    copy_runs(old_store, home, *RUNS)
    list(migrate(home))
    return home


@pytest.fixture
def home(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copied = shutil.copytree(kept, tmp_path / "home")
    use(copied, monkeypatch)
    return copied


def read_rows(run: str, *without: str) -> dict[str, pl.DataFrame]:
    """Every row of every table of a run, sorted."""
    con = connect.open_store()
    try:
        found = {}
        for table in tables.PARTS:
            frame = connect.query(con, f"FROM {table} WHERE run_id = $run", {"run": run}).drop(*without, strict=False)
            found[table] = frame.sort([name for name in frame.columns if name != "facets"])
        return found
    finally:
        con.close()


def raise_version(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark with the next version of its scorer."""
    today = replace(benchmarks.get(name), scorer="next")
    monkeypatch.setattr(scoring, "find_benchmark", lambda given: today)


@pytest.mark.parametrize("run", [SAGE, CXMARENA, MMTAUP2, RULES])
def test_an_unchanged_scorer_gives_every_row_again(home: Path, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_rows(run, "scorer")

    async def refuse(*args: Any, **named: Any) -> None:
        raise AssertionError("a model was asked")

    monkeypatch.setattr(llm, "ask", refuse)
    found = rescore(run)
    today = benchmarks.get(write.load_run(run).benchmark).scorer
    assert (found.attempts, found.scorer) == (before["attempts"].height, today)
    after = read_rows(run, "scorer")
    # What a later scorer finds or measures is another matter; what was said by anybody stays.
    kept = before if today == "1" else ("messages", "votes", "judgements")
    for table in kept:
        rows = [
            frame.filter(pl.col("judge") != "measured") if today != "1" and "judge" in frame.columns else frame
            for frame in (before[table], after[table])
        ]
        assert rows[0].equals(rows[1]), table
    assert found.changed == 0 or today != "1"
    assert set(read_rows(run)["scores"]["scorer"]) <= {today}


def test_a_changed_formula_shows_in_scores_traces_and_verdicts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_rows(SAGE)
    monkeypatch.setattr(sage, "overall", lambda logic, chat: 0.5 * logic + 0.5 * chat)
    monkeypatch.setattr(sage, "attribute", lambda *routes: "none")
    raise_version("sage", monkeypatch)
    found = rescore(SAGE)
    assert (found.scorer, found.attempts) == ("next", 8)
    assert found.changed > 0
    after = read_rows(SAGE)
    values = {
        (row["attempt_id"], row["turn"], row["metric"]): row["value"] for row in after["scores"].iter_rows(named=True)
    }
    some = 0
    for (attempt, turn, metric), value in values.items():
        if metric == "overall" and turn is not None and value is not None:
            logic, chat = values[attempt, turn, "logic"], values[attempt, turn, "chat"]
            assert value == 0.5 * logic + 0.5 * chat
            some += 1
    assert some > 8
    assert set(after["scores"]["scorer"]) == {"next"}
    assert set(after["traces"]["error"]) <= {"none", "format"}
    assert "misread field" in set(before["attempts"]["verdict_reason"])
    assert "misread field" not in set(after["attempts"]["verdict_reason"])
    for table in ("messages", "votes", "judgements", "failures"):
        assert after[table].equals(before[table]), table
    assert ", scorer next, done, " in say("runs", "show", SAGE)
    assert "scorer" not in say("runs", "show", CXMARENA)


def test_changed_figures_of_cxmarena_and_mmtaup2_show(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxmarena, "judge_whole", lambda sample, output, values: (0.0, "nothing is good enough"))
    assert rescore(CXMARENA).changed > 0
    verdicts = read_rows(CXMARENA)["attempts"].select("verdict", "verdict_reason").unique().rows()
    # A reply that cannot be read has its own reason, whatever would be good enough.
    assert set(verdicts) == {("failed", "nothing is good enough"), ("failed", "unreadable reply")}
    real = verdict_figures.figures
    monkeypatch.setattr(judged_metrics, "figures", lambda verdicts, turns, judged=True: real({}, turns, judged))
    assert rescore(MMTAUP2).changed == 4
    scores = read_rows(MMTAUP2)["scores"].filter(metric="judged_pass")
    assert scores["value"].null_count() == scores.height == 4


def test_the_command_says_what_came_of_it(home: Path) -> None:
    told, scorer = call("rescore", SAGE, "--json", "--quiet"), benchmarks.get("sage").scorer
    assert {name: told[name] for name in ("run", "attempts", "changed", "scorer")} == {
        "run": SAGE, "attempts": 8, "changed": 8, "scorer": scorer,
    }  # fmt: skip
    assert told["mean"]["overall"] > 0
    assert say("rescore", SAGE).strip() == f"{SAGE}: 8 attempts scored by scorer {scorer}; all came out as before"


def test_what_cannot_be_scored_anew_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadOption, match="imported with its scores"):
        rescore(IMPORTED)
    without = replace(benchmarks.get("sage"), rescore=None)
    with monkeypatch.context() as patched:
        patched.setattr(scoring, "find_benchmark", lambda given: without)
        with pytest.raises(BadOption, match=f"cxlab score {SAGE} --judge"):
            rescore(SAGE)
    run = write.load_run(SAGE)
    write.create_run(run.model_copy(update={"id": "empty"}))
    with pytest.raises(BadOption, match="holds no attempts"):
        rescore("empty")


def test_a_run_that_is_being_worked_on_is_left_alone(home: Path) -> None:
    with lock.hold_run(home / "runs" / SAGE), pytest.raises(Busy, match="being worked on"):
        rescore(SAGE)


def test_a_scorer_that_breaks_off_leaves_the_old_scores(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_rows(SAGE)
    calls = iter(range(100))

    def breaking(*args: Any) -> Any:
        if next(calls) == 5:
            raise RuntimeError("a bug")
        return sage.rescore(*args)

    today = replace(benchmarks.get("sage"), rescore=breaking)
    monkeypatch.setattr(scoring, "find_benchmark", lambda given: today)
    with pytest.raises(RuntimeError, match="a bug"):
        rescore(SAGE)
    for table, rows in read_rows(SAGE).items():
        assert rows.equals(before[table]), table
    assert {path.name for path in (home / "runs" / SAGE).glob("parts*")} == {"parts"}


def test_models_of_the_run_refuse_to_be_called(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    def asking(sample: Any, attempt: Any, stored: Any, setup: Any) -> Any:
        return asyncio.run(sage.score(sample, attempt, setup))

    today = replace(benchmarks.get("sage"), rescore=asking)
    monkeypatch.setattr(scoring, "find_benchmark", lambda given: today)
    with pytest.raises(RuntimeError, match="scoring called simulated:judge"):
        rescore(SAGE)
