"""What a customer of the shop may come with.

An issue looks for a case in one customer's orders and drafts it: what the customer says and knows, the gold actions,
the fields that must not be got wrong. Half of the issues change something; the others are questions, requests that the
policy forbids (the gold outcome is that nothing happens), and what only a person can settle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from cxlab.benchmarks.mmtaup2.tasks.task import GoldAction
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.benchmarks.mmtaup2.worlds.database import Row
from cxlab.benchmarks.mmtaup2.worlds.retail_data import make_address, read_shop
from cxlab.benchmarks.mmtaup2.worlds.retail_orders import REASONS, price_difference

TRANSFER = "transfer_to_human_agents"


@dataclass
class IssueContext:
    """One customer with the rows an issue may look at; `orders` are those no issue of the task has taken yet."""

    world: World
    user: Row
    orders: list[Row]
    rng: Random

    def take(self, *statuses: str, fits: Callable[[Row], bool] = lambda order: True) -> Row | None:
        """A free order with one of the statuses; it is then no longer free."""
        found = [order for order in self.orders if order["status"] in statuses and fits(order)]
        if not found:
            return None
        chosen = self.rng.choice(found)
        self.orders.remove(chosen)
        return chosen


@dataclass
class RetailIssue:
    """One issue of one customer: what the customer says, and what it can add when asked.

    In a task the second issue's facts are called order_id_2 and so on, the third's order_id_3.
    """

    asks: str
    facts: dict[str, Any]
    gold: list[GoldAction]
    accepts: str
    communicate: tuple[str, ...] = ()
    critical: dict[str, Any] = field(default_factory=dict)
    transfer: bool = False


def act(tool: str, **arguments: Any) -> GoldAction:
    """A gold action of the agent."""
    return GoldAction(side="agent", tool=tool, arguments=arguments)


def _look(order: Row) -> GoldAction:
    return act("get_order_details", order_id=order["order_id"])


def tell_options(options: Mapping[str, Any]) -> str:
    """The options of a thing as people say them: "colour blue, size M"."""
    return ", ".join(f"{name} {value}" for name, value in options.items())


def _method(user: Row, name: str) -> str:
    """A payment method as its owner speaks of it."""
    method = user["payment_methods"][name]
    match method["source"]:
        case "credit_card":
            return f"the {method['brand']} card ending in {method['last_four']}"
        case "gift_card":
            return f"the gift card {name.removeprefix('gift_card_')}"
    return "PayPal"


def _names(items: list[Row]) -> str:
    names = [f"the {item['name']}" for item in items]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _choose(order: Row, rng: Random) -> list[Row]:
    """One or two of the order's items, in their order."""
    items = order["items"]
    chosen = sorted(rng.sample(range(len(items)), min(len(items), rng.choice((1, 1, 2)))))
    return [items[place] for place in chosen]


def cancel_order(case: IssueContext) -> RetailIssue | None:
    order = case.take("pending")
    if order is None:
        return None
    reason = case.rng.choice(REASONS)
    why = {"no longer needed": "I do not need it any more", "ordered by mistake": "I ordered it by mistake"}[reason]
    return RetailIssue(
        f"I want to cancel my order {order['order_id']}. {why}.",
        {"order_id": order["order_id"], "reason": reason},
        [_look(order), act("cancel_pending_order", order_id=order["order_id"], reason=reason)],
        accepts="the order is cancelled",
        critical={"order_id": order["order_id"], "reason": reason},
    )


def change_order_address(case: IssueContext) -> RetailIssue | None:
    order = case.take("pending")
    if order is None:
        return None
    address = _new_address(case)
    return RetailIssue(
        f"My order {order['order_id']} should go to another address: {tell_address(address)}.",
        {"order_id": order["order_id"], "new_address": tell_address(address)},
        [_look(order), act("modify_pending_order_address", order_id=order["order_id"], **address)],
        accepts="the order goes to the new address",
        critical={"order_id": order["order_id"], "zip": address["zip"]},
    )


