"""JSON of other people: one value, or one value a line."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from cxlab.errors import BadFile
from cxlab.files.limits import LARGEST, Fault, check_key, decode, find_fault, read_float, read_int, read_text

LONGEST_LINE = 20_000_000
"""Bytes of one line of JSON Lines: a long conversation has some 100 kB."""
_AGAIN = "fetch or write it again"
_NO_SPACE = re.compile(r"[^ \t\n\r]")
# Characters of a list that are read at once.
_WINDOW = 1 << 20


def read_json(path: Path, largest: int = LARGEST) -> Any:
    """The file as plain data; BadFile with the line of what is wrong."""
    return parse_json(read_text(path, largest), path)


def parse_json(text: str, name: object, line: int = 1) -> Any:
    """The text as plain data, keys given twice refused; `line` is the one that the text begins in.

    BadFile for what is no JSON, or is beyond the limits.
    """
    try:
        found = json.loads(
            text, object_pairs_hook=_unique, parse_int=read_int, parse_float=read_float, parse_constant=read_float
        )
    except json.JSONDecodeError as error:
        raise BadFile(name, line + error.lineno - 1, f"not JSON: {error.msg}", _AGAIN) from None
    except Fault as fault:
        at = text.count("\n", 0, max(0, _find(text, fault)))
        raise BadFile(name, line + at, fault.problem, fault.fix) from None
    except RecursionError:
        raise BadFile(name, line, "nested thousands deep", "make it flatter") from None
    if beyond := find_fault(found):
        where = f" at {'.'.join(beyond.where[:6])}" if beyond.where else ""
        raise BadFile(name, line, f"{beyond.problem}{where}", beyond.fix)
    return found


def read_json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """(line, value) for each line that is not empty; what is wrong with a line comes as a BadFile in the value's place.

    Reads one line at a time. BadFile is raised where the file itself cannot be read.
    """
    try:
        with path.open("rb") as file:
            yield from _read_lines(file, path)
    except OSError as error:
        raise BadFile(path, None, f"cannot be read ({error.strerror})", "check the path and who may read it") from None


def read_json_list(path: Path, parts: bool = False) -> Iterator[tuple[int, Any]]:
    """(line in which it begins, value) for each entry of a file that is one JSON list; what is wrong with an entry
    comes as a BadFile in the value's place. `parts`: also of an object that holds lists and nothing else, as those of
    training and test, one list after the other.

    Holds one entry at a time, however large the file is. BadFile is raised for what is no list, and where the list
    cannot be followed any more. (ijson streams, too, but takes a key twice and knows no lines.)
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from _ListReader(file, path).read(parts)
    except OSError as error:
        raise BadFile(path, None, f"cannot be read ({error.strerror})", "check the path and who may read it") from None


