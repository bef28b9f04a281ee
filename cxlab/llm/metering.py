"""What calls cost and when to stop: prices, budgets, and the wrapper that keeps both (and the cache)."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cxlab.errors import BadOption
from cxlab.llm.base import ChatModel, Completion, ProviderFault, Request
from cxlab.llm.circuit_breaker import CircuitBreaker
from cxlab.records import Failure, Usage

if TYPE_CHECKING:
    from cxlab.llm.cache import ReplyCache


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per million tokens, with the day they were noted and where from.

    `cached_usd` is for tokens of a prompt that the server had kept, `reasoning_usd` for those of thinking; None: as
    for any other.
    """

    prompt_usd: float
    completion_usd: float
    as_of: str = ""
    source: str = ""
    cached_usd: float | None = None
    reasoning_usd: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """USD, or None when the server reported no tokens: a cost is never guessed."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        whole = usage.prompt_tokens * self.prompt_usd + usage.completion_tokens * self.completion_usd
        if self.cached_usd is not None and usage.cached_tokens:
            whole += min(usage.cached_tokens, usage.prompt_tokens) * (self.cached_usd - self.prompt_usd)
        if self.reasoning_usd is not None and usage.reasoning_tokens:
            whole += min(usage.reasoning_tokens, usage.completion_tokens) * (self.reasoning_usd - self.completion_usd)
        return whole / 1e6


@dataclass(frozen=True, slots=True)
class AudioPrices:
    """USD per minute of sound and per million characters spoken; a service counts by one of them."""

    minute_usd: float | None = None
    characters_usd: float | None = None
    as_of: str = ""
    source: str = ""

    def cost(self, seconds: float | None, characters: int) -> float | None:
        """USD, or None when what it is counted by is not known: a cost is never guessed."""
        if self.characters_usd is not None:
            return characters * self.characters_usd / 1e6
        return None if self.minute_usd is None or seconds is None else seconds / 60 * self.minute_usd


FREE = Prices(0.0, 0.0, source="simulated models run in this process")


def cost_of(model: ChatModel, usage: Usage) -> float | None:
    """USD for what was used: 0.0 for simulated models and cached replies, None when it cannot be known."""
    if model.simulated or (usage.calls == 0 and usage.cached_calls > 0):
        return 0.0
    prices: Prices | None = getattr(model, "prices", None)
    return prices.cost(usage) if prices else None


def at_most(model: ChatModel, request: Request) -> float | None:
    """USD that a request can have cost whose answer never came: no token is less than a character, and no answer
    longer than its limit. None without a price or a limit."""
    prices: Prices | None = getattr(model, "prices", None)
    room = getattr(model, "room", None)
    limit = request.max_tokens if room is None else room(request)
    if prices is None or limit is None:
        return None
    schema = request.schema.model_json_schema() if request.schema is not None else None
    prompt = len(json.dumps([list(request.messages), request.tools, schema], ensure_ascii=False))
    return (prompt * prices.prompt_usd + limit * max(prices.completion_usd, prices.reasoning_usd or 0.0)) / 1e6


@dataclass(slots=True)
class Budget:
    """A limit in USD shared by all calls that are given this object.

    A call is refused when what is spent, plus the mean cost so far of each call still in flight,
    reaches the limit: so a hundred concurrent calls overshoot by the error of that mean, not by a
    hundred calls. Only the first wave, before any cost is known, is unprotected. A call whose cost is not
    known cannot be counted in USD, so after the first one no more is let through; `unpriced_calls` says how many
    there were.
    """

    usd: float
    spent_usd: float = 0.0
    priced_calls: int = 0
    unpriced_calls: int = 0
    exhausted: bool = False
    _in_flight: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if not self.usd >= 0:
            raise BadOption(f"budget {self.usd!r}: give an amount in USD of 0 or more")

    def open_call(self) -> bool:
        """Whether one more call may start; counts it as in flight when it may."""
        mean = self.spent_usd / self.priced_calls if self.priced_calls else 0.0
        # A sum of many small costs falls short of the limit by a rounding error: that is not room for a call.
        if self.exhausted or self.unpriced_calls or self.spent_usd + self._in_flight * mean >= self.usd * (1 - 1e-9):
            self.exhausted = True
            return False
        self._in_flight += 1
        return True

    def describe(self) -> str:
        """Why no more calls are let through."""
        if self.unpriced_calls:
            return (
                f"what {self.unpriced_calls} calls took is not known (the server reported no tokens, or did not "
                f"answer), so the budget of ${self.usd:g} cannot be kept; leave the budget out to go on"
            )
        return f"spent ${self.spent_usd:.4f} of a budget of ${self.usd:.4f}"

    def close_call(self) -> None:
        """A call that was opened has ended, well or badly."""
        self._in_flight -= 1

    def charge(self, cost_usd: float | None) -> None:
        """A reply was delivered and costs this much; None = unknown."""
        if cost_usd is None:
            self.unpriced_calls += 1
        else:
            self.priced_calls += 1
            self.spent_usd += cost_usd

    def miss(self, calls: int, most_usd: float | None) -> None:
        """Requests whose answer never came cost at most this much each: so much of the limit is held back."""
        if most_usd is None:
            self.unpriced_calls += calls
        else:
            self.spent_usd += calls * most_usd


@dataclass(slots=True)
class Spending:
    """What all calls that are given this object have cost, whatever becomes of what they were made for.

    `unanswered` requests got no answer, or not to its end; they cost at most `unanswered_usd` more (None: unknown).
    """

    usd: float = 0.0
    unpriced_calls: int = 0
    unanswered: int = 0
    unanswered_usd: float | None = 0.0
    under_way: int = 0
    """Calls that are made at the moment."""

    def charge(self, cost_usd: float | None) -> None:
        """A reply was delivered and costs this much; None = unknown."""
        if cost_usd is None:
            self.unpriced_calls += 1
        else:
            self.usd += cost_usd

    def miss(self, calls: int, most_usd: float | None) -> None:
        """Requests whose answer never came, at most this much each."""
        self.unanswered += calls
        known = self.unanswered_usd is not None and most_usd is not None
        self.unanswered_usd = (self.unanswered_usd or 0.0) + calls * (most_usd or 0.0) if known else None


class MeteredModel:
    """A model with a budget, a cache, or a circuit breaker; itself a model, so it can stand for one.

    `note` is told of each request, `spending` of what each reply costs.
    """

    def __init__(
        self,
        model: ChatModel,
        budget: Budget | None = None,
        cache: "ReplyCache | None" = None,
        breaker: CircuitBreaker | None = None,
        note: Callable[[Request], None] | None = None,
        spending: Spending | None = None,
    ) -> None:
        self.inner = model
        self.name = model.name
        self.simulated = model.simulated
        self.prices: Prices | None = getattr(model, "prices", None)
        self.budget = budget
        self.cache = cache
        self.breaker = None if model.simulated else breaker
        self._note, self._spending = note, spending

    async def complete(self, request: Request) -> Completion:
        """The cached reply when there is one, else the model's; type `budget` when the money is spent."""
        if self._note is not None:
            self._note(request)
        key = ""
        if self.cache is not None:
            key = self.cache.key(self.name, request)
            hit = self.cache.get(key)
            if hit is not None:
                return hit
        # A simulated model costs nothing, so no budget can stop it.
        budget = None if self.simulated else self.budget
        if self.breaker is not None:
            await self.breaker.begin()
        if budget is not None and not budget.open_call():
            self._end(None, False)
            raise ProviderFault("budget", budget.describe())
        fault: ProviderFault | None = None
        answered = False
        spending = None if self.simulated else self._spending
        if spending is not None:
            spending.under_way += 1
        try:
            completion = await self.inner.complete(request)
            answered = True
        except ProviderFault as failed:
            fault = failed
            self._miss(request, failed.usage.unanswered)
            raise
        finally:
            self._end(fault.failure if fault is not None else None, answered)
            if budget is not None:
                budget.close_call()
            if spending is not None:
                spending.under_way -= 1
        self._miss(request, completion.usage.unanswered)
        for counting in (budget, self._spending):
            if counting is not None:
                counting.charge(cost_of(self.inner, completion.usage))
        if self.cache is not None and self.cache.takes(completion):
            import asyncio  # late: 30 ms that `--help` need not spend

            # In a thread: another process may hold the write lock for a moment.
            prompt = request.prompt.name if request.prompt is not None else ""
            await asyncio.to_thread(self.cache.put, key, completion, self.name, prompt)
        return completion

    def _miss(self, request: Request, calls: int) -> None:
        """Requests that got no answer may be billed all the same."""
        if calls and not self.simulated:
            most = at_most(self.inner, request)
            for counting in (self.budget, self._spending):
                if counting is not None:
                    counting.miss(calls, most)

    def _end(self, failure: Failure | None, answered: bool) -> None:
        if self.breaker is not None:
            self.breaker.end(failure, answered)

    def room(self, request: Request) -> int | None:
        """The tokens that the answer may take, as the wrapped model has it."""
        found = getattr(self.inner, "room", None)
        return request.max_tokens if found is None else found(request)

    async def aclose(self) -> None:
        """Closes the wrapped model; the cache belongs to whoever opened it."""
        await self.inner.aclose()
