"""How much of everything an organisation holds: names, or a number of cases that scales the published counts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cxlab.benchmarks.crmarena.tasks import QUERIES_PER_TASK
from cxlab.errors import BadOption

PAPER_CASES = 977
TINY_CASES, SMALL_CASES, LEAST, MOST = 20, 200, 20, 10_000
MONTHS_PAPER = 48


@dataclass(frozen=True)
class Size:
    """Counts of one organisation: the paper's table 8 at paper size. `months` is how long it has existed, `queries`
    how many a task has at most, `agents` how many of the users work on cases.
    """

    cases: int
    users: int
    agents: int
    customers: int
    products: int
    orders: int
    items: int
    emails: int
    chats: int
    transfers: int
    open_cases: int
    breaches: int
    months: int
    queries: int


def read_size(given: str | int) -> Size:
    """The counts of `tiny`, `small`, `paper` or a number of cases; BadOption for anything else."""
    named = {"tiny": TINY_CASES, "small": SMALL_CASES, "paper": PAPER_CASES}
    try:
        cases = named[given] if isinstance(given, str) and given in named else int(given)
    except ValueError:
        raise BadOption(f"--size {given!r}: take tiny, small, paper or a number of cases") from None
    if not LEAST <= cases <= MOST:
        raise BadOption(f"--size {cases}: take from {LEAST} to {MOST:,} cases")
    share = cases / PAPER_CASES

    def scaled(count: int, least: int) -> int:
        return max(round(count * share), least)

    return Size(
        cases=cases,
        users=max(round(100 * math.sqrt(share)), 8),
        agents=max(round(30 * math.sqrt(share)), 4),
        customers=scaled(196, 8),
        products=min(scaled(500, 24), 2000),
        orders=scaled(2071, 2 * cases),
        items=scaled(7100, 7 * cases),
        emails=scaled(3234, 3 * cases),
        chats=scaled(387, 6),
        transfers=scaled(111, 3),
        open_cases=scaled(59, 2),
        breaches=scaled(112, 4),
        months=min(max(12 * round(4 * math.sqrt(share)), 12), MONTHS_PAPER),
        queries=min(scaled(QUERIES_PER_TASK, 6), QUERIES_PER_TASK),
    )
