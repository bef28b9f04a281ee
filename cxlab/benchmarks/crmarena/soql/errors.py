"""What the query engine answers when it does not answer: the product's codes, and where in the text it happened."""

from __future__ import annotations

from cxlab.errors import CxError

# Characters of the query that are shown on either side of the place.
_SHOWN = 60


class QueryError(CxError):
    """A query that cannot be answered.

    `code` is the product's (`MALFORMED_QUERY`, `INVALID_FIELD`, …), `problem` the sentence alone; `row` and `column`
    count from 1 and are None where no place is to blame. The text reads as the product's REST interface writes it.
    """

    def __init__(self, code: str, problem: str, text: str = "", at: int | None = None) -> None:
        self.code, self.problem = code, problem
        self.row: int | None = None
        self.column: int | None = None
        shown = problem
        if at is not None:
            at = min(at, len(text))
            start = text.rfind("\n", 0, at) + 1
            self.row, self.column = text.count("\n", 0, at) + 1, at - start + 1
            end = text.find("\n", at)
            first, last = max(start, at - _SHOWN), min(end if end >= 0 else len(text), at + _SHOWN)
            caret = " " * (at - first) + "^"
            shown = f"\n{text[first:last]}\n{caret}\nERROR at Row:{self.row}:Column:{self.column}\n{problem}"
        self.message = shown
        super().__init__(f"{code}: {shown}")


def malformed(problem: str, text: str = "", at: int | None = None) -> QueryError:
    """A query that does not follow the grammar, or asks for what the grammar cannot have together."""
    return QueryError("MALFORMED_QUERY", problem, text, at)


def invalid_field(problem: str, text: str = "", at: int | None = None) -> QueryError:
    """A field that does not exist or cannot be used like that."""
    return QueryError("INVALID_FIELD", problem, text, at)


def no_such_column(name: str, entity: str, text: str, at: int) -> QueryError:
    """A field that the object does not have."""
    hint = "Names of custom fields end in '__c'; see the description of the object for its fields."
    return invalid_field(f"No such column '{name[:80]}' on entity '{entity}'. {hint}", text, at)


def no_such_type(name: str, text: str, at: int) -> QueryError:
    """An object that the organisation does not have."""
    hint = "Names of custom objects end in '__c'; see the description of the organisation for its objects."
    return QueryError("INVALID_TYPE", f"sObject type '{name[:80]}' is not supported. {hint}", text, at)
