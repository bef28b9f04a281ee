"""How the workers of a run are ended: each is asked once, so that it can write what it has finished."""

import signal

import pytest

from cxlab.runner import workers
from cxlab.runner.display.runs import NoDisplay


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
