"""A Salesforce organisation on this machine, named in the environment."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cxlab.benchmarks.crmarena.live import connection
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from tests.benchmarks.crmarena.live.fillable_server import Fillable
from tests.benchmarks.crmarena.live.salesforce_server import TOKEN, Salesforce, serve


@contextmanager
def running(organisation: Salesforce, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("simple_salesforce")
    http = serve(organisation)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv(connection.URL, f"http://127.0.0.1:{http.server_port}")
    monkeypatch.setenv(connection.TOKEN, TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield
    http.shutdown()
    http.server_close()
    thread.join(10)


@pytest.fixture
def server(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Salesforce]:
    organisation = Salesforce(sandbox)
    with running(organisation, monkeypatch):
        yield organisation


@pytest.fixture
def empty_server(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fillable]:
    organisation = Fillable(sandbox, page=2000)
    with running(organisation, monkeypatch):
        yield organisation
