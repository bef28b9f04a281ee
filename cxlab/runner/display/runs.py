"""What a person sees of a run while it goes: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import Any, Protocol, TextIO

from cxlab.store.run_status import Status, merge

LINE_EVERY_S = 5.0
TOTAL = "total"


class ProgressDisplay(Protocol):
    """Told of every change of a run's status; the name is what the person knows the run by."""

    def update(self, name: str, status: Status) -> None: ...

    def close(self) -> None: ...


class NoDisplay:
    """Shows nothing."""

    def update(self, name: str, status: Status) -> None:
        pass

    def close(self) -> None:
        pass


class LineDisplay:
    """One line every few seconds and one at the end of each run: for logs and pipes."""

    def __init__(self, stream: TextIO | None = None, every_s: float = LINE_EVERY_S) -> None:
        self._stream, self._every_s = stream or sys.stderr, every_s
        self._last: dict[str, tuple[float, str, int]] = {}

    def update(self, name: str, status: Status) -> None:
        clock = time.monotonic()
        before, state, done = self._last.setdefault(name, (clock, "running", status.done))
        ended = status.state != "running" and status.state != state
        # Before the first attempt a message tells what is being prepared.
        moved = status.done > done or (status.state == "running" and bool(status.message))
        if ended or (moved and clock - before >= self._every_s):
            self._last[name] = (clock, status.state, status.done)
            text = f"{status.state} {status.done}/{status.planned} {describe(status)}"
            print(f"{name}: {text}" + (f" ({status.message})" if status.message else ""), file=self._stream, flush=True)

    def close(self) -> None:
        pass


class BarDisplay:
    """A bar a run, with outcomes, rate, cost so far and time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[detail]}"),
            console=Console(stderr=True),
        )
        self._tasks: dict[str, Any] = {}
        self._latest: dict[str, Status] = {}
        self._progress.start()

    def update(self, name: str, status: Status) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=status.planned, detail="")
        going = status.state in ("running", "done")
        detail = ", ".join(filter(None, (describe(status), status.message)))
        detail = detail if going else f"{status.state} {status.message}"
        self._progress.update(self._tasks[name], completed=status.done, total=status.planned, detail=detail)
        self._latest[name] = status
        if len(self._latest) > 1 and name != TOTAL:
            self._update_total()

    def _update_total(self) -> None:
        runs = [status for name, status in self._latest.items() if name != TOTAL]
        self.update(TOTAL, merge(runs, len(runs), sum(status.planned for status in runs)))

    def close(self) -> None:
        self._progress.stop()


def describe(status: Status) -> str:
    """Outcomes, rate, cost and time left in a few words."""
    words = []
    if status.format:
        words.append(f"{status.format} format")
    if status.provider:
        words.append(f"{status.provider} provider")
    if status.rate_per_s:
        words.append(f"{status.rate_per_s:.1f}/s")
    if status.cost_usd:
        words.append(f"${status.cost_usd:.4f}")
    elif status.cost_usd is None and status.done and not status.unanswered:
        words.append(f"${status.known_usd:.4f} and an unknown rest" if status.known_usd else "cost unknown")
    if status.unstored_usd:
        words.append(f"${status.unstored_usd:.4f} besides for what was cut short")
    if status.unanswered:
        words.append(tell_unanswered(status))
    if status.eta_s is not None and status.state == "running":
        words.append(f"{_clock(status.eta_s)} left")
    return ", ".join(words)


def tell_unanswered(status: Status) -> str:
    """What is known of the cost, and what requests that got no answer may add to it."""
    many = f"{status.unanswered:,} call{'s' * (status.unanswered > 1)} without an answer"
    most = "nobody can say what for" if status.unanswered_usd is None else f"at most ${status.unanswered_usd:.4f}"
    return f"${status.known_usd + (status.unstored_usd or 0.0):.4f} known, {many} may be billed ({most})"


def choose_display(quiet: bool) -> ProgressDisplay:
    """Bars on a terminal, lines elsewhere, nothing when quiet."""
    if quiet:
        return NoDisplay()
    return BarDisplay() if sys.stderr.isatty() else LineDisplay()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
