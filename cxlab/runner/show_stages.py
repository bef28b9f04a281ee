"""How far a generation is: a line a stage for people, and a small file for the page that started it."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TextIO

from cxlab.runner.order import JOB
from cxlab.store import home, layout

EVERY_S = 0.5


class StageBoard:
    """Told of stage, done and total; on a terminal the line of the stage under way is drawn over."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.quiet, self.stream = quiet, stream or sys.stderr
        self.stages: dict[str, tuple[int, int]] = {}
        self.began: dict[str, float] = {}
        self.took: dict[str, float] = {}
        self._written = 0.0

    def tell(self, stage: str, done: int, total: int) -> None:
        """One step on; a stage that is whole gets its line."""
        now = time.monotonic()
        self.began.setdefault(stage, now)
        fresh = stage not in self.stages or self.stages[stage][0] < self.stages[stage][1]
        self.stages[stage] = (done, total)
        whole = done >= total
        if whole and fresh:
            self.took[stage] = now - self.began[stage]
        if not self.quiet and ((whole and fresh) or self.stream.isatty()):
            words = f"{stage:16}{done:>7,} of {total:,}"
            told = f"{words:32}{now - self.began[stage]:7.1f} s"
            self.stream.write((f"\r{told}" if self.stream.isatty() else told) + ("\n" if whole and fresh else ""))
            self.stream.flush()
        if whole or now - self._written > EVERY_S:
            self.write("")

    def write(self, dataset_id: str) -> None:
        """The state as the page reads it, if a page started this process."""
        job = os.environ.get(JOB)
        if not job:
            return
        self._written = time.monotonic()
        rows = [{"stage": name, "done": done, "total": total} for name, (done, total) in self.stages.items()]
        state = {"stages": rows, "dataset": dataset_id}
        layout.write_whole(home() / "jobs" / f"{job}.stages", json.dumps(state).encode())
