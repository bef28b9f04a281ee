"""What a run will take before it starts: from earlier sound attempts that were alike, else from the benchmark's own
count, else from stated assumptions."""

import hashlib
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from cxlab import llm
from cxlab.benchmarks.contract import Role, RoleEstimate
from cxlab.errors import NoStandIn
from cxlab.records import Run, Sample, Usage
from cxlab.runner.plan import find_benchmark
from cxlab.runner.report import scan
from cxlab.runner.request import RunRequest, check, choose_samples, count_samples, open_dataset
from cxlab.store import write

MEANS = "means of earlier runs of this model"
LATEST_RUNS = 5
"""How many earlier runs the means are taken over."""

# Without any earlier run: a support dialogue of short turns. Prompt and completion tokens a call.
ASSUMED_TURNS = 5
ASSUMED_TOKENS: dict[Role, tuple[int, int]] = {"agent": (1200, 200), "customer": (600, 40), "judge": (1500, 300)}
ASSUMED_CALL_S = 2.0
Tell = Callable[[Sequence[Sample], Any, Mapping[Role, Sequence[str]]], Sequence[RoleEstimate]]
_REHEARSED: dict[bytes, Sequence[RoleEstimate]] = {}
MOST_REHEARSED = 64
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

    A model that was asked alike before is taken at the means of that; else the benchmark tells what it will ask; a
    benchmark that cannot is taken at stated assumptions. No role is left out.
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
    samples = choose_samples(order, open_dataset(order)[1])
    options = benchmark.Options.read(order.options)
    others: dict[Role, Sequence[str]] = {"customer": [order.customer] if order.customer else [], "judge": order.judges}
    told: dict[str, Sequence[RoleEstimate]] = {}
    real: tuple[str, Sequence[RoleEstimate]] | None = None
    for model in order.models:
        if real is not None and not model.startswith("simulated:"):
            # Before they are asked, real models differ in nothing but their names.
            told[model] = [replace(row, model=model) if row.role == "agent" else row for row in real[1]]
            continue
        told[model] = _rehearse(benchmark.estimate, samples, options, {"agent": [model], **others})
        real = (model, told[model]) if not model.startswith("simulated:") else real
    return told


def _rehearse(
    tell: Tell, samples: Sequence[Sample], options: Any, roles: Mapping[Role, Sequence[str]]
) -> Sequence[RoleEstimate]:
    """What a benchmark tells, once for the same question: the Run page asks it again with each word that is typed."""
    asked = hashlib.blake2b(pickle.dumps((tell, samples, options, roles))).digest()
    if asked not in _REHEARSED:
        if len(_REHEARSED) >= MOST_REHEARSED:
            _REHEARSED.clear()
        try:
            _REHEARSED[asked] = tell(samples, options, roles)
        except NoStandIn:
            # Its stand-ins were taken out: stated assumptions serve real models as well.
            _REHEARSED[asked] = ()
    return _REHEARSED[asked]


def _estimate_model(order: RunRequest, model: str, attempts: int, told: Sequence[RoleEstimate]) -> Estimate:
    measured = _measure(order, model)
    at_once = max(1, min(order.concurrency, attempts))
    if told:
        shares = [_share(each, order.trials, measured.get((each.role, each.model)), attempts) for each in told]
        known = sum((role, name) in measured for role, name in ((each.role, each.model) for each in told))
        waited = any(not each.model.startswith("simulated:") for each in told)
        basis = "rehearsed with stand-ins, four characters a token" + f", {ASSUMED_CALL_S:g} s a call" * waited
        if known:
            basis = f"{MEANS} for {known} of {len(told)} roles, else {basis}" if known < len(told) else MEANS
        return Estimate(model, attempts, tuple(shares), _sum_seconds(shares, measured, attempts, at_once), basis)
    roles, basis = _assume(order, model)
    if measured:
        roles = [replace(measured[role.role, role.model], model=role.model)
                 if (role.role, role.model) in measured else role for role in roles]  # fmt: skip
        basis = MEANS if all((role.role, role.model) in measured for role in roles) else f"{MEANS}, else {basis}"
    shares = [each.times(attempts) for each in roles]
    return Estimate(model, attempts, tuple(shares), _sum_seconds(shares, measured, attempts, at_once), basis)


def _sum_seconds(
    shares: Sequence[RoleShare], measured: "Mapping[tuple[Role, str], _Role]", attempts: int, at_once: int
) -> float | None:
    """Seconds until all is answered, `at_once` attempts side by side: as long as earlier answers took, else the stated
    assumption a call. The judges of a turn are asked side by side, so the slowest tells. None where nobody is asked
    but stand-ins, whose time is this machine's.
    """
    took: dict[bool, list[float]] = {True: [], False: []}
    for share in shares:
        if not share.model.startswith("simulated:"):
            known = measured.get((share.role, share.model))
            seconds = known.seconds * attempts if known else share.calls * ASSUMED_CALL_S
            took[share.role == "judge"].append(seconds)
    return (sum(took[False]) + max(took[True], default=0.0)) / at_once if took[True] or took[False] else None


def _share(told: RoleEstimate, trials: int, measured: "_Role | None", attempts: int) -> RoleShare:
    """A benchmark's row for all trials, with its cost; what was measured of that model in that role goes before."""
    if measured is not None and not told.model.startswith("simulated:"):
        return measured.times(attempts)
    prompt, completion = (
        None if part is None else part * trials for part in (told.prompt_tokens, told.completion_tokens)
    )
    used = Usage(prompt_tokens=prompt, completion_tokens=completion, calls=told.calls * trials)
    return RoleShare(told.role, told.model, used.calls, prompt, completion, llm.cost(told.model, used))


