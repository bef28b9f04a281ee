import os
from pathlib import Path

import pytest

from cxlab import jobs
from cxlab.commands.serve import serve
from cxlab.resources import SERVED_HERE, own_environment


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("3", "3")])
def test_app_answers_small_questions_on_one_thread_unless_told_otherwise(
    given: str | None, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("POLARS_MAX_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("POLARS_MAX_THREADS")
    found: list[str | None] = []
    monkeypatch.setattr(os, "chdir", lambda folder: None)
    started_with: list[str | None] = []

    def execute(program: str, words: list[str]) -> None:
        found.append(os.environ.get("POLARS_MAX_THREADS"))
        started_with.append(own_environment().get("POLARS_MAX_THREADS"))

    monkeypatch.setattr(os, "execv", execute)
    monkeypatch.delenv(SERVED_HERE, raising=False)
    # What the server sets is taken back with the test.
    monkeypatch.setattr(os, "environ", os.environ.copy())
    serve(port=8501, browser=False)
    assert found == [expected]
    assert started_with == [given], "work that a page starts has the environment of its user"


@pytest.mark.parametrize("wanted", [True, False])
def test_the_demo_can_be_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: bool) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.delenv(jobs.NO_AUTOSTART, raising=False)
    monkeypatch.setattr(os, "chdir", lambda folder: None)
    monkeypatch.setattr(os, "execv", lambda *command: None)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    serve(port=8501, browser=False, demo=wanted)
    assert (jobs.NO_AUTOSTART in os.environ) is not wanted
