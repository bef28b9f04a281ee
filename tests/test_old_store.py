"""A store that an earlier version left opens with all that was in it; tests/data/make_store_1.py made it."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cxlab import jobs
from tests.conftest import use
from tests.goldens.store import call, say
from tests.old_store import FACTS, read_facts
from tests.pages.app_script import open_page, words

pytestmark = pytest.mark.xdist_group("old_store")
# Runs that lost attempts to a provider, all of them or some.
LOST = {"run-261122-120337-81220949": "failed", "tau2-6a1d3dff42ad": "partly"}
PAGES = (
    "overview", "compare", "failures", "sop_paths", "judges", "knowledge", "retrieval", "persona_lab", "datasets",
    "run", "models",
)  # fmt: skip


@pytest.fixture(scope="module")
def unpacked(old_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(old_store, tmp_path_factory.mktemp("unpacked") / "home")


@pytest.fixture
def home(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store, for tests that look at it only."""
    use(unpacked, monkeypatch)
    return unpacked


@pytest.fixture
def own_home(unpacked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same for tests that write to it."""
    copied = shutil.copytree(unpacked, tmp_path / "home")
    use(copied, monkeypatch)
    return copied


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
    return known


def find(facts: dict[str, Any], **wanted: str) -> str:
    """The one run of these properties."""
    (run,) = (id for id, run in facts["runs"].items() if all(run[key] == value for key, value in wanted.items()))
    return str(run)


def test_runs_rows_figures_and_annotations_are_as_they_were(home: Path, facts: dict[str, Any]) -> None:
    found = read_facts(home)
    assert found["runs"].keys() == facts["runs"].keys()
    for run_id, known in facts["runs"].items():
        # What was called cancelled is stopped, what was called stopped has stalled, and what providers did not deliver
        # is not done.
        state = {"cancelled": "stopped", "stopped": "stalled"}.get(known["state"], known["state"])
        state = LOST.get(run_id, state)
        # Today's tables may have columns more.
        figures = zip(known["figures"], found["runs"][run_id]["figures"], strict=True)
        told = {"state": state, "figures": [{name: row.get(name) for name in old} for old, row in figures]}
        assert found["runs"][run_id] | told == known | {"state": state}, run_id
    assert found["scores"] == facts["scores"]
    assert found["annotations"] == facts["annotations"]
    assert found["samples"] == facts["samples"]
    # What the facts must hold for the comparison to say anything.
    states = Counter(run["state"] for run in facts["runs"].values())
    assert states == {"done": 15, "cancelled": 1, "stopped": 1}
    assert {run["benchmark"] for run in facts["runs"].values()} == {"sage", "cxmarena", "mmtaup2"}
    assert Counter(kind for kind, *_ in facts["annotations"]) == {
        "note": 3, "tag": 3, "untag": 1, "withdrawn": 1, "adjudication": 2,
    }  # fmt: skip


@pytest.mark.parametrize("format", ["csv", "jsonl", "duckdb"])
def test_exports_of_it_work(home: Path, facts: dict[str, Any], tmp_path: Path, format: str) -> None:
    target = tmp_path / ("out.duckdb" if format == "duckdb" else "out")
    said = say("export", "--to", str(target), "--format", format).split()
    assert all(Path(path).stat().st_size for path in said)
    rows = sum(run["rows"]["attempts"] for run in facts["runs"].values())
    if format == "jsonl":
        lines = [json.loads(line) for line in (target / "attempts.jsonl").read_text(encoding="utf-8").splitlines()]
        assert len(lines) == rows
        assert {line["run_id"] for line in lines} == facts["runs"].keys()


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_on_it(home: Path, page: str) -> None:
    check(open_page(page))


def check(app: AppTest) -> AppTest:
    assert not app.exception
    assert not app.error
    return app


def test_what_people_wrote_is_shown(home: Path, facts: dict[str, Any]) -> None:
    noted = next(entry for entry in facts["annotations"] if entry[0] == "note")
    app = check(open_page("failures", attempt=f"{noted[2]}/{noted[3]}"))
    assert "Reads the status, then forgets it." in words(app)
    taken_back = next(entry for entry in facts["annotations"] if entry[-1] == "Written by mistake.")
    app = check(open_page("failures", attempt=f"{taken_back[2]}/{taken_back[3]}"))
    assert "Written by mistake." not in words(app)
    decided = next(entry for entry in facts["annotations"] if entry[0] == "adjudication")
    app = check(open_page("judges", tab="queue", run=decided[2]))
    # The table of decisions: both that were taken, whatever run is looked at.
    assert any("ada" in table.value.to_string() and len(table.value) == 2 for table in app.dataframe)


def test_attempts_of_each_benchmark_open(home: Path, facts: dict[str, Any]) -> None:
    opened = {facts["runs"][run]["benchmark"]: f"{run}/{attempt}" for run, attempt, _, _ in facts["scores"]}
    assert opened.keys() == {"sage", "cxmarena", "mmtaup2"}
    for attempt in opened.values():
        check(open_page("failures", attempt=attempt))


def test_jobs_of_it_are_remembered(home: Path) -> None:
    known = jobs.list_jobs()
    assert [(job.kind, job.state) for job in known] == [
        ("run", "failed"), ("run", "stalled"), ("run", "stopped"), ("run", "done"), ("generate", "done"),
    ]  # fmt: skip
    assert [len(job.runs) for job in known] == [0, 1, 1, 1, 0]
    assert "unknown simulated model 'nobody'" in known[0].log.read_text()
    assert jobs.stages(known[-1].id)[1].startswith("cxmarena-hearthwise-")


def test_a_stopped_run_of_it_goes_on(own_home: Path, facts: dict[str, Any]) -> None:
    run = find(facts, state="stopped")
    before = facts["runs"][run]["rows"]["attempts"]
    # A tenth of the 200 attempts, of which some were finished before.
    said = say("run", "--resume", run, "--shard=1/10", "--json", "--quiet", codes=(0, 3))
    (entry,) = json.loads(said.splitlines()[-1])["runs"]
    assert before < read_facts(own_home)["runs"][run]["rows"]["attempts"] <= before + 20
    assert entry["run"] == run


def test_a_live_run_of_it_can_be_judged_and_a_deleted_one_restored(own_home: Path, facts: dict[str, Any]) -> None:
    live = find(facts, benchmark="mmtaup2", planned=2, model="simulated:strong")
    (judged,) = call("score", live, "--judge=simulated:judge-fair", "--json", "--quiet")["runs"]
    assert (judged["done"], judged["state"]) == (2, "done")
    (gone,) = (path.name.partition("~")[0] for path in (own_home / "trash").glob("run-*"))
    say("runs", "restore", gone)
    assert read_facts(own_home)["runs"][gone]["rows"]["attempts"] == 1
