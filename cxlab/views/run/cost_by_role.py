"""What a run will take, role by role."""

from collections.abc import Iterable
from typing import Protocol

import polars as pl

from cxlab.ui.tables import column, show_table


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


def show_roles(shares: Iterable[Share]) -> None:
    """One row a role and model; an unknown cost stays empty."""
    rows = [(share.role, share.model, share.calls, share.cost_usd) for share in shares]
    types = {"role": pl.String, "model": pl.String, "calls": pl.Int64, "cost": pl.Float64}
    show_table(
        pl.DataFrame(rows, schema=types, orient="row"),
        {
            "role": column("Role"),
            "model": column("Model"),
            "calls": column("Calls", "count"),
            "cost": column("Cost", "usd", help="Empty where no price is known."),
        },
        key="estimate-roles",
        alt="What it will take by role: model, calls and cost.",
    )
