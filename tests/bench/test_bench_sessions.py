"""Many sessions on one server, with few: what is measured is measured, and what goes wrong is told."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cxlab.bench import sessions
from cxlab.bench.pages import list_views


def test_sessions_click_and_are_measured(made_up: Path, tmp_path: Path) -> None:
    shutil.copytree(made_up, tmp_path / "home")
    found = sessions.measure(tmp_path, {"sessions": 2, "every_s": 0.1, "reruns": 10}, sessions.OURS)
    assert found.faults == []
    assert len(found.seconds) >= 10
    assert all(each > 0 for each in found.seconds)
    assert 0 < found.p50 <= found.p95 <= max(found.seconds)
    assert found.cpu_s > 0
    assert len(found.memory_mb) == 10
    assert all(each > 50 for each in found.memory_mb)


def test_a_server_that_is_not_there_is_a_fault_for_each_session() -> None:
    load = json.dumps({"sessions": 2, "every_s": 0.0, "reruns": 1})
    said = subprocess.run(
        [sys.executable, "-m", "cxlab.server.visitors", "http://127.0.0.1:9", load],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = json.loads(said.stdout.splitlines()[-1])
    assert found["seconds"] == []
    assert len(found["faults"]) == 2


def test_numbers_are_told_as_they_are(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(folder: Path, load: dict[str, float], settings: tuple[str, ...]) -> sessions.ServerMeasurement:
        slow = 10.0 if settings else 1.0
        return sessions.ServerMeasurement([0.1 * slow] * 1000, 50.0 * slow, [400.0] * 6 + [500.0] * 4, ["broken"])

    monkeypatch.setattr(sessions, "measure", measure)
    assert sessions.main(["--attempts", "90", "--compare"]) == 1
    said = capsys.readouterr().out
    assert "ratio         10.0    10.0           10.0" in said
    assert "memory grew to 1.15" not in said
    assert "broken" in said


def test_every_view_of_a_page_is_measured() -> None:
    assert list_views("judges") == [
        "", "tab=review", "tab=agreement", "tab=bias", "tab=changes", "tab=verdicts",
        "tab=bias&judges-against=truth",
    ]  # fmt: skip
    assert list_views("glossary") == [""]
