"""How far a generation is: a line a stage for people, and a small file for the page that started it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TextIO, TypeVar

from cxlab.llm import waits
from cxlab.records.progress import Progress, finish
from cxlab.runner.request import JOB
from cxlab.store import home, layout

EVERY_S = 0.5
Result = TypeVar("Result")


class StageDisplay:
    """Told of stage, done and total; on a terminal the line of the stage under way is drawn over."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.quiet, self.stream = quiet, stream or sys.stderr
        self.stages: dict[str, tuple[int, int]] = {}
        self.began: dict[str, float] = {}
        self.took: dict[str, float] = {}
        self.spent: dict[str, Any] = {}
        self.words = self.stopped = ""
        self.waiting = False
        self.sample: list[dict[str, str]] = []
        self._stage = ""
        self._drawn = 0.0
        self._written = 0.0

    def tell(self, stage: str, done: int, total: int) -> None:
        """One step on; a stage that is whole gets its line."""
        now = time.monotonic()
        self.began.setdefault(stage, now)
        fresh = stage not in self.stages or self.stages[stage][0] < self.stages[stage][1]
        self.stages[stage] = (done, total)
        self._stage = stage
        whole = done >= total
        if whole and fresh:
            self.took[stage] = now - self.began[stage]
        if not self.quiet and ((whole and fresh) or self.stream.isatty()):
            self._draw(now, ended=whole and fresh)
        if whole or now - self._written > EVERY_S:
            self.write("")

    def follow(self, steps: Generator[Progress, None, Result]) -> Result:
        """Work through the steps and tell of each; what they return."""
        with waits.told_to(self.wait):
            return finish(steps, self.tell)

    def wait(self, told: str) -> None:
        """A server is waited for; "" where that is over. Told once for all calls that wait together."""
        if told and not self.waiting and not self.quiet:
            self.stream.write(("\n" if self.stream.isatty() else "") + f"{told}\n")
            self.stream.flush()
        self.waiting = bool(told)
        # The page counts down by itself: nothing is written while all calls wait.
        self.write("")

    def spend(self, spent: Mapping[str, Any], words: str) -> None:
        """What all calls took so far: the figures for the page, in words for people. For models that cost something."""
        self.spent, self.words = dict(spent), words
        now = time.monotonic()
        if now - self._drawn > EVERY_S and self._stage and not self.quiet and self.stream.isatty():
            done, total = self.stages[self._stage]
            if done < total:
                self._draw(now, ended=False)
        if now - self._written > EVERY_S:
            self.write("")

    def show(self, sample: Sequence[Mapping[str, str]]) -> None:
        """Texts that were written to be looked at, which is all that was asked for."""
        self.sample = [dict(one) for one in sample]
        self.write("")

    def stop(self, why: str) -> None:
        """It ended before it was whole, for a reason that the page shows."""
        if not self.quiet and self.stream.isatty():
            self.stream.write("\n")
        self.stopped = why
        self.write("")

    def _draw(self, now: float, ended: bool) -> None:
        stage, (done, total) = self._stage, self.stages[self._stage]
        words = f"{stage:16}{done:>7,} of {total:,}"
        told = f"{words:32}{now - self.began[stage]:7.1f} s" + (f"   so far {self.words}" if self.words else "")
        self.stream.write((f"\r{told}" if self.stream.isatty() else told) + ("\n" if ended else ""))
        self.stream.flush()
        self._drawn = now

    def write(self, dataset_id: str) -> None:
        """The state as the page reads it, if a page started this process."""
        job = os.environ.get(JOB)
        if not job:
            return
        self._written = time.monotonic()
        rows = [{"stage": name, "done": done, "total": total} for name, (done, total) in self.stages.items()]
        state: dict[str, Any] = {"stages": rows, "dataset": dataset_id}
        # Simulated models spend nothing, and nothing is said of it.
        state |= {"spent": self.spent} if self.spent else {}
        state |= {"stopped": self.stopped} if self.stopped else {}
        state |= {"sample": self.sample} if self.sample else {}
        waiting = waits.find()
        state |= {"waiting": asdict(waiting)} if waiting is not None else {}
        layout.write_whole(home() / "jobs" / f"{job}.stages", json.dumps(state).encode())