@dataclass(frozen=True)
class _Role:
    """Calls, tokens and seconds of one role in one attempt."""

    role: Role
    model: str
    calls: float
    prompt_tokens: float
    completion_tokens: float
    seconds: float = 0.0

    def times(self, attempts: int) -> RoleShare:
        """The same for all attempts, with its cost."""
        used = Usage(
            prompt_tokens=round(self.prompt_tokens * attempts),
            completion_tokens=round(self.completion_tokens * attempts),
            calls=round(self.calls * attempts),
        )
        cost = llm.cost(self.model, used)
        return RoleShare(self.role, self.model, used.calls, used.prompt_tokens, used.completion_tokens, cost)


def _assume(order: RunRequest, model: str) -> tuple[list[_Role], str]:
    asked = find_benchmark(order.benchmark).Options.read(order.options).to_record().get("turns")
    # Without a word about it, dialogues end long before their limit; without a customer there is none.
    usual = ASSUMED_TURNS if order.customer else 1
    turns = asked if isinstance(asked, int) and "turns" in order.options else usual
    roles: list[tuple[Role, str]] = [("agent", model)]
    roles += [("customer", order.customer)] if order.customer else []
    roles += [("judge", judge) for judge in order.judges]
    assumed = []
    for role, name in roles:
        # Simulated models report no tokens, so none are to be expected of them.
        prompt, completion = (0, 0) if name.startswith("simulated:") else ASSUMED_TOKENS[role]
        assumed.append(_Role(role, name, turns, turns * prompt, turns * completion))
    length = f"{turns} turns a dialogue" if order.customer else f"{turns} question{'' if turns == 1 else 's'} a sample"
    return assumed, f"assumed: {length}, {ASSUMED_CALL_S:g} s a call"


LEAST_SOUND = 3
"""From so many earlier attempts on their means are believed."""


_Sum = tuple[int, float, float, float, float]
"""Sound attempts, calls, prompt tokens, completion tokens and seconds of them."""


def _measure(order: RunRequest, model: str) -> dict[tuple[Role, str], _Role]:
    """(role, model) → calls, tokens and seconds an attempt, of the latest runs of this model that were alike.

    Alike: the same benchmark, switches and kind of samples. Only attempts count that were made and delivered, and a
    role only where each of its calls was counted by the server.
    """
    found: dict[tuple[Role, str], list[_Sum]] = {}
    for run in _latest_runs(order, model):
        for role, name, row in _sum_roles(run):
            if row is not None:
                found.setdefault((role, name), []).append(row)
    measured = {}
    for (role, name), rows in found.items():
        attempts = sum(row[0] for row in rows)
        if attempts >= LEAST_SOUND:
            means = [sum(row[part] for row in rows) / attempts for part in range(1, 5)]
            measured[role, name] = _Role(role, name, *means)
    return measured


def _sum_roles(run: Run) -> Iterable[tuple[Role, str, _Sum | None]]:
    """Each role of a run with its sums; None where a call is uncounted."""
    import polars as pl

    attempts, messages, votes = (scan(run.id, table) for table in ("attempts", "messages", "votes"))
    if attempts is None:
        return
    # What of its answers was kept from before says too little of what an attempt takes.
    sound = attempts.filter(pl.col("outcome") == "ok", pl.col("cached_calls").fill_null(0) == 0)
    counted = ~((pl.col("calls") > 0) & (pl.col("prompt_tokens").is_null() | pl.col("completion_tokens").is_null()))
    sums = (
        pl.col("calls").sum(),
        pl.col("prompt_tokens").sum(),
        pl.col("completion_tokens").sum(),
        pl.col("latency_s").sum(),
        counted.all().alias("whole"),
    )
    count = sound.select(pl.len()).collect().item()

    def add(table: Any) -> _Sum | None:
        calls, prompt, completion, seconds, whole = table.select(sums).collect().row(0)
        return (count, calls or 0, prompt or 0, completion or 0, seconds or 0.0) if whole and count and calls else None

    yield "agent", str(run.setup.get("model", run.model)), add(sound)
    customer = run.setup.get("customer")
    if customer and messages is not None:
        said = messages.filter(pl.col("role") == "customer").join(sound, on="attempt_id", how="semi")
        yield "customer", customer, add(said)
    for judge in run.judges if votes is not None else ():
        yield "judge", judge, add(votes.filter(pl.col("judge") == judge).join(sound, on="attempt_id", how="semi"))


def _latest_runs(order: RunRequest, model: str) -> Iterable[Run]:
    benchmark = find_benchmark(order.benchmark)
    options = benchmark.Options.read(order.options).to_record()
    where = sorted(map(list, order.choice.where))
    alike = (
        run
        for run in write.list_runs()
        if run.benchmark == benchmark.card.id
        and run.setup.get("model", run.model) == model
        and run.setup.get("options") == options
        and sorted(map(list, (run.setup.get("choice") or {}).get("where") or ())) == where
        and (order.dataset_id is None or run.dataset_id == order.dataset_id)
        and not {"rescored_from", "imported_from", "retried_from"} & run.setup.keys()
    )
    return islice(alike, LATEST_RUNS)
