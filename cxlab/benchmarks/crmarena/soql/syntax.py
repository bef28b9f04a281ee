"""The syntax trees of SOQL and SOSL: what `parse` returns. `at` is the offset in the text, for messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Word

LiteralKind = Word["text", "number", "currency", "boolean", "null", "date", "datetime", "relative"]


@dataclass(frozen=True)
class Path:
    """A field, perhaps through its parents: `Account.Owner.Name`."""

    parts: tuple[str, ...]
    at: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True)
class Call:
    """A function of nothing, a field or another function: `COUNT()`, `CALENDAR_YEAR(convertTimezone(CreatedDate))`.

    `name` is in capitals.
    """

    name: str
    argument: Expression | None
    at: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.name}({self.argument if self.argument is not None else ''})"


@dataclass(frozen=True)
class Point:
    """A place on earth, in degrees: `GEOLOCATION(37.775, -122.418)`."""

    latitude: float
    longitude: float

    def __str__(self) -> str:
        return f"GEOLOCATION({self.latitude:g}, {self.longitude:g})"


@dataclass(frozen=True)
class Distance:
    """How far a field's place is from another one, in `unit` mi or km: `DISTANCE(Place__c, GEOLOCATION(…), 'mi')`."""

    place: Path
    other: Path | Point
    unit: str
    at: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"DISTANCE({self.place}, {self.other}, '{self.unit}')"


Expression = Path | Call | Distance


@dataclass(frozen=True)
class Literal:
    """A value that is written out. `value`: the text with its escapes resolved, the number, True, False, None, the date
    or time as written, or the name of a relative date, whose number is `n`. `pattern` is a text as LIKE reads it, where
    `\\` still guards `%` and `_`. `iso` is the code of a currency: `USD5000`.
    """

    kind: LiteralKind
    value: str | float | bool | None
    n: int | None = None
    pattern: str = ""
    iso: str = ""
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Comparison:
    """`left operator right`; IN, NOT IN, INCLUDES and EXCLUDES have a tuple of literals or a query to the right."""

    left: Expression
    operator: str
    right: Literal | tuple[Literal, ...] | Query
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class And:
    items: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    items: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    item: Condition


Condition = Comparison | And | Or | Not


@dataclass(frozen=True)
class SelectedField:
    """A field or function that is asked for, under an alias or None."""

    expression: Expression
    alias: str | None = None


@dataclass(frozen=True)
class AllFields:
    """`FIELDS(ALL)`, `FIELDS(STANDARD)` or `FIELDS(CUSTOM)`."""

    group: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class TypeOf:
    """`TYPEOF path WHEN type THEN fields … ELSE fields END`."""

    path: Path
    cases: tuple[tuple[str, tuple[Path, ...]], ...]
    otherwise: tuple[Path, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Ordering:
    """One step of ORDER BY; nulls come first unless NULLS LAST is said."""

    expression: Expression
    descending: bool = False
    nulls_last: bool = False


@dataclass(frozen=True)
class GroupBy:
    """`kind` is "", ROLLUP or CUBE."""

    kind: str
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Query:
    """A SOQL query, or one inside another. `source` is an object, for a child query the name of the way to it; `locks`:
    it ends with FOR UPDATE.
    """

    select: tuple[SelectedField | AllFields | TypeOf | Query, ...]
    source: str
    alias: str | None = None
    where: Condition | None = None
    group_by: GroupBy | None = None
    having: Condition | None = None
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int | None = None
    source_at: int = field(default=0, compare=False)
    at: int = field(default=0, compare=False)
    aliases: tuple[tuple[str, Path], ...] = ()
    locks: bool = False


# --- SOSL


@dataclass(frozen=True)
class Words:
    """What is looked for: one word, perhaps with `*` and `?`, or a quoted phrase of several."""

    text: str
    phrase: bool = False


@dataclass(frozen=True)
class AllOf:
    items: tuple[SearchTerm, ...]


@dataclass(frozen=True)
class AnyOf:
    items: tuple[SearchTerm, ...]


@dataclass(frozen=True)
class Without:
    """Matches of `item` that are not matches of `unwanted`."""

    item: SearchTerm
    unwanted: SearchTerm


SearchTerm = Words | AllOf | AnyOf | Without


@dataclass(frozen=True)
class ReturnedObject:
    """One object of RETURNING with the fields, condition, order and limit given for it; no fields mean Id alone."""

    query: Query


@dataclass(frozen=True)
class Search:
    """A SOSL search. `group` is ALL, NAME, EMAIL, PHONE or SIDEBAR; `returned` is empty where no object is named."""

    term: SearchTerm
    group: str = "ALL"
    returned: tuple[ReturnedObject, ...] = ()
    limit: int | None = None
