"""What the engine answers, beside SQLite on the same rows and beside what the product is known to answer."""

import sqlite3
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.soql import QueryError
from cxlab.benchmarks.crmarena.soql.date_literals import days_of
from tests.benchmarks.crmarena.small_organisation import STATUSES, WORDS, Rows, ident

SCHEMA = load_default()


@pytest.fixture(scope="session")
def sqlite(rows: Rows) -> sqlite3.Connection:
    """The same rows in another database, as text and numbers; nobody ticked what is null."""
    con = sqlite3.connect(":memory:", check_same_thread=False)
    for name, frame in to_tables(rows, SCHEMA).items():
        con.execute(f'CREATE TABLE "{name}" ({", ".join(frame.columns)})')
        marks = ", ".join("?" * frame.width)
        con.executemany(
            f'INSERT INTO "{name}" VALUES ({marks})', [[plain(v) for v in row] for row in frame.iter_rows()]
        )
    con.create_function("low", 1, lambda text: None if text is None else str(text).lower())
    return con


def plain(value: Any) -> Any:
    if isinstance(value, bool | str | int | float) or value is None:
        return value
    return value.strftime("%Y-%m-%dT%H:%M:%S") if hasattr(value, "hour") else value.isoformat()


# --- conditions: a SOQL text and what it means in SQL with two truth values

FIELDS = {
    "Subject": ("text", WORDS),
    "Status": ("text", STATUSES),
    "Priority": ("text", ("High", "Low")),
    "Account.ShippingState": ("text", ("GA", "CA", "tx")),
    "OwnerId": ("id", tuple(ident("005", i) for i in range(5))),
    "CreatedDate": ("time", ("2020-06-01T00:00:00", "2021-02-10T12:30:00")),
    "OrderItemId__r.Quantity": ("number", ("1", "2.5", "4")),
    "OrderItemId__r.UnitPrice": ("number", ("9.5", "129.99")),
}
COLUMNS = {
    "Account.ShippingState": "a.ShippingState",
    "OrderItemId__r.Quantity": "i.Quantity",
    "OrderItemId__r.UnitPrice": "i.UnitPrice",
}
FROM = 'FROM "Case" c LEFT JOIN Account a ON a.Id = c.AccountId LEFT JOIN OrderItem i ON i.Id = c.OrderItemId__c'


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def sql_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@st.composite
def comparisons(draw: Callable[..., Any]) -> tuple[str, str]:
    field = draw(st.sampled_from(sorted(FIELDS)))
    kind, values = FIELDS[field]
    column = COLUMNS.get(field, f"c.{field}")
    folded = f"low({column})" if kind == "text" else column
    write = {
        "text": lambda v: (quoted(v), sql_quoted(v.lower())),
        "id": lambda v: (quoted(v), sql_quoted(v)),
        "number": lambda v: (v, v),
        "time": lambda v: (v + "Z", sql_quoted(v)),
    }[kind]
    what = draw(st.sampled_from(["=", "!=", "<", ">=", "null", "not null", "in", "not in", "like"]))
    if what in ("null", "not null"):
        return f"{field} {'!=' if what == 'not null' else '='} NULL", f"({column} IS {'NOT ' * (what != 'null')}NULL)"
    if what in ("in", "not in"):
        chosen = draw(st.lists(st.sampled_from(values), min_size=1, max_size=60))
        pairs = [write(value) for value in chosen if value]
        if not pairs:
            return "Id != NULL", "(1 = 1)"
        found = f"ifnull({folded} IN ({', '.join(pair[1] for pair in pairs)}), 0)"
        text = f"{field} {what.upper()} ({', '.join(pair[0] for pair in pairs)})"
        return text, found if what == "in" else f"(NOT {found})"
    value = draw(st.sampled_from(values))
    if what == "like" and kind == "text":
        start, end = sorted((draw(st.integers(0, len(value))), draw(st.integers(0, len(value)))))
        piece, marks = value[start:end], draw(st.sampled_from([("%", "%"), ("", "%"), ("%", ""), ("", ""), ("_", "%")]))
        guarded = piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        literal = guarded.replace("'", "\\'")
        pattern = sql_quoted(marks[0] + guarded.lower() + marks[1])
        # Python's letters, not those of ASCII alone.
        return f"{field} LIKE '{marks[0]}{literal}{marks[1]}'", f"ifnull({folded} LIKE {pattern} ESCAPE '\\', 0)"
    operator = what if what in ("=", "!=", "<", ">=") else "="
    if not value:
        return f"{field} = ''", f"({column} IS NULL)"
    text, sql = write(value)
    if kind == "id" and operator in ("<", ">="):
        operator = "="
    if operator == "!=":
        return f"{field} != {text}", f"ifnull({folded} != {sql}, 1)"
    return f"{field} {operator} {text}", f"ifnull({folded} {operator} {sql}, 0)"


