"""Retail tasks of our own: one to three issues of one customer put together, on a generated shop."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.tasks.retail_issues import ISSUES, IssueContext, RetailIssue, act
from cxlab.benchmarks.mmtaup2.tasks.task import CustomerKnowledge, Task, count_optimal_turns
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.benchmarks.mmtaup2.worlds.database import Row
from cxlab.errors import CxError

SMALLEST_SHOP = 120
USERS_A_TASK = 3  # so that most tasks have a customer of their own
KNOWS_EMAIL = 0.6


def combinations() -> Iterator[tuple[str, ...]]:
    """Single issues, then pairs, then triples, each in ISSUES' order, again and again with other customers."""
    names = list(ISSUES)
    singles, pairs = [(name,) for name in names], list(itertools.combinations(names, 2))
    triples = list(itertools.combinations(names, 3))
    # In step, so that any number of tasks holds all three sizes; steps that spread the pairs and triples.
    for turn in itertools.count():
        yield singles[turn % len(singles)]
        yield pairs[turn * 31 % len(pairs)]
        yield triples[turn * 89 % len(triples)]


def make(seed: int, count: int) -> list[Task]:
    """`count` tasks on the shop of this seed; a combination that no customer fits is passed over."""
    size = max(SMALLEST_SHOP, USERS_A_TASK * count)
    world = worlds.load("retail", seed, size)
    rng = Random(f"retail tasks {seed} {count}")
    users = [row for _, row in world.agent.rows("users")]
    found: list[Task] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for names in itertools.islice(combinations(), 50 * count + 1000):
        task = _compose(names, world, users, rng, seed, size)
        if task is not None and _works(task, world):
            seen[names] += 1
            # The same issues come up again with another customer.
            found.append(task.model_copy(update={"id": f"{task.id}#{seen[names]}"}))
        if len(found) == count:
            return found
    raise CxError(f"only {len(found)} of {count} retail tasks fit the shop of seed {seed}; take another seed")


def _compose(names: tuple[str, ...], world: World, users: list[Row], rng: Random, seed: int, size: int) -> Task | None:
    """A task of these issues for a customer whose orders allow them all."""
    start = rng.randrange(len(users))
    for place in range(min(len(users), 200)):
        user = users[(start + place) % len(users)]
        orders = [row for name in user["orders"] if (row := world.agent.get("orders", name)) is not None]
        case = IssueContext(world, user, orders, rng)
        drafts = [draft for name in names if (draft := ISSUES[name](case)) is not None]
        if len(drafts) == len(names):
            return _task(names, drafts, case, seed, size)
    return None


def _works(task: Task, world: World) -> bool:
    """Whether the gold actions go through together: two issues may want the same gift card."""
    trial = world.fresh()
    results = [trial.call(action.side, action.tool, action.arguments) for action in task.gold]
    return results[0].value == task.critical_fields["user_id"] and all(result.kind == "ok" for result in results)


def _task(names: tuple[str, ...], drafts: list[RetailIssue], case: IssueContext, seed: int, size: int) -> Task:
    user, rng, world = case.user, case.rng, case.world
    first, last, code = user["name"]["first_name"], user["name"]["last_name"], user["address"]["zip"]
    facts: dict[str, Any] = {"name": f"{first} {last}", "first_name": first, "last_name": last, "zip": code}
    unknown: tuple[str, ...] = ()
    if rng.random() < KNOWS_EMAIL:
        facts["email"] = user["email"]
        found = act("find_user_id_by_email", email=user["email"])
    else:
        unknown = ("email",)
        found = act("find_user_id_by_name_zip", first_name=first, last_name=last, zip=code)
    critical: dict[str, list[Any]] = {"user_id": [user["user_id"]]}
    gold = [found, act("get_user_details", user_id=user["user_id"])]
    for place, draft in enumerate(drafts, 1):
        # The second order is another one: its facts have names of their own.
        facts |= {name if place == 1 else f"{name}_{place}": value for name, value in draft.facts.items()}
        gold += draft.gold
        for name, value in draft.critical.items():
            values = critical.setdefault(name, [])
            values += [] if value in values else [value]
    said = tuple(text for draft in drafts for text in draft.communicate)
    handed_over = any(draft.transfer for draft in drafts)
    return Task(
        id="[retail]" + "|".join(names),
        domain="retail",
        issues=names,
        known=CustomerKnowledge(
            reason=" ".join(draft.asks for draft in drafts),
            matters=tuple(draft.asks for draft in drafts),
            facts=facts,
            unknown=unknown,
            wishes=tuple(f"You are content when {draft.accepts}." for draft in drafts),
        ),
        prepare=({"env_type": "assistant", "func_name": "set_customer", "arguments": {"user_id": user["user_id"]}},),
        gold=tuple(gold),
        assertions=(
            _claim("was_handed_over", handed_over),
            _claim("was_found", user_id=user["user_id"]),
            *(_claim("was_looked_at", order_id=a.arguments["order_id"]) for a in gold if a.tool == "get_order_details"),
        ),
        # Nothing but what was asked for may have changed; nobody be handed over without need; a refusal without a look
        # at account and order is none; answers must have been given.
        reward_basis=("DB", "ENV_ASSERTION", *(("COMMUNICATE",) if said else ())),
        communicate=said,
        # The policy asks for a yes before every change, not only before those that nothing takes back.
        optimal_turns=count_optimal_turns(gold, [a.tool for a in gold if world.is_write(a.side, a.tool)], looks=False),
        critical_fields={name: values[0] if len(values) == 1 else values for name, values in critical.items()},
        irreversible=tuple(dict.fromkeys(a.tool for a in gold if world.is_irreversible(a.tool))),
        transfer_right=handed_over,
        source="own",
        world_seed=seed,
        world_size=size,
    )


def _claim(name: str, holds: bool = True, **arguments: Any) -> dict[str, Any]:
    return {"env_type": "assistant", "func_name": name, "arguments": arguments, "assert_value": holds}
