"""What making an organisation will ask of a real writer, before it starts."""

from __future__ import annotations

from cxlab.benchmarks.crmarena.generation.company_writing import find_extent
from cxlab.benchmarks.crmarena.generation.sizes import Size
from cxlab.benchmarks.crmarena.generation.writing import BATCH
from cxlab.benchmarks.generation.budget import CostEstimate

# Tokens that go in with one call, a token taken as four characters: the prompts of the default company with their
# schema. Beside them those that come out for each thing that is asked for, of which a call holds up to ten: the
# simulated writer's replies; what readers reply is an assumption.
TOKENS = {
    "names": (360, 9),
    "cases": (2380, 145),
    "reader": (740, 35),
    "purchase": (900, 35),
    "words": (440, 28),
    "records": (680, 46),
    "company": (1800, 1400),
}
# Names that are there already go in with each call that asks for more.
NAME_TOKENS = 3


def count_calls(size: Size, brief: bool = False, records: int = 0) -> dict[str, int]:
    """Calls of each kind where nothing has to be made again; `brief`: the company is written, too; `records`: batches
    of objects that schema changes add."""
    batches = {
        name: -(-count // BATCH) for name, count in (("u", size.users), ("c", size.customers), ("k", size.cases))
    }
    # Eight tasks are worded by the writer; knowledge questions are the articles' own.
    return {
        "names": batches["u"] + batches["c"],
        "cases": batches["k"],
        "reader": size.cases,
        "purchase": size.queries,
        "words": 8 * -(-size.queries // BATCH),
        **({"records": records} if records else {}),
        **({"company": find_extent(size).calls} if brief else {}),
    }


def estimate(model: str, size: Size, brief: bool = False, records: int = 0) -> CostEstimate | None:
    """About what a real writer takes; None for a simulated one."""
    if model.startswith("simulated:"):
        return None
    calls = count_calls(size, brief, records)
    things = {
        **calls,
        "names": size.users + size.customers,
        "cases": size.cases,
        "words": 8 * size.queries,
        "records": records * BATCH,
    }
    known = sum(NAME_TOKENS * count * -(-count // BATCH) // 2 for count in (size.users, size.customers))
    prompt = known + sum(count * TOKENS[name][0] for name, count in calls.items())
    completion = sum(things[name] * TOKENS[name][1] for name in calls)
    return CostEstimate.of(model, sum(calls.values()), prompt, completion)
