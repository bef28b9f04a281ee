"""The company's side of telecom: customers, lines, plans, bills and devices, and the agent's thirteen tools on them."""

import datetime
import unicodedata
from collections.abc import Iterator

from cxlab.benchmarks.mmtaup2.worlds.base import ToolRefusal, World
from cxlab.benchmarks.mmtaup2.worlds.database import Database, Row
from cxlab.benchmarks.mmtaup2.worlds.tools import Json, assertion, integer, number, setup, text, tool

TODAY = datetime.date(2025, 2, 25)  # tau2-bench's day, so that its tasks' dates mean the same here
# The table that an id's first letter leads to, and the field that holds the id
TABLES = {
    "L": ("lines", "line_id"),
    "D": ("devices", "device_id"),
    "B": ("bills", "bill_id"),
    "C": ("customers", "customer_id"),
    "P": ("plans", "plan_id"),
}
# More than any plan's quota: a figure beyond it is a slip, and would make nonsense of a bill
_MOST_GB = 1000.0
_HOLDING_FEE_USD = 5.0

_CUSTOMER = text("The customer's id, such as C1234.")
_LINE = text("The line's id, such as L1234; it must be the customer's.")


def digits(phone_number: str) -> str:
    """A phone number without its punctuation: how it was written or said is no part of it."""
    return "".join(letter for letter in phone_number if letter.isdigit())


def folded(name: str) -> str:
    """A name without letter case, accents and double spaces."""
    letters = unicodedata.normalize("NFKD", name)
    return " ".join("".join(letter for letter in letters if not unicodedata.combining(letter)).casefold().split())


class Directory:
    """Who is found by what. No tool changes names, numbers or owners, so all copies of a world share one."""

    def __init__(self, records: Database) -> None:
        self.line_by_number = {digits(line["phone_number"]): name for name, line in records.rows("lines")}
        self.by_number: dict[str, str] = {}
        self.by_name: dict[tuple[str, str], list[str]] = {}
        self.owner: dict[str, str] = {}
        for name, customer in records.rows("customers"):
            lines = [records.get("lines", line) for line in customer["line_ids"]]
            for each in (customer, *filter(None, lines)):
                self.by_number.setdefault(digits(each["phone_number"]), name)
            self.by_name.setdefault((folded(customer["full_name"]), customer["date_of_birth"]), []).append(name)
            self.owner.update(dict.fromkeys(customer["line_ids"], name))


