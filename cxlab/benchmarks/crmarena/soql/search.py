"""How a search finds records: its term in the texts of each object that RETURNING names.

Records whose name has the term come first, then the others, each in the order in which they are stored.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from cxlab.benchmarks.crmarena.organisation.schema import ObjectInfo, Schema
from cxlab.benchmarks.crmarena.soql.errors import QueryError, no_such_type
from cxlab.benchmarks.crmarena.soql.plan import QueryPlan
from cxlab.benchmarks.crmarena.soql.scope import Scope
from cxlab.benchmarks.crmarena.soql.search_parser import MOST_RECORDS
from cxlab.benchmarks.crmarena.soql.syntax import Path, Query, Search, SelectedField
from cxlab.benchmarks.crmarena.soql.text_index import TextIndex, letters
from cxlab.benchmarks.crmarena.soql.translate import makes_groups, translate

IndexOf = Callable[[ObjectInfo, tuple[str, ...]], TextIndex]
"""The index of an object's records by some of its fields."""
_SEARCHED = frozenset({"string", "text", "long_text", "picklist", "email", "phone", "url"})
_NAMES = ("Name", "FirstName", "LastName", "Title", "Subject")


def translate_search(
    search: Search,
    schema: Schema,
    today: date,
    text: str,
    index_of: IndexOf,
    check: Callable[[], None],
    has_odd_ids: bool = False,
) -> list[QueryPlan]:
    """A plan for each object that is looked through, in the order of RETURNING; QueryError for what does not hold.

    `check` is called now and then and raises when time is up.
    """
    if letters(search.term) < 2:
        raise QueryError("INVALID_SEARCH", "a search term needs a word of at least two letters or digits", text, 0)
    queries = [each.query for each in search.returned] or [
        Query((SelectedField(Path(("Id",))),), name) for name in schema.objects
    ]
    plans = []
    for query in queries:
        info = schema.object(query.source)
        if info is None:
            raise no_such_type(query.source, text, query.source_at)
        if any(isinstance(each, SelectedField) and makes_groups(each.expression) for each in query.select):
            raise QueryError("MALFORMED_SEARCH", "a search returns fields, no aggregates", text, query.at)
        limit = min(query.limit if query.limit is not None else MOST_RECORDS, MOST_RECORDS)
        narrow = functools.partial(_narrow, info, search, index_of, check)
        plans.append(translate(replace(query, limit=limit), schema, today, text, has_odd_ids, narrow))
    return plans


def _narrow(
    info: ObjectInfo, search: Search, index_of: IndexOf, check: Callable[[], None], scope: Scope, ordered: bool
) -> tuple[str, str]:
    """The condition that the term is found, and the order: those first whose name has it."""
    fields, names = _fields(info, search.group), _fields(info, "NAME")
    rows = index_of(info, fields).find(search.term, check) if fields else set()
    found = f"{scope.own.alias}.rowid IN ({_unnest(sorted(rows), scope)})"
    if ordered or not names:
        return found, ""
    named = rows if names == fields else index_of(info, names).find(search.term, check) & rows
    return found, f"CASE WHEN {scope.own.alias}.rowid IN ({_unnest(sorted(named), scope)}) THEN 0 ELSE 1 END"


def _unnest(rows: Sequence[int], scope: Scope) -> str:
    return f"SELECT unnest({scope.context.add(list(rows))}::BIGINT[])"


def _fields(info: ObjectInfo, group: str) -> tuple[str, ...]:
    """The fields that `IN … FIELDS` names."""
    fields = {name: field.type for name, field in info.fields.items()}
    if group == "NAME":
        return tuple(name for name in _NAMES if name in fields)
    if group in ("EMAIL", "PHONE"):
        return tuple(name for name, type_ in fields.items() if type_ == group.lower())
    searched = (name for name, type_ in fields.items() if type_ in _SEARCHED)
    if group == "SIDEBAR":
        return tuple(name for name in searched if name in _NAMES or fields[name] in ("email", "phone"))
    return tuple(searched)
