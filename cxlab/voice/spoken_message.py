"""What came of one text on its way through a voice and a recogniser."""

from dataclasses import dataclass, field
from typing import Any

from cxlab.records import Failure, Usage


@dataclass(frozen=True)
class SpokenMessage:
    """The recognised words, what is worth keeping about the way, and what it took; `cost_usd` None: not known."""

    heard: str
    data: dict[str, Any] = field(default_factory=dict)
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    latency_s: float = 0.0
    failure: Failure | None = None
