"""What the shop's systems do with users, orders and payments: one function a tool, and when each refuses.

A function returns the row it changed and raises `ToolRefusal` where the shop would not have it. Field names and states
are tau2-bench's, so that its tasks run here; money is in USD, rounded to cents. Where tau2-bench's shop errs, ours does
not: of several changed items each gets its own new price, cancelling refunds what is still paid and no more, and a
list without items is refused.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Sequence

from cxlab.benchmarks.mmtaup2.worlds.base import ToolRefusal
from cxlab.benchmarks.mmtaup2.worlds.database import Database, Row

REASONS = ("no longer needed", "ordered by mistake")
# What a pending order is called once its items were changed: it can be changed no further.
ITEMS_MODIFIED = "pending (item modified)"


def cancel_pending_order(rows: Database, order_id: str, reason: str) -> Row:
    order = find(rows, "orders", order_id)
    if order["status"] != "pending":
        raise ToolRefusal(f"Only a pending order can be cancelled; {order_id} is {order['status']}.")
    if reason not in REASONS:
        raise ToolRefusal(f"The reason must be {' or '.join(map(repr, REASONS))}, not {reason!r}.")
    find(rows, "users", order["user_id"])
    order = rows.edit("orders", order_id)
    for method, amount in paid_by_method(order).items():
        if amount > 0:
            refund = {"transaction_type": "refund", "amount": amount, "payment_method_id": method}
            order["payment_history"].append(refund)
            _add_to_balance(rows, order["user_id"], method, amount)
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    return order


def modify_pending_order_address(rows: Database, order_id: str, address: dict[str, str]) -> Row:
    order = find(rows, "orders", order_id)
    _check_pending(order)
    order = rows.edit("orders", order_id)
    order["address"] = dict(address)
    return order


def modify_pending_order_items(
    rows: Database, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Row:
    order = find(rows, "orders", order_id)
    if order["status"] != "pending":
        raise ToolRefusal(f"The items of {order_id} cannot be changed: it is {order['status']}.")
    same = [old for old, new in zip(item_ids, new_item_ids, strict=False) if old == new]
    if same:
        raise ToolRefusal(f"Item {same[0][:80]} is in the order already; name another variant, or leave it out.")
    difference = _check_swap(rows, order, item_ids, new_item_ids, payment_method_id)
    order = rows.edit("orders", order_id)
    kind = "payment" if difference > 0 else "refund"
    entry = {"transaction_type": kind, "amount": abs(difference), "payment_method_id": payment_method_id}
    order["payment_history"].append(entry)
    _add_to_balance(rows, order["user_id"], payment_method_id, -difference)
    # Every old item is marked before one is changed, so that swapping two variants swaps both.
    places: list[Row] = []
    for item_id in item_ids:
        places.append(next(i for i in order["items"] if i["item_id"] == item_id and all(i is not p for p in places)))
    for item, new_id in zip(places, new_item_ids, strict=True):
        variant = _variant(rows, item["product_id"], new_id)
        item |= {"item_id": new_id, "price": variant["price"], "options": dict(variant["options"])}
    order["status"] = ITEMS_MODIFIED
    return order


def modify_pending_order_payment(rows: Database, order_id: str, payment_method_id: str) -> Row:
    order = find(rows, "orders", order_id)
    _check_pending(order)
    user = find(rows, "users", order["user_id"])
    _check_method(user, payment_method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise ToolRefusal(f"The payment of {order_id} was changed before and cannot be changed again.")
    old, amount = str(history[0]["payment_method_id"]), float(history[0]["amount"])
    if old == payment_method_id:
        raise ToolRefusal(f"{order_id} is paid with {old} already; the new payment method must be another.")
    _check_balance(user, payment_method_id, amount)
    order = rows.edit("orders", order_id)
    order["payment_history"] += [
        {"transaction_type": "payment", "amount": amount, "payment_method_id": payment_method_id},
        {"transaction_type": "refund", "amount": amount, "payment_method_id": old},
    ]
    _add_to_balance(rows, order["user_id"], payment_method_id, -amount)
    _add_to_balance(rows, order["user_id"], old, amount)
    return order


def modify_user_address(rows: Database, user_id: str, address: dict[str, str]) -> Row:
    find(rows, "users", user_id)
    user = rows.edit("users", user_id)
    user["address"] = dict(address)
    return user


def return_delivered_order_items(rows: Database, order_id: str, item_ids: list[str], payment_method_id: str) -> Row:
    order = find(rows, "orders", order_id)
    _check_delivered(order)
    user = find(rows, "users", order["user_id"])
    method = _check_method(user, payment_method_id)
    if method["source"] != "gift_card" and payment_method_id != order["payment_history"][0]["payment_method_id"]:
        raise ToolRefusal("The refund must go to the payment method of the order or to a gift card.")
    _check_items(order, item_ids)
    order = rows.edit("orders", order_id)
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return order


def exchange_delivered_order_items(
    rows: Database, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> Row:
    order = find(rows, "orders", order_id)
    _check_delivered(order)
    difference = _check_swap(rows, order, item_ids, new_item_ids, payment_method_id)
    order = rows.edit("orders", order_id)
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return order


_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def calculate(expression: str) -> str:
    """The value of an expression of numbers, + - * / and brackets, rounded to cents; nothing else is read."""
    if len(expression) > 300 or not re.fullmatch(r"[\d+\-*/(). ]+", expression):
        raise ToolRefusal("Only numbers, + - * / and brackets can be calculated with, up to 300 characters.")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
        return str(round(value, 2))
    except (SyntaxError, RecursionError, MemoryError):
        raise ToolRefusal(f"{expression[:80]!r} is no expression that can be calculated.") from None
    except (ZeroDivisionError, OverflowError, ValueError):
        raise ToolRefusal(f"{expression[:80]!r} has no finite value.") from None


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _value(inner)
    raise SyntaxError


def paid_by_method(order: Row) -> dict[str, float]:
    """Payment method → what is still paid with it: payments less refunds."""
    paid: dict[str, float] = {}
    for entry in order["payment_history"]:
        sign = 1 if entry["transaction_type"] == "payment" else -1
        method = str(entry["payment_method_id"])
        paid[method] = paid.get(method, 0.0) + sign * float(entry["amount"])
    return {method: round(amount, 2) for method, amount in paid.items()}


def price_difference(rows: Database, order: Row, item_ids: Sequence[str], new_item_ids: Sequence[str]) -> float:
    """What the new items cost more than the old ones (less: negative)."""
    prices = {item["item_id"]: item for item in order["items"]}
    new = sum(
        _variant(rows, prices[old]["product_id"], n)["price"] for old, n in zip(item_ids, new_item_ids, strict=True)
    )
    return round(float(new - sum(prices[old]["price"] for old in item_ids)), 2)


def find(rows: Database, kind: str, name: str) -> Row:
    """The row, to be read only; ToolRefusal where there is none."""
    found = rows.get(kind, name)
    if found is None:
        raise ToolRefusal(f"There is no {kind.removesuffix('s')} {name[:80]!r}.")
    return found


def _variant(rows: Database, product_id: str, item_id: str) -> Row:
    found: Row | None = find(rows, "products", product_id)["variants"].get(item_id)
    if found is None:
        raise ToolRefusal(f"{item_id[:80]!r} is no variant of product {product_id}.")
    return found


def _check_pending(order: Row) -> None:
    # An order whose items were changed still waits for shipping: address and payment stay open.
    if "pending" not in order["status"]:
        raise ToolRefusal(f"Only a pending order can be modified; {order['order_id']} is {order['status']}.")


def _check_delivered(order: Row) -> None:
    if order["status"] != "delivered":
        raise ToolRefusal(f"Only items of a delivered order can come back; {order['order_id']} is {order['status']}.")


def _check_items(order: Row, item_ids: Sequence[str]) -> None:
    had = Counter(item["item_id"] for item in order["items"])
    lacking = [item for item, count in Counter(item_ids).items() if count > had[item]]
    if not item_ids or lacking:
        what = f"{', '.join(lacking[:3])[:80]} more often than it holds" if lacking else "no item"
        raise ToolRefusal(f"For order {order['order_id']}, the list names {what}.")


def _check_swap(
    rows: Database, order: Row, item_ids: Sequence[str], new_item_ids: Sequence[str], payment_method_id: str
) -> float:
    """The price difference of a swap that can be made; ToolRefusal for one that cannot."""
    _check_items(order, item_ids)
    if len(item_ids) != len(new_item_ids):
        raise ToolRefusal(
            f"{len(item_ids)} items cannot be swapped for {len(new_item_ids)}: one new item for each old one."
        )
    products = {item["item_id"]: item["product_id"] for item in order["items"]}
    for old, new in zip(item_ids, new_item_ids, strict=True):
        if not _variant(rows, products[old], new)["available"]:
            raise ToolRefusal(f"Item {new} is not available.")
    user = find(rows, "users", order["user_id"])
    _check_method(user, payment_method_id)
    difference = price_difference(rows, order, item_ids, new_item_ids)
    _check_balance(user, payment_method_id, difference)
    return difference


def _check_method(user: Row, payment_method_id: str) -> Row:
    found: Row | None = user["payment_methods"].get(payment_method_id)
    if found is None:
        raise ToolRefusal(f"User {user['user_id']} has no payment method {payment_method_id[:80]!r}.")
    return found


def _balance(user: Row, payment_method_id: str) -> float | None:
    """What is on a gift card; None for every other payment method."""
    method = user["payment_methods"].get(payment_method_id, {})
    return float(method["balance"]) if method.get("source") == "gift_card" else None


def _check_balance(user: Row, payment_method_id: str, amount: float) -> None:
    balance = _balance(user, payment_method_id)
    if balance is not None and balance < amount:
        raise ToolRefusal(f"The balance of {payment_method_id} is {balance:.2f}, which does not cover {amount:.2f}.")


def _add_to_balance(rows: Database, user_id: str, payment_method_id: str, amount: float) -> None:
    balance = _balance(find(rows, "users", user_id), payment_method_id)
    if balance is not None:
        method = rows.edit("users", user_id)["payment_methods"][payment_method_id]
        method["balance"] = round(balance + amount, 2)
