"""The words of a query, each with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cxlab.benchmarks.crmarena.soql.errors import malformed

# The product's limit for one query.
LONGEST = 100_000
_TOKEN = re.compile(
    r"""
    (?P<blank>\s++)
  | (?P<datetime>\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?+)?+(?:Z|[+-]\d\d:?\d\d)?+)(?![\w-])
  | (?P<date>\d{4}-\d\d-\d\d)(?![\w-])
  | (?P<number>[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,4})?)(?![\w])
  | (?P<name>[A-Za-z_]\w*+)
  | (?P<string>'(?:[^'\\]|\\.)*+')
  | (?P<mark><=|>=|!=|<>|[=<>(),.:])
    """,
    re.X | re.S | re.A,
)
_NO_LETTER = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.S)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "_": "_", "%": "%"}


@dataclass(frozen=True)
class Token:
    """One word: `kind` is name, number, string, date, datetime, mark or end; `text` as written."""

    kind: str
    text: str
    at: int

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind == "name" else self.text

    @property
    def shown(self) -> str:
        return "<EOF>" if self.kind == "end" else self.text[:40]


def split(text: str, at: int = 0) -> list[Token]:
    """The words of a text from an offset on, the last one of kind "end"; MALFORMED_QUERY for what is no word."""
    found = []
    check_letters(text)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at] == "'":
                raise malformed("a quoted text is not closed", text, at)
            raise malformed(f"unexpected token: '{text[at]}'", text, at)
        kind = match.lastgroup or ""
        if kind != "blank":
            found.append(Token(kind, match.group(), at))
        at = match.end()
    found.append(Token("end", "", len(text)))
    return found


def check_letters(text: str) -> None:
    """MALFORMED_QUERY for halves of surrogate pairs, which no database takes, and for NUL."""
    bad = None if text.isascii() else _NO_LETTER.search(text)
    at = text.find("\0") if bad is None else bad.start()
    if at >= 0:
        raise malformed("a character that is none", "", None)


def unescape(token: Token, text: str) -> tuple[str, str]:
    """A quoted text with its escapes resolved, and as a pattern for LIKE, in which `\\` guards `%`, `_` and itself."""
    body = token.text[1:-1]
    if "\\" not in body:
        return body, body

    def resolve(match: re.Match[str]) -> str:
        found = match[1]
        if found[0] == "u" and len(found) == 5:
            letter = chr(int(found[1:], 16))
            # Halves of surrogate pairs are no letters, and NUL ends a text in too many places.
            return "\ufffd" if "\ud800" <= letter <= "\udfff" or letter == "\0" else letter
        known = _ESCAPES.get(found.lower() if found.isalpha() else found)
        if known is None:
            raise malformed(
                f"Illegal character sequence '\\{found}' in a quoted text", text, token.at + match.start() + 1
            )
        return known

    def guard(match: re.Match[str]) -> str:
        return "\\" + match[1] if match[1] in "\\%_" else resolve(match)

    return _ESCAPE.sub(resolve, body), _ESCAPE.sub(guard, body)
