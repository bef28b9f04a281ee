"""A query's tree as a plan: SQL with its parameters, and how its rows become records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from cxlab.benchmarks.crmarena.organisation.schema import FieldInfo, ObjectInfo, Schema
from cxlab.benchmarks.crmarena.soql import conditions
from cxlab.benchmarks.crmarena.soql.errors import QueryError, invalid_field, malformed, no_such_type
from cxlab.benchmarks.crmarena.soql.plan import Children, Output, QueryPlan
from cxlab.benchmarks.crmarena.soql.scope import AGGREGATES, DATE_FUNCTIONS, SHOWN_ONLY, Context, Meaning, Scope
from cxlab.benchmarks.crmarena.soql.shown_values import shown
from cxlab.benchmarks.crmarena.soql.syntax import (
    AllFields,
    Call,
    Comparison,
    Expression,
    Path,
    Query,
    SelectedField,
    TypeOf,
)

# The product's limits.
DEEPEST_CHILDREN = 5
MOST_CHILDREN = 20
MOST_SEMI_JOINS = 2
MOST_GROUP_FIELDS = 3
LARGEST_FIELDS_LIMIT = 200
MOST_GROUPS = 2000


Narrow = Callable[[Scope, bool], tuple[str, str]]
"""Given a query's names and whether it has an order: a further condition, and an order or "" where it has one."""


def translate(
    query: Query,
    schema: Schema,
    today: date,
    text: str = "",
    has_odd_ids: bool = False,
    narrow: Narrow | None = None,
) -> QueryPlan:
    """The plan of a query; QueryError for names, types or combinations that do not hold.

    `text` is the query's text, for messages; `has_odd_ids`: the organisation's ids are not of 18 characters.
    """
    context = Context(schema, today, text, has_odd_ids)
    info = schema.object(query.source)
    if info is None:
        raise no_such_type(query.source, text, query.source_at)
    return _Planner(context, query, info, narrow=narrow).plan()


