"""Each tool beside a plain count over the rows, under the original's quirks and as the policies read."""

import json
from collections import Counter
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena import tools
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.tools import DEFINITIONS, TOOLS
from tests.benchmarks.crmarena.small_organisation import END, START, add_history, agent, ident, make_rows, when

NAMES = [
    "get_agents_with_max_cases",
    "get_agents_with_min_cases",
    "calculate_average_handle_time",
    "get_start_date",
    "get_period",
    "get_agent_handled_cases_by_period",
    "get_qualified_agent_ids_by_case_count",
    "get_cases",
    "get_non_transferred_case_ids",
    "get_agent_transferred_cases_by_period",
    "get_shipping_state",
    "calculate_region_average_closure_times",
    "get_order_item_ids_by_product",
    "get_issue_counts",
    "find_id_with_max_value",
    "find_id_with_min_value",
    "get_account_id_by_contact_id",
    "get_purchase_history",
    "get_month_to_case_count",
    "search_knowledge_articles",
    "search_products",
    "get_issues",
    "get_email_messages_by_case_id",
    "get_livechat_transcript_by_case_id",
    "submit",
    "issue_soql_query",
    "issue_sosl_query",
]


ROWS = add_history(make_rows(3, cases=80))


@pytest.fixture(scope="module")
def original() -> Sandbox:
    return Sandbox.of_tables(to_tables(ROWS, load_default()), today="2021-03-17")


@pytest.fixture(scope="module")
def policy(original: Sandbox) -> Sandbox:
    return original.under("policy")


def test_the_tools_are_the_papers() -> None:
    assert sorted(TOOLS) == sorted(NAMES)
    assert len(TOOLS) == 27
    assert "respond" in TOOLS
    assert TOOLS["respond"](None, "GA") == TOOLS["submit"](None, content="GA") == "GA"


def assignments(start: str, end: str, closed_end: bool) -> list[dict[str, Any]]:
    """Owner assignments of a window, by reading all rows."""
    return [
        row
        for row in ROWS["CaseHistory__c"]
        if row["Field__c"] == "Owner Assignment"
        and when(start) <= when(row["CreatedDate"])
        and (when(row["CreatedDate"]) <= when(end) if closed_end else when(row["CreatedDate"]) < when(end))
    ]


WINDOWS = [(START, END), ("2019-01-01T00:00:00Z", "2022-01-01T00:00:00Z"), (END, END), (END, START)]


@pytest.mark.parametrize(("start", "end"), WINDOWS)
def test_handled_and_transferred_cases(original: Sandbox, policy: Sandbox, start: str, end: str) -> None:
    inclusive, exclusive = assignments(start, end, True), assignments(start, end, False)
    handled = TOOLS["get_agent_handled_cases_by_period"]
    assert handled(original, start, end) == Counter(row["NewValue__c"] for row in inclusive)
    assert handled(policy, start, end) == Counter(r["NewValue__c"] for r in exclusive if r["OldValue__c"] is None)

    transferred = TOOLS["get_agent_transferred_cases_by_period"]
    moved = Counter(row["OldValue__c"] for row in inclusive if row["OldValue__c"])
    assert transferred(original, start, end) == moved
    some = [agent(0), agent(1), ident("005", 99)]
    assert transferred(original, start, end, some) == {a: moved[a] for a in some if a in moved}
    kept = Counter(row["OldValue__c"] for row in exclusive if row["OldValue__c"])
    assert transferred(policy, start, end, some) == {a: kept[a] for a in some}, "who handed over nothing has 0"

    untouched = TOOLS["get_non_transferred_case_ids"]
    counts = Counter(row["CaseId__c"] for row in inclusive)
    assert sorted(untouched(original, start, end)) == sorted(case for case, n in counts.items() if n == 1)
    ever = Counter(r["CaseId__c"] for r in ROWS["CaseHistory__c"] if r["Field__c"] == "Owner Assignment")
    never_moved = sorted(r["CaseId__c"] for r in exclusive if r["OldValue__c"] is None and ever[r["CaseId__c"]] == 1)
    assert sorted(untouched(policy, start, end)) == never_moved


def test_the_quirks_show_in_these_rows(original: Sandbox, policy: Sandbox) -> None:
    """Else the tests above would hold whatever the windows did."""
    for name in ("get_agent_handled_cases_by_period", "get_non_transferred_case_ids"):
        assert TOOLS[name](original, START, END) != TOOLS[name](policy, START, END)


