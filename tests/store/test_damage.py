"""Whatever happens to one run or dataset: the others stay readable, and it is named with the reason."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from cxlab import read
from cxlab.cli import app
from cxlab.store import catalogue, connect, write
from cxlab.store.exports.export import export_runs
from tests.conftest import use

from .damage import DAMAGES, make_two_runs


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_two_runs(tmp_path_factory.mktemp("two") / "store")


@pytest.fixture
def store(two_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = shutil.copytree(two_runs, tmp_path / "store")
    use(home, monkeypatch)
    return home


def invoke(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(args))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


# Ways in which one field of a record is wrong: the reader refuses each with its reason, and from there on the run is
# set aside like any other. For all of them the whole way is gone once, by "seed of 20 digits" and "field missing".
ONE_FIELD = {
    kind
    for kind in DAMAGES
    if kind.startswith(("seed ", "trials ", "planned ", "created ", "setup ", "field ")) and kind != "seed of 20 digits"
} - {"field missing"}


@pytest.mark.parametrize("kind", sorted(ONE_FIELD))
def test_a_field_that_is_wrong_is_named_with_its_run(kind: str, store: Path) -> None:
    damage = DAMAGES[kind]
    damage.do(store)
    (named,) = catalogue.read(store).set_aside
    assert named.name == damage.name
    assert damage.said in named.reason
    assert [run.id for run in write.list_runs()] == ["r2"]


@pytest.mark.parametrize("kind", [kind for kind in DAMAGES if kind not in ONE_FIELD])
def test_the_others_stay_readable_and_the_damaged_one_is_named(kind: str, store: Path) -> None:
    damage = DAMAGES[kind]
    read.ask("SELECT 1 FROM attempts LIMIT 1")  # the process knows the store from before
    damage.do(store)
    code, listed = invoke("runs", "list")
    assert code == 0
    assert "r2  sage" in listed
    named = catalogue.read(store).set_aside
    if damage.name:
        assert len(named) == 1
        assert named[0].name.startswith(damage.name)
        assert damage.said in named[0].reason
        assert str(named[0]) in listed
    else:
        assert not named
        assert "r1  sage" in listed
    # What pages read: nothing counts twice, nothing of r2 is missing.
    counts = dict(read.ask("SELECT run_id, count(*) FROM attempts GROUP BY 1").iter_rows())
    assert counts.pop("r2") == 8
    assert counts in ({}, {"r1": 8})
    assert ("r1" in counts) == any(run.id == "r1" for run in write.list_runs())
    assert set(read.latest_runs()["run_id"]) == {"r2", *counts}
    assert read.health()["attempts"] == 8 * (1 + len(counts))
    assert read.leaderboard(read.View()).height >= 1
    assert read.ask("SELECT count(*) AS n FROM scores WHERE run_id = 'r2'")["n"].item() == 48
    # The doctor mends what can be mended.
    before = sum(path.is_file() for path in store.rglob("*"))
    code, told = invoke("doctor", "--repair", "--json")
    answer = json.loads(told.splitlines()[-1])
    assert (code == 1) == damage.left, told
    assert bool(catalogue.read(store).set_aside) == damage.left
    assert [damage.said in one["problem"] for one in answer["found"]] == [True] * damage.left
    assert not any(one["repairable"] for one in answer["found"])
    # Whatever was wrong is in the trash now, not gone.
    assert sum(path.is_file() for path in store.rglob("*")) >= before


# Views are bound on a store without rows, whatever lies in this one: of each kind of file one is damaged.
FILES = (
    "record cut short", "record missing", "attempts cut short", "scores of another type", "messages empty",
    "votes are text", "traces a folder", "samples cut short", "annotation cut short", "views are text", "views empty",
    "empty parts lost", "foreign files",
)  # fmt: skip


@pytest.mark.usefixtures("views_made_anew")
@pytest.mark.parametrize("kind", FILES)
def test_the_views_are_made_anew_beside_any_damage(kind: str, store: Path) -> None:
    """As after an update of CX Lab whose views differ."""
    DAMAGES[kind].do(store)
    (store / connect.DATABASE).unlink(missing_ok=True)
    con = connect.open_store(store)
    rows = connect.query(con, "SELECT count(*) AS n FROM attempts WHERE run_id = 'r2'")
    con.close()
    assert rows["n"].item() == 8


@pytest.mark.parametrize("kind", ["scores cut short", "footer lost", "votes are text", "part copied", "record empty"])
def test_the_others_are_exported_beside_damage(kind: str, store: Path, tmp_path: Path) -> None:
    DAMAGES[kind].do(store)
    files = export_runs(["r2"], "parquet", tmp_path / "out")
    assert pl.read_parquet(next(path for path in files if path.name == "scores.parquet")).height == 48