def change_home_address(case: IssueContext) -> RetailIssue | None:
    address = _new_address(case)
    user_id = case.user["user_id"]
    return RetailIssue(
        f"I have moved. My account should show the new address: {tell_address(address)}.",
        {"new_address": tell_address(address)},
        [act("modify_user_address", user_id=user_id, **address)],
        accepts="your account shows the new address",
        critical={"user_id": user_id, "zip": address["zip"]},
    )


def change_payment(case: IssueContext) -> RetailIssue | None:
    methods = case.user["payment_methods"]

    def others(order: Row) -> list[str]:
        paid = order["payment_history"][0]
        return [
            name
            for name, method in methods.items()
            if name != paid["payment_method_id"] and method.get("balance", paid["amount"]) >= paid["amount"]
        ]

    order = case.take("pending", fits=lambda order: bool(others(order)))
    if order is None:
        return None
    method = case.rng.choice(others(order))
    return RetailIssue(
        f"I want to pay my order {order['order_id']} with {_method(case.user, method)} instead.",
        {"order_id": order["order_id"], "payment_method": _method(case.user, method)},
        [_look(order), act("modify_pending_order_payment", order_id=order["order_id"], payment_method_id=method)],
        accepts="the other payment method pays for the order",
        critical={"order_id": order["order_id"], "payment_method_id": method},
    )


def change_items(case: IssueContext) -> RetailIssue | None:
    return _swap(case, "pending", "modify_pending_order_items", "I want other variants in my pending order")


def exchange_items(case: IssueContext) -> RetailIssue | None:
    return _swap(case, "delivered", "exchange_delivered_order_items", "I want to exchange something from my order")


def _swap(case: IssueContext, status: str, tool: str, opening: str) -> RetailIssue | None:
    def others(item: Row) -> list[Row]:
        product = case.world.agent.get("products", item["product_id"]) or {"variants": {}}
        return [v for v in product["variants"].values() if v["available"] and v["item_id"] != item["item_id"]]

    order = case.take(status, fits=lambda order: all(others(item) for item in order["items"]))
    if order is None:
        return None
    old = _choose(order, case.rng)
    new = [case.rng.choice(others(item)) for item in old]
    old_ids, new_ids = [item["item_id"] for item in old], [variant["item_id"] for variant in new]
    difference = price_difference(case.world.agent, order, old_ids, new_ids)
    methods = case.user["payment_methods"]
    able = [name for name, method in methods.items() if method.get("balance", difference) >= difference]
    if not able:
        return None
    method = case.rng.choice(able)
    wishes = "; ".join(
        f"the {i['name']} for one with {tell_options(v['options'])}" for i, v in zip(old, new, strict=True)
    )
    facts = {
        "order_id": order["order_id"],
        "items": _names(old),
        "new_items": wishes,
        "payment_method": _method(case.user, method),
    }
    arguments = {"order_id": order["order_id"], "item_ids": old_ids, "new_item_ids": new_ids}
    return RetailIssue(
        f"{opening} {order['order_id']}: {wishes}. The difference is to be settled with {_method(case.user, method)}.",
        facts,
        [
            _look(order),
            *(act("get_product_details", product_id=item["product_id"]) for item in old),
            act(tool, **arguments, payment_method_id=method),
        ],
        accepts="exactly these variants are noted",
        critical={"order_id": order["order_id"], "payment_method_id": method},
    )


def return_items(case: IssueContext) -> RetailIssue | None:
    order = case.take("delivered")
    if order is None:
        return None
    items, method = _choose(order, case.rng), order["payment_history"][0]["payment_method_id"]
    return RetailIssue(
        f"I want to send back {_names(items)} from order {order['order_id']}, with the refund to what I paid with.",
        {"order_id": order["order_id"], "items": _names(items), "payment_method": _method(case.user, method)},
        [
            _look(order),
            act(
                "return_delivered_order_items",
                order_id=order["order_id"],
                item_ids=[item["item_id"] for item in items],
                payment_method_id=method,
            ),
        ],
        accepts="the return is requested",
        critical={"order_id": order["order_id"], "payment_method_id": method},
    )


def ask_tracking(case: IssueContext) -> RetailIssue | None:
    order = case.take("processed", "delivered", fits=lambda order: bool(order["fulfillments"]))
    if order is None:
        return None
    number = order["fulfillments"][0]["tracking_id"][0]
    return RetailIssue(
        f"What is the tracking number of my order {order['order_id']}?",
        {"order_id": order["order_id"]},
        [_look(order)],
        accepts="you have the tracking number",
        communicate=(number,),
        critical={"order_id": order["order_id"]},
    )