class _ListReader:
    """A list's text in a window that begins at the entry that is read."""

    def __init__(self, file: TextIO, path: Path) -> None:
        self.file, self.path = file, path
        self.text, self.at, self.line, self.ended = "", 0, 1, False
        # Where an entry ends is told by any reading of it; what it may hold is for the strict one.
        self.find_end = json.JSONDecoder().raw_decode

    def read(self, parts: bool) -> Iterator[tuple[int, Any]]:
        if parts and self._next() == "{":
            yield from self._read_parts()
        else:
            yield from self._read_list()
        if self._next():
            raise BadFile(self.path, self.line, "not JSON: something stands after the list", _AGAIN)

    def _read_parts(self) -> Iterator[tuple[int, Any]]:
        sign = ","
        while sign == ",":
            self.at += 1
            self._next()
            self._pass(self.at + len(self._take()))
            if self._next() == ":":
                self.at += 1
            yield from self._read_list()
            sign = self._next()
        if sign != "}":
            raise BadFile(self.path, self.line, "not JSON: no comma or } after a list", _AGAIN)
        self.at += 1

    def _read_list(self) -> Iterator[tuple[int, Any]]:
        if self._next() != "[":
            raise BadFile(self.path, self.line, "is no JSON list", "give a list, or JSON Lines")
        self.at += 1
        if self._next() == "]":
            self.at += 1
        else:
            while True:
                self._next()
                text, line = self._take(), self.line
                try:
                    yield line, parse_json(text, self.path, line)
                except BadFile as fault:
                    yield line, fault
                self._pass(self.at + len(text))
                sign = self._next()
                self.at += 1
                if sign == "]":
                    break
                if sign != ",":
                    told = f"{sign!r} stands" if sign else "the file ends"
                    raise BadFile(self.path, self.line, f"not JSON: {told} where a comma or ] should", _AGAIN)

    def _next(self) -> str:
        """Go to the next character that is no space; "" at the end of the file."""
        while True:
            found = _NO_SPACE.search(self.text, self.at)
            self._pass(found.start() if found else len(self.text))
            if found or not self._fill():
                return self.text[self.at] if found else ""

    def _pass(self, place: int) -> None:
        self.line += self.text.count("\n", self.at, place)
        self.at = place

    def _fill(self) -> bool:
        """Read on, as much as is held already, so that a long entry is not read again and again."""
        if self.ended:
            return False
        try:
            more = self.file.read(max(_WINDOW, len(self.text) - self.at))
        except UnicodeDecodeError:
            raise BadFile(self.path, _find_foreign_line(self.path), "is no UTF-8", "save the file as UTF-8") from None
        self.text, self.at, self.ended = self.text[self.at :] + more, 0, not more
        return not self.ended

    def _take(self) -> str:
        """The text of the entry that begins here; its lines are counted when it is passed."""
        while True:
            try:
                _, end = self.find_end(self.text, self.at)
            except json.JSONDecodeError as error:
                if len(self.text) - self.at > LONGEST_LINE:
                    raise BadFile(self.path, self.line, "an entry of more than 20 million characters, or broken",
                                  _AGAIN) from None  # fmt: skip
                if self._fill():
                    continue
                at = self.line + self.text.count("\n", self.at, error.pos)
                raise BadFile(self.path, at, f"not JSON: {error.msg}", _AGAIN) from None
            except RecursionError:
                raise BadFile(self.path, self.line, "nested thousands deep", "make it flatter") from None
            # A number goes on where the window ends.
            if end < len(self.text) or not self._fill():
                return self.text[self.at : end]


def _find_foreign_line(path: Path) -> int:
    """The line of the first byte that is no UTF-8."""
    decoder, line = codecs.getincrementaldecoder("utf-8")(), 1
    with path.open("rb") as file:
        while block := file.read(_WINDOW):
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                # What it kept of the block before stands in front of this one, and holds no line break.
                return line + error.object[: error.start].count(b"\n")
            line += block.count(b"\n")
    return line


def _read_lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    while content := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(content) > LONGEST_LINE:
            while content and not content.endswith(b"\n"):
                content = file.readline(LONGEST_LINE)
            yield number, BadFile(path, number, f"a line of more than {LONGEST_LINE / 1e6:.0f} MB", "split it")
            continue
        if not content.strip():
            continue
        try:
            yield number, parse_json(_decode_line(content.strip(), path, number), path, number)
        except BadFile as fault:
            yield number, fault


def _decode_line(content: bytes, path: Path, number: int) -> str:
    try:
        return decode(content, path)
    except BadFile as fault:
        raise BadFile(path, number, fault.problem, fault.fix) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise Fault(f"the key {check_key(key)!r} stands twice", "remove one of the two", (key,))
            seen.add(key)
    return found


def _find(text: str, fault: Fault) -> int:
    """Where the fault stands: a key's second place, a number's first."""
    if fault.where:
        shown = json.dumps(fault.where[0], ensure_ascii=False)
        return text.find(shown, text.find(shown) + 1)
    return text.find(fault.problem.removeprefix("the number ").partition(" ")[0].rstrip("…"))
