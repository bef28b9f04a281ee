"""What a benchmark prepares for all attempts: told in the status, stopped by a cancellation, failing with its error."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from cxlab.errors import BadOption
from cxlab.runner import session
from cxlab.runner.loaded_run import LoadedRun, open_run
from cxlab.runner.plan import WHOLE, SampleFilter
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import run_status as statuses

from .lamp import NAME
from .shell import Shell


class Heard:
    def __init__(self) -> None:
        self.messages: list[str] = []

    def update(self, name: str, status: statuses.Status) -> None:
        self.messages.append(status.message)

    def close(self) -> None:
        pass


@pytest.fixture
def opened(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> LoadedRun:
    monkeypatch.setenv("CXLAB_HOME", str(shell.home))
    (run,) = create_runs(RunRequest(NAME, ("simulated:strong",), None, (), None, SampleFilter()))
    return open_run(run.id)


def prepare(opened: LoadedRun, make: Any) -> tuple[list[str], statuses.Status | None]:
    each = replace(opened, benchmark=replace(opened.benchmark, prepare=make))
    heard = Heard()
    session.prepare(each, session.begin(each, WHOLE)[1], heard)
    return heard.messages, statuses.read(opened.folder / "status.json")


def test_how_far_it_is_stands_in_the_status(opened: LoadedRun) -> None:
    def make(samples: Any, options: Any, model: str) -> Iterator[tuple[int, int, str]]:
        assert (len(samples), model) == (len(opened.samples), opened.run.model)
        yield from ((n, 2_000, "lamps lit") for n in (0, 1_500))

    messages, status = prepare(opened, make)
    assert messages == ["0 of 2,000 lamps lit", "1,500 of 2,000 lamps lit"]
    assert status is not None
    assert (status.state, status.done, status.message) == ("running", 0, messages[-1])
    assert prepare(opened, None)[0] == []


def test_a_cancelled_run_is_prepared_no_further(opened: LoadedRun) -> None:
    def make(samples: Any, options: Any, model: str) -> Iterator[tuple[int, int, str]]:
        yield 0, 2, "lamps"
        (opened.folder / "CANCEL").touch()
        yield 1, 2, "lamps"
        raise ZeroDivisionError

    assert prepare(opened, make)[0] == ["0 of 2 lamps", "1 of 2 lamps"]


@pytest.mark.parametrize(("fault", "state"), [(BadOption("no such lamp"), "failed"), (KeyboardInterrupt(), "stopped")])
def test_what_goes_wrong_is_told_and_the_run_is_not_left_running(
    opened: LoadedRun, fault: BaseException, state: str
) -> None:
    def make(samples: Any, options: Any, model: str) -> Iterator[tuple[int, int, str]]:
        yield 0, 2, "lamps"
        raise fault

    with pytest.raises(type(fault)):
        prepare(opened, make)
    status = statuses.read(opened.folder / "status.json")
    assert status is not None
    assert (status.state, status.message) == (state, str(fault))
