"""SOSL: `FIND {…} IN … FIELDS RETURNING …` to its syntax tree.

What stands in the braces has a grammar of its own: words, "quoted phrases", `*` for any letters and `?` for one, AND,
OR and AND NOT, brackets. Words without an operator between them must all be found. AND NOT binds closest, then AND.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.soql.lexer import Token, check_letters, split, unescape
from cxlab.benchmarks.crmarena.soql.parser import Reader
from cxlab.benchmarks.crmarena.soql.syntax import (
    AllOf,
    AnyOf,
    Query,
    ReturnedObject,
    Search,
    SearchTerm,
    SelectedField,
    Without,
    Words,
)
from cxlab.benchmarks.crmarena.soql.syntax import Path as FieldPath
from cxlab.benchmarks.crmarena.soql.token_reader import DEEPEST

# The product's limits: of a search as a whole, and of what stands in the braces.
LONGEST = 20_000
LONGEST_TERM = 4_000
MOST_RECORDS = 2_000
_FIND = re.compile(r"\s*FIND\s*", re.I)
_PIECE = re.compile(r'\s*(?:(?P<mark>[()])|"(?P<phrase>(?:[^"\\]|\\.)*+)"|(?P<word>(?:[^\s()"\\]|\\.)++))', re.S)
_LETTER = re.compile(r"[^\W_]|[*?]")
_OPERATORS = frozenset({"AND", "OR", "NOT"})
_GROUPS = ("ALL", "NAME", "EMAIL", "PHONE", "SIDEBAR")
# What the product adds to an answer or leaves out of it, and this one neither does nor needs.
_IGNORED = ("SNIPPET", "HIGHLIGHT", "METADATA", "SPELL_CORRECTION")


def malformed_search(problem: str, text: str = "", at: int | None = None) -> QueryError:
    """A search that does not follow the grammar."""
    return QueryError("MALFORMED_SEARCH", problem, text, at)


def is_search(text: str) -> bool:
    """Whether a text is a search rather than a query."""
    return _FIND.match(text) is not None


def parse_search(text: str) -> Search:
    """The tree of a SOSL search; QueryError with its place for what is none."""
    if len(text) > LONGEST:
        raise malformed_search(f"SOSL statements cannot be longer than {LONGEST} characters.")
    found = _FIND.match(text)
    if found is None:
        raise malformed_search("a search begins with FIND {…}", text, 0)
    try:
        check_letters(text)
        term, at = _find_term(text, found.end())
        return _Reader(text, split(text, at)).search(term)
    except QueryError as fault:
        if fault.code != "MALFORMED_QUERY":
            raise
        fault.code = "MALFORMED_SEARCH"
        fault.args = (f"{fault.code}: {fault.message}",)
        raise


def _find_term(text: str, at: int) -> tuple[SearchTerm, int]:
    """What is looked for, and where the rest of the search begins."""
    if text[at : at + 1] == "'":  # as Apex writes it
        token = split(text, at)[0]
        inside, end = unescape(token, text)[0], at + len(token.text)
    else:
        if text[at : at + 1] != "{":
            raise malformed_search("a search begins with FIND {…}", text, at)
        closing = re.compile(r"(?:[^\\}]|\\.)*+", re.S).match(text, at + 1)
        end = closing.end() + 1 if closing else at + 1
        if text[end - 1 : end] != "}":
            raise malformed_search("the braces behind FIND are not closed", text, at)
        inside = text[at + 1 : end - 1]
    if len(inside) > LONGEST_TERM:
        raise malformed_search(f"a search term has at most {LONGEST_TERM} characters", text, at)
    return _TermReader(inside, text, at).read(), end


class _TermReader:
    def __init__(self, inside: str, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.pieces: list[tuple[str, str]] = []
        place = 0
        while place < len(inside.rstrip()):
            found = _PIECE.match(inside, place)
            if found is None:
                raise self.fail("quotes are not closed")
            kind = found.lastgroup or ""
            self.pieces.append((kind, found[kind]))
            place = found.end()
        self.place = self.depth = 0

    def fail(self, problem: str) -> QueryError:
        return malformed_search(f"in the search term: {problem}", self.text, self.at)

    def read(self) -> SearchTerm:
        found = self.any_of()
        if self.place < len(self.pieces):
            raise self.fail(f"unexpected '{self.pieces[self.place][1][:40]}'")
        return found

    def sees(self, *operators: str) -> bool:
        if self.place >= len(self.pieces):
            return False
        kind, piece = self.pieces[self.place]
        return (kind == "word" and piece.upper() in operators) or (kind == "mark" and piece in operators)

    def take(self, *operators: str) -> bool:
        if not self.sees(*operators):
            return False
        self.place += 1
        return True

    def any_of(self) -> SearchTerm:
        items = [self.all_of()]
        while self.take("OR"):
            items.append(self.all_of())
        return items[0] if len(items) == 1 else AnyOf(tuple(items))

    def all_of(self) -> SearchTerm:
        items = [self.one()]
        while self.place < len(self.pieces) and not self.sees("OR", ")"):
            if (self.take("AND") and self.take("NOT")) or self.take("NOT"):
                items[-1] = Without(items[-1], self.one())
            else:
                items.append(self.one())
        # A dash between words is no word.
        items = [item for item in items if not isinstance(item, Words) or _LETTER.search(item.text)] or items[:1]
        return items[0] if len(items) == 1 else AllOf(tuple(items))

    def one(self) -> SearchTerm:
        if self.take("("):
            self.depth += 1
            if self.depth > DEEPEST:
                raise self.fail(f"nested more than {DEEPEST} deep")
            found = self.any_of()
            if not self.take(")"):
                raise self.fail("brackets are not closed")
            self.depth -= 1
            return found
        if self.place >= len(self.pieces) or self.sees(")", *_OPERATORS):
            raise self.fail("a word is missing")
        kind, piece = self.pieces[self.place]
        self.place += 1
        return Words(piece, phrase=kind == "phrase")


class _Reader(Reader):
    """What follows the braces; conditions and orders are SOQL's."""

    def search(self, term: SearchTerm) -> Search:
        group = "ALL"
        if self.take("IN"):
            group = (self.take(*_GROUPS) or self.refuse()).upper
            self.expect("FIELDS")
        returned = self.listed(self.returned) if self.take("RETURNING") else ()
        while self.take("WITH"):
            self.take(*_IGNORED) or self.refuse()
            if self.take("="):
                self.take("TRUE", "FALSE") or (self.step() if self.token.kind == "string" else self.refuse())
            elif self.take("("):
                while self.token.kind == "name" or self.sees("="):
                    self.step()
                self.count()
                self.expect(")")
        limit = None
        if self.take("LIMIT"):
            at = self.token.at
            limit = self.count()
            if not 1 <= limit <= MOST_RECORDS:
                raise QueryError("INVALID_SEARCH", f"LIMIT is from 1 to {MOST_RECORDS}", self.text, at)
        self.end()
        return Search(term, group, returned, limit)

    def returned(self) -> ReturnedObject:
        source: Token = self.name()
        fields: tuple[SelectedField, ...] = ()
        query = Query((), source.text, source_at=source.at, at=source.at)
        if self.take("("):
            self.depth += 1
            fields = self.listed(self.returned_field)
            clauses = self.clauses()
            if clauses.group_by:
                self.refuse()
            self.expect(")")
            self.depth -= 1
            query = replace(clauses, select=fields, source=source.text, source_at=source.at, at=source.at)
        if not fields:
            query = replace(query, select=(SelectedField(FieldPath(("Id",), source.at)),))
        return ReturnedObject(query)

    def returned_field(self) -> SelectedField:
        return SelectedField(self.expression())
