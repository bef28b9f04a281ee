import os
from pathlib import Path

import pytest

from cxlab.commands.serve import serve


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
    monkeypatch.setattr(os, "execv", lambda program, words: found.append(os.environ.get("POLARS_MAX_THREADS")))
    serve(port=8501, browser=False)
    assert found == [expected]
