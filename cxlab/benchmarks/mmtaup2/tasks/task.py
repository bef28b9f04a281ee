"""A task: a first state, what the customer wants, the gold actions and what must hold in the end; and its marking.

task = make("telecom", seed=1, count=40)[0]
world = begin(task)                             # prepared, with an empty log
replay_gold(task)["reward"]                     # 1.0
evaluate(task, world, world.log, agent_texts)   # the same breakdown for what really happened
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.worlds import LoggedCall, World
from cxlab.errors import BadOption
from cxlab.records.base import Record

Json = Any
Basis = Literal["ENV_ASSERTION", "ACTION", "DB", "COMMUNICATE", "NL_ASSERTION", "BYSTANDERS"]


class GoldAction(Record):
    """A call of the reference solution. `compare`: the arguments that count, None = all of them, () = none."""

    side: Literal["agent", "customer"]
    tool: str
    arguments: dict[str, Json]
    compare: tuple[str, ...] | None = None


class CustomerKnowledge(Record):
    """What the customer knows and wants. `facts` come out when asked; `unknown` is what the customer cannot tell."""

    reason: str
    matters: tuple[str, ...] = ()  # what it wants, one after the other, where that is more than the reason says
    facts: dict[str, Json] = {}
    unknown: tuple[str, ...] = ()
    wishes: tuple[str, ...] = ()  # what the customer accepts, will not have, and is content with
    instructions: str = ""  # further directions in running text, as imported tasks have them


class Task(Record):
    """One task of a domain; personas, exposure and modality are crossed with it elsewhere."""

    id: str
    domain: str
    issues: tuple[str, ...]
    known: CustomerKnowledge
    prepare: tuple[dict[str, Json], ...]
    gold: tuple[GoldAction, ...]
    assertions: tuple[dict[str, Json], ...]
    reward_basis: tuple[Basis, ...]
    communicate: tuple[str, ...] = ()
    nl_assertions: tuple[str, ...] = ()  # kept; deciding them takes a judge
    optimal_turns: int  # agent messages in the shortest conversation that keeps to the policy
    critical_fields: dict[str, Json]  # argument name -> the value that must not be got wrong
    irreversible: tuple[str, ...]  # tools of the gold actions that nothing takes back
    transfer_right: bool  # whether handing over to a person is the right end
    source: Literal["own", "tau2"]
    world_seed: int | None = None  # of one's own world: `worlds.load(domain, world_seed, world_size)`
    world_size: int | None = None


def count_optimal_turns(gold: Sequence[GoldAction], irreversible: Sequence[str], looks: bool) -> int:
    """Agent messages in the shortest conversation that keeps to the policy, for `Task.optimal_turns`.

    One to learn who it is, one to have a look at the device (where `looks`), one for each thing the customer is to
    do, one to ask before each agent action that nothing takes back, and one to tell what was done or to hand over;
    the last falls away where the customer acts last and sees that it works.
    """
    steps = sum(action.side == "customer" for action in gold)
    asked = sum(action.side == "agent" and action.tool in irreversible for action in gold)
    tells = not gold or gold[-1].side == "agent"
    return 1 + int(looks) + steps + asked + int(tells)


@functools.lru_cache(maxsize=4)
def _generated(domain: str, seed: int, size: int | None) -> World:
    return worlds.load(domain, seed, size)


def begin(task: Task, world: World | None = None) -> World:
    """The task's world in its first state. `world`: one of the same data (imported tasks need it); left as it is."""
    if world is None:
        if task.world_seed is None:
            raise BadOption(f"task {task.id}: imported tasks need the world of their own data files; pass world=")
        world = _generated(task.domain, task.world_seed, task.world_size)
    first = world.fresh()
    first.prepare(task.prepare)
    return first


