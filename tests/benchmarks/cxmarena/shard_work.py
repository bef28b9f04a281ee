"""Work for processes of `spread.fill` in tests: a module of its own, so that they have little to import."""

import os
from collections.abc import Sequence
from pathlib import Path

from cxlab.benchmarks.generation import stages
from cxlab.errors import BadFile


def write_rows(items: Sequence[str], folder: Path) -> None:
    """A shard of the stage "shout": the items in capitals; "bad" cannot be done, "die" kills who does it."""

    async def work(item: str) -> stages.Row:
        if item == "die":
            os._exit(9)
        if item == "bad":
            raise BadFile("x.yaml", 3, "is bad")
        return {"said": item.upper()}

    stages.finish(stages.run("shout", items, str, work, folder))
