"""Telecom: the company's records and the customer's phone, one world."""

from collections.abc import Mapping
from typing import Self

from cxlab.benchmarks.mmtaup2.worlds.database import Database, Row, copy_json
from cxlab.benchmarks.mmtaup2.worlds.telecom_data import DEFAULT_SIZE, generate
from cxlab.benchmarks.mmtaup2.worlds.telecom_device import DEVICE, SURROUNDINGS, filled
from cxlab.benchmarks.mmtaup2.worlds.telecom_phone import Phone
from cxlab.benchmarks.mmtaup2.worlds.telecom_records import TABLES, Directory, Records, digits
from cxlab.benchmarks.mmtaup2.worlds.tools import Json
from cxlab.errors import BadOption

# What a row may leave out
_LINE: Row = {"status": "Pending Activation", "device_id": None, "data_used_gb": 0.0, "data_refueling_gb": 0.0}
_DEFAULTS: dict[str, Row] = {
    "lines": {**_LINE, "roaming_enabled": False, "contract_end_date": None, "suspension_start_date": None},
    "bills": {"line_items": [], "status": "Draft"},
    "customers": {"account_status": "Pending Verification", "line_ids": [], "bill_ids": [], "payment_methods": []},
    "devices": {},
    "plans": {},
}
# What the tools read of a row without asking whether it is there
_NEEDED = {
    "lines": ("phone_number", "plan_id"),
    "bills": ("customer_id", "total_due", "issue_date"),
    "customers": ("full_name", "date_of_birth", "phone_number"),
    "devices": (),
    "plans": ("data_limit_gb", "price_per_month", "data_refueling_price_per_gb"),
}


class TelecomWorld(Records, Phone):
    """A phone company and one customer's phone. `set_user_info` in a task says which line the phone is on."""

    domain = "telecom"

    @classmethod
    def generate(cls, seed: int, size: int | None = None) -> Self:
        """Customers of our own making, `size` of them (60 if None)."""
        return cls.from_data(*generate(seed, DEFAULT_SIZE if size is None else size))

    @classmethod
    def from_data(cls, agent_db: Mapping[str, Json], customer_db: Mapping[str, Json] | None) -> Self:
        """Records as lists of rows (plans, customers, lines, bills, devices); the phone's fields over our standard.

        The rows are taken over as they are, and never written to.
        """
        tables = {table: _keyed(agent_db, table, key) for table, key in TABLES.values()}
        for name, customer in tables["customers"].items():
            for table, field in (("lines", "line_ids"), ("bills", "bill_ids")):
                missing = [each for each in customer[field] if each not in tables[table]]
                if missing:
                    raise BadOption(f"telecom records: customer {name} has {table} that are not there: {missing}")
        for name, line in tables["lines"].items():
            if line["plan_id"] not in tables["plans"]:
                raise BadOption(f"telecom records: line {name} has a plan that is not there: {line['plan_id']}")
        given = customer_db or {}
        phone = {
            "device": filled(DEVICE, given.get("device") or {}),
            "surroundings": filled(SURROUNDINGS, given.get("surroundings") or {}),
        }
        world = cls(Database(tables), Database({"phone": phone}))
        world.directory = Directory(world.agent)
        return world

    def line_id(self) -> str | None:
        """The line that the phone is on; None before a task has said so, or for a number that nobody has."""
        number = self.around["phone_number"]
        return None if number is None else self.directory.line_by_number.get(digits(number))

    def keep_in_step(self) -> None:
        """What the line allows reaches the phone; a payment reaches the bill, and a bill's demand the phone.

        The phone keeps its connection until it next looks for a network: hence the restart after a line was resumed.
        """
        line_id = self.line_id()
        if line_id is None:
            return
        line = self._row("lines", line_id)
        quota = self._row("plans", line["plan_id"])["data_limit_gb"] + line["data_refueling_gb"]
        now: Row = {
            "line_active": line["status"] == "Active",
            "roaming_allowed": line["roaming_enabled"],
            "mobile_data_usage_exceeded": line["data_used_gb"] >= quota,
            "payment_request": self.around["payment_request"],
        }
        if now["payment_request"] and now["payment_request"]["paid"]:
            self.agent.edit("bills", now["payment_request"]["bill_id"])["status"] = "Paid"
            now["payment_request"] = None
        if now["payment_request"] is None and (owner := self._owner()) is not None:
            bill = self.awaiting(owner)
            if bill is not None:
                request = {"bill_id": bill["bill_id"], "amount_due": bill["total_due"], "paid": False}
                now["payment_request"] = request
        if any(self.around[name] != value for name, value in now.items()):
            self.customer.edit("phone", "surroundings").update(now)

    def _owner(self) -> str | None:
        return self.directory.by_number.get(digits(self.around["phone_number"] or ""))

    def bystanders(self) -> list[str]:
        owner = self._owner()
        return sorted(f"{table} {name}" for table, name in self.agent.changes() if self._whose(table, name) != owner)

    def _whose(self, table: str, name: str) -> str | None:
        """The customer that a row belongs to; nobody for plans and devices."""
        if table == "lines":
            return self.directory.owner.get(name)
        return self._row(table, name).get("customer_id")

    def snapshot(self) -> dict[str, Json]:
        """The phone, and of the records what belongs to its customer."""
        records: dict[str, Json] = {}
        line_id, owner = self.line_id(), self._owner()
        if line_id is not None:
            records["line"] = self._row("lines", line_id)
            records["plan"] = self._row("plans", records["line"]["plan_id"])
        if owner is not None:
            records["customer"] = self._row("customers", owner)
            records["bills"] = list(self._bills(owner))
        return filled({}, {"agent": records, "customer": {"device": self.device, "surroundings": self.around}})


def _keyed(agent_db: Mapping[str, Json], table: str, key: str) -> dict[str, Row]:
    rows = agent_db.get(table, [])
    if not isinstance(rows, list):
        raise BadOption(f"telecom records: {table} must be a list of rows")
    keyed: dict[str, Row] = {}
    for number, row in enumerate(rows):
        missing = [name for name in (key, *_NEEDED[table]) if not isinstance(row, dict) or name not in row]
        if missing:
            raise BadOption(f"telecom records: {table}[{number}] lacks {', '.join(missing)}")
        if row[key] in keyed:
            raise BadOption(f"telecom records: {table} has {row[key]} twice")
        left_out = {name: value for name, value in _DEFAULTS[table].items() if name not in row}
        keyed[str(row[key])] = {**copy_json(left_out), **row} if left_out else row
    return keyed
