"""A store that an earlier version left is brought up to date once, whole, and whatever happens meanwhile."""

import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Scored
from cxlab.errors import BadStore
from cxlab.records import FILE_VERSION, Run
from cxlab.runner import lock
from cxlab.runner.stored.migrate import migrate, migrate_aloud, upgrade_record
from cxlab.store import connect, layout, load, trash, write
from tests.conftest import use
from tests.old_store import copy_runs

pytestmark = pytest.mark.xdist_group("old_store")
RUN, DATASET = "run-261122-120326-91666fff", "sage-a031aef47426"
VERDICTS = ["verdict", *(f"verdict_{name}" for name in ("reason", "owner", "turn", "stage", "field", "tool"))]


@pytest.fixture(scope="module")
def migrated(old_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = shutil.copytree(old_store, tmp_path_factory.mktemp("migrated") / "home")
    last = list(migrate(home))[-1]
    assert (last.done, last.total, last.left) == (25, 25, ())
    return home


@pytest.fixture(scope="module")
def one_run(old_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run of eight attempts and its dataset."""
    home = tmp_path_factory.mktemp("one") / "home"
    copy_runs(old_store, home, RUN)
    return home


@pytest.fixture
def home(one_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copied = shutil.copytree(one_run, tmp_path / "home")
    use(copied, monkeypatch)
    return copied


def read_rows(home: Path, table: str, run: str = RUN) -> pl.DataFrame:
    con = connect.open_store(home)
    try:
        return connect.query(con, f"FROM {table} WHERE run_id = $run ORDER BY ALL", {"run": run})
    finally:
        con.close()


def read_files(home: Path) -> pl.DataFrame:
    """The attempts of the run as they lie there: for each of many steps the views would take longer than the rest."""
    files = sorted((home / "runs" / RUN / "parts").glob("*/attempts.parquet"))
    return pl.concat([pl.read_parquet(file) for file in files]).sort("attempt_id")


def read_record(home: Path, run: str = RUN) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((home / "runs" / run / "run.json").read_bytes())
    return record


def test_facets_are_those_of_the_columns_and_verdicts_those_of_whole_attempts(old_store: Path, migrated: Path) -> None:
    for folder in sorted((migrated / "runs").glob("*/run.json")):
        run = write.load_run(folder.parent.name, migrated)
        assert run.version == FILE_VERSION
        benchmark = REGISTRY[run.benchmark]
        parts = [pl.read_parquet(path) for path in (old_store / "runs" / run.id / "parts").glob("*/attempts.parquet")]
        known = {row["attempt_id"]: row for part in parts for row in part.iter_rows(named=True)}
        found = {row["attempt_id"]: row for row in read_rows(migrated, "attempts", run.id).iter_rows(named=True)}
        assert found.keys() == known.keys()
        for attempt, stored in load.load_attempts(run.id, migrated):
            before, row = known[attempt.id], found[attempt.id]
            facets = {name: before[name] for name in connect.tables.FACET_COLUMNS if before[name] is not None}
            assert row["facets"] == facets
            assert all(row[name] == before[name] for name in before.keys() & row.keys()), attempt.id
            verdict = benchmark.judge_attempt(
                row["task"], attempt, Scored(stored.scores, stored.votes, stored.judgements, stored.traces)
            )
            assert stored.verdict == verdict
    verdicts = {
        verdict
        for (verdict,) in connect.query(
            connect.open_store(migrated), "SELECT DISTINCT verdict FROM attempts"
        ).iter_rows()
    }
    assert verdicts == {"passed", "failed", "unscored"}


def test_all_other_rows_stay_as_they_are(old_store: Path, migrated: Path) -> None:
    for path in (old_store / "runs").glob("[!_]*/parts/*/*.parquet"):
        if path.stem not in ("attempts", "traces"):
            assert (migrated / path.relative_to(old_store)).read_bytes() == path.read_bytes()


def test_scores_of_single_judges_keep_their_names(old_store: Path, migrated: Path) -> None:
    told = 0
    for path in (old_store / "runs").glob("[!_]*/parts/*/traces.parquet"):
        before, after = pl.read_parquet(path), pl.read_parquet(migrated / path.relative_to(old_store))
        assert after.drop("single_judges").equals(before.select(after.drop("single_judges").columns))
        for old, new in zip(before["alone"].to_list(), after["single_judges"].to_list(), strict=True):
            for one, other in zip(old or (), new or (), strict=True):
                scores = {each["key"]: each["value"] for each in other.pop("scores")}
                assert one == other | {name: scores.get(name) for name in ("logic", "chat", "overall")}
                told += len(scores)
    assert told > 100


def test_a_run_of_the_second_version_keeps_its_attempts_and_verdicts(home: Path) -> None:
    """Only the traces are written anew, and the record."""
    list(migrate(home))
    record, (attempts,) = read_record(home), (home / "runs" / RUN).glob("parts/*/attempts.parquet")
    (home / "runs" / RUN / "run.json").write_text(
        json.dumps(record | {"version": 2, "setup": {"options": {"turns": "5"}}})
    )
    before = attempts.stat().st_ino
    layout.mark_up_to_date(home, False)
    list(migrate(home))
    (attempts,) = (home / "runs" / RUN).glob("parts/*/attempts.parquet")
    assert attempts.stat().st_ino == before
    assert read_record(home) == record | {"setup": {"options": {"turns": "5"}}}


def test_samples_keep_their_order_and_their_facets(old_store: Path, migrated: Path) -> None:
    for path in sorted((old_store / "datasets").glob("[!_]*/samples.parquet")):
        before = pl.read_parquet(path)
        samples = write.load_samples(path.parent.name, migrated)
        assert [sample.id for sample in samples] == before["sample_id"].to_list()
        for sample, row in zip(samples, before.iter_rows(named=True), strict=True):
            assert sample.facets == {
                name: row[name] for name in connect.tables.FACET_COLUMNS if row.get(name) is not None
            }
        assert write.load_dataset(path.parent.name, migrated).version == FILE_VERSION


def test_a_second_start_does_nothing(migrated: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in migrated.rglob("*")}
    assert list(migrate(migrated)) == []
    assert {path: path.stat().st_mtime_ns for path in migrated.rglob("*")} == before


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert list(migrate(tmp_path / "none")) == []
    assert not (tmp_path / "none").exists()


class Killed(BaseException):
    """In the place of a kill: from here on nothing of the process reaches the disk."""


def kill_before(step: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let the process die before it changes the file system for the n-th time; returns how often it has."""
    changes = itertools.count(1)
    seen = [0]

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def change(*args: Any, **named: Any) -> Any:
            seen[0] = next(changes)
            if seen[0] >= step:
                raise Killed
            return real(*args, **named)

        return change

    for name in ("rename", "replace", "link", "mkdir", "unlink", "remove", "rmdir"):
        monkeypatch.setattr(os, name, dying(getattr(os, name)))
    return lambda: seen[0]


def test_a_kill_at_any_step_loses_nothing_and_the_next_start_goes_on(
    one_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = shutil.copytree(one_run, tmp_path / "whole")
    list(migrate(whole))
    assert read_rows(whole, "attempts").height == read_files(whole).height == 8
    wanted, record = read_files(whole), read_record(whole)
    for step in itertools.count(1):
        home = shutil.copytree(one_run, tmp_path / "home")
        with monkeypatch.context() as patched:
            kill_before(step, patched)
            try:
                list(migrate(home))
                break  # there are no more steps
            except Killed:
                pass
        assert len(write.finished(RUN, home)) == 8, step
        assert len(write.load_samples(DATASET, home, only_facets=True)) == 357, step
        # The version is told last: nobody takes old parts for new ones.
        if read_record(home).get("version") == FILE_VERSION:
            assert read_files(home)["verdict"].null_count() == 0, step
        assert [each.left for each in migrate(home)][-1:] in ([()], []), step
        assert layout.is_up_to_date(home)
        assert read_files(home).equals(wanted), step
        assert read_record(home) == record
        assert {path.name for path in (home / "runs" / RUN).glob("parts*")} == {"parts"}, step
        assert layout.swap_count(home) % 2 == 0
        shutil.rmtree(home)
    assert step > 20


def test_two_processes_at_once_do_it_once(one_run: Path, tmp_path: Path) -> None:
    home = shutil.copytree(one_run, tmp_path / "home")
    program = "from cxlab.runner.stored.migrate import migrate_aloud; migrate_aloud()"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program], env={**os.environ, "CXLAB_HOME": str(home)}, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1].decode() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert any("2 runs and datasets" in each for each in said)
    assert read_rows(home, "attempts")["verdict"].null_count() == 0
    assert read_rows(home, "attempts").height == 8


def test_the_second_waits_and_shows_how_far_the_first_is(home: Path) -> None:
    steps: list[Any] = []
    waiting = threading.Event()

    def wait() -> None:
        for step in migrate(home):
            steps.append(step)
            waiting.set()

    with layout.lock(home / ".migration.lock"):
        layout.write_whole(home / ".migration.json", b'{"done": 7, "total": 9, "what": "run r7"}')
        other = threading.Thread(target=wait)
        other.start()
        assert waiting.wait(60)
    other.join(60)
    assert (steps[0].done, steps[0].total, steps[0].what) == (7, 9, "run r7")
    assert layout.is_up_to_date(home)


def test_a_damaged_run_is_named_and_left_and_the_rest_is_done(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copied = shutil.copytree(home / "runs" / RUN, home / "runs" / "torn")
    record = read_record(home) | {"id": "torn"}
    (copied / "run.json").write_text(json.dumps(record))
    (torn,) = copied.glob("parts/*/attempts.parquet")
    torn.write_bytes(torn.read_bytes()[:200])
    before = {path: path.read_bytes() for path in copied.rglob("*.parquet")}
    migrate_aloud()
    said = capsys.readouterr().err
    assert "upgraded: 2 runs" in said
    assert "left as it is: run torn: " in said
    assert {path: path.read_bytes() for path in copied.rglob("*.parquet")} == before
    assert read_record(home)["version"] == FILE_VERSION
    assert "version" not in read_record(home, "torn")
    # It is tried again, and mended it is migrated.
    shutil.copy((next((home / "runs" / RUN).glob("parts/*/attempts.parquet"))), torn)
    assert list(migrate(home))[-1].left == ()
    assert layout.is_up_to_date(home)


def test_records_that_are_none_are_passed_over(home: Path) -> None:
    for name, text in {"a": "", "b": "[1]", "c": '{"version": "x"}', "d": '{"version": 99}'}.items():
        (home / "runs" / name).mkdir()
        (home / "runs" / name / "run.json").write_text(text)
    assert [step.what for step in migrate(home)] == [f"dataset {DATASET}", f"run {RUN}", ""]


def test_a_run_that_is_being_worked_on_comes_later(home: Path) -> None:
    with lock.hold_run(home / "runs" / RUN):
        (last,) = list(migrate(home))[-1:]
    assert "being worked on" in last.left[0]
    assert not layout.is_up_to_date(home)
    assert list(migrate(home))[-1].left == ()


def test_a_run_that_was_deleted_before_is_migrated_when_it_is_back(home: Path) -> None:
    trash.delete("run", RUN, home)
    list(migrate(home))
    assert layout.is_up_to_date(home)
    trash.restore("run", RUN, home)
    list(migrate(home))
    assert read_record(home)["version"] == FILE_VERSION
    assert read_rows(home, "attempts")["verdict"].null_count() == 0


def test_what_is_newer_is_refused_by_its_version_and_the_rest_can_be_read(home: Path) -> None:
    list(migrate(home))
    shutil.copytree(home / "runs" / RUN, home / "runs" / "later")
    (home / "runs" / "later" / "run.json").write_text(
        json.dumps(read_record(home) | {"id": "later", "version": FILE_VERSION + 1})
    )
    said = rf"'later' is set aside: run\.json is of version {FILE_VERSION + 1}, this CX Lab knows .* to {FILE_VERSION}"
    with pytest.raises(BadStore, match=said):
        write.load_run("later", home)
    assert [run.id for run in write.list_runs(home)] == [RUN]
    con = connect.open_store(home)
    assert connect.query(con, "SELECT DISTINCT run_id FROM attempts").rows() == [(RUN,)]
    con.close()
    assert list(migrate(home)) == []


def sage_run(**options: Any) -> Run:
    run: dict[str, Any] = {
        "id": "r", "benchmark": "sage", "model": "m", "simulated": True, "judges": (), "dataset_id": "d", "seed": 0,
        "trials": 1, "planned": 1, "prompts": {}, "code": "", "created": "2026-01-01T00:00:00Z",
        "setup": {"options": options},
    }  # fmt: skip
    return Run.model_validate(run)


# What the words of a command line were taken for, when all but false read as true.
READ_AS = {"no": True, "False": True, "off": True, "0": True, "": False, "true": True}


@pytest.mark.parametrize(("word", "meant"), [*READ_AS.items(), (False, False), (True, True), (0, False), (None, False)])
def test_a_switch_of_sage_reads_as_what_really_ran(word: Any, meant: bool) -> None:
    options = upgrade_record(sage_run(system_info=word, turns=4), 1).setup["options"]
    assert options == {"turns": 4, "system_info": meant, "glossary": True, "language": "en"}
    assert REGISTRY["sage"].Options.read(options).to_record() == options


def test_switches_of_cxmarena_and_mmtaup2_read_as_what_really_ran() -> None:
    cx = sage_run(verify="no", sizes="16,64", k=20.9, threshold=0.5, mode=None).model_copy(
        update={"benchmark": "cxmarena"}
    )
    options = upgrade_record(cx, 1).setup["options"]
    assert (options["verify"], options["sizes"], options["k"], options["threshold"], options["mode"]) == (
        True, [16, 64], 20, 0.5, None,
    )  # fmt: skip
    assert REGISTRY["cxmarena"].Options.read(options).to_record() == options
    mm = sage_run(exposure="2", steps=50.7, wer=0.3).model_copy(update={"benchmark": "mmtaup2"})
    options = upgrade_record(mm, 1).setup["options"]
    assert (options["exposure"], options["steps"], options["wer"], options["persona"]) == (2, 50, 0.3, None)


def test_what_a_run_was_narrowed_to_is_told_by_facets() -> None:
    run = sage_run()
    choice = {"scenarios": ["a", "b"], "levels": ["weak"], "limit": 3, "where": [["modality", "voice"]]}
    run = run.model_copy(update={"setup": {"options": {}, "choice": choice}})
    assert upgrade_record(run, 1).setup["choice"] == {
        "limit": 3,
        "where": [["modality", "voice"], ["scenario", "a"], ["scenario", "b"], ["level", "weak"]],
    }


def test_a_run_of_a_benchmark_that_is_not_ours_keeps_its_switches() -> None:
    run = sage_run(anything="goes").model_copy(update={"benchmark": "lamp"})
    assert upgrade_record(run, 1).setup == run.setup


@pytest.fixture
def sealed(home: Path) -> Iterator[Path]:
    home.chmod(0o500)
    yield home
    home.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="whoever may do everything is refused nothing")
def test_an_older_store_that_nobody_may_write_to_says_so(sealed: Path) -> None:
    with pytest.raises(BadStore, match="make it writable"):
        list(migrate(sealed))
