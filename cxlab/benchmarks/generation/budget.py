"""What the calls of a real writer took, over all tries of a generation, and the budget that ends it.

    generation_budget = GenerationBudget(budget_usd=5.0, watch=board.spend)
    generation_budget.open(work)                                 # what earlier tries took counts
    generation_budget.keep_replies(work)
    model = generation_budget.meter(llm.load(name))              # a simulated model comes back as it is
    rows = yield from generation_budget.follow(steps)            # so that calls are booked on the stage that makes them
    generation_budget.spent       # GenerationSpending(calls=…, cost_usd=…), None where it is not known

Each paid call is one line of WORK/paid/spent.jsonl, written when it comes back, and its reply is kept beside it: what
a try paid for and could not finish is not paid for again by the next one.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from cxlab import llm
from cxlab.benchmarks.generation import stages
from cxlab.errors import BadOption
from cxlab.llm.base import ChatModel, Completion, ProviderFault, Request
from cxlab.llm.cache import ReplyCache
from cxlab.llm.parsing import parse, parse_text
from cxlab.records import Usage
from cxlab.records.bounds import check_budget

Out = TypeVar("Out")
# In the work folder, beside what the stages leave there.
PAID = "paid"
SPENT, BRAND, REPLIES = "spent.jsonl", "brand.jsonl", "replies.sqlite"


@dataclass(frozen=True)
class CostEstimate:
    """About what generating a dataset asks of a real writer; `cost_usd` is None where no price of it is noted."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None

    @classmethod
    def of(cls, model: str, calls: int, prompt_tokens: int, completion_tokens: int) -> Self:
        """The estimate, priced as the model is."""
        usage = Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
        return cls(model, calls, prompt_tokens, completion_tokens, llm.cost(model, usage))

    @classmethod
    def add(cls, parts: Sequence[CostEstimate]) -> CostEstimate | None:
        """Several models' together, whose names stand behind one another; None of none. A cost is unknown as soon as a
        part's is."""
        if not parts:
            return None
        costs = [each.cost_usd for each in parts]
        return cls(
            ", ".join(dict.fromkeys(each.model for each in parts)),
            sum(each.calls for each in parts),
            sum(each.prompt_tokens for each in parts),
            sum(each.completion_tokens for each in parts),
            None if None in costs else sum(cost for cost in costs if cost is not None),
        )

    def describe(self) -> str:
        """One line for a person."""
        price = "cost unknown (no price noted)" if self.cost_usd is None else f"${self.cost_usd:,.2f}"
        if self.cost_usd == 0:
            price = "no cost by its noted price"
        tokens = f"{self.prompt_tokens:,} tokens in, {self.completion_tokens:,} out"
        return f"{self.model}: about {self.calls:,} calls, {tokens}, {price}"


class OutOfBudget(stages.GenerationStopped):
    """The budget ended a generation; what was made is kept."""


