"""What happens in cases: which item, what trouble, which talk it becomes, who has it, whether it changes hands and who
breaks a rule. All of it follows from the latent variables and the orders; texts and times come after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation import sales
from cxlab.benchmarks.crmarena.generation.latent import Latent, end_of, rng_for
from cxlab.benchmarks.crmarena.generation.sales import Product
from cxlab.benchmarks.crmarena.generation.sizes import Size
from cxlab.benchmarks.crmarena.organisation.company import Company
from cxlab.benchmarks.crmarena.organisation.talks import Talk
from cxlab.errors import CxError

# Days before the end in which a case may still be open, and in which none is opened, so that all can be said in time.
RECENT, QUIET = 75, 12
# How likely a case comes first to an agent without any skill for it, beside one who has all.
FALLS_TO_ANYBODY = 0.15
# Of so many issues the two agents who closed most are made level, so that the next rule of routing decides.
LEVEL_ISSUES = 0.3


@dataclass(frozen=True)
class CasePlan:
    """One case before anything is written. Numbers are places in the lists of items, products, customers, agents and
    issues; `opened` is when the customer wrote; `second` is who has it after it changed hands, None where it did not.
    `breach`: the conduct policy that is broken. `is_open`: it is never closed.
    """

    number: int
    item: int
    product: int
    customer: int
    state: int
    issue: int
    opened: datetime
    talk: Talk
    first: int
    second: int | None
    is_open: bool

    @property
    def breach(self) -> str | None:
        """The rule that is broken in it."""
        return self.talk.breaches

    @property
    def owner(self) -> int:
        """Who has it, or had it last."""
        return self.first if self.second is None else self.second


@dataclass(frozen=True)
class _Item:
    place: int
    product: int
    customer: int
    state: int
    ordered: date


def plan_cases(
    company: Company,
    talks: Sequence[Talk],
    products: list[Product],
    tables: dict[str, pl.DataFrame],
    states: np.ndarray,
    latent: Latent,
    size: Size,
    seed: int,
) -> list[CasePlan]:
    """The cases in the order in which they are opened. `states`: the state of each customer."""
    rng = rng_for(seed, "cases")
    items = _list_items(tables, products, states)
    drawn = _draw_items(items, latent, rng)
    issues = [issue.name for issue in company.profile.issues]
    by_issue = {number: [t for t in talks if t.issue == name] for number, name in enumerate(issues)}
    last = end_of(size) - timedelta(days=QUIET)
    found: list[tuple[_Item, int]] = []
    for item in drawn:
        issue = _draw_issue(item, by_issue, products, latent, last, rng)
        if issue is not None:
            found.append((item, issue))
        if len(found) == size.cases:
            break
    if len(found) < size.cases:
        raise CxError(
            f"only {len(found)} of {size.cases} cases find an order that they can be about; take another size"
        )
    load = latent.load[:, None] * (FALLS_TO_ANYBODY + latent.skill**2)
    first = [int(rng.choice(len(load), p=load[:, issue] / load[:, issue].sum())) for _, issue in found]
    second = _draw_transfers(found, first, latent, size, rng)
    chosen = _choose_talks(found, first, second, by_issue, products, latent, size, last, rng)
    made = [
        CasePlan(
            number=0,
            item=item.place,
            product=item.product,
            customer=item.customer,
            state=item.state,
            issue=issue,
            opened=_open(item.ordered, talk, last, rng),
            talk=talk,
            first=one,
            second=two,
            is_open=False,
        )
        for (item, issue), one, two, talk in zip(found, first, second, chosen, strict=True)
    ]
    made.sort(key=lambda plan: (plan.opened, plan.item))
    made = [replace(plan, number=number) for number, plan in enumerate(made, 1)]
    recent = [plan.number for plan in made if (last - plan.opened.date()).days <= RECENT] or [
        plan.number for plan in made[-size.open_cases :]
    ]
    still = set(rng.choice(recent, size=min(size.open_cases, len(recent)), replace=False).tolist())
    made = [replace(plan, is_open=plan.number in still) for plan in made]
    return _make_level(made, latent, rng)


def _list_items(tables: dict[str, pl.DataFrame], products: list[Product], states: np.ndarray) -> list[_Item]:
    orders = tables["Order"]
    place = {product.id: number for number, product in enumerate(products)}
    accounts = {name: number for number, name in enumerate(tables["Account"]["Id"])}
    days = dict(zip(orders["Id"], orders["EffectiveDate"], strict=True))
    whose = dict(zip(orders["Id"], orders["AccountId"], strict=True))
    sold = {row[0] for row in orders.select("Id", "Status").iter_rows() if row[1] == "Activated"}
    return [
        _Item(n, place[product], accounts[whose[order]], int(states[accounts[whose[order]]]), days[order])
        for n, (order, product) in enumerate(tables["OrderItem"].select("OrderId", "Product2Id").iter_rows())
        if order in sold
    ]


def _draw_items(items: list[_Item], latent: Latent, rng: np.random.Generator) -> list[_Item]:
    """Items in the order in which they make trouble, by the defects of their product in the month they were bought."""
    months = sales.months_of([item.ordered for item in items])
    product = np.array([item.product for item in items])
    rates = latent.defects[product, np.minimum(months, latent.defects.shape[1] - 1)]
    keys = -np.log(rng.random(len(items))) / rates
    return [items[place] for place in np.argsort(keys)]


def _fits(talk: Talk, item: _Item, product: Product, last: date) -> bool:
    of_kind = talk.kinds is None or product.kind in talk.kinds
    for_them = talk.audiences is None or product.audience in talk.audiences
    return of_kind and for_them and item.ordered + timedelta(days=talk.age[0]) <= last


def _draw_issue(
    item: _Item,
    by_issue: dict[int, list[Talk]],
    products: list[Product],
    latent: Latent,
    last: date,
    rng: np.random.Generator,
) -> int | None:
    """What the trouble is, of what its product has and about which somebody can still have written."""
    month = int(sales.months_of([item.ordered])[0])
    weights = latent.flaws[item.product] * latent.issue_months[:, min(month, latent.issue_months.shape[1] - 1)]
    possible = [
        any(t.breaches is None and not t.hands_over and _fits(t, item, products[item.product], last) for t in several)
        for several in by_issue.values()
    ]
    weights = weights * np.array(possible)
    return int(rng.choice(len(weights), p=weights / weights.sum())) if weights.sum() else None


def _draw_transfers(
    found: list[tuple[_Item, int]], first: list[int], latent: Latent, size: Size, rng: np.random.Generator
) -> list[int | None]:
    """Who gets a case from an agent that lacks the skill for it."""
    lack = np.array([(1 - latent.skill[agent, issue]) ** 2 for agent, (_, issue) in zip(first, found, strict=True)])
    moved = set(
        rng.choice(len(found), size=min(size.transfers, len(found)), replace=False, p=lack / lack.sum()).tolist()
    )
    second: list[int | None] = []
    for place, (agent, (_, issue)) in enumerate(zip(first, found, strict=True)):
        if place not in moved:
            second.append(None)
            continue
        skills = latent.skill[:, issue] ** 2
        skills[agent] = 0
        second.append(int(rng.choice(len(skills), p=skills / skills.sum())))
    return second


def _choose_talks(
    found: list[tuple[_Item, int]],
    first: list[int],
    second: list[int | None],
    by_issue: dict[int, list[Talk]],
    products: list[Product],
    latent: Latent,
    size: Size,
    last: date,
    rng: np.random.Generator,
) -> list[Talk]:
    """A talk for each case: as many chats as wanted, and as many that break a rule, by who is likeliest to."""

    def choices(place: int, breaks: bool, form: str | None = None) -> list[Talk]:
        item, issue = found[place]
        fitting = [t for t in by_issue[issue] if _fits(t, item, products[item.product], last)]
        # A talk in which the case changes hands is for cases that do.
        return [
            t
            for t in fitting
            if (t.breaches is not None) == breaks
            and form in (None, t.form)
            and (second[place] is not None or not t.hands_over)
        ]

    owners = [one if two is None else two for one, two in zip(first, second, strict=True)]
    leaning = np.array([latent.deviation[agent] for agent in owners])
    able = [place for place in range(len(found)) if choices(place, breaks=True)]
    keys = -np.log(rng.random(len(able))) / np.maximum(leaning[able], 1e-9)
    breaking = {able[k] for k in np.argsort(keys)[: size.breaches]}
    forms = [{talk.form for talk in choices(place, place in breaking)} for place in range(len(found))]
    only = [place for place, each in enumerate(forms) if each == {"chat"}]
    either = [place for place, each in enumerate(forms) if len(each) == 2]
    chats = {*only, *rng.permutation(either)[: max(size.chats - len(only), 0)].tolist()}
    made: list[Talk] = []
    said = Counter[str]()
    for place in range(len(found)):
        fitting = choices(place, place in breaking, "chat" if place in chats else "email")
        # Those that were said least come first, so that all are heard.
        least = min(said[talk.id] for talk in fitting)
        rare = [talk for talk in fitting if said[talk.id] <= least + 2]
        made.append(rare[int(rng.integers(len(rare)))])
        said[made[-1].id] += 1
    return made


def _open(ordered: date, talk: Talk, last: date, rng: np.random.Generator) -> datetime:
    """When the customer writes: some days after the order, by day."""
    most = min(talk.age[1], (last - ordered).days)
    days = int(rng.integers(talk.age[0], most + 1))
    seconds = int(rng.integers(7 * 3600, 20 * 3600))
    return datetime.combine(ordered + timedelta(days=days), time()) + timedelta(seconds=seconds)


def _make_level(plans: list[CasePlan], latent: Latent, rng: np.random.Generator) -> list[CasePlan]:
    """For some issues the two agents who closed most become level: cases of the first go to the others."""
    issues = sorted({plan.issue for plan in plans})
    for issue in rng.permutation(issues)[: round(len(issues) * LEVEL_ISSUES)].tolist():
        closed = [plan for plan in plans if plan.issue == issue and not plan.is_open]
        most = Counter(plan.owner for plan in closed).most_common(3)
        if len(most) < 3 or most[0][1] == most[1][1]:
            continue
        (top, many), (_, fewer), (third, _) = most
        spare = [plan.number for plan in closed if plan.owner == top and plan.second is None][: many - fewer]
        if len(spare) < many - fewer or most[2][1] + len(spare) >= fewer:
            continue
        others = [agent for agent in range(len(latent.load)) if agent not in (top, most[1][0], third)]
        moved = dict(zip(spare, rng.choice(others, size=len(spare)).tolist(), strict=True))
        plans = [replace(plan, first=moved.get(plan.number, plan.first)) for plan in plans]
    return plans
