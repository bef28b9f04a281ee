"""Which tools an agent is given."""

from __future__ import annotations

from cxlab.benchmarks.crmarena.ablation import find_removed
from cxlab.benchmarks.crmarena.options import CrmOptions
from cxlab.benchmarks.crmarena.tools import DEFINITIONS, GENERIC


def list_tools(task: str, options: CrmOptions) -> tuple[str, ...]:
    """Names of the tools for a task: the 24 made for the tasks and submit, all 27, or the ablation of the paper.

    The ablation leaves out what table 15 lists for the task: all of it, what is of one kind, or one function; and puts
    the two tools that ask any query in its place. A task without an entry keeps the task tools.
    """
    if options.toolset == "full":
        return tuple(DEFINITIONS)
    made = tuple(name for name in DEFINITIONS if name not in GENERIC)
    if options.toolset == "task":
        return made
    removed = find_removed(options.removed, task)
    return (*(name for name in made if name not in removed), *GENERIC) if removed else made
