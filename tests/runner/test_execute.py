"""The executor by itself: what it keeps, what it counts, how it stops."""

import asyncio
import itertools
import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cxlab import llm
from cxlab.benchmarks.contract import Benchmark, Scored, Setup
from cxlab.records import Attempt, Sample
from cxlab.runner import execute
from cxlab.runner.execute import Execution
from cxlab.runner.plan import pair
from cxlab.store import run_status as statuses

from .lamp import BENCHMARK

SAMPLES = {sample.id: sample for sample in BENCHMARK.generate_now({"copies": 5})[1]}


class Kept:
    """A writer that keeps what it is given; `on_add` is called after each."""

    def __init__(self, on_add: Callable[[int], None] = lambda count: None) -> None:
        self.ids: list[str] = []
        self.closed = False
        self._on_add = on_add

    def add(self, attempt: Attempt, scored: Scored) -> None:
        assert not self.closed
        self.ids.append(attempt.sample_id)
        self._on_add(len(self.ids))

    def close(self) -> None:
        self.closed = True


def build(folder: Path, writer: Kept, benchmark: Benchmark = BENCHMARK, trials: int = 1, **settings: Any) -> Execution:
    pairs = pair(list(SAMPLES.values()), trials)
    options = {"concurrency": 8, "grace_s": 0.2, **settings}
    return Execution(
        benchmark,
        Setup(llm.load("simulated:strong"), None, (), "run-1", options=options.pop("options", {})),
        SAMPLES,
        pairs,
        writer,
        begun=statuses.begin(len(pairs)),
        status_path=folder / "status.json",
        cancel_path=folder / "CANCEL",
        **options,
    )


def test_all_pairs_are_done_once_and_add_up(tmp_path: Path) -> None:
    kept = Kept()
    status = asyncio.run(build(tmp_path, kept, trials=3).go())
    assert sorted(kept.ids) == sorted(list(SAMPLES) * 3)
    assert kept.closed
    assert (status.state, status.done, status.planned) == ("done", 180, 180)
    # Every seventh lamp answers without JSON.
    assert (status.ok, status.format, status.provider) == (180 - 27, 27, 0)
    assert statuses.read(tmp_path / "status.json") == status


def test_concurrency_is_reached_and_not_exceeded(tmp_path: Path) -> None:
    in_flight, most = 0, 0

    async def slow(sample: Sample, setup: Setup, trial: int) -> Attempt:
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.02)
        in_flight -= 1
        return await BENCHMARK.run(sample, setup, trial)

    status = asyncio.run(build(tmp_path, Kept(), replace(BENCHMARK, run=slow), concurrency=25).go())
    assert most == status.peak == 25


@pytest.mark.parametrize("step", ["run", "score"])
def test_a_bug_comes_out_after_what_was_finished_is_written(tmp_path: Path, step: str) -> None:
    async def fail(*args: Any) -> Any:
        if len(kept.ids) >= 10:
            raise ZeroDivisionError("a bug in this step")
        return await getattr(BENCHMARK, step)(*args)

    kept = Kept()
    broken = replace(BENCHMARK, **{step: fail})
    with pytest.raises(ZeroDivisionError, match="a bug in this step"):
        asyncio.run(build(tmp_path, kept, broken, concurrency=1).go())
    status = statuses.read(tmp_path / "status.json")
    assert status is not None
    assert kept.closed
    assert (status.state, status.done, len(kept.ids)) == ("failed", 10, 10)
    assert status.message == "ZeroDivisionError: a bug in this step"


def test_a_writer_that_fails_fails_the_run(tmp_path: Path) -> None:
    class Full(Kept):
        def close(self) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        asyncio.run(build(tmp_path, Full()).go())
    status = statuses.read(tmp_path / "status.json")
    assert status is not None
    assert status.state == "failed"
    assert status.message.startswith("the last finished attempts could not be written: No space left on device")


def hold_after(count: int, until: Callable[[], bool]) -> Benchmark:
    """One whose first attempts run at once; the others wait until something is so, however slow the machine is."""
    begun = itertools.count()

    async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
        if next(begun) >= count:
            while not until():
                await asyncio.sleep(0.01)
        return await BENCHMARK.run(sample, setup, trial)

    return replace(BENCHMARK, run=run)


