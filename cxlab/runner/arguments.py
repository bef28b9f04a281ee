"""An order as a page hands it to a process: what is wrong with it, and the arguments of the command line."""

from collections.abc import Callable, Sequence

from cxlab import llm
from cxlab.errors import CxError, NotConfigured
from cxlab.runner.estimate import Estimate, estimate
from cxlab.runner.plan import find_benchmark
from cxlab.runner.request import RunRequest, check_numbers, require_dataset


def validate(order: RunRequest) -> str:
    """What keeps an order from being started, in a sentence; "" when nothing does. Loads each model, calls none."""
    wrong, missing = _look_through(order)
    return wrong or missing


def foresee(
    order: RunRequest, tell: Callable[[RunRequest], Sequence[Estimate]] = estimate
) -> tuple[str, Sequence[Estimate]]:
    """What keeps an order from being started, "" for nothing, and what it would take as far as that can be told."""
    wrong, missing = _look_through(order)
    if wrong:
        return wrong, ()
    try:
        return missing, tell(order)
    except CxError as refused:
        return str(refused), ()


def _look_through(order: RunRequest) -> tuple[str, str]:
    """What is wrong with an order, and what a model of it lacks to be asked; "" for nothing."""
    missing = ""
    if not order.models:
        return "Pick at least one model to evaluate.", ""
    if not order.judges and find_benchmark(order.benchmark).needs_judges:
        return "Pick at least one judge: without judges nothing is scored.", ""
    try:
        check_numbers(order)
        benchmark = find_benchmark(order.benchmark)
        options = benchmark.Options.read(order.options)
        if benchmark.refuse is not None:
            benchmark.refuse((), options)  # the switches alone; what clashes with a sample, its estimate refuses
        require_dataset(order)
        for name in dict.fromkeys([*order.models, *order.judges, order.customer or ""]):
            if name:
                try:
                    llm.load(name)
                except NotConfigured as lack:
                    missing = missing or str(lack)
    except CxError as mistake:
        return str(mistake), ""
    return "", missing


def to_arguments(order: RunRequest) -> list[str]:
    """The order as arguments of `python -m cxlab`; written as --name=value, so that no value is taken for an option."""
    choice = order.choice
    args = ["run", order.benchmark, *(f"--model={name}" for name in order.models)]
    args += [f"--judge={name}" for name in order.judges]
    args += [f"--where={facet}={value}" for facet, value in choice.where]
    single = {
        "customer": order.customer,
        "limit": choice.limit,
        "dataset": order.dataset_id,
        "budget": order.budget_usd,
        "trials": order.trials,
        "seed": order.seed,
        "concurrency": order.concurrency,
    }
    args += [f"--{name}={value}" for name, value in single.items() if value is not None]
    options = find_benchmark(order.benchmark).Options.read(order.options)
    args += [f"--option={word}" for word in options.to_words()]
    return [*args, "--cache", "--quiet"] if order.cache else [*args, "--quiet"]
