"""The reference solutions of the seven tasks that have one: the tools they call, with what, and to what end.

Each is a sequence of calls of the same tools that agents have, so `Sandbox.compat` says by which reading it is
answered, and its steps are what an agent's own can be held beside. Knowledge questions and policy violations have no
solver: their answers are known to whoever wrote the texts.

Where the readings differ beyond the tools (see tools/):
- case routing, third tie: the original looks for the status "Open", which no case has, and sees only agents who have
  such a case; the policy counts every case that is not closed, and an agent without any has none;
- transfers: the original takes the extreme among agents who handed over something; the policy among all who qualify,
  and "most" needs one transfer at least.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cxlab.benchmarks.crmarena.organisation.queryable import Queryable
from cxlab.benchmarks.crmarena.tools import TOOLS
from cxlab.benchmarks.crmarena.tools.definition import ERROR
from cxlab.errors import BadOption, CxError, UnknownName

Extreme = Literal["min", "max"]


@dataclass(frozen=True)
class Step:
    """One call of a solution: the tool, its arguments and what it returned."""

    tool: str
    arguments: dict[str, Any]
    result: Any


@dataclass(frozen=True)
class Solution:
    """What a question comes to. `answers` are all that are level with one another: none where the question has no
    answer, more than one where it is ambiguous; `steps` lead there.
    """

    answers: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def answer(self) -> str | None:
        """The gold answer, the first of several; None where there is none."""
        return self.answers[0] if self.answers else None


@dataclass
class _Path:
    """The calls of one solution."""

    sandbox: Queryable
    steps: list[Step] = field(default_factory=list)

    def call(self, tool: str, **arguments: Any) -> Any:
        result = TOOLS[tool](self.sandbox, **arguments)
        if isinstance(result, str) and result.startswith(ERROR):
            raise CxError(f"{tool}: {result.removeprefix(ERROR)}")
        self.steps.append(Step(tool, arguments, result))
        return result

    def end(self, answers: Sequence[str] | None) -> Solution:
        return Solution(tuple(answers or ()), tuple(self.steps))

    def extreme(self, values: dict[str, float], extreme: Extreme) -> Solution:
        return self.end(self.call(f"find_id_with_{extreme}_value", values_by_id=values))

    @property
    def reads_policy(self) -> bool:
        return self.sandbox.compat == "policy"


def solve_handle_time(sandbox: Queryable, start: str, end: str, more_than: int, extreme: Extreme) -> Solution:
    """The agent with the shortest or longest mean handle time among those with more than some cases in a window."""
    path = _Path(sandbox)
    qualified = _qualify(path, start, end, more_than)
    if not qualified:
        return path.end(None)
    untouched = path.call("get_non_transferred_case_ids", start_date=start, end_date=end)
    if not untouched:
        return path.end(None)
    cases = path.call(
        "get_cases", start_date=start, end_date=end, agent_ids=qualified, case_ids=untouched, statuses=["Closed"]
    )
    return path.extreme(path.call("calculate_average_handle_time", cases=cases), extreme)


def solve_transfer_count(sandbox: Queryable, start: str, end: str, more_than: int, extreme: Extreme) -> Solution:
    """The agent who handed over the fewest or most cases among those with more than some cases in a window."""
    path = _Path(sandbox)
    qualified = _qualify(path, start, end, more_than)
    if not qualified:
        return path.end(None)
    counts = path.call(
        "get_agent_transferred_cases_by_period", start_date=start, end_date=end, qualified_agent_ids=qualified
    )
    if extreme == "max" and not any(counts.values()):
        return path.end(None)
    return path.extreme(counts, extreme)


def _qualify(path: _Path, start: str, end: str, more_than: int) -> list[str]:
    handled = path.call("get_agent_handled_cases_by_period", start_date=start, end_date=end)
    found: list[str] = path.call(
        "get_qualified_agent_ids_by_case_count", agent_handled_cases=handled, n_cases=more_than
    )
    return found


def solve_top_issue(sandbox: Queryable, product_id: str, start: str, end: str) -> Solution:
    """The issue that most cases of a product have in a window."""
    path = _Path(sandbox)
    items = path.call("get_order_item_ids_by_product", product_id=product_id)
    if not items:
        return path.end(None)
    counts = path.call("get_issue_counts", start_date=start, end_date=end, order_item_ids=items)
    return path.extreme(counts, "max")


def solve_monthly_trend(sandbox: Queryable, product_id: str, start: str, end: str) -> Solution:
    """The month in which most cases of a product were opened in a window, by its name."""
    path = _Path(sandbox)
    items = path.call("get_order_item_ids_by_product", product_id=product_id)
    if not items:
        return path.end(None)
    cases = path.call("get_cases", start_date=start, end_date=end, order_item_ids=items)
    found = path.extreme(path.call("get_month_to_case_count", cases=cases), "max")
    # Where a month came twice it was told by its year, and the answer is its name.
    return path.end(list(dict.fromkeys(answer.split(" ")[0] for answer in found.answers)))


def solve_best_region(sandbox: Queryable, start: str, end: str) -> Solution:
    """The state whose cases of a window were closed fastest."""
    path = _Path(sandbox)
    cases = path.call("get_cases", start_date=start, end_date=end, statuses=["Closed"])
    if not cases:
        return path.end(None)
    times = path.call("calculate_region_average_closure_times", cases=path.call("get_shipping_state", cases=cases))
    return path.extreme(times, "min")


def solve_case_routing(sandbox: Queryable, issue_id: str, product_id: str) -> Solution:
    """The agent for a new case: who closed most cases of its issue; of those level, most of its product; of those
    level, who has the least to do.
    """
    path = _Path(sandbox)
    level = path.call(
        "get_agents_with_max_cases", subset_cases=path.call("get_cases", issue_ids=[issue_id], statuses=["Closed"])
    )
    if len(level) < 2:
        return path.end(level)
    items = path.call("get_order_item_ids_by_product", product_id=product_id)
    if items:
        cases = path.call("get_cases", order_item_ids=items, agent_ids=level, statuses=["Closed"])
        level = path.call("get_agents_with_max_cases", subset_cases=cases) or level
    if len(level) < 2:
        return path.end(level)
    if not path.reads_policy:
        cases = path.call("get_cases", agent_ids=level, statuses=["Open"])
        return path.end(path.call("get_agents_with_min_cases", subset_cases=cases) or level)
    cases = path.call("get_cases", agent_ids=level)
    load = Counter(case["OwnerId"] for case in cases if case["ClosedDate"] is None)
    return path.extreme({agent: load[agent] for agent in level}, "min")


def solve_named_entity(sandbox: Queryable, contact_id: str, words: str, period: str, count: int) -> Solution:
    """The product that a contact's account bought just some periods before today, of those that some words find."""
    path = _Path(sandbox)
    found = path.call("search_products", search_term=words)
    account = path.call("get_account_id_by_contact_id", contact_id=contact_id)
    day, _ = _find_window(path, period, count)
    if not found or account is None:
        return path.end(None)
    rows = path.call("get_purchase_history", account_id=account, purchase_date=day[:10], related_product_ids=found)
    return path.end(list(dict.fromkeys(row["Product2Id"] for row in rows)))


