"""Queries to begin with: what each shows, and its text."""

from cxlab.views.crm.organisation import OrganisationRecord

EXAMPLES: dict[str, str] = {
    "The latest cases and who has them": (
        "SELECT Id, Subject, Status, Account.Name, Owner.Name\nFROM Case\nORDER BY CreatedDate DESC\nLIMIT 20"
    ),
    "Customers who never had a case (anti-join)": (
        "SELECT Id, Name, ShippingState\nFROM Account\nWHERE Id NOT IN (SELECT AccountId FROM Case)"
    ),
    "Orders of customers with an open case (semi-join)": (
        "SELECT Id, EffectiveDate, Account.Name\nFROM Order\n"
        "WHERE AccountId IN (SELECT AccountId FROM Case WHERE Status != 'Closed')\nORDER BY EffectiveDate DESC"
    ),
    "Cases by issue, most first": (
        "SELECT IssueId__r.Name issue, COUNT(Id) cases\nFROM Case\nGROUP BY IssueId__r.Name\nORDER BY COUNT(Id) DESC"
    ),
    "Accounts with their orders inside": (
        "SELECT Name, (SELECT EffectiveDate, Status FROM Orders)\nFROM Account\nLIMIT 20"
    ),
    "Cases of the three months before today": (
        "SELECT Id, Subject, CreatedDate\nFROM Case\nWHERE CreatedDate = LAST_N_MONTHS:3\nORDER BY CreatedDate"
    ),
    "Search articles and products (SOSL)": (
        "FIND {boots} IN ALL FIELDS\nRETURNING Knowledge__kav(Id, Title), Product2(Id, Name)"
    ),
}  # fmt: skip


def for_record(record: OrganisationRecord) -> str:
    """The query that gives a record whole."""
    return f"SELECT FIELDS(ALL)\nFROM {record.object.name}\nWHERE Id = '{record.id}'\nLIMIT 1"
