"""What a run will take before it starts: from earlier runs where there are any, else from stated assumptions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from cxlab import llm
from cxlab.records import Run, Usage
from cxlab.runner.plan import find_benchmark
from cxlab.runner.report import scan
from cxlab.runner.request import RunRequest, check, count_samples
from cxlab.store import write

LATEST_RUNS = 5
"""How many earlier runs the means are taken over."""

# Without any earlier run: a support dialogue of short turns. Prompt and completion tokens a call.
ASSUMED_TURNS = 5
ASSUMED_TOKENS = {"agent": (1200, 200), "customer": (600, 40), "judge": (1500, 300)}
ASSUMED_CALL_S = 2.0


@dataclass(frozen=True)
class Estimate:
    """What one model's run would take. `cost_usd` and `seconds` are None when nothing is known to tell them by."""

    model: str
    attempts: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    seconds: float | None
    basis: str

    def describe(self) -> str:
        """One line for a person."""
        words = [f"{self.attempts} attempts", f"about {self.calls:,} calls"]
        if self.prompt_tokens or self.completion_tokens:
            words.append(f"{self.prompt_tokens + self.completion_tokens:,} tokens")
        words.append("cost unknown (no price noted)" if self.cost_usd is None else f"${self.cost_usd:.2f}")
        if self.seconds is not None:
            words.append(f"{self.seconds:,.0f} s")
        return f"{self.model}: {', '.join(words)} ({self.basis})"


@dataclass(frozen=True)
class _Role:
    """Calls and tokens of one role in one attempt."""

    model: str
    calls: float
    prompt_tokens: float
    completion_tokens: float

    @property
    def cost_usd(self) -> float | None:
        return llm.cost(
            self.model,
            Usage(prompt_tokens=round(self.prompt_tokens * 1e6), completion_tokens=round(self.completion_tokens * 1e6)),
        )


def estimate(order: RunRequest) -> list[Estimate]:
    """One estimate a model of an `RunRequest`; checks the order as `create_runs` would, writes and calls nothing."""
    check(order)
    attempts = count_samples(order) * order.trials
    return [_estimate_model(order, model, attempts) for model in order.models]


def _estimate_model(order: RunRequest, model: str, attempts: int) -> Estimate:
    benchmark = find_benchmark(order.benchmark).card.id
    measured = _measure(benchmark, model)
    roles, serial_s, basis = _assume(order, model) if measured is None else (*measured, "")
    if measured is not None:
        # Customer and judges of the earlier run may have been others; tokens carry over, prices do not.
        agent, customer, judge = roles
        roles = [agent, *(replace(judge, model=name) for name in order.judges)]
        roles += [replace(customer, model=order.customer)] if order.customer else []
        basis = "means of earlier runs of this model"
    costs = [role.cost_usd for role in roles]
    known = [cost for cost in costs if cost is not None]
    simulated = all(name.startswith("simulated:") for name in (model, *order.judges, order.customer or "simulated:"))
    seconds = attempts * serial_s / max(1, min(order.concurrency, attempts))
    return Estimate(
        model=model,
        attempts=attempts,
        calls=round(attempts * sum(role.calls for role in roles)),
        prompt_tokens=round(attempts * sum(role.prompt_tokens for role in roles)),
        completion_tokens=round(attempts * sum(role.completion_tokens for role in roles)),
        cost_usd=attempts * sum(known) / 1e6 if len(known) == len(costs) else None,
        seconds=None if simulated and measured is None else seconds,
        basis=basis,
    )


def _assume(order: RunRequest, model: str) -> tuple[list[_Role], float, str]:
    turns = order.options.get("turns") or ASSUMED_TURNS
    roles = [("agent", model), *([("customer", order.customer)] if order.customer else [])]
    roles += [("judge", judge) for judge in order.judges]
    assumed = []
    for role, name in roles:
        # Simulated models report no tokens, so none are to be expected of them.
        prompt, completion = (0, 0) if name.startswith("simulated:") else ASSUMED_TOKENS[role]
        assumed.append(_Role(name, turns, turns * prompt, turns * completion))
    # Judges of a turn are asked side by side, so they take the time of one.
    serial = 1 + bool(order.customer) + bool(order.judges)
    return assumed, turns * serial * ASSUMED_CALL_S, f"assumed: {turns} turns a dialogue, {ASSUMED_CALL_S:g} s a call"


def _measure(benchmark: str, model: str) -> tuple[list[_Role], float] | None:
    """Per attempt: calls and tokens of the agent, the customer and one judge, and the time of the first two; None
    without earlier runs."""
    import polars as pl

    tokens = (pl.col("prompt_tokens").sum().fill_null(0), pl.col("completion_tokens").sum().fill_null(0))
    # What a role took in all: calls, prompt tokens, completion tokens, seconds.
    took = (pl.col("calls").sum(), *tokens, pl.col("latency_s").sum())
    attempts, seconds = 0, 0.0
    agent, customer, judge = [0.0] * 3, [0.0] * 3, [0.0] * 3
    for run in _latest_runs(benchmark, model):
        tried, messages, votes = (scan(run.id, table) for table in ("attempts", "messages", "votes"))
        if tried is None:
            continue
        count, *spent, taken = tried.select(pl.len(), *took).collect().row(0)
        attempts, seconds = attempts + count, seconds + taken
        agent = [a + b for a, b in zip(agent, spent, strict=True)]
        if messages is not None:
            *spent, taken = messages.filter(pl.col("role") == "customer").select(*took).collect().row(0)
            customer, seconds = [a + b for a, b in zip(customer, spent, strict=True)], seconds + taken
        if votes is not None:
            panel, *spent = votes.select(pl.col("judge").n_unique(), pl.len(), *tokens).collect().row(0)
            judge = [a + b / max(1, panel) for a, b in zip(judge, spent, strict=True)]
    if not attempts:
        return None
    named = ((model, agent), ("", customer), ("", judge))
    return [_Role(name, *(part / attempts for part in spent)) for name, spent in named], seconds / attempts


def _latest_runs(benchmark: str, model: str) -> Iterable[Run]:
    alike = (run for run in write.list_runs() if run.benchmark == benchmark and run.model == model)
    return islice(alike, LATEST_RUNS)
