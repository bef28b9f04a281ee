"""Tools that look up products, purchases and articles, ask queries as they are, and give the answer."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from cxlab.benchmarks.crmarena.organisation.queryable import Queryable
from cxlab.benchmarks.crmarena.organisation.tables import TypeMismatch, to_time
from cxlab.benchmarks.crmarena.tools.definition import Ids, ToolError, one_of, text

SearchTerm = Annotated[str, Field(min_length=1, max_length=1000, description="The words to look for")]
# What has a meaning inside the braces of a search, quotes and wildcards aside.
_SPECIAL = re.compile(r"[\\(){}]")


def _search(sandbox: Queryable, term: str, returning: str) -> list[dict[str, Any]]:
    escaped = _SPECIAL.sub(r"\\\g<0>", term)
    return sandbox.sosl(f"FIND {{{escaped}}} IN ALL FIELDS RETURNING {returning}")


def search_knowledge_articles(sandbox: Queryable, search_term: SearchTerm) -> list[dict[str, Any]]:
    """Search the knowledge base for articles with all of some words; each has Id, Title and Content."""
    online = "PublishStatus = 'Online' AND Language = 'en_US'"
    found = _search(sandbox, search_term, f"Knowledge__kav(Id, Title, FAQ_Answer__c WHERE {online})")
    return [{"Id": each["Id"], "Title": each["Title"], "Content": each["FAQ_Answer__c"]} for each in found]


def search_products(sandbox: Queryable, search_term: SearchTerm) -> list[str]:
    """Search for products with all of some words in their name or description; returns their ids."""
    return [each["Id"] for each in _search(sandbox, search_term, "Product2(Id)")]


def get_order_item_ids_by_product(
    sandbox: Queryable, product_id: Annotated[str, Field(description="Id of the product")]
) -> list[str]:
    """List the ids of the order items with a product."""
    found = sandbox.soql(f"SELECT Id FROM OrderItem WHERE Product2Id = {text(product_id)}")
    return [each["Id"] for each in found]


def get_account_id_by_contact_id(
    sandbox: Queryable, contact_id: Annotated[str, Field(description="Id of the contact")]
) -> str | None:
    """Tell the id of the account that a contact belongs to."""
    found = sandbox.soql(f"SELECT AccountId FROM Contact WHERE Id = {text(contact_id)}")
    if not found:
        raise ToolError(f"there is no contact {contact_id[:40]!r}")
    account: str | None = found[0]["AccountId"]
    return account


def get_purchase_history(
    sandbox: Queryable,
    account_id: Annotated[str, Field(description="Id of the account")],
    purchase_date: Annotated[str, Field(description="The day of the purchase as YYYY-MM-DD", max_length=40)],
    related_product_ids: Annotated[Ids, Field(description="Products that it may have been")],
) -> list[dict[str, Any]]:
    """List which of some products an account bought on one day, each with Product2Id."""
    if not related_product_ids:
        return []
    try:
        day = to_time(purchase_date).date().isoformat()
    except TypeMismatch:
        raise ToolError(f"{purchase_date[:40]!r} is no day; write it as 2021-02-01") from None
    conditions = (
        f"Order.AccountId = {text(account_id)} AND Order.EffectiveDate = {day} AND "
        f"Order.Status = 'Activated' AND {one_of('Product2Id', related_product_ids)}"
    )
    return sandbox.soql(f"SELECT Product2Id FROM OrderItem WHERE {conditions}")


def issue_soql_query(
    sandbox: Queryable, query: Annotated[str, Field(description="A SOQL query: SELECT … FROM …")]
) -> list[dict[str, Any]]:
    """Ask the organisation any SOQL query; returns its records."""
    return sandbox.soql(query)


def issue_sosl_query(
    sandbox: Queryable, query: Annotated[str, Field(description="A SOSL search: FIND {…} RETURNING …")]
) -> list[dict[str, Any]]:
    """Ask the organisation any SOSL search; returns its records."""
    return sandbox.sosl(query)


def submit(sandbox: Queryable, content: Annotated[str, Field(description="The answer, and nothing else")]) -> str:
    """Give the final answer and end the task."""
    del sandbox
    return content
