"""Tools that look up cases and who had them.

Windows: get_cases leaves the end out in either compat. The others take both ends in as the original does; under the
policies' reading the end of a period is the first moment after it and left out, too.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from pydantic import Field

from cxlab.benchmarks.crmarena.organisation.queryable import Queryable
from cxlab.benchmarks.crmarena.tools.definition import (
    Cases,
    Ids,
    Moment,
    ToolError,
    one_of,
    read_moment,
    text,
    write_moment,
)

# So many ids fit into one query.
_MOST_IDS = 2000
_FIELDS = "OwnerId, CreatedDate, ClosedDate, AccountId"


def window(sandbox: Queryable, start_date: str, end_date: str) -> str:
    """The condition that something was created in a period."""
    start, end = write_moment(read_moment(start_date)), write_moment(read_moment(end_date))
    last = "<=" if sandbox.compat == "original" else "<"
    return f"CreatedDate >= {start} AND CreatedDate {last} {end}"


def get_cases(
    sandbox: Queryable,
    start_date: Annotated[Moment | None, Field(description="Cases created from this moment on")] = None,
    end_date: Annotated[Moment | None, Field(description="Cases created before this moment")] = None,
    agent_ids: Annotated[Ids | None, Field(description="Cases of these agents")] = None,
    case_ids: Annotated[Ids | None, Field(description="These cases")] = None,
    order_item_ids: Annotated[Ids | None, Field(description="Cases about these order items")] = None,
    issue_ids: Annotated[Ids | None, Field(description="Cases with these issues")] = None,
    statuses: Annotated[Ids | None, Field(description="Cases with one of these statuses, such as Closed")] = None,
) -> list[dict[str, Any]]:
    """Look up cases by any of the filters, all of which must hold; each has OwnerId, CreatedDate, ClosedDate and
    AccountId.
    """
    conditions = []
    if start_date:
        conditions.append(f"CreatedDate >= {write_moment(read_moment(start_date))}")
    if end_date:
        conditions.append(f"CreatedDate < {write_moment(read_moment(end_date))}")
    lists = {
        "OwnerId": agent_ids,
        "Id": case_ids,
        "OrderItemId__c": order_item_ids,
        "IssueId__c": issue_ids,
        "Status": statuses,
    }
    conditions += [one_of(field, values) for field, values in lists.items() if values]
    if not conditions:
        raise ToolError("get_cases needs at least one filter")
    return sandbox.soql(f"SELECT {_FIELDS} FROM Case WHERE {' AND '.join(conditions)}")


def get_shipping_state(sandbox: Queryable, cases: Cases) -> list[dict[str, Any]]:
    """Add to each case the state that its account has things sent to, as ShippingState."""
    ids = list(dict.fromkeys(case["AccountId"] for case in cases if isinstance(case.get("AccountId"), str)))
    states: dict[Any, Any] = {}
    for first in range(0, len(ids), _MOST_IDS):
        some = one_of("Id", ids[first : first + _MOST_IDS])
        found = sandbox.soql(f"SELECT Id, ShippingState FROM Account WHERE {some}")
        states |= {account["Id"]: account["ShippingState"] for account in found}
    return [{**case, "ShippingState": states.get(case.get("AccountId"))} for case in cases]


def get_agent_handled_cases_by_period(sandbox: Queryable, start_date: Moment, end_date: Moment) -> dict[str, int]:
    """Count the cases that each agent was given in a period: agent id to number of cases."""
    # The policy counts the cases that an agent was the first to have; the original, those handed over as well.
    first = "" if sandbox.compat == "original" else " AND OldValue__c = NULL"
    return _count(sandbox, "NewValue__c", f"{window(sandbox, start_date, end_date)}{first}")


def get_agent_transferred_cases_by_period(
    sandbox: Queryable,
    start_date: Moment,
    end_date: Moment,
    qualified_agent_ids: Annotated[Ids | None, Field(description="Count for these agents only")] = None,
) -> dict[str, int]:
    """Count the cases that each agent handed over to another one in a period: agent id to number of transfers."""
    condition = f"{window(sandbox, start_date, end_date)} AND OldValue__c != NULL"
    if qualified_agent_ids:
        condition += f" AND {one_of('OldValue__c', qualified_agent_ids)}"
    found = _count(sandbox, "OldValue__c", condition)
    if sandbox.compat == "policy":
        # Who handed over nothing transferred least; the original never sees such an agent.
        found |= {agent: 0 for agent in qualified_agent_ids or () if agent not in found}
    return found


def _count(sandbox: Queryable, field: str, condition: str) -> dict[str, int]:
    query = f"SELECT {field}, COUNT(Id) n FROM CaseHistory__c WHERE Field__c = 'Owner Assignment' AND {condition}"
    return {record[field]: record["n"] for record in sandbox.soql(f"{query} GROUP BY {field}") if record[field]}


def get_non_transferred_case_ids(sandbox: Queryable, start_date: Moment, end_date: Moment) -> list[str]:
    """List the ids of cases that were given to an agent in a period and handed over to no other."""
    assigned = "SELECT CaseId__c, OldValue__c FROM CaseHistory__c WHERE Field__c = 'Owner Assignment' AND"
    within = sandbox.soql(f"{assigned} {window(sandbox, start_date, end_date)}")
    # Counted here: the product groups no more than 2,000 cases.
    counts = Counter(row["CaseId__c"] for row in within)
    once = [case for case, count in counts.items() if count == 1]
    if sandbox.compat == "original":
        return once  # a transfer before or after the period does not count
    first = {row["CaseId__c"] for row in within if row["OldValue__c"] is None}
    moved = {row["CaseId__c"] for row in sandbox.soql(f"{assigned} OldValue__c != NULL")}
    return [case for case in once if case in first and case not in moved]


def get_issue_counts(
    sandbox: Queryable,
    start_date: Moment,
    end_date: Moment,
    order_item_ids: Annotated[Ids, Field(description="Cases about these order items")],
) -> dict[str, int]:
    """Count the cases of some order items in a period by issue, the most frequent first: issue id to number."""
    if not order_item_ids:
        return {}
    condition = f"{window(sandbox, start_date, end_date)} AND {one_of('OrderItemId__c', order_item_ids)}"
    query = f"SELECT IssueId__c, COUNT(Id) n FROM Case WHERE {condition} GROUP BY IssueId__c ORDER BY COUNT(Id) DESC"
    return {record["IssueId__c"]: record["n"] for record in sandbox.soql(query) if record["IssueId__c"]}


def get_issues(sandbox: Queryable) -> list[dict[str, Any]]:
    """List the issues that cases are sorted into, each with Id and Name."""
    return sandbox.soql("SELECT Id, Name FROM Issue__c")


def get_email_messages_by_case_id(
    sandbox: Queryable, case_id: Annotated[str, Field(description="Id of the case")]
) -> list[dict[str, Any]]:
    """Read the e-mails of a case: Subject, TextBody, FromAddress, ToAddress and MessageDate."""
    fields = "Subject, TextBody, FromAddress, ToAddress, MessageDate"
    return sandbox.soql(f"SELECT {fields} FROM EmailMessage WHERE ParentId = {text(case_id)} ORDER BY MessageDate")


def get_livechat_transcript_by_case_id(
    sandbox: Queryable, case_id: Annotated[str, Field(description="Id of the case")]
) -> list[dict[str, Any]]:
    """Read the live chats of a case: Body and EndTime."""
    return sandbox.soql(f"SELECT Body, EndTime FROM LiveChatTranscript WHERE CaseId = {text(case_id)}")