def joined(children: st.SearchStrategy[tuple[str, str]]) -> st.SearchStrategy[tuple[str, str]]:
    def join(joint: str, parts: list[tuple[str, str]]) -> tuple[str, str]:
        return f" {joint} ".join(f"({p[0]})" for p in parts), f" {joint} ".join(f"({p[1]})" for p in parts)

    many = st.builds(join, st.sampled_from(["AND", "OR"]), st.lists(children, min_size=2, max_size=4))
    return many | children.map(lambda part: (f"NOT ({part[0]})", f"NOT ({part[1]})"))


CONDITIONS = st.recursive(comparisons(), joined, max_leaves=8)
ORDERS = {
    "CreatedDate": "c.CreatedDate",
    "Subject": "low(c.Subject)",
    "Account.ShippingState": "low(a.ShippingState)",
    "OrderItemId__r.UnitPrice": "i.UnitPrice",
}


@settings(max_examples=100)
@given(
    CONDITIONS,
    st.lists(st.tuples(st.sampled_from(sorted(ORDERS)), st.booleans(), st.booleans()), max_size=2),
    st.integers(0, 70),
    st.integers(0, 10),
)
def test_records_are_those_of_sqlite(
    sandbox: Sandbox,
    sqlite: sqlite3.Connection,
    condition: tuple[str, str],
    orders: list[tuple[str, bool, bool]],
    limit: int,
    offset: int,
) -> None:
    by = [f"{f} {'DESC' if d else 'ASC'} NULLS {'LAST' if n else 'FIRST'}" for f, d, n in orders]
    sql_by = [f"{ORDERS[f]} {'DESC' if d else 'ASC'} NULLS {'LAST' if n else 'FIRST'}" for f, d, n in orders]
    order = f" ORDER BY {', '.join(by)}" if by else ""
    text = (
        f"SELECT Id, Subject, Account.ShippingState FROM Case WHERE {condition[0]}{order} LIMIT {limit} OFFSET {offset}"
    )
    sql = (
        f"SELECT c.Id, c.Subject, a.Id, a.ShippingState {FROM} WHERE {condition[1]} "
        f"ORDER BY {', '.join([*sql_by, 'c.rowid'])} LIMIT {limit} OFFSET {offset}"
    )
    wanted = [
        {"Id": id_, "Subject": subject, "Account": {"ShippingState": state} if account else None}
        for id_, subject, account, state in sqlite.execute(sql)
    ]
    assert sandbox.soql(text) == wanted
    count = sqlite.execute(f"SELECT count(*) {FROM} WHERE {condition[1]}").fetchone()[0]
    assert sandbox.soql(f"SELECT COUNT() FROM Case WHERE {condition[0]}") == [{"expr0": count}]


