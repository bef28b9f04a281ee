"""Queries in words, and what may be typed next."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.soql import parse
from cxlab.benchmarks.crmarena.soql.completion import complete
from cxlab.benchmarks.crmarena.soql.explain import explain
from tests.benchmarks.crmarena.soql.example_queries import ACCEPTED

SCHEMA = load_default()
TODAY = date(2021, 3, 17)


def test_a_query_in_words() -> None:
    text = (
        "SELECT OwnerId, COUNT(Id) n FROM case WHERE CreatedDate = LAST_N_DAYS:3 AND (Status = 'New' OR "
        "AccountId IN (SELECT AccountId FROM Order WHERE Status = 'Draft')) GROUP BY OwnerId HAVING COUNT(Id) > 2 "
        "ORDER BY COUNT(Id) DESC NULLS LAST LIMIT 5 OFFSET 2"
    )
    assert explain(parse(text), SCHEMA, TODAY) == [
        "Take every Case.",
        "Keep those where CreatedDate is LAST_N_DAYS:3 (2021-03-14 to 2021-03-17) and (Status is 'New' or AccountId is "
        "one of the AccountId of Order records, where Status is 'Draft').",
        "Group them by OwnerId.",
        "Keep the groups where COUNT(Id) is more than 2.",
        "Sort by COUNT(Id) falling, nulls last.",
        "Skip the first 2.",
        "Give at most 5, with OwnerId and COUNT(Id) as n.",
    ]
    nested = explain(parse("SELECT Name, (SELECT Id FROM Cases LIMIT 1) FROM Account"), SCHEMA, TODAY)
    assert nested[-1] == "For each: Take every of its Cases. Give at most 1, with Id."


def test_a_search_in_words() -> None:
    returning = "Product2(Id, Name WHERE IsActive = true LIMIT 3)"
    text = f'FIND {{"yoga mat" OR (shoe AND NOT old)}} IN NAME FIELDS RETURNING {returning}'
    assert explain(parse(text), SCHEMA, TODAY) == [
        'Look for (the phrase "yoga mat" or "shoe" without "old") in name fields.',
        "Of Product2 records give Id and Name, where IsActive is true, at most 3.",
    ]


@pytest.mark.parametrize("text", ACCEPTED)
def test_every_query_has_words(text: str) -> None:
    lines = explain(parse(text), SCHEMA, TODAY)
    assert all(line.endswith(".") and line[0].isupper() for line in lines)


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("", {"SELECT", "FIND"}, {"Case"}),
        ("SELECT Id FROM Ca|", {"Case", "CaseHistory__c"}, {"Account"}),
        ("SELECT | FROM Case", {"Subject", "Account.", "Description", "COUNT("}, {"Product2Id"}),
        ("SELECT Account.Sh| FROM Case", {"Account.ShippingState"}, {"Account.Name", "ShippingState"}),
        (
            "SELECT Id FROM Case WHERE |",
            {"Status", "CreatedDate", "TODAY", "CALENDAR_YEAR("},
            {"Description", "COUNT("},
        ),
        ("SELECT Id FROM Case WHERE Owner.|", {"Owner.FirstName"}, {"Status", "AND"}),
        ("SELECT Id, (SELECT Id FROM |) FROM Account", {"Cases", "Contacts", "Orders"}, {"Case"}),
        ("SELECT Id, (SELECT Sub| FROM Cases) FROM Account", {"Subject"}, {"ShippingState"}),
        ("SELECT Id FROM Case WHERE Id IN (SELECT Cas| FROM EmailMessage)", set(), {"CaseId"}),
        ("SELECT Id FROM Case ORDER BY Cre|", {"CreatedDate"}, {"Creation"}),
        ("FIND {x} RETURNING Pro|", {"Product2", "ProductCategory"}, {"Case"}),
    ],
)
def test_what_may_come_next(text: str, some: set[str], none: set[str]) -> None:
    at = text.find("|") if "|" in text else len(text)
    found = {each.text for each in complete(text.replace("|", ""), at, SCHEMA)}
    assert some <= found
    assert not none & found


@given(st.text("SELECTFROM WHERIdCase.,()'", max_size=60), st.integers(0, 60))
def test_no_text_is_a_surprise(text: str, at: int) -> None:
    for each in complete(text, min(at, len(text)), SCHEMA):
        assert each.text