class Records(World):
    """Tools, first states and assertions on the company's records."""

    directory: Directory

    # Looking

    @tool(
        "agent",
        "Find a customer by a phone number: the contact number or that of one of the lines, in any notation.",
        {"phone_number": text("The number, for example 555-123-4567.")},
    )
    def get_customer_by_phone(self, phone_number: str) -> Json:
        name = self.directory.by_number.get(digits(phone_number)) if digits(phone_number) else None
        if name is None:
            raise ToolRefusal(f"No customer has the phone number {phone_number[:40]!r}.")
        return self._row("customers", name)

    @tool("agent", "Get a customer by id.", {"customer_id": _CUSTOMER})
    def get_customer_by_id(self, customer_id: str) -> Json:
        return self._row("customers", customer_id)

    @tool(
        "agent",
        "Find customers by full name and date of birth; the list is empty when no customer has both.",
        {"full_name": text("First and last name."), "dob": text("Date of birth as YYYY-MM-DD.")},
    )
    def get_customer_by_name(self, full_name: str, dob: str) -> Json:
        return [self._row("customers", name) for name in self.directory.by_name.get((folded(full_name), dob), [])]

    @tool(
        "agent",
        "Get a customer, line, device, bill or plan by its id.",
        {"id": text("An id that begins with C, L, D, B or P.")},
    )
    def get_details_by_id(self, id: str) -> Json:
        if id[:1] not in TABLES:
            raise ToolRefusal(f"{id[:40]!r} is not an id: ids begin with C, L, D, B or P.")
        return self._row(TABLES[id[0]][0], id)

    @tool(
        "agent",
        "List a customer's bills, newest first.",
        {"customer_id": _CUSTOMER, "limit": integer("How many bills at most; 12 if left out.")},
        optional=("limit",),
    )
    def get_bills_for_customer(self, customer_id: str, limit: int = 12) -> Json:
        if limit < 1:
            raise ToolRefusal("limit must be at least 1.")
        return sorted(self._bills(customer_id), key=lambda bill: str(bill["issue_date"]), reverse=True)[:limit]

    @tool(
        "agent",
        "Get how much data a line has used in this billing month, its plan's quota and what was added to it.",
        {"customer_id": _CUSTOMER, "line_id": _LINE},
    )
    def get_data_usage(self, customer_id: str, line_id: str) -> Json:
        line = self._line(customer_id, line_id)
        return {
            "line_id": line_id,
            "data_used_gb": line["data_used_gb"],
            "data_limit_gb": self._row("plans", line["plan_id"])["data_limit_gb"],
            "data_refueling_gb": line["data_refueling_gb"],
            "cycle_end_date": str(_first_of_next_month(TODAY) - datetime.timedelta(days=1)),
        }

    def _row(self, table: str, name: str) -> Row:
        row = self.agent.get(table, name)
        if row is None:
            raise ToolRefusal(f"There is no {table.removesuffix('s')} {name[:40]!r}.")
        return row

    def _line(self, customer_id: str, line_id: str) -> Row:
        if line_id not in self._row("customers", customer_id)["line_ids"]:
            raise ToolRefusal(f"{customer_id} has no line {line_id[:40]!r}.")
        return self._row("lines", line_id)

    def _bills(self, customer_id: str) -> Iterator[Row]:
        return (self._row("bills", name) for name in self._row("customers", customer_id)["bill_ids"])

    def awaiting(self, customer_id: str) -> Row | None:
        """The customer's first bill that a payment was asked for."""
        return next((bill for bill in self._bills(customer_id) if bill["status"] == "Awaiting Payment"), None)

    # Doing

    @tool(
        "agent",
        "Suspend an active line. A holding fee of $5 a month applies while it is suspended.",
        {"customer_id": _CUSTOMER, "line_id": _LINE, "reason": text("Why, in a few words.")},
        write=True,
    )
    def suspend_line(self, customer_id: str, line_id: str, reason: str) -> Json:
        if self._line(customer_id, line_id)["status"] != "Active":
            raise ToolRefusal("Only an active line can be suspended.")
        line = self.agent.edit("lines", line_id)
        line.update(status="Suspended", suspension_start_date=str(TODAY))
        return {"line": line, "holding_fee_usd_per_month": _HOLDING_FEE_USD}

    @tool(
        "agent",
        "Resume a line that is suspended or waits for activation. The phone finds service again after a restart.",
        {"customer_id": _CUSTOMER, "line_id": _LINE},
        write=True,
    )
    def resume_line(self, customer_id: str, line_id: str) -> Json:
        if self._line(customer_id, line_id)["status"] not in ("Suspended", "Pending Activation"):
            raise ToolRefusal("Only a line that is suspended or waits for activation can be resumed.")
        line = self.agent.edit("lines", line_id)
        line.update(status="Active", suspension_start_date=None)
        return {"line": line}

    @tool(
        "agent",
        "Ask the customer to pay a bill, which then awaits payment; only one bill at a time can. "
        "Whether the bill is overdue is not checked here.",
        {"customer_id": _CUSTOMER, "bill_id": text("The bill's id, such as B1234.")},
        write=True,
        irreversible=True,
    )
    def send_payment_request(self, customer_id: str, bill_id: str) -> Json:
        waiting = self.awaiting(customer_id)
        if waiting is not None:
            raise ToolRefusal(f"Bill {waiting['bill_id']} awaits payment already.")
        if bill_id not in self._row("customers", customer_id)["bill_ids"]:
            raise ToolRefusal(f"{customer_id} has no bill {bill_id[:40]!r}.")
        bill = self.agent.edit("bills", bill_id)
        bill["status"] = "Awaiting Payment"
        return {"bill_id": bill_id, "status": bill["status"], "total_due": bill["total_due"]}

    @tool(
        "agent",
        "Let a line use data abroad. Costs nothing.",
        {"customer_id": _CUSTOMER, "line_id": _LINE},
        write=True,
    )
    def enable_roaming(self, customer_id: str, line_id: str) -> Json:
        return self._set_roaming(customer_id, line_id, True)

    @tool(
        "agent",
        "Stop a line from using data abroad.",
        {"customer_id": _CUSTOMER, "line_id": _LINE},
        write=True,
    )
    def disable_roaming(self, customer_id: str, line_id: str) -> Json:
        return self._set_roaming(customer_id, line_id, False)

    def _set_roaming(self, customer_id: str, line_id: str, wanted: bool) -> Json:
        before = self._line(customer_id, line_id)["roaming_enabled"]
        if before is not wanted:
            self.agent.edit("lines", line_id)["roaming_enabled"] = wanted
        return {"line_id": line_id, "roaming_enabled": wanted, "changed": before is not wanted}

    @tool(
        "agent",
        "Add data to a line for this billing month; the plan's price per GB goes on the customer's next bill.",
        {"customer_id": _CUSTOMER, "line_id": _LINE, "gb_amount": number("How many GB, more than 0.")},
        write=True,
        irreversible=True,
    )
    def refuel_data(self, customer_id: str, line_id: str, gb_amount: float) -> Json:
        plan = self._row("plans", self._line(customer_id, line_id)["plan_id"])
        if not 0 < gb_amount <= _MOST_GB:
            raise ToolRefusal(f"gb_amount must be more than 0 and at most {_MOST_GB:.0f}.")
        price = plan["data_refueling_price_per_gb"]
        charge = gb_amount * price
        line = self.agent.edit("lines", line_id)
        line["data_refueling_gb"] += gb_amount
        bill_id = self._charge(customer_id, charge, f"Data added to line {line_id}: {gb_amount} GB at ${price} per GB")
        return {"data_refueling_gb": line["data_refueling_gb"], "charge_usd": charge, "bill_id": bill_id}

    def _charge(self, customer_id: str, amount: float, description: str) -> str:
        """Put a charge on the customer's draft bill, begun if there is none; the bill's id."""
        names = self._row("customers", customer_id)["bill_ids"]
        draft = next((name for name in names if self._row("bills", name)["status"] == "Draft"), None)
        if draft is None:
            first = _first_of_next_month(TODAY)
            last = _first_of_next_month(first) - datetime.timedelta(days=1)
            draft = self._free_bill_id(customer_id)
            self._add_bill(customer_id, draft, first, last, status="Draft")
        bill = self.agent.edit("bills", draft)
        item = {"description": description, "amount": amount, "date": str(TODAY), "item_type": "Charge"}
        bill["line_items"].append(item)
        bill["total_due"] += amount
        return draft

    def _free_bill_id(self, customer_id: str) -> str:
        """Made of the customer's id, so that the same actions give the same rows in every copy of the world."""
        count = len(self._row("customers", customer_id)["bill_ids"])
        while self.agent.get("bills", name := f"B{customer_id.removeprefix('C')}-{count + 1}") is not None:
            count += 1
        return name

    def _add_bill(
        self, customer_id: str, bill_id: str, first: datetime.date, last: datetime.date, *, status: str
    ) -> None:
        bill = {
            "bill_id": bill_id,
            "customer_id": customer_id,
            "period_start": str(first),
            "period_end": str(last),
            "issue_date": str(first),
            "total_due": 0.0,
            "due_date": str(first + datetime.timedelta(days=14)),
            "line_items": [],
            "status": status,
        }
        self.agent.add("bills", bill_id, bill)
        self.agent.edit("customers", customer_id)["bill_ids"].append(bill_id)

    @tool(
        "agent",
        "Hand the customer over to a person, when policy and tools leave nothing else to do.",
        {"summary": text("What the person needs to know.")},
    )
    def transfer_to_human_agents(self, summary: str) -> Json:
        return {"transferred": True}

    # What tasks do to the records

    @setup("agent")
    def set_data_usage(self, customer_id: str, line_id: str, data_used_gb: float) -> None:
        self._line(customer_id, line_id)
        self.agent.edit("lines", line_id)["data_used_gb"] = data_used_gb

    @setup("agent")
    def suspend_line_for_overdue_bill(
        self, customer_id: str, line_id: str, new_bill_id: str, contract_ended: bool
    ) -> None:
        """A bill of last month's, unpaid, and the line suspended for it; the contract over too, if wanted."""
        before = self._line(customer_id, line_id)
        if before["status"] != "Active":
            raise ToolRefusal(f"line {line_id} is not active")
        if any(bill["status"] == "Overdue" for bill in self._bills(customer_id)):
            raise ToolRefusal(f"{customer_id} has an overdue bill already")
        if self.agent.get("bills", new_bill_id) is not None:
            raise ToolRefusal(f"there is a bill {new_bill_id} already")
        last = TODAY.replace(day=1) - datetime.timedelta(days=1)
        self._add_bill(customer_id, new_bill_id, last.replace(day=1), last, status="Overdue")
        price = self._row("plans", before["plan_id"])["price_per_month"]
        bill = self.agent.edit("bills", new_bill_id)
        item = {"description": f"Line {line_id}", "amount": price, "date": str(TODAY), "item_type": "Charge"}
        bill["line_items"].append(item)
        bill["total_due"] += price
        line = self.agent.edit("lines", line_id)
        line.update(status="Suspended", suspension_start_date=str(TODAY))
        if contract_ended:
            line["contract_end_date"] = str(last)

    # What tasks hold the records to

    @assertion("agent")
    def assert_data_refueling_amount(self, customer_id: str, line_id: str, expected_amount: float) -> bool:
        return abs(float(self._line(customer_id, line_id)["data_refueling_gb"]) - expected_amount) < 1e-6

    @assertion("agent")
    def assert_line_status(self, customer_id: str, line_id: str, expected_status: str) -> bool:
        return bool(self._line(customer_id, line_id)["status"] == expected_status)

    @assertion("agent")
    def assert_overdue_bill_exists(self, customer_id: str, overdue_bill_id: str) -> bool:
        bill = self.agent.get("bills", overdue_bill_id)
        return bill is not None and bill["customer_id"] == customer_id and bill["status"] == "Overdue"

    @assertion("agent")
    def assert_no_overdue_bill(self, overdue_bill_id: str) -> bool:
        """The bill is paid, or there never was one."""
        bill = self.agent.get("bills", overdue_bill_id)
        return bill is None or bill["status"] == "Paid"


def _first_of_next_month(day: datetime.date) -> datetime.date:
    return (day.replace(day=1) + datetime.timedelta(days=32)).replace(day=1)