GROUPS = {
    "Status": "c.Status",
    "Account.ShippingState": "a.ShippingState",
    "CALENDAR_MONTH(CreatedDate)": "CAST(substr(c.CreatedDate, 6, 2) AS INT)",
    "HOUR_IN_DAY(CreatedDate)": "CAST(substr(c.CreatedDate, 12, 2) AS INT)",
    "DAY_ONLY(CreatedDate)": "substr(c.CreatedDate, 1, 10)",
    "DAY_IN_WEEK(CreatedDate)": "CAST(strftime('%w', c.CreatedDate) AS INT) + 1",
    "OwnerId": "c.OwnerId",
}
SUMS = {
    "COUNT(Id)": "count(c.Id)",
    "COUNT(IssueId__c)": "count(c.IssueId__c)",
    "COUNT_DISTINCT(OwnerId)": "count(DISTINCT c.OwnerId)",
    "SUM(OrderItemId__r.Quantity)": "sum(i.Quantity)",
    "AVG(OrderItemId__r.Quantity)": "avg(i.Quantity)",
    "MAX(OrderItemId__r.UnitPrice)": "max(i.UnitPrice)",
    "MIN(CreatedDate)": "min(c.CreatedDate) || '.000+0000'",
}


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(sorted(GROUPS)), min_size=1, max_size=2, unique=True),
    st.lists(st.sampled_from(sorted(SUMS)), min_size=1, max_size=3, unique=True),
    comparisons(),
    st.integers(0, 3),
)
def test_groups_are_those_of_sqlite(
    sandbox: Sandbox, sqlite: sqlite3.Connection, by: list[str], sums: list[str], where: tuple[str, str], least: int
) -> None:
    selected = [*(f"{each} g{n}" for n, each in enumerate(by)), *(f"{each} s{n}" for n, each in enumerate(sums))]
    text = (
        f"SELECT {', '.join(selected)} FROM Case WHERE {where[0]} GROUP BY {', '.join(by)} HAVING COUNT(Id) > {least} "
        f"ORDER BY COUNT(Id) DESC"
    )
    keys = ", ".join(GROUPS[each] for each in by)
    sql = (
        f"SELECT {keys}, {', '.join(SUMS[each] for each in sums)} {FROM} WHERE {where[1]} GROUP BY {keys} "
        f"HAVING count(*) > {least}"
    )
    found = [tuple(record.values()) for record in sandbox.soql(text)]
    wanted = sqlite.execute(sql).fetchall()
    assert sorted(map(rounded, found), key=repr) == sorted(map(rounded, wanted), key=repr)
    counts = [r["n"] for r in sandbox.soql(f"{text.replace(' FROM', ', COUNT(Id) n FROM', 1)}")]
    assert counts == sorted(counts, reverse=True)


