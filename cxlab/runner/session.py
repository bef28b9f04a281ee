"""One process's work on a run: open it, find what is left, execute that, leave the store tidy."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cxlab import llm
from cxlab.errors import BadOption, Busy, CxError, explain
from cxlab.runner import lock
from cxlab.runner.display.runs import ProgressDisplay
from cxlab.runner.execute import DEFAULT_CONCURRENCY, Execution
from cxlab.runner.loaded_run import LoadedRun, judge_role, load_setup, read_options
from cxlab.runner.plan import WHOLE, SampleTrial, take_shard
from cxlab.runner.report import tally
from cxlab.runner.stored import kept_replies
from cxlab.runner.stored.kept_replies import KeptReplies
from cxlab.store import run_status as statuses
from cxlab.store import write
from cxlab.store.compact import compact, recover
from cxlab.store.offers import OfferLog
from cxlab.store.run_status import Status


@dataclass(frozen=True)
class SessionResult:
    """How a session on one run ended; `interrupted` when a signal, not the CANCEL file, ended it."""

    run_id: str
    status: Status
    interrupted: bool = False


def take_over(opened: Sequence[LoadedRun], held: ExitStack) -> list[int]:
    """Lock whole runs for this process, mend what a crash left, forget old cancellations; the locks' descriptors."""
    descriptors = [held.enter_context(lock.hold_run(each.folder)) for each in opened]
    for each in opened:
        recover(each.run.id)
        statuses.drop_shards(each.folder)
        (each.folder / statuses.CANCEL).unlink(missing_ok=True)
    return descriptors


def begin(opened: LoadedRun, shard: tuple[int, int]) -> tuple[list[SampleTrial], Status]:
    """What is left of a shard, and its status with what earlier sessions finished."""
    mine = take_shard(opened.pairs, shard)
    finished = write.finished(opened.run.id)
    left = [each for each in mine if each not in finished]
    status = statuses.begin(len(mine))
    if len(left) < len(mine):
        before = tally(opened.run.id, {sample_id for sample_id, _ in mine} if shard != WHOLE else None)
        status = replace(status, **before)
    if shard[0] == 1 and (ended := statuses.read(opened.folder / "status.json")) is not None:
        kept = {name: getattr(ended, name) for name in ("unstored_usd", "unanswered", "unanswered_usd", "spent_usd")}
        status = replace(status, **kept | (_find_lost(ended, status) if ended.state == "running" else {}))
    return left, status


def _find_lost(killed: Status, status: Status) -> dict[str, Any]:
    """What a session that was killed took and did not store, as far as its last status tells; requests that were under
    way may be billed. `status` counts what is stored."""
    lost: dict[str, Any] = {}
    if killed.unstored_usd is not None:
        lost["unstored_usd"] = max(killed.unstored_usd, killed.spent_usd - status.known_usd)
    if killed.under_way:
        lost |= {"unanswered": killed.unanswered + killed.under_way, "unanswered_usd": None}
    return lost


def prepare(each: LoadedRun, status: Status, show: ProgressDisplay) -> None:
    """Have the benchmark make what all attempts share, once for all processes; how far it is stands in the status.

    A cancelled run is left to its workers, who stop at once. The caller holds the run's lock.
    """
    make = each.benchmark.prepare
    if make is None or status.done == status.planned or each.run.setup.get("rescored_from"):
        return
    path = each.folder / "status.json"
    try:
        model = str(each.run.setup.get("model", each.run.model))
        for done, of, what in make(list(each.samples.values()), read_options(each.benchmark, each.run), model):
            now = replace(status, message=f"{done:,} of {of:,} {what}", updated=statuses.now())
            statuses.write(path, now)
            show.update(each.run.model, now)
            if (each.folder / statuses.CANCEL).exists():
                return
    except (CxError, OSError, KeyboardInterrupt) as stopped:
        state: statuses.State = "stopped" if isinstance(stopped, KeyboardInterrupt) else "failed"
        statuses.write(
            path, replace(status, state=state, message=str(explain(stopped) or stopped), updated=statuses.now())
        )
        raise


def work_here(
    opened: LoadedRun,
    shard: tuple[int, int],
    show: ProgressDisplay,
    *,
    led: bool = False,
    concurrency: int | None = None,
    budget_usd: float | None = None,
) -> SessionResult:
    """Execute what is left of one shard in this process; the caller, or its coordinator, holds the lock."""
    left, status = begin(opened, shard)
    path = statuses.path_of(opened.folder, shard, led)
    if not left:
        status = replace(status, state=statuses.find_end(status), updated=statuses.now())
        statuses.write(path, status)
        show.update(opened.run.model, status)
        return SessionResult(opened.run.id, status)
    return asyncio.run(_execute(opened, shard, left, status, path, show, concurrency, budget_usd))


