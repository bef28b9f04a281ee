"""`index`: bring the kept Chroma index of a dataset up to date, so that pages can search it."""

from typing import Annotated

import typer

from cxlab.errors import BadOption


def index(
    context: typer.Context,
    dataset: Annotated[str | None, typer.Argument(help="The dataset that is indexed.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    help_: Annotated[bool, typer.Option("--help", help="Show this, and what can be set.")] = False,
) -> None:
    """Build the approximate index over a dataset's conversations, or bring it up to date by what has changed.

    What was added stays when it is stopped; the same command goes on. With $CXLAB_CHROMA the index lies on that server.
    """
    from cxlab.benchmarks import REGISTRY
    from cxlab.commands.switches import describe, read_flags
    from cxlab.runner.display.stages import StageDisplay

    able = next(each for benchmark in REGISTRY.values() if (each := benchmark.indexing) is not None)
    if help_:
        print(context.get_help() + "\n\n" + describe(able.Options.switches(), flags=True))
        return
    if dataset is None:
        raise BadOption("name the dataset first; python -m cxlab index --help shows the rest")
    options = able.Options.read(read_flags(context.args, able.Options, "index"))
    board = StageDisplay(quiet)
    board.follow(able.update(dataset, options))
    board.write(dataset)
    if not quiet:
        print(f"{dataset}: the index is up to date")