@pytest.mark.parametrize(("start", "end"), WINDOWS)
def test_cases_and_issues_of_a_window(original: Sandbox, policy: Sandbox, start: str, end: str) -> None:
    within = [c for c in ROWS["Case"] if when(start) <= when(c["CreatedDate"]) < when(end)]
    for sandbox in (original, policy):
        found = TOOLS["get_cases"](sandbox, start_date=start, end_date=end)
        assert [c["CreatedDate"] for c in found] == [c["CreatedDate"] for c in within]
        assert not found or list(found[0]) == ["OwnerId", "CreatedDate", "ClosedDate", "AccountId"]
    items = [item["Id"] for item in ROWS["OrderItem"] if item["Product2Id"] == ident("01t", 1)]
    assert TOOLS["get_order_item_ids_by_product"](original, ident("01t", 1)) == items
    for sandbox in (original, policy):
        wanted = Counter(
            c["IssueId__c"]
            for c in ROWS["Case"]
            if c["OrderItemId__c"] in items
            and c["IssueId__c"]
            and (c in within or (sandbox is original and start <= end and when(c["CreatedDate"]) == when(end)))
        )
        found = TOOLS["get_issue_counts"](sandbox, start, end, items)
        assert found == wanted
        assert list(found.values()) == sorted(found.values(), reverse=True)
    assert TOOLS["get_issue_counts"](original, start, end, []) == {}


def test_case_filters(original: Sandbox) -> None:
    get = TOOLS["get_cases"]
    one = [c for c in ROWS["Case"] if c["Status"] == "Closed" and c["OwnerId"] in (agent(0), agent(1))]
    found = get(original, statuses=["Closed"], agent_ids=[agent(0), agent(1)])
    assert [c["ClosedDate"] for c in found] == [c["ClosedDate"] for c in one]
    assert len(get(original, case_ids=[ident("500", 3)])) == 1
    assert len(get(original, issue_ids=[ident("a1M", 0)])) == sum(
        c["IssueId__c"] == ident("a1M", 0) for c in ROWS["Case"]
    )
    assert get(original) == "Error: get_cases needs at least one filter"


def test_times(original: Sandbox) -> None:
    cases = TOOLS["get_cases"](original, statuses=["Closed"])
    rows = [c for c in ROWS["Case"] if c["Status"] == "Closed"]
    hours = {
        a: [(when(c["ClosedDate"]) - when(c["CreatedDate"])).total_seconds() for c in rows if c["OwnerId"] == a]
        for a in {c["OwnerId"] for c in rows}
    }
    found = TOOLS["calculate_average_handle_time"](original, cases)
    assert found == pytest.approx({a: sum(t) / len(t) / 60 for a, t in hours.items()}), "minutes"

    with_states = TOOLS["get_shipping_state"](original, cases)
    states = {a["Id"]: a["ShippingState"] for a in ROWS["Account"]}
    assert [c["ShippingState"] for c in with_states] == [states.get(c["AccountId"]) for c in rows]
    by_state: dict[str, list[float]] = {}
    for case in rows:
        if state := states.get(case["AccountId"]):
            seconds = (when(case["ClosedDate"]) - when(case["CreatedDate"])).total_seconds()
            by_state.setdefault(state, []).append(seconds)
    found = TOOLS["calculate_region_average_closure_times"](original, with_states)
    assert found == pytest.approx({s: sum(t) / len(t) for s, t in by_state.items()}), "seconds"
    assert TOOLS["calculate_region_average_closure_times"](original, []) == "Error: there are no cases"


def test_what_times_need(original: Sandbox) -> None:
    handle = TOOLS["calculate_average_handle_time"]
    whole = {
        "OwnerId": "a",
        "CreatedDate": "2020-01-01T00:00:00.000+0000",
        "ClosedDate": "2020-01-01T01:00:00.000+0000",
    }
    assert handle(original, [whole]) == {"a": 60}
    assert handle(original, [{**whole, "ClosedDate": None}]) == "Error: a case has no ClosedDate"
    assert handle(original, [{**whole, "CreatedDate": "2020-01-02T00:00:00.000+0000"}]).startswith(
        "Error: a case was closed"
    )
    assert handle(original, [{**whole, "ClosedDate": "later"}]).startswith("Error: ClosedDate")
    assert handle(original, [{"CreatedDate": "x"}]) == "Error: a case has no OwnerId"
    assert handle(original, "all").startswith("Error: calculate_average_handle_time: cases")


COUNTS = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(0, 3), max_size=6)


