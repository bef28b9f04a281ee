"""The reference solutions beside answers that are counted from the rows, under both readings."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from cxlab.benchmarks.crmarena import solvers
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.errors import BadOption, CxError, UnknownName
from tests.benchmarks.crmarena.small_organisation import add_history, ident, make_rows, when

ROWS = add_history(make_rows(7, cases=120))
CASES = ROWS["Case"]
MOVES = [row for row in ROWS["CaseHistory__c"] if row["Field__c"] == "Owner Assignment"]
WINDOWS = [
    ("2020-01-01T00:00:00Z", "2022-01-01T00:00:00Z"),
    ("2020-03-01T00:00:00Z", "2020-06-01T00:00:00Z"),
    ("1999-01-01T00:00:00Z", "2000-01-01T00:00:00Z"),
]
COMPATS = ["original", "policy"]


@pytest.fixture(scope="module")
def base() -> Sandbox:
    return Sandbox.of_tables(to_tables(ROWS, load_default()), today="2021-03-17")


def within(at: str, start: str, end: str, closed_end: bool = False) -> bool:
    return when(start) <= when(at) < when(end) or (closed_end and when(at) == when(end) >= when(start))


def extremes(values: Mapping[str, float], extreme: str) -> set[str]:
    wanted = {"min": min, "max": max}[extreme](values.values()) if values else None
    return {key for key, value in values.items() if value == wanted}


def qualified(compat: str, start: str, end: str, n: int) -> set[str]:
    original = compat == "original"
    inside = [m for m in MOVES if within(m["CreatedDate"], start, end, original)]
    counts = Counter(m["NewValue__c"] for m in inside if original or m["OldValue__c"] is None)
    return {agent for agent, count in counts.items() if count > n}


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize(("start", "end"), WINDOWS)
@pytest.mark.parametrize("extreme", ["min", "max"])
@pytest.mark.parametrize("n", [0, 3, 500])
def test_handle_times_and_transfers(base: Sandbox, compat: Any, start: str, end: str, extreme: Any, n: int) -> None:
    original = compat == "original"
    agents = qualified(compat, start, end, n)
    inside = [m for m in MOVES if within(m["CreatedDate"], start, end, original)]
    each = Counter(m["CaseId__c"] for m in inside)
    ever = Counter(m["CaseId__c"] for m in MOVES)
    untouched = {case for case, count in each.items() if count == 1 and (original or ever[case] == 1)}
    minutes: dict[str, list[float]] = defaultdict(list)
    for case in CASES:
        mine = case["Status"] == "Closed" and case["OwnerId"] in agents and case["Id"] in untouched
        if mine and within(case["CreatedDate"], start, end):
            spent = when(case["ClosedDate"]) - when(case["CreatedDate"])
            minutes[case["OwnerId"]].append(spent.total_seconds() / 60)
    means = {agent: sum(times) / len(times) for agent, times in minutes.items()}
    sandbox = base.under(compat)
    assert set(solvers.solve_handle_time(sandbox, start, end, n, extreme).answers) == extremes(means, extreme)

    counts = Counter(m["OldValue__c"] for m in inside if m["OldValue__c"] in agents)
    if not original:
        counts = Counter({agent: counts[agent] for agent in agents})
    wanted = extremes(counts, extreme) if extreme == "min" or any(counts.values()) else set()
    assert set(solvers.solve_transfer_count(sandbox, start, end, n, extreme).answers) == wanted


@pytest.mark.parametrize("compat", COMPATS)
@pytest.mark.parametrize(("start", "end"), WINDOWS)
def test_issues_months_and_regions(base: Sandbox, compat: Any, start: str, end: str) -> None:
    sandbox = base.under(compat)
    for product in (ident("01t", n) for n in (0, 3, 99)):
        items = {i["Id"] for i in ROWS["OrderItem"] if i["Product2Id"] == product}
        cases = [c for c in CASES if c["OrderItemId__c"] in items]
        ends = compat == "original"
        reported = [c for c in cases if within(c["CreatedDate"], start, end, ends)]
        issues = Counter(c["IssueId__c"] for c in reported if c["IssueId__c"])
        assert set(solvers.solve_top_issue(sandbox, product, start, end).answers) == extremes(issues, "max")
        opened = [when(c["CreatedDate"]) for c in cases if within(c["CreatedDate"], start, end)]
        if compat == "original":
            months = extremes(Counter(at.strftime("%B") for at in opened), "max")
        else:
            months = {at.split()[0] for at in extremes(Counter(at.strftime("%B %Y") for at in opened), "max")}
        assert set(solvers.solve_monthly_trend(sandbox, product, start, end).answers) == months
    states = {a["Id"]: a["ShippingState"] for a in ROWS["Account"]}
    seconds: dict[str, list[float]] = defaultdict(list)
    for case in CASES:
        if case["Status"] == "Closed" and within(case["CreatedDate"], start, end) and states.get(case["AccountId"]):
            spent = when(case["ClosedDate"]) - when(case["CreatedDate"])
            seconds[states[case["AccountId"]]].append(spent.total_seconds())
    means = {state: sum(times) / len(times) for state, times in seconds.items()}
    assert set(solvers.solve_best_region(sandbox, start, end).answers) == extremes(means, "min")


@pytest.mark.parametrize("compat", COMPATS)
def test_routing(base: Sandbox, compat: Any) -> None:
    sandbox = base.under(compat)
    for issue in (ident("a1M", n) for n in range(3)):
        closed = Counter(c["OwnerId"] for c in CASES if c["Status"] == "Closed" and c["IssueId__c"] == issue)
        answers = solvers.solve_case_routing(sandbox, issue, ident("01t", 0)).answers
        assert set(answers) <= extremes(closed, "max")
        assert bool(answers) == bool(closed)


def tied_rows() -> dict[str, list[dict[str, Any]]]:
    """Two agents level in issue and product; one has an open case, one an escalated one and one opened and dropped."""
    case = {"IssueId__c": ident("a1M", 0), "OrderItemId__c": ident("802", 0), "CreatedDate": "2020-01-01T00:00:00Z"}
    closed = {**case, "Status": "Closed", "ClosedDate": "2020-01-02T00:00:00Z"}
    busy = [{"Status": "Working"}, {"Status": "Escalated"}, {"Status": "Open"}]
    held = [(0, closed), (1, closed), *((0, each) for each in busy), (1, {"Status": "New"}), (2, {"Status": "Open"})]
    cases = [{**each, "Id": ident("500", n), "OwnerId": ident("005", who)} for n, (who, each) in enumerate(held)]
    return {"Case": cases, "OrderItem": [{"Id": ident("802", 0), "Product2Id": ident("01t", 0)}]}


def test_a_tie_goes_to_who_has_least_to_do() -> None:
    sandbox = Sandbox.of_tables(to_tables(tied_rows(), load_default()), today="2021-03-17")

    def answers(compat: Any) -> tuple[str, ...]:
        return solvers.solve_case_routing(sandbox.under(compat), ident("a1M", 0), ident("01t", 0)).answers

    assert answers("policy") == (ident("005", 1),)
    assert answers("original") == (ident("005", 0),), "the only one whom it sees with a case that is Open"


def test_products_that_were_bought_on_a_day(base: Sandbox) -> None:
    order = next(o for o in ROWS["Order"] if o["Status"] == "Activated" and o["EffectiveDate"] == "2020-02-11")
    contact = next(c["Id"] for c in ROWS["Contact"] if c["AccountId"] == order["AccountId"])
    bought = {i["Product2Id"] for i in ROWS["OrderItem"] if i["OrderId"] == order["Id"]}
    found = solvers.solve_named_entity(base.at("2020-03-11"), contact, "pair", "month", 1)
    assert set(found.answers) == bought
    assert [step.tool for step in found.steps][-1] == "get_purchase_history"
    assert solvers.solve_named_entity(base.at("2020-03-12"), contact, "pair", "month", 1).answer is None
    assert solvers.solve_named_entity(base, contact, "telephone", "month", 1).answer is None
    with pytest.raises(CxError, match="there is no contact"):
        solvers.solve_named_entity(base, ident("003", 77), "pair", "month", 1)


def find_window(base: Sandbox, *period: Any, **named: Any) -> tuple[str, str]:
    return solvers._find_window(solvers._Path(base), *period, **named)


def test_windows(base: Sandbox) -> None:
    assert find_window(base, "quarter", 2) == ("2020-09-17T00:00:00Z", "2021-03-17T00:00:00Z")
    assert find_window(base, name="Winter", year=2020) == (
        "2020-12-01T00:00:00Z",
        "2021-03-01T00:00:00Z",
    )


def test_steps_tell_how_the_answer_came_about(base: Sandbox) -> None:
    found = solvers.solve_best_region(base, *WINDOWS[0])
    assert [step.tool for step in found.steps] == [
        "get_cases",
        "get_shipping_state",
        "calculate_region_average_closure_times",
        "find_id_with_min_value",
    ]
    assert found.steps[-1].result == list(found.answers)
    assert found.steps[0].arguments["statuses"] == ["Closed"]


def test_a_question_is_solved_by_its_task_and_arguments(base: Sandbox) -> None:
    named = solvers.solve(base, "best_region_identification", {"window": {"name": "Q2", "year": 2020}})
    start, end = find_window(base, name="Q2", year=2020)
    plain = solvers.solve_best_region(base, start, end)
    assert named.answers == plain.answers
    assert [step.tool for step in named.steps] == ["get_period", *(step.tool for step in plain.steps)]
    past = {"window": {"period": "quarter", "count": 3}, "more_than": 0, "extreme": "min"}
    found = solvers.solve(base, "handle_time", past)
    assert found.answers == solvers.solve_handle_time(base, *find_window(base, "quarter", 3), 0, "min").answers
    assert found.steps[0].tool == "get_start_date"
    with pytest.raises(UnknownName):
        solvers.solve(base, "knowledge_qa", {})
    for wrong in ({}, {**past, "depth": 3}, {**past, "window": {"since": 3}}):
        with pytest.raises(BadOption, match="handle_time"):
            solvers.solve(base, "handle_time", wrong)
