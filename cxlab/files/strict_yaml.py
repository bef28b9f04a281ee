"""YAML without what makes it dangerous or surprising, from the events of libyaml's parser.

Plain words follow YAML 1.2's core where they mean something (`null`, `true`, `12`, `1.5`), everything else is text:
`yes`, `12:30`, `007` and dates. A date that the calendar does not have is refused. Nothing recurses, and each event is
seen once: what a reader takes is linear in the text.
"""

from __future__ import annotations

import functools
import pickle
import re
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from cxlab.errors import BadFile
from cxlab.files.complaints import Place, line_of
from cxlab.files.limits import (
    DEEPEST,
    FIX_NUMBER,
    Fault,
    check_key,
    check_string,
    check_text,
    read_float,
    read_int,
    read_text,
)

_NULL = ("", "~", "null", "Null", "NULL")
_BOOL = {"true": True, "false": False}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt ].*)?")
_TOO_DEEP = (f"nested more than {DEEPEST} deep", "make it flatter")
_QUOTE = "quote text that holds ': ' or begins with a sign"


def read_yaml(path: Path) -> Any:
    """The file as plain data; BadFile with the line of what is wrong."""
    return parse_yaml(read_text(path), path)


def parse_yaml(text: str, name: object) -> Any:
    """The text as plain data: dict (keys: text, whole numbers, true, false), list, str, int, float, bool, None."""
    plain: Any = pickle.loads(_parse(text, str(name)))
    return plain


@functools.lru_cache(maxsize=128)
def _parse(text: str, name: str) -> bytes:
    """The same as bytes that give each reader data of its own: a tenth of the work of reading a text once more."""
    return pickle.dumps(_Builder(name).build(text), pickle.HIGHEST_PROTOCOL)


def lines_of(path: Path) -> dict[Place, int]:
    """Place → line, from 1, for every key and list item of a readable YAML file."""
    lines: dict[Place, int] = {}
    _Builder(path, lines).build(read_text(path))
    return lines


def dump_yaml(value: Any, width: int = 110) -> str:
    """Plain data as YAML that `parse_yaml` reads again: what stands in two places is written twice."""
    import yaml

    class Whole(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return yaml.dump(value, Dumper=Whole, sort_keys=False, allow_unicode=True, width=width)


class _Level:
    """A mapping or list that is being read."""

    __slots__ = ("content", "key", "where")

    def __init__(self, content: dict[Any, Any] | list[Any], where: Place) -> None:
        self.content, self.where = content, where
        self.key: Any = _Builder


class _Builder:
    """Plain data from events. `lines`, where given, is filled with the line of each place."""

    def __init__(self, name: object, lines: dict[Place, int] | None = None) -> None:
        self.name, self.lines = name, lines
        self.levels: list[_Level] = []
        self.root: Any = None

    def build(self, text: str) -> Any:
        import yaml

        check_text(text, self.name)
        documents = 0
        line = 1
        try:
            for event in _events(text):
                line = event.start_mark.line + 1
                if isinstance(event, yaml.ScalarEvent):
                    self._refuse(event)
                    self._put_scalar(event, line)
                elif isinstance(event, yaml.CollectionStartEvent):
                    self._refuse(event)
                    self._open({} if isinstance(event, yaml.MappingStartEvent) else [], line)
                elif isinstance(event, yaml.CollectionEndEvent):
                    self.levels.pop()
                elif isinstance(event, yaml.AliasEvent):
                    raise Fault(f"the alias *{event.anchor}", "write the value itself: files have no aliases")
                elif isinstance(event, yaml.DocumentStartEvent):
                    documents += 1
                    if documents > 1:
                        raise Fault("a second document begins (---)", "make two files of it")
        except Fault as fault:
            raise BadFile(self.name, line, fault.problem, fault.fix) from None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem, fix = getattr(error, "problem", None) or "not YAML", _QUOTE
            if "nesting depth" in problem:
                # libyaml reads ahead, and from 0.2.6 on refuses 1,000 levels before the first of them is seen here.
                problem, fix = _TOO_DEEP
            # What never closes is found behind the last line.
            last = max(1, len(text.splitlines()))
            raise BadFile(self.name, min(mark.line + 1, last) if mark else line, problem, fix) from None
        return self.root

    def _refuse(self, event: Any) -> None:
        if event.anchor is not None:
            raise Fault(f"the anchor &{event.anchor}", "remove it: files have no aliases")
        if event.tag is not None:
            raise Fault(f"the tag {event.tag}", "remove it: values are what they look like")

    def _open(self, content: dict[Any, Any] | list[Any], line: int) -> None:
        if self.levels and self._wants_key():
            raise Fault("a key that is a list or a mapping", "keys are plain text")
        if len(self.levels) >= DEEPEST:
            raise Fault(*_TOO_DEEP)
        self.levels.append(_Level(content, self._put(content, line)))

    def _wants_key(self) -> bool:
        level = self.levels[-1]
        return isinstance(level.content, dict) and level.key is _Builder

    def _put_scalar(self, event: Any, line: int) -> None:
        if not self.levels or not self._wants_key():
            self._put(_value(event), line)
            return
        level = self.levels[-1]
        key = _value(event)
        if not isinstance(key, str | int):
            shown = "empty" if key is None else f"the number {event.value[:40]}"
            raise Fault(f"a key that is {shown}", "keys are text: quote it")
        if key == "<<" and not event.style:
            raise Fault("the merge key <<", "write the values themselves: files have no aliases")
        if key in level.content:
            raise Fault(f"the key {check_key(event.value)!r} stands twice", "remove one of the two")
        level.key = check_key(key) if isinstance(key, str) else key
        if self.lines is not None:
            self.lines[(*level.where, event.value)] = line

    def _put(self, value: Any, line: int) -> Place:
        """Add a value where it belongs; its place."""
        where: Place
        if not self.levels:
            self.root, where = value, ()
        else:
            level = self.levels[-1]
            if isinstance(level.content, list):
                where = (*level.where, str(len(level.content)))
                level.content.append(value)
            else:
                key, level.key = level.key, _Builder
                where = (*level.where, str(key).lower() if isinstance(key, bool) else str(key))
                level.content[key] = value
        if self.lines is not None:
            # Of a value in a mapping, the line of its key is kept.
            self.lines.setdefault(where, line)
        return where


def _events(text: str) -> Iterator[Any]:
    import yaml

    # libyaml is ten times as fast where PyYAML was built with it.
    return yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _value(event: Any) -> Any:
    """What a scalar means; quoted and block ones are text."""
    text: str = event.value
    if event.style:
        return check_string(text)
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return read_int(text)
    if _FLOAT.fullmatch(text):
        return read_float(text)
    if _NOT_FINITE.fullmatch(text):
        raise Fault(f"the number {text} is not finite", FIX_NUMBER)
    if found := _DATE.fullmatch(text):
        _check_date(text, found)
    return check_string(text)


def _check_date(text: str, found: re.Match[str]) -> None:
    try:
        date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        raise Fault(f"the date {text[:24]} is not in the calendar", "correct it, or quote it if it is text") from None


def fault_at(path: Path, where: Iterable[object], problem: str, fix: str) -> BadFile:
    """What only a check of the whole file finds, at the line of its place (keys and numbers from the root on)."""
    return BadFile(path, line_of(lines_of(path), where), problem, fix)
