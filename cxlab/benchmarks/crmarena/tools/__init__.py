"""The 27 tools of CRMArena, by their published names: 24 for its tasks, two that ask any query, and `submit`.

    TOOLS["get_cases"](sandbox, statuses=["Closed"])        # an answer, or text that begins with "Error: "
    schemas(names)                                          # for chat models with function calling
    langchain_tools(sandbox, names)                         # for LangChain's agents

`respond` is another name of `submit`, as later versions of the original have it; it is found but not counted.
`Sandbox.compat` says how the documented quirks are answered: "original" keeps them, "policy" does as the policies read:

| tool | original | policy |
| --- | --- | --- |
| get_agent_handled_cases_by_period | the end of the window counts; cases handed over count | neither |
| get_agent_transferred_cases_by_period | the end counts; who handed over nothing is missing | it does not; 0 |
| get_non_transferred_case_ids | the end counts; transfers outside the window do not | it does not; they do |
| get_issue_counts | the end counts | it does not |
| get_month_to_case_count | months of all years are added up | a month that comes twice is told by its year |
| get_period | knows no Autumn | it is Fall |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cxlab.benchmarks.crmarena.organisation.queryable import Queryable
from cxlab.benchmarks.crmarena.tools import calculations, cases, periods, records
from cxlab.benchmarks.crmarena.tools.definition import Tool, ToolError, define
from cxlab.errors import UnknownName

__all__ = ["DEFINITIONS", "FINAL", "GENERIC", "TOOLS", "Tool", "ToolError", "langchain_tools", "schemas"]

FINAL = ("submit", "respond")
GENERIC = ("issue_soql_query", "issue_sosl_query")
_RESPOND = define(records.submit, "respond")
DEFINITIONS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        define(function)
        for function in (
            calculations.get_agents_with_max_cases,
            calculations.get_agents_with_min_cases,
            calculations.calculate_average_handle_time,
            periods.get_start_date,
            periods.get_period,
            cases.get_agent_handled_cases_by_period,
            calculations.get_qualified_agent_ids_by_case_count,
            cases.get_cases,
            cases.get_non_transferred_case_ids,
            cases.get_agent_transferred_cases_by_period,
            cases.get_shipping_state,
            calculations.calculate_region_average_closure_times,
            records.get_order_item_ids_by_product,
            cases.get_issue_counts,
            calculations.find_id_with_max_value,
            calculations.find_id_with_min_value,
            records.get_account_id_by_contact_id,
            records.get_purchase_history,
            calculations.get_month_to_case_count,
            records.search_knowledge_articles,
            records.search_products,
            cases.get_issues,
            cases.get_email_messages_by_case_id,
            cases.get_livechat_transcript_by_case_id,
            records.submit,
            records.issue_soql_query,
            records.issue_sosl_query,
        )
    )
}


class _Calls(dict[str, Callable[..., Any]]):
    """Name → callable; knows `respond` as well, which is not counted."""

    def __missing__(self, name: str) -> Callable[..., Any]:
        if name == _RESPOND.name:
            return _RESPOND.call
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name == _RESPOND.name or super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


TOOLS: dict[str, Callable[..., Any]] = _Calls({name: tool.call for name, tool in DEFINITIONS.items()})


def find(name: str) -> Tool:
    """The tool of that name, `respond` among them; raises UnknownName."""
    if name == _RESPOND.name:
        return _RESPOND
    if name not in DEFINITIONS:
        raise UnknownName("tool", name, DEFINITIONS)
    return DEFINITIONS[name]


def schemas(names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """The tools as chat models are told of them; None: all 27."""
    return [find(name).schema for name in (DEFINITIONS if names is None else names)]


def langchain_tools(sandbox: Queryable, names: Iterable[str] | None = None) -> list[Any]:
    """The tools over a sandbox as LangChain's; None: all 27. What they return is handed to the agent as it is."""
    from langchain_core.tools import StructuredTool

    chosen = [find(name) for name in (DEFINITIONS if names is None else names)]
    return [
        StructuredTool.from_function(
            func=_over(tool, sandbox), name=tool.name, description=tool.description, args_schema=tool.parameters
        )
        for tool in chosen
    ]


def _over(tool: Tool, sandbox: Queryable) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        return tool.call(sandbox, **arguments)

    return call
