"""What may be typed next in a query: objects, fields, ways to parents and children, functions, relative dates."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cxlab.benchmarks.crmarena.organisation.schema import ObjectInfo, Schema
from cxlab.benchmarks.crmarena.soql.scope import AGGREGATES, DATE_FUNCTIONS

# Characters before and behind the place.
_LOOKED_AT = 5000
_TYPED = re.compile(r"[A-Za-z_][\w.]*$|$", re.A)
_FROM = re.compile(r"\bFROM\s+(\w+)", re.I | re.A)
_CLAUSE = re.compile(r"\b(SELECT|FROM|WHERE|GROUP\s+BY|HAVING|ORDER\s+BY|LIMIT|RETURNING)\b", re.I)
_WORDS = {
    "": ("SELECT", "FIND"),
    "SELECT": ("FROM",),
    "FROM": ("WHERE", "GROUP BY", "ORDER BY", "LIMIT"),
    "WHERE": ("AND", "OR", "NOT", "IN", "LIKE", "NULL", "GROUP BY", "ORDER BY", "LIMIT"),
    "GROUP BY": ("HAVING", "ORDER BY", "LIMIT", "ROLLUP", "CUBE"),
    "HAVING": ("AND", "OR", "ORDER BY", "LIMIT"),
    "ORDER BY": ("ASC", "DESC", "NULLS FIRST", "NULLS LAST", "LIMIT"),
    "LIMIT": ("OFFSET",),
}
_DATES = (
    *("TODAY", "YESTERDAY", "TOMORROW", "THIS_WEEK", "LAST_WEEK", "THIS_MONTH", "LAST_MONTH", "THIS_QUARTER"),
    *("LAST_QUARTER", "THIS_YEAR", "LAST_YEAR", "LAST_N_DAYS:", "LAST_N_MONTHS:", "LAST_N_QUARTERS:", "LAST_N_YEARS:"),
)


@dataclass(frozen=True)
class Completion:
    """One thing that may come next: its text in place of the word being typed, what it is, and a word about it."""

    text: str
    kind: str
    about: str = ""


def complete(text: str, at: int, schema: Schema) -> list[Completion]:
    """What fits at a place in a query that need not be whole yet; the word that is being typed narrows it."""
    before = text[max(0, at - _LOOKED_AT) : at]
    typed = _TYPED.search(before)
    word = typed[0] if typed else ""
    head = before[: len(before) - len(word)]
    clause = _find_clause(head)
    if clause in ("FROM", "RETURNING"):
        found = _objects(head, text, schema)
    elif "." in word or clause in ("SELECT", "WHERE", "GROUP BY", "HAVING", "ORDER BY"):
        found = _fields(word, clause, _find_object(text, at, schema), schema)
    else:
        found = []
    found += [Completion(each, "word") for each in _WORDS.get(clause, ())] if "." not in word else []
    return [each for each in found if each.text.lower().startswith(word.lower())]


def _find_clause(head: str) -> str:
    """The clause that a place is in: inside brackets, that of the inner query."""
    found, opened = "", 0
    for match in reversed(list(_CLAUSE.finditer(head))):
        opened = head.count("(", match.end()) - head.count(")", match.end())
        if opened >= 0:
            found = " ".join(match[1].upper().split())
            break
    return found


def _find_object(text: str, at: int, schema: Schema) -> ObjectInfo | None:
    """The object of the query around a place: the FROM that follows it, else the one before it."""
    nearby = max(0, at - _LOOKED_AT)
    after = _FROM.search(text, at, at + _LOOKED_AT)
    before = list(_FROM.finditer(text, nearby, at))
    found = after if (_find_clause(text[nearby:at]) == "SELECT" and after) or not before else before[-1]
    if found is None:
        return None
    return schema.object(found[1]) or _child_object(found[1], schema)


def _child_object(name: str, schema: Schema) -> ObjectInfo | None:
    ways = (schema.children(object_).get(name.lower()) for object_ in schema.objects)
    return next((schema.objects[way.object] for way in ways if way is not None), None)


def _objects(head: str, text: str, schema: Schema) -> list[Completion]:
    """Objects; inside a bracket of SELECT the ways to children."""
    inside = re.search(r"\(\s*SELECT\s[^()]*$", head, re.I)
    if inside is not None and _find_clause(head[: inside.start()]) == "SELECT":
        outer = _find_object(text, len(text), schema)
        ways = schema.children(outer.name).values() if outer else ()
        return [Completion(way.name, "children", f"{way.object} records by {way.field}") for way in ways]
    return [Completion(info.name, "object", info.about) for info in schema.objects.values()]


def _fields(word: str, clause: str, info: ObjectInfo | None, schema: Schema) -> list[Completion]:
    *ways, _ = word.split(".")
    prefix = "".join(f"{way}." for way in ways)
    for way in ways:
        step = info.way(way) if info else None
        info = schema.objects[step.reference.to] if step and step.reference else None
    found: list[Completion] = []
    if info is not None:
        usable = [field for field in info.fields.values() if clause == "SELECT" or field.filterable]
        found = [Completion(f"{prefix}{field.name}", "field", field.about) for field in usable]
        found += [
            Completion(f"{prefix}{field.reference.path}.", "parent", f"{field.reference.to} by {field.name}")
            for field in info.references
            if field.reference
        ]
    if not ways:
        functions = sorted(DATE_FUNCTIONS) if clause == "WHERE" else sorted({*AGGREGATES, *DATE_FUNCTIONS})
        found += [Completion(f"{name}(", "function") for name in functions]
        found += [Completion(each, "date") for each in _DATES] if clause in ("WHERE", "HAVING") else []
    return found
