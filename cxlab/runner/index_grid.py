"""The same order with several variants of its switches: one run each, foreseen before it starts, worked on in turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cxlab.errors import BadOption, CxError
from cxlab.records import new_id
from cxlab.retrieval import split_kind
from cxlab.retrieval.embedders.embeddings import load_embedder
from cxlab.runner import arguments
from cxlab.runner.estimate import ASSUMED_CALL_S, estimate
from cxlab.runner.request import RunRequest, create_runs


@dataclass(frozen=True)
class GridEstimate:
    """What a grid would take. `cost_usd` is None without a price, `seconds` when nothing is known to tell it by."""

    runs: int
    searches: int
    calls: int
    tokens: int
    cost_usd: float | None
    seconds: float | None


def expand(order: RunRequest, variants: Sequence[Mapping[str, Any]]) -> list[RunRequest]:
    """One order for each variant: switches of the benchmark that are laid over those of the order; equal ones once.

    BadOption without a variant.
    """
    if not variants:
        raise BadOption("pick at least one value of each switch")
    different = {tuple(sorted(variant.items())): variant for variant in variants}
    return [replace(order, options={**order.options, **variant}) for variant in different.values()]


def validate(orders: Sequence[RunRequest]) -> str:
    """What keeps a grid from being started, in a sentence; "" when nothing does. Calls no server."""
    for name in dict.fromkeys(str(one.options.get("retrieval", "")) for one in orders):
        vectors = split_kind(name)[1]
        if not vectors:
            continue
        try:
            load_embedder(vectors)
        except CxError as mistake:
            return str(mistake)
    return arguments.validate(orders[0])


def estimate_grid(orders: Sequence[RunRequest], seconds: Mapping[str, float]) -> GridEstimate:
    """What the orders of one grid would take; writes and calls nothing.

    `seconds`: what building and asking an index took in earlier runs, by method; a method that it lacks leaves the
    time unknown. BadOption where no dataset is named.
    """
    first = orders[0]
    if first.dataset_id is None:
        raise BadOption("name the dataset to search in")
    # Indexes change what is found, not what is asked of models.
    (one,) = estimate(replace(first, models=first.models[:1]))
    runs = sum(len(order.models) for order in orders)
    times = [seconds.get(str(order.options.get("retrieval", ""))) for order in orders]
    real = any(not role.model.startswith("simulated:") for role in one.roles)
    waiting = one.calls * ASSUMED_CALL_S / max(first.concurrency, 1) if real else 0.0
    known = [time for time in times if time is not None]
    return GridEstimate(
        runs=runs,
        searches=runs * one.attempts,
        calls=runs * one.calls,
        tokens=runs * (one.tokens or 0),
        cost_usd=None if one.cost_usd is None else runs * one.cost_usd,
        seconds=sum(known) + runs * waiting if len(known) == len(times) else None,
    )


def create(orders: Sequence[RunRequest]) -> list[str]:
    """Store the runs of a grid as one group, not begun; their ids."""
    group = new_id("group")
    return [run.id for order in orders for run in create_runs(order, group)]


def to_arguments(run_ids: Sequence[str]) -> list[str]:
    """The command line that works through the runs, one after the other."""
    return ["run", *(f"--resume={run}" for run in run_ids), "--quiet"]
