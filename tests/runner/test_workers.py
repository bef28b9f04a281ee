"""How the workers of a run are ended: each is asked once, so that it can write what it has finished."""

import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cxlab.runner import workers
from cxlab.runner.display.runs import NoDisplay
from cxlab.store import run_status as statuses


class Worker:
    """A process that ends with `code` after so many looks, and counts how often it is asked to."""

    def __init__(self, code: int, looks: int = 0) -> None:
        self.code, self.looks, self.asked = code, looks, 0

    def poll(self) -> int | None:
        self.looks -= 1
        return None if self.looks >= 0 else self.code

    def terminate(self) -> None:
        self.asked += 1


@pytest.mark.parametrize(("signals", "asked"), [([], 1), ([signal.SIGTERM], 0)])
def test_a_worker_that_still_writes_is_asked_to_stop_once(
    monkeypatch: pytest.MonkeyPatch, signals: list[int], asked: int
) -> None:
    monkeypatch.setattr(workers, "POLL_S", 0.0)
    # One is ended before it can listen, the other takes its time to write.
    killed, writing = Worker(-signal.SIGTERM), Worker(0, looks=12)
    workers._watch([], 2, [killed, writing], [], NoDisplay(), signals)
    assert (killed.asked, writing.asked) == (0, asked)


def test_runs_that_wait_their_turn_are_looked_at_now_and_then(tmp_path: Path) -> None:
    opened = []
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        run = SimpleNamespace(id=name, model=f"simulated:{name}")
        opened.append(SimpleNamespace(run=run, folder=tmp_path / name, pairs=[("s", 0)] * 4))
    begun = statuses.begin(2)
    statuses.write(statuses.path_of(opened[0].folder, (1, 2), led=True), replace(begun, done=1, ok=1))
    before = [statuses.begin(4)] * 3

    def look(waiting: bool) -> list[int | None]:
        workers._look(opened, 2, [None] * 3, before, NoDisplay(), waiting)
        found = [statuses.read(each.folder / "status.json") for each in opened]
        return [status.done if status else None for status in found]

    assert look(waiting=False) == [1, None, None]
    assert look(waiting=True) == [1, 0, 0]
