"""The small organisation, opened once a worker, and stored once a worker with questions about it."""

from pathlib import Path

import pytest

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.records import Sample
from tests.benchmarks.crmarena.small_organisation import Rows, make_rows
from tests.benchmarks.crmarena.small_tasks import save_small


@pytest.fixture(scope="session")
def rows() -> Rows:
    return make_rows()


@pytest.fixture(scope="session")
def sandbox(rows: Rows) -> Sandbox:
    return Sandbox.of_tables(to_tables(rows, load_default()), today="2021-03-17")


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Sample]]:
    """A store with the questions of small_tasks.py, and these."""
    home = tmp_path_factory.mktemp("crm")
    return home, save_small(home)