def replay_gold(task: Task, world: World | None = None) -> dict[str, Json]:
    """Carry out the gold actions and mark the outcome; `communicate` is taken as said."""
    end = begin(task, world)
    for action in task.gold:
        end.call(action.side, action.tool, action.arguments)
    return evaluate(task, end, end.log, task.communicate)


def evaluate(task: Task, world_after: World, log: Iterable[LoggedCall], messages: Sequence[str]) -> dict[str, Json]:
    """Mark what happened: `reward` (product over the task's basis, 0 or 1), each part as 0 or 1, and all checks.

    `world_after`: the world after the conversation, begun with `begin`. `messages`: the agent's texts.
    DB: both sides' rows equal those after the gold actions, with both sides kept in step after each.
    ACTION: every gold action has a call on the same side with the same tool, carried out, whose arguments agree in
    **all** compared gold arguments (an argument left out does not agree); a gold action that the world itself refuses
    is matched by an attempt. Calls may serve several gold actions, as in tau2-bench.
    COMMUNICATE: each text occurs in some message, letter case and thousands commas apart.
    BYSTANDERS: no row of another customer was changed. NL_ASSERTION needs a judge: listed under `not_judged`, and
    not part of the product here.
    """
    calls = list(log)
    gold_end = begin(task, world_after)
    results = [gold_end.call(action.side, action.tool, action.arguments) for action in task.gold]
    actions = [
        {**action.model_dump(), "matched": any(_matches(action, call, result.kind == "ok") for call in calls)}
        for action, result in zip(task.gold, results, strict=True)
    ]
    assertions = [{**assertion, "met": world_after.check(assertion)} for assertion in task.assertions]
    said = [_plain(message) for message in messages]
    communicate = [{"text": text, "said": any(_plain(text) in each for each in said)} for text in task.communicate]
    sides = {
        "agent": gold_end.agent_hash() == world_after.agent_hash(),
        "customer": gold_end.customer_hash() == world_after.customer_hash(),
    }
    strangers = world_after.bystanders()
    parts = {
        "DB": float(all(sides.values())),
        "ACTION": float(all(action["matched"] for action in actions)),
        "ENV_ASSERTION": float(all(assertion["met"] for assertion in assertions)),
        "COMMUNICATE": float(all(each["said"] for each in communicate)),
        "BYSTANDERS": float(not strangers),
    }
    reward = 1.0
    for part in task.reward_basis:
        reward *= parts.get(part, 1.0)
    return {
        "reward": reward,
        "db": parts["DB"],
        "actions": parts["ACTION"],
        "env_assertions": parts["ENV_ASSERTION"],
        "communicate": parts["COMMUNICATE"],
        "bystanders": parts["BYSTANDERS"],
        "basis": list(task.reward_basis),
        "not_judged": [part for part in task.reward_basis if part not in parts],
        "checks": {
            "db": sides,
            "actions": actions,
            "env_assertions": assertions,
            "communicate": communicate,
            "bystanders": strangers,
        },
    }


def same(wanted: Json, given: Json) -> bool:
    """Equality as tool arguments have it: 2 equals 2.0, true does not equal 1, the order of a list counts."""
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    if isinstance(wanted, Mapping) and isinstance(given, Mapping):
        return wanted.keys() == given.keys() and all(same(wanted[name], given[name]) for name in wanted)
    if isinstance(wanted, list | tuple) and isinstance(given, list | tuple):
        return len(wanted) == len(given) and all(map(same, wanted, given))
    return bool(wanted == given)


def _matches(action: GoldAction, call: LoggedCall, must_succeed: bool) -> bool:
    if (call.side, call.tool) != (action.side, action.tool) or (must_succeed and call.kind != "ok"):
        return False
    compared = tuple(action.arguments) if action.compare is None else action.compare
    if not compared:
        return True
    given = call.arguments
    return isinstance(given, dict) and all(
        name in given and name in action.arguments and same(action.arguments[name], given[name]) for name in compared
    )


def _plain(text: str) -> str:
    return text.lower().replace(",", "")
