"""`import`, `check`, `convert`, `export` and `runs`: the commands that look after what is stored."""

import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cxlab.commands import json_line
from cxlab.errors import BadFile, BadOption, UnknownName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cxlab.records import Run
    from cxlab.store.exports.export import Format as Kind

runs_app = typer.Typer(help="List, show, delete and restore runs.", no_args_is_help=True, rich_markup_mode=None)


def import_data(
    context: typer.Context,
    source: Annotated[str | None, typer.Argument(help="What is imported; --help lists the sources.")] = None,
    path: Annotated[Path | None, typer.Argument(help="The folder or file with it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    help_: Annotated[bool, typer.Option("--help", help="Show this, and the sources with their flags.")] = False,
) -> None:
    """Import other people's data as a dataset, or their results as a run; what cannot be taken is reported.

    Flags of a source follow it: python -m cxlab import SOURCE PATH --FLAG.
    """
    from cxlab.benchmarks.import_sources import find_source, list_sources
    from cxlab.benchmarks.scores.gold_check import tell
    from cxlab.commands.switches import describe, read_flags
    from cxlab.runner.display.stages import StageDisplay

    if help_:
        print(context.get_help() + "\n\nSources:")
        for each in list_sources().values():
            print(f"  {each.id}: {each.title}; PATH is {each.takes}")
            if switches := each.Options.switches():
                print("\n".join(f"    {line}" for line in describe(switches, flags=True).splitlines()))
        return
    if source is None or source.startswith("-"):
        raise BadOption(f"name the source first: {', '.join(list_sources())}")
    found = find_source(source)
    words = list(context.args)
    if path is not None and str(path).startswith("-"):  # no path: the flags of the source begin here
        path, words = None, [str(path), *words]
    options = found.Options.read(read_flags(words, found.Options, source))
    board = StageDisplay(quiet)
    if path is not None:
        given = board.follow(found.in_steps(path, options)) if found.in_steps else found.read(path, options)
    elif found.read_named is not None and words:
        named = found.named_in_steps
        given = board.follow(named(options)) if named else found.read_named(options)
    else:
        raise BadOption(f"import {source}: give its path, {found.takes}")
    given.save()
    board.write(given.dataset.id if given.dataset is not None else "")
    report = given.report()
    for complaint in report.complaints:
        print(complaint, file=sys.stderr)
    if as_json:
        json_line.say(report.record)
    else:
        print("\n".join(report.lines))
    if given.dataset is not None:
        tell(given.dataset.id)
    if report.failed:
        raise typer.Exit(1)


def check(
    name: Annotated[str, typer.Argument(help="A benchmark, whose files are checked, or a dataset, whose gold is.")],
    paths: Annotated[list[Path] | None, typer.Argument(help="The benchmark's files. Default: those that ship.")] = None,
) -> None:
    """Check a benchmark's files, each complaint as file:line: problem; fix; or the gold of a stored dataset.

    Exit code 1 if there is any complaint.
    """
    from cxlab.benchmarks import REGISTRY
    from cxlab.benchmarks.scores.gold_check import check_dataset
    from cxlab.store import write

    if name in REGISTRY or ":" in name:
        _check_files(name, paths)
        return
    stored = [dataset.id for dataset in write.list_datasets()]
    if name not in stored:
        raise UnknownName("benchmark or dataset", name, [*REGISTRY, *stored])
    if paths:
        raise BadOption(f"check {name}: a dataset takes no paths")
    found = check_dataset(name, again=True)
    print("\n".join(found.describe()) or f"No complaints: the gold of {found.samples:,} samples holds.")
    if found.complaints:
        raise typer.Exit(1)


def _check_files(name: str, paths: list[Path] | None) -> None:
    from cxlab.benchmarks import REGISTRY
    from cxlab.runner.plan import find_benchmark

    files = find_benchmark(name).files
    if files is None:
        having = [each for each in REGISTRY if REGISTRY[each].files is not None]
        raise BadOption(f"check {name!r}: it has no files to check; known: {', '.join(having)}")
    for path in paths or ():
        if not path.exists():
            raise BadFile(path, None, "does not exist")
    complaints = files.complain(paths or None)
    for complaint in complaints:
        print(complaint)
    if complaints:
        raise typer.Exit(1)
    print("No complaints.")


def convert(
    source: Annotated[Path, typer.Argument(help="A text file with the prose.")],
    model: Annotated[str, typer.Option(help="The model that reads the prose.")] = "simulated:strong",
    to: Annotated[Path | None, typer.Option(help="The file to write. Default: standard output.")] = None,
    benchmark: Annotated[str | None, typer.Option(help="Whose file it becomes, where several can.")] = None,
) -> None:
    """Convert prose into a benchmark's file through a model: a procedure into scenario YAML."""
    from cxlab import llm
    from cxlab.benchmarks import REGISTRY
    from cxlab.files import read_text

    able = {name: files.convert for name in REGISTRY if (files := REGISTRY[name].files) and files.convert}
    owner = benchmark or (next(iter(able)) if len(able) == 1 else "")
    if owner not in able:
        raise UnknownName("--benchmark", owner, able)
    written = able[owner](read_text(source), llm.load(model))
    if to is None:
        print(written)
        return
    # A file is called as what it holds, which is what its check asks for.
    if re.fullmatch(r"[a-z][a-z0-9_]*", to.stem):
        written = re.sub(r"^id: .*$", f"id: {to.stem}", written, count=1, flags=re.MULTILINE)
    to.write_text(written, encoding="utf-8")
    print(f"{to}: written; check it with: python -m cxlab check {owner} {to}", file=sys.stderr)


class Format(StrEnum):
    """What `export` writes."""

    parquet = "parquet"
    csv = "csv"
    jsonl = "jsonl"
    duckdb = "duckdb"
    folder = "folder"
    events = "events"
    chat = "chat"


def export(
    to: Annotated[Path, typer.Option(help="The folder to write to; for duckdb and events the file.")],
    runs: Annotated[list[str] | None, typer.Argument(help="The runs to export. Default: all.")] = None,
    format: Annotated[
        Format,
        typer.Option(help="duckdb, folder: for another CX Lab; events: for process mining; chat: for training."),
    ] = Format.parquet,
    model: Annotated[list[str] | None, typer.Option(help="chat: only dialogues of this model, repeatable.")] = None,
    only_passed: Annotated[bool, typer.Option("--only-passed", help="chat: only dialogues that passed.")] = False,
    min_score: Annotated[
        float | None, typer.Option(help="chat: only dialogues whose headline is at least so good.")
    ] = None,
    without_floors: Annotated[
        bool, typer.Option("--without-floors", help="chat: leave out the constant agents.")
    ] = False,
    without_simulated: Annotated[
        bool, typer.Option("--without-simulated", help="chat: leave out simulated models.")
    ] = False,
    own_data: Annotated[
        bool, typer.Option("--own-data", help="chat: also data of one's own, or of no stated licence.")
    ] = False,
) -> None:
    """Export runs as files that other tools read, or that another CX Lab imports: python -m cxlab import runs PATH.

    chat writes dialogues in OpenAI's chat format, with where each is from beside them. Data whose licence does not let
    it be passed on stays out.
    """
    if format is Format.chat:
        from cxlab.benchmarks.scores.chat_filter import filter_chat
        from cxlab.store.exports.chat_export import export_chat

        wanted = filter_chat(
            tuple(runs or ()),
            models=tuple(model or ()),
            passed=only_passed,
            min_score=min_score,
            floors=not without_floors,
            simulated=not without_simulated,
            own_data=own_data,
        )
        written, found = export_chat(wanted, to)
        print("\n".join(map(str, written)))
        print("\n".join(found.describe()), file=sys.stderr)
        return
    if model or only_passed or min_score is not None or without_floors or without_simulated or own_data:
        raise BadOption("--model, --only-passed, --min-score, --without-... and --own-data go with --format chat")
    from cxlab.store import catalogue, home
    from cxlab.store.exports.export import export_runs
    from cxlab.store.exports.sharing import list_kept_out

    for path in export_runs(runs or None, cast("Kind", format.value), to):
        print(path)
    if format.value not in ("duckdb", "folder"):
        return  # the others hold no dataset's texts
    base = home()
    for dataset, tables in list_kept_out(runs or catalogue.read(base).runs, base).items():
        for table, rows in tables.items():
            print(f"left out: {rows:,} {table} of {dataset}, which may not be passed on", file=sys.stderr)


@runs_app.command("list")
def list_runs(as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False) -> None:
    """All runs, newest first, with their state; then what is set aside because it is damaged, and why."""
    from cxlab.runner.loaded_run import folder_of
    from cxlab.store import catalogue, write
    from cxlab.store import run_status as statuses

    aside = catalogue.read(closely=True).set_aside
    told = _tell_apart(write.list_runs())
    rows = []
    for run in write.list_runs():
        state, status = statuses.find_state(folder_of(run.id), run.planned)
        rows.append(
            {
                "run": run.id,
                "benchmark": run.benchmark,
                "model": run.model,
                "state": state,
                "done": status.done if status else 0,
                "planned": run.planned,
                "created": run.created.isoformat(timespec="seconds"),
                "told": told.get(run.id, ""),
            }
        )
    if as_json:
        json_line.say(rows)
    for row in rows if not as_json else ():
        print("{run}  {benchmark}  {model}  {state}  {done}/{planned}  {created}  {told}".format(**row).rstrip())
    for one in aside:
        print(one, file=sys.stderr if as_json else sys.stdout)
    if aside:
        print("What can be done: python -m cxlab doctor", file=sys.stderr)
    elif not rows and not as_json:
        print("No runs yet. Start with: python -m cxlab demo")


def _tell_apart(runs: "Sequence[Run]") -> dict[str, str]:
    """Run → its name, else what was set of it where runs of its benchmark differ."""
    from cxlab.benchmarks import REGISTRY
    from cxlab.read.annotations import run_names
    from cxlab.read.run_names import tell_settings

    if not runs:
        return {}
    told: dict[str, str] = {}
    for benchmark in {run.benchmark for run in runs} & REGISTRY.keys():
        told |= tell_settings(REGISTRY[benchmark].declaration, [r.id for r in runs if r.benchmark == benchmark])
    return told | run_names()


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