def test_cancel_file_stops_and_keeps_what_is_finished(tmp_path: Path) -> None:
    kept = Kept(lambda count: (tmp_path / "CANCEL").touch() if count == 8 else None)
    held = hold_after(8, lambda: execution._stop.is_set())
    execution = build(tmp_path, kept, held, grace_s=120.0)
    status = asyncio.run(execution.go())
    assert (status.state, status.message) == ("stopped", "cancelled")
    assert kept.closed
    # What was in flight when the file was found is kept, and no other pair was taken.
    assert 8 <= status.done == len(kept.ids) <= 16
    assert statuses.read(tmp_path / "status.json") == status


def test_cancel_file_that_is_there_already_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "CANCEL").touch()
    kept = Kept()
    status = asyncio.run(build(tmp_path, kept).go())
    assert (status.state, kept.ids) == ("stopped", [])


def test_interrupt_gives_work_in_flight_its_grace(tmp_path: Path) -> None:
    kept = Kept(lambda count: signal.raise_signal(signal.SIGINT) if count == 8 else None)
    held = hold_after(8, lambda: execution.interrupted)
    execution = build(tmp_path, kept, held, grace_s=120.0)
    status = asyncio.run(execution.go())
    # Of the first eight, at least seven had taken their next pair when the signal came: these are kept.
    assert (status.state, status.message) == ("stopped", "cancelled")
    assert execution.interrupted
    assert status.done == len(kept.ids)
    assert 15 <= status.done <= 16


def test_attempts_longer_than_the_grace_are_dropped(tmp_path: Path) -> None:
    kept = Kept(lambda count: (tmp_path / "CANCEL").touch() if count == 4 else None)
    status = asyncio.run(build(tmp_path, kept, hold_after(4, lambda: False), concurrency=2).go())
    assert (status.state, status.done, len(kept.ids)) == ("stopped", 4, 4)


def test_a_second_interrupt_does_not_wait(tmp_path: Path) -> None:
    def interrupt(count: int) -> None:
        if count == 8:
            signal.raise_signal(signal.SIGINT)
            asyncio.get_running_loop().call_later(0.05, signal.raise_signal, signal.SIGINT)

    # Those that hang were not waited for: what the test may take is far below this grace.
    execution = build(tmp_path, Kept(interrupt), hold_after(8, lambda: False), grace_s=7200.0)
    status = asyncio.run(execution.go())
    assert (status.state, status.done) == ("stopped", 8)


def test_a_cut_by_the_budget_is_not_stored(tmp_path: Path) -> None:
    """An attempt that the budget cut short is no provider fault of the model: it must be left to do."""

    async def cut(sample: Sample, setup: Setup, trial: int) -> Attempt:
        attempt = await BENCHMARK.run(sample, setup, trial)
        if len(kept.ids) < 5:
            return attempt
        fault = llm.ProviderFault("budget", "spent").failure
        return attempt.model_copy(update={"outcome": "provider", "failures": (fault,)})

    kept = Kept()
    execution = build(tmp_path, kept, replace(BENCHMARK, run=cut), concurrency=1, budget=llm.Budget(1.0, 0.9))
    status = asyncio.run(execution.go())
    assert (status.state, status.done, status.provider, len(kept.ids)) == ("stopped", 5, 0, 5)
    assert status.message == "spent $0.9000 of a budget of $1.0000"


@pytest.mark.parametrize(("costs", "told"), [((0.25, 0.5), 0.75), ((0.25, None), None)])
def test_what_went_into_attempts_that_are_cut_short_is_told(
    tmp_path: Path, costs: tuple[float | None, ...], told: float | None
) -> None:
    """Nobody is asked for nothing: what a stop throws away was paid for, and is unknown where a part of it is."""

    async def cut(sample: Sample, setup: Setup, trial: int) -> Attempt:
        attempt = await BENCHMARK.run(sample, setup, trial)
        if len(kept.ids) < 5:
            return attempt
        for cost in costs:
            spending.charge(cost)
        fault = llm.ProviderFault("budget", "spent").failure
        return attempt.model_copy(update={"outcome": "provider", "failures": (fault,)})

    kept, spending = Kept(), llm.Spending()
    execution = build(
        tmp_path, kept, replace(BENCHMARK, run=cut), concurrency=1, budget=llm.Budget(1.0), spending=spending
    )
    status = asyncio.run(execution.go())
    assert (status.state, status.done, status.cost_usd) == ("stopped", 5, 0.0)
    assert status.unstored_usd == told
    assert statuses.read(tmp_path / "status.json") == status


