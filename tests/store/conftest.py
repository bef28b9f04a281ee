from pathlib import Path

import pytest

from cxlab.store import write

from .store_records import make_attempt, make_dataset, make_run, make_samples, samples_by_id


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A store with dataset d1 and the empty run r1."""
    base = tmp_path / "store"
    write.save_dataset(make_dataset(), make_samples(), base)
    write.create_run(make_run(), base)
    return base


@pytest.fixture
def filled(home: Path) -> Path:
    """The same with 60 attempts in three batches."""
    for start in (0, 20, 40):
        with write.PartWriter(make_run(), samples_by_id(), home=home) as writer:
            for number in range(start, start + 20):
                writer.add(*make_attempt(number))
    return home
