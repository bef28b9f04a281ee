"""Tools that reckon with what other tools returned: counts, means, the largest and the smallest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime
from statistics import fmean
from typing import Annotated, Any

from pydantic import Field

from cxlab.benchmarks.crmarena.organisation.queryable import Queryable
from cxlab.benchmarks.crmarena.organisation.tables import TypeMismatch, to_time
from cxlab.benchmarks.crmarena.tasks import MONTHS
from cxlab.benchmarks.crmarena.tools.definition import Cases, ToolError, get_owner

Counts = Annotated[dict[str, float], Field(description="Id to number")]


def get_agents_with_max_cases(sandbox: Queryable, subset_cases: Cases) -> list[str]:
    """List the agents who have the most of some cases: more than one where they are level."""
    del sandbox
    return _at_extreme(Counter(map(get_owner, subset_cases)), largest=True)


def get_agents_with_min_cases(sandbox: Queryable, subset_cases: Cases) -> list[str]:
    """List the agents who have the fewest of some cases: more than one where they are level. Agents without any of
    them are not seen.
    """
    del sandbox
    return _at_extreme(Counter(map(get_owner, subset_cases)), largest=False)


def _at_extreme(values: Mapping[str, float], largest: bool) -> list[str]:
    if not values:
        return []
    wanted = max(values.values()) if largest else min(values.values())
    return [key for key, value in values.items() if value == wanted]


def find_id_with_max_value(sandbox: Queryable, values_by_id: Counts) -> list[str] | None:
    """List the ids with the largest number; nothing where there are none."""
    del sandbox
    return _at_extreme(values_by_id, largest=True) or None


def find_id_with_min_value(sandbox: Queryable, values_by_id: Counts) -> list[str] | None:
    """List the ids with the smallest number; nothing where there are none."""
    del sandbox
    return _at_extreme(values_by_id, largest=False) or None


def get_qualified_agent_ids_by_case_count(
    sandbox: Queryable,
    agent_handled_cases: Annotated[dict[str, int], Field(description="Agent id to number of cases")],
    n_cases: Annotated[int, Field(description="Agents with more cases than this qualify")],
) -> list[str]:
    """List the agents who had more than n_cases cases."""
    del sandbox
    return [agent for agent, count in agent_handled_cases.items() if count > n_cases]


def calculate_average_handle_time(sandbox: Queryable, cases: Cases) -> dict[str, float]:
    """Work out each agent's mean time from the opening of a case to its closing, in minutes: agent id to minutes."""
    del sandbox
    minutes: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        minutes[get_owner(case)].append(_seconds_open(case) / 60)
    return {agent: fmean(times) for agent, times in minutes.items()}


def calculate_region_average_closure_times(sandbox: Queryable, cases: Cases) -> dict[str, float]:
    """Work out each state's mean time from the opening of a case to its closing, in seconds, from cases to which
    get_shipping_state has added their state: state to seconds.
    """
    del sandbox
    if not cases:
        raise ToolError("there are no cases")
    seconds: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        account = case.get("Account")
        state = case.get("ShippingState") or (account.get("ShippingState") if isinstance(account, dict) else None)
        if isinstance(state, str):
            seconds[state].append(_seconds_open(case))
    return {state: fmean(times) for state, times in seconds.items()}


def _seconds_open(case: Mapping[str, Any]) -> float:
    created, closed = _moment(case, "CreatedDate"), _moment(case, "ClosedDate")
    if closed < created:
        raise ToolError("a case was closed before it was opened")
    return (closed - created).total_seconds()


def _moment(case: Mapping[str, Any], field: str) -> datetime:
    value = case.get(field)
    if not isinstance(value, str):
        raise ToolError(f"a case has no {field}")
    try:
        return to_time(value)
    except TypeMismatch as fault:
        raise ToolError(f"{field}: {fault}") from None


def get_month_to_case_count(sandbox: Queryable, cases: Cases) -> dict[str, int]:
    """Count cases by the month in which they were opened: name of the month to number."""
    opened = [_moment(case, "CreatedDate") for case in cases]
    counts = Counter((moment.year, moment.month) for moment in opened)
    months = Counter(month for _, month in counts)
    if sandbox.compat == "policy" and any(years > 1 for years in months.values()):
        # Two Marches are two months; the original adds them up.
        return {f"{MONTHS[month - 1]} {year}": count for (year, month), count in sorted(counts.items())}
    return dict(Counter(MONTHS[moment.month - 1] for moment in opened))
