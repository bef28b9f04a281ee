"""Hand-written YAML files: read strictly into a model, and complaints that name file, line and fix.

`read(path, Model)` gives the model, or why not; `lines_of(path)` and `line_of(lines, where)` find the line of
a place such as ("fields", "Age", "options", 0) for complaints that only a later check can make.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cxlab.records import yaml_text

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Complaint:
    """One thing that is wrong with a file."""

    path: str
    line: int | None
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line or 1}: {self.problem}; {self.fix}"


def read(path: Path, model: type[Model], form: str) -> tuple[Model | None, list[Complaint]]:
    """The file as a model, or complaints; `form` says where a writer finds the right form."""
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return None, [Complaint(path.name, None, f"cannot be read: {error}", "save it as UTF-8 text")]
    try:
        data = parse(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not YAML"
        fix = "quote text that holds ': ' or begins with a sign"
        return None, [Complaint(path.name, mark.line + 1 if mark else None, problem, fix)]
    if not isinstance(data, dict):
        return None, [Complaint(path.name, 1, "the file is empty or not a mapping", "begin with id: …")]
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        lines = lines_of(path)
        return None, [
            Complaint(
                path.name,
                line_of(lines, e["loc"]),
                f"{'.'.join(map(str, e['loc']))}: {e['msg']}",
                _FIXES.get(e["type"], form),
            )
            for e in error.errors()
        ]


def parse(text: str) -> Any:
    """The text as plain data, keys given twice refused; raises yaml.YAMLError."""
    return yaml_text.load(text, _loader())


_FIXES = {"missing": "add the key", "extra_forbidden": "remove the key or correct its spelling"}


def lines_of(path: Path) -> dict[tuple[str, ...], int]:
    """Place → line, from 1, for every key and list item of a readable YAML file."""
    import yaml

    found: dict[tuple[str, ...], int] = {}

    def walk(node: Any, where: tuple[str, ...]) -> None:
        found.setdefault(where, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inner = (*where, str(key.value))
                found[inner] = key.start_mark.line + 1
                walk(value, inner)
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(node.value):
                walk(value, (*where, str(index)))

    root = yaml.compose(path.read_text(encoding="utf-8"), Loader=_loader())
    if root is not None:
        walk(root, ())
    return found


def line_of(lines: dict[tuple[str, ...], int], where: Iterable[object]) -> int | None:
    """The line of the place, or of the nearest one around it that the file has."""
    keys = tuple(str(k) if not isinstance(k, bool) else str(k).lower() for k in where)
    while keys and keys not in lines:
        keys = keys[:-1]
    return lines.get(keys)


@functools.cache
def _loader() -> Any:
    import yaml

    base: Any = yaml_text.fastest_loader()

    class Strict(base):  # type: ignore[misc]
        """Safe loading that refuses a key given twice, where YAML would keep the last in silence."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if (type(key), key) in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key!r} stands twice", key_node.start_mark
                    )
                seen.add((type(key), key))
            return super().construct_mapping(node, deep)

    # Plain yes/no/on/off stay words: a customer says "No", and an option may be called "On".
    Strict.yaml_implicit_resolvers = {
        first: [(tag, regexp) for tag, regexp in pairs if tag != "tag:yaml.org,2002:bool"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    Strict.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
    return Strict
