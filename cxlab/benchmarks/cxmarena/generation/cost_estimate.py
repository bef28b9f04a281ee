"""What a generation will ask of a real model, before it starts: about so many calls, tokens and USD.

estimate("openai:gpt-4.1", "small")        # CostEstimate(calls=…, …, cost_usd=None where no price is noted)
estimate("simulated:strong", "small")      # None: nothing is asked of anybody
"""

from __future__ import annotations

from dataclasses import dataclass

from cxlab import llm
from cxlab.benchmarks.cxmarena.generation import sizes
from cxlab.records import Usage

FREE = "Simulated models write in this process: no tokens, no cost."
# Counted at 60 articles (hearthwise and talvero, seed 1, all noise) with every prompt rendered as a real model gets it,
# schema included, and a scripted writer's replies, a token taken as four characters; the articles as long as they may
# be, with what follows from it for conversations that show them. Part → calls, thousands of tokens in and out. All
# grow with the number of articles. Real models write texts of other lengths and are asked again where something is
# wrong, hence "about".
COUNTED_AT = 60
COUNTED = {
    "articles": (74, 48, 40),
    "conversations": (740, 2000, 60),
    "tasks": (124, 72, 3),
    "checks": (320, 250, 11),
}
# The same of a tiny dataset, whose conversations are short and whose labels nobody checks.
TINY = (109, 120, 14)
# A pack out of a brief: the form with an example, and a pack as long as those that ship.
BRIEF = (1, 6.6, 30)


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
        cost = "cost unknown (no price noted)" if self.cost_usd is None else f"${self.cost_usd:,.2f}"
        if self.cost_usd == 0:
            cost = "no cost by its noted price"
        tokens = f"{self.prompt_tokens:,} tokens in, {self.completion_tokens:,} out"
        return f"{self.model}: about {self.calls:,} calls, {tokens}, {cost}"


def estimate(model: str, size: str, *, brief: bool = False, validate: bool = True) -> CostEstimate | None:
    """What is left out of sight: retries, and what earlier tries of the same generation have done already."""
    if model.startswith("simulated:"):
        return None
    found = sizes.read_size(size)
    articles = found.information + found.issues
    parts = [measured for part, measured in COUNTED.items() if validate or part != "checks"]
    sums = [sum(part[column] for part in parts) * articles / COUNTED_AT for column in range(3)]
    if found.tiny:
        sums = list(map(float, TINY))
    calls, prompt, completion = (one + more for one, more in zip(sums, BRIEF if brief else (0, 0, 0), strict=True))
    usage = Usage(prompt_tokens=_round(prompt * 1000), completion_tokens=_round(completion * 1000))
    return CostEstimate(
        model,
        _round(calls),
        usage.prompt_tokens or 0,
        usage.completion_tokens or 0,
        llm.cost(model, usage),
    )


def _round(value: float) -> int:
    """Two digits that count: more would promise what an estimate cannot hold."""
    return int(float(f"{value:.1e}"))
