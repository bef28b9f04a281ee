"""What a generation will ask of a real model, before it starts: about so many calls, tokens and USD.

estimate("openai:gpt-4.1", "small")        # CostEstimate(calls=…, …, cost_usd=None where no price is noted)
estimate("simulated:strong", "small")      # None: nothing is asked of anybody
"""

from __future__ import annotations

from cxlab.benchmarks.cxmarena.generation import sizes
from cxlab.benchmarks.generation.budget import CostEstimate

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
    return CostEstimate.of(model, _round(calls), _round(prompt * 1000), _round(completion * 1000))


def _round(value: float) -> int:
    """Two digits that count: more would promise what an estimate cannot hold."""
    return int(float(f"{value:.1e}"))
