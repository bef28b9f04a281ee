"""What making an organisation will ask of a real writer, before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from cxlab import llm
from cxlab.benchmarks.crmarena.generation.sizes import Size
from cxlab.benchmarks.crmarena.generation.writing import BATCH
from cxlab.records import Usage

# Tokens in and out of one call, a token taken as four characters of the prompts as they are rendered for the default
# company and of a reply as long as its hand-written one.
TOKENS = {"names": (350, 170), "cases": (4300, 3600), "reader": (900, 60), "purchase": (900, 50), "words": (420, 330)}


@dataclass(frozen=True)
class CostEstimate:
    """About what it takes; `cost_usd` is None where no price of the model is noted."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None

    def describe(self) -> str:
        """One line for a person."""
        price = "cost unknown (no price noted)" if self.cost_usd is None else f"${self.cost_usd:,.2f}"
        tokens = f"{self.prompt_tokens:,} tokens in, {self.completion_tokens:,} out"
        return f"{self.model}: about {self.calls:,} calls, {tokens}, {price}; more where batches are made again"


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
    usage = Usage(prompt_tokens=sums[0], completion_tokens=sums[1])
    return CostEstimate(model, sum(calls.values()), sums[0], sums[1], llm.cost(model, usage))
