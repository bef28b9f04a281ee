"""`runs show`: what a stored run came to, as a table on the terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxlab.commands import json_line

if TYPE_CHECKING:
    from cxlab.records import Run


def show_runs(
    runs: Annotated[list[str], typer.Argument(help="The runs to show.")],
    option: Annotated[list[str], typer.Option(help="A switch of the benchmark's table, as key=value.")] = [],  # noqa: B006 typer copies it
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """What runs came to: the benchmark's own table where it has one, else each metric's mean, with n and interval."""
    from cxlab.records.settings import split_pairs
    from cxlab.store import write

    options = split_pairs(option)
    found = [(run, find_rows(run, options)) for run in map(write.load_run, runs)]
    if as_json:
        told = [
            {"run": run.id, "model": run.model, **tell_progress(run), "rows": rows, "offers": list_offers(run)}
            for run, rows in found
        ]
        json_line.say(told)
        return
    for run, rows in found:
        print("\n".join([*describe(run, rows), *describe_offers(run)]))


def tell_progress(run: "Run") -> dict[str, Any]:
    """How far it has come: figures of a run that was stopped are those of a part of it."""
    from cxlab.store import home
    from cxlab.store.run_status import find_state

    state, status = find_state(home() / "runs" / run.id, run.planned)
    return {"state": state, "done": status.done if status else 0, "planned": run.planned}


def list_offers(run: "Run") -> list[dict[str, Any]]:
    """What the model under test was offered, as stored: id, system prompt, tools."""
    from cxlab.store.offers import load_offers

    return [{"id": id, **offer.model_dump(mode="json")} for id, offer in load_offers(run.id).items()]


def describe_offers(run: "Run") -> list[str]:
    """The same in some words, a line each; --json has the whole texts."""
    from cxlab.store.offers import load_offers

    return [
        f"offered: {', '.join(offer.tool_names) or 'no tools'}; system prompt {id} of {len(offer.system):,} characters"
        for id, offer in load_offers(run.id).items()
    ]


def show_tables(run_ids: Sequence[str]) -> None:
    """The tables of the runs whose benchmark has one of its own."""
    from cxlab.runner.plan import find_benchmark
    from cxlab.store import write

    for run in map(write.load_run, run_ids):
        if find_benchmark(run.setup.get("benchmark", run.benchmark)).figures is not None:
            print("\n".join(describe(run, find_rows(run, {}))))


def find_rows(run: "Run", options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of the benchmark's own table of a run, else metric, n, mean and its 95 % interval."""
    import polars as pl

    from cxlab.errors import BadOption
    from cxlab.read import View
    from cxlab.read.results.scores import metric_names, score_table
    from cxlab.runner.plan import find_benchmark

    benchmark = find_benchmark(run.setup.get("benchmark", run.benchmark))
    figures = benchmark.figures
    if figures is not None:
        return figures(run.id, options)
    if options:
        raise BadOption(f"--option {min(options)}: {run.benchmark} has no table with switches")
    view = View(runs=(run.id,), floors="shown")
    names = metric_names(view)["metric"].to_list()
    scales = {name: benchmark.card.scale(name) for name in names}
    table = score_table(view, ("run_id",), names, scales=scales).select("metric", "n", "mean", "low", "high")
    return list(table.with_columns(pl.col("mean", "low", "high").round(6)).iter_rows(named=True))


def describe(run: "Run", rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The run's line and its rows in columns: texts to the left, numbers to the right."""
    from cxlab.runner.report import scorers

    head = f"{run.id}: {run.model} on {run.benchmark}" + (" (simulated)" if run.simulated else "")
    head += f", scorer {' and '.join(versions)}" if (versions := scorers(run.id)) else ""
    progress = tell_progress(run)
    head += f", {progress['state']}, {progress['done']:,} of {progress['planned']:,}"
    if not rows:
        # Judges who are asked under versions of a rule give verdicts and no scores: that is no run that failed.
        return [head, f"its verdicts: {where}" if (where := _find_verdicts(run)) else "nothing is scored yet"]
    names = list(rows[0])
    cells = [[_write(row[name]) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    texts = [isinstance(value, str) for value in rows[0].values()]
    return [head, *(_line(line, widths, texts) for line in (names, *cells))]


def _find_verdicts(run: "Run") -> str:
    """Where the app shows what a run that only asked judges came to; "" for any other run."""
    from cxlab.runner.plan import find_benchmark

    hook = find_benchmark(run.setup.get("benchmark", run.benchmark)).rejudge
    return hook.where if hook is not None and hook.asked(run) else ""


def _line(cells: Sequence[str], widths: Sequence[int], texts: Sequence[bool]) -> str:
    parts = [cell.ljust(width) if text else cell.rjust(width)
             for cell, width, text in zip(cells, widths, texts, strict=True)]  # fmt: skip
    return "  ".join(parts).rstrip()


def _write(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
