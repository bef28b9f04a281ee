"""What making an organisation will ask of a real writer, before it starts."""

from __future__ import annotations

from cxlab.benchmarks.crmarena.generation.sizes import Size
from cxlab.benchmarks.crmarena.generation.writing import BATCH
from cxlab.benchmarks.generation_budget import CostEstimate

# Tokens in and out of one call, a token taken as four characters of the prompts as they are rendered for the default
# company and of a reply as long as its hand-written one.
TOKENS = {"names": (350, 170), "cases": (4300, 3600), "reader": (900, 60), "purchase": (900, 50), "words": (420, 330)}


def count_calls(size: Size) -> dict[str, int]:
    """Calls of each kind where nothing has to be made again."""
    batches = {
        name: -(-count // BATCH) for name, count in (("u", size.users), ("c", size.customers), ("k", size.cases))
    }
    # Eight tasks are worded by the writer; knowledge questions are the articles' own.
    return {
        "names": batches["u"] + batches["c"],
        "cases": batches["k"],
        "reader": size.cases,
        "purchase": size.queries,
        "words": 8 * -(-size.queries // BATCH),
    }


def estimate(model: str, size: Size) -> CostEstimate | None:
    """About what a real writer takes; None for a simulated one."""
    if model.startswith("simulated:"):
        return None
    calls = count_calls(size)
    sums = [sum(count * TOKENS[name][place] for name, count in calls.items()) for place in (0, 1)]
    return CostEstimate.of(model, sum(calls.values()), sums[0], sums[1])
