"""`python -m cxlab rejudge`: what is asked, what is kept, and what a kill leaves behind."""

import json
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from llm.fault_server import FaultServer

from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions
from cxlab.errors import BadOption
from cxlab.runner.stored.rejudge import plan_rejudging
from cxlab.store import write

from ..shell import Shell, make_shell, wait_for

FAIR, STRICT = "simulated:judge-fair", "simulated:judge-strict"
CONVERSATIONS = 6


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store with one run, whose judges are two."""
    home = tmp_path_factory.mktemp("mm")
    with pytest.MonkeyPatch.context() as patch:
        shell = make_shell(home, patch)
        words = (
            "--limit",
            str(CONVERSATIONS),
            "--judge",
            FAIR,
            "--judge",
            STRICT,
            "--option",
            'judge_groups=["safety"]',
        )
        said = shell.call("run", "mmtaup2", "--model", "simulated:weak", *words, "--workers", "1", "--json", "--quiet")
        assert said.returncode == 0, said.stderr
        return home, json.loads(said.stdout)["runs"][0]["run"]


@pytest.fixture
def source(ran: tuple[Path, str], shell: Shell) -> str:
    import shutil

    shutil.copytree(ran[0], shell.home, dirs_exist_ok=True)
    return ran[1]


def told(said: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert said.returncode == 0, said.stderr
    return dict(json.loads(said.stdout.splitlines()[-1]))


def verdicts(shell: Shell, run_id: str) -> pl.DataFrame:
    about = shell.read(run_id).select("attempt_id", "sample_id")
    rows = shell.read(run_id, "judgements").join(about, on="attempt_id")
    return rows.select("sample_id", "judge", "field", "verdict").sort(pl.all())


def judged(shell: Shell) -> list[Path]:
    return list((shell.home / "runs").glob("run-*/parts/*/judgements.parquet"))


def test_a_patch_asks_once_and_only_what_is_new(shell: Shell, source: str) -> None:
    first = told(shell.call("rejudge", source, "--version", "1", "--version", "2", "--json"))
    assert (first["kept"], first["asked"], len(first["runs"])) == (0, 4, 1)
    (run_id,) = (entry["run"] for entry in first["runs"])
    fields = verdicts(shell, run_id).group_by("field", "judge").len()
    assert set(fields["judge"]) == {FAIR, STRICT, "measured"}
    assert set(fields["field"]) == {f"{name}_v{v}" for name in ("transfer", "solved") for v in (1, 2)}
    assert set(fields["len"]) == {CONVERSATIONS}
    assert told(shell.call("rejudge", source, "--version", "2", "--json"))["runs"] == []
    # A new version is asked of all, and of a new judge all: two runs, none of the old questions among them.
    rubric_versions.add("Handing over never counts.", "It was a habit.")
    more = told(shell.call("rejudge", source, "--judge", FAIR, "--judge", "simulated:judge-lenient", "--json"))
    asked = {write.load_run(each["run"]).judges: each["run"] for each in more["runs"]}
    assert (more["kept"], more["asked"], set(asked)) == (2, 6, {(FAIR,), ("simulated:judge-lenient",)})
    assert set(verdicts(shell, asked[(FAIR,)])["field"]) == {
        f"{name}_v{v}" for name in ("transfer", "solved") for v in (3, 4)
    }
    flat = verdicts(shell, asked[(FAIR,)]).filter((pl.col("field") == "transfer_v4") & (pl.col("judge") == FAIR))
    assert not {"right", "missed"} & set(flat["verdict"])
    assert len(told(shell.call("rejudge", source, "--again", "--json", "--version", "1"))["runs"]) == 1


def test_a_killed_patch_goes_on_and_says_the_same(shell: Shell, source: str) -> None:
    reply = json.dumps({"solved": "no", "transfer": "none", "reason": "so"})
    with FaultServer() as server:
        scene = server.scene("ok", reply=reply, latency_s=0.35)
        shell.endpoint(scene.url)
        words = ("rejudge", source, "--judge", "endpoint:test", "--version", "1", "--version", "3", "--quiet")
        process = shell.start(*words, "--concurrency", "1")
        wait_for(lambda: any(source not in str(path) for path in judged(shell)))
        process.kill()
        process.communicate()
        before = scene.calls
        (run_id,) = (each.id for each in write.list_runs() if each.setup.get("rescored_from"))
        left = CONVERSATIONS - len(shell.pairs(run_id))
        scene.latency_s = 0.0
        said = told(shell.call(*words, "--json"))
    assert [entry["run"] for entry in said["runs"]] == [run_id]
    assert 0 < left < CONVERSATIONS
    assert scene.calls - before == 2 * left
    found = verdicts(shell, run_id).filter(pl.col("judge") == "endpoint:test")
    assert found.height == found.unique().height == CONVERSATIONS * 2 * 2
    # Whoever reads the same prompts is asked by them: the rule stands in what the server got.
    texts = json.dumps(scene.bodies)
    assert all(rule.say("telecom")[:40] in texts for rule in rubric_versions.rules() if rule.version != 2)


def test_mistakes_are_told_with_the_fix(shell: Shell, source: str) -> None:
    assert "known: 1, 2, 3" in shell.call("rejudge", source, "--version", "8").stderr
    assert "unknown run" in shell.call("rejudge", "run-1").stderr
    lamp = shell.plan("--model", "simulated:weak")
    assert "the rule about handing over of mmtaup2" in shell.call("rejudge", lamp).stderr
    made = told(shell.call("rejudge", source, "--version", "1", "--json"))["runs"][0]["run"]
    assert f"name the run it asked about: {source}" in shell.call("rejudge", made).stderr
    write.create_run(write.load_run(source).model_copy(update={"id": "silent", "judges": ()}))
    with pytest.raises(BadOption, match="had no judges"):
        plan_rejudging(["silent"], ())
