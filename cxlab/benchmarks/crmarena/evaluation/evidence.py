"""What an agent's actions, and the solver's, asked for: objects, windows and conditions, from calls and queries alike.

A query is read as its syntax tree, never by patterns; a tool's call as the query that it stands for. So an agent that
writes queries and a solver that calls tools can be held beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from cxlab.benchmarks.crmarena.agents.episode import read_arguments
from cxlab.benchmarks.crmarena.soql import parse
from cxlab.benchmarks.crmarena.soql.date_literals import days_of
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.soql.syntax import (
    And,
    Call,
    Comparison,
    Condition,
    Distance,
    Expression,
    Literal,
    Not,
    Or,
    Path,
    Query,
    SelectedField,
)
from cxlab.benchmarks.crmarena.tools import GENERIC

_SECOND = timedelta(seconds=1)
# The tools that look up, as queries: the object, the fields that they read or condition by, and the arguments that name
# what is asked for. Arguments that are conditions of their own: _BY_ARGUMENT.
_LOOKUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "get_agent_handled_cases_by_period": ("CaseHistory__c", ("Field__c", "NewValue__c")),
    "get_non_transferred_case_ids": ("CaseHistory__c", ("Field__c", "CaseId__c", "OldValue__c")),
    "get_agent_transferred_cases_by_period": ("CaseHistory__c", ("Field__c", "OldValue__c")),
    "get_cases": ("Case", ("OwnerId", "ClosedDate", "AccountId")),
    "get_shipping_state": ("Account", ("ShippingState",)),
    "get_order_item_ids_by_product": ("OrderItem", ("Product2Id",)),
    "get_issue_counts": ("Case", ("IssueId__c",)),
    "get_account_id_by_contact_id": ("Contact", ("AccountId",)),
    "get_purchase_history": ("OrderItem", ("AccountId", "EffectiveDate", "Status", "Product2Id")),
    "search_knowledge_articles": ("Knowledge__kav", ()),
    "search_products": ("Product2", ("Name",)),
    "get_issues": ("Issue__c", ("Name",)),
    "get_email_messages_by_case_id": ("EmailMessage", ("ParentId",)),
    "get_livechat_transcript_by_case_id": ("LiveChatTranscript", ("CaseId",)),
}
_BY_ARGUMENT = {
    "agent_ids": "OwnerId",
    "case_ids": "Id",
    "order_item_ids": "OrderItemId__c",
    "issue_ids": "IssueId__c",
    "statuses": "Status",
    "qualified_agent_ids": "OldValue__c",
}
_TIMES = frozenset({"CreatedDate", "ClosedDate", "EffectiveDate", "MessageDate", "EndTime"})
_PERIODS = ("get_period", "get_start_date")


@dataclass(frozen=True)
class Window:
    """From `start` up to, and without, `end`; None where it is open."""

    start: datetime | None = None
    end: datetime | None = None

    def differs(self, other: Window) -> bool:
        """Whether a bound of the other is missing here or lies more than a second elsewhere."""
        pairs = ((self.start, other.start), (self.end, other.end))
        return any(theirs is not None and (mine is None or abs(mine - theirs) > _SECOND) for mine, theirs in pairs)


@dataclass(frozen=True)
class ActionRequest:
    """What one action asked for. `fields` that it read or grouped by, `conditions`: field → the values that it named
    ("" for other conditions); `turn` counts from 1, `error` is the code where it was not answered.
    """

    turn: int
    tool: str
    arguments: Mapping[str, Any]
    objects: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    conditions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    window: Window | None = None
    error: str | None = None
    result: Any = None

    def touches(self, name: str) -> bool:
        """Whether it read a field or had a condition on it."""
        return name in self.fields or name in self.conditions

    def names(self, value: str) -> bool:
        """Whether a condition or argument has this value."""
        return any(value in values for values in self.conditions.values()) or value in _flat(self.arguments)


def read_call(
    tool: str, arguments: Mapping[str, Any], today: date, turn: int = 0, error: str | None = None, result: Any = None
) -> ActionRequest:
    """What a call asked for, a query among them."""
    bare = ActionRequest(turn, tool, arguments, error=error, result=result)
    if tool in GENERIC:
        return _read_query(bare, str(arguments.get("query", "")), today)
    if tool in _PERIODS:
        return _with_window(bare, _period(tool, arguments, result))
    if tool not in _LOOKUPS:
        return bare
    name, fields = _LOOKUPS[tool]
    conditions = {
        field: frozenset(map(str, value if isinstance(value, list) else [value]))
        for argument, field in _BY_ARGUMENT.items()
        if (value := arguments.get(argument))
    }
    start, end = _moment(arguments.get("start_date")), _moment(arguments.get("end_date"))
    window = Window(start, end) if start or end else None
    if day := _moment(arguments.get("purchase_date")):
        window = Window(day, day + timedelta(days=1))
    return ActionRequest(turn, tool, arguments, frozenset({name}), frozenset(fields), conditions, window, error, result)


def _with_window(bare: ActionRequest, window: Window | None) -> ActionRequest:
    return ActionRequest(bare.turn, bare.tool, bare.arguments, window=window, error=bare.error, result=bare.result)


def _period(tool: str, arguments: Mapping[str, Any], result: Any) -> Window | None:
    if tool == "get_period":
        found = result if isinstance(result, Mapping) else {}
        return Window(_moment(found.get("start_date")), _moment(found.get("end_date"))) if found else None
    start = _moment(result)
    return Window(start, _moment(arguments.get("end_date"))) if start else None


def _moment(given: Any) -> datetime | None:
    if not isinstance(given, str):
        return None
    try:
        found = datetime.fromisoformat(given.strip())
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


# --- queries


def _read_query(bare: ActionRequest, text: str, today: date) -> ActionRequest:
    try:
        tree = parse(text)
    except QueryError:
        return bare
    queries = [tree] if isinstance(tree, Query) else [each.query for each in tree.returned]
    read = _Reading(today)
    for query in queries:
        read.query(query)
    return ActionRequest(
        bare.turn,
        bare.tool,
        bare.arguments,
        frozenset(read.objects),
        frozenset(read.fields),
        {name: frozenset(values) for name, values in read.conditions.items()},
        Window(read.start, read.end) if read.start or read.end else None,
        bare.error,
        bare.result,
    )


class _Reading:
    """What is found in a query's tree and in those within it."""

    def __init__(self, today: date) -> None:
        self.today = today
        self.objects: set[str] = set()
        self.fields: set[str] = set()
        self.conditions: dict[str, set[str]] = {}
        self.start: datetime | None = None
        self.end: datetime | None = None
        self.calendar: dict[str, float] = {}

    def query(self, query: Query) -> None:
        self.objects.add(query.source)
        for each in query.select:
            if isinstance(each, Query):
                self.query(each)
            elif isinstance(each, SelectedField):
                self.name(each.expression)
        for expression in query.group_by.items if query.group_by else ():
            self.name(expression)
        for condition in (query.where, query.having):
            if condition is not None:
                self.condition(condition)
        self._take_calendar()

    def name(self, expression: Expression) -> None:
        for path in _paths(expression):
            self.fields.add(path.parts[-1])
            # A path through parents reads their objects, too.
            self.objects.update({"Order"} if "Order" in path.parts[:-1] else ())
            self.objects.update({"Account"} if "Account" in path.parts[:-1] else ())
            self.objects.update({"OrderItem"} if "OrderItemId__r" in path.parts[:-1] else ())

    def condition(self, condition: Condition) -> None:
        match condition:
            case And(items) | Or(items):
                for each in items:
                    self.condition(each)
            case Not(item):
                self.condition(item)
            case Comparison(left, operator, right):
                self.name(left)
                self._compare(left, operator, right)

    def _compare(self, left: Expression, operator: str, right: Literal | tuple[Literal, ...] | Query) -> None:
        for path in _paths(left):
            values = self.conditions.setdefault(path.parts[-1], set())
            if isinstance(right, Query):
                self.query(right)
                values.add("")
            elif isinstance(right, Literal):
                values.add("" if right.value is None else str(right.value))
            else:
                values.update(str(each.value) for each in right)
            if isinstance(right, Literal) and path.parts[-1] in _TIMES:
                if isinstance(left, Call):
                    if isinstance(right.value, int | float) and operator == "=":
                        self.calendar[left.name] = float(right.value)
                else:
                    self._bound(operator, right)

    def _bound(self, operator: str, right: Literal) -> None:
        try:
            first, end = _span(right, self.today)
        except (ValueError, OverflowError):
            return
        exact = first == end
        if operator in ("=", ">=", ">"):
            start = end if operator == ">" and not exact else first
            self.start = start if self.start is None else max(self.start, start)
        if operator in ("=", "<=", "<"):
            # 23:59:59 and what is just before midnight are the midnight that follows.
            stop = first if operator == "<" else end
            stop = stop + _SECOND if stop.second == 59 else stop
            self.end = stop if self.end is None else min(self.end, stop)

    def _take_calendar(self) -> None:
        """CALENDAR_YEAR(…) = 2021 AND CALENDAR_MONTH(…) = 3 as a window."""
        year = self.calendar.get("CALENDAR_YEAR") or self.calendar.get("FISCAL_YEAR")
        if not year or self.start or self.end:
            return
        month, quarter = self.calendar.get("CALENDAR_MONTH"), self.calendar.get("CALENDAR_QUARTER")
        first, length = (month, 1) if month else (3 * quarter - 2, 3) if quarter else (1.0, 12)
        try:
            self.start = datetime(int(year), int(first), 1, tzinfo=UTC)
            after = int(first) + length - 1
            self.end = datetime(int(year) + after // 12, after % 12 + 1, 1, tzinfo=UTC)
        except ValueError:
            self.start = self.end = None


def _span(literal: Literal, today: date) -> tuple[datetime, datetime]:
    """The first moment of a date or time that is written out, and the first after it."""
    if literal.kind == "relative":
        first, end = days_of(str(literal.value), literal.n, today)
        return datetime.combine(first, time(), UTC), datetime.combine(end, time(), UTC)
    if literal.kind == "date":
        day = datetime.combine(date.fromisoformat(str(literal.value)), time(), UTC)
        return day, day + timedelta(days=1)
    if literal.kind == "datetime" and (moment := _moment(literal.value)):
        return moment, moment
    raise ValueError("no date")


def _paths(expression: Expression | None) -> Iterator[Path]:
    while isinstance(expression, Call):
        expression = expression.argument
    if isinstance(expression, Distance):
        expression = expression.place
    if expression is not None:
        yield expression


def _flat(value: Any) -> set[str]:
    """Every text in arguments."""
    found: set[str] = set()
    todo = [value]
    while todo:
        each = todo.pop()
        if isinstance(each, str):
            found.add(each)
        elif isinstance(each, Mapping):
            todo += [*each.values()]
        elif isinstance(each, list):
            todo += each
    return found


def read_actions(messages: Any, today: date) -> list[ActionRequest]:
    """What the actions of an attempt asked for, in their order, the answer left out."""
    shown = {message.data.get("call"): message for message in messages if message.role == "tool"}
    found = []
    for message in messages:
        for call in message.tool_calls:
            seen = shown.get(call.id)
            if message.role != "agent" or seen is None:
                continue
            arguments, _ = read_arguments(call.arguments)
            found.append(
                read_call(call.name, arguments, today, message.turn, seen.data.get("error"), _read_result(seen.text))
            )
    return found


def _read_result(text: str) -> Any:
    """What an observation says, as far as it can be read again; a note about what was left out ends it."""
    import orjson

    line, _, note = text.partition("\n")
    try:
        return orjson.loads(line if note.startswith("(The first") else text)
    except orjson.JSONDecodeError:
        return text
