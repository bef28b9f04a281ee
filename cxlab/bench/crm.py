"""What CRMArena costs at the paper's size: the organisation, its queries, the answers to all questions, agents.

Generating and running are commands of their own in a store that is thrown away, so their seconds hold starting Python.
Queries are those that ReAct agents asked of the organisation; beside them stand some asked in SOQL and, of the same
database, in plain SQL. Each figure is followed by its share of what is promised.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from cxlab.benchmarks.crmarena import solvers
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.soql import QueryError
from cxlab.errors import BadOption
from cxlab.records import Sample
from cxlab.store import write
from cxlab.store.load import load_attempts

PAPER_CASES = 977
LIMIT_GENERATE_S, LIMIT_QUERY_MS, LIMIT_TRUTH_S, LIMIT_AGENTS_S, LIMIT_HOSTILE_S = 60.0, 20.0, 60.0, 120.0, 5.0
LIMIT_HOSTILE_MIB = 1024.0
_ASKED = 500
_ROUNDS = 5
# The same question in SOQL and in SQL.
_PAIRS = (
    (
        "SELECT Id, Subject, CreatedDate FROM Case WHERE Status = 'Closed' AND CreatedDate >= 2021-01-01T00:00:00Z",
        'SELECT "Id", "Subject", "CreatedDate" FROM "Case" WHERE "Status" = \'Closed\' '
        "AND \"CreatedDate\" >= TIMESTAMPTZ '2021-01-01 00:00:00+00'",
    ),
    (
        "SELECT OwnerId, COUNT(Id) n FROM Case GROUP BY OwnerId ORDER BY COUNT(Id) DESC",
        'SELECT "OwnerId", count("Id") n FROM "Case" WHERE "OwnerId" IS NOT NULL GROUP BY ALL ORDER BY n DESC',
    ),
    (
        "SELECT Id, Account.ShippingState FROM Case WHERE Account.ShippingState = 'GA'",
        'SELECT c."Id", a."ShippingState" FROM "Case" c JOIN "Account" a ON a."Id" = c."AccountId" '
        "WHERE a.\"ShippingState\" = 'GA'",
    ),
    (
        "SELECT Id FROM Case WHERE OrderItemId__c IN (SELECT Id FROM OrderItem WHERE Quantity > 1)",
        'SELECT "Id" FROM "Case" WHERE "OrderItemId__c" IN (SELECT "Id" FROM "OrderItem" WHERE "Quantity" > 1)',
    ),
    (
        "SELECT Id, Name FROM Product2 WHERE Name LIKE '%boot%' ORDER BY Name LIMIT 50",
        'SELECT "Id", "Name" FROM "Product2" WHERE "Name" ILIKE \'%boot%\' ORDER BY "Name" LIMIT 50',
    ),
)
_DEEP = "(" * 1000 + "Subject = 'a'" + ")" * 1000
_CHILDREN = "(SELECT Id, (SELECT Id, (SELECT Id FROM EmailMessages) FROM Cases) FROM Contacts)"
HOSTILE = {
    "1,000 brackets deep": f"SELECT Id FROM Case WHERE {_DEEP}",
    "1 MB long": "SELECT Id FROM Case WHERE Subject = '" + "a" * 1_000_000 + "'",
    "children of children, 20 times": "SELECT Id, " + ", ".join([_CHILDREN] * 20) + " FROM Account",
    "500 patterns": "SELECT Id FROM Case WHERE " + " AND ".join(["Subject LIKE '%a%a%a%a%a%a%a%a%a_b'"] * 500),
    "all prices with their products": "SELECT FIELDS(STANDARD), Product2.Name, Pricebook2.Name FROM PricebookEntry",
    "another dialect": "SELECT Id FROM Case WHERE Subject = 'x'; DROP TABLE Case; --",
    "a file": "SELECT Id FROM read_csv('/etc/passwd')",
    "a search for everything": "FIND {a* OR e* OR i* OR o* OR u*} IN ALL FIELDS",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was measured; 0 when every promise was kept, else 1."""
    parser = argparse.ArgumentParser(prog="cxlab bench crm", description=__doc__)
    parser.add_argument("--cases", type=int, default=PAPER_CASES, help="cases of the organisation (default 977)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    if given.cases < 20:
        raise BadOption("bench crm needs --cases of at least 20")
    with tempfile.TemporaryDirectory(prefix="cxlab-bench-") as folder:
        home = Path(folder)
        made, generate_s = _run(home, "generate", "crmarena", "--size", str(given.cases), "--seed", str(given.seed))
        dataset = str(made["dataset"])
        samples = write.load_samples(dataset, home)
        sandbox = Sandbox.open(dataset, compat="policy", home=home, linked=True)
        records = sum(write.load_dataset(dataset, home).config["rows"].values())
        print(f"{given.cases} cases, {records:,} records, {len(samples):,} questions")
        kept = [_tell("organisation and questions", generate_s, "s", LIMIT_GENERATE_S)]
        truth_s, wrong = time_truth(sandbox, samples)
        kept.append(_tell("answers of all solvers", truth_s, "s", LIMIT_TRUTH_S))
        agents = ("run", "crmarena", "--dataset", dataset, "--model", "simulated:strong")
        told, agents_s = _run(home, *agents)
        kept.append(_tell("function calling, all questions", agents_s, "s", LIMIT_AGENTS_S))
        reacted, _ = _run(home, *agents, "--framework", "react", "--limit", str(min(_ASKED, len(samples))))
        queries = list_queries(str(reacted["runs"][0]["run"]), home)
        each_ms = time_queries(sandbox, queries)
        median_ms, slow_ms = statistics.median(each_ms), statistics.quantiles(each_ms, n=20)[-1]
        kept.append(_tell(f"median of {len(queries):,} queries", median_ms, "ms", LIMIT_QUERY_MS))
        print(f"{'  slowest of 20':34}{slow_ms:9.1f} ms")
        soql_ms, sql_ms = time_pairs(sandbox)
        print(f"{'  SOQL beside plain SQL':34}{soql_ms:9.1f} ms of {sql_ms:.1f} ms: {soql_ms / sql_ms:.1f} x")
        kept += tell_hostile(sandbox)
    done = told["runs"][0]
    sound = not wrong and done["done"] == len(samples)
    print(
        f"{wrong} stored answers differ from their solver's; {done['done']:,} of {len(samples):,} questions were worked"
    )
    print(f"promises: {'kept' if all(kept) and sound else 'MISSED'}")
    return 0 if all(kept) and sound else 1


def _run(home: Path, *words: str) -> tuple[dict[str, Any], float]:
    """What a command printed as JSON, and its seconds with starting Python."""
    command = [sys.executable, "-m", "cxlab", *words, "--json", "--quiet"]
    began = time.perf_counter()
    environment = {**os.environ, "CXLAB_HOME": str(home)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if said.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{said.stderr}")
    found: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    return found, seconds


def _tell(what: str, value: float, unit: str, limit: float) -> bool:
    print(f"{what:34}{value:9.1f} {unit:3} of {limit:g} {unit}: {value / limit:.2f}")
    return value < limit


def time_truth(sandbox: Sandbox, samples: Iterable[Sample]) -> tuple[float, int]:
    """Seconds of every solver's answer, and how many are not the stored one."""
    began, wrong = time.perf_counter(), 0
    for sample in samples:
        arguments = sample.expected.get("arguments")
        if sample.task not in solvers.SOLVERS or not isinstance(arguments, dict):
            continue
        today = sample.inputs.get("today")
        found = solvers.solve(sandbox.at(today) if today else sandbox, sample.task, arguments)
        wrong += sample.expected.get("answer") not in (found.answers or (None,))
    return time.perf_counter() - began, wrong


def list_queries(run_id: str, home: Path) -> list[str]:
    """The queries that the agents of a run asked, each once, in their order."""
    found: dict[str, None] = {}
    for attempt, _ in load_attempts(run_id, home):
        for message in attempt.messages:
            for call in message.tool_calls:
                if call.name == "issue_soql_query":
                    found[json.loads(call.arguments)["query"]] = None
    return list(found)


def time_queries(sandbox: Sandbox, queries: Iterable[str]) -> list[float]:
    """Milliseconds of each query, those that are refused included."""
    times = []
    for query in queries:
        began = time.perf_counter()
        _ask(sandbox, query)
        times.append(1000 * (time.perf_counter() - began))
    return times


def time_pairs(sandbox: Sandbox) -> tuple[float, float]:
    """Milliseconds of the same questions in SOQL and in SQL over the same database, the fastest of some rounds of each.

    Raises RuntimeError where both do not find as many records.
    """
    soql_ms = sql_ms = 0.0
    for soql, sql in _PAIRS:
        with sandbox._database.cursor() as cursor:  # what the sandbox itself asks, past its language

            def ask(sql: str = sql, cursor: Any = cursor) -> list[Any]:
                rows: list[Any] = cursor.execute(sql).fetchall()
                return rows

            def translate(soql: str = soql) -> list[Any]:
                return sandbox.soql(soql)

            if len(ask()) != len(translate()):
                raise RuntimeError(f"{soql}: the plain SQL finds another number of records")
            sql_ms += _fastest(ask)
            soql_ms += _fastest(translate)
    return soql_ms, sql_ms


def _fastest(do: Callable[[], object]) -> float:
    times = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        do()
        times.append(1000 * (time.perf_counter() - began))
    return min(times)


def tell_hostile(sandbox: Sandbox) -> list[bool]:
    """Ask what should not be asked; whether each was over in time and memory."""
    before, slowest, name = _peak_mib(), 0.0, ""
    for title, query in HOSTILE.items():
        began = time.perf_counter()
        _ask(sandbox, query)
        seconds = time.perf_counter() - began
        if seconds > slowest:
            slowest, name = seconds, title
    more = _peak_mib() - before
    kept = [_tell(f"slowest of {len(HOSTILE)} hostile queries", slowest, "s", LIMIT_HOSTILE_S)]
    kept.append(_tell("memory that they took at most", more, "MiB", LIMIT_HOSTILE_MIB))
    print(f"  the slowest: {name}")
    return kept


def _ask(sandbox: Sandbox, query: str) -> None:
    try:
        (sandbox.sosl if query.startswith("FIND") else sandbox.soql)(query)
    except QueryError:
        return


def _peak_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
