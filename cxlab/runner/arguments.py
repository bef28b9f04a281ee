"""An order as a page hands it to a process: what is wrong with it, and the arguments of the command line."""

from cxlab import llm
from cxlab.errors import CxError
from cxlab.runner.plan import find_benchmark
from cxlab.runner.request import RunRequest, check_numbers, require_dataset


def validate(order: RunRequest) -> str:
    """What keeps an order from being started, in a sentence; "" when nothing does. Loads each model, calls none."""
    if not order.models:
        return "Pick at least one model to evaluate."
    if not order.judges and find_benchmark(order.benchmark).needs_judges:
        return "Pick at least one judge: without judges nothing is scored."
    try:
        check_numbers(order)
        find_benchmark(order.benchmark).Options.read(order.options)
        require_dataset(order)
        for name in dict.fromkeys([*order.models, *order.judges, order.customer or ""]):
            if name:
                llm.load(name)
    except CxError as mistake:
        return str(mistake)
    return ""


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
