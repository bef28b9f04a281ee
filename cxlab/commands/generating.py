"""`generate`: make a dataset of a benchmark."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from cxlab.errors import BadOption


def generate(
    benchmark: Annotated[str, typer.Argument(help="The benchmark, for example cxmarena.")],
    option: Annotated[list[str], typer.Option(help="A setting of the generator as key=value, repeatable.")] = [],  # noqa: B006 typer copies it
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    brand: Annotated[str | None, typer.Option(help="cxmarena: hearthwise, solvanne, talvero, or a file.")] = None,
    brief: Annotated[
        str | None, typer.Option(help="cxmarena: a paragraph about a brand, or its file; the model makes a pack of it.")
    ] = None,
    language: Annotated[str | None, typer.Option(help="cxmarena: en, fr or de. Default: the brand's.")] = None,
    size: Annotated[str | None, typer.Option(help="cxmarena: small, paper, or a number of articles.")] = None,
    model: Annotated[str | None, typer.Option(help="cxmarena: who writes. Default: simulated:strong.")] = None,
    noise: Annotated[
        str | None, typer.Option(help="cxmarena: any of formats,acronyms,fragmentation,speech,ivr, or none.")
    ] = None,
    wer: Annotated[float | None, typer.Option(help="cxmarena: share of words that are misheard (0.1).")] = None,
    validate: Annotated[bool, typer.Option(help="cxmarena: check what was made, as the paper does.")] = True,
    workers: Annotated[int | None, typer.Option(help="cxmarena: processes. Default: one a core.")] = None,
    home: Annotated[Path | None, typer.Option(help="The store's folder. Default: $CXLAB_HOME or data/local.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Generate a dataset of a benchmark and store it; the same settings and seed give the same dataset."""
    from cxlab.runner.order import read_words

    settings = read_words(option)
    own = {"brand": brand, "brief": brief, "language": language, "size": size, "model": model, "noise": noise}
    given: dict[str, Any] = {name: value for name, value in {**own, "wer": wer}.items() if value is not None}
    if not validate:
        given["validate"] = False
    if benchmark == "cxmarena":
        _generate_cxmarena({**settings, **given}, seed, home, workers, as_json, quiet)
        return
    if given or workers is not None:
        named = ", ".join(f"--{name}" for name in (*given, *(["workers"] if workers is not None else [])))
        raise BadOption(f"{benchmark} has no {named}; its settings are given as --option key=value")
    from cxlab.runner.plan import find_benchmark
    from cxlab.store import write

    dataset, samples = find_benchmark(benchmark).generate(settings, seed)
    folder = write.save_dataset(dataset, samples, home)
    if as_json:
        print(json.dumps({"dataset": dataset.id, "samples": len(samples), "folder": str(folder)}))
        return
    print(f"{dataset.id}: {len(samples)} samples, {dataset.name} ({folder})")


def _generate_cxmarena(
    settings: dict[str, Any], seed: int, home: Path | None, workers: int | None, as_json: bool, quiet: bool
) -> None:
    from cxlab.benchmarks.cxmarena import generate as pipeline
    from cxlab.benchmarks.cxmarena import overview
    from cxlab.runner.show_stages import StageBoard

    board = StageBoard(quiet)
    steps = pipeline.build(pipeline.read_config(settings, seed), home, workers)
    while True:
        try:
            board.tell(*next(steps))
        except StopIteration as end:
            built: pipeline.Built = end.value
            break
    dataset = built.dataset
    board.write(dataset.id)
    if as_json:
        kept = {name: dataset.config.get(name) for name in ("counts", "statistics", "validation", "note")}
        print(json.dumps({"dataset": dataset.id, "tasks": built.tasks, "folder": str(built.folder), **kept}))
        return
    if not quiet:
        print("\n".join(overview.describe(dataset)) + "\n")
    counts = ", ".join(f"{count:,} {task}" for task, count in built.tasks.items())
    print(f"{dataset.id}: {dataset.name}; samples: {counts}")
    if note := dataset.config.get("note"):
        print(f"Note: {note}")
    print(f"Evaluate with: python -m cxlab run cxmarena --dataset {dataset.id} --model simulated:strong")
