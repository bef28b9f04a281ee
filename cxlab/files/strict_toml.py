"""TOML as plain data: dates as text, and the lines that Python's own reader does not keep."""

from __future__ import annotations

import datetime
import re
import tomllib
from pathlib import Path
from typing import Any

from cxlab.errors import BadFile
from cxlab.files.complaints import Place, line_of, plain
from cxlab.files.limits import DEEPEST, LARGEST, Fault, check_text, find_fault, read_float, read_text

_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
# Parts of one dotted key; the reader's time grows with their square.
_DOTS = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"]*+"|'[^']*+')\s*+\.\s*+){{{DEEPEST}}}""")
_OPENS = re.compile(r"[\[{\]}]")


def read_toml(path: Path, largest: int = LARGEST) -> dict[str, Any]:
    """The file as plain data; BadFile with the line of what is wrong."""
    return parse_toml(read_text(path, largest), path, largest)


def parse_toml(text: str, name: object, largest: int = LARGEST) -> dict[str, Any]:
    """The text as plain data: dict, list, str, int, float and bool; dates and times as ISO text.

    BadFile for what is no TOML, or is beyond the limits.
    """
    if largest == LARGEST:
        check_text(text, name)
    for number, line in enumerate(text.splitlines(), 1):
        if _DOTS.search(line):
            raise BadFile(name, number, f"a key of more than {DEEPEST} parts", "make it flatter")
    try:
        found = tomllib.loads(text, parse_float=read_float)
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        last = text.rstrip().count("\n") + 1
        problem = f"not TOML: {plain(_AT.sub('', str(error)))}"
        raise BadFile(
            name, int(at[1]) if at and at[1] else last, problem, "text stands in quotes, a table in [ ]"
        ) from None
    except Fault as fault:
        raise BadFile(name, _line_with(text, fault.problem), fault.problem, fault.fix) from None
    except ValueError:
        # Python reads no number of more than 4,300 digits.
        at_number = _line_matching(text, r"\d{400,}")
        raise BadFile(name, at_number, "a number of thousands of digits", "write a smaller one") from None
    except RecursionError:
        raise BadFile(name, _deepest_line(text), f"nested more than {DEEPEST} deep", "make it flatter") from None
    data: dict[str, Any] = _without_dates(found)
    if beyond := find_fault(data):
        raise BadFile(name, line_of(toml_lines(text), beyond.where) or 1, beyond.problem, beyond.fix)
    return data


def toml_lines(text: str) -> dict[Place, int]:
    """Place → line, from 1, of every table and key of a readable TOML text; keys inside inline tables are left out."""
    lines: dict[Place, int] = {}
    table: Place = ()
    quote = ""  # the quotes of a text over several lines that is still open
    for number, line in enumerate(text.splitlines(), 1):
        inside = quote
        for mark in re.findall(r'"""|\'\'\'', line):
            quote = mark if not quote else "" if quote == mark else quote
        if inside:
            continue
        if line.lstrip().startswith("["):
            if found := _keys(line):
                table = found
                lines.setdefault(table, number)
            continue
        for place in (found.start() for found in re.finditer("=", line)):
            if keys := _keys(line[:place] + "= 0"):
                lines.setdefault((*table, *keys), number)
                break
    return lines


def _keys(line: str) -> Place:
    """The keys that a header or the left side of a line names; () for none."""
    try:
        found: Any = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ()
    keys: list[str] = []
    while isinstance(found, dict) and found:
        key, found = next(iter(found.items()))
        keys.append(key)
    return tuple(keys)


def _without_dates(value: Any) -> Any:
    # As deep as the reader came down itself.
    if isinstance(value, dict):
        return {key: _without_dates(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_dates(each) for each in value]
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else value


def _line_with(text: str, problem: str) -> int:
    """The line of the number that a problem quotes."""
    shown = problem.removeprefix("the number ").partition(" ")[0].rstrip("…")
    return _line_matching(text, rf"=.*{re.escape(shown)}|^\W*{re.escape(shown)}")


def _line_matching(text: str, pattern: str) -> int:
    found = (number for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line))
    return next(found, 1)


def _deepest_line(text: str) -> int:
    """The line where brackets first stand too deep in one another, those in texts counted with them."""
    depth = 0
    for number, line in enumerate(text.splitlines(), 1):
        for bracket in _OPENS.findall(line):
            depth += 1 if bracket in "[{" else -1
            if depth > DEEPEST:
                return number
    return 1