@dataclass(frozen=True)
class GenerationSpending:
    """Calls by what the server reported. `cost_usd` is None when the price or the tokens of any are unknown, as those
    of a call that was never answered; `uncounted` says of how many calls no tokens were reported, which the sums lack;
    `known_usd` is the sum of what is known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    retries: int = 0
    uncounted: int = 0
    known_usd: float = 0.0

    def __add__(self, other: GenerationSpending) -> GenerationSpending:
        costs = (self.cost_usd, other.cost_usd)
        return GenerationSpending(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if None in costs else sum(cost for cost in costs if cost is not None),
            self.retries + other.retries,
            self.uncounted + other.uncounted,
            self.known_usd + other.known_usd,
        )

    def describe(self) -> str:
        """One line for a person; what is not known is said to be unknown."""
        return describe(asdict(self))


def describe(told: Mapping[str, Any]) -> str:
    """The words of a `GenerationSpending` that was stored."""
    tokens = f"{told['prompt_tokens']:,} tokens in, {told['completion_tokens']:,} out"
    if told["uncounted"]:
        known = told["uncounted"] < told["calls"]
        tokens = f"at least {tokens} ({told['uncounted']:,} without a count)" if known else "tokens unknown"
    sure = told.get("known_usd", 0.0)
    least = f", at least ${sure:,.4f}" if sure else ""
    cost = f"cost unknown{least}" if told["cost_usd"] is None else f"${told['cost_usd']:,.4f}"
    return f"{told['calls']:,} call{'' if told['calls'] == 1 else 's'}, {tokens}, {cost}"


class GenerationBudget:
    """The sums of one generation by stage, kept as they grow. The budget holds for all its tries together."""

    def __init__(
        self, budget_usd: float | None = None, watch: Callable[[GenerationSpending], None] | None = None
    ) -> None:
        check_budget(budget_usd)
        self.budget = llm.Budget(budget_usd) if budget_usd is not None else None
        self.watch = watch
        self.stage, self.stages = "brand", dict[str, GenerationSpending]()
        self.spent = GenerationSpending()
        self._path: Path | None = None
        self._cache: ReplyCache | None = None

    def open(self, folder: Path, brand: Path | None = None) -> None:
        """Count what earlier tries left in the work folder, and go on there.

        `brand` is where the brand was made of a brief: what that took goes to the first dataset made of it.
        """
        paid = folder / PAID
        if brand is not None and (brand / SPENT).is_file() and not (paid / BRAND).exists():
            paid.mkdir(exist_ok=True)
            (brand / SPENT).rename(paid / BRAND)
        self._count(paid / BRAND, paid / SPENT)
        if self.watch is not None and self.spent.calls:
            self.watch(self.spent)

    def open_brand(self, folder: Path) -> None:
        """The same for a brand that is to be made of a brief, before there is a work folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self._count(folder / SPENT)

    def _count(self, *paths: Path) -> None:
        self.stages, self.spent, self._path = {}, GenerationSpending(), paths[-1]
        for path in paths:
            for row in stages.load(path).values():
                self._add(row["stage"], GenerationSpending(**row["spent"]))
        if self.budget is not None:
            # Calls of unknown cost end a budget when they are made; a try without one may have made some before.
            known = [one for one in self.stages.values() if one.cost_usd is not None]
            self.budget.spent_usd = sum(one.cost_usd or 0.0 for one in known)
            self.budget.priced_calls = sum(one.calls for one in known)

    def _add(self, stage: str, one: GenerationSpending) -> None:
        self.stages[stage] = self.stages.get(stage, GenerationSpending()) + one
        self.spent += one

    def meter(self, model: ChatModel) -> ChatModel:
        """The model, its calls booked here; BadOption where a budget could never end it."""
        if model.simulated:
            return model
        if self.budget is not None and getattr(model, "prices", None) is None:
            raise BadOption(
                f"--budget {self.budget.usd:g}: no price of {model.name} is noted, so nothing would stop it; note "
                "prompt_usd and completion_usd in models.toml, or leave the budget out"
            )
        return _BudgetedModel(model, self)

    def keep_replies(self, folder: Path) -> None:
        """From here on replies are kept in the folder, and taken from there."""
        self._cache = ReplyCache(folder / PAID / REPLIES)

    def follow(self, steps: Generator[stages.Progress, None, Out]) -> Generator[stages.Progress, None, Out]:
        """The steps, each call booked on the stage under way."""
        with contextlib.closing(steps):
            try:
                while True:
                    try:
                        step = next(steps)
                    except StopIteration as end:
                        made: Out = end.value
                        return made
                    self.stage = step.stage
                    yield step
            finally:
                if self._cache is not None:
                    self._cache.close()
                    self._cache = None

    def find(self, key: str) -> Completion | None:
        """A reply of an earlier try."""
        return self._cache.get(key) if self._cache is not None else None

    def book(self, usage: Usage, cost_usd: float | None) -> None:
        """A call came back, or ended without an answer; what is not known of those before it is told, too."""
        if usage.unanswered:
            lost = GenerationSpending(usage.unanswered, cost_usd=None, uncounted=usage.unanswered)
            self._write(lost)
            if not usage.calls:
                return
        tokens = (usage.prompt_tokens, usage.completion_tokens)
        calls, uncounted = max(usage.calls, 1), int(None in tokens)
        self._write(
            GenerationSpending(
                calls, tokens[0] or 0, tokens[1] or 0, cost_usd, usage.retries, uncounted, cost_usd or 0.0
            )
        )

    def _write(self, one: GenerationSpending) -> None:
        if self._path is not None:
            row = {"key": str(self.spent.calls), "row": {"stage": self.stage, "spent": asdict(one)}}
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        self._add(self.stage, one)
        if self.watch is not None:
            self.watch(self.spent)

    def keep(self, key: str, request: Request, completion: Completion) -> None:
        """Keep a reply that can be used; one that cannot must be asked for again, or no try would ever get further."""
        if self._cache is None or request.prompt is None:
            return
        text, ending = completion.text, completion.finish_reason
        if request.prompt.structured:
            failure = parse(text, request.prompt.Output, request.inputs, ending)[1]
        else:
            failure = parse_text(text, ending)[1]
        if failure is None:
            self._cache.put(key, completion, prompt=request.prompt.name)

    def sum_up(self) -> dict[str, Any]:
        """The sums as dataset.json keeps them."""
        return {**asdict(self.spent), "stages": {name: asdict(one) for name, one in self.stages.items()}}

    def refuse(self) -> OutOfBudget:
        """Why no more calls are made, and how to go on."""
        assert self.budget is not None
        kept = "what was made so far is kept, and nothing is paid for twice"
        if self.budget.unpriced_calls:
            return OutOfBudget(
                "the server reported no tokens, so what it costs is unknown and the budget of "
                f"${self.budget.usd:g} cannot be kept; {kept}: run the same command without --budget to go on"
            )
        return OutOfBudget(
            f"the budget of ${self.budget.usd:g} for all tries together is spent; {kept}: run the same command with a "
            "higher --budget, or without one, to go on"
        )


class _BudgetedModel:
    """A real model whose calls are booked in a generation_budget."""

    def __init__(self, model: ChatModel, generation_budget: GenerationBudget) -> None:
        self.inner, self.generation_budget = model, generation_budget
        self.name, self.simulated = model.name, model.simulated
        self.metered = llm.MeteredModel(model, generation_budget.budget)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def complete(self, request: Request) -> Completion:
        key = ReplyCache.key(self.name, request)
        found = self.generation_budget.find(key)
        if found is not None:
            return found
        budget = self.generation_budget.budget
        if budget is not None and budget.unpriced_calls:
            raise self.generation_budget.refuse()
        try:
            completion = await self.metered.complete(request)
        except ProviderFault as fault:
            if fault.failure.type == "budget":
                raise self.generation_budget.refuse() from None
            if fault.usage.calls or fault.usage.unanswered:
                self.generation_budget.book(fault.usage, llm.cost_of(self.inner, fault.usage))
            raise
        self.generation_budget.book(completion.usage, llm.cost_of(self.inner, completion.usage))
        self.generation_budget.keep(key, request, completion)
        return completion

    async def aclose(self) -> None:
        await self.inner.aclose()
