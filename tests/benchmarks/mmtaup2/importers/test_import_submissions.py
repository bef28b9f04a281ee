"""Leaderboard submissions become published figures: named, replaced when they come again, and no run."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cxlab.benchmarks.mmtaup2.importers.tau2_submissions import read_submissions
from cxlab.cli import app
from cxlab.errors import BadFile
from cxlab.read.results.published import list_files, published, published_board

ONE = {
    "model_name": "Model A",
    "model_organization": "Somebody",
    "modality": "text",
    "results": {
        "telecom": {"pass_1": 98.2, "pass_2": 96.0, "pass_3": None, "pass_4": 90.5, "cost": 0.31},
        "retail": {"pass_1": 81.0, "pass_2": None, "pass_3": None, "pass_4": None},
        "airline": None,
    },
    "methodology": {"user_simulator": "gpt-4.1"},
}


def write(folder: Path, name: str, content: object) -> Path:
    (folder / name).mkdir(parents=True)
    path = folder / name / "submission.json"
    path.write_text(json.dumps(content))
    return path


def test_submissions_stand_among_the_published_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "home"))
    write(tmp_path / "in", "a", ONE)
    write(tmp_path / "in", "b", {**ONE, "model_name": "Model B", "results": {"telecom": {"pass_1": 70.0}}})
    write(tmp_path / "in", "c", {"model_name": "nothing"})
    said = CliRunner().invoke(app, ["import", "tau2-submissions", str(tmp_path / "in"), "--json"])
    assert said.exit_code == 0, said.output
    record = json.loads(said.stdout.strip().splitlines()[-1])
    assert record == {"models": ["Model A", "Model B"], "domains": ["retail", "telecom"], "rejected": 1}
    tables = {table.id: table for table in published(list_files(tmp_path / "home" / "published"))}
    assert sorted(tables) == ["submissions_retail", "submissions_telecom"]
    board = published_board([tables["submissions_telecom"]])
    assert board.select("entity", "value", "unit").rows() == [
        ("Model A", 98.2, "percent"),
        ("Model B", 70.0, "percent"),
    ]
    assert tables["submissions_telecom"].frame["cost"].to_list() == [0.31, None]
    # No run and no dataset came of it.
    assert not (tmp_path / "home" / "runs").exists() or not any((tmp_path / "home" / "runs").iterdir())


def test_a_model_submitted_again_replaces_its_row(tmp_path: Path) -> None:
    path = write(tmp_path, "a", ONE)
    read_submissions(path).save(tmp_path / "home")
    path.write_text(json.dumps({**ONE, "results": {"telecom": {"pass_1": 99.0}}}))
    read_submissions(path).save(tmp_path / "home")
    tables = {table.id: table for table in published(list_files(tmp_path / "home" / "published"))}
    assert tables["submissions_telecom"].frame["pass_1"].to_list() == [99.0]
    assert tables["submissions_retail"].frame["pass_1"].to_list() == [81.0]


@pytest.mark.parametrize(
    "content",
    [{}, [], {"model_name": "A", "results": {}}, {"model_name": "A", "results": {"retail": {"pass_1": 300}}},
     {"model_name": "A", "results": {"retail": None}}],
)  # fmt: skip
def test_what_is_no_submission_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(BadFile):
        read_submissions(write(tmp_path, "a", content))
