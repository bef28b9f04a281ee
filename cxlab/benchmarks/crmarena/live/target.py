"""What a live organisation has that a stored one can be uploaded to: objects, fields, licences, limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cxlab.benchmarks.crmarena.live.connection import Connection
from cxlab.benchmarks.crmarena.live.organisation import LiveOrganisation
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.errors import Unreachable

TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Target:
    """A live organisation as an upload needs it.

    `fields`: object → its fields, and whether each can be set when a record is made. `person_type` is the record type
    of customers who are persons, `profile` that of users who are made, `standard_book` the standard price book; "" is
    none. `seats`: licences of the profile that are left; `requests` and `storage_mb` what is left of today's and of
    the organisation's; None is unknown.
    """

    host: str
    fields: Mapping[str, Mapping[str, bool]]
    person_type: str
    profile: str
    standard_book: str
    seats: int | None
    requests: int | None
    storage_mb: int | None

    def can_set(self, object_name: str, field: str) -> bool:
        """Whether a field can be given a value when a record is made."""
        return self.fields.get(object_name, {}).get(field, False)


def read_target(connection: Connection, objects: Iterable[str], profile: str) -> Target:
    """Ask an organisation what it has; changes nothing. Raises Unreachable."""
    live = LiveOrganisation.open(connection=connection)
    told = {name: _describe(connection, name) for name in objects}
    types = [each["recordTypeId"] for each in told["Account"].get("recordTypeInfos", ()) if _is_person(each)]
    named = profile.replace("\\", "\\\\").replace("'", "\\'")
    found = _first(live, f"SELECT Id, UserLicenseId FROM Profile WHERE Name = '{named}' LIMIT 1")
    licence = found.get("UserLicenseId", "")
    seats = _first(live, f"SELECT TotalLicenses, UsedLicenses FROM UserLicense WHERE Id = '{licence}'")
    limits = connection.get("limits/", TIMEOUT_S)
    return Target(
        host=connection.host,
        fields={
            name: {field["name"]: bool(field["createable"]) for field in each["fields"]}
            for name, each in told.items()
            if each
        },
        person_type=next(iter(types), ""),
        profile=found.get("Id", ""),
        standard_book=_first(live, "SELECT Id FROM Pricebook2 WHERE IsStandard = TRUE LIMIT 1").get("Id", ""),
        seats=seats["TotalLicenses"] - seats["UsedLicenses"] if seats else None,
        requests=_left(limits, "DailyApiRequests"),
        storage_mb=_left(limits, "DataStorageMB"),
    )


def _describe(connection: Connection, name: str) -> dict[str, Any]:
    """What an object has; {} where there is none of that name."""
    try:
        found = connection.get(f"sobjects/{name}/describe/", TIMEOUT_S)
    except QueryError:
        return {}
    if not (isinstance(found, dict) and isinstance(found.get("fields"), list)):
        raise Unreachable(f"{connection.host} answers something that describes no object")
    return found


def _is_person(record_type: Mapping[str, Any]) -> bool:
    return bool(record_type.get("available")) and "PersonAccount" in str(record_type.get("developerName"))


def _first(live: LiveOrganisation, query: str) -> dict[str, Any]:
    """The first record; {} where there is none, or what is asked for does not exist there."""
    try:
        return next(iter(live.soql(query)), {})
    except QueryError:
        return {}


def _left(limits: Any, name: str) -> int | None:
    found = limits.get(name, {}) if isinstance(limits, dict) else {}
    return found.get("Remaining")
