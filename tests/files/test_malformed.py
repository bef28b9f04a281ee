"""Malformed files: each a complaint with file and line, through every door that people's files come in by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cxlab import files, llm
from cxlab.benchmarks.cxmarena.brand import pack_files
from cxlab.benchmarks.sage.procedures import check
from cxlab.cli import app
from cxlab.errors import BadFile, CxError
from cxlab.llm.registry import prices, user_file
from tests.files.malformed import JSON_LINES, MODELS, TOML, YAML

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def models_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.delenv("CXLAB_MODELS", raising=False)
    return user_file()


@pytest.mark.parametrize("name", YAML)
def test_yaml(name: str, tmp_path: Path) -> None:
    content, line, problem = YAML[name]
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    for found in (check.check_file(path), pack_files.check_file(path)):
        assert str(found[0]).startswith(f"mine.yaml:{line}: "), found[0]
        assert problem in found[0].problem
        assert "\n" not in str(found[0])
    with pytest.raises(BadFile, match=rf"mine\.yaml:{line}: "):
        pack_files.load(path)


@pytest.mark.parametrize("name", TOML)
def test_toml(name: str, models_file: Path) -> None:
    content, line, problem = TOML[name]
    models_file.write_bytes(content)
    (complaint,) = llm.complaints()
    assert str(complaint).startswith(f"{models_file}:{line}: ")
    assert problem in complaint.problem
    # What ships and what is simulated can be used; what the user may have meant otherwise is not guessed.
    assert llm.load("simulated:strong").name == "simulated:strong"
    assert "openai:gpt-4.1" in {row.name for row in llm.known()}
    with pytest.raises(BadFile, match=rf"models\.toml:{line}: "):
        llm.load("endpoint:local")


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str, models_file: Path) -> None:
    content, line, problem = MODELS[name]
    sound = "[endpoints.sound]\nbase_url = 'http://127.0.0.1:1/v1'\nprompt_usd = 1\ncompletion_usd = 2.5\n"
    models_file.write_text(content + ("" if content.startswith("endpoints =") else sound), encoding="utf-8")
    (complaint,) = llm.complaints()
    assert str(complaint).startswith(f"{models_file}:{line}: ")
    assert problem in complaint.problem
    assert "sk-123" not in str(complaint)
    rows = {row.name: row for row in llm.known()}
    if "x]" in content or "\nx " in content:
        with pytest.raises(BadFile, match=rf"models\.toml:{line}: "):
            llm.load("endpoint:x")
    if "endpoints.x" in content:
        assert not rows["endpoint:x"].configured
        assert f":{line}: " in rows["endpoint:x"].needs
    if content.startswith("endpoints ="):
        return
    assert rows["endpoint:sound"].configured
    noted = prices("endpoint:sound")
    assert noted is not None
    assert (noted.prompt_usd, noted.completion_usd) == (1.0, 2.5)


def test_a_damaged_models_file_stops_no_command_that_can_do_without(
    models_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models_file.write_text("[endpoints.x]\nbase_url = 'http://127.0.0.1:1/v1'\nprompt_usd = 'free'\n")
    app(["models"], standalone_mode=False)
    out, err = capsys.readouterr()
    assert "simulated:strong  [ready]" in out
    assert "endpoint:x  [needs: mend " in out
    assert err.strip() == f"cxlab: {llm.complaints()[0]}"
    command = ["run", "sage", "--scenario", "telecom_package", "--limit", "1", "--turns", "1", "--plan"]
    with pytest.raises(CxError, match=r"models\.toml:3: prompt_usd = 'free'"):
        app([*command, "--model", "endpoint:x"], standalone_mode=False)
    assert not list(models_file.parent.glob("runs/*"))
    app([*command, "--model", "simulated:strong"], standalone_mode=False)
    assert len(list(models_file.parent.glob("runs/*"))) == 1


@pytest.mark.parametrize("name", JSON_LINES)
def test_json_lines(name: str, tmp_path: Path) -> None:
    content, line, problem = JSON_LINES[name]
    path = tmp_path / "talks.jsonl"
    path.write_bytes(content)
    first, second = files.read_json_lines(path)
    assert first == (1, {"a": 1})
    assert second[0] == line
    assert isinstance(second[1], BadFile)
    assert str(second[1]).startswith(f"{path}:{line}: ")
    assert problem in str(second[1])


def test_what_they_cost() -> None:
    """Under 300 MB for all of them, and for each under a second of this machine's time, idle or not."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.files.malformed"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    slowest, peak = map(float, done.stdout.split())
    assert peak < 300
    # Ten times what it takes, so that it fails for a reader that is not linear and not for a slow machine.
    assert slowest < 10
