"""The app's server as strangers meet it: real HTTP, real WebSockets, real signals."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from cxlab.server.visitors import STREAM, Session

pytestmark = pytest.mark.xdist_group("server")
ROOT = Path(__file__).parents[1]
OWN_NAME = "lab.example"
APP = [sys.executable, "-m", "cxlab", "app", "--no-browser", "--host-name", OWN_NAME]
BARE = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.allowedHosts", "localhost"]
BARE += ["--server.allowedHosts", "127.0.0.1"]
PATHS = ("/", "/run", "/_stcore/health", "/_stcore/host-config", "/_stcore/metrics", "/media/0.png", "/static/index.js")
FOREIGN = ("evil.example", "127.0.0.1.evil.example", "localhost.", "169.254.169.254", "lab.example.evil.example")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(
    command: list[str], home: Path, port_option: str, cwd: Path
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port, log = free_port(), home.with_name("server.log")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("CXLAB_", "STREAMLIT_"))}
    env |= {"CXLAB_HOME": str(home), "CXLAB_NO_AUTOSTART": "1", "PYTHONPATH": str(ROOT)}
    with log.open("wb") as sink:
        server = subprocess.Popen([*command, port_option, str(port)], cwd=cwd, env=env, stdout=sink, stderr=sink)
        try:
            until = time.monotonic() + 300
            while not answers(port):
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.1)
            yield port, server
        finally:
            server.kill()
            server.wait()


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=60) as answer:
            return bool(answer.read() == b"ok")
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    home = tmp_path_factory.mktemp("served") / "home"
    # From another folder than the project's: its settings hold all the same.
    with serving(APP, home, "--port", home.parent) as (port, _):
        yield port


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str]]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}


async def draw(port: int, host: str, origin: str | None) -> list[str]:
    """Draw a page as a browser would that calls the server `host`; the exceptions it shows."""
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.setblocking(False)
        where = f"ws://{host}/{STREAM}"
        async with connect(where, sock=line, origin=origin, subprotocols=["streamlit"], max_size=None) as stream:
            session = Session(stream)
            await session.open("models")
            return session.faults


def status_of(port: int, host: str, origin: str | None) -> int:
    with pytest.raises(InvalidStatus) as refused:
        asyncio.run(draw(port, host, origin))
    return int(refused.value.response.status_code)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", OWN_NAME])
def test_whom_the_owner_allows_is_served(port: int, name: str) -> None:
    for host in (f"{name}:{port}", name):
        assert [ask(port, path, Host=host)[0] for path in PATHS[:4]] == [200] * 4
        assert ask(port, "/", Host=host, Origin=f"http://{host}")[0] == 200
    host = f"{name}:{port}"
    assert asyncio.run(draw(port, host, f"http://{host}")) == []


def test_programs_and_proxies_connect(port: int) -> None:
    assert asyncio.run(draw(port, f"127.0.0.1:{port}", None)) == []
    assert asyncio.run(draw(port, OWN_NAME, f"https://{OWN_NAME}")) == []


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_host_reaches_nothing(port: int, name: str) -> None:
    for host in (name, f"{name}:{port}"):
        assert {ask(port, path, Host=host)[0] for path in PATHS} == {400}
        assert {ask(port, path, Host=host, Origin=f"http://{host}")[0] for path in PATHS} == {400}
        assert ask(port, "/_stcore/upload_file/a/b", "PUT", Host=host)[0] == 400
        # What DNS rebinding comes to: both are foreign and agree.
        assert status_of(port, host, f"http://{host}") == 400
        assert status_of(port, host, None) == 400


def test_hosts_that_are_none_reach_nothing(port: int) -> None:
    for host in ("", "127.0.0.1:99999999", "127.0.0.1@evil.example", "127.0.0.1/x", "a b", "[::1", "127.0.0.1, x"):
        status, _ = ask(port, "/", Host=host)
        assert status == 400 or host.startswith("127.0.0.1:9"), host
    assert ask(port, "/")[0] == 400


def test_a_foreign_origin_reaches_nothing(port: int) -> None:
    own = f"127.0.0.1:{port}"
    origins = (
        "http://evil.example",
        "https://evil.example:443",
        "null",
        "http://localhost:3000",
        f"http://{own}.evil.example",
    )
    for origin in (
        *origins,
        "http://127.0.0.1",
        f"http://localhost:{port}",
        f"http://{own}@evil.example",
        "",
        "http://[",
    ):
        assert {ask(port, path, Host=own, Origin=origin)[0] for path in PATHS} == {403}, origin
        assert ask(port, "/_stcore/upload_file/a/b", "PUT", Host=own, Origin=origin)[0] == 403
        assert status_of(port, own, origin) == 403


def test_a_browser_gets_an_id_with_its_first_page_and_keeps_it(port: int) -> None:
    from cxlab.ui.annotations import BROWSER_COOKIE

    def ask(path: str, cookie: str = "") -> str:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        answer = connection.getresponse()
        answer.read()
        return answer.headers.get("set-cookie", "")

    given = ask("/")
    assert re.match(rf"{BROWSER_COOKIE}=[0-9a-f]{{32}}; Path=/; Max-Age=\d+; HttpOnly; SameSite=Strict", given)
    assert ask("/").partition(";")[0] != given.partition(";")[0]
    assert BROWSER_COOKIE not in ask("/", given.partition(";")[0])
    assert BROWSER_COOKIE not in ask("/_stcore/health")


def test_nothing_may_be_framed_or_guessed_at(port: int) -> None:
    own = f"127.0.0.1:{port}"
    for headers in ({"Host": own}, {"Host": "evil.example"}, {"Host": own, "Origin": "http://evil.example"}):
        for path in PATHS:
            _, given = ask(port, path, **headers)
            assert given["x-frame-options"] == "DENY"
            assert given["content-security-policy"] == "frame-ancestors 'none'"
            assert given["x-content-type-options"] == "nosniff"
            assert given["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("command", "option", "number"), [(APP, "--port", signal.SIGTERM), (BARE, "--server.port", signal.SIGINT)]
)
def test_a_signal_ends_the_server_and_frees_the_port(
    command: list[str], option: str, number: int, tmp_path: Path
) -> None:
    with serving(command, tmp_path / "home", option, ROOT) as (port, server):

        async def leave() -> None:
            origin = f"http://127.0.0.1:{port}"
            async with connect(f"ws://127.0.0.1:{port}/{STREAM}", origin=origin, max_size=None) as stream:
                await Session(stream).open("models")
                # A tab is open when the signal comes.
                server.send_signal(number)
                await asyncio.wait_for(stream.wait_closed(), 60)

        # The bare one is as closed as the command.
        assert ask(port, "/", Host="evil.example")[0] == 400
        assert status_of(port, f"127.0.0.1:{port}", "http://localhost:1") == 403
        asyncio.run(leave())
        server.wait(60)
        assert not answers(port)
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", port))
        log = (tmp_path / "server.log").read_text()
        assert not re.search(r"Traceback|No runtime", log), log


@pytest.mark.parametrize("name", ["https://lab.example", "lab.example:80", "a b", "", "*", "lab.example/x"])
def test_what_is_no_name_of_a_host_is_refused(name: str) -> None:
    from cxlab.commands.serve import serve
    from cxlab.errors import BadOption

    with pytest.raises(BadOption, match="without scheme and port"):
        serve(browser=False, host_name=[name])
