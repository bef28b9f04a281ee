"""Conditions as SQL: what each operator means for each type of field.

A comparison with null is false, never unknown; so `!=` and NOT IN hold for null, as in the product. Texts are compared
without regard to case.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any

from cxlab.benchmarks.crmarena.organisation.ids import complete_id
from cxlab.benchmarks.crmarena.organisation.schema import NUMBERS
from cxlab.benchmarks.crmarena.soql import date_literals
from cxlab.benchmarks.crmarena.soql.errors import QueryError, invalid_field, malformed
from cxlab.benchmarks.crmarena.soql.scope import Meaning, Scope
from cxlab.benchmarks.crmarena.soql.syntax import And, Comparison, Condition, Literal, Not, Or, Query

# From so many values on, one list is faster than a parameter each.
_MANY = 40
CURRENCY = "USD"
_ID = re.compile(r"[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?")
Subquery = Callable[[Query, Meaning], str]
"""How a query inside a condition becomes SQL; given the field that is compared."""


def to_sql(condition: Condition, scope: Scope, subquery: Subquery, grouped: bool = False) -> str:
    """The SQL of a condition. `grouped`: it stands in HAVING, where aggregates may stand."""
    return _Writer(scope, subquery, grouped).write(condition)


class _Writer:
    def __init__(self, scope: Scope, subquery: Subquery, grouped: bool) -> None:
        self.scope, self.context = scope, scope.context
        self.subquery, self.grouped = subquery, grouped
        self.under = ""  # OR or NOT, where a condition stands below one

    def write(self, condition: Condition) -> str:
        if isinstance(condition, Not):
            return f"(NOT coalesce({self._below('NOT', condition.item)}, false))"
        if isinstance(condition, And):
            return _balance([self.write(item) for item in condition.items], "AND")
        if isinstance(condition, Or):
            return _balance([self._below("OR", item) for item in condition.items], "OR")
        return self._compare(condition)

    def _below(self, operator: str, condition: Condition) -> str:
        """What stands below OR or NOT, where the product allows no semi-join."""
        before, self.under = self.under, operator
        found = self.write(condition)
        self.under = before
        return found

    def _fail(self, problem: str, at: int) -> QueryError:
        return invalid_field(problem, self.context.text, at)

    def _compare(self, one: Comparison) -> str:
        left = self.scope.meaning(one.left)
        if left.aggregate and not self.grouped:
            raise malformed(
                f"Aggregate expressions stand in HAVING, not in WHERE: {left.shown}", self.context.text, left.at
            )
        if left.function == "DISTANCE" and one.operator not in ("<", ">"):
            raise malformed("DISTANCE can only be compared with < or >", self.context.text, one.at)
        if left.function in ("FORMAT", "CONVERTCURRENCY"):
            raise malformed(f"{left.shown} cannot be filtered", self.context.text, left.at)
        if left.field is not None and not left.field.filterable:
            raise self._fail(f"field '{left.shown}' can not be filtered in a query call", left.at)
        if isinstance(one.right, Query):
            return self._semi_join(one, left, one.right)
        if isinstance(one.right, tuple):
            return self._listed(one, left, one.right)
        if one.operator == "LIKE":
            return self._like(left, one.right)
        return self._single(one, left, one.right)

    # --- one value

    def _single(self, one: Comparison, left: Meaning, value: Literal) -> str:
        operator, sql = one.operator, left.sql
        if value.kind == "null" or (value.kind == "text" and value.value == "" and left.type != "boolean"):
            if operator not in ("=", "!="):
                raise self._fail(f"null can only be compared with = or != (field '{left.shown}')", value.at)
            if left.type == "boolean":
                return f"(NOT {sql})" if operator == "=" else sql
            return f"({sql} IS {'NOT ' if operator == '!=' else ''}NULL)"
        if left.type == "boolean" and operator not in ("=", "!="):
            raise self._fail(f"invalid operator on boolean field '{left.shown}'", one.at)
        if value.kind == "relative":
            return self._relative(operator, left, value)
        given = self._value(left, value)
        if operator == "=":
            return f"({self._folded(left)} = {given})"
        if operator == "!=":
            return f"({self._folded(left)} IS DISTINCT FROM {given})"
        return f"({self._folded(left)} {operator} {given})"

    def _folded(self, left: Meaning) -> str:
        return f"lower({left.sql})" if _is_text(left) else left.sql

    def _value(self, left: Meaning, value: Literal) -> str:
        """A value as a parameter that can be compared with the field; INVALID_FIELD for one of another type."""
        found = self._convert(left, value)
        return f"lower({self.context.add(found)})" if _is_text(left) else self.context.add(found)

    def _convert(self, left: Meaning, value: Literal) -> Any:
        match left.type:
            case "id" | "reference" if value.kind == "text":
                return self._id(str(value.value), value.at)
            case "boolean" if value.kind == "boolean":
                return value.value
            case "date" if value.kind == "date":
                return date.fromisoformat(str(value.value))
            case "datetime" if value.kind == "datetime":
                try:
                    return datetime.fromisoformat(str(value.value)).astimezone(UTC).replace(tzinfo=None)
                except OverflowError:
                    raise self._out_of_range(value) from None
            case type_ if type_ in NUMBERS and value.kind == "number":
                return value.value
            case "currency" if value.kind == "currency":
                return self._money(left, value)
            case type_ if _is_text(left) and value.kind == "text":
                return value.value
        raise self._fail(_tell_type(left), value.at)

    def _money(self, left: Meaning, value: Literal) -> Any:
        """An amount in the organisation's one currency."""
        if left.aggregate:
            raise malformed("aggregates are compared with numbers without a currency", self.context.text, value.at)
        if value.iso != CURRENCY:
            problem = f"the currency {value.iso} is not active: the organisation has {CURRENCY} alone"
            raise self._fail(problem, value.at)
        return value.value

    def _id(self, given: str, at: int) -> str:
        if _ID.fullmatch(given):
            return complete_id(given) if len(given) == 15 and not self.context.has_odd_ids else given
        if self.context.has_odd_ids:
            return given
        raise QueryError("INVALID_QUERY_FILTER_OPERATOR", f"invalid ID field: {given[:40]}", self.context.text, at)

    def _out_of_range(self, value: Literal) -> QueryError:
        return QueryError("NUMBER_OUTSIDE_VALID_RANGE", "a date is out of range", self.context.text, value.at)

    def _relative(self, operator: str, left: Meaning, value: Literal) -> str:
        if left.type not in ("date", "datetime"):
            raise self._fail(_tell_type(left), value.at)
        try:
            days = date_literals.days_of(str(value.value), value.n, self.context.today)
        except (OverflowError, ValueError):
            raise self._out_of_range(value) from None
        first, end = ([datetime.combine(day, time()) for day in days]) if left.type == "datetime" else days
        sql = left.sql
        if operator in ("=", "!="):
            within = f"({sql} >= {self.context.add(first)} AND {sql} < {self.context.add(end)})"
            return within if operator == "=" else f"(NOT coalesce({within}, false))"
        # Before and since count from the first day, after and until from the last.
        if operator in ("<", ">="):
            return f"({sql} {operator} {self.context.add(first)})"
        return f"({sql} {'>=' if operator == '>' else '<'} {self.context.add(end)})"

    # --- patterns

    def _like(self, left: Meaning, value: Literal) -> str:
        if not _is_text(left) or left.type == "multipicklist":
            kind = "id" if left.type in ("id", "reference") else left.type
            raise self._fail(f"invalid operator on {kind} field '{left.shown}'", value.at)
        if value.kind != "text":
            raise self._fail(_tell_type(left), value.at)
        if _is_costly(value.pattern):
            pattern = self.context.add("(?is)" + _to_regex(value.pattern))
            return f"regexp_full_match({left.sql}, {pattern})"
        return f"(lower({left.sql}) LIKE lower({self.context.add(value.pattern)}) ESCAPE '\\')"

    # --- lists

    def _listed(self, one: Comparison, left: Meaning, values: tuple[Literal, ...]) -> str:
        if one.operator in ("INCLUDES", "EXCLUDES"):
            return self._includes(one, left, values)
        if any(value.kind == "relative" for value in values):
            parts = [self._single(Comparison(one.left, "=", value, one.at), left, value) for value in values]
            found = _balance(parts, "OR")
        else:
            found = self._in(left, values)
        return found if one.operator == "IN" else f"(NOT coalesce({found}, false))"

    def _in(self, left: Meaning, values: tuple[Literal, ...]) -> str:
        if len({value.kind == "currency" for value in values if value.kind in ("currency", "number")}) > 1:
            problem = "amounts with and without a currency cannot be mixed"
            raise malformed(problem, self.context.text, values[0].at)
        is_null = [value.kind == "null" or (value.kind == "text" and value.value == "") for value in values]
        given = [self._convert(left, value) for value, null in zip(values, is_null, strict=True) if not null]
        parts = []
        if len(given) >= _MANY:
            # Parameters have no type of their own where nothing is compared with them directly.
            items = f"SELECT unnest({self.context.add(given)}{'::VARCHAR[]' if isinstance(given[0], str) else ''})"
            if _is_text(left):
                items = f"SELECT lower(given) FROM ({items} AS given)"
            parts.append(f"({self._folded(left)} IN ({items}))")
        elif given:
            items = ", ".join(f"lower({p})" if _is_text(left) else p for p in map(self.context.add, given))
            parts.append(f"({self._folded(left)} IN ({items}))")
        if any(is_null):
            parts.append(f"(NOT {left.sql})" if left.type == "boolean" else f"({left.sql} IS NULL)")
        return _balance(parts, "OR")

    def _includes(self, one: Comparison, left: Meaning, values: tuple[Literal, ...]) -> str:
        if left.type != "multipicklist":
            problem = f"{one.operator} can only be used with fields of several values, not with '{left.shown}'"
            raise QueryError("INVALID_QUERY_FILTER_OPERATOR", problem, self.context.text, one.at)
        parts = []
        for value in values:
            if value.kind != "text":
                raise self._fail(_tell_type(left), value.at)
            wanted = [part.strip().lower() for part in str(value.value).split(";") if part.strip()]
            held = f"string_split(lower({left.sql}), ';')"
            parts.append(f"list_has_all({held}, {self.context.add(wanted)}::VARCHAR[])")
        found = _balance(parts, "OR")
        return found if one.operator == "INCLUDES" else f"(NOT coalesce({found}, false))"

    def _semi_join(self, one: Comparison, left: Meaning, query: Query) -> str:
        if one.operator not in ("IN", "NOT IN"):
            raise malformed(f"unexpected token: 'SELECT' behind {one.operator}", self.context.text, query.at)
        if self.under:
            problem = f"Semi join sub-selects are not allowed with the '{self.under}' operator"
            raise malformed(problem, self.context.text, one.at)
        if left.type not in ("id", "reference"):
            raise self._fail(f"a sub-select can only be compared with an id field, not with '{left.shown}'", left.at)
        inner = self.subquery(query, left)
        found = f"({left.sql} IN ({inner}))"
        return found if one.operator == "IN" else f"(NOT coalesce({found}, false))"