@given(COUNTS, st.integers(-1, 4))
def test_extremes_and_thresholds(counts: dict[str, int], n: int) -> None:
    high, low = TOOLS["find_id_with_max_value"], TOOLS["find_id_with_min_value"]
    wanted = [key for key in counts if counts[key] == max(counts.values())]
    assert high(None, counts) == (wanted or None)
    assert low(None, counts) == ([key for key in counts if counts[key] == min(counts.values())] or None)
    assert TOOLS["get_qualified_agent_ids_by_case_count"](None, counts, n) == [k for k, v in counts.items() if v > n]
    cases = [{"OwnerId": key} for key, count in counts.items() for _ in range(count)]
    held = {key: count for key, count in counts.items() if count}
    assert TOOLS["get_agents_with_max_cases"](None, cases) == [k for k in held if held[k] == max(held.values())]
    assert TOOLS["get_agents_with_min_cases"](None, cases) == [k for k in held if held[k] == min(held.values())]


def test_months_of_years_are_merged_or_told_apart(original: Sandbox, policy: Sandbox) -> None:
    cases = [{"CreatedDate": f"{year}-03-01T00:00:00.000+0000"} for year in (2020, 2021, 2021)]
    count = TOOLS["get_month_to_case_count"]
    assert count(original, cases) == {"March": 3}
    assert count(policy, cases) == {"March 2020": 1, "March 2021": 2}
    assert count(policy, cases[1:]) == {"March": 2}
    assert count(original, []) == {}


@pytest.mark.parametrize(
    ("name", "year", "start", "end"),
    [
        ("January", 2021, "2021-01-01T00:00:00Z", "2021-02-01T00:00:00Z"),
        ("december", 2021, "2021-12-01T00:00:00Z", "2022-01-01T00:00:00Z"),
        ("Q1", 2020, "2020-01-01T00:00:00Z", "2020-04-01T00:00:00Z"),
        ("q4", "2020", "2020-10-01T00:00:00Z", "2021-01-01T00:00:00Z"),
        ("Spring", 2020, "2020-03-01T00:00:00Z", "2020-06-01T00:00:00Z"),
        ("Fall", 2020, "2020-09-01T00:00:00Z", "2020-12-01T00:00:00Z"),
        ("Winter", 2020, "2020-12-01T00:00:00Z", "2021-03-01T00:00:00Z"),
    ],
)
def test_periods(original: Sandbox, name: str, year: Any, start: str, end: str) -> None:
    assert TOOLS["get_period"](original, name, year) == {"start_date": start, "end_date": end}


def test_periods_that_are_none(original: Sandbox, policy: Sandbox) -> None:
    assert TOOLS["get_period"](original, "Autumn", 2020).startswith("Error: unknown period 'Autumn'")
    assert TOOLS["get_period"](policy, "Autumn", 2020) == TOOLS["get_period"](original, "Fall", 2020)
    assert TOOLS["get_period"](policy, "Q5", 2020).startswith("Error: unknown period")
    assert TOOLS["get_period"](policy, "Q1", 0).startswith("Error: get_period: year")
    assert TOOLS["get_period"](policy, "Q1").startswith("Error: get_period: missing")


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(lambda d: d.replace(microsecond=0)),
    st.sampled_from(["day", "week", "month", "quarter"]),
    st.integers(0, 60),
)
def test_starts_are_those_of_another_library(end: datetime, period: str, count: int) -> None:
    relativedelta = pytest.importorskip("dateutil.relativedelta").relativedelta
    unit, factor = {"day": ("days", 1), "week": ("weeks", 1), "month": ("months", 1), "quarter": ("months", 3)}[period]
    wanted = end - relativedelta(**{unit: factor * count})
    found = TOOLS["get_start_date"](None, end.strftime("%Y-%m-%dT%H:%M:%SZ"), period, count)
    assert found == wanted.strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    "given",
    [
        {"end_date": "yesterday", "period": "day", "interval_count": 1},
        {"end_date": START, "period": "year", "interval_count": 1},
        {"end_date": START, "period": "day", "interval_count": -1},
        {"end_date": "0001-01-02T00:00:00Z", "period": "month", "interval_count": 3},
        {"end_date": START},
        {"end_date": START, "period": "day", "interval_count": 1, "more": 2},
    ],
)
def test_wrong_arguments_are_answered(given: dict[str, Any]) -> None:
    assert TOOLS["get_start_date"](None, **given).startswith("Error: ")