SOLVERS: Mapping[str, Callable[..., Solution]] = {
    "case_routing": solve_case_routing,
    "handle_time": solve_handle_time,
    "transfer_count": solve_transfer_count,
    "named_entity_disambiguation": solve_named_entity,
    "top_issue_identification": solve_top_issue,
    "monthly_trend_analysis": solve_monthly_trend,
    "best_region_identification": solve_best_region,
}
"""Task → its reference solution; knowledge questions and policy violations are not among them."""


def solve(sandbox: Queryable, task: str, arguments: Mapping[str, Any]) -> Solution:
    """The reference solution of a question: `arguments` are those of its task's function in `SOLVERS`.

    Where that takes start and end, `window` may stand for both: `{"period": "month", "count": 3}` for the past three
    months before the sandbox's today, `{"name": "Q2", "year": 2021}` for a named one; looking it up is then the first
    step. Raises UnknownName for a task without a solver, BadOption for arguments that do not fit.
    """
    if task not in SOLVERS:
        raise UnknownName("task with a solver", task, SOLVERS)
    given, path = dict(arguments), _Path(sandbox)
    if (window := given.pop("window", None)) is not None:
        _check_arguments(task, _find_window, path, window)
        given["start"], given["end"] = _find_window(path, **window)
    _check_arguments(task, SOLVERS[task], sandbox, given)
    found = SOLVERS[task](sandbox, **given)
    return Solution(found.answers, (*path.steps, *found.steps))


def _check_arguments(task: str, function: Callable[..., Any], first: object, given: Mapping[str, Any]) -> None:
    try:
        inspect.signature(function).bind(first, **given)
    except TypeError as fault:
        raise BadOption(f"{task}: {fault}") from None


def _find_window(
    path: _Path, period: str | None = None, count: int = 0, name: str | None = None, year: int = 0
) -> tuple[str, str]:
    if name is not None:
        found = path.call("get_period", period_name=name, year=year)
        return found["start_date"], found["end_date"]
    end = f"{path.sandbox.today.isoformat()}T00:00:00Z"
    return path.call("get_start_date", end_date=end, period=period, interval_count=count), end
