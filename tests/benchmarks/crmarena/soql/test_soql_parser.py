"""The grammar takes what the product takes and refuses the rest at the right place, quickly and whatever comes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena.soql import QueryError, parse
from cxlab.benchmarks.crmarena.soql.syntax import And, AnyOf, Comparison, Not, Or, Path, Query, Search, Without, Words

ACCEPTED = [
    "SELECT Id FROM Case",
    "select id from CASE",
    "SELECT COUNT() FROM Case",
    "SELECT COUNT(Id) n, OwnerId FROM Case GROUP BY OwnerId HAVING COUNT(Id) > 1 ORDER BY COUNT(Id) DESC NULLS LAST",
    "SELECT Id, (SELECT Id FROM Cases WHERE Status != NULL ORDER BY CreatedDate LIMIT 2) FROM Account",
    "SELECT Id FROM Order ORDER BY EffectiveDate DESC, Id",
    "SELECT c.Id, a.Name FROM Contact c, c.Account a WHERE a.Name = 'x'",
    "SELECT Id FROM Case WHERE (NOT Subject LIKE 'a%') AND (Status IN ('a', 'b') OR Priority NOT IN ('c'))",
    "SELECT Id FROM Case WHERE NOT (Status = 'a')",
    "SELECT Id FROM Case WHERE CreatedDate >= 2020-01-01T00:00:00Z AND CreatedDate < 2020-01-01T00:00:00.000+0200",
    "SELECT Id FROM Order WHERE EffectiveDate = 2020-01-31 OR EffectiveDate = LAST_N_DAYS:30 OR EffectiveDate > TODAY",
    "SELECT Id FROM Case WHERE Id IN (SELECT CaseId FROM LiveChatTranscript)",
    "SELECT Id FROM Case WHERE MSP__c INCLUDES ('a;b', 'c') AND MSP__c EXCLUDES ('d')",
    "SELECT TYPEOF Owner WHEN User THEN FirstName, Email WHEN Group THEN Name ELSE Name END, Id FROM Case",
    "SELECT FIELDS(STANDARD) FROM Case LIMIT 200 OFFSET 3",
    "SELECT DAY_ONLY(convertTimezone(CreatedDate)) y FROM Case GROUP BY DAY_ONLY(convertTimezone(CreatedDate))",
    "SELECT Status, COUNT(Id) FROM Case GROUP BY ROLLUP(Status, Priority)",
    "SELECT Status FROM Case GROUP BY CUBE(Status)",
    "SELECT Id FROM Case USING SCOPE everything WHERE Id = null WITH SECURITY_ENFORCED LIMIT 1 FOR VIEW",
    "SELECT Id FROM Knowledge__kav LIMIT 1 UPDATE TRACKING",
    "SELECT Id FROM Case WHERE Subject = 'it\\'s \\\"\\n\\u00e9' AND IsActive = TRUE",
    "SELECT Id FROM Case WHERE Quantity > -1.5e3",
    "SELECT Id FROM Case ALL ROWS",
]
# Query, and the column at which it goes wrong.
REFUSED = [
    ("", 1),
    ("SELECT", 7),
    ("SELECT FROM Case", 8),
    ("SELECT Id FROM", 15),
    ("SELECT Id, FROM Case", 12),
    ("SELECT * FROM Case", 8),
    ("SELECT Id FROM Case WHERE", 26),
    ("SELECT Id FROM Case;", 20),
    ("SELECT Id FROM Case -- comment", 21),
    ('SELECT Id FROM Case WHERE Subject = "x"', 37),
    ("SELECT Id FROM Case WHERE Subject = 'x", 37),
    ("SELECT Id FROM Case WHERE Subject = 'a\\q'", 39),
    ("SELECT Id FROM Case WHERE Subject IS NULL", 35),
    ("SELECT Id FROM Case WHERE Subject NOT LIKE 'x'", 35),
    ("SELECT Id FROM Case WHERE a = 1 AND b = 2 OR c = 3", 43),
    ("SELECT Id FROM Case WHERE a = 1 AND NOT b = 2", 37),
    ("SELECT Id FROM Case WHERE AND a = 1", 27),
    ("SELECT COUNT(Id) from FROM Case", 23),
    ("SELECT Id FROM Case WHERE Id IN ()", 34),
    ("SELECT Id FROM Case WHERE Id = :bound", 32),
    ("SELECT Id FROM Case WHERE a BETWEEN 1 AND 2", 29),
    ("SELECT Id FROM Case JOIN User ON x", 26),
    ("SELECT Id FROM Case LIMIT -1", 27),
    ("SELECT Id FROM Case LIMIT x", 27),
    ("SELECT Id FROM Case OFFSET 1 LIMIT 1", 30),
    ("SELECT Id FROM Case WHERE CreatedDate > LAST_N_DAYS", 52),
    ("SELECT Id FROM Case WHERE CreatedDate = 2020-13-01", 41),
    ("SELECT Id FROM Case WHERE CreatedDate = 2020-01-01T10:00:00", 41),
    ("SELECT Id FROM Case WHERE CreatedDate = 2020-01-01T10:00:00Zulu", 48),
    ("SELECT Id FROM Case WHERE CreatedDate = 2020-02-30T00:00:00Z", 41),
    ("SELECT Id FROM Case ORDER BY Id LIMIT 1 WHERE Id = null", 41),
    ("DELETE FROM Case", 1),
    ("SELECT Id FROM Case ORDER BY Id" + ", Id" * 32, 27),
    ("SELECT Id FROM read_csv('/etc/passwd')", 24),
    ("SELECT Id FROM '/etc/passwd'", 16),
    ("SELECT Id FROM Case HAVING COUNT(Id) > 1", 21),
    ("WITH x AS (SELECT 1) SELECT Id FROM Case", 1),
    ("SELECT Id FROM Case UNION SELECT Id FROM User", 27),
]


CODES = ("MALFORMED_QUERY", "MALFORMED_SEARCH", "INVALID_SEARCH", "NUMBER_OUTSIDE_VALID_RANGE")


def refusal(text: str) -> QueryError | None:
    """What a text is refused with; None for one that is taken."""
    try:
        parse(text)
    except QueryError as fault:
        return fault
    return None


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted(text: str) -> None:
    assert isinstance(parse(text), Query)


@pytest.mark.parametrize(("text", "column"), REFUSED)
def test_refused_at_its_place(text: str, column: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.row, caught.value.column) == ("MALFORMED_QUERY", 1, column)


def test_the_tree() -> None:
    found = parse(
        "SELECT Account.Name FROM Case c WHERE (NOT a = 'x') AND (b > 1 OR c.d = NULL) ORDER BY e DESC LIMIT 7"
    )
    assert isinstance(found, Query)
    assert (found.source, found.alias, found.limit) == ("Case", "c", 7)
    assert isinstance(found.where, And)
    first, second = found.where.items
    assert isinstance(first, Not)
    assert isinstance(second, Or)
    assert isinstance(second.items[1], Comparison)
    assert second.items[1].left == Path(("c", "d"))
    assert (found.order_by[0].descending, found.order_by[0].nulls_last) == (True, False)


def test_rows_count_from_the_line() -> None:
    with pytest.raises(QueryError) as caught:
        parse("SELECT Id\nFROM Case\nWHERE Id IN ()")
    assert (caught.value.row, caught.value.column) == (3, 14)
    assert "WHERE Id IN ()\n             ^\nERROR at Row:3:Column:14\nunexpected token: ')'" in str(caught.value)


@given(st.text(max_size=60))
def test_no_text_is_a_surprise(text: str) -> None:
    for each in (
        text,
        f"SELECT {text} FROM Case",
        f"SELECT Id FROM Case WHERE {text}",
        f"FIND {{{text}}}",
        f"FIND {text}",
    ):
        fault = refusal(each)
        assert fault is None or (fault.code.isupper() and str(fault).startswith(fault.code))


@pytest.mark.parametrize("letter", ["\ud800", "\0"])
def test_what_is_no_letter_is_refused(letter: str) -> None:
    for text in (f"SELECT Id FROM Case WHERE Subject = 'x{letter}'", f"FIND {{word {letter}}}", f"FIND 'word{letter}'"):
        fault = refusal(text)
        assert fault is not None
        str(fault).encode()


PIECES = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "BY",
        "ORDER",
        "LIMIT",
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE",
        "(",
        ")",
        ",",
        ".",
        "=",
        "<",
        "'x'",
        "1",
        "Id",
        "Case",
        "COUNT",
        "ROLLUP",
        "TODAY",
        ":",
        "NULL",
        "FIND",
        "{",
        "}",
        "RETURNING",
        "FIELDS",
        "TYPEOF",
        "WHEN",
        "THEN",
        "END",
        "HAVING",
        "2020-01-01",
    ]
)


@given(st.lists(PIECES, max_size=25))
def test_no_heap_of_words_is_a_surprise(pieces: list[str]) -> None:
    for text in (" ".join(pieces), "SELECT Id FROM Case WHERE " + " ".join(pieces)):
        fault = refusal(text)
        assert fault is None or fault.code in CODES


@pytest.mark.parametrize(
    "text",
    [
        "SELECT Id FROM Case WHERE " + "(" * 1000 + "Id = null" + ")" * 1000,
        "SELECT Id FROM Case WHERE " + "(NOT " * 1000 + "Id = null" + ")" * 1000,
        "SELECT " + "(SELECT " * 1000 + "Id" + " FROM Cases)" * 1000 + " FROM Account",
        "SELECT Id FROM Case WHERE Id IN " + "(SELECT Id FROM Case WHERE Id IN " * 1000 + "('x')" + ")" * 1000,
        "SELECT " + "MAX(" * 1000 + "Id" + ")" * 1000 + " FROM Case",
        "SELECT Id FROM Case WHERE Subject = '" + "x" * 1_000_000 + "'",
        "FIND {" + "(" * 1000 + "x" + ")" * 1000 + "}",
        "FIND {" + "x " * 500_000 + "}",
        "FIND {" + "\\" * 19_000 + "}",
        "SELECT Id FROM Case WHERE Subject = '" + "\\" * 99_000,
        "SELECT " + "a." * 49_000 + "b FROM Case WHERE",
        "SELECT Id FROM Case LIMIT " + "9" * 90_000,
        "SELECT Id FROM Case WHERE x = " + "9" * 90_000,
    ],
    ids=range(13),
)
def test_what_is_endless_is_refused_at_once(text: str) -> None:
    started = time.monotonic()
    with pytest.raises(QueryError):
        parse(text)
    assert time.monotonic() - started < 5


def test_as_many_conditions_as_fit_are_taken() -> None:
    text = "SELECT Id FROM Case WHERE " + " OR ".join(["a = 1"] * 9000)
    found = parse(text)
    assert isinstance(found, Query)
    assert isinstance(found.where, Or)
    assert len(found.where.items) == 9000


def test_searches() -> None:
    found = parse(
        'FIND {"yoga mat" OR (shoe AND NOT run*)} IN NAME FIELDS RETURNING Product2(Id, Name LIMIT 3), Case LIMIT 9'
    )
    assert isinstance(found, Search)
    assert isinstance(found.term, AnyOf)
    assert found.term.items[0] == Words("yoga mat", phrase=True)
    assert found.term.items[1] == Without(Words("shoe"), Words("run*"))
    assert (found.group, found.limit) == ("NAME", 9)
    assert [(each.query.source, each.query.limit) for each in found.returned] == [("Product2", 3), ("Case", None)]


@pytest.mark.parametrize(
    "text",
    [
        "FIND",
        "FIND {}",
        "FIND {a",
        "FIND {a AND}",
        "FIND {(a}",
        'FIND {"a}',
        "FIND {a} IN SOME FIELDS",
        "FIND {a} RETURNING",
        "FIND {a} RETURNING Case(",
        "FIND {a} RETURNING Case() ",
        "FIND {a}; DROP",
    ],
)
def test_searches_that_are_none(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert caught.value.code == "MALFORMED_SEARCH"