def test_products_purchases_and_articles(original: Sandbox) -> None:
    shoes = TOOLS["search_products"](original, "pair")
    assert len(shoes) == 4
    order = next(o for o in ROWS["Order"] if o["Status"] == "Activated")
    bought = [i["Product2Id"] for i in ROWS["OrderItem"] if i["OrderId"] == order["Id"]]
    history = TOOLS["get_purchase_history"]
    found = history(original, order["AccountId"], order["EffectiveDate"], shoes)
    assert {row["Product2Id"] for row in found} == set(bought)
    assert history(original, order["AccountId"], f"{order['EffectiveDate']}T00:00:00Z", bought[:1])
    assert history(original, order["AccountId"], "1999-01-01", shoes) == []
    assert history(original, order["AccountId"], "soon", shoes).startswith("Error: 'soon' is no day")
    assert history(original, order["AccountId"], order["EffectiveDate"], []) == []
    draft = next(o for o in ROWS["Order"] if o["Status"] == "Draft")
    assert history(original, draft["AccountId"], draft["EffectiveDate"], shoes) == []
    articles = TOOLS["search_knowledge_articles"](original, "boots")
    assert [(a["Title"], list(a)) for a in articles] == [("Return Policy", ["Id", "Title", "Content"])]
    assert TOOLS["search_knowledge_articles"](original, "boots (30 days} \\") != []
    assert TOOLS["search_knowledge_articles"](original, "a").startswith("Error: INVALID_SEARCH")
    assert TOOLS["get_account_id_by_contact_id"](original, ident("003", 2)) == ident("001", 2)
    assert TOOLS["get_account_id_by_contact_id"](original, ident("003", 99)).startswith("Error: there is no contact")
    assert TOOLS["get_account_id_by_contact_id"](original, "nobody").startswith("Error: INVALID_QUERY_FILTER_OPERATOR")
    assert TOOLS["get_issues"](original) == [{"Id": i["Id"], "Name": i["Name"]} for i in ROWS["Issue__c"]]
    mails = TOOLS["get_email_messages_by_case_id"](original, ident("500", 0))
    assert [list(m) for m in mails] == [["Subject", "TextBody", "FromAddress", "ToAddress", "MessageDate"]] * 2
    assert TOOLS["get_livechat_transcript_by_case_id"](original, ident("500", 0)) == []


def test_queries_and_their_errors(original: Sandbox) -> None:
    assert TOOLS["issue_soql_query"](original, "SELECT COUNT() FROM Case") == [{"expr0": 80}]
    assert TOOLS["issue_soql_query"](original, "SELECT Nope FROM Case").startswith(
        "Error: INVALID_FIELD: \nSELECT Nope"
    )
    assert TOOLS["issue_sosl_query"](original, "FIND {boots} RETURNING Product2(Name)") == [{"Name": "Café Boots"}]
    assert TOOLS["issue_sosl_query"](original, "boots").startswith("Error: MALFORMED_SEARCH")


@settings(max_examples=60)
@given(st.sampled_from(NAMES), st.data())
def test_no_argument_is_a_surprise(original: Sandbox, name: str, data: st.DataObject) -> None:
    """Whatever an agent makes up, it gets an answer that can be written as JSON."""
    values = st.one_of(
        st.none(), st.text(max_size=12), st.integers(), st.just(START), st.just([{}]), st.just(["'"]), st.just({})
    )
    given_ = {key: data.draw(values) for key in DEFINITIONS[name].Arguments.model_fields}
    json.dumps(TOOLS[name](original, **given_))


def test_schemas_and_langchain(original: Sandbox) -> None:
    known = {schema["function"]["name"]: schema["function"] for schema in tools.schemas()}
    assert sorted(known) == sorted(NAMES)
    for function in known.values():
        assert len(function["description"]) > 20
        assert "title" not in function["parameters"]
        for argument in function["parameters"].get("properties", {}).values():
            assert argument["description"]
    assert known["get_start_date"]["parameters"]["required"] == ["end_date", "period", "interval_count"]
    assert [each["function"]["name"] for each in tools.schemas(["respond"])] == ["respond"]

    made = {tool.name: tool for tool in tools.langchain_tools(original)}
    assert sorted(made) == sorted(NAMES)
    assert made["get_period"].invoke({"period_name": "Q1", "year": 2020})["end_date"] == "2020-04-01T00:00:00Z"
    assert made["get_period"].invoke({"period_name": "Q1"}).startswith("Error: ")
    call = {"name": "get_issues", "args": {}, "id": "1", "type": "tool_call"}
    assert "Shipping Delay" in made["get_issues"].invoke(call).content
