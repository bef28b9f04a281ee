"""`python -m cxlab bench pages [PAGE …]`: what each view of a page takes to come back after a filter changed, on many
scores, in processor time."""

import argparse
import ast
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cxlab import resources
from cxlab.bench.page_store import BELOW, make_store
from cxlab.errors import UnknownName

ROOT = resources.site()
TARGET_MS = 150.0
# 37 score rows each: 4 turns with 9 metrics and one of the whole.
ATTEMPTS = 27_030


def main(arguments: Sequence[str] = ()) -> int:
    """Print one line a view of each page (of those named alone): a first run, an unchanged rerun, the median and the
    slowest of seven filter changes (ms of processor time). Made-up scores fill the pages of scores; `--beside` a store
    with data of all benchmarks (the demo) fills the others, whose own controls are turned.

    Returns 1 when a median misses the target or a view shows a fault.
    """
    options = argparse.ArgumentParser(prog="python -m cxlab bench pages")
    options.add_argument("pages", nargs="*", help="Pages by their files' names, or one view: failures?tab=labels")
    options.add_argument("--beside", help="A store whose runs and datasets stand beside what is made up.")
    options.add_argument("--store", type=Path, help="A folder that keeps what is made up, for the next time.")
    given = options.parse_args(list(arguments))
    stems = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    asked = [tuple(name.split("?", 1)) for name in given.pages or stems]
    if unknown := [page for page, *_ in asked if page not in stems]:
        raise UnknownName("page", unknown[0], stems)
    views = [(page, view) for page, *chosen in asked for view in chosen or list_views(page)]
    with tempfile.TemporaryDirectory(prefix="cxlab-bench-") as folder:
        home = (given.store or Path(folder)).resolve()
        if (home / "runs").exists():
            print(f"the store of {home} as it is; times in ms of the processor")
        else:
            for name in ("runs", "datasets") if given.beside else ():
                shutil.copytree(Path(given.beside) / name, home / name)
            began = time.perf_counter()
            rows = make_store(home, ATTEMPTS)
            took = time.perf_counter() - began
            print(f"{rows:,} score rows of {ATTEMPTS:,} dialogues, made in {took:.1f} s; times in ms of the processor")
        print(f"{'view':<28}{'first':>8}{'unchanged':>11}{'filter: median':>16}{'slowest':>9}   target {TARGET_MS:.0f}")
        missed = 0
        for stem, address in views:
            found = _measure(stem, address, home)
            median = statistics.median(found["changed"])
            words = "; ".join(found["faults"]) or ("over the target" if median > TARGET_MS else "")
            missed += bool(words)
            print(
                f"{f'{stem} {address}':<28}{found['first']:>8.0f}{found['again']:>11.0f}{median:>16.0f}"
                f"{max(found['changed']):>9.0f}   {words}",
                flush=True,
            )
    return 1 if missed else 0


def list_views(stem: str) -> list[str]:
    """The addresses of a page's views ("" for the first): its own list of them, and what lies below one of them."""
    found = [""]
    for node in ast.parse((ROOT / "pages" / f"{stem}.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("TABS", "LOOKS"):
            found += [f"tab={tab}" for tab in ast.literal_eval(node.value) if tab]
    return found + [address for page, address in BELOW if page == stem]


def _measure(stem: str, address: str, home: Path) -> dict[str, Any]:
    """What `cxlab.bench.page_timing` finds for one view, in a process of its own."""
    asked = [sys.executable, "-m", "cxlab.bench.page_timing", stem, address]
    env = {**resources.SERVED_WITH, **os.environ, "CXLAB_HOME": str(home), "CXLAB_NO_AUTOSTART": "1"}
    done = subprocess.run(asked, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return {"first": 0.0, "again": 0.0, "changed": [0.0], "faults": last}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
