"""The executor: N workers pull (sample, trial) pairs, run them, score them and hand them to the store."""

import asyncio
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Protocol

from cxlab.benchmarks.contract import Benchmark, Scored, Setup
from cxlab.errors import explain
from cxlab.llm import UNANSWERED, Budget, CircuitBreaker, Spending, waits
from cxlab.records import Attempt, Failure, Sample, Usage, Vote
from cxlab.records.fault_words import name_fault_type
from cxlab.runner.plan import SampleTrial
from cxlab.runner.report import is_too_long
from cxlab.store import run_status as statuses
from cxlab.store.offers import OfferLog
from cxlab.store.run_status import Status

TICK_S = 0.5
"""How often the status file is written and CANCEL looked for."""
GRACE_S = 3.0
"""How long attempts in flight may go on after a stop: what has been paid for should be kept."""
RATE_WINDOW_S = 10.0
DEFAULT_CONCURRENCY = 32

StopReason = Literal["cancelled", "budget", "unanswered"]
# How a reply's reading may fail (llm/parsing.py).
_UNREADABLE = frozenset(("empty", "refusal", "filtered", "overlong", "truncated", "not_json", "invalid"))
_LONGEST_EXAMPLE = 200
# Faults by which a run ends itself: an attempt that met one was not made, a vote that met one was not given.
_CUTS = ("budget", UNANSWERED)


class Writer(Protocol):
    """Where finished attempts go; keeps them in batches and writes these beside the event loop."""

    def add(self, attempt: Attempt, scored: Scored) -> None: ...

    def close(self) -> None: ...


