"""JSON of other people: one value, or one value a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from cxlab.errors import BadFile
from cxlab.files.limits import LARGEST, Fault, check_key, decode, find_fault, read_float, read_int, read_text

LONGEST_LINE = 20_000_000
"""Bytes of one line of JSON Lines: a long conversation has some 100 kB."""


def read_json(path: Path, largest: int = LARGEST) -> Any:
    """The file as plain data; BadFile with the line of what is wrong."""
    return parse_json(read_text(path, largest), path)


def parse_json(text: str, name: object, line: int = 1) -> Any:
    """The text as plain data, keys given twice refused; `line` is the one that the text begins in."""
    try:
        found = json.loads(
            text, object_pairs_hook=_unique, parse_int=read_int, parse_float=read_float, parse_constant=read_float
        )
    except json.JSONDecodeError as error:
        raise BadFile(name, line + error.lineno - 1, f"not JSON: {error.msg}", "fetch or write it again") from None
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
