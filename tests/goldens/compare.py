"""What was recorded against what is computed now, and the list of the differences that are meant."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.goldens.values import Rows

HERE = Path(__file__).parent
CHANGES = HERE / "changes.toml"
ABSENT = "(absent)"
Items = dict[str, str]
"""Item (`FILE/KEY#FIELD`) → its value."""


@dataclass(frozen=True)
class Change:
    """A difference that is meant: patterns of items (`*` stands for anything), and why they differ."""

    items: tuple[str, ...]
    reason: str


def write_rows(rows: Rows, path: Path) -> None:
    """One line a row: its key, then FIELD=VALUE, separated by tabs; sorted by key."""
    lines = ("\t".join([key, *(f"{name}={value}" for name, value in rows[key].items())]) for key in sorted(rows))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_items(folder: Path) -> dict[str, Items]:
    """The items of each file of a folder of goldens, by the file's name."""
    found: dict[str, Items] = {}
    for path in sorted(folder.glob("*.txt")):
        items = found[path.stem] = {}
        for line in path.read_text(encoding="utf-8").split("\n"):
            key, *fields = line.split("\t")
            for field in fields:
                name, _, value = field.partition("=")
                items[f"{path.stem}/{key}#{name}"] = value
    return found


def compare(recorded: Items, now: Items) -> dict[str, tuple[str, str]]:
    """Item → what was recorded and what there is now, for all that differ."""
    return {
        item: (recorded.get(item, ABSENT), now.get(item, ABSENT))
        for item in sorted(recorded.keys() | now.keys())
        if recorded.get(item, ABSENT) != now.get(item, ABSENT)
    }


def read_changes(path: Path = CHANGES) -> list[Change]:
    """The differences that are meant; ValueError for an entry without items or without a reason."""
    changes = []
    for place, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8")).get("change", []), 1):
        items, reason = entry.get("items", []), entry.get("reason", "")
        patterns = (items,) if isinstance(items, str) else tuple(items)
        if not patterns or not reason.strip() or entry.keys() > {"items", "reason"}:
            raise ValueError(f"{path.name}: change {place} needs `items` and a `reason`, and nothing else")
        changes.append(Change(patterns, reason))
    return changes


def split(
    differing: Mapping[str, tuple[str, str]], changes: Sequence[Change]
) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """The differences that nobody lists, and the patterns that match none."""
    patterns = [pattern for change in changes for pattern in change.items]
    unused = [pattern for pattern in patterns if not any(fnmatchcase(item, pattern) for item in differing)]
    left = {
        item: sides for item, sides in differing.items() if not any(fnmatchcase(item, pattern) for pattern in patterns)
    }
    return left, unused


def describe(differing: Mapping[str, tuple[str, str]], most: int | None = None) -> str:
    """A line for each difference; with `most`, a number in place of the rest."""
    lines = [f"{item}: {before} -> {after}" for item, (before, after) in differing.items()]
    if most is not None and len(lines) > most:
        lines[most:] = [f"and {len(lines) - most:,} more"]
    return "\n".join(lines)
