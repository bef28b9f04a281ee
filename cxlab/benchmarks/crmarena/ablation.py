"""The tool ablation of the paper: 16 pairs of a function and a task, four of each of four kinds (its table 15).

In a pair the function is taken away from agents that work the task; the two tools that ask any query take its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["query_independent", "query_dependent", "calculation_independent", "calculation_dependent"]
Removed = Literal[
    "all",
    "query_independent",
    "query_dependent",
    "calculation_independent",
    "calculation_dependent",
    "get_order_item_ids_by_product",
    "search_products",
    "get_account_id_by_contact_id",
    "get_non_transferred_case_ids",
    "get_cases",
    "get_start_date",
    "get_period",
    "calculate_region_average_closure_times",
    "get_qualified_agent_ids_by_case_count",
    "calculate_average_handle_time",
    "get_agents_with_max_cases",
]
"""What a run takes away: everything that the table lists for a task, what is of one kind, or one function."""
KINDS: tuple[Kind, ...] = get_args(Kind)
TITLES: dict[Kind, tuple[str, str]] = {
    "query_independent": ("Query", "Independent"),
    "query_dependent": ("Query", "Dependent"),
    "calculation_independent": ("Calculation", "Independent"),
    "calculation_dependent": ("Calculation", "Dependent"),
}
"""Kind → what its functions do, and whether they need what others returned."""


@dataclass(frozen=True)
class Pair:
    """A function that is taken away from those who work a task."""

    kind: Kind
    function: str
    task: str


PAIRS: tuple[Pair, ...] = (
    Pair("query_independent", "get_order_item_ids_by_product", "monthly_trend_analysis"),
    Pair("query_independent", "get_order_item_ids_by_product", "case_routing"),
    Pair("query_independent", "search_products", "named_entity_disambiguation"),
    Pair("query_independent", "get_account_id_by_contact_id", "named_entity_disambiguation"),
    Pair("query_dependent", "get_non_transferred_case_ids", "handle_time"),
    Pair("query_dependent", "get_cases", "case_routing"),
    Pair("query_dependent", "get_cases", "best_region_identification"),
    Pair("query_dependent", "get_cases", "handle_time"),
    Pair("calculation_independent", "get_start_date", "transfer_count"),
    Pair("calculation_independent", "get_start_date", "best_region_identification"),
    Pair("calculation_independent", "get_start_date", "top_issue_identification"),
    Pair("calculation_independent", "get_period", "transfer_count"),
    Pair("calculation_dependent", "calculate_region_average_closure_times", "best_region_identification"),
    Pair("calculation_dependent", "get_qualified_agent_ids_by_case_count", "transfer_count"),
    Pair("calculation_dependent", "calculate_average_handle_time", "handle_time"),
    Pair("calculation_dependent", "get_agents_with_max_cases", "case_routing"),
)


def find_removed(removed: str, task: str) -> frozenset[str]:
    """The functions that a run takes away from agents that work a task."""
    return frozenset(
        pair.function for pair in PAIRS if pair.task == task and removed in ("all", pair.kind, pair.function)
    )


def measures(removed: str, pair: Pair) -> bool:
    """Whether a run takes away just the function of a pair from its task, and no other one with it."""
    return find_removed(removed, pair.task) == {pair.function}
