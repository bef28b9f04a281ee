import inspect
import shutil
from pathlib import Path

import pytest

from cxlab.store import connect, write

from .store_records import make_attempt, make_dataset, make_run, make_samples, samples_by_id


@pytest.fixture(scope="session")
def empty_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("empty") / "store"
    write.save_dataset(make_dataset(), make_samples(), base)
    write.create_run(make_run(), base)
    return base


@pytest.fixture(scope="session")
def full_run(empty_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = shutil.copytree(empty_run, tmp_path_factory.mktemp("full") / "store")
    for start in (0, 20, 40):
        with write.PartWriter(make_run(), samples_by_id(), home=base) as writer:
            for number in range(start, start + 20):
                writer.add(*make_attempt(number))
    return base


@pytest.fixture
def views_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each new store makes its database, as outside of tests; see tests/made_once.py."""
    monkeypatch.setattr(connect, "_create", inspect.unwrap(connect._create))


@pytest.fixture
def home(empty_run: Path, tmp_path: Path) -> Path:
    """A store with dataset d1 and the empty run r1."""
    return shutil.copytree(empty_run, tmp_path / "store")


@pytest.fixture
def filled(full_run: Path, tmp_path: Path) -> Path:
    """The same with 60 attempts in three batches."""
    return shutil.copytree(full_run, tmp_path / "store")
