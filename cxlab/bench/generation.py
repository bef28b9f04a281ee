"""What generating CXMArena costs: seconds and memory a stage, at 1/8, 1/4 and the whole of the paper's size.

Each size is made in a process of its own, in a store that is thrown away. Memory is that of the process and its
workers together, looked at ten times a second; a stage's figure is the most that was seen while it worked.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cxlab.errors import BadOption

LIMIT_S, LIMIT_MIB, LIMIT_SMALL_S = 180.0, 2048.0, 10.0
# How much more than its share the whole may take: what grows faster than the size shows here.
LIMIT_GROWTH = 1.3
PAPER = 3168


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a promise was not kept."""
    parser = argparse.ArgumentParser(prog="cxlab bench generation", description=__doc__)
    parser.add_argument("--brand", default="hearthwise")
    parser.add_argument("--articles", type=int, default=PAPER, help="the whole (default 3168, as published)")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.one:
        print(json.dumps(_generate(given.brand, given.one, given.workers)))
        return 0
    if given.articles < 8 * 40:
        raise BadOption("bench generation needs --articles of at least 320, so that an eighth is a knowledge base")
    small = _measure(given, 60)
    parts = {number: _measure(given, number) for number in (given.articles // 8, given.articles // 4, given.articles)}
    whole = parts[given.articles]
    stages = list(whole["stages"])
    print(f"{'':18}" + "".join(f"{number:>9,} articles" for number in parts) + f"{'growth':>9}{'MiB':>8}")
    for name in stages:
        seconds = [one["stages"].get(name, {"s": 0.0})["s"] for one in parts.values()]
        growth = f"{seconds[2] / seconds[0] / 8:9.2f}" if seconds[0] > 0.05 else " " * 9
        print(f"{name:18}" + "".join(f"{s:16.1f} s" for s in seconds) + growth + f"{whole['stages'][name]['mib']:8.0f}")
    totals = [one["s"] for one in parts.values()]
    growth = totals[2] / totals[0] / 8
    print(f"{'all':18}" + "".join(f"{s:16.1f} s" for s in totals) + f"{growth:9.2f}{whole['mib']:8.0f}")
    print(f"60 articles and 40 conversations: {small['s']:.1f} s, with starting Python {small['wall']:.1f} s")
    kept = whole["s"] < LIMIT_S and whole["mib"] < LIMIT_MIB and growth < LIMIT_GROWTH
    kept = kept and small["wall"] < LIMIT_SMALL_S
    print(
        f"targets (small < {LIMIT_SMALL_S:g} s, whole < {LIMIT_S:g} s and {LIMIT_MIB:g} MiB, growth from an eighth "
        f"< {LIMIT_GROWTH:g}): {'kept' if kept else 'MISSED'}"
    )
    return 0 if kept else 1


def _measure(given: argparse.Namespace, articles: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "cxlab", "bench", "generation", "--", "--one", str(articles)]
    command += ["--brand", given.brand, *(["--workers", str(given.workers)] if given.workers else [])]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="cxlab-bench-") as home:
        environment = {**os.environ, "CXLAB_HOME": home}
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if said.returncode:
        raise RuntimeError(f"generating {articles} articles failed:\n{said.stderr}")
    return {**json.loads(said.stdout.splitlines()[-1]), "wall": time.perf_counter() - began}


def _generate(brand: str, articles: int, workers: int | None) -> dict[str, Any]:
    """Make one dataset here; the seconds between two stages belong to the later one."""
    from cxlab.benchmarks.cxmarena.generation import dataset_config, pipeline

    stages: dict[str, dict[str, float]] = {}
    watch = _Watch()
    began = last = time.perf_counter()
    settings = {"brand": brand, "size": "small" if articles == 60 else str(articles)}
    for step in pipeline.build(dataset_config.read_config(settings, 1), workers=workers):
        now = time.perf_counter()
        one = stages.setdefault(step.stage, {"s": 0.0, "mib": 0.0})
        one["s"] += now - last
        one["mib"] = max(one["mib"], watch.take())
        last = now
    stages["tables, store"] = {"s": time.perf_counter() - last, "mib": watch.take()}
    return {
        "stages": stages,
        "s": time.perf_counter() - began,
        "mib": max(one["mib"] for one in stages.values()),
    }


class _Watch:
    """The memory of this process and its children, where /proc tells; else that of this process alone."""

    def __init__(self) -> None:
        self.most = 0.0
        threading.Thread(target=self._look, daemon=True).start()

    def take(self) -> float:
        """The most since the last look, in MiB."""
        most, self.most = max(self.most, _tree_mib()), 0.0
        return most

    def _look(self) -> None:
        while True:
            self.most = max(self.most, _tree_mib())
            time.sleep(0.1)


def _tree_mib() -> float:
    if not Path("/proc/self/task").is_dir():
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
    todo, pages = [os.getpid()], 0
    while todo:
        process = todo.pop()
        try:
            pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
            for task in Path(f"/proc/{process}/task").iterdir():
                todo += map(int, (task / "children").read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
