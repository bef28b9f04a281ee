from pathlib import Path

import pytest

from .shell import Shell, make_shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return make_shell(tmp_path / "home", monkeypatch)