def _is_text(left: Meaning) -> bool:
    return left.type in ("string", "text", "picklist", "multipicklist", "email", "phone", "url")


def _tell_type(left: Meaning) -> str:
    wanted = {"datetime": "dateTime", "date": "date", "boolean": "boolean", "integer": "int"}.get(left.type)
    wanted = wanted or ("double" if left.type in NUMBERS else "string")
    quotes = "should be enclosed in quotes" if wanted == "string" else "should not be enclosed in quotes"
    return f"value of filter criterion for field '{left.shown}' must be of type {wanted} and {quotes}"


def _balance(parts: list[str], joint: str) -> str:
    """All parts with one operator between them, as a tree of little depth: the database bounds that of expressions."""
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [f"({f' {joint} '.join(pair)})" if len(pair) > 1 else pair[0] for pair in pairs]
    return parts[0]


def _is_costly(pattern: str) -> bool:
    """Whether matching a pattern by trial and error could take long: then it becomes a regular expression, for which
    the database's own engine takes time in proportion to the text.
    """
    bare = re.sub(r"\\.", "x", pattern)
    runs = len(re.findall("%+", bare))
    return runs > 4 or (runs > 1 and "_" in bare) or "%%" in bare


def _to_regex(pattern: str) -> str:
    parts = []
    for piece in re.findall(r"\\.|%+|_|[^\\%_]+|\\", pattern, re.S):
        if piece[0] == "%":
            parts.append(".*")
        elif piece == "_":
            parts.append(".")
        else:
            parts.append(re.escape(piece[1:] if len(piece) == 2 and piece[0] == "\\" else piece))
    return "".join(parts)
