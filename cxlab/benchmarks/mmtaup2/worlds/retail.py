"""The retail world: a shop's users, orders, products and payments. The customer has no tools here, only wishes."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Self

from cxlab.benchmarks.mmtaup2.worlds import retail_orders as orders
from cxlab.benchmarks.mmtaup2.worlds.base import ToolRefusal, World
from cxlab.benchmarks.mmtaup2.worlds.database import Database, Row, copy_json
from cxlab.benchmarks.mmtaup2.worlds.tools import Json, assertion, setup, text, texts, tool
from cxlab.errors import BadOption

ORDER = text("The order's id, with the leading '#', such as '#W0000000'.")
USER = text("The user's id, as the tools that find a user give it.")
METHOD = text("The id of one of the user's payment methods, such as 'gift_card_0000000'.")
OLD = texts("The ids of the items as they stand in the order; one that is there twice may be named twice.")
NEW = texts("The ids of the items that take their places, in the same order.")
ADDRESS = {
    "address1": text("Street and number."),
    "address2": text("Flat, floor or suite; may be empty."),
    "city": text("The city."),
    "state": text("The state in two letters."),
    "country": text("The country."),
    "zip": text("The zip code."),
}


class RetailWorld(World):
    """The company's records alone; the customer's side is empty."""

    domain = "retail"

    def __init__(self, agent: Database, customer: Database) -> None:
        super().__init__(agent, customer)
        # Found by what a row said when the world began; whoever moved since is looked for row by row.
        self._by_email = {_folded(row["email"]): name for name, row in agent.rows("users")}
        self._by_item = {item: name for name, row in agent.rows("products") for item in row["variants"]}
        self._by_name: dict[tuple[str, str, str], str] = {}
        for name, row in agent.rows("users"):
            self._by_name.setdefault(_name_and_zip(row), name)

    @classmethod
    def generate(cls, seed: int, size: int | None = None) -> Self:
        from cxlab.benchmarks.mmtaup2.worlds.retail_data import generate

        return cls(Database(generate(seed, size)), Database({}))

    @classmethod
    def from_data(cls, agent_db: Mapping[str, Json], customer_db: Mapping[str, Json] | None) -> Self:
        """A world of a retail database as tau2-bench stores it; BadOption names the first row that is not like that."""
        if customer_db:
            raise BadOption("retail: the customer has no side of its own, so there is no database for it")
        from cxlab.benchmarks.mmtaup2.worlds.retail_rows import check_rows

        return cls(Database(check_rows(agent_db)), Database({}))

    # Finding and reading

    @tool("agent", "Find a user by the e-mail address of the account.", {"email": text("The address.")})
    def find_user_id_by_email(self, email: str) -> str:
        name = self._by_email.get(_folded(email))
        if name is None:
            raise ToolRefusal("No user has this e-mail address.")
        return name

    @tool(
        "agent",
        "Find a user by first name, last name and zip code, where the e-mail address is not known.",
        {"first_name": text("First name."), "last_name": text("Last name."), "zip": text("Zip code of the account.")},
    )
    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:
        wanted = (_folded(first_name), _folded(last_name), zip.strip())
        name = self._by_name.get(wanted)
        row = self.agent.get("users", name) if name else None
        if name is not None and row is not None and _name_and_zip(row) == wanted:
            return name
        for name, row in self.agent.rows("users"):
            if _name_and_zip(row) == wanted:
                return name
        raise ToolRefusal("No user has this name and zip code.")

    @tool("agent", "Show a user's profile: name, address, payment methods, orders.", {"user_id": USER})
    def get_user_details(self, user_id: str) -> Row:
        return orders.find(self.agent, "users", user_id)

    @tool("agent", "Show an order: status, items, address, parcels and payments.", {"order_id": ORDER})
    def get_order_details(self, order_id: str) -> Row:
        return orders.find(self.agent, "orders", order_id)

    @tool(
        "agent",
        "Show a product with all its variants: options, price, and whether each can be had.",
        {"product_id": text("The product's id, which is not the id of an item.")},
    )
    def get_product_details(self, product_id: str) -> Row:
        return orders.find(self.agent, "products", product_id)

    @tool("agent", "Show one variant of a product.", {"item_id": text("The item's id, not the product's.")})
    def get_item_details(self, item_id: str) -> Row:
        if item_id not in self._by_item:
            raise ToolRefusal(f"There is no item {item_id[:80]!r}.")
        return dict(orders.find(self.agent, "products", self._by_item[item_id])["variants"][item_id])

    @tool("agent", "List what kinds of product the shop has, each with its product id.")
    def list_all_product_types(self) -> dict[str, str]:
        return dict(sorted((str(row["name"]), name) for name, row in self.agent.rows("products")))

    @tool(
        "agent",
        "Calculate with numbers, + - * / and brackets; the result is rounded to two places.",
        {"expression": text("What to calculate, such as '(19.90 + 5) * 2'.")},
    )
    def calculate(self, expression: str) -> str:
        return orders.calculate(expression)

    # Pending orders

    @tool(
        "agent",
        "Cancel an order that is still pending. Gift cards are refunded at once, all else within 5 to 7 business days.",
        {"order_id": ORDER, "reason": text("Why, as the customer says it.", *orders.REASONS)},
        write=True,
        irreversible=True,
    )
    def cancel_pending_order(self, order_id: str, reason: str) -> Row:
        return orders.cancel_pending_order(self.agent, order_id, reason)

    @tool("agent", "Change where a pending order is sent.", {"order_id": ORDER, **ADDRESS}, write=True)
    def modify_pending_order_address(self, order_id: str, **address: str) -> Row:
        return orders.modify_pending_order_address(self.agent, order_id, address)

    @tool(
        "agent",
        "Swap items of a pending order for other variants of the same products. Possible once for an order.",
        {"order_id": ORDER, "item_ids": OLD, "new_item_ids": NEW, "payment_method_id": METHOD},
        write=True,
        irreversible=True,
    )
    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Row:
        return orders.modify_pending_order_items(self.agent, order_id, item_ids, new_item_ids, payment_method_id)

    @tool(
        "agent",
        "Let another of the user's payment methods pay for a pending order. Possible once for an order.",
        {"order_id": ORDER, "payment_method_id": METHOD},
        write=True,
        irreversible=True,
    )
    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> Row:
        return orders.modify_pending_order_payment(self.agent, order_id, payment_method_id)

    # Delivered orders, and the rest

    @tool(
        "agent",
        "Take items of a delivered order back and refund them. Possible once for an order.",
        {"order_id": ORDER, "item_ids": OLD, "payment_method_id": METHOD},
        write=True,
        irreversible=True,
    )
    def return_delivered_order_items(self, order_id: str, item_ids: list[str], payment_method_id: str) -> Row:
        return orders.return_delivered_order_items(self.agent, order_id, item_ids, payment_method_id)

    @tool(
        "agent",
        "Exchange items of a delivered order for other variants of the same products. Possible once for an order.",
        {"order_id": ORDER, "item_ids": OLD, "new_item_ids": NEW, "payment_method_id": METHOD},
        write=True,
        irreversible=True,
    )
    def exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Row:
        return orders.exchange_delivered_order_items(self.agent, order_id, item_ids, new_item_ids, payment_method_id)

    @tool("agent", "Change the address of a user's account.", {"user_id": USER, **ADDRESS}, write=True)
    def modify_user_address(self, user_id: str, **address: str) -> Row:
        return orders.modify_user_address(self.agent, user_id, address)

    @tool(
        "agent",
        "Hand the conversation over to a person, where none of the other tools can do what is needed.",
        {"summary": text("What the customer wants and what was done so far.")},
    )
    def transfer_to_human_agents(self, summary: str) -> str:
        return "Transfer successful"

    # For tasks

    @setup("agent")
    def set_item_available(self, item_id: str, available: bool) -> None:
        """Let a variant be in stock or sold out."""
        if item_id not in self._by_item:
            raise ToolRefusal(f"there is no item {item_id!r}")
        self.agent.edit("products", self._by_item[item_id])["variants"][item_id]["available"] = bool(available)

    @setup("agent")
    def set_customer(self, user_id: str) -> None:
        """Say whose conversation this is; no tool shows it."""
        orders.find(self.agent, "users", user_id)
        self.customer.add("person", "customer", {"user_id": user_id})

    @assertion("agent")
    def has_order_status(self, order_id: str, status: str) -> bool:
        return bool(orders.find(self.agent, "orders", order_id)["status"] == status)

    @assertion("agent")
    def was_handed_over(self) -> bool:
        """Whether the agent gave the conversation to a person; the shop's rows do not show it, the log does."""
        return any(call.tool == "transfer_to_human_agents" and call.kind == "ok" for call in self.log)

    @assertion("agent")
    def was_found(self, user_id: str) -> bool:
        """Whether the agent found this user by what the customer told."""
        return any(call.tool.startswith("find_user_id") and call.value == user_id for call in self.log)

    @assertion("agent")
    def was_looked_at(self, order_id: str) -> bool:
        """Whether the agent has seen this order, be it as the answer to a change."""
        rows = (call.value for call in self.log if call.kind == "ok" and isinstance(call.value, dict))
        return any(row.get("order_id") == order_id for row in rows)

    def bystanders(self) -> list[str]:
        """Changed rows of users other than the customer; none when the task does not say who the customer is."""
        person = self.customer.get("person", "customer")
        if person is None:
            return []
        found = []
        for table, name in self.agent.changes():
            row = self.agent.get(table, name) or {}
            if table in ("users", "orders") and row.get("user_id") != person["user_id"]:
                found.append(f"{table} {name}")
        return sorted(found)

    # For pages

    def snapshot(self) -> dict[str, Json]:
        """The customer and every user that was looked at, with all their orders; the whole shop fits no page."""
        person = self.customer.get("person", "customer")
        seen = dict.fromkeys([str(person["user_id"])] if person else [])
        for call in self.log:
            if call.kind == "ok" and call.tool.startswith("find_user_id"):
                seen[str(call.value)] = None
            elif call.kind == "ok" and isinstance(call.arguments, dict):
                order = self.agent.get("orders", str(call.arguments.get("order_id")))
                seen[str(call.arguments.get("user_id") or (order or {}).get("user_id"))] = None
        users = {name: row for name in seen if (row := self.agent.get("users", name)) is not None}
        names = [name for user in users.values() for name in user["orders"]]
        theirs = {name: row for name in names if (row := self.agent.get("orders", name)) is not None}
        return {"agent": copy_json({"users": users, "orders": theirs}), "customer": {}}


def _name_and_zip(user: Row) -> tuple[str, str, str]:
    """What a customer is found by who does not know the e-mail address."""
    name = user["name"]
    return _folded(name["first_name"]), _folded(name["last_name"]), str(user["address"]["zip"])


def _folded(text: str) -> str:
    """Without letter case and accents: neither can be heard when a name is spelled out."""
    apart = unicodedata.normalize("NFKD", text.strip())
    return "".join(letter for letter in apart if not unicodedata.combining(letter)).casefold()