def ask_cheapest(case: IssueContext) -> RetailIssue | None:
    name, product = case.rng.choice(list(case.world.agent.rows("products")))
    prices = [variant["price"] for variant in product["variants"].values() if variant["available"]]
    if not prices:
        return None
    return RetailIssue(
        f"What does the cheapest {product['name']} that you have in stock cost?",
        {"product": product["name"]},
        [act("list_all_product_types"), act("get_product_details", product_id=name)],
        accepts="you have the price",
        communicate=(f"{min(prices):.2f}",),
        critical={"product_id": name},
    )


def cancel_too_late(case: IssueContext) -> RetailIssue | None:
    order = case.take("processed")
    if order is None:
        return None
    return RetailIssue(
        f"I want to cancel my order {order['order_id']}, because I no longer need it.",
        {"order_id": order["order_id"], "reason": "no longer needed"},
        [_look(order)],
        accepts="the order is cancelled, or the agent explains why it cannot be",
        critical={"order_id": order["order_id"]},
    )


def cancel_for_other_reason(case: IssueContext) -> RetailIssue | None:
    order = case.take("pending")
    if order is None:
        return None
    return RetailIssue(
        f"I want to cancel my order {order['order_id']}, because another shop is cheaper. That is my only reason.",
        {"order_id": order["order_id"], "reason": "another shop is cheaper"},
        [_look(order)],
        accepts="the order is cancelled, or the agent explains why this reason is not enough",
        critical={"order_id": order["order_id"]},
    )


def refund_elsewhere(case: IssueContext) -> RetailIssue | None:
    methods = case.user["payment_methods"]

    def forbidden(order: Row) -> list[str]:
        paid = order["payment_history"][0]["payment_method_id"]
        return [name for name, method in methods.items() if method["source"] != "gift_card" and name != paid]

    order = case.take("delivered", fits=lambda order: bool(forbidden(order)))
    if order is None:
        return None
    items, method = _choose(order, case.rng), case.rng.choice(forbidden(order))
    return RetailIssue(
        f"I want to send back {_names(items)} from order {order['order_id']}, but only if the refund goes to "
        f"{_method(case.user, method)}. Otherwise nothing goes back.",
        {"order_id": order["order_id"], "items": _names(items), "payment_method": _method(case.user, method)},
        [_look(order)],
        accepts="the refund goes there, or the agent explains why it cannot",
        critical={"order_id": order["order_id"]},
    )


def lost_parcel(case: IssueContext) -> RetailIssue | None:
    order = case.take("delivered", "processed", fits=lambda order: bool(order["fulfillments"]))
    if order is None:
        return None
    return RetailIssue(
        f"The parcel of my order {order['order_id']} came without anything in it. I want somebody to look into it.",
        {"order_id": order["order_id"], "happened": "the parcel was empty"},
        [
            _look(order),
            GoldAction(side="agent", tool=TRANSFER, arguments={"summary": "The parcel came empty."}, compare=()),
        ],
        accepts="a person takes over",
        critical={"order_id": order["order_id"]},
        transfer=True,
    )


# What hands over comes last: nothing can be settled after it.
ISSUES: dict[str, Callable[[IssueContext], RetailIssue | None]] = {
    issue.__name__: issue
    for issue in (
        cancel_order, change_order_address, change_home_address, change_payment, change_items, exchange_items,
        return_items, ask_tracking, ask_cheapest, cancel_too_late, cancel_for_other_reason, refund_elsewhere,
        lost_parcel,
    )
}  # fmt: skip


def _new_address(case: IssueContext) -> dict[str, str]:
    return {name: str(value) for name, value in make_address(read_shop(), case.rng).items()}


def tell_address(address: Mapping[str, str]) -> str:
    """An address in one line, its parts with commas between."""
    parts = [address["address1"], address["address2"], address["city"], f"{address['state']} {address['zip']}"]
    return ", ".join(part for part in [*parts, address["country"]] if part)
