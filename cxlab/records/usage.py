"""What calls of models took: tokens, seconds and money; unknown stays unknown."""

from typing import Any

from cxlab.records.base import Record


class Usage(Record):
    """Tokens as the server reports them; None where it reports none (never an estimate)."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    calls: int = 0
    retries: int = 0
    cached_calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        def both(a: int | None, b: int | None) -> int | None:
            return b if a is None else a if b is None else a + b

        return Usage(
            prompt_tokens=both(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=both(self.completion_tokens, other.completion_tokens),
            calls=self.calls + other.calls,
            retries=self.retries + other.retries,
            cached_calls=self.cached_calls + other.cached_calls,
        )


class CallTotals(Record):
    """What calls took together; `cost_usd` is None as soon as the cost of one of them is unknown."""

    usage: Usage = Usage()
    latency_s: float = 0.0
    cost_usd: float | None = 0.0

    def __add__(self, other: "CallTotals") -> "CallTotals":
        known = self.cost_usd is not None and other.cost_usd is not None
        return CallTotals(
            usage=self.usage + other.usage,
            latency_s=self.latency_s + other.latency_s,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )

    def of_message(self) -> dict[str, Any]:
        """The fields that a Message keeps of this; none where nothing was asked of anybody."""
        return {"usage": self.usage, "latency_s": self.latency_s, "cost_usd": self.cost_usd} if self.asked else {}

    @property
    def asked(self) -> bool:
        """Whether anything was asked of anybody."""
        return self.usage != Usage() or bool(self.latency_s) or bool(self.cost_usd)
