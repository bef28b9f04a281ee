"""Choose how stored runs are worked on: here, in processes, on Ray, or as one shard among machines."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from cxlab.benchmarks.scores import gold_check
from cxlab.errors import BadOption, Busy, Unreachable
from cxlab.records.bounds import check_budget, check_whole
from cxlab.runner import workers
from cxlab.runner.display.runs import ProgressDisplay, choose_display
from cxlab.runner.loaded_run import LoadedRun, is_simulated, open_run
from cxlab.runner.lock import try_hold_run
from cxlab.runner.plan import WHOLE
from cxlab.runner.preflight import list_roles, preflight
from cxlab.runner.request import refuse_unpriced, tell_job
from cxlab.runner.session import SessionResult, begin, work_alone, work_on_shard
from cxlab.store import run_status as statuses
from cxlab.store import write

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class ExecutionOptions:
    """How to work, as against what on. None leaves the choice to the run or to the machine."""

    shard: tuple[int, int] | None = None
    workers: int | None = None
    engine: str = "local"
    concurrency: int | None = None
    budget_usd: float | None = None
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise BadOption(f"--engine {self.engine!r}: known are {', '.join(ENGINES)}")
        check_whole("workers", self.workers)
        check_whole("concurrency", self.concurrency)
        check_budget(self.budget_usd)


def launch(run_ids: Sequence[str], manner: ExecutionOptions) -> list[SessionResult]:
    """Work on runs until they are done or stopped; what came of each."""
    led = workers.follow_leader()
    opened = [open_run(run_id) for run_id in dict.fromkeys(run_ids)]
    if not led:
        tell_job(each.run.id for each in opened)
        # What is judged again was checked when it was run.
        fresh = {e.run.dataset_id: e.benchmark for e in opened if not e.run.setup.get("rescored_from")}
        for dataset_id, benchmark in fresh.items():
            gold_check.tell(dataset_id, benchmark=benchmark)
        _refuse_unkept(opened, manner.budget_usd)
        _reach(opened)
    show = choose_display(manner.quiet)
    try:
        return _work(opened, manner, show, led)
    finally:
        show.close()


def _refuse_unkept(opened: Sequence[LoadedRun], budget_usd: float | None) -> None:
    """BadOption for a budget that nothing would keep."""
    for each in opened:
        asked = budget_usd if budget_usd is not None else each.run.setup.get("budget_usd")
        refuse_unpriced([name for _, name in list_roles(each.run)], asked)


def _reach(opened: Sequence[LoadedRun]) -> None:
    """Ask the servers of all runs that have something left; where one does not answer, the runs say why they failed."""
    left = [each for each in opened if len(write.finished(each.run.id)) < len(each.pairs)]
    try:
        preflight(role for each in left for role in list_roles(each.run))
    except Unreachable as fault:
        for each in left:
            with suppress(Busy), try_hold_run(each.folder):
                status = begin(each, WHOLE)[1]
                statuses.write(each.folder / "status.json", replace(status, state="failed", message=str(fault)))
        raise


def _work(
    opened: Sequence[LoadedRun], manner: ExecutionOptions, show: ProgressDisplay, led: bool
) -> list[SessionResult]:
    if manner.shard is not None:
        return work_on_shard(
            opened, manner.shard, show, led=led, concurrency=manner.concurrency, budget_usd=manner.budget_usd
        )
    if manner.engine == "ray":
        return workers.work_on_ray(
            opened,
            manner.workers or workers.count_cores(),
            show,
            concurrency=manner.concurrency,
            budget_usd=manner.budget_usd,
        )
    simulated = [each for each in opened if is_simulated(each.run)]
    left = sum(len(each.pairs) - len(write.finished(each.run.id)) for each in simulated)
    count = workers.count_workers(left, manner.workers)
    outcomes: list[SessionResult] = []
    if count > 1:
        outcomes = workers.work_in_processes(simulated, count, show, concurrency=manner.concurrency)
        opened = [each for each in opened if each not in simulated]
    if opened and not any(each.interrupted for each in outcomes):
        outcomes += work_alone(opened, show, concurrency=manner.concurrency, budget_usd=manner.budget_usd)
    return outcomes
