"""What one step of a dialogue took of models."""

from dataclasses import dataclass

from cxlab.records import CallTotals, Failure, Usage


@dataclass(frozen=True, kw_only=True)
class Consumption:
    """Usage, seconds and USD of the calls behind one step, and the failure that ended it; a cost of None is unknown."""

    usage: Usage = Usage()
    latency_s: float = 0.0
    cost_usd: float | None = 0.0
    failure: Failure | None = None

    @property
    def totals(self) -> CallTotals:
        return CallTotals(usage=self.usage, latency_s=self.latency_s, cost_usd=self.cost_usd)
