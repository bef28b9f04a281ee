"""What a company sells and who bought it: products, price lists, customers' orders and their items."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation.latent import START, Latent, count_days, day, month_of, rng_for, season_of
from cxlab.benchmarks.crmarena.generation.sizes import Size
from cxlab.benchmarks.crmarena.organisation.company import Company, Model
from cxlab.benchmarks.crmarena.organisation.ids import make_id

# Orders that were begun and never placed.
DRAFTS = 0.05
# How much likelier an item is of the category that its customer likes in that season.
LIKED = 6.0
# Campaigns of a year: name, first and last day, factor on prices.
CAMPAIGNS = (
    ("New Year", (1, 2), (1, 20), 0.85),
    ("Late Winter", (2, 10), (2, 24), 0.9),
    ("Spring", (3, 20), (4, 10), 0.92),
    ("Early Summer", (5, 20), (6, 3), 0.88),
    ("Midsummer", (7, 1), (7, 14), 0.85),
    ("Back to School", (8, 10), (9, 5), 0.9),
    ("Autumn", (10, 1), (10, 14), 0.92),
    ("November", (11, 20), (12, 1), 0.8),
    ("Year's End", (12, 10), (12, 24), 0.9),
)


@dataclass(frozen=True)
class Product:
    """One product: a model of the catalogue for an audience in a `variant`; `price` before any price list."""

    id: str
    name: str
    model: Model
    price: float
    active: bool
    description: str
    variant: str
    audience: str

    @property
    def kind(self) -> str:
        """What customers call it."""
        return self.model.kind


def list_products(company: Company, size: Size) -> list[Product]:
    """The products: each model for each audience in each variant, then in its extra form, then the edition before.

    Few products are spread over all models; a small catalogue gives fewer than are wanted.
    """
    models = company.catalogue.models
    wanted = size.products
    plain = [[(model, who, what, "") for who in model.audiences for what in model.variants] for model in models]
    extra = [[(m, a, v, m.extra.name) for m, a, v, _ in each if m.extra is not None] for each in plain]
    chosen = [*_take_turns(plain), *_take_turns(extra)]
    chosen += [(m, a, v, str(START.year - 1)) for m, a, v, _ in _take_turns(plain)]
    found = []
    for number, (model, who, what, form) in enumerate(chosen[:wanted], 1):
        name = " ".join(filter(None, (model.name, form, who, what.title())))
        adds = model.extra.adds if model.extra is not None and form == model.extra.name else 0.0
        said = f"{model.about} {who} {model.kind}, {what}"
        said += f", {form.lower()}." if adds else f", {form} edition." if form else "."
        current = not form or adds > 0
        price = model.price + adds if current else round(model.price * 0.85)
        found.append(Product(make_id("01t", number), name, model, price, current, said, what, who))
    return found


def _take_turns(groups: list[list[Any]]) -> list[Any]:
    """One of each group, then the next of each."""
    longest = max((len(group) for group in groups), default=0)
    return [group[turn] for turn in range(longest) for group in groups if turn < len(group)]


def belongs(company: Company, products: list[Product]) -> np.ndarray:
    """Product × category: whether one belongs to the other."""
    names = company.profile.categories
    return np.array([[name in product.model.categories for name in names] for product in products])


def make_catalogue(company: Company, products: list[Product], size: Size, seed: int) -> dict[str, pl.DataFrame]:
    """Products, categories, price lists and their entries, as plain columns."""
    names = company.profile.categories
    categories = [make_id("0ZG", n) for n in range(1, len(names) + 1)]
    links = [(categories[column], products[row].id) for row, column in np.argwhere(belongs(company, products)).tolist()]
    books = list_books(size)
    rng = rng_for(seed, "prices")
    base = np.array([product.price for product in products])
    # Prices rise by some percent a year; a campaign lowers them, more for some products than for others.
    rise = 1 + 0.03 * np.array([(book.first - START).days / 365 for book in books])
    swing = np.where(
        np.array([book.factor for book in books])[:, None] < 1, rng.uniform(0.95, 1.05, (len(books), len(products))), 1
    )
    prices = np.floor(base[None, :] * rise[:, None] * np.array([b.factor for b in books])[:, None] * swing) + 0.95
    return {
        "ProductCategory": pl.DataFrame(
            {"Id": categories, "Name": list(names), "CatalogId": [make_id("0ZS", 1)] * len(names)}
        ),
        "Product2": pl.DataFrame(
            {
                "Id": [product.id for product in products],
                "Name": [product.name for product in products],
                "Description": [product.description for product in products],
                "IsActive": [product.active for product in products],
                "External_ID__c": [f"{company.profile.id.upper()}-{n:05}" for n in range(1, len(products) + 1)],
            }
        ),
        "ProductCategoryProduct": pl.DataFrame(
            {
                "Id": [make_id("0ZP", n) for n in range(1, len(links) + 1)],
                "ProductCategoryId": [category for category, _ in links],
                "ProductId": [product for _, product in links],
            }
        ),
        "Pricebook2": pl.DataFrame(
            {
                "Id": [book.id for book in books],
                "Name": [f"{company.profile.short_name} {book.name}" for book in books],
                "Description": [book.says for book in books],
                "IsActive": [True] * len(books),
                "ValidFrom": [datetime.combine(book.first, time()) for book in books],
                "ValidTo": [datetime.combine(book.last, time(23, 59, 59)) for book in books],
            }
        ),
        "PricebookEntry": pl.DataFrame(
            {
                "Id": [make_id("01u", n) for n in range(1, prices.size + 1)],
                "Pricebook2Id": np.repeat([book.id for book in books], len(products)),
                "Product2Id": np.tile([product.id for product in products], len(books)),
                "UnitPrice": prices.ravel(),
            }
        ),
    }


@dataclass(frozen=True)
class Book:
    """A price list: its days, first and last, and its factor on prices."""

    id: str
    name: str
    says: str
    first: date
    last: date
    factor: float


def list_books(size: Size) -> list[Book]:
    """A list for each half-year, one for each campaign."""
    given: list[tuple[str, str, date, date, float]] = []
    for year in range(START.year, START.year + size.months // 12):
        for half, (first, last) in enumerate(((1, 6), (7, 12)), 1):
            end = date(year, last, 30 if last == 6 else 31)
            given.append((f"Prices {year} H{half}", "Prices outside campaigns", date(year, first, 1), end, 1.0))
        for name, first_day, last_day, factor in CAMPAIGNS:
            says = f"Prices of the campaign {name}"
            given.append((f"{name} {year}", says, date(year, *first_day), date(year, *last_day), factor))
    return [Book(make_id("01s", n), *each) for n, each in enumerate(given, 1)]


def make_orders(
    company: Company, products: list[Product], accounts: list[str], latent: Latent, size: Size, seed: int
) -> dict[str, pl.DataFrame]:
    """Orders and their items. An account orders once a day at most, and a product once an order."""
    rng = rng_for(seed, "orders")
    days = np.arange(count_days(size))
    books = list_books(size)
    lifted = np.ones(len(days))
    for book in books:
        if book.factor < 1:
            lifted[(book.first - START).days : (book.last - START).days + 1] = 1.8
    weights = latent.habit[:, season_of(days)] * lifted
    # The company grows: later days see more orders.
    weights *= np.linspace(0.7, 1.3, len(days))
    share = weights.sum(axis=1) / weights.sum()
    counts = 1 + rng.multinomial(max(size.orders - len(accounts), 0), share)
    pairs = [
        (int(when), who)
        for who, count in enumerate(counts)
        for when in rng.choice(
            days, size=min(int(count), len(days)), replace=False, p=weights[who] / weights[who].sum()
        )
    ]
    pairs.sort()
    when = np.array([each for each, _ in pairs])
    who = np.array([each for _, each in pairs])
    drafts = rng.random(len(pairs)) < DRAFTS
    lists = _find_books(when, books)
    member = belongs(company, products)
    liked = latent.liking[who, season_of(when)]
    many = 1 + rng.multinomial(max(size.items - len(pairs), 0), np.full(len(pairs), 1 / len(pairs)))
    keys = rng.random((len(pairs), len(products)))
    # A weighted draw without replacement: the smallest of -log(u) / w (Efraimidis and Spirakis).
    chances = latent.popularity[None, :] * np.where(member[:, liked].T, LIKED, 1.0)
    chosen = np.argsort(-np.log(keys) / chances, axis=1)
    order = np.repeat(np.arange(len(pairs)), np.minimum(many, len(products)))
    place = np.concatenate([np.arange(min(count, len(products))) for count in many])
    product = chosen[order, place]
    entry = lists[order] * len(products) + product
    orders = [make_id("801", n) for n in range(1, len(pairs) + 1)]
    ids = np.array([each.id for each in products])
    return {
        "Order": pl.DataFrame(
            {
                "Id": orders,
                "AccountId": np.array(accounts)[who],
                "Status": np.where(drafts, "Draft", "Activated"),
                "EffectiveDate": [day(each) for each in when],
                "Pricebook2Id": np.array([each.id for each in books])[lists],
            }
        ),
        "OrderItem": pl.DataFrame(
            {
                "Id": [make_id("802", n) for n in range(1, len(order) + 1)],
                "OrderId": np.array(orders)[order],
                "Product2Id": ids[product],
                "Quantity": rng.choice([1.0, 2.0, 3.0], size=len(order), p=[0.88, 0.1, 0.02]),
                "PricebookEntryId": [make_id("01u", int(each) + 1) for each in entry],
            }
        ),
    }


def _find_books(when: np.ndarray, books: list[Book]) -> np.ndarray:
    """The price list of each day: a campaign's where one runs."""
    found = np.zeros(int(when.max()) + 1, dtype=int)
    for number, book in sorted(enumerate(books), key=lambda each: each[1].factor, reverse=True):
        found[(book.first - START).days : (book.last + timedelta(days=1) - START).days] = number
    of_days: np.ndarray = found[when]
    return of_days


def add_prices(items: pl.DataFrame, entries: pl.DataFrame) -> pl.DataFrame:
    """Items with the price of their entry."""
    prices = entries.select(PricebookEntryId="Id", UnitPrice="UnitPrice")
    return items.join(prices, on="PricebookEntryId", how="left", maintain_order="left")


def months_of(days: list[date]) -> np.ndarray:
    """The months, counted from the beginning, of some days."""
    return month_of(np.array([(each - START).days for each in days]))
