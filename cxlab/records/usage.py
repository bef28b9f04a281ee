"""What calls of models took: tokens, seconds and money; unknown stays unknown."""

from typing import Any

from cxlab.records.base import Record


class Usage(Record):
    """Tokens as the server reports them; None where it reports none (never an estimate).

    `cached_tokens` are those of the prompt that the server had kept, a part of `prompt_tokens`; `reasoning_tokens`
    those of thinking, a part of `completion_tokens`. A sum is None as soon as one call in it was not counted.
    `unanswered`: requests that were sent and whose answer did not come, or not to its end. Nobody reports what they
    took, and a server may bill them.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    calls: int = 0
    retries: int = 0
    cached_calls: int = 0
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    unanswered: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        def both(mine: int | None, others: int | None) -> int | None:
            # Where there was no call that could have been counted, an absent count is no unknown one.
            if mine is None and self.calls == 0:
                return others
            if others is None and other.calls == 0:
                return mine
            return None if mine is None or others is None else mine + others

        return Usage(
            prompt_tokens=both(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=both(self.completion_tokens, other.completion_tokens),
            calls=self.calls + other.calls,
            retries=self.retries + other.retries,
            cached_calls=self.cached_calls + other.cached_calls,
            cached_tokens=both(self.cached_tokens, other.cached_tokens),
            reasoning_tokens=both(self.reasoning_tokens, other.reasoning_tokens),
            unanswered=self.unanswered + other.unanswered,
        )

    @property
    def elsewhere(self) -> bool:
        """Whether it was all made and paid for before: in a run from which it was taken over, or kept by the cache."""
        return self.calls == 0 and self.cached_calls > 0

    @property
    def tokens(self) -> int | None:
        """Tokens in and out together."""
        known = self.prompt_tokens is not None and self.completion_tokens is not None
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0) if known else None


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
        return bool(self.latency_s) or bool(self.cost_usd) or self.usage != Usage()
