"""The rows of one side of a world: copied for nothing, hashed as they change, and put back when a tool refuses."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, cast

Row = dict[str, Any]
Key = tuple[str, str]
Value = TypeVar("Value")
_NESTED = (dict, list)

_FIELD = 1 << 256


def _digest(key: Key, row: Mapping[str, Any]) -> int:
    text = json.dumps([*key, row], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def copy_json(value: Value) -> Value:
    """A JSON value with lists and objects of its own; `copy.deepcopy` takes three times as long."""
    copied: Any = value
    if isinstance(value, dict):
        copied = {name: copy_json(one) if isinstance(one, _NESTED) else one for name, one in value.items()}
    elif isinstance(value, list):
        copied = [copy_json(one) if isinstance(one, _NESTED) else one for one in value]
    return cast("Value", copied)


class _Ground:
    """The rows a world began with; shared by all its copies and never changed."""

    def __init__(self, tables: Mapping[str, Mapping[str, Row]]) -> None:
        self.tables = tables
        self._total: int | None = None
        self._digests: dict[Key, int] = {}

    def row(self, key: Key) -> Row | None:
        return self.tables.get(key[0], {}).get(key[1])

    def digest(self, key: Key) -> int:
        if key not in self._digests:
            row = self.row(key)
            self._digests[key] = 0 if row is None else _digest(key, row)
        return self._digests[key]

    def total(self) -> int:
        if self._total is None:
            keys = ((table, name) for table, rows in self.tables.items() for name in rows)
            self._total = sum(map(self.digest, keys)) % _FIELD
        return self._total


class Database:
    """Tables of rows by id. Rows read are shared: change one only through `edit`, which hands out a row of one's own.

    The hash is the sum of the rows' SHA-256 values modulo 2**256: equal for equal rows in whatever order they came to
    be, and a change costs as many row hashes as rows were touched. `copy` shares the rows; `rollback` undoes all
    edits since the last `checkpoint`.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, Row]]) -> None:
        self._ground = _Ground(tables)
        self._own: dict[Key, Row] = {}
        self._digests: dict[Key, int] = {}
        self._shift = 0  # what the edited rows add to the hash of the ground
        self._touched: dict[Key, Row | None] = {}  # since the checkpoint: key -> own row before, None = had none
        self._stale: set[Key] = set()

    def get(self, table: str, name: str) -> Row | None:
        """The row, or None. Not to be changed."""
        key = (table, name)
        return self._own[key] if key in self._own else self._ground.row(key)

    def rows(self, table: str) -> Iterator[tuple[str, Row]]:
        """(id, row) of a table: those of the beginning in their order, then those added."""
        ground = self._ground.tables.get(table, {})
        for name, row in ground.items():
            yield name, self._own.get((table, name), row)
        for (where, name), row in self._own.items():
            if where == table and name not in ground:
                yield name, row

    def edit(self, table: str, name: str) -> Row:
        """A row to change in place, until the next checkpoint. KeyError when there is none."""
        key = (table, name)
        if key not in self._touched:
            row = self.get(table, name)
            if row is None:
                raise KeyError(f"no {table} {name}")
            self._touched[key] = self._own.get(key)
            self._own[key] = copy_json(row)
        self._stale.add(key)
        return self._own[key]

    def add(self, table: str, name: str, row: Row) -> None:
        """A new row, or another in the place of the old one."""
        key = (table, name)
        self._touched.setdefault(key, self._own.get(key))
        self._own[key] = copy_json(row)
        self._stale.add(key)

    def changed(self) -> bool:
        """Whether a row was handed out for change since the checkpoint."""
        return bool(self._touched)

    def checkpoint(self) -> None:
        self._touched = {}

    def rollback(self) -> None:
        """All rows as they were at the last checkpoint."""
        for key, before in self._touched.items():
            if before is None:
                del self._own[key]
            else:
                self._own[key] = before
            self._stale.add(key)
        self._touched = {}

    def hash(self) -> str:
        for key in self._stale:
            ground = self._ground.digest(key)
            row = self._own.get(key)
            now = ground if row is None else _digest(key, row)
            self._shift += now - self._digests.get(key, ground)
            self._digests[key] = now
        self._stale = set()
        return f"{(self._ground.total() + self._shift) % _FIELD:064x}"

    def changes(self) -> list[Key]:
        """The rows that are not as they were at the beginning."""
        self.hash()
        return [key for key, digest in self._digests.items() if digest != self._ground.digest(key)]

    def fresh(self) -> "Database":
        """Another database with the rows of the beginning."""
        twin = Database({})
        twin._ground = self._ground
        return twin

    def copy(self) -> "Database":
        """Another database with the same rows; what happens to one is not seen in the other."""
        self.hash()
        twin = Database({})
        twin._ground = self._ground
        twin._own = copy_json(self._own)
        twin._digests = dict(self._digests)
        twin._shift = self._shift
        return twin

    def dump(self) -> dict[str, dict[str, Row]]:
        """All rows, copied: {table: {id: row}}."""
        tables = {table: dict(self.rows(table)) for table in self._ground.tables}
        for table, _ in self._own:
            if table not in tables:
                tables[table] = dict(self.rows(table))
        return copy_json(tables)
