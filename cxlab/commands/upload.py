"""`upload`: a stored dataset copied to a system that the environment names, and taken away again."""

import sys
from typing import Annotated

import typer

from cxlab.commands import json_line
from cxlab.errors import BadOption, UnknownName


def upload(
    context: typer.Context,
    dataset: Annotated[str | None, typer.Argument(help="The stored dataset.")] = None,
    go: Annotated[bool, typer.Option("--go", help="Do it. Without this nothing is changed.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take away what was uploaded of the dataset.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    help_: Annotated[bool, typer.Option("--help", help="Show this, with a dataset its flags, too.")] = False,
) -> None:
    """Copy a dataset to a live system that the environment names: what would be done, or with --go the thing itself.

    What was stopped goes on with the same command. Exit code 3: something was refused, or is left to be done.
    """
    if help_:
        print(context.get_help())
        if dataset is None:
            return
    if dataset is None or dataset.startswith("-"):
        raise BadOption("name the dataset first: python -m cxlab upload DATASET")
    from cxlab.benchmarks import REGISTRY
    from cxlab.commands.switches import describe, read_flags
    from cxlab.runner.display.stages import StageDisplay
    from cxlab.store import write

    stored = {each.id: each for each in write.list_datasets()}
    if dataset not in stored:
        raise UnknownName("dataset", dataset, stored)
    found = REGISTRY[stored[dataset].benchmark].uploader
    if found is None:
        able = ", ".join(name for name in REGISTRY if REGISTRY[name].uploader is not None)
        raise BadOption(f"upload {dataset}: datasets of {stored[dataset].benchmark} stay here; known: {able}")
    if help_:
        print(f"\nTo {found.to}, with these flags:\n{describe(found.Options.switches(), flags=True)}")
        return
    options = found.Options.read(read_flags(list(context.args), found.Options, "upload"))
    if go:
        steps = found.undo(dataset, options) if undo else found.upload(dataset, options)
        told = StageDisplay(quiet or as_json).follow(steps)
    else:
        told = found.preview(dataset, options, undo)
    for complaint in told.complaints:
        print(complaint, file=sys.stderr)
    if as_json:
        json_line.say(told.record)
    else:
        print("\n".join(told.lines))
    if not go and not as_json:
        print(f"Nothing was changed. Do it with: {' '.join(_repeat(dataset, undo, context.args))}")
    if go and not told.whole:
        raise typer.Exit(3)


def _repeat(dataset: str, undo: bool, flags: list[str]) -> list[str]:
    return ["python -m cxlab upload", dataset, *flags, *(["--undo"] if undo else []), "--go"]
