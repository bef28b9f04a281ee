"""`generate`: make a dataset of a benchmark."""

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cxlab.errors import BadFile, BadOption


def generate(
    benchmark: Annotated[str, typer.Argument(help="The benchmark, for example cxmarena.")],
    option: Annotated[list[str], typer.Option(help="A setting of the generator as key=value, repeatable.")] = [],  # noqa: B006 typer copies it
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    brand: Annotated[str | None, typer.Option(help="cxmarena: hearthwise, solvanne, talvero, or a file.")] = None,
    brief: Annotated[
        str | None, typer.Option(help="cxmarena: a paragraph about a brand; the model makes a pack of it.")
    ] = None,
    brief_file: Annotated[
        Path | None, typer.Option(help="cxmarena: the same, from a text file. A --brief is never read as a file.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="cxmarena: en, fr or de. Default: the brand's.")] = None,
    size: Annotated[str | None, typer.Option(help="cxmarena: small, paper, or a number of articles.")] = None,
    model: Annotated[str | None, typer.Option(help="cxmarena: who writes. Default: simulated:strong.")] = None,
    noise: Annotated[
        str | None, typer.Option(help="cxmarena: any of formats,acronyms,fragmentation,speech,ivr, or none.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(help="cxmarena: USD that the model may cost, all tries together; then it stops.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="cxmarena: say what it will take, make nothing.")] = False,
    wer: Annotated[float | None, typer.Option(help="cxmarena: share of words that are misheard (0.1).")] = None,
    validate: Annotated[bool, typer.Option(help="cxmarena: check what was made, as the paper does.")] = True,
    workers: Annotated[int | None, typer.Option(help="cxmarena: processes. Default: one a core.")] = None,
    home: Annotated[Path | None, typer.Option(help="The store's folder. Default: $CXLAB_HOME or data/local.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Generate a dataset of a benchmark and store it; the same settings and seed give the same dataset."""
    from cxlab.records.bounds import check_budget, check_share, check_whole
    from cxlab.runner.request import read_words

    check_whole("seed", seed)
    check_whole("workers", workers)
    check_budget(budget)
    check_share("wer", wer)
    settings = read_words(option)
    if brief_file is not None:
        if brief is not None:
            raise BadOption("give --brief or --brief-file, not both")
        brief = _read_text(brief_file)
    own = {"brand": brand, "brief": brief, "language": language, "size": size, "model": model, "noise": noise}
    given: dict[str, Any] = {name: value for name, value in {**own, "wer": wer}.items() if value is not None}
    if not validate:
        given["validate"] = False
    if benchmark == "cxmarena":
        manner = _GenerationOptions(home, workers, budget, plan, as_json, quiet)
        _generate_cxmarena({**settings, **given}, seed, manner)
        return
    others = {"workers": workers, "budget": budget, "plan": plan or None}
    if given or any(value is not None for value in others.values()):
        named = ", ".join(f"--{n}" for n in (*given, *(n for n, value in others.items() if value is not None)))
        raise BadOption(f"{benchmark} has no {named}; its settings are given as --option key=value")
    from cxlab.runner.plan import find_benchmark
    from cxlab.store import write

    dataset, samples = find_benchmark(benchmark).generate(settings, seed)
    folder = write.save_dataset(dataset, samples, home)
    if as_json:
        print(json.dumps({"dataset": dataset.id, "samples": len(samples), "folder": str(folder)}))
        return
    print(f"{dataset.id}: {len(samples)} samples, {dataset.name} ({folder})")


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError) as error:
        raise BadFile(path, None, f"cannot be read as UTF-8 text ({error})") from None


@dataclass(frozen=True)
class _GenerationOptions:
    """How a dataset is made, as opposed to which."""

    home: Path | None
    workers: int | None
    budget: float | None
    plan: bool
    as_json: bool
    quiet: bool


def _generate_cxmarena(settings: dict[str, Any], seed: int, manner: _GenerationOptions) -> None:
    from cxlab.benchmarks.cxmarena.generation import cost_estimate, dataset_statistics, pipeline
    from cxlab.benchmarks.generation_budget import GenerationBudget, OutOfBudget, describe
    from cxlab.runner.stage_display import StageDisplay

    as_json, quiet = manner.as_json, manner.quiet
    config = pipeline.read_config(settings, seed)
    expected = cost_estimate.estimate(config.model, config.size, brief=bool(config.brief), validate=config.validate)
    if manner.plan:
        told = {"plan": asdict(expected) if expected else None}
        print(json.dumps(told) if as_json else expected.describe() if expected else cost_estimate.FREE)
        return
    if expected and not quiet:
        print(expected.describe(), file=sys.stderr)
    board = StageDisplay(quiet)
    generation_budget = GenerationBudget(manner.budget, lambda spent: board.spend(asdict(spent), spent.describe()))
    steps = pipeline.build(config, manner.home, manner.workers, generation_budget)
    built: pipeline.GeneratedDataset | None = None
    try:
        while built is None:
            try:
                board.tell(*next(steps))
            except StopIteration as end:
                built = end.value
    except OutOfBudget as why:
        board.stop(str(why))
        print(f"cxlab: {why}", file=sys.stderr)
        if as_json:
            print(json.dumps({"dataset": None, "stopped": "budget", "spending": generation_budget.sum_up()}))
        raise typer.Exit(3) from None
    finally:
        # However it ended, what was paid for is told.
        if built is None and generation_budget.spent.calls:
            board.write("")
            print(f"Spent so far: {generation_budget.spent.describe()}", file=sys.stderr)
    dataset = built.dataset
    board.write(dataset.id)
    if as_json:
        kept = {name: dataset.config.get(name) for name in ("counts", "statistics", "validation", "note", "spending")}
        print(json.dumps({"dataset": dataset.id, "tasks": built.tasks, "folder": str(built.folder), **kept}))
        return
    if not quiet:
        print("\n".join(dataset_statistics.describe(dataset)) + "\n")
    counts = ", ".join(f"{count:,} {task}" for task, count in built.tasks.items())
    print(f"{dataset.id}: {dataset.name}; samples: {counts}")
    if spent := dataset.config.get("spending"):
        print(f"{config.model} took {describe(spent)}")
    if note := dataset.config.get("note"):
        print(f"Note: {note}")
    print(f"Evaluate with: python -m cxlab run cxmarena --dataset {dataset.id} --model simulated:strong")
