"""What a file may hold at most, whatever its format; and how its bytes become text."""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cxlab.errors import BadFile

LARGEST = 500_000
"""Bytes of a file that a person or a model wrote; the largest that ships has 150 kB."""
DEEPEST = 40
"""Levels of nesting; no file that a person writes has half as many."""
LONGEST_TEXT = 200_000
"""Characters of one text in such a file."""
LONGEST_KEY = 200
LONGEST_NUMBER = 40
"""Characters of a number as it is written; 64 bits take 20 digits."""

FIX_NUMBER = "quote it if it is text, else write a smaller one"
_SURROGATE = re.compile("[\ud800-\udfff]")
# What YAML and TOML cannot hold, but for the tabs, line ends and byte order mark that they may.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# The longer marks begin with the shorter ones.
_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


_Trail = tuple["_Trail", str | int] | None
"""How a value was reached: its key, and how what holds it was reached."""


class Fault(ValueError):
    """What is wrong with a value, before it is known which line it stands in."""

    def __init__(self, problem: str, fix: str, where: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.problem, self.fix, self.where = problem, fix, where


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """A regular file's content, BadFile for anything else and for more than `largest` bytes."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise BadFile(path, None, "is no file", "give the path of a text file")
        if about.st_size > largest:
            raise _too_large(path, about.st_size, largest)
        with path.open("rb") as file:
            # One byte more than is allowed: some files grow, and some say they are empty and are not.
            found = file.read(largest + 1)
    except FileNotFoundError:
        raise BadFile(path, None, "does not exist", "correct the path") from None
    except (OSError, ValueError) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else "not a path"
        raise BadFile(path, None, f"cannot be read ({told})", "check the path and who may read it") from None
    if len(found) > largest:
        raise _too_large(path, len(found), largest)
    return found


def _too_large(path: Path, size: int, largest: int) -> BadFile:
    return BadFile(path, 1, f"{size / 1e6:.1f} MB; the limit is {largest / 1e6:.1f} MB", "split it or cut it")


def read_text(path: Path, largest: int = LARGEST) -> str:
    """A UTF-8 file's text, BadFile for anything else."""
    return decode(read_bytes(path, largest), path)


def decode(content: bytes, name: object) -> str:
    """UTF-8 as text; a byte order mark in front is left out. BadFile for any other encoding."""
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            raise BadFile(name, 1, f"is {encoding}, not UTF-8", "save it as UTF-8 text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise BadFile(name, line, f"not UTF-8 text (byte 0x{byte:02x})", "save it as UTF-8 text") from None


def check_text(text: str, name: object) -> None:
    """BadFile for a file's text with characters that no text file holds, or of more than LARGEST characters."""
    if len(text) > LARGEST:
        raise BadFile(name, 1, f"{len(text):,} characters; the limit is {LARGEST:,}", "split it or cut it")
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise BadFile(name, line, f"the character U+{ord(found[0]):04X} is in it", "remove it")


def check_string(text: str, longest: int = LONGEST_TEXT) -> str:
    """A text of a file as it is; Fault where it is too long or no other program could hold it."""
    if len(text) > longest:
        raise Fault(f"a text of {len(text):,} characters; the limit is {longest:,}", "cut it or split it")
    if "\x00" in text:
        raise Fault("a text with the character NUL", "remove it")
    if _SURROGATE.search(text):
        raise Fault("a text with half of a surrogate pair (\\ud800 to \\udfff)", "write the character itself")
    return text


def check_key(key: str) -> str:
    """A key as it is; Fault for one that no person wrote."""
    if len(key) > LONGEST_KEY:
        raise Fault(f"a key of {len(key):,} characters: {key[:40]!r} …; the limit is {LONGEST_KEY}", "shorten it")
    return check_string(key)


def read_int(text: str) -> int:
    """A whole number of at most 64 bits."""
    if len(text) <= LONGEST_NUMBER and -(2**63) <= (value := int(text)) < 2**63:
        return value
    raise Fault(f"the number {text[:24]}{'…' if len(text) > 24 else ''} is beyond 64 bits", FIX_NUMBER)


def read_float(text: str) -> float:
    """A finite number."""
    if len(text) <= LONGEST_NUMBER and math.isfinite(value := float(text)):
        return value
    shown = f"{text[:24]}{'…' if len(text) > 24 else ''}"
    raise Fault(f"the number {shown} is not finite or has more than {LONGEST_NUMBER} characters", FIX_NUMBER)


def find_fault(value: Any, deepest: int = DEEPEST, longest: int = LONGEST_TEXT) -> Fault | None:
    """The first thing in plain data (dicts, lists, scalars) that is beyond the limits, with its place; None if none is.

    For what a fast parser has read that knows no limits of its own. Does not recurse; takes time linear in the data.
    """
    todo: list[tuple[Any, int, _Trail]] = [(value, 0, None)]
    while todo:
        one, depth, trail = todo.pop()
        try:
            inner = _open(one, depth, deepest, longest)
        except Fault as fault:
            return Fault(fault.problem, fault.fix, _unroll(trail))
        todo += [(each, depth + 1, (trail, key)) for key, each in inner]
    return None


def _unroll(trail: _Trail) -> tuple[str, ...]:
    keys: list[str] = []
    while trail is not None:
        trail, key = trail
        keys.append(str(key))
    return tuple(reversed(keys))


def _open(value: Any, depth: int, deepest: int, longest: int) -> Iterable[tuple[str | int, Any]]:
    """What a value holds, in reverse; Fault for a value that is beyond the limits."""
    if isinstance(value, dict | list) and depth >= deepest:
        raise Fault(f"nested more than {deepest} deep", "make it flatter")
    if isinstance(value, dict):
        return [(check_key(str(key)), each) for key, each in reversed(value.items())]
    if isinstance(value, list):
        return zip(range(len(value) - 1, -1, -1), reversed(value), strict=True)
    if isinstance(value, str):
        check_string(value, longest)
    elif isinstance(value, int):
        _check_int(value)
    elif isinstance(value, float):
        _check_float(value)
    return ()


def _check_int(value: int) -> None:
    if not -(2**63) <= value < 2**63:
        raise Fault("a number beyond 64 bits", FIX_NUMBER)


def _check_float(value: float) -> None:
    if not math.isfinite(value):
        raise Fault(f"the number {value} is not finite", FIX_NUMBER)