class _Planner:
    def __init__(
        self, context: Context, query: Query, info: ObjectInfo, depth: int = 1, narrow: Narrow | None = None
    ) -> None:
        self.context, self.query, self.info, self.depth, self.narrow = context, query, info, depth, narrow
        self.scope = Scope(context, info, (query.alias,))
        for alias, way in query.aliases:
            self.scope.name_way(alias, way)

    def _malformed(self, problem: str, at: int) -> QueryError:
        return malformed(problem, self.context.text, at)

    # --- the three kinds

    def plan(self, child: FieldInfo | None = None) -> QueryPlan:
        """`child`: the field that refers to the parents, whose ids are the first parameter."""
        query = self.query
        if child is not None:
            self.context.params.append(None)  # the parents' ids
        counted = [s for s in query.select if isinstance(s, SelectedField) and _is_bare_count(s.expression)]
        if counted:
            return self._count(counted[0].expression.at, child)
        if query.group_by or any(isinstance(s, SelectedField) and makes_groups(s.expression) for s in query.select):
            if child is not None:
                raise self._malformed("a query inside SELECT cannot aggregate", query.at)
            return self._groups()
        return self._records(child)

    def _where(self) -> str:
        if self.query.where is None:
            return ""
        return " WHERE " + conditions.to_sql(self.query.where, self.scope, self._semi_join)

    def _paging(self) -> str:
        sql = f" LIMIT {self.query.limit}" if self.query.limit is not None else ""
        return sql + (f" OFFSET {self.query.offset}" if self.query.offset else "")

    def _count(self, at: int, child: FieldInfo | None) -> QueryPlan:
        query = self.query
        if len(query.select) > 1 or query.group_by or query.order_by or child is not None:
            raise self._malformed(
                "COUNT() stands alone, without GROUP BY and ORDER BY; COUNT(Id) can be one of many", at
            )
        where = self._where()
        sql = f"SELECT count(*) FROM (SELECT 1 FROM {self.scope.from_sql}{where}{self._paging()})"
        return QueryPlan("count", self.info.name, sql, tuple(self.context.params), (Output(("expr0",)),))

    def _groups(self) -> QueryPlan:
        query, scope = self.query, self.scope
        grouped = [self._group_item(item) for item in query.group_by.items] if query.group_by else []
        keys: dict[str, int] = {}
        columns, outputs = [], []
        for item in query.select:
            if not isinstance(item, SelectedField):
                at = getattr(item, "at", query.at)
                raise self._malformed("an aggregate query selects fields and functions only", at)
            meaning = scope.meaning(item.expression)
            self._must_be_grouped(meaning, grouped, "Field must be grouped or aggregated")
            name = item.alias or (meaning.keys[-1] if meaning.keys else f"expr{_next_number(keys)}")
            if name.lower() in (key.lower() for key in keys):
                raise self._malformed(f"duplicate alias: {name}", meaning.at)
            keys[name] = meaning.at
            sql, convert = shown(meaning)
            columns.append(sql)
            outputs.append(Output((name,), convert))
        if not query.group_by and query.limit is not None:
            raise self._malformed(
                "Non-grouped query that uses overall aggregate functions cannot also use LIMIT", query.at
            )
        order = [self._order_sql(o.expression, o.descending, o.nulls_last, grouped) for o in query.order_by]
        kind = query.group_by.kind if query.group_by else ""
        for meaning in grouped:  # sums behind what they are of
            order += [f"grouping({meaning.sql})"] if kind else []
            order.append(f"{meaning.sql} ASC NULLS FIRST")
        where = self._where()
        having = ""
        if query.having is not None:
            having = " HAVING " + conditions.to_sql(query.having, scope, self._semi_join, grouped=True)
            self._check_having(grouped)
        by = ", ".join(meaning.sql for meaning in grouped)
        group_sql = f" GROUP BY {kind}({by})" if kind else f" GROUP BY {by}" if grouped else ""
        order_sql = f" ORDER BY {', '.join(order)}" if order else ""
        sql = f"SELECT {', '.join(columns)} FROM {scope.from_sql}{where}{group_sql}{having}{order_sql}{self._paging()}"
        return QueryPlan("groups", self.info.name, sql, tuple(self.context.params), tuple(outputs))

    def _group_item(self, expression: Expression) -> Meaning:
        meaning = self.scope.meaning(expression)
        of_day = meaning.function in DATE_FUNCTIONS
        if meaning.aggregate or not (isinstance(expression, Path) or of_day):
            raise self._malformed(f"cannot be grouped by: {meaning.shown}", meaning.at)
        if (
            not of_day
            and meaning.field
            and (not meaning.field.filterable or meaning.type in ("datetime", "multipicklist", "number", "currency"))
        ):
            problem = f"field '{meaning.shown}' can not be grouped in a query call"
            raise invalid_field(problem, self.context.text, meaning.at)
        group_by = self.query.group_by
        if group_by and group_by.kind and len(group_by.items) > MOST_GROUP_FIELDS:
            raise self._malformed(f"{group_by.kind} takes at most {MOST_GROUP_FIELDS} fields", meaning.at)
        return meaning

    def _must_be_grouped(self, meaning: Meaning, grouped: list[Meaning], problem: str) -> None:
        if meaning.function == "GROUPING":
            inner = meaning.sql.removeprefix("grouping(").removesuffix(")")
            if not any(inner == each.sql for each in grouped):
                raise self._malformed(f"GROUPING takes a field of GROUP BY: {meaning.shown}", meaning.at)
            return
        if not meaning.aggregate and not any(meaning.sql == each.sql for each in grouped):
            raise self._malformed(f"{problem}: {meaning.shown}", meaning.at)

    def _check_having(self, grouped: list[Meaning]) -> None:
        todo: list[Any] = [self.query.having]
        while todo:
            one = todo.pop()
            if isinstance(one, Comparison):
                self._must_be_grouped(
                    self.scope.meaning(one.left), grouped, "Having field must be grouped or aggregated"
                )
            else:
                todo += getattr(one, "items", None) or [one.item]

    def _order_sql(
        self, expression: Expression, descending: bool, nulls_last: bool, grouped: list[Meaning] | None = None
    ) -> str:
        meaning = self.scope.meaning(expression)
        if grouped is not None:
            self._must_be_grouped(meaning, grouped, "Ordered field must be grouped or aggregated")
        elif meaning.aggregate:
            raise self._malformed(f"Ordered field must be grouped or aggregated: {meaning.shown}", meaning.at)
        if (
            not meaning.aggregate and meaning.field and not meaning.field.filterable
        ) or meaning.type == "multipicklist":
            problem = f"field '{meaning.shown}' can not be sorted in a query call"
            raise invalid_field(problem, self.context.text, meaning.at)
        if meaning.function in SHOWN_ONLY:
            raise self._malformed(f"{meaning.function} cannot be used with ORDER BY", meaning.at)
        values = meaning.field.values if meaning.field and meaning.type == "picklist" and not meaning.aggregate else ()
        folds = meaning.type in ("string", "text", "picklist", "email", "phone", "url")
        sql = f"lower({meaning.sql})" if folds else meaning.sql
        if values:
            # A picklist is sorted as its values were set up, others behind them.
            place = f"list_position({self.context.add([*values])}::VARCHAR[], {meaning.sql})"
            sql = f"CASE WHEN {meaning.sql} IS NULL THEN NULL ELSE coalesce({place}, {len(values) + 1}) END"
        return f"{sql} {'DESC' if descending else 'ASC'} NULLS {'LAST' if nulls_last else 'FIRST'}"

    def _records(self, child: FieldInfo | None) -> QueryPlan:
        query, scope = self.query, self.scope
        selected: dict[tuple[str, ...], tuple[str, Output]] = {}
        children = []
        for item in query.select:
            if isinstance(item, Query):
                children.append(self._children(item))
                continue
            for meaning, places in self._selected(item):
                key = places or (f"expr{sum(held[0].startswith('expr') for held in selected)}",)
                if key in selected:
                    raise self._malformed(f"duplicate field selected: {'.'.join(key)}", meaning.at)
                sql, convert = shown(meaning)
                selected[key] = sql, Output(key, convert)
        if not selected and not children:
            raise self._malformed("nothing is selected", query.at)
        parents = {
            keys: joined
            for keys, joined in scope.joined.items()
            if any(key[: len(keys)] == keys and len(key) > len(keys) for key in selected)
        }
        columns = [scope.column("Id"), *(f'{joined.alias}."Id"' for joined in parents.values())]
        columns += [sql for sql, _ in selected.values()]
        where = self._where()
        order = [self._order_sql(o.expression, o.descending, o.nulls_last) for o in query.order_by]
        if self.narrow is not None:
            found, first = self.narrow(scope, bool(order))
            where = f"{where} AND {found}" if where else f" WHERE {found}"
            order += [first] if first else []
        order_sql = ", ".join([*order, f"{scope.own.alias}.rowid"])
        if child is None:
            rest = f"{where} ORDER BY {order_sql}{self._paging()}"
        else:
            column = scope.column(child.name)
            columns.insert(0, column)
            mine = f"{column} IN (SELECT unnest($1::VARCHAR[]))"
            where = f"{where} AND {mine}" if where else f" WHERE {mine}"
            rest = where + self._paging_by_parent(column, order_sql) + f" ORDER BY {order_sql}"
        return QueryPlan(
            "records",
            self.info.name,
            f"SELECT {', '.join(columns)} FROM {scope.from_sql}{rest}",
            tuple(self.context.params),
            tuple(output for _, output in selected.values()),
            {keys: joined.info.name for keys, joined in parents.items()},
            tuple(children),
            child is not None,
        )

    def _paging_by_parent(self, column: str, order: str) -> str:
        first, limit = self.query.offset or 0, self.query.limit
        if not first and limit is None:
            return ""
        number = f"row_number() OVER (PARTITION BY {column} ORDER BY {order})"
        upto = f" AND {number} <= {first + limit}" if limit is not None else ""
        return f" QUALIFY {number} > {first}{upto}"

    def _selected(self, item: SelectedField | AllFields | TypeOf) -> list[tuple[Meaning, tuple[str, ...]]]:
        """The fields that one entry of SELECT asks for, with their places in a record."""
        if isinstance(item, AllFields):
            return self._all_fields(item)
        if isinstance(item, TypeOf):
            return self._typeof(item)
        if item.alias is not None:
            at = item.expression.at
            if isinstance(item.expression, Path):
                raise self._malformed(f"only aggregate expressions use field aliasing: {item.alias}", at)
            return [(self.scope.meaning(item.expression), (item.alias,))]
        meaning = self.scope.meaning(item.expression)
        return [(meaning, meaning.keys)]

    def _all_fields(self, item: AllFields) -> list[tuple[Meaning, tuple[str, ...]]]:
        limit = self.query.limit
        if item.group != "STANDARD" and (limit is None or limit > LARGEST_FIELDS_LIMIT):
            problem = f"The SOQL FIELDS function must have a LIMIT of at most {LARGEST_FIELDS_LIMIT}"
            raise self._malformed(problem, item.at)
        wanted = [
            name for name in self.info.fields if item.group == "ALL" or name.endswith("__c") == (item.group == "CUSTOM")
        ]
        found = [self.scope.field(Path((name,), item.at)) for name in wanted]
        return [(meaning, meaning.keys) for meaning in found]

    def _typeof(self, item: TypeOf) -> list[tuple[Meaning, tuple[str, ...]]]:
        holder = self.scope.follow(item.path.parts, item.path)
        above = self.scope.joined.get(holder.keys[:-1], self.scope.own)
        way = above.info.way(holder.keys[-1])
        if way is None or way.reference is None or not way.reference.polymorphic:
            problem = f"TYPEOF takes a relationship that can lead to several objects, and '{item.path}' leads to one"
            raise self._malformed(problem, item.at)
        chosen = next((fields for type_, fields in item.cases if type_.lower() == holder.info.name.lower()), None)
        paths = [Path((*item.path.parts, *path.parts), path.at) for path in chosen or item.otherwise]
        found = [self.scope.field(path) for path in paths]
        return [(meaning, meaning.keys) for meaning in found]

    # --- queries inside this one

    def _children(self, query: Query) -> Children:
        self.context.children += 1
        if query.offset and self.query.limit != 1:
            raise self._malformed("a query inside SELECT has OFFSET only where the outer one has LIMIT 1", query.at)
        if self.context.children > MOST_CHILDREN:
            raise self._malformed(f"a query has at most {MOST_CHILDREN} queries inside SELECT", query.at)
        if self.depth >= DEEPEST_CHILDREN:
            raise self._malformed(f"queries inside SELECT go at most {DEEPEST_CHILDREN} levels deep", query.at)
        child = self.context.schema.children(self.info.name).get(query.source.lower())
        if child is None:
            known = ", ".join(each.name for each in self.context.schema.children(self.info.name).values()) or "none"
            problem = (
                f"Didn't understand relationship '{query.source[:80]}' in FROM part of query call. Names of custom "
                f"relationships end in '__r'; ways from {self.info.name}: {known}."
            )
            raise QueryError("INVALID_TYPE", problem, self.context.text, query.source_at)
        info = self.context.schema.objects[child.object]
        # Its own statement, with parameters of its own; what the whole query may have of each thing is counted on.
        own = Context(self.context.schema, self.context.today, self.context.text, self.context.has_odd_ids)
        own.children, own.semi_joins, own.ways = self.context.children, self.context.semi_joins, self.context.ways
        plan = _Planner(own, query, info, self.depth + 1).plan(info.fields[child.field])
        self.context.children, self.context.semi_joins = own.children, own.semi_joins
        self.context.ways = own.ways
        return Children(child.name, plan)

    def _semi_join(self, query: Query, left: Meaning) -> str:
        self.context.semi_joins += 1
        if self.context.semi_joins > MOST_SEMI_JOINS:
            raise self._malformed(f"a query has at most {MOST_SEMI_JOINS} semi join sub-selects", query.at)
        if query.order_by or query.limit is not None or query.offset is not None or query.group_by or query.locks:
            told = "a sub-select in WHERE has no GROUP BY, ORDER BY, LIMIT, OFFSET or FOR UPDATE"
            raise self._malformed(told, query.at)
        info = self.context.schema.object(query.source)
        if info is None:
            raise no_such_type(query.source, self.context.text, query.source_at)
        only = query.select[0]
        if len(query.select) != 1 or not isinstance(only, SelectedField) or not isinstance(only.expression, Path):
            raise self._malformed("a sub-select in WHERE selects one id field", query.at)
        if info is self.info:
            told = "The inner and outer selects should not be on the same object type"
            problem = f"{told}; put the inner conditions into the outer WHERE"
            raise self._malformed(problem, query.source_at)
        planner = _Planner(self.context, query, info)
        found = planner.scope.field(only.expression)
        for one in (left, found):
            if len(one.keys) > 1:
                problem = f"a semi-join compares fields of the objects themselves; {one.shown} leads to a parent"
                raise self._malformed(problem, one.at)
        if found.type not in ("id", "reference"):
            problem = f"The inner select field '{found.shown}' must be an id field"
            raise invalid_field(problem, self.context.text, found.at)
        outer, inner = _target(left), _target(found)
        if outer != inner:
            problem = f"The inner and outer selected fields should refer to the same type: {inner} and {outer}"
            raise self._malformed(problem, found.at)
        if query.where is None:
            return f"SELECT {found.sql} FROM {planner.scope.from_sql}"
        where = conditions.to_sql(query.where, planner.scope, planner._nested_semi_join)
        return f"SELECT {found.sql} FROM {planner.scope.from_sql} WHERE {where}"

    def _nested_semi_join(self, query: Query, left: Meaning) -> str:
        del left
        raise self._malformed("Nesting of semi join sub-selects is not supported", query.at)


def _target(meaning: Meaning) -> str:
    """The object whose ids a field holds."""
    if meaning.field is None:
        return ""
    return meaning.field.reference.to if meaning.field.reference else meaning.field.object


def _is_bare_count(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.name == "COUNT" and expression.argument is None


def makes_groups(expression: Expression) -> bool:
    """Whether a function in SELECT makes the query one about groups."""
    return isinstance(expression, Call) and (
        expression.name in AGGREGATES
        or expression.name in DATE_FUNCTIONS
        or expression.name == "GROUPING"
        or (expression.argument is not None and makes_groups(expression.argument))
    )


def _next_number(keys: Mapping[str, int]) -> int:
    return sum(key.startswith("expr") and key[4:].isdecimal() for key in keys)
