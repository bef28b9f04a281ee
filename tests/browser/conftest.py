"""One server, one small store and one Chromium for all tests of this folder."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlparse

import pytest

from cxlab import jobs

from .hostile import plant_attempt

pytest.importorskip("playwright.sync_api", reason="the browser tests need the package playwright")
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-prefers-reduced-motion",
    # A page is drawn once or twice: to optimise its scripts costs more than it gains.
    "--js-flags=--max-lazy --no-opt --no-maglev",
    # A request that leaves is counted, and goes nowhere.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]
# What Streamlit shows while a page is on its way pulses for ever, and whoever asked for less motion is shown it all the
# same: where the processor draws, each frame of it takes time from the page that is waited for.
STILL = """new MutationObserver((_, watch) => {
  if (!document.documentElement) return;
  watch.disconnect();
  const style = document.createElement('style');
  style.textContent = '*, *::before, *::after {animation: none !important}';
  document.documentElement.append(style);
}).observe(document, {childList: true});"""
# Streamlit asks for these beside each page of a deep link and takes the 404 as an answer.
EXPECTED = ("/_stcore/health", "/_stcore/host-config")
RUN = "run sage --model simulated:strong --model simulated:weak --limit 24 --quiet"
SCENARIOS = ("telecom_package", "online_education")
PATIENCE_MS = 90_000
SIZE: ViewportSize = {"width": 1440, "height": 900}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here; say why it is skipped where there is no browser."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)
            # A click that a page under load loses, one in thousands, is not the page's fault; a second loss is.
            item.add_marker(pytest.mark.flaky(reruns=1))
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine: apt-get install chromium"))


@dataclass(frozen=True)
class Lab:
    """A running app, its store, and the one attempt in it in which everybody is hostile."""

    url: str
    home: Path
    hostile: str = ""


@dataclass
class Window:
    """A browser context that remembers what no page may do."""

    context: BrowserContext
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.set_default_timeout(PATIENCE_MS)
        self.context.on("request", self._on_request)
        self.context.on("console", self._on_console)
        self.context.on("weberror", lambda fault: self.wrong.append(f"page error: {fault.error}"))

    def _on_request(self, request: Request) -> None:
        address = urlparse(request.url)
        if address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1":
            self.wrong.append(f"request to {request.url}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.location.get("url", "").endswith(EXPECTED):
            self.wrong.append(f"console: {message.text} {message.location.get('url', '')}".rstrip())

    @contextmanager
    def tab(self) -> Iterator[Page]:
        """The window's one tab, as a test before has left it: each address opened in it is a session of its own.

        A second tab would compile all of Streamlit's scripts anew, for more than what else a test costs.
        """
        if not self.context.pages:
            self.context.new_page()
        page = self.context.pages[0]
        page.set_viewport_size(SIZE)
        page.emulate_media(color_scheme="light")
        yield page
        wrong = list(dict.fromkeys(self.wrong))
        # Else the page goes on asking for a server that may end with its test, and the next test is blamed.
        page.goto("about:blank")
        self.wrong.clear()
        assert wrong == []


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("browser-home")
    command = [sys.executable, "-m", "cxlab", *RUN.split(), *(f"--scenario={name}" for name in SCENARIOS)]
    filling = subprocess.Popen(command, cwd=ROOT, env=environment(home))
    with serving(home) as url:
        try:
            assert filling.wait(300) == 0
        finally:
            filling.kill()
        yield Lab(url, home, plant_attempt(home))
        stop_jobs(home)


@pytest.fixture
def as_before(lab: Lab) -> Iterator[None]:
    """Datasets and runs of this test alone, so that the pages of the others look as they did."""

    def stored() -> set[Path]:
        return {path for kind in ("datasets", "runs") for path in (lab.home / kind).glob("*")}

    held = stored()
    yield
    for made in stored() - held:
        shutil.rmtree(made)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="package")
def window(browser: Browser) -> Iterator[Window]:
    """The window that the tests share, so that Streamlit's own files are fetched and compiled once."""
    context = browser.new_context()
    context.add_init_script(STILL)
    yield Window(context)
    context.close()


@pytest.fixture
def page(window: Window) -> Iterator[Page]:
    with window.tab() as tab:
        yield tab


def environment(home: Path) -> dict[str, str]:
    """Ours without anybody's keys, for a store in `home`."""
    ours = ("CXLAB_", "OPENAI_", "STREAMLIT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "CXLAB_HOME": str(home), "CXLAB_NO_AUTOSTART": "1"}


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """The app on a free port, until the block ends; a traceback in its log fails whoever used it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    log = home.with_name(f"{home.name}.log")
    with log.open("w") as sink:
        server = subprocess.Popen(
            [*command, "--server.fileWatcherType=none"], cwd=ROOT, env=environment(home), stdout=sink, stderr=sink
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_up(url, server, log)
            yield url
        finally:
            server.terminate()
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    assert (faults := faults_in(log.read_text())) == [], "\n".join(faults)[-4000:]


def faults_in(said: str) -> list[str]:
    """The tracebacks of a server's log, but for the one that Streamlit writes when a tab closes in mid-run.

    A page object that is made without a session stays empty, so that drawing it fails for nobody to see.
    """
    found = re.findall(
        r"Traceback \(most recent call last\).*?\n(?=\w[\w.]*(?:Error|Exception)\b)[^\n]*", said, re.DOTALL
    )
    return [fault for fault in found if "object has no attribute '_url_path'" not in fault]


def wait_until_up(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 300
    while True:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).close()
            return
        except (urllib.error.URLError, OSError):
            if server.poll() is not None or time.monotonic() > until:
                pytest.fail(f"the app did not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.1)


def stop_jobs(home: Path) -> None:
    """Work that a test started from a page is a process of its own: none may stay behind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(home))
        for job in jobs.list_jobs():
            jobs.cancel(job.id)
