"""What a part of the page Judges can do about asking judges again, whatever it asks them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cxlab.ui.jobs.job_panel import Job


@dataclass(frozen=True)
class JudgingJobs:
    """Jobs that ask judges, and who can be asked.

    `ask` starts a job of these arguments, `again` that of a job; `look` and `cancel` are of jobs, too. `jobs` are those
    to be shown, `busy` whether one of them works.
    """

    judges: Sequence[str]
    jobs: Sequence[str]
    busy: bool
    ask: Callable[[list[str]], None]
    look: Callable[[str], Job]
    cancel: Callable[[str], None]
    again: Callable[[str], None]