def test_status_file_is_whole_at_any_moment(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    read: list[int] = []

    def look(count: int) -> None:
        read.append(json.loads(path.read_text())["planned"])

    asyncio.run(build(tmp_path, Kept(look)).go())
    assert set(read) == {60}
    assert [each.name for each in tmp_path.iterdir()] == ["status.json"]


def part(state: statuses.State, **counts: Any) -> statuses.Status:
    return statuses.Status(state, 10, started=statuses.now(), updated=statuses.now(), **counts)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["done", "done"], "done"),
        (["done"], "running"),  # the other shard has not begun
        (["failed", "running"], "running"),
        (["failed", "stopped"], "failed"),
        (["done", "stopped"], "stopped"),
        (["done", "partly"], "done"),  # counts decide, and these have none
    ],
)
def test_states_of_shards_merge(states: list[statuses.State], expected: str) -> None:
    assert statuses.merge([part(state) for state in states], 2, 20).state == expected


def test_counts_of_shards_add_up() -> None:
    merged = statuses.merge(
        [
            part("running", done=3, ok=2, format=1, cost_usd=0.5, known_usd=0.5, rate_per_s=2.0),
            part("done", done=10, ok=9, provider=1, cost_usd=0.25, known_usd=0.25, tokens=7, rate_per_s=9.0),
        ],
        2,
        20,
    )
    assert (merged.done, merged.ok, merged.format, merged.provider) == (13, 11, 1, 1)
    assert (merged.cost_usd, merged.known_usd, merged.tokens) == (0.75, 0.75, 7)
    # A shard that is done adds nothing to the rate any more: 7 attempts are left at 2 a second.
    assert (merged.rate_per_s, merged.eta_s) == (2.0, 3.5)


def test_a_cost_is_unknown_when_it_is_of_one_shard_that_did_something() -> None:
    idle, paid, unknown = part("running"), part("done", done=1, cost_usd=0.5, known_usd=0.5), part("done", done=1)
    assert statuses.merge([idle, paid], 2, 20).cost_usd == 0.5
    merged = statuses.merge([paid, unknown], 2, 20)
    assert (merged.cost_usd, merged.known_usd) == (None, 0.5)


def test_silence_is_stale_only_while_running() -> None:
    old = replace(part("running"), updated="2026-01-01T00:00:00.000+00:00")
    assert statuses.is_stale(old)
    assert not statuses.is_stale(part("running"))
    assert not statuses.is_stale(replace(old, state="done"))


def test_what_a_run_waits_for_is_told_while_it_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempt waits until it is told of, so that no time has to pass."""
    monkeypatch.setattr(execute, "TICK_S", 0.001)
    told: list[str] = []

    async def go() -> statuses.Status:
        seen = asyncio.Event()

        async def wait(sample: Sample, setup: Setup, trial: int) -> Attempt:
            if not told:
                with llm.waits.noted("endpoint:busy", "HTTP 429: slow down", 600):
                    await seen.wait()
            return await BENCHMARK.run(sample, setup, trial)

        def show(status: statuses.Status) -> None:
            if status.message and status.state == "running":
                told.append(status.message)
                seen.set()

        waiting = replace(BENCHMARK, run=wait)
        return await build(tmp_path, Kept(), waiting, concurrency=1, show=show).go()

    ended = asyncio.run(go())
    assert told[0].startswith("waiting for endpoint:busy, ")
    assert told[0].endswith(" s (1 call): HTTP 429: slow down")
    assert ended.state == "done"
    assert "waiting" not in ended.message
