"""`generate`: make a dataset of a benchmark; the benchmark's own settings are flags, made from their types."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cxlab.commands import json_line
from cxlab.errors import BadOption, CxError

if TYPE_CHECKING:
    from collections.abc import Generator

    from cxlab.benchmarks.contract import Benchmark
    from cxlab.benchmarks.generation import Generated, GenerationContext
    from cxlab.benchmarks.generation.stages import Progress
    from cxlab.benchmarks.options import GenerateOptions
    from cxlab.runner.display.stages import StageDisplay

Made = TypeVar("Made")


def generate(
    context: typer.Context,
    benchmark: Annotated[str | None, typer.Argument(help="The benchmark.")] = None,
    option: Annotated[list[str], typer.Option(help="A setting as key=value instead of its flag, repeatable.")] = [],  # noqa: B006 typer copies it
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    budget: Annotated[
        float | None, typer.Option(help="USD that a real model may cost, all tries together; then it stops.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Write a little of what would be made, to look at; make no dataset.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it will take, make nothing.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes. Default: one a core.")] = None,
    home: Annotated[Path | None, typer.Option(help="The store's folder. Default: $CXLAB_HOME or data/local.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    help_: Annotated[bool, typer.Option("--help", help="Show this, with a benchmark its settings, too.")] = False,
) -> None:
    """Generate a dataset of a benchmark and store it; the same settings and seed give the same dataset.

    Each benchmark has settings of its own, given as flags: python -m cxlab generate BENCHMARK --help lists them.
    """
    from cxlab.benchmarks.scores.gold_check import tell
    from cxlab.commands.switches import describe, read_flags
    from cxlab.records.bounds import check_whole
    from cxlab.records.settings import split_pairs
    from cxlab.runner.plan import find_benchmark

    json_line.always(dataset=None)
    if help_:
        print(context.get_help())
        if benchmark:
            print(
                f"\nSettings of {benchmark}:\n" + describe(find_benchmark(benchmark).GenerateOptions.switches(), True)
            )
        return
    if not benchmark:
        from cxlab.benchmarks import REGISTRY

        raise BadOption(f"name a benchmark: {', '.join(REGISTRY)}")
    from cxlab.benchmarks.generation import GenerationContext
    from cxlab.benchmarks.generation.budget import GenerationBudget as GenerationBudget
    from cxlab.runner.display.stages import StageDisplay

    found = find_benchmark(benchmark)
    given = {**split_pairs(option), **read_flags(context.args, found.GenerateOptions, benchmark)}
    settings = found.GenerateOptions.read(given)
    check_whole("seed", seed)
    check_whole("workers", workers)
    board = StageDisplay(quiet)
    spending = GenerationBudget(budget, lambda spent: board.spend(asdict(spent), spent.describe()))
    how = GenerationContext(seed, home, workers, spending)
    expected = found.plan(settings, how) if found.plan else None
    if plan:
        understood = None
        try:
            understood = found.understand(settings, how) if found.understand else None
        except CxError as why:  # what it costs can be told without asking anybody
            print(f"cxlab: {why}", file=sys.stderr)
        told = {"plan": asdict(expected) if expected is not None else None}
        if as_json:
            json_line.say({**told, **(understood.model_dump() if understood else {})})
            return
        free = "Simulated models write this: it calls no server and costs nothing."
        print(expected.describe() if expected is not None else free)
        if understood:
            print(understood.describe())
        return
    if sample:
        if found.excerpts is None:
            raise BadOption(f"{benchmark} has no sample to show: leave --sample out")
        texts: list[dict[str, str]] = [asdict(one) for one in _follow(board, how, found.excerpts(settings, how))]
        board.show(texts)
        if as_json:
            json_line.say({"sample": texts})
        else:
            print("\n\n".join(map(_tell_text, texts)))
        return
    if expected is not None and not quiet:
        print(expected.describe(), file=sys.stderr)
    made = _make(found, settings, how, board)
    _tell(found, made, as_json, quiet, home)
    tell(made.dataset.id, home, found)


def _make(
    benchmark: "Benchmark", settings: "GenerateOptions", how: "GenerationContext", board: "StageDisplay"
) -> "Generated":
    made = _follow(board, how, benchmark.generate(settings, how))
    board.write(made.dataset.id)
    return made


def _follow(board: "StageDisplay", how: "GenerationContext", steps: "Generator[Progress, None, Made]") -> Made:
    """Work through the stages with progress; what was paid for is told however it ends."""
    from cxlab.benchmarks.generation.budget import OutOfBudget

    finished = False
    try:
        made = board.follow(steps)
        finished = True
        return made
    except OutOfBudget as why:
        board.stop(str(why))
        print(f"cxlab: {why}", file=sys.stderr)
        json_line.always(stopped="budget", spending=how.budget.sum_up())
        json_line.say_failure(str(why), "stopped")
        raise typer.Exit(3) from None
    finally:
        if not finished and how.budget.spent.calls:
            board.write("")
            json_line.always(spending=how.budget.sum_up())
            print(f"Spent so far: {how.budget.spent.describe()}", file=sys.stderr)


def _tell_text(one: dict[str, str]) -> str:
    return f"{one['kind'].capitalize()}: {one['title']}\n\n{one['text']}"


def _tell(benchmark: "Benchmark", made: "Generated", as_json: bool, quiet: bool, home: Path | None) -> None:
    from cxlab.benchmarks.generation import store
    from cxlab.benchmarks.generation.budget import describe as describe_spending

    folder, dataset, tasks = store(made, home), made.dataset, made.tasks
    if as_json:
        kept = {name: dataset.config[name] for name in _TOLD if name in dataset.config}
        total = sum(tasks.values())
        told = {"dataset": dataset.id, "samples": total, "tasks": tasks, "folder": str(folder)}
        json_line.say({**told, "state": "done", **kept})
        return
    if benchmark.describe is not None and not quiet:
        print("\n".join(benchmark.describe(dataset)) + "\n")
    counts = ", ".join(f"{count:,} {task}" for task, count in tasks.items())
    print(f"{dataset.id}: {dataset.name}; samples: {counts}")
    if spent := dataset.config.get("spending"):
        print(f"It took {describe_spending(spent)}")
    if note := dataset.config.get("note"):
        print(f"Note: {note}")
    model = benchmark.default_models[0]
    print(f"Evaluate with: python -m cxlab run {benchmark.card.id} --dataset {dataset.id} --model {model}")


# What a dataset's record may hold that --json tells.
_TOLD = ("counts", "statistics", "validation", "note", "spending")
