"""`python -m cxlab bench sessions [--sessions 25] [--every 5] [--reruns 1000] [--compare]`: many people on one server.

Real WebSocket sessions, from a process of their own, click filters and pages of a server that is a process of its own,
on a made-up store. With --compare the server is also started as it was before, with Streamlit's watcher of files and a
full garbage collection after each run, and the numbers are set beside each other.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cxlab.bench.page_store import make_store
from cxlab.resources import serve_environment, site

if TYPE_CHECKING:
    from psutil import Process

# 222,000 score rows.
ATTEMPTS = 6000
OURS: tuple[str, ...] = ()
BEFORE = ("--server.fileWatcherType=auto", "--runner.postScriptGC=true")
# What 25 sessions that click every 5 s may wait for 95 % of their clicks; more people may wait longer, but no error.
TARGET_P95_S, TARGET_SESSIONS = 0.5, 25
# What the last three tenths of the reruns may hold more than the three before them, when caches are full; fewer
# reruns show nothing.
FLAT, MEMORY_FROM = 1.2, 1000


@dataclass(frozen=True)
class ServerMeasurement:
    """One server under load: seconds of each rerun, its CPU seconds, its memory in MB at every tenth, faults."""

    seconds: list[float]
    cpu_s: float
    memory_mb: list[float]
    faults: list[str]

    @property
    def p50(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.seconds, n=20, method="inclusive")[-1]

    @property
    def growth(self) -> float:
        """Memory of the last three tenths over that of the three before them."""
        return statistics.mean(self.memory_mb[-3:]) / statistics.mean(self.memory_mb[-6:-3])

    @property
    def cpu_a_rerun(self) -> float:
        return self.cpu_s / len(self.seconds)


def main(arguments: Sequence[str]) -> int:
    """Print a line a server; 1 when a session met a fault, memory grew, or 25 sessions waited too long."""
    parser = argparse.ArgumentParser(prog="python -m cxlab bench sessions")
    parser.add_argument("--sessions", type=int, default=25, help="sessions at once (25)")
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two clicks of one session (5)")
    parser.add_argument("--reruns", type=int, default=1000, help="reruns in all (1000)")
    parser.add_argument("--attempts", type=int, default=ATTEMPTS, help=f"dialogues in the store ({ATTEMPTS})")
    parser.add_argument("--compare", action="store_true", help="the old settings as well, and the ratios")
    asked = parser.parse_args(arguments)
    load = {"sessions": asked.sessions, "every_s": asked.every, "reruns": asked.reruns}
    with tempfile.TemporaryDirectory(prefix="cxlab-bench-") as folder:
        rows = make_store(Path(folder) / "home", asked.attempts)
        print(
            f"{rows:,} score rows; {asked.sessions} sessions, a click every {asked.every:g} s, {asked.reruns:,} reruns"
        )
        print(f"{'server':<10}{'p50 s':>8}{'p95 s':>8}{'CPU s a rerun':>15}   memory MB at each tenth")
        now = measure(Path(folder), load, OURS)
        _show("now", now)
        if asked.compare:
            before = measure(Path(folder), load, BEFORE)
            _show("before", before)
            ratios = (before.p50 / now.p50, before.p95 / now.p95, before.cpu_a_rerun / now.cpu_a_rerun)
            print("{:<10}{:>8.1f}{:>8.1f}{:>15.1f}".format("ratio", *ratios))
    complaints = list(dict.fromkeys(now.faults))[:5]
    if len(now.seconds) < asked.reruns:
        complaints.append(f"it ended after {len(now.seconds):,} of {asked.reruns:,} reruns")
    elif asked.reruns >= MEMORY_FROM and now.growth > FLAT:
        complaints.append(f"memory grew to {now.growth:.2f} times what it was")
    if asked.sessions <= TARGET_SESSIONS and now.p95 > TARGET_P95_S:
        complaints.append(f"p95 over the target of {TARGET_P95_S} s")
    for each in complaints:
        print(each)
    return 1 if complaints else 0


def measure(folder: Path, load: dict[str, float], settings: Sequence[str]) -> ServerMeasurement:
    """Serve the store below `folder` with these settings to this load."""
    import psutil

    with serving(folder / "home", folder, settings) as (url, server):
        process = psutil.Process(server.pid)
        asked = [sys.executable, "-m", "cxlab.server.visitors", url, json.dumps(load)]
        visitors = subprocess.Popen(asked, cwd=site(), stdout=subprocess.PIPE, text=True)
        memory, found = [], {}
        began = 0.0
        assert visitors.stdout is not None
        for line in visitors.stdout:
            found = json.loads(line)
            if found.get("reruns") == 0:
                began = _cpu(process)
            elif "reruns" in found:
                memory.append(process.memory_info().rss / 1e6)
        if visitors.wait() or not found.get("seconds"):
            raise RuntimeError(f"the visitors failed: {found.get('faults')}")
        return ServerMeasurement(found["seconds"], _cpu(process) - began, memory, found["faults"])


def _cpu(process: "Process") -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def serving(home: Path, folder: Path, settings: Sequence[str]) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of the store `home` as long as the block lasts, its address and its process; its log is in `folder`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(site() / "app.py"), f"--server.port={port}", *settings]
    env = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    # With what `python -m cxlab app` serves with.
    env |= {**serve_environment(), "CXLAB_HOME": str(home), "CXLAB_NO_AUTOSTART": "1"}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=site(), env=env, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + 120
            while not _answers(url):
                if server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((folder / "server.log").read_text(errors="replace")[-2000:])
                time.sleep(0.2)
            yield url, server
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as answer:
            return bool(answer.read() == b"ok")
    except (urllib.error.URLError, OSError):
        return False


def _show(name: str, found: ServerMeasurement) -> None:
    memory = " ".join(f"{each:.0f}" for each in found.memory_mb)
    faults = f"   {len(found.faults)} faults" if found.faults else ""
    print(f"{name:<10}{found.p50:>8.2f}{found.p95:>8.2f}{found.cpu_a_rerun:>15.3f}   {memory}{faults}", flush=True)
