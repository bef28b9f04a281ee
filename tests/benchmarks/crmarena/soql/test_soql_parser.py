"""The grammar takes what the product takes and refuses the rest at the right place, quickly and whatever comes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena.soql import QueryError, parse
from cxlab.benchmarks.crmarena.soql.syntax import And, AnyOf, Comparison, Not, Or, Path, Query, Search, Without, Words
from tests.benchmarks.crmarena.soql.example_queries import ACCEPTED, REFUSED

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
        "SELECT " + "a." * 20_000 + "b FROM Case WHERE",
        "SELECT Id FROM Case LIMIT " + "9" * 90_000,
        "SELECT Id FROM Case WHERE x = " + "9" * 90_000,
    ],
    ids=range(13),
)
def test_what_is_endless_is_refused_at_once(text: str) -> None:
    started = time.monotonic()
    with pytest.raises(QueryError):
        parse(text)
    assert time.monotonic() - started < 60


def test_as_many_conditions_as_fit_are_taken() -> None:
    text = "SELECT Id FROM Case WHERE " + " OR ".join(["a = 1"] * 4000)
    found = parse(text)
    assert isinstance(found, Query)
    assert isinstance(found.where, Or)
    assert len(found.where.items) == 4000


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
