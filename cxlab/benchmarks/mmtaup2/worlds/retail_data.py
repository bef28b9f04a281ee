"""A shop of our own making, at any size: the same seed and size give the same rows."""

from __future__ import annotations

import functools
import itertools
import math
from random import Random

from pydantic import BaseModel, ConfigDict, Field

from cxlab import files, resources
from cxlab.benchmarks.mmtaup2.worlds.database import Row
from cxlab.errors import BadOption

FILE = resources.data("mmtaup2", "retail_shop.yaml")
USERS = 120  # a page can list them, and every kind of order comes up often
MOST_USERS = 2_000_000
STATUSES = {"pending": 0.42, "delivered": 0.38, "processed": 0.1, "cancelled": 0.1}
IN_STOCK = 0.75


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Kind(_Form):
    price: tuple[float, float]
    options: dict[str, list[str]] = Field(min_length=1)


class City(_Form):
    city: str
    state: str
    zip: str = Field(pattern=r"^\d{3}$")


class Shop(_Form):
    products: dict[str, Kind]
    first_names: list[str]
    last_names: list[str]
    streets: list[str]
    cities: list[City]
    card_brands: list[str]


@functools.cache
def read_shop() -> Shop:
    """What the shop is made from."""
    return files.load_model(FILE, Shop, "see the keys that are there")


def generate(seed: int, size: int | None = None) -> dict[str, dict[str, Row]]:
    """Users, orders and products; `size` counts the users."""
    size = USERS if size is None else size
    if not 1 <= size <= MOST_USERS:
        raise BadOption(f"a retail world of {size} users cannot be made; take 1 to {MOST_USERS}")
    shop, rng = read_shop(), Random(f"retail {seed} {size}")
    products = _products(shop, rng)
    variants = [(product, item) for product in products.values() for item in product["variants"].values()]
    users, orders = {}, {}
    # Ids are as long as tau2-bench's, and longer where a world has too many of them.
    length = max(7, len(str(size * 6)) + 1)
    order_ids, method_ids = _numbers(rng, length), _numbers(rng, length)
    marks = _numbers(rng, max(4, length - 2))
    for _ in range(size):
        user = _user(shop, rng, next(marks), method_ids)
        users[user["user_id"]] = user
        for _ in range(rng.choices(range(6), (8, 26, 28, 20, 12, 6))[0]):
            order = _order(rng, user, f"#W{next(order_ids)}", variants)
            orders[order["order_id"]] = order
            user["orders"].append(order["order_id"])
    return {"users": users, "orders": orders, "products": products}


def _numbers(rng: Random, length: int) -> itertools.chain[str]:
    """Numbers of so many digits in no order, none twice: steps around a circle that the step does not divide."""
    room = 9 * 10 ** (length - 1)
    step = rng.randrange(room // 3, room)
    while math.gcd(step, room) != 1:
        step += 1
    start = rng.randrange(room)
    return itertools.chain.from_iterable(
        (str(10 ** (length - 1) + (start + turn * step) % room),) for turn in range(room)
    )


def _products(shop: Shop, rng: Random) -> dict[str, Row]:
    found = {}
    product_ids, item_ids = _numbers(rng, 10), _numbers(rng, 10)
    for name, kind in shop.products.items():
        combinations = list(itertools.product(*kind.options.values()))
        chosen = rng.sample(combinations, min(len(combinations), rng.randint(5, 14)))
        variants = {}
        for values in chosen:
            item_id = next(item_ids)
            variants[item_id] = {
                "item_id": item_id,
                "options": dict(zip(kind.options, values, strict=True)),
                "available": rng.random() < IN_STOCK,
                "price": round(rng.uniform(*kind.price), 2),
            }
        product_id = next(product_ids)
        found[product_id] = {"name": name, "product_id": product_id, "variants": variants}
    return found


def make_address(shop: Shop, rng: Random) -> Row:
    place = rng.choice(shop.cities)
    return {
        "address1": f"{rng.randint(2, 980)} {rng.choice(shop.streets)}",
        "address2": f"Apt {rng.randint(1, 60)}" if rng.random() < 0.5 else "",
        "city": place.city,
        "country": "USA",
        "state": place.state,
        "zip": f"{place.zip}{rng.randint(10, 99)}",
    }


def _user(shop: Shop, rng: Random, mark: str, method_ids: itertools.chain[str]) -> Row:
    first, last = rng.choice(shop.first_names), rng.choice(shop.last_names)
    methods = {}
    # A second and third method let a customer choose; with gift cards some choices do not cover the sum.
    for source in rng.sample(("credit_card", "paypal", "gift_card"), rng.choices((1, 2, 3), (3, 4, 2))[0]):
        name = f"{source}_{next(method_ids)}"
        method: Row = {"source": source, "id": name}
        if source == "credit_card":
            method |= {"brand": rng.choice(shop.card_brands), "last_four": f"{rng.randrange(10_000):04d}"}
        elif source == "gift_card":
            method["balance"] = float(rng.randint(5, 400))
        methods[name] = method
    return {
        "user_id": f"{first}_{last}_{mark}".lower(),
        "name": {"first_name": first, "last_name": last},
        "address": make_address(shop, rng),
        "email": f"{first}.{last}{mark[-4:]}{mark[:-4]}@example.org".lower(),
        "payment_methods": methods,
        "orders": [],
    }


def _order(rng: Random, user: Row, order_id: str, variants: list[tuple[Row, Row]]) -> Row:
    # Different products: an order is then spoken of by what is in it.
    bought: dict[str, Row] = {}
    for product, variant in rng.choices(variants, k=rng.choices((1, 2, 3, 4), (3, 4, 3, 2))[0]):
        bought.setdefault(
            product["product_id"],
            {
                "name": product["name"],
                "product_id": product["product_id"],
                "item_id": variant["item_id"],
                "price": variant["price"],
                "options": dict(variant["options"]),
            },
        )
    items = list(bought.values())
    total = round(sum(item["price"] for item in items), 2)
    methods = [name for name, m in user["payment_methods"].items() if m["source"] != "gift_card"]
    payment = {
        "transaction_type": "payment",
        "amount": total,
        "payment_method_id": rng.choice(methods or list(user["payment_methods"])),
    }
    status = rng.choices(list(STATUSES), list(STATUSES.values()))[0]
    order: Row = {
        "order_id": order_id,
        "user_id": user["user_id"],
        "address": dict(user["address"]),
        "items": items,
        "status": status,
        "fulfillments": [],
        "payment_history": [payment],
    }
    if status in ("processed", "delivered"):
        parcel = {"tracking_id": [f"{rng.randrange(10**11, 10**12)}"], "item_ids": [item["item_id"] for item in items]}
        order["fulfillments"].append(parcel)
    if status == "cancelled":
        order["payment_history"].append({**payment, "transaction_type": "refund"})
        order["cancel_reason"] = rng.choice(("no longer needed", "ordered by mistake"))
    return order
