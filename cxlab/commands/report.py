"""`report`: what runs came to, as one HTML file to send to somebody."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Runs to report on; the models of all benchmarks when none is named."),
    ] = None,
    to: Annotated[Path, typer.Option(help="The file to write.")] = Path("report.html"),
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """One HTML file that needs no network: the decision, figures by task and facet, paths and the telling failures.

    Runs of one benchmark are compared with each other, whatever their settings, and it is said in what these differ.
    Without a run it says what the page Overview says: the models of each benchmark on their comparison set.
    """
    from cxlab.benchmarks import REGISTRY
    from cxlab.errors import BadOption, UnknownName
    from cxlab.read import View, known
    from cxlab.report.write import write_report
    from cxlab.runner.plan import find_benchmark

    stored = {run: benchmark for run, _, benchmark in known.runs()}
    if not stored:
        raise BadOption("nothing has been run yet; python -m cxlab run BENCHMARK --model MODEL")
    wanted: dict[str, list[str]] = {}
    for run in dict.fromkeys(runs or ()):
        if run not in stored:
            raise UnknownName("run", run, stored)
        wanted.setdefault(stored[run], []).append(run)
    wanted = wanted or {benchmark: [] for benchmark in REGISTRY if benchmark in stored.values()}
    if to.exists() and not force:
        raise BadOption(f"{to} is there already: name another file --to, or say --force")
    text = write_report([
        (find_benchmark(benchmark).declaration, View(benchmark, runs=tuple(named)), "run_id" if named else "model")
        for benchmark, named in wanted.items()
    ])  # fmt: skip
    to.write_text(text, encoding="utf-8")
    print(f"{to}: {len(text.encode()) / 1e6:.1f} MB; open it in a browser, print it or send it")
