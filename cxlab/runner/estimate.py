"""What a run will take before it starts: from earlier runs where there are any, else from stated assumptions."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from cxlab import llm
from cxlab.benchmarks.contract import Role, RoleEstimate
from cxlab.records import Run, Usage
from cxlab.runner.plan import choose, find_benchmark
from cxlab.runner.report import scan
from cxlab.runner.request import RunRequest, check, count_samples, find_dataset
from cxlab.store import write

LATEST_RUNS = 5
"""How many earlier runs the means are taken over."""

# Without any earlier run: a support dialogue of short turns. Prompt and completion tokens a call.
ASSUMED_TURNS = 5
ASSUMED_TOKENS: dict[Role, tuple[int, int]] = {"agent": (1200, 200), "customer": (600, 40), "judge": (1500, 300)}
ASSUMED_CALL_S = 2.0
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class RoleShare:
    """What one model in one role would take, all attempts together; None is unknown."""

    role: Role
    model: str
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None


@dataclass(frozen=True)
class Estimate:
    """What one model's run would take, and by role. Tokens, `cost_usd` and `seconds` are None when nothing is known to
    tell them by; a sum is unknown as soon as a part is."""

    model: str
    attempts: int
    roles: tuple[RoleShare, ...]
    seconds: float | None
    basis: str

    @property
    def calls(self) -> int:
        """Calls of all roles."""
        return sum(each.calls for each in self.roles)

    @property
    def tokens(self) -> int | None:
        """Prompt and completion tokens of all roles."""
        return _add([part for each in self.roles for part in (each.prompt_tokens, each.completion_tokens)])

    @property
    def cost_usd(self) -> float | None:
        """The cost of all roles."""
        return _add([each.cost_usd for each in self.roles])

    def describe(self) -> str:
        """One line for a person."""
        words = [f"{self.attempts} attempts", f"about {self.calls:,} calls"]
        if self.tokens != 0:
            words.append("tokens unknown" if self.tokens is None else f"{self.tokens:,} tokens")
        words.append("cost unknown (no price noted)" if self.cost_usd is None else f"${self.cost_usd:.2f}")
        if self.seconds is not None:
            words.append(f"{self.seconds:,.0f} s")
        return f"{self.model}: {', '.join(words)} ({self.basis})"

    def to_record(self) -> dict[str, Any]:
        """The estimate as JSON, rows by role."""
        return {**asdict(self), "calls": self.calls, "tokens": self.tokens, "cost_usd": self.cost_usd}


def _add(parts: Sequence[Number | None]) -> Number | None:
    """The sum; None as soon as a part is unknown."""
    known = [part for part in parts if part is not None]
    return sum(known[1:], start=known[0]) if known and len(known) == len(parts) else None


def estimate(order: RunRequest) -> list[Estimate]:
    """One estimate a model of an `RunRequest`; checks the order as `create_runs` would, writes and calls nothing.

    What the benchmark can tell of itself comes first, then the means of earlier runs, then stated assumptions.
    """
    check(order)
    told = _ask_benchmark(order)
    attempts = count_samples(order) * order.trials
    return [_estimate_model(order, model, attempts, told.get(model, ())) for model in order.models]


def _ask_benchmark(order: RunRequest) -> dict[str, Sequence[RoleEstimate]]:
    """Model under test → the benchmark's own rows for its run; nothing where it has none."""
    benchmark = find_benchmark(order.benchmark)
    if benchmark.estimate is None:
        return {}
    samples = choose(benchmark, find_dataset(order)[1], order.choice)
    options = benchmark.Options.read(order.options)
    others: dict[Role, Sequence[str]] = {"customer": [order.customer] if order.customer else [], "judge": order.judges}
    return {model: benchmark.estimate(samples, options, {**others, "agent": [model]}) for model in order.models}


def _estimate_model(order: RunRequest, model: str, attempts: int, told: Sequence[RoleEstimate]) -> Estimate:
    benchmark = find_benchmark(order.benchmark).card.id
    measured = _measure(benchmark, model)
    at_once = max(1, min(order.concurrency, attempts))
    if told:
        shares = [_share(each, order.trials) for each in told]
        calls = sum(each.calls for each in shares if not each.model.startswith("simulated:"))
        seconds = measured[1] * attempts if measured else calls * ASSUMED_CALL_S if calls else None
        basis = f"by the benchmark's own count, {ASSUMED_CALL_S:g} s a call"
        return Estimate(model, attempts, tuple(shares), seconds / at_once if seconds is not None else None, basis)
    if measured is None:
        roles, serial_s, basis = _assume(order, model)
    else:
        # Customer and judges of the earlier run may have been others; tokens carry over, prices do not.
        (agent, customer, judge), serial_s = measured
        roles = [agent, *([replace(customer, model=order.customer)] if order.customer else [])]
        roles += [replace(judge, model=name) for name in order.judges]
        basis = "means of earlier runs of this model"
    simulated = all(name.startswith("simulated:") for name in (model, *order.judges, order.customer or "simulated:"))
    return Estimate(
        model=model,
        attempts=attempts,
        roles=tuple(each.times(attempts) for each in roles),
        seconds=None if simulated and measured is None else attempts * serial_s / at_once,
        basis=basis,
    )


def _share(told: RoleEstimate, trials: int) -> RoleShare:
    """A benchmark's row for all trials, with its cost."""
    prompt, completion = (
        None if part is None else part * trials for part in (told.prompt_tokens, told.completion_tokens)
    )
    used = Usage(prompt_tokens=prompt, completion_tokens=completion, calls=told.calls * trials)
    return RoleShare(told.role, told.model, used.calls, prompt, completion, llm.cost(told.model, used))


@dataclass(frozen=True)
class _Role:
    """Calls and tokens of one role in one attempt."""

    role: Role
    model: str
    calls: float
    prompt_tokens: float
    completion_tokens: float

    def times(self, attempts: int) -> RoleShare:
        """The same for all attempts, with its cost."""
        used = Usage(
            prompt_tokens=round(self.prompt_tokens * attempts),
            completion_tokens=round(self.completion_tokens * attempts),
            calls=round(self.calls * attempts),
        )
        cost = llm.cost(self.model, used)
        return RoleShare(self.role, self.model, used.calls, used.prompt_tokens, used.completion_tokens, cost)


def _assume(order: RunRequest, model: str) -> tuple[list[_Role], float, str]:
    asked = find_benchmark(order.benchmark).Options.read(order.options).to_record().get("turns")
    # Without a word about it, dialogues end long before their limit.
    turns = asked if isinstance(asked, int) and "turns" in order.options else ASSUMED_TURNS
    roles: list[tuple[Role, str]] = [("agent", model)]
    roles += [("customer", order.customer)] if order.customer else []
    roles += [("judge", judge) for judge in order.judges]
    assumed = []
    for role, name in roles:
        # Simulated models report no tokens, so none are to be expected of them.
        prompt, completion = (0, 0) if name.startswith("simulated:") else ASSUMED_TOKENS[role]
        assumed.append(_Role(role, name, turns, turns * prompt, turns * completion))
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
    named: list[tuple[Role, str, list[float]]] = [
        ("agent", model, agent),
        ("customer", "", customer),
        ("judge", "", judge),
    ]
    return [_Role(role, name, *(part / attempts for part in spent)) for role, name, spent in named], seconds / attempts


def _latest_runs(benchmark: str, model: str) -> Iterable[Run]:
    alike = (run for run in write.list_runs() if run.benchmark == benchmark and run.model == model)
    return islice(alike, LATEST_RUNS)
