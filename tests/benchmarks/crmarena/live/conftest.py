"""A Salesforce organisation on this machine, named in the environment."""

import threading
from collections.abc import Iterator

import pytest

from cxlab.benchmarks.crmarena.live import connection
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from tests.benchmarks.crmarena.live.salesforce_server import TOKEN, Salesforce, serve


@pytest.fixture
def server(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Salesforce]:
    pytest.importorskip("simple_salesforce")
    organisation = Salesforce(sandbox)
    http = serve(organisation)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    monkeypatch.setenv(connection.URL, f"http://127.0.0.1:{http.server_port}")
    monkeypatch.setenv(connection.TOKEN, TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield organisation
    http.shutdown()
    http.server_close()
    thread.join(10)