class Execution:
    """One session of work on some pairs of a run.

    Memory does not grow with the number of pairs: an attempt is counted, handed over and forgotten.
    A fault of a provider is part of an attempt; an exception out of `run` or `score` is a bug, which
    ends the session after everything finished has been written.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        setup: Setup,
        samples: Mapping[str, Sample],
        pairs: Iterable[SampleTrial],
        writer: Writer,
        *,
        begun: Status,
        status_path: Path,
        cancel_path: Path,
        concurrency: int,
        budget: Budget | None = None,
        spending: Spending | None = None,
        breakers: Sequence[CircuitBreaker] = (),
        grace_s: float = GRACE_S,
        show: Callable[[Status], None] = lambda status: None,
        count_stored: Callable[[], Mapping[str, Any]] | None = None,
        offers: OfferLog | None = None,
    ) -> None:
        self._benchmark, self._setup, self._samples, self._writer = benchmark, setup, samples, writer
        self._queue: Iterator[SampleTrial] = iter(pairs)
        self._status, self._status_path, self._cancel_path = begun, status_path, cancel_path
        self._concurrency, self._budget, self._grace_s, self._show = concurrency, budget, grace_s, show
        self._breakers, self._faults = breakers, Counter[str]()
        self._unread = Counter[str]()
        self._unread_examples: dict[str, str] = {}
        self._spending, self._stored_before, self._cut_short = spending, begun.known_usd, 0
        self._spent_before = begun.spent_usd
        self._unanswered_before = (begun.unanswered, begun.unanswered_usd)
        self._count_stored, self._offers = count_stored, offers
        self._in_flight = 0
        self.interrupted = False
        self._workers: list[asyncio.Task[None]] = []
        self._stop = asyncio.Event()
        self._reason: StopReason | None = None
        self._recent: deque[tuple[float, int]] = deque([(time.monotonic(), begun.done)])

    async def go(self) -> Status:
        """Work until all pairs are done or something stops the run; returns the last status."""
        # Signals are heeded to the end: one that comes while the last attempts are written must not cut that short.
        with self._signals():
            return await self._go()

    async def _go(self) -> Status:
        self._publish()
        self._heed_budget()
        if self._cancel_path.exists():
            self.stop("cancelled")
        self._workers = [asyncio.create_task(self._work()) for _ in range(self._concurrency)]
        everything = asyncio.gather(*self._workers)
        ticker = asyncio.create_task(self._tick())
        stopped = asyncio.create_task(self._stop.wait())
        helpers: set[asyncio.Future[Any]] = {everything, ticker, stopped}
        state: statuses.State = "stopped"
        message, bug, fault = "cancelled from outside", None, False
        try:
            await asyncio.wait(helpers, return_when=asyncio.FIRST_COMPLETED)
            if not everything.done() and not ticker.done():
                await asyncio.wait({everything}, timeout=self._grace_s)
            bug = _find_bug(everything, ticker)
            if bug is not None:
                fault, state, message = True, "failed", str(explain(bug) or f"{type(bug).__name__}: {bug}")
            else:
                state, message = self._end()
        finally:
            for task in (*self._workers, *helpers):
                task.cancel()
            await asyncio.gather(*self._workers, *helpers, return_exceptions=True)
            try:
                await asyncio.to_thread(self._writer.close)
            except Exception as unwritten:
                why = explain(unwritten) or f"{type(unwritten).__name__}: {unwritten}"
                fault, state, message = True, "failed", f"the last finished attempts could not be written: {why}"
                raise
            finally:
                self._finish(state, message, fault)
        if bug is not None:
            raise bug
        return self._status

    def stop(self, reason: StopReason) -> None:
        """Take no new pair; what is in flight gets the grace period."""
        if self._reason is None:
            self._reason = reason
        self._stop.set()

    def _interrupt(self) -> None:
        if self.interrupted:  # asked twice: no grace
            for worker in self._workers:
                worker.cancel()
        self.interrupted = True
        self.stop("cancelled")

    async def _work(self) -> None:
        while not self._stop.is_set():
            pair = next(self._queue, None)
            if pair is None:
                return
            sample_id, trial = pair
            sample = self._samples[sample_id]
            self._in_flight += 1
            if self._in_flight > self._status.peak:
                self._status = replace(self._status, peak=self._in_flight)
            made = False
            try:
                with self._offers.collect() if self._offers else nullcontext(set[str | None]()) as offered:
                    attempt = await self._benchmark.run(sample, self._setup, trial)
                # One that was not kept leaves open what the attempt was offered.
                named = tuple(sorted(id for id in offered if id is not None)) if None not in offered else ()
                attempt = attempt.model_copy(update={"offers": named})
                scored = await self._benchmark.score(sample, attempt, self._setup)
                made = not _is_cut_short(attempt)
            finally:
                self._in_flight -= 1
                self._cut_short += not made
            if cut := _find_cut(attempt, scored):
                self.stop("budget" if cut == "budget" else "unanswered")
            if not made:
                # Not stored: with more money, or another key, --resume shall do it again and not find it faulted.
                return
            # What only its judges were kept from has been made and paid for: --faults puts it to them again.
            self._writer.add(attempt, self._benchmark.complete(sample.task, attempt, scored))
            self._count(attempt, scored)
            # Simulated models never wait for anything; the status and Ctrl-C need their turn as well.
            await asyncio.sleep(0)

    def _count(self, attempt: Attempt, scored: Scored) -> None:
        status = self._status
        lost = [vote for vote in scored.votes if (vote.failure or "").startswith("provider:")]
        self._faults.update(_name_fault(failure) for failure in attempt.failures if failure.where == "provider")
        self._faults.update(f"judge {vote.judge}: {_say_fault(vote)}" for vote in lost)
        self._note_unread(attempt, scored)
        # None stands for an unknown part only once something has been done.
        cost, known, tokens = status.cost_usd if status.done else 0.0, status.known_usd, status.tokens
        for usage, cost_usd in spending(attempt, scored):
            cost = None if cost is None or cost_usd is None else cost + cost_usd
            known += cost_usd or 0.0
            for count in (usage.prompt_tokens, usage.completion_tokens):
                if count is not None:
                    tokens = (tokens or 0) + count
        self._status = replace(
            status,
            done=status.done + 1,
            ok=status.ok + (attempt.outcome == "ok"),
            format=status.format + (attempt.outcome == "format"),
            provider=status.provider + (attempt.outcome == "provider"),
            too_long=status.too_long + is_too_long(attempt),
            faulted=status.faulted + (bool(lost) and attempt.outcome != "provider"),
            cost_usd=cost,
            known_usd=known,
            tokens=tokens,
        )
        self._heed_budget()

    def _heed_budget(self) -> None:
        budget = self._budget
        if budget is not None and (budget.exhausted or budget.unpriced_calls or budget.spent_usd >= budget.usd):
            self.stop("budget")
        if any(each.failed for each in self._breakers):
            self.stop("unanswered")

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            # A shared folder can be slow; the loop must not wait for it.
            if await asyncio.to_thread(self._cancel_path.exists):
                self.stop("cancelled")
            self._measure()
            self._status = replace(self._status, message=waits.describe())
            await asyncio.to_thread(statuses.write, self._status_path, self._status)
            self._show(self._status)

    def _measure(self) -> None:
        clock, status = time.monotonic(), self._status
        self._recent.append((clock, status.done))
        while len(self._recent) > 2 and clock - self._recent[0][0] > RATE_WINDOW_S:
            self._recent.popleft()
        since, before = self._recent[0]
        rate = (status.done - before) / (clock - since) if clock > since else 0.0
        eta = (status.planned - status.done) / rate if rate > 0 else None
        spent = {} if self._spending is None else self._find_spent(self._spending)
        self._status = replace(
            status, rate_per_s=rate, eta_s=eta, updated=statuses.now(), **self._find_unanswered(), **spent
        )

    def _find_spent(self, spending: Spending) -> dict[str, Any]:
        """What would be lost with this process, were it killed now."""
        return {"spent_usd": self._spent_before + spending.usd, "under_way": spending.under_way}

    def _publish(self) -> None:
        statuses.write(self._status_path, self._status)
        self._show(self._status)

    def _end(self) -> tuple[statuses.State, str]:
        """The state in which the session ends by itself, and why."""
        complete = self._status.done == self._status.planned
        if complete:  # whatever asked for a stop: the grace period was long enough
            return statuses.find_end(self._status), "; ".join(filter(None, (self._tell_faults(), self._tell_unread())))
        if self._reason == "budget" and self._budget is not None:
            return "stopped", self._budget.describe()
        if self._reason == "unanswered":
            return "failed", "; ".join(each.describe() for each in self._breakers if each.failed)
        if self._reason is not None:
            return "stopped", self._reason
        return "failed", "the workers ended before the work did"

    def _tell_faults(self) -> str:
        """What providers did not deliver, the commonest first."""
        told = [f"{fault} ({count})" if count > 1 else fault for fault, count in self._faults.most_common(3)]
        return "not delivered: " + "; ".join(told) if told else ""

    def _note_unread(self, attempt: Attempt, scored: Scored) -> None:
        """Replies that came and could not be read, by whose they were, with the first of each as an example."""
        for who, why in find_unread(attempt, scored):
            self._unread[who] += 1
            self._unread_examples.setdefault(who, why)

    def _tell_unread(self) -> str:
        """How many replies could not be read, the commonest first: a run of which nothing was scored says why."""
        told = [
            f"{count} {'reply' if count == 1 else 'replies'} of {who} ({self._unread_examples[who][:_LONGEST_EXAMPLE]})"
            for who, count in self._unread.most_common(3)
        ]
        return "not readable: " + "; ".join(told) if told else ""

    def _finish(self, state: statuses.State, message: str, fault: bool) -> None:
        self._measure()
        if fault and self._count_stored is not None:
            # What was finished and not written is not done. Told before the end is: whoever watches looks no further.
            with suppress(OSError):
                self._status = replace(self._status, **self._count_stored())
        self._status = replace(
            self._status, state=state, message=message, eta_s=None, unstored_usd=self._find_unstored()
        )
        self._publish()

    def _find_unanswered(self) -> dict[str, Any]:
        """Requests whose answer never came, in this session and before: with them the cost is unknown."""
        calls, most = self._unanswered_before
        if self._spending is not None:
            calls += self._spending.unanswered
            most = statuses.add_known([most, self._spending.unanswered_usd])
        return {"unanswered": calls, "unanswered_usd": most, **({"cost_usd": None} if calls else {})}

    def _find_unstored(self) -> float | None:
        """What went into attempts that are not stored, in this session and before; None where it is unknown."""
        before, spending = self._status.unstored_usd, self._spending
        if spending is None or not self._cut_short or before is None:
            return before
        if spending.unpriced_calls:
            return None
        return before + max(0.0, spending.usd - (self._status.known_usd - self._stored_before))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        caught = []
        # Only the main thread may listen to signals; elsewhere the CANCEL file remains.
        with suppress(ValueError, RuntimeError, NotImplementedError):
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self._interrupt)
                caught.append(number)
        try:
            yield
        finally:
            for number in caught:
                loop.remove_signal_handler(number)


def _find_bug(*tasks: "asyncio.Future[Any]") -> BaseException | None:
    for task in tasks:
        bug = task.exception() if task.done() and not task.cancelled() else None
        # gather reports cancelled workers this way; we cancel them ourselves, on a second Ctrl-C
        if bug is not None and not isinstance(bug, asyncio.CancelledError):
            return bug
    return None


def spending(attempt: Attempt, scored: Scored) -> Iterator[tuple[Usage, float | None]]:
    """What this run paid for one attempt, part by part: the agent's calls, the customer's, the judges'; None is an
    unknown cost. What was taken over was paid elsewhere."""
    parts = [(attempt.usage, attempt.cost_usd)]
    parts += [(each.usage, each.cost_usd) for each in attempt.messages if each.role == "customer" and each.usage]
    # A vote that no call was made for costs nothing, whether or not it says so.
    parts += [
        (vote.usage, vote.cost_usd if vote.usage.calls or vote.cost_usd is not None else 0.0) for vote in scored.votes
    ]
    for usage, cost_usd in parts:
        yield (Usage(cached_calls=usage.cached_calls), 0.0) if usage.elsewhere else (usage, cost_usd)


def find_unread(attempt: Attempt, scored: Scored) -> list[tuple[str, str]]:
    """(whose, why) of each reply that could not be read. What else a customer gets wrong, as a call that is refused or
    a text beside it, was read."""
    found = [("the agent", each.message) for each in attempt.failures if each.where == "format"]
    found += [
        ("the customer", each.message)
        for each in attempt.failures
        if each.where == "customer" and each.type in _UNREADABLE
    ]
    unread = (vote for vote in scored.votes if (vote.failure or "").startswith("format:"))
    return found + [(f"the judge {vote.judge}", _say_fault(vote)) for vote in unread]


def _say_fault(vote: Vote) -> str:
    return name_fault_type(str(vote.failure).rpartition(":")[2])


def _name_fault(failure: Failure) -> str:
    return f"{failure.role}: {failure.message}" if failure.role else failure.message


def _find_cut(attempt: Attempt, scored: Scored) -> str | None:
    """The fault by which the run ended this attempt, or kept its judges from it, if one did."""
    faults = [failure.type for failure in attempt.failures if failure.where == "provider"]
    faults += [vote.failure.rpartition(":")[2] for vote in scored.votes if vote.failure]
    return next((cut for cut in _CUTS if cut in faults), None)


def _is_cut_short(attempt: Attempt) -> bool:
    """Whether the run ended it before it was made."""
    return any(failure.type in _CUTS for failure in attempt.failures if failure.where == "provider")
