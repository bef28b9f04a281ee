"""The small organisation, opened once a worker."""

import pytest

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from tests.benchmarks.crmarena.small_organisation import Rows, make_rows


@pytest.fixture(scope="session")
def rows() -> Rows:
    return make_rows()


@pytest.fixture(scope="session")
def sandbox(rows: Rows) -> Sandbox:
    return Sandbox.of_tables(to_tables(rows, load_default()), today="2021-03-17")
