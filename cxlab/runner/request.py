"""From what a user orders to the records of its runs, checked before anything is written."""

import functools
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cxlab import __version__, llm, resources
from cxlab.errors import BadOption
from cxlab.llm import registry
from cxlab.records import Dataset, Run, Sample, new_id
from cxlab.records.bounds import check_attempts, check_budget, check_whole
from cxlab.runner.execute import DEFAULT_CONCURRENCY
from cxlab.runner.plan import SampleFilter, choose, find_benchmark
from cxlab.store import home, write

JOB = "CXLAB_JOB"
"""Environment variable with the id of the job that started this process, if a page did."""


@dataclass(frozen=True)
class RunRequest:
    """What to run: one run a model, all on the same samples. `budget_usd` is what each run may spend."""

    benchmark: str
    models: tuple[str, ...]
    customer: str | None = None
    judges: tuple[str, ...] = ()
    dataset_id: str | None = None
    choice: SampleFilter = field(default_factory=SampleFilter)
    trials: int = 1
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    """Switches of the benchmark; what is not named is at its default."""
    concurrency: int = DEFAULT_CONCURRENCY
    budget_usd: float | None = None
    cache: bool = False


def create_runs(order: RunRequest, group: str | None = None) -> list[Run]:
    """Check the whole order, then store one run a model; several runs of one order share a `group`."""
    check(order)
    benchmark = find_benchmark(order.benchmark)
    dataset, samples = open_dataset(order)
    planned = len(choose_samples(order, samples)) * order.trials
    check_attempts(planned, order.trials)
    agents = [llm.load(name) for name in order.models]
    for name in (*order.judges, *([order.customer] if order.customer else [])):
        llm.load(name)
    if group is None and len(agents) > 1:
        group = new_id("group")
    prompts, code = benchmark.prompts(), read_code_version()
    switches = benchmark.Options.read(order.options).to_record()
    runs = [
        Run(
            id=new_id("run"),
            benchmark=benchmark.card.id,
            model=model.name,
            simulated=model.simulated,
            setup={
                "benchmark": order.benchmark,
                # As it was ordered: the model's own name leaves out what changes no reply.
                "model": name,
                "customer": order.customer,
                "options": switches,
                "choice": {
                    "limit": order.choice.limit,
                    "where": list(order.choice.where),
                },
                "concurrency": order.concurrency,
                "budget_usd": order.budget_usd,
                "cache": order.cache,
            },
            judges=order.judges,
            dataset_id=dataset.id,
            seed=order.seed,
            trials=order.trials,
            planned=planned,
            prompts=prompts,
            code=code,
            group=group,
            created=datetime.now(UTC),
        )
        for name, model in zip(order.models, agents, strict=True)
    ]
    if order.dataset_id is None:
        write.save_dataset(dataset, samples)
    for run in runs:
        write.create_run(run)
    tell_job(run.id for run in runs)
    return runs


def open_dataset(order: RunRequest) -> tuple[Dataset, list[Sample]]:
    """The dataset that was named, or the benchmark's own, generated anew; its id is the hash of its content.

    BadOption for one of another benchmark.
    """
    benchmark = find_benchmark(order.benchmark)
    if order.dataset_id is None:
        require_dataset(order)
        return benchmark.generate_now({}, order.seed)
    dataset = write.load_dataset(order.dataset_id)
    if dataset.benchmark != benchmark.card.id:
        raise BadOption(f"dataset {dataset.id} is of benchmark {dataset.benchmark!r}, not of {benchmark.card.id!r}")
    return dataset, write.load_samples(order.dataset_id)


def choose_samples(order: RunRequest, samples: Sequence[Sample]) -> list[Sample]:
    """Those of a dataset that the order takes; refuses switches that they cannot be run with."""
    benchmark = find_benchmark(order.benchmark)
    chosen = choose(benchmark, samples, order.choice)
    if benchmark.refuse is not None:
        benchmark.refuse(chosen, benchmark.Options.read(order.options))
    return chosen


def require_dataset(order: RunRequest) -> None:
    """BadOption for an order without a dataset, where making one is work of its own."""
    if order.dataset_id is not None or find_benchmark(order.benchmark).own_data:
        return
    stored = [each.id for each in write.list_datasets() if each.benchmark == order.benchmark]
    named = f"--dataset {stored[0]}" if stored else f"python -m cxlab generate {order.benchmark}"
    raise BadOption(f"{order.benchmark} has no data of its own; name a stored dataset or make one first: {named}")


def count_samples(order: RunRequest) -> int:
    """How many samples the order takes; reads no text of a stored dataset."""
    if order.dataset_id is None:
        samples = open_dataset(order)[1]
    else:
        samples = write.load_samples(order.dataset_id, only_facets=True)
    return len(choose(find_benchmark(order.benchmark), samples, order.choice))


@functools.cache
def read_code_version() -> str:
    """The package's version, and the commit it was run from when that can be told; asked once a process."""
    root = resources.checkout()
    if root is None or not (root / ".git").exists():
        return __version__
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude", "*"],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return __version__
    return f"{__version__}+{described.stdout.strip()}" if described.returncode == 0 else __version__


def tell_job(run_ids: Iterable[str]) -> None:
    """Let the page that started this process know which runs it works on."""
    job = os.environ.get(JOB)
    if job:
        path = home() / "jobs" / f"{job}.runs"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.writelines(f"{run_id}\n" for run_id in run_ids)


def check_numbers(order: RunRequest) -> None:
    """BadOption for a number that nothing can be run with: name, value and what is allowed."""
    check_whole("concurrency", order.concurrency)
    check_whole("trials", order.trials)
    check_whole("seed", order.seed)
    check_whole("limit", order.choice.limit)
    check_budget(order.budget_usd)


def refuse_unpriced(names: Iterable[str], budget_usd: float | None) -> None:
    """BadOption when one of these models has no price, so that nothing would end a run at its budget."""
    if budget_usd is None:
        return
    for name in dict.fromkeys(names):
        if llm.prices(name) is None:
            raise BadOption(
                f"--budget {budget_usd:g}: no price of {name} is noted, so nothing would stop it; note prompt_usd and "
                f'completion_usd under [models."{name}"] in {registry.user_file()}, or leave the budget out'
            )


def check(order: RunRequest) -> None:
    """BadOption for what cannot be right whatever the dataset holds: models, judges, what they are made for."""
    if not order.models:
        raise BadOption("name at least one --model, for example simulated:strong")
    repeated = {name for name in order.models if order.models.count(name) > 1}
    if repeated:
        raise BadOption(f"--model {min(repeated)!r} is named twice; use --trials for more than one trial")
    twice = {name for name in order.judges if order.judges.count(name) > 1}
    if twice:
        raise BadOption(f"--judge {min(twice)!r} is named twice; each judge of a panel has one vote")
    check_numbers(order)
    refuse_unpriced((*order.models, *([order.customer] if order.customer else []), *order.judges), order.budget_usd)
    benchmark = find_benchmark(order.benchmark)
    for name in order.models:
        if (role := llm.role_of(name)) not in benchmark.model_roles:
            instead = benchmark.default_models[0]
            raise BadOption(f"--model {name}: {order.benchmark} evaluates no {role}s; take {instead}, for example")
        only = llm.only_for(name)
        if only and only != benchmark.card.id:
            floors = ", ".join(floor.model for floor in benchmark.floors)
            instead = f", or take a floor of it: {floors}" if floors else ""
            raise BadOption(
                f"--model {name}: it is made for {only} and says nothing about {order.benchmark}; leave it out{instead}"
            )