def rounded(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(round(float(v), 6) if isinstance(v, int | float) else v for v in row)


@pytest.mark.parametrize(("kind", "sets"), [("ROLLUP", ((0, 1), (0,), ())), ("CUBE", ((0, 1), (0,), (1,), ()))])
def test_sums_of_sums(
    sandbox: Sandbox, sqlite: sqlite3.Connection, kind: str, sets: tuple[tuple[int, ...], ...]
) -> None:
    fields = ("c.Status", "c.Priority")
    text = f"SELECT Status, Priority, GROUPING(Status) a, GROUPING(Priority) b, COUNT(Id) n FROM Case GROUP BY {kind}"
    found = [tuple(record.values()) for record in sandbox.soql(f"{text}(Status, Priority)")]
    wanted = []
    for kept in sets:
        columns = ", ".join(f if n in kept else "NULL" for n, f in enumerate(fields))
        group = f"GROUP BY {', '.join(fields[n] for n in kept)}" if kept else ""
        for row in sqlite.execute(f"SELECT {columns}, count(*) {FROM} {group}"):
            wanted.append((row[0], row[1], int(0 not in kept), int(1 not in kept), row[2]))
    assert sorted(found, key=repr) == sorted(wanted, key=repr)
    ordered = sandbox.soql(f"{text}(Status, Priority) ORDER BY GROUPING(Priority) DESC, COUNT(Id) DESC")
    assert [(-r["b"], -r["n"]) for r in ordered] == sorted((-row[3], -row[4]) for row in wanted)


def test_children_are_those_of_their_parents(sandbox: Sandbox, sqlite: sqlite3.Connection) -> None:
    text = (
        "SELECT Id, (SELECT Id, Owner.FirstName FROM Cases WHERE Status = 'closed' ORDER BY CreatedDate DESC LIMIT 2) "
        "FROM Account ORDER BY Id"
    )
    for record in sandbox.soql(text):
        wanted = sqlite.execute(
            'SELECT c.Id, u.FirstName FROM "Case" c JOIN User u ON u.Id = c.OwnerId WHERE c.AccountId = ? '
            "AND c.Status = 'Closed' ORDER BY c.CreatedDate DESC LIMIT 2",
            [record["Id"]],
        ).fetchall()
        if not wanted:
            assert record["Cases"] is None
            continue
        assert (record["Cases"]["totalSize"], record["Cases"]["done"]) == (len(wanted), True)
        assert [(r["Id"], r["Owner"]["FirstName"]) for r in record["Cases"]["records"]] == wanted


def test_children_of_children(sandbox: Sandbox) -> None:
    found = sandbox.soql("SELECT Name, (SELECT Id, (SELECT Subject FROM EmailMessages) FROM Cases) FROM Account")
    emails = [e for a in found for c in (a["Cases"] or {"records": []})["records"] for e in [c["EmailMessages"]] if e]
    reached = sandbox.soql("SELECT COUNT() FROM EmailMessage WHERE Parent.AccountId != null")[0]["expr0"]
    assert sum(each["totalSize"] for each in emails) == reached


@pytest.mark.parametrize("operator", ["IN", "NOT IN"])
def test_semi_and_anti_joins(sandbox: Sandbox, sqlite: sqlite3.Connection, operator: str) -> None:
    text = (
        f"SELECT Id FROM Account WHERE Id {operator} (SELECT AccountId FROM Case WHERE Owner.LastName = 'LEE' AND "
        f"Status != 'Closed') AND FirstName != 'Cust0' ORDER BY Id"
    )
    inner = (
        'SELECT c.AccountId FROM "Case" c JOIN User u ON u.Id = c.OwnerId '
        "WHERE u.LastName = 'Lee' AND c.Status != 'Closed'"
    )
    sql = f"SELECT Id FROM Account WHERE Id {operator} ({inner} AND c.AccountId IS NOT NULL) AND FirstName != 'Cust0'"
    assert [r["Id"] for r in sandbox.soql(text)] == [r[0] for r in sqlite.execute(sql + " ORDER BY Id")]


# --- relative dates


@given(st.dates(date(1990, 1, 1), date(2050, 12, 31)), st.integers(0, 40))
def test_relative_days_follow_from_their_definition(today: date, n: int) -> None:
    day = timedelta(1)
    assert days_of("TODAY", None, today) == (today, today + day)
    assert days_of("LAST_N_DAYS", n, today) == (today - n * day, today + day)
    assert days_of("NEXT_N_DAYS", n, today) == (today + day, today + (n + 1) * day)
    assert days_of("N_DAYS_AGO", n, today) == (today - n * day, today - (n - 1) * day)
    for unit, length in (("WEEK", 7), ("MONTH", None), ("QUARTER", None), ("YEAR", None), ("FISCAL_QUARTER", None)):
        first, end = days_of(f"THIS_{unit}", None, today)
        assert first <= today < end
        assert length is None or (end - first).days == length
        assert days_of(f"LAST_{unit}", None, today)[1] == first
        assert days_of(f"NEXT_{unit}", None, today)[0] == end
        assert days_of(f"LAST_N_{unit}S", n, today)[1] == first
        assert days_of(f"N_{unit}S_AGO", n, today)[0] == days_of(f"LAST_N_{unit}S", n, today)[0]
        assert days_of(f"NEXT_N_{unit}S", 1, today) == days_of(f"NEXT_{unit}", None, today)
    assert days_of("THIS_WEEK", None, today)[0].isoweekday() == 7
    assert days_of("THIS_MONTH", None, today)[0].day == 1


@pytest.mark.parametrize(
    ("literal", "first", "end"),
    [
        ("LAST_N_QUARTERS:2", "2020-07-01", "2021-01-01"),
        ("THIS_QUARTER", "2021-01-01", "2021-04-01"),
        ("LAST_N_MONTHS:3", "2020-12-01", "2021-03-01"),
        ("LAST_WEEK", "2021-03-07", "2021-03-14"),
        ("LAST_90_DAYS", "2020-12-17", "2021-03-18"),
        ("N_YEARS_AGO:1", "2020-01-01", "2021-01-01"),
    ],
)
def test_relative_dates_are_seen_from_today(sandbox: Sandbox, literal: str, first: str, end: str) -> None:
    def ids(condition: str) -> list[str]:
        return [r["Id"] for r in sandbox.soql(f"SELECT Id FROM Case WHERE {condition}")]

    within = f"CreatedDate >= {first}T00:00:00Z AND CreatedDate < {end}T00:00:00Z"
    assert ids(f"CreatedDate = {literal}") == ids(within)
    assert ids(f"CreatedDate != {literal}") == ids(f"NOT ({within})")
    assert ids(f"CreatedDate < {literal}") == ids(f"CreatedDate < {first}T00:00:00Z")
    assert ids(f"CreatedDate >= {literal}") == ids(f"CreatedDate >= {first}T00:00:00Z")
    assert ids(f"CreatedDate > {literal}") == ids(f"CreatedDate >= {end}T00:00:00Z")
    assert ids(f"CreatedDate <= {literal}") == ids(f"CreatedDate < {end}T00:00:00Z")
    assert ids(f"CreatedDate IN ({literal})") == ids(within)
    assert sandbox.at("1999-01-01").soql(f"SELECT Id FROM Case WHERE CreatedDate = {literal}") == []


# --- the product's shapes and codes


def test_shapes(sandbox: Sandbox) -> None:
    assert sandbox.soql("SELECT Id FROM Case WHERE Id = null") == []
    case = sandbox.soql(
        "SELECT CreatedDate, ClosedDate, Account.Name, Owner.Type FROM Case WHERE AccountId != null LIMIT 1"
    )[0]
    assert set(case) == {"CreatedDate", "ClosedDate", "Account", "Owner"}
    assert case["CreatedDate"].endswith(":30:00.000+0000")
    assert case["Owner"] == {"Type": "User"}
    assert sandbox.soql("SELECT EffectiveDate FROM Order LIMIT 1") == [{"EffectiveDate": "2020-01-10"}]
    assert sandbox.soql("SELECT ToIds FROM EmailMessage LIMIT 1") == [{"ToIds": [ident("003", 0)]}]
    assert sandbox.soql("SELECT IsActive FROM Product2") == [{"IsActive": v} for v in (True, False, False, True)]
    found = sandbox.soql("SELECT MAX(Quantity), COUNT(Id), MIN(Quantity) low, SUM(Quantity) FROM OrderItem")
    assert list(found[0]) == ["expr0", "expr1", "low", "expr2"]
    told = sandbox.soql("SELECT Id, Account.Id FROM Contact LIMIT 1", attributes=True)[0]
    assert told["attributes"]["type"] == "Contact"
    assert told["Account"]["attributes"]["url"].endswith(f"/sobjects/Account/{told['Account']['Id']}")
    assert sandbox.soql("SELECT COUNT(Id) FROM Case", attributes=True)[0]["attributes"] == {"type": "AggregateResult"}
    assert sandbox.soql("SELECT TYPEOF Owner WHEN User THEN FirstName ELSE Name END FROM Case LIMIT 1")[0][
        "Owner"
    ].keys() == {"FirstName"}
    assert set(sandbox.soql("SELECT FIELDS(CUSTOM) FROM Case LIMIT 1")[0]) == {"OrderItemId__c", "IssueId__c"}
    formatted = sandbox.soql(
        "SELECT FORMAT(UnitPrice) p, FORMAT(OrderId) o FROM OrderItem WHERE UnitPrice = 129.99 LIMIT 1"
    )
    assert formatted[0]["p"] == "129.99"


def test_groups_can_be_formatted_and_amounts_add_up_exactly(sandbox: Sandbox) -> None:
    (first,) = sandbox.soql("SELECT MIN(CreatedDate) at FROM Case")
    (told,) = sandbox.soql("SELECT FORMAT(MIN(CreatedDate)) at FROM Case")
    year, month, day = map(int, first["at"][:10].split("-"))
    assert told["at"].startswith(f"{month}/{day}/{year} ")
    rows = sandbox.soql("SELECT Status, FORMAT(MAX(CreatedDate)) FROM Case GROUP BY Status")
    assert [list(row) for row in rows] == [["Status", "expr0"]] * len(rows)
    items = sandbox.soql("SELECT UnitPrice FROM OrderItem WHERE UnitPrice != NULL")
    prices = [Decimal(str(row["UnitPrice"])) for row in items]
    (whole,) = sandbox.soql("SELECT SUM(UnitPrice) s, SUM(convertCurrency(UnitPrice)) c FROM OrderItem")
    assert whole["s"] == whole["c"] == float(sum(prices))


CLAUSES = (
    "SELECT {0} FROM {1}",
    "SELECT Id FROM {1} WHERE {0} = null",
    "SELECT Id FROM {1} WHERE {0} != null AND (NOT {0} = null)",
    "SELECT Id FROM {1} ORDER BY {0} DESC NULLS LAST",
    "SELECT {0} x, COUNT(Id) FROM {1} GROUP BY {0} HAVING {0} != null ORDER BY {0}",
    "SELECT COUNT({0}), COUNT_DISTINCT({0}) FROM {1}",
    "SELECT MIN({0}), MAX({0}) FROM {1}",
    "SELECT {0} x FROM {1} GROUP BY CUBE({0})",
)


@pytest.mark.parametrize("name", list(SCHEMA.objects))
def test_every_field_in_every_clause(sandbox: Sandbox, name: str) -> None:
    """Each is answered, or refused because of what it is."""
    info = SCHEMA.objects[name]
    paths = [*info.fields, *(f"{way.reference.path}.Id" for way in info.references if way.reference)]
    paths += [f"{way.reference.path}.Type" for way in info.references if way.reference and way.reference.polymorphic]
    for path in paths:
        for clause in CLAUSES:
            try:
                assert isinstance(sandbox.soql(clause.format(path, name)), list)
            except QueryError as fault:
                refused = ("can not be", "does not support", "invalid operator", "no list", "cannot be grouped")
                if not any(word in fault.problem for word in refused):
                    raise


def test_a_short_id_is_as_good_as_a_long_one(sandbox: Sandbox) -> None:
    long = ident("500", 3)
    assert sandbox.soql(f"SELECT Id FROM Case WHERE Id = '{long[:15]}'") == [{"Id": long}]


def test_case_does_not_matter(sandbox: Sandbox) -> None:
    found = sandbox.soql("select ID, account.NAME from CASE where STATUS = 'NEW' and account.name like 'cust%' limit 1")
    assert list(found[0]) == ["Id", "Account"]
    assert found == sandbox.soql(
        "SELECT Id, Account.Name FROM Case WHERE Status = 'New' AND Account.Name LIKE 'Cust%' LIMIT 1"
    )


def test_the_objects_own_name_and_aliases_lead_a_path(sandbox: Sandbox) -> None:
    one = sandbox.soql("SELECT OrderItem.Order.Status FROM OrderItem WHERE OrderItem.Order.EffectiveDate > 2020-05-01")
    two = sandbox.soql("SELECT o.Status FROM OrderItem i, i.Order o WHERE o.EffectiveDate > 2020-05-01")
    assert one == two
    assert one[0] == {"Order": {"Status": "Activated"}}


def test_values_of_several_parts(rows: Rows) -> None:
    fields = dict(SCHEMA.objects["Case"].fields)
    from dataclasses import replace

    fields["Channel"] = replace(fields["Channel"], type="multipicklist")
    objects = dict(SCHEMA.objects) | {"Case": replace(SCHEMA.objects["Case"], fields=fields)}
    schema = replace(SCHEMA, objects=objects)
    given_rows = [{"Id": ident("500", i), "Channel": v} for i, v in enumerate(("Web;Phone", "phone", None, "Chat"))]
    sandbox = Sandbox.of_tables(to_tables({"Case": given_rows}, schema), schema, today=date(2020, 1, 1))

    def numbers(condition: str) -> list[int]:
        found = sandbox.soql(f"SELECT Id FROM Case WHERE Channel {condition}")
        return [[r["Id"] for r in given_rows].index(each["Id"]) for each in found]

    assert numbers("INCLUDES ('phone')") == [0, 1]
    assert numbers("INCLUDES ('web;phone', 'chat')") == [0, 3]
    assert numbers("EXCLUDES ('phone')") == [2, 3]


REFUSED = [
    ("SELECT Id FROM Case WHERE Description = 'x'", "INVALID_FIELD", 27, "field 'Description' can not be filtered"),
    ("SELECT Id FROM Case ORDER BY Description", "INVALID_FIELD", 30, "can not be sorted"),
    ("SELECT COUNT(Id) FROM Case GROUP BY CreatedDate", "INVALID_FIELD", 37, "can not be grouped"),
    ("SELECT Id, Nope FROM Case", "INVALID_FIELD", 12, "No such column 'Nope' on entity 'Case'"),
    ("SELECT Account.Nope FROM Case", "INVALID_FIELD", 8, "No such column 'Nope' on entity 'Account'"),
    ("SELECT Product2Id FROM Case", "INVALID_FIELD", 8, "No such column 'Product2Id' on entity 'Case'"),
    ("SELECT Nope.Name FROM Case", "INVALID_FIELD", 8, "Didn't understand relationship 'Nope'"),
    ("SELECT Id FROM Nope", "INVALID_TYPE", 16, "sObject type 'Nope' is not supported"),
    ("SELECT Id, (SELECT Id FROM Case) FROM Account", "INVALID_TYPE", 28, "Didn't understand relationship 'Case'"),
    ("SELECT Id FROM Case WHERE CreatedDate > '2020-01-01'", "INVALID_FIELD", 41, "must be of type dateTime"),
    ("SELECT Id FROM Case WHERE CreatedDate > 2020-01-01", "INVALID_FIELD", 41, "must be of type dateTime"),
    ("SELECT Id FROM Order WHERE EffectiveDate = 2020-01-01T00:00:00Z", "INVALID_FIELD", 44, "must be of type date"),
    ("SELECT Id FROM Case WHERE Status = 1", "INVALID_FIELD", 36, "must be of type string and should be enclosed"),
    ("SELECT Id FROM OrderItem WHERE Quantity = '2'", "INVALID_FIELD", 43, "must be of type double"),
    ("SELECT Id FROM Product2 WHERE IsActive = 1", "INVALID_FIELD", 42, "must be of type boolean"),
    ("SELECT Id FROM Case WHERE Id = 'x'", "INVALID_QUERY_FILTER_OPERATOR", 32, "invalid ID field: x"),
    ("SELECT Id FROM Case WHERE OwnerId LIKE '005%'", "INVALID_FIELD", 40, "invalid operator on id field"),
    ("SELECT Id FROM Case WHERE Status INCLUDES ('x')", "INVALID_QUERY_FILTER_OPERATOR", 34, "several values"),
    ("SELECT Status FROM Case GROUP BY OwnerId", "MALFORMED_QUERY", 8, "Field must be grouped or aggregated: Status"),
    ("SELECT Id, COUNT(Id) FROM Case", "MALFORMED_QUERY", 8, "Field must be grouped or aggregated: Id"),
    ("SELECT COUNT(Id) FROM Case LIMIT 3", "MALFORMED_QUERY", 1, "cannot also use LIMIT"),
    ("SELECT COUNT(), Id FROM Case", "MALFORMED_QUERY", 8, "COUNT() stands alone"),
    ("SELECT COUNT(Id) n, MAX(Id) n FROM Case", "MALFORMED_QUERY", 21, "duplicate alias: n"),
    ("SELECT Id, id FROM Case", "MALFORMED_QUERY", 12, "duplicate field selected: Id"),
    ("SELECT Subject s FROM Case", "MALFORMED_QUERY", 8, "only aggregate expressions use field aliasing"),
    ("SELECT SUM(Status) FROM Case", "INVALID_FIELD", 8, "does not support aggregate operator SUM"),
    ("SELECT NOW(Id) FROM Case", "MALFORMED_QUERY", 8, "Invalid function: NOW"),
    ("SELECT getenv(Id) FROM Case", "MALFORMED_QUERY", 8, "Invalid function: GETENV"),
    ("SELECT FIELDS(ALL) FROM Case", "MALFORMED_QUERY", 8, "LIMIT of at most 200"),
    ("SELECT TYPEOF Account WHEN Account THEN Id END FROM Case", "MALFORMED_QUERY", 8, "TYPEOF takes a relationship"),
    ("SELECT Id FROM Case WHERE COUNT(Id) > 1", "MALFORMED_QUERY", 27, "HAVING, not in WHERE"),
    ("SELECT COUNT(Id) n FROM Case GROUP BY Status ORDER BY n", "INVALID_FIELD", 55, "No such column 'n'"),
    ("SELECT COUNT(Id) FROM Case GROUP BY Status HAVING OwnerId = null", "MALFORMED_QUERY", 51, "Having field must"),
    ("SELECT Id FROM Case WHERE Id IN (SELECT Id FROM Account)", "MALFORMED_QUERY", 41, "refer to the same type"),
    ("SELECT Id FROM Case WHERE Status IN (SELECT Id FROM Account)", "INVALID_FIELD", 27, "compared with an id field"),
    (
        "SELECT Id FROM Case WHERE Status = 'a' OR AccountId IN (SELECT Id FROM Account)",
        "MALFORMED_QUERY",
        53,
        "not allowed with the 'OR' operator",
    ),
    (
        "SELECT Id FROM Case WHERE AccountId IN (SELECT Id FROM Account WHERE Id IN (SELECT AccountId FROM Case))",
        "MALFORMED_QUERY",
        77,
        "Nesting of semi join",
    ),
    ("SELECT Id FROM Case WHERE AccountId IN (SELECT Id FROM Account LIMIT 1)", "MALFORMED_QUERY", 41, "no GROUP BY"),
    ("SELECT Id FROM Case LIMIT 1 OFFSET 2001", "NUMBER_OUTSIDE_VALID_RANGE", 36, "offset allowed is 2000"),
    ("SELECT Id FROM Case WHERE CreatedDate = LAST_N_DAYS:999999999", "NUMBER_OUTSIDE_VALID_RANGE", 41, "out of range"),
    ("SELECT CALENDAR_YEAR(Subject) FROM Case", "INVALID_FIELD", 8, "cannot be used with the field Subject"),
]


@pytest.mark.parametrize(("text", "code", "column", "told"), REFUSED, ids=[each[0] for each in REFUSED])
def test_refused_with_the_products_code(sandbox: Sandbox, text: str, code: str, column: int, told: str) -> None:
    with pytest.raises(QueryError) as caught:
        sandbox.soql(text)
    assert (caught.value.code, caught.value.row, caught.value.column) == (code, 1, column)
    assert told in caught.value.problem
