"""`import`, `check`, `convert`, `export` and `runs`: the commands that look after what is stored."""

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cxlab.errors import BadFile, BadOption

runs_app = typer.Typer(help="List, show, delete and restore runs.", no_args_is_help=True, rich_markup_mode=None)


def import_data(
    source: Annotated[str, typer.Argument(help="What is imported: cxmarena, transcripts, tau2 or tau2-results.")],
    folder: Annotated[
        Path, typer.Argument(help="The folder with the files; for transcripts and tau2-results also one file.")
    ],
    language: Annotated[str, typer.Option(help="transcripts: en, fr or de.")] = "en",
    licence: Annotated[str, typer.Option(help="transcripts: what may be done with them.")] = "",
    check: Annotated[bool, typer.Option("--check", help="tau2: replay the gold actions on our worlds.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """Import other people's data as a dataset, or their results as a run; what cannot be taken is reported."""
    if check and source != "tau2":
        raise BadOption(f"import {source!r}: only tau2 has gold actions to --check")
    match source:
        case "cxmarena" | "transcripts":
            _import_texts(source, folder, language, licence, as_json)
        case "tau2":
            _import_tau2(folder, check, as_json)
        case "tau2-results":
            _import_results(folder, as_json)
        case _:
            raise BadOption(f"import {source!r}: only cxmarena, transcripts, tau2 and tau2-results can be imported")


def _import_texts(source: str, folder: Path, language: str, licence: str, as_json: bool) -> None:
    from cxlab.benchmarks.cxmarena.importers import published_dataset
    from cxlab.importers import transcripts

    people = source == "transcripts"
    found = transcripts.read_folder(folder, language, licence) if people else published_dataset.read_folder(folder)
    found.save()
    if as_json:
        report = {
            "dataset": found.dataset.id,
            "tasks": found.tasks,
            "rows": found.rows,
            "rejected": [vars(one) for one in found.rejected],
            "ignored": found.ignored,
        }
        print(json.dumps(report, ensure_ascii=False))
        return
    for one in found.rejected:
        print(f"rejected: {one}", file=sys.stderr)
    counts = ", ".join(f"{count} {task}" for task, count in found.tasks.items())
    what = f"{len(found.samples)} samples ({counts})"
    if people:
        talks = found.tables["conversations"].height
        what = f"{talks} conversation{'' if talks == 1 else 's'}"
    print(f"{found.dataset.id}: {what}; {len(found.rejected)} complaints")
    print(f"Licence: {found.dataset.licence}")


def _import_tau2(folder: Path, check: bool, as_json: bool) -> None:
    from cxlab.benchmarks.mmtaup2.importers import tau2

    found = tau2.import_folder(folder)
    checked = tau2.check_gold(found) if check else None
    for one in found.rejected:
        print(f"rejected: {one}", file=sys.stderr)
    for failed in checked.failed if checked else ():
        print(f"gold fails: {failed}", file=sys.stderr)
    if as_json:
        report = {"dataset": found.dataset.id, "domains": found.tasks, "tasks": len(found.samples)}
        if checked:
            report |= {"gold_passed": checked.passed, "gold_calls_refused": checked.refused}
        print(json.dumps(report | {"rejected": len(found.rejected), "ignored": found.ignored}))
    else:
        counts = ", ".join(f"{count} {domain}" for domain, count in found.tasks.items())
        print(f"{found.dataset.id}: {len(found.samples)} tasks ({counts}); {len(found.rejected)} complaints")
        if checked:
            print(f"Gold actions: {checked.passed} of {checked.tasks} tasks reach their goal on our worlds")
        print(f"Licence: {found.dataset.licence}")
    if checked and checked.failed:
        raise typer.Exit(1)


def _import_results(file: Path, as_json: bool) -> None:
    from cxlab.benchmarks.mmtaup2.importers import tau2_results

    found, new = tau2_results.import_file(file)
    for one in found.rejected:
        print(f"rejected: {one}", file=sys.stderr)
    attempts = len(found.attempts)
    if as_json:
        report = {
            "run": found.run.id,
            "model": found.run.model,
            "domain": found.run.setup["domain"],
            "simulations": found.rows,
            "attempts": attempts,
            "passed": found.passed,
            "rejected": len(found.rejected),
            "new": new,
        }
        print(json.dumps(report, ensure_ascii=False))
        return
    state = "" if new else " (this run was there already)"
    print(f"{found.run.id}: {attempts} of {found.rows} simulations of {found.run.model}, {found.passed} passed{state}")


def check(
    benchmark: Annotated[str, typer.Argument(help="The benchmark whose files are checked: sage or cxmarena.")],
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Scenario files or brand packs. Default: those that ship.")
    ] = None,
) -> None:
    """Check scenario files or brand packs; print each complaint as file:line: problem; fix. Exit code 1 if any."""
    for path in paths or ():
        if not path.exists():
            raise BadFile(path, None, "does not exist")
    complaints: Sequence[object]
    if benchmark == "sage":
        from cxlab.benchmarks.sage.procedures.check import check_files as check_scenarios

        complaints = check_scenarios(paths or None)
    elif benchmark == "cxmarena":
        from cxlab.benchmarks.cxmarena.brand.pack_files import check_files as check_brands

        complaints = check_brands(paths or None)
    else:
        raise BadOption(f"check {benchmark!r}: only sage and cxmarena have files to check")
    for complaint in complaints:
        print(complaint)
    if complaints:
        raise typer.Exit(1)
    print("No complaints.")


def convert(
    source: Annotated[Path, typer.Argument(help="A text file with the procedure in prose.")],
    model: Annotated[str, typer.Option(help="The model that reads the prose.")] = "simulated:strong",
    to: Annotated[Path | None, typer.Option(help="The YAML file to write. Default: standard output.")] = None,
) -> None:
    """Convert a procedure in prose into scenario YAML through a model."""
    from cxlab import llm
    from cxlab.benchmarks.sage.procedures.convert import convert as read_procedure
    from cxlab.files import read_text

    yaml = read_procedure(read_text(source), llm.load(model))
    if to is None:
        print(yaml)
        return
    to.write_text(yaml, encoding="utf-8")
    print(f"{to}: written; check it with: python -m cxlab check sage {to}", file=sys.stderr)


class Format(StrEnum):
    """What `export` writes."""

    parquet = "parquet"
    csv = "csv"
    jsonl = "jsonl"
    duckdb = "duckdb"
    events = "events"


def export(
    to: Annotated[Path, typer.Option(help="The folder to write to; for duckdb and events the file.")],
    runs: Annotated[list[str] | None, typer.Argument(help="The runs to export. Default: all.")] = None,
    format: Annotated[Format, typer.Option(help="events is a log of stages for process mining.")] = Format.parquet,
) -> None:
    """Export runs as files that other tools read."""
    from cxlab.store.export import export_runs

    for path in export_runs(runs or None, format.value, to):
        print(path)


@runs_app.command("list")
def list_runs(as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False) -> None:
    """All runs, newest first, with their state; then what is set aside because it is damaged, and why."""
    from cxlab.runner import status as statuses
    from cxlab.runner.loaded_run import folder_of
    from cxlab.store import catalogue, write

    aside = catalogue.read(closely=True).set_aside
    rows = []
    for run in write.list_runs():
        status = statuses.read_run(folder_of(run.id), run.planned)
        state = "planned" if status is None else "stopped" if statuses.is_stale(status) else status.state
        rows.append(
            {
                "run": run.id,
                "benchmark": run.benchmark,
                "model": run.model,
                "state": state,
                "done": status.done if status else 0,
                "planned": run.planned,
                "created": run.created.isoformat(timespec="seconds"),
            }
        )
    if as_json:
        print(json.dumps(rows))
    for row in rows if not as_json else ():
        print("{run}  {benchmark}  {model}  {state}  {done}/{planned}  {created}".format(**row))
    for one in aside:
        print(one, file=sys.stderr if as_json else sys.stdout)
    if aside:
        print("What can be done: python -m cxlab doctor", file=sys.stderr)
    elif not rows and not as_json:
        print("No runs yet. Start with: python -m cxlab demo")


@runs_app.command("delete")
def delete_run(
    run: Annotated[str, typer.Argument(help="The run to delete.")],
    purge: Annotated[bool, typer.Option("--purge", help="Remove it for good instead of to the trash.")] = False,
) -> None:
    """Move a run to the trash, from which it can be restored; also one that is set aside."""
    from cxlab.runner.lock import try_hold_run
    from cxlab.store import trash

    with try_hold_run(trash.find_folder("run", run)):
        trash.delete("run", run)
    if purge:
        trash.purge("run", run)
        print(f"{run}: removed for good")
    else:
        print(f"{run}: deleted; bring it back with: python -m cxlab runs restore {run}")


@runs_app.command("restore")
def restore_run(run: Annotated[str, typer.Argument(help="The deleted run.")]) -> None:
    """Bring a deleted run back."""
    from cxlab.store import trash

    trash.restore("run", run)
    print(f"{run}: restored")
