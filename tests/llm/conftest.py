from collections.abc import Iterator

import pytest

from .fault_server import FaultServer


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No key or endpoint of whoever runs the tests may reach them."""
    for name in ("CXLAB_ENDPOINT_URL", "CXLAB_ENDPOINT_KEY", "CXLAB_ENDPOINT_MODEL", "CXLAB_MODELS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path_factory.mktemp("home")))
