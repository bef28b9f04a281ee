"""`report`: what runs came to, as one HTML file to send to somebody."""

from pathlib import Path
from typing import Annotated

import typer

from cxlab.commands.compare import WithCorrections, WithoutMarked


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Runs to report on; the models of all benchmarks when none is named."),
    ] = None,
    to: Annotated[Path, typer.Option(help="The file to write.")] = Path("report.html"),
    short: Annotated[
        bool | None,
        typer.Option(
            "--short/--whole",
            help="Short: two pages at most for one benchmark, with decision, table and three failures. Whole: with "
            "facets, paths and dialogues, some ten pages for each. Short of several benchmarks, whole of one.",
            show_default=False,
        ),
    ] = None,
    lead: Annotated[str, typer.Option(help="What leads, of what a benchmark told of lets be chosen.")] = "",
    without_marked: WithoutMarked = False,
    with_corrections: WithCorrections = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """One HTML file that needs no network: the decision, figures by task and facet, paths and the telling failures.

    Runs of one benchmark are compared with each other, whatever their settings, and it is said in what these differ.
    Without a run it says what the page Overview says: the models of each benchmark on their comparison set, in short,
    unless the --whole of it is asked for.
    """
    from cxlab.benchmarks import REGISTRY
    from cxlab.benchmarks.scores.corrected import correct
    from cxlab.errors import BadOption, UnknownName
    from cxlab.read import View, decisions, known
    from cxlab.read.annotations import marked_samples
    from cxlab.read.results.headlines import may_lead
    from cxlab.report.write import Subject, is_short, write_report
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
    about = {benchmark: find_benchmark(benchmark).declaration for benchmark in wanted}
    leads = {metric for each in about.values() for metric in may_lead(each)}
    if lead and lead not in leads:
        raise UnknownName("metric that may lead", lead, leads)
    subjects: list[Subject] = []
    for benchmark, named in wanted.items():
        marked = tuple(marked_samples(benchmark)["sample_id"]) if without_marked else ()
        view = View(benchmark, runs=tuple(named), lead=lead, without_samples=marked)
        subjects.append((about[benchmark], view, "run_id" if named else "model"))
    corrections = correct(decisions.in_force()) if with_corrections else None
    text = write_report(subjects, corrections=corrections, short=is_short(subjects) if short is None else short)
    to.write_text(text, encoding="utf-8")
    print(f"{to}: {len(text.encode()) / 1e6:.1f} MB; open it in a browser, print it or send it")
