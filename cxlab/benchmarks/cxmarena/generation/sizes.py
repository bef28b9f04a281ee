"""How much of everything a dataset holds: names, or a number of articles that scales the published counts."""

from __future__ import annotations

from dataclasses import dataclass

from cxlab.benchmarks.cxmarena.knowledge.topic_tree import SMALLEST
from cxlab.errors import BadOption

# Published (table 8): articles of both kinds, conversations, articles of the refinement corpus.
INFORMATION, ISSUES, CONVERSATIONS, REFINEMENT = 1743, 1425, 1994, 1915
SMALL = 60
LARGEST = 20_000
# Tool selection asks among as many as 128, whatever the size.
TOOLS = 150


@dataclass(frozen=True)
class DatasetSize:
    """Counts to aim at; what follows from conversations (intents, quality, tools) has as many as they give."""

    information: int
    issues: int
    conversations: int
    refinement: int
    tiny: bool = False
    """To try a writer for cents: the nearest topics only, short conversations, and no second opinions."""

    @property
    def share(self) -> float:
        """The size as a share of the published one."""
        return (self.information + self.issues) / (INFORMATION + ISSUES)


NAMED = {
    "tiny": DatasetSize(5, 3, 10, 6, tiny=True),
    "small": DatasetSize(33, 27, 40, 40),
    "paper": DatasetSize(INFORMATION, ISSUES, CONVERSATIONS, REFINEMENT),
}


def read_size(given: str | int) -> DatasetSize:
    """`small`, `paper`, or a number of articles; BadOption for anything else."""
    if isinstance(given, str) and given in NAMED:
        return NAMED[given]
    try:
        articles = int(given)
    except ValueError:
        raise BadOption(f"--size {given!r}: take tiny, small, paper or a number of articles") from None
    whole = INFORMATION + ISSUES
    least = -(-SMALLEST * whole // INFORMATION)
    if not least <= articles <= LARGEST:
        raise BadOption(f"--size {articles}: take from {least} to {LARGEST:,} articles")
    information = max(round(articles * INFORMATION / whole), SMALLEST)
    return DatasetSize(
        information,
        articles - information,
        max(round(articles * CONVERSATIONS / whole), 4),
        round(articles * REFINEMENT / whole),
    )
