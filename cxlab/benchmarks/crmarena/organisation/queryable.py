"""An organisation that tools, solvers and agents ask: a stored one (`Sandbox`) or a live one (`LiveOrganisation`)."""

from __future__ import annotations

from datetime import date
from typing import Any, Protocol, Self

from cxlab.benchmarks.crmarena.organisation.schema import Schema
from cxlab.benchmarks.crmarena.sandbox import Compat


class Queryable(Protocol):
    """Records that are asked for and never changed, on one day; `compat` says how tools answer their quirks."""

    @property
    def schema(self) -> Schema: ...
    @property
    def today(self) -> date: ...
    @property
    def compat(self) -> Compat: ...
    def soql(self, text: str) -> list[dict[str, Any]]: ...
    def sosl(self, text: str) -> list[dict[str, Any]]: ...
    def at(self, today: date | str) -> Self: ...
    def under(self, compat: Compat) -> Self: ...
