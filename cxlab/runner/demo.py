"""The demo: what a newcomer sees first, built from simulated models alone; each benchmark brings its slice."""

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from cxlab import llm
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Demo, DemoRun
from cxlab.benchmarks.generation import Generation, GenerationContext, store
from cxlab.benchmarks.generation.stages import Progress
from cxlab.benchmarks.scores import gold_check
from cxlab.records import Run
from cxlab.runner.loaded_run import folder_of, open_run
from cxlab.runner.lock import hold_run
from cxlab.runner.plan import SampleFilter, find_benchmark
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import home, trash, write

GROUP = "demo"


def list_slices() -> list[tuple[str, Demo]]:
    """(benchmark, its slice) in the order in which the slices are built."""
    found = [(name, demo) for name in REGISTRY if (demo := REGISTRY[name].demo) is not None]
    return sorted(found, key=lambda pair: pair[1].order)


def prepare_slice(name: str, demo: Demo, force: bool = False) -> Generator[Progress, None, tuple[list[str], int]]:
    """Make what a slice needs: its dataset, which one that is there already only has looked up, then its runs.

    Yields the progress of the dataset and returns (the runs' ids, attempts that are left to make). Runs on another
    dataset (a scenario was edited) are left alone and new ones made. `force` moves the present ones to the trash first.
    """
    dataset_id = yield from _make_dataset(name, demo)
    if force:
        for run in list_demo_runs():
            if run.dataset_id == dataset_id:
                with hold_run(folder_of(run.id)):
                    trash.delete("run", run.id)
    present = [run for run in list_demo_runs() if run.dataset_id == dataset_id]
    ids = [run_id for each in demo.runs for run_id in _create_missing(name, demo, each, dataset_id, present)]
    return ids, sum(len(open_run(run_id).pairs) - len(write.finished(run_id)) for run_id in ids)


@contextmanager
def prepare_beside(slices: Sequence[tuple[str, Demo]], force: bool = False) -> Iterator[Future[tuple[list[str], int]]]:
    """Make what slices need in a thread, their gold checked, while runs of another one are worked on in processes.

    Gives (the runs' ids, attempts that are left to make). Who leaves the block earlier, because the work was stopped,
    waits for one step at most; what was made is found by the next demo.
    """
    stopped = Event()

    def prepare() -> tuple[list[str], int]:
        ids: list[str] = []
        left = 0
        for name, demo in slices:
            steps = prepare_slice(name, demo, force)
            while not stopped.is_set():
                try:
                    next(steps)
                except StopIteration as end:
                    ids, left = [*ids, *end.value[0]], left + end.value[1]
                    gold_check.check_dataset(open_run(end.value[0][0]).run.dataset_id)
                    break
        return ids, left

    with ThreadPoolExecutor(1, thread_name_prefix="demo") as pool:
        try:
            yield pool.submit(prepare)
        finally:
            stopped.set()


def list_demo_runs() -> list[Run]:
    """All demo runs in the store, newest first."""
    return [run for run in write.list_runs() if run.group == GROUP] if (home() / "runs").exists() else []


def _make_dataset(name: str, demo: Demo) -> Generator[Progress, None, str]:
    benchmark = find_benchmark(name)
    settings = benchmark.GenerateOptions.read(demo.generate)
    steps: Generation = benchmark.generate(settings, GenerationContext(demo.seed))
    made = yield from steps
    store(made)
    return made.dataset.id


def _create_missing(name: str, demo: Demo, wanted: DemoRun, dataset_id: str, present: list[Run]) -> list[str]:
    """A run a model: the one that is present with these very settings, else a new one."""
    options = find_benchmark(name).Options.read(wanted.options).to_record()
    have: dict[str, str] = {}
    for run in present:
        where = tuple(tuple(pair) for pair in run.setup["choice"]["where"])
        if (where, run.setup["choice"]["limit"], run.setup["options"]) == (wanted.where, wanted.limit, options):
            have.setdefault(run.model, run.id)
    named = {llm.load(model).name: model for model in wanted.models}
    missing = tuple(model for known, model in named.items() if known not in have)
    if missing:
        order = RunRequest(
            name,
            missing,
            wanted.customer,
            wanted.judges,
            dataset_id,
            SampleFilter(wanted.limit, wanted.where),
            seed=demo.seed,
            options=wanted.options,
        )
        have |= {run.model: run.id for run in create_runs(order, group=GROUP)}
    return [have[known] for known in named]
