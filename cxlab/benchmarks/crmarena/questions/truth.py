"""What happened in an organisation as arrays, and what questions about it come to as the policies read.

Made for trying thousands of windows; what is kept is answered once more by the solvers, which read the organisation as
agents do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import polars as pl

Extreme = str


@dataclass(frozen=True)
class CandidateRanking:
    """Candidates with their values, the best first; `answers` are all that are level with the first."""

    names: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def answers(self) -> tuple[str, ...]:
        """All with the value of the first."""
        return tuple(name for name, value in zip(self.names, self.values, strict=True) if value == self.values[0])

    @property
    def margin(self) -> float:
        """How far the second is from the first, as a share of the larger; 1 where there is no second, 0 for a tie."""
        if len(self.values) < 2:
            return 1.0
        first, second = abs(self.values[0]), abs(self.values[1])
        return abs(first - second) / max(first, second, 1e-9)


class Truth:
    """The cases of an organisation as arrays: when opened and closed, who had them, what they are about."""

    def __init__(self, tables: Mapping[str, pl.DataFrame]) -> None:
        # The hidden table knows issue and product also where an organisation does not link them.
        hidden = tables["latent_cases"].select("case_id", "issue_id", "product_id")
        states = tables["Account"].select(AccountId="Id", state="ShippingState")
        cases = tables["Case"].join(states, on="AccountId", how="left", maintain_order="left")
        cases = cases.join(hidden, left_on="Id", right_on="case_id", how="left", maintain_order="left")
        moves = tables["CaseHistory__c"].filter(pl.col("Field__c") == "Owner Assignment")
        moved = moves.filter(pl.col("OldValue__c").is_not_null())
        self.case = cases["Id"].to_numpy()
        self.owner = cases["OwnerId"].to_numpy()
        self.state = cases["state"].to_numpy()
        self.issue = cases["issue_id"].to_numpy()
        self.product = cases["product_id"].to_numpy()
        self.opened = _moments(cases["CreatedDate"])
        closed = cases["ClosedDate"]
        self.is_closed = closed.is_not_null().to_numpy()
        self.minutes = ((closed - cases["CreatedDate"]).dt.total_seconds() / 60).fill_null(0.0).to_numpy()
        self.transferred = cases["Id"].is_in(moved["CaseId__c"].implode()).to_numpy()
        first = moves.filter(pl.col("OldValue__c").is_null())
        by_case = dict(zip(first["CaseId__c"], first["NewValue__c"], strict=True))
        self.first = np.array([by_case[name] for name in cases["Id"]])
        self.moved_at = _moments(moved["CreatedDate"])
        self.moved_by = moved["OldValue__c"].to_numpy()

    def within(self, start: datetime, end: datetime) -> np.ndarray:
        """Which cases were opened in a window."""
        mask: np.ndarray = (self.opened >= _stamp(start)) & (self.opened < _stamp(end))
        return mask

    def count_handled(self, start: datetime, end: datetime) -> dict[str, int]:
        """How many cases each agent was the first to have, opened in a window."""
        names, counts = np.unique(self.first[self.within(start, end)], return_counts=True)
        return dict(zip(names.tolist(), counts.tolist(), strict=True))

    def rank_handle_times(self, start: datetime, end: datetime, more_than: int, extreme: Extreme) -> CandidateRanking:
        """Agents with more than some cases, by the mean minutes of those they closed and never gave away."""
        qualified = [name for name, count in self.count_handled(start, end).items() if count > more_than]
        mask = self.within(start, end) & self.is_closed & ~self.transferred & np.isin(self.owner, qualified)
        return _rank(_means(self.owner[mask], self.minutes[mask]), extreme)

    def rank_transfers(self, start: datetime, end: datetime, more_than: int, extreme: Extreme) -> CandidateRanking:
        """Agents with more than some cases, by how many they gave away in a window; none where nobody gave any and the
        most are asked for."""
        qualified = [name for name, count in self.count_handled(start, end).items() if count > more_than]
        mask = (self.moved_at >= _stamp(start)) & (self.moved_at < _stamp(end))
        names, counts = np.unique(self.moved_by[mask], return_counts=True)
        given = dict(zip(names.tolist(), counts.tolist(), strict=True))
        values = {name: float(given.get(name, 0)) for name in qualified}
        if extreme == "max" and not any(values.values()):
            return CandidateRanking((), ())
        return _rank(values, extreme)

    def rank_issues(self, product: str, start: datetime, end: datetime) -> CandidateRanking:
        """Issues by how many cases of a product have them."""
        mask = self.within(start, end) & (self.product == product)
        return _rank(_counts(self.issue[mask]), "max")

    def rank_months(self, product: str, start: datetime, end: datetime) -> CandidateRanking:
        """Months, as numbers of months since 1970, by how many cases of a product were opened in them."""
        mask = self.within(start, end) & (self.product == product)
        months = self.opened[mask].astype("datetime64[M]").astype(int).astype(str)
        return _rank(_counts(months), "max")

    def rank_states(self, start: datetime, end: datetime) -> CandidateRanking:
        """States by the mean minutes from opening to closing."""
        mask = self.within(start, end) & self.is_closed
        return _rank(_means(self.state[mask], self.minutes[mask]), "min")


def _moments(column: pl.Series) -> np.ndarray:
    found: np.ndarray = column.dt.replace_time_zone(None).dt.cast_time_unit("ms").to_numpy()
    return found


def _stamp(moment: datetime) -> np.datetime64:
    return np.datetime64(moment.astimezone(UTC).replace(tzinfo=None), "ms")


def _counts(names: np.ndarray) -> dict[str, float]:
    found, counts = np.unique(names.astype(str), return_counts=True)
    return dict(zip(found.tolist(), counts.astype(float).tolist(), strict=True))


def _means(names: np.ndarray, values: np.ndarray) -> dict[str, float]:
    found, places = np.unique(names.astype(str), return_inverse=True)
    if not len(found):
        return {}
    sums = np.bincount(places, weights=values) / np.bincount(places)
    return dict(zip(found.tolist(), sums.tolist(), strict=True))


def _rank(values: Mapping[str, float], extreme: Extreme) -> CandidateRanking:
    ordered: Sequence[tuple[str, float]] = sorted(values.items(), key=lambda pair: pair[1], reverse=extreme == "max")
    return CandidateRanking(tuple(name for name, _ in ordered), tuple(value for _, value in ordered))
