"""Queries of the console: tables beside the records they came from, and faults at their place."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.soql import QueryError
from cxlab.views.crm.console.asking import ask, find_meant, mark_place, to_json, to_table
from cxlab.views.crm.console.queries_examples import EXAMPLES
from tests.benchmarks.crmarena.small_organisation import add_history, make_rows


@pytest.fixture(scope="module")
def crm() -> Sandbox:
    return Sandbox.of_tables(to_tables(add_history(make_rows(7)), load_default()), today="2021-12-31")


@pytest.mark.parametrize("title", EXAMPLES)
def test_every_example_is_answered_and_explained(crm: Sandbox, title: str) -> None:
    found = ask(crm, EXAMPLES[title])
    assert found.fault is None
    assert found.steps
    table = to_table(found.records)
    assert table.height == len(found.records)
    assert json.loads(to_json(found.records)) == found.records


def test_parents_are_columns_and_children_are_counted(crm: Sandbox) -> None:
    query = "SELECT Id, Account.Name, Account.Owner.Name FROM Contact"
    assert ask(crm, query).fault is not None
    found = to_table(ask(crm, "SELECT Subject, Account.Name FROM Case").records)
    assert found.columns == ["Subject", "Account.Name"]
    assert found["Account.Name"].null_count() == sum(
        row["Account"] is None for row in crm.soql("SELECT Account.Name FROM Case")
    )
    inside = to_table(crm.soql("SELECT Name, (SELECT Status FROM Orders) FROM Account WHERE Name = 'Cust0 Ray'"))
    assert inside.row(0) == ("Cust0 Ray", "2: Draft; Activated")


def test_a_search_says_of_which_object_each_record_is(crm: Sandbox) -> None:
    found = to_table(ask(crm, "FIND {boots} IN ALL FIELDS RETURNING Knowledge__kav(Id, Title), Product2(Id)").records)
    assert found.columns == ["(object)", "Id", "Title"]
    assert [crm.schema.by_prefix(id) for id in found["Id"]] == [crm.schema.objects[name] for name in found["(object)"]]
    assert set(found["(object)"]) == {"Knowledge__kav", "Product2"}


@pytest.mark.parametrize(
    ("query", "code", "caret", "meant"),
    [
        ("SELECT Id,\n  Subjct\nFROM Case", "INVALID_FIELD", (2, 3), "SELECT Id,\n  Subject\nFROM Case"),
        ("SELECT Id FROM Cse", "INVALID_TYPE", (1, 16), "SELECT Id FROM Case"),
        ("SELECT Account.Nme FROM Case", "INVALID_FIELD", (1, 8), "SELECT Account.Name FROM Case"),
        ("SELECT Id FROM Case WHERE", "MALFORMED_QUERY", (1, 26), None),
        ("SELECT Id FROM Case WHERE Description = 'x'", "INVALID_FIELD", (1, 27), None),
    ],
)
def test_faults_point_to_their_place_and_say_what_may_be_meant(
    crm: Sandbox, query: str, code: str, caret: tuple[int, int], meant: str | None
) -> None:
    fault = ask(crm, query).fault
    assert fault is not None
    assert fault.code == code
    marked = [(line.number, line.caret) for line in mark_place(query, fault) if line.caret]
    assert marked == [caret]
    assert [line.text for line in mark_place(query, fault)] == query.split("\n")
    assert next((changed for _, changed in find_meant(query, fault, crm.schema)), None) == meant


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("SELECT Id FROM Case WHERE Status = Closed", "SELECT Id FROM Case WHERE Status = 'Closed'"),
        ('SELECT Id FROM Case WHERE Status = "Closed"', "SELECT Id FROM Case WHERE Status = 'Closed'"),
        ("SELECT Id FROM Case\nWHERE Status == 'New'", "SELECT Id FROM Case\nWHERE Status = 'New'"),
        ("SELECT Id FROM Case WHERE Status IN (New, Open)", "SELECT Id FROM Case WHERE Status IN ('New', 'Open')"),
        ("SELECT Id FROM Case WHERE ClosedDate IS NULL", "SELECT Id FROM Case WHERE ClosedDate = NULL"),
        ("SELECT Id FROM Case WHERE ClosedDate is not null", "SELECT Id FROM Case WHERE ClosedDate != NULL"),
        ("SELECT * FROM Case LIMIT 5", "SELECT FIELDS(ALL) FROM Case LIMIT 5"),
        ("SELECT Id FROM Case;", "SELECT Id FROM Case"),
        ("SELECT Id FROM Case WHERE", None),
        ("SELECT Id FROM Case FETCH 5", None),
    ],
)
def test_the_words_of_sql_are_put_into_those_of_soql(crm: Sandbox, wrong: str, meant: str | None) -> None:
    fault = ask(crm, wrong).fault
    assert fault is not None
    assert [changed for _, changed in find_meant(wrong, fault, crm.schema)] == ([meant] if meant else [])
    assert meant is None or ask(crm, meant).fault is None


def test_a_long_line_is_shown_around_the_place(crm: Sandbox) -> None:
    query = "SELECT Id FROM Case WHERE Subject IN (" + ", ".join(["'x'"] * 400) + ") AND Nothing = 1"
    fault = ask(crm, query).fault
    assert fault is not None
    (line,) = mark_place(query, fault)
    assert line.caret is not None
    assert line.text[line.caret - 1 :].startswith("Nothing = 1")
    assert len(line.text) <= 220


@pytest.mark.parametrize(
    "query",
    [
        "SELECT Id FROM Case WHERE " + "(" * 1_000 + "Id = null" + ")" * 1_000,
        "SELECT Id FROM Case WHERE Subject = '" + "x" * 1_000_000 + "'",
        "SELECT * FROM read_parquet('/etc/passwd'); DROP TABLE Case --",
        "SELECT Id FROM Case; COPY Case TO '/tmp/x'",
        "FIND {" + "(" * 2_000 + "} RETURNING Case",
        "\0\u202e",
    ],
)
def test_hostile_queries_are_coded_faults_in_time(crm: Sandbox, query: str) -> None:
    found = ask(crm, query)
    assert isinstance(found.fault, QueryError)
    assert found.fault.code
    assert found.seconds < 5
    mark_place(query, found.fault)
    assert find_meant(query, found.fault, crm.schema) == []


VALUE = some.none() | some.booleans() | some.integers(-(2**40), 2**40) | some.floats(allow_nan=False) | some.text()
RECORD = some.dictionaries(
    some.sampled_from("abcd"), VALUE | some.dictionaries(some.sampled_from("xy"), VALUE), min_size=1
)


@settings(max_examples=40)
@given(some.lists(RECORD, max_size=5))
def test_any_records_are_a_table_of_as_many_rows(records: list[dict[str, object]]) -> None:
    table = to_table(records)
    known = [record for record in records if any(not isinstance(value, dict) or value for value in record.values())]
    assert table.height == (len(records) if table.columns else 0)
    assert known or not table.columns
