"""Which tools an agent is given."""

from __future__ import annotations

from cxlab.benchmarks.crmarena.options import CrmOptions
from cxlab.benchmarks.crmarena.tools import ABLATION, DEFINITIONS, GENERIC


def list_tools(task: str, options: CrmOptions) -> tuple[str, ...]:
    """Names of the tools for a task: the 24 made for the tasks and submit, all 27, or the ablation of the paper.

    The ablation leaves out what table 15 lists for the task, of one kind or of all, and puts the two tools that ask any
    query in its place; a task without an entry keeps the task tools.
    """
    if options.toolset == "full":
        return tuple(DEFINITIONS)
    made = tuple(name for name in DEFINITIONS if name not in GENERIC)
    if options.toolset == "task":
        return made
    removed = {
        name
        for functionality, dependency, name, of in ABLATION
        if of == task and options.removed in ("all", f"{functionality}_{dependency}")
    }
    return (*(name for name in made if name not in removed), *GENERIC) if removed else made
