"""What the runner costs: calls end to end through it, beside the bare client of the same class.

Both ask the same local server the same question the same number of times at the same concurrency, each
in a process of its own, in turns. Ideal is calls x delay / concurrency; what is above it is ours.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TARGET_MS, TARGET_MIB = 3.0, 250.0
KEY = "CXLAB_BENCH_KEY"


@dataclass(frozen=True)
class Measurement:
    """One round of one way."""

    wall_s: float
    rss_mib: float
    done: int
    peak: int = 0


def main(arguments: Sequence[str]) -> int:
    """Print the table; 0 when the runner keeps within its targets, else 1."""
    parser = argparse.ArgumentParser(prog="cxlab bench runner", description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=100)
    parser.add_argument("--delay-ms", type=float, default=50.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", choices=("runner", "bare"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        _report(_run_here(given.calls, given.concurrency) if given.one == "runner" else _call_bare(given))
        return 0
    ideal_s = given.calls * given.delay_ms / 1000 / given.concurrency
    rounds: dict[str, list[Measurement]] = {"bare": [], "runner": []}
    with _serve(given.delay_ms) as port, tempfile.TemporaryDirectory() as folder:
        for number in range(given.rounds):
            for way, kept in rounds.items():
                kept.append(_measure(way, given, port, Path(folder) / f"{way}-{number}"))
    print(f"{given.calls} calls, {given.concurrency} at once, {given.delay_ms:g} ms each: ideal {ideal_s:.3f} s")
    titles = f"{'':8}{'wall s':>9}{'ms/call over ideal':>20}{'ratio':>8}{'peak in flight':>16}{'RSS MiB':>9}"
    print(f"{titles}   (wall: median of {given.rounds}; peak, RSS: largest)")
    over: dict[str, float] = {}
    bare_s = statistics.median(each.wall_s for each in rounds["bare"])
    for way, kept in rounds.items():
        wall_s = statistics.median(each.wall_s for each in kept)
        over[way] = (wall_s - ideal_s) / given.calls * 1000
        peak, rss = max(each.peak for each in kept), max(each.rss_mib for each in kept)
        print(f"{way:8}{wall_s:9.3f}{over[way]:20.2f}{wall_s / bare_s:8.2f}{peak:16}{rss:9.0f}")
    runs = rounds["runner"]
    complete = all(each.done == given.calls for kept in rounds.values() for each in kept)
    within = over["runner"] <= TARGET_MS and max(each.rss_mib for each in runs) < TARGET_MIB
    full = max(each.peak for each in runs) == min(given.concurrency, given.calls)
    verdict = "kept" if within and full and complete else "MISSED"
    print(f"targets (<= {TARGET_MS:g} ms, < {TARGET_MIB:g} MiB, full concurrency, all calls answered): {verdict}")
    return 0 if verdict == "kept" else 1


@contextmanager
def _serve(delay_ms: float) -> Iterator[int]:
    command = [sys.executable, "-m", "cxlab.bench.chat_server", str(delay_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdout is None or server.stdin is None:
            raise RuntimeError("the bench server has no pipes")
        yield int(server.stdout.readline())
        server.stdin.close()


def _measure(way: str, given: argparse.Namespace, port: int, home: Path) -> Measurement:
    home.mkdir()
    models = home / "models.toml"
    models.write_text(
        f'[endpoints.bench]\nbase_url = "http://127.0.0.1:{port}/v1"\nkey_variable = "{KEY}"\nmodel = "bench"\n'
    )
    environment = {**os.environ, "CXLAB_HOME": str(home), "CXLAB_MODELS": str(models), KEY: "none"}
    command = [sys.executable, "-m", "cxlab", "bench", "runner", "--", "--one", way]
    command += ["--calls", str(given.calls), "--concurrency", str(given.concurrency)]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if said.returncode:
        raise RuntimeError(f"the {way} round failed:\n{said.stderr}")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats") as answer:
        stats = json.load(answer)
    found = Measurement(**json.loads(said.stdout.splitlines()[-1]))
    return Measurement(found.wall_s, found.rss_mib, found.done, stats["peak"])


def _report(measured: Measurement) -> None:
    print(json.dumps({"wall_s": measured.wall_s, "rss_mib": measured.rss_mib, "done": measured.done}))


def _run_here(calls: int, concurrency: int) -> Measurement:
    """The whole way of a run: plan, ask, score, store, status; compaction is not waited for."""
    from cxlab.runner.display.runs import NoDisplay
    from cxlab.runner.loaded_run import open_run
    from cxlab.runner.plan import WHOLE, SampleFilter
    from cxlab.runner.request import RunRequest, create_runs
    from cxlab.runner.session import work_here

    order = RunRequest(
        "cxlab.bench.probe:BENCHMARK", ("endpoint:bench",), concurrency=concurrency, choice=SampleFilter(limit=calls)
    )
    (run,) = create_runs(order)
    opened = open_run(run.id)
    began = time.perf_counter()
    outcome = work_here(opened, WHOLE, NoDisplay())
    return Measurement(time.perf_counter() - began, _rss_mib(), outcome.status.ok)


def _call_bare(given: argparse.Namespace) -> Measurement:
    """The client as the runner's model holds it, a semaphore and a gather, and nothing else."""
    from cxlab import llm
    from cxlab.bench.probe import PROMPT, Inputs

    model: Any = llm.load("endpoint:bench")
    messages = [PROMPT.render(Inputs(number=number)) for number in range(given.calls)]

    async def call_all() -> int:
        client = model._client()  # the very object that the runner's calls go through
        gate = asyncio.Semaphore(given.concurrency)

        async def call(number: int) -> bool:
            async with gate:
                said = await client.chat.completions.create(model="bench", messages=messages[number], max_tokens=1024)
            return bool(said.choices[0].message.content)

        answered = await asyncio.gather(*(call(number) for number in range(given.calls)))
        await model.aclose()
        return sum(answered)

    began = time.perf_counter()
    done = asyncio.run(call_all())
    return Measurement(time.perf_counter() - began, _rss_mib(), done)


def _rss_mib() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
