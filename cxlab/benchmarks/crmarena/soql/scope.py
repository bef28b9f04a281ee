"""What the names in a query mean: fields, ways to parents, functions, each with its type and its SQL.

Names reach the SQL only through the schema, values only as parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from cxlab.benchmarks.crmarena.organisation.schema import NUMBERS, TIMES, FieldInfo, ObjectInfo, Schema
from cxlab.benchmarks.crmarena.soql.errors import QueryError, invalid_field, malformed, no_such_column
from cxlab.benchmarks.crmarena.soql.syntax import Call, Distance, Expression, Path, Point

# Steps from a record to its parents, and all ways to parents of one query: the product's limits.
LONGEST_WAY = 5
MOST_WAYS = 55
AGGREGATES = frozenset({"COUNT", "COUNT_DISTINCT", "SUM", "AVG", "MIN", "MAX"})
# Function of a day or moment → its SQL, and whether it needs a time of day.
DATE_FUNCTIONS: Mapping[str, str] = {
    "CALENDAR_YEAR": "year({})",
    "CALENDAR_QUARTER": "quarter({})",
    "CALENDAR_MONTH": "month({})",
    "FISCAL_YEAR": "year({})",
    "FISCAL_QUARTER": "quarter({})",
    "FISCAL_MONTH": "month({})",
    "DAY_IN_MONTH": "day({})",
    "DAY_IN_WEEK": "(dayofweek({}) + 1)",
    "DAY_IN_YEAR": "dayofyear({})",
    "DAY_ONLY": "CAST({} AS DATE)",
    "HOUR_IN_DAY": "hour({})",
    "WEEK_IN_MONTH": "((day({}) - 1) // 7 + 1)",
    "WEEK_IN_YEAR": "((dayofyear({}) - 1) // 7 + 1)",
}
_NEED_TIME = frozenset({"DAY_ONLY", "HOUR_IN_DAY"})
_PARTS = {"__latitude__s": 0, "__longitude__s": 1}
_EARTH_RADIUS = {"km": 6371.0, "mi": 6371.0 / 1.609344}
SHOWN_ONLY = frozenset({"TOLABEL", "FORMAT", "CONVERTCURRENCY"})


def quote(name: str) -> str:
    """A name of the schema as SQL."""
    return '"' + name.replace('"', '""') + '"'


@dataclass
class Context:
    """What all parts of one query share: schema, today, the text for messages, parameters, names given so far."""

    schema: Schema
    today: date
    text: str
    has_odd_ids: bool = False
    params: list[Any] = field(default_factory=list)
    count: int = 0
    semi_joins: int = 0
    children: int = 0
    ways: int = 0

    def add(self, value: Any) -> str:
        """A value as the SQL of its parameter."""
        self.params.append(value)
        return f"${len(self.params)}"

    def new_alias(self) -> str:
        self.count += 1
        return f"t{self.count}"


@dataclass(frozen=True)
class Meaning:
    """What an expression stands for. `type` is a field's type; `keys` is its place in a result; `field` is None for
    functions that make something else; `aggregate` says that it is of many rows.
    """

    sql: str
    type: str
    keys: tuple[str, ...]
    shown: str
    at: int
    field: FieldInfo | None = None
    aggregate: bool = False
    function: str = ""


@dataclass
class ParentJoin:
    """A parent that the query looks at: its alias in SQL and its object."""

    alias: str
    info: ObjectInfo
    keys: tuple[str, ...]


class Scope:
    """The names that one SELECT knows: those of its object and of its parents, found as they are needed."""

    def __init__(self, context: Context, info: ObjectInfo, aliases: Sequence[str | None] = ()) -> None:
        self.context, self.info = context, info
        self.own = ParentJoin(context.new_alias(), info, ())
        self.names = {name.lower() for name in aliases if name}
        self.named: dict[str, tuple[str, ...]] = {}
        self.joined: dict[tuple[str, ...], ParentJoin] = {}
        self.joins: list[str] = []

    @property
    def from_sql(self) -> str:
        return " ".join([f"{quote(self.info.name)} {self.own.alias}", *self.joins])

    def column(self, name: str) -> str:
        """The SQL of a field of its own object."""
        return f"{self.own.alias}.{quote(name)}"

    def name_way(self, alias: str, way: Path) -> None:
        """`FROM Contact c, c.Account a`: a name for a parent."""
        self.named[alias.lower()] = self._strip(Path((*way.parts, ""), way.at))[:-1]

    def field(self, path: Path) -> Meaning:
        """The field that a path leads to; INVALID_FIELD where it leads nowhere."""
        parts = self._strip(path)
        *ways, name = parts
        holder = self.follow(ways, path)
        found = holder.info.field(name)
        if found is None:
            part = self._degrees(holder, name, path)
            if part is not None:
                return part
            way = self._own_way(holder, name)
            if way is not None:
                sql = f"CASE WHEN {holder.alias}.\"Id\" IS NULL THEN NULL ELSE '{way}' END"
                return Meaning(sql, "string", (*holder.keys, "Type"), str(path), path.at)
            raise no_such_column(name, holder.info.name, self.context.text, path.at)
        sql = f"{holder.alias}.{quote(found.name)}"
        if found.type == "boolean":
            sql = f"coalesce({sql}, false)"  # a box that nobody ticked is not ticked
        return Meaning(sql, found.type, (*holder.keys, found.name), str(path), path.at, found)

    def _degrees(self, holder: ParentJoin, name: str, path: Path) -> Meaning | None:
        """One half of a place: `Shop__Latitude__s` of the field `Shop__c`."""
        for end, number in _PARTS.items():
            field = holder.info.field(name[: -len(end)] + "__c") if name.lower().endswith(end) else None
            if field is not None and field.type == "location":
                sql = _half(f"{holder.alias}.{quote(field.name)}", number)
                shown = field.name.removesuffix("__c") + ("__Latitude__s", "__Longitude__s")[number]
                return Meaning(sql, "number", (*holder.keys, shown), str(path), path.at)
        return None

    def _own_way(self, holder: ParentJoin, name: str) -> str | None:
        """The object behind a polymorphic way, where its `Type` is asked for."""
        if name.lower() != "type" or not holder.keys:
            return None
        above = self.joined.get(holder.keys[:-1], self.own)
        way = above.info.way(holder.keys[-1])
        return way.reference.to if way and way.reference and way.reference.polymorphic else None

    def _strip(self, path: Path) -> tuple[str, ...]:
        """The path without the query's own name for its object in front."""
        parts = path.parts
        if len(parts) == 1:
            return parts
        first = parts[0].lower()
        if first in self.named:
            return (*self.named[first], *parts[1:])
        if first in self.names or (first == self.info.name.lower() and self.info.way(parts[0]) is None):
            return parts[1:]
        return parts

    def follow(self, ways: Sequence[str], path: Path) -> ParentJoin:
        """The parent at the end of some steps; INVALID_FIELD for a step that does not exist."""
        if len(ways) > LONGEST_WAY:
            problem = f"a way to parents has at most {LONGEST_WAY} steps: {str(path)[:200]}"
            raise malformed(problem, self.context.text, path.at)
        holder = self.own
        for step in ways:
            way = holder.info.way(step)
            if way is None or way.reference is None:
                problem = (
                    f"Didn't understand relationship '{step[:80]}' in field path. Names of custom relationships end in "
                    f"'__r'; ways from {holder.info.name}: {', '.join(_ways(holder.info)) or 'none'}."
                )
                raise invalid_field(problem, self.context.text, path.at)
            keys = (*holder.keys, way.reference.path)
            if keys not in self.joined:
                self.joined[keys] = self._join(holder, way, keys, path)
            holder = self.joined[keys]
        return holder

    def _join(self, holder: ParentJoin, way: FieldInfo, keys: tuple[str, ...], path: Path) -> ParentJoin:
        self.context.ways += 1
        if self.context.ways > MOST_WAYS:
            raise malformed(f"a query has at most {MOST_WAYS} ways to parents", self.context.text, path.at)
        target = self.context.schema.objects[way.reference.to if way.reference else ""]
        made = ParentJoin(self.context.new_alias(), target, keys)
        condition = f'{made.alias}."Id" = {holder.alias}.{quote(way.name)}'
        self.joins.append(f"LEFT JOIN {quote(target.name)} {made.alias} ON {condition}")
        return made

    # --- functions

    def meaning(self, expression: Expression) -> Meaning:
        """What a field or function stands for; INVALID_FIELD or MALFORMED_QUERY for what makes no sense."""
        if isinstance(expression, Path):
            return self.field(expression)
        if isinstance(expression, Distance):
            return self._distance(expression)
        if expression.name in AGGREGATES:
            return self._aggregate(expression)
        if expression.name in DATE_FUNCTIONS:
            return self._date_function(expression)
        if expression.name == "GROUPING":
            inner = self._argument(expression)
            return self._made(expression, f"grouping({inner.sql})", "integer", inner, aggregate=True)
        if expression.name in SHOWN_ONLY:
            inner = self._argument(expression)
            return replace(inner, shown=str(expression), at=expression.at, function=expression.name)
        problem = f"Invalid function: {expression.name[:40]}"
        raise malformed(problem, self.context.text, expression.at)

    def _distance(self, call: Distance) -> Meaning:
        """The way along a great circle, on a sphere; null where either place is."""
        ends = []
        for place in (call.place, call.other):
            if isinstance(place, Point):
                north, east = map(self.context.add, (place.latitude, place.longitude))
                ends.append((f"{north}::DOUBLE", f"{east}::DOUBLE"))
                continue
            found = self.field(place)
            if found.type != "location":
                problem = f"DISTANCE needs a field that holds a place, and {found.shown} is {found.type}"
                raise invalid_field(problem, self.context.text, found.at)
            ends.append((_half(found.sql, 0), _half(found.sql, 1)))
        (north, east), (other_north, other_east) = ends
        half_chord = (
            f"sin(radians({other_north} - {north}) / 2) ** 2 + cos(radians({north})) * cos(radians({other_north})) "
            f"* sin(radians({other_east} - {east}) / 2) ** 2"
        )
        sql = f"({2 * _EARTH_RADIUS[call.unit]} * asin(least(1, sqrt({half_chord}))))"
        return Meaning(sql, "number", (), str(call), call.at, None, False, "DISTANCE")

    def _argument(self, call: Call) -> Meaning:
        if call.argument is None:
            raise malformed(f"{call.name} needs a field", self.context.text, call.at)
        return self.meaning(call.argument)

    def _made(self, call: Call, sql: str, type_: str, inner: Meaning, aggregate: bool = False) -> Meaning:
        return Meaning(sql, type_, (), str(call), call.at, inner.field, aggregate, call.name)

    def _date_function(self, call: Call) -> Meaning:
        argument = call.argument
        if isinstance(argument, Call) and argument.name == "CONVERTTIMEZONE":
            argument = argument.argument  # the organisation's time zone is UTC
        if not isinstance(argument, Path):
            raise malformed(f"{call.name} needs a date or time", self.context.text, call.at)
        inner = self.field(argument)
        if inner.type != "datetime" and not (inner.type == "date" and call.name not in _NEED_TIME):
            problem = f"the function {call.name} cannot be used with the field {inner.shown}, which is {inner.type}"
            raise invalid_field(problem, self.context.text, call.at)
        sql = DATE_FUNCTIONS[call.name].format(inner.sql)
        return self._made(call, sql, "date" if call.name == "DAY_ONLY" else "integer", inner)

    def _aggregate(self, call: Call) -> Meaning:
        if call.argument is None:
            if call.name != "COUNT":
                raise malformed(f"{call.name} needs a field", self.context.text, call.at)
            return Meaning("count(*)", "integer", (), "COUNT()", call.at, None, True, "COUNT")
        inner = self.meaning(call.argument)
        kinds = {"SUM": NUMBERS, "AVG": NUMBERS, "COUNT": None, "COUNT_DISTINCT": None}
        wanted = kinds.get(call.name, NUMBERS | TIMES | {"id", "reference", "string", "text", "picklist", "email"})
        if inner.aggregate:
            raise malformed(f"Grouped field should not be aggregated: {inner.shown}", self.context.text, call.at)
        if (inner.field is not None and not inner.field.filterable) or (
            wanted is not None and inner.type not in wanted
        ):
            problem = f"field {inner.shown} does not support aggregate operator {call.name}"
            raise QueryError("INVALID_FIELD", problem, self.context.text, call.at)
        sql = {
            "COUNT": "count({})",
            "COUNT_DISTINCT": "count(DISTINCT {})",
            # As exact as decimals would be: 0.1 three times is 0.3.
            "SUM": "sum({})" if inner.type == "integer" else "fsum({})",
            "AVG": "favg({})",
            "MIN": "min({})",
            "MAX": "max({})",
        }[call.name].format(inner.sql)
        type_ = "integer" if call.name.startswith("COUNT") else "number" if call.name == "AVG" else inner.type
        return self._made(call, sql, type_, inner, aggregate=True)


def _half(sql: str, number: int) -> str:
    """Degrees north (0) or east (1) of a place."""
    return f"CAST(split_part({sql}, ',', {number + 1}) AS DOUBLE)"


def _ways(info: ObjectInfo) -> list[str]:
    return [each.reference.path for each in info.references if each.reference]
