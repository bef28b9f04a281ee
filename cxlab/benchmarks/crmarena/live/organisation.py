"""A live organisation, asked as a stored one is: `LiveOrganisation` has what tools and agents use of `Sandbox`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any

from cxlab.benchmarks.crmarena.live.connection import Connection
from cxlab.benchmarks.crmarena.organisation.schema import Schema, load_default
from cxlab.benchmarks.crmarena.sandbox import Compat, check_compat, read_day
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.crmarena.soql.results import MOST_RECORDS
from cxlab.errors import Unreachable

TIMEOUT_S = 60.0
_COUNT = re.compile(r"\s*SELECT\s+COUNT\s*\(\s*\)\s+FROM\b", re.IGNORECASE)
# Words of a query that leave a mark on the records they find, outside its texts.
_TEXTS = re.compile(r"'(?:\\.|[^'\\])*'|\{(?:\\.|[^}\\])*\}", re.DOTALL)
_MARKS = re.compile(r"\bFOR\s+(?:UPDATE|VIEW|REFERENCE)\b|\bUPDATE\s+(?:TRACKING|VIEWSTAT)\b", re.IGNORECASE)
_IDS = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{18}(?![A-Za-z0-9])")


@dataclass(frozen=True, eq=False)
class LiveOrganisation:
    """A Salesforce organisation, read and never changed, asked on one day.

    `today` is the day that questions and tools count from; TODAY and LAST_N_DAYS:30 in a query are the server's.
    `ids` are those of a stored organisation with the server's: queries and records then have the stored ones, so
    that its questions and answers hold. `timeout_s` is for one query with all its pages.
    """

    schema: Schema
    today: date
    compat: Compat
    timeout_s: float
    _connection: Connection = field(repr=False)
    _ids: Mapping[str, str] = field(repr=False)

    @classmethod
    def open(
        cls,
        today: date | str | None = None,
        compat: Compat = "original",
        ids: Mapping[str, str] | None = None,
        connection: Connection | None = None,
        schema: Schema | None = None,
    ) -> LiveOrganisation:
        """The organisation that the environment names (connection.py); None: today. Nothing is asked of it yet.

        `schema` is what agents are told of it; None: the paper's.

        Raises NotConfigured, BadOption, Unreachable.
        """
        day = read_day(today) or datetime.now(UTC).date()
        connection = connection or Connection.open()
        return cls(schema or load_default(), day, check_compat(compat), TIMEOUT_S, connection, dict(ids or {}))

    @property
    def host(self) -> str:
        """Where it is."""
        return self._connection.host

    def at(self, today: date | str) -> LiveOrganisation:
        """The same organisation on another day."""
        return replace(self, today=read_day(today) or self.today)

    def under(self, compat: Compat) -> LiveOrganisation:
        """The same organisation with other tools."""
        return replace(self, compat=check_compat(compat))

    def check(self) -> None:
        """Ask for the number of cases; Unreachable where that is not answered, or there are none."""
        try:
            count = self.soql("SELECT COUNT() FROM Case")[0]["expr0"]
        except QueryError as fault:
            raise Unreachable(f"the live organisation at {self.host} cannot be asked: {fault}") from None
        if not count:
            raise Unreachable(f"the live organisation at {self.host} has no cases")

    def soql(self, text: str) -> list[dict[str, Any]]:
        """The records that a SOQL query asks for, all pages, in the form of `Sandbox.soql`; QueryError, Unreachable."""
        _refuse_marks(text)
        asking = _Asking(self._connection, time.monotonic() + self.timeout_s)
        first = asking.get("query/", {"q": self._translate(text, self._ids)})
        records = asking.follow(first)
        if _COUNT.match(text):
            return [{"expr0": first["totalSize"]}]
        return [self._read(each, asking) for each in records]

    def sosl(self, text: str) -> list[dict[str, Any]]:
        """The records that a SOSL search finds; QueryError, Unreachable."""
        _refuse_marks(text)
        asking = _Asking(self._connection, time.monotonic() + self.timeout_s)
        found = asking.get("search/", {"q": self._translate(text, self._ids)})
        records = found.get("searchRecords", []) if isinstance(found, dict) else found
        return [self._read(each, asking) for each in records]

    def _read(self, value: Any, asking: _Asking) -> Any:
        """A value without types and addresses, with the children of all pages, and with the stored ids."""
        if isinstance(value, str):
            return self._translate(value, self._stored)
        if isinstance(value, list):
            return [self._read(each, asking) for each in value]
        if not isinstance(value, dict):
            return value
        if "records" in value and "totalSize" in value:
            children = [self._read(each, asking) for each in asking.follow(value)]
            return {"totalSize": value["totalSize"], "done": True, "records": children}
        return {name: self._read(each, asking) for name, each in value.items() if name != "attributes"}

    @cached_property
    def _stored(self) -> dict[str, str]:
        return {theirs: ours for ours, theirs in self._ids.items()}

    def _translate(self, text: str, ids: Mapping[str, str]) -> str:
        return _IDS.sub(lambda found: ids.get(found[0], found[0]), text) if ids else text


@dataclass
class _Asking:
    """One query being answered: its pages share its time and its number of records."""

    connection: Connection
    until: float
    records: int = 0

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        left = self.until - time.monotonic()
        if left <= 0:
            raise QueryError("QUERY_TIMEOUT", "Your query request was running for too long")
        return self.connection.get(path, left, params)

    def follow(self, page: Mapping[str, Any]) -> list[Any]:
        """The records of a page and of all that come after it."""
        found: list[Any] = []
        while True:
            if not (isinstance(page, Mapping) and {"totalSize", "records"} <= page.keys()):
                raise Unreachable(f"{self.connection.host} answers something that is no page of records")
            found += page["records"]
            self.records += len(page["records"])
            if self.records > MOST_RECORDS:
                told = f"an answer has at most {MOST_RECORDS} records: use LIMIT or WHERE"
                raise QueryError("QUERY_TOO_COMPLICATED", told)
            if page.get("done", True) or not page.get("nextRecordsUrl"):
                return found
            page = self.get(f"query/{str(page['nextRecordsUrl']).rsplit('/', 1)[-1]}")


def _refuse_marks(text: str) -> None:
    if found := _MARKS.search(_TEXTS.sub("''", text)):
        raise QueryError("MALFORMED_QUERY", f"{found[0]} is not allowed: the organisation is only read")
