"""A small store of made-up runs, built once a process: 5 models, 18 samples, 4 turns each."""

from pathlib import Path

import pytest

from cxlab.runner.bench_pages import make_store


@pytest.fixture(scope="session")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("read-home")
    make_store(home, attempts=90)
    return home


@pytest.fixture
def home(made_up: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store that `read` sees; not to be changed."""
    monkeypatch.setenv("CXLAB_HOME", str(made_up))
    return made_up