async def _execute(
    opened: LoadedRun,
    shard: tuple[int, int],
    left: list[SampleTrial],
    status: Status,
    path: Path,
    show: ProgressDisplay,
    concurrency: int | None,
    budget_usd: float | None,
) -> SessionResult:
    run = opened.run
    limit = budget_usd if budget_usd is not None else run.setup.get("budget_usd")
    # Shards do not know of each other's spending, so each gets its share.
    before = status.known_usd + (status.unstored_usd or 0.0)
    budget = None if limit is None else llm.Budget(limit / shard[1], spent_usd=before)
    spending = llm.Spending()
    # Each judge is watched by itself: others that answer must not pay for verdicts that no panel can reach.
    watched = ("agent", "customer", *(judge_role(name) for name in run.judges))
    breakers = {role: llm.CircuitBreaker(role) for role in watched}
    offers = OfferLog(opened.folder)
    replies = KeptReplies(opened.folder)
    setup = load_setup(run, budget, breakers, offers, spending, replies)
    execution = Execution(
        opened.benchmark,
        setup,
        opened.samples,
        left,
        write.PartWriter(run, opened.samples, shard),
        begun=status,
        status_path=path,
        cancel_path=opened.folder / statuses.CANCEL,
        concurrency=min(concurrency or run.setup.get("concurrency") or DEFAULT_CONCURRENCY, len(left)),
        budget=budget,
        spending=spending,
        breakers=tuple(breakers.values()),
        show=lambda now: show.update(run.model, now),
        count_stored=lambda: count_stored(opened, shard),
        offers=offers,
    )
    try:
        ended = await execution.go()
    finally:
        for model in {id(model): model for model in (setup.model, setup.customer, *setup.judges) if model}.values():
            await model.aclose()
        replies.close()
    return SessionResult(run.id, ended, execution.interrupted)


def count_stored(opened: LoadedRun, shard: tuple[int, int]) -> dict[str, Any]:
    """The attempts of a shard that are stored, by outcome, as its status counts them."""
    mine = None if shard == WHOLE else {sample_id for sample_id, _ in take_shard(opened.pairs, shard)}
    return tally(opened.run.id, mine) or dict.fromkeys(("done", "ok", "format", "provider"), 0)


def work_alone(
    opened: Sequence[LoadedRun],
    show: ProgressDisplay,
    *,
    concurrency: int | None = None,
    budget_usd: float | None = None,
) -> list[SessionResult]:
    """Work on whole runs in this process, one after the other; a signal ends the series."""
    outcomes: list[SessionResult] = []
    with ExitStack() as held:
        take_over(opened, held)
        for each in opened:
            prepare(each, begin(each, WHOLE)[1], show)
            outcomes.append(work_here(each, WHOLE, show, concurrency=concurrency, budget_usd=budget_usd))
            if outcomes[-1].interrupted:
                break
            if outcomes[-1].status.done == outcomes[-1].status.planned:
                _tidy(each, outcomes[-1].status)
    return outcomes


def _tidy(finished: LoadedRun, status: Status) -> None:
    """One file a table; and where no fault is left to be tried again, no kept replies."""
    compact(finished.run.id)
    if not status.provider:
        kept_replies.drop(finished.folder)


def work_on_shard(
    opened: Sequence[LoadedRun],
    shard: tuple[int, int],
    show: ProgressDisplay,
    *,
    led: bool,
    concurrency: int | None = None,
    budget_usd: float | None = None,
) -> list[SessionResult]:
    """Work on one shard of each run in turn.

    `led`: a coordinator holds the locks and tidies up. Otherwise this is a machine among others: it takes
    the shard's own lock, and whichever machine finishes last compacts the run. BadOption for a run that was cancelled.
    """
    outcomes: list[SessionResult] = []
    for each in opened:
        if led:
            outcome = work_here(each, shard, show, led=True, concurrency=concurrency, budget_usd=budget_usd)
        else:
            if (each.folder / statuses.CANCEL).exists():
                raise BadOption(
                    f"run {each.run.id} was cancelled; delete {each.folder / 'CANCEL'} to let its shards go on"
                )
            with lock.hold_shard(each.folder, shard):
                outcome = work_here(each, shard, show, concurrency=concurrency, budget_usd=budget_usd)
            _finish_if_last(each, shard[1])
        outcomes.append(outcome)
        if outcome.interrupted:
            break
    return outcomes


def _finish_if_last(opened: LoadedRun, shards: int) -> None:
    try:
        with lock.try_hold_run(opened.folder):
            settle(opened, shards, led=False)
    except Busy:
        return  # another shard is still at work and will come here later


def settle(opened: LoadedRun, shards: int, led: bool) -> Status:
    """When every shard has come to an end, sum up in status.json, and compact a finished run. Needs the lock."""
    status = statuses.merge(statuses.read_shards(opened.folder, led), shards, len(opened.pairs))
    whole = status.state != "running" and status.done == status.planned
    if whole:
        _tidy(opened, status)
    if status.state != "running":
        statuses.write(opened.folder / "status.json", status)
    if led or whole:
        statuses.drop_shards(opened.folder)
    return status
