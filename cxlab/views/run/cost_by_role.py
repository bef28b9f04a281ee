"""What a run will take, role by role."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import polars as pl
import streamlit as st

from cxlab.charts.names import name_parties
from cxlab.charts.numbers import format_count, format_rough_count, format_seconds, format_usd
from cxlab.ui.labels import plain
from cxlab.ui.path_strips import grid, style
from cxlab.ui.tables import column, show_table

_ROUGH_S = 300


class Share(Protocol):
    """What one model in one role would take; `cxlab.runner.estimate.RoleShare` is one."""

    @property
    def role(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def calls(self) -> int: ...
    @property
    def cost_usd(self) -> float | None: ...


class RunEstimate(Protocol):
    """What one run would take; `cxlab.runner.estimate.Estimate` is one. None is unknown."""

    @property
    def attempts(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def tokens(self) -> int | None: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def basis(self) -> str: ...


def show_foreseen(rows: Sequence[RunEstimate], unit: str) -> None:
    """What all runs together will take; a cost that is unknown of one is unknown of all, a time that of stand-ins."""
    costs, times = [row.cost_usd for row in rows], [row.seconds for row in rows]
    left, right = st.columns(2)
    left.metric(unit, format_count(sum(row.attempts for row in rows)), help="Samples × trials × models.")
    right.metric("Calls", format_count(sum(row.calls for row in rows)), help="Agent, customer and judges.")
    cost = "unknown" if None in costs else format_usd(sum(cost or 0 for cost in costs))
    left.metric("Cost", cost, help="By the prices on the page Models; without a price it is unknown.")
    known = [time for time in times if time is not None]
    whole = sum(known)
    # Beyond a few minutes the seconds of an estimate are noise, and no room for them.
    time = format_seconds(60 * round(whole / 60) if whole >= _ROUGH_S else whole) if known else "unknown"
    # What is said below of a call's time is of these alone.
    head = "Time" if len(known) in (0, len(times)) else "Time of real models"
    right.metric(head, time, help="Until all models have answered. Stand-ins take this machine's time: unknown.")
    tokens = sum(row.tokens or 0 for row in rows)
    bases = dict.fromkeys(row.basis for row in rows)
    # What another one says, too, and goes on, is not said twice.
    basis = "; ".join(each for each in bases if not any(one.startswith(f"{each},") for one in bases))
    words = f"About {format_rough_count(tokens)} tokens. " if tokens else ""
    st.caption(plain(f"{words}{basis[:1].upper()}{basis[1:]}."))


def show_spent(spent: pl.DataFrame) -> None:
    """`read.cost_by_role` of a run; what is unknown stays empty."""
    if spent.is_empty():
        return
    show_table(
        spent,
        {
            "role": column("Role"),
            "calls": column("Calls", "count"),
            "prompt_tokens": column("Tokens in", "count", help="Empty where the server did not report them."),
            "completion_tokens": column("Tokens out", "count", help="With those of reasoning."),
            "cost_usd": column("Cost", "usd", help="Empty where it is unknown."),
            "latency_s": column("Waited", "seconds", help="Sum over all calls; many are made side by side."),
        },
        key="spent-roles",
        alt="What the run took by role: calls, tokens, cost, time.",
        downloads=False,
    )
    customer = spent.filter(pl.col("role") == "customer")
    if customer.height and customer["calls"].is_null().all():
        st.caption("Runs of before roles were told apart hold what the customer took in the agent's row.")


def show_roles(shares: Iterable[Share]) -> None:
    """One row a role and model over all runs, in a table that wraps, as the card is narrow; a cost that is unknown of
    one run stays a dash."""
    calls: dict[tuple[str, str], int] = {}
    costs: dict[tuple[str, str], float | None] = {}
    for share in shares:
        key = share.role, share.model
        before = costs.get(key, 0.0)
        calls[key] = calls.get(key, 0) + share.calls
        costs[key] = None if before is None or share.cost_usd is None else before + share.cost_usd
    roles = [role for role, _ in calls]
    rows = [
        [(f"{role}: {name_parties(model)}", "quiet"), (format_count(count), ""), (format_usd(costs[role, model]), "")]
        # Of one role all models together, whichever run they are of.
        for (role, model), count in sorted(calls.items(), key=lambda one: roles.index(one[0][0]))
    ]
    if rows:
        style()
        grid(("Role and model", "Calls", "Cost"), rows, numbers=(1, 2))
