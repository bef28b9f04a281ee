"""What breaks most, as the pages say it: among all that ran, and among what a report compares where that is less."""

from dataclasses import dataclass

from cxlab.charts.failure_names import say_worst
from cxlab.charts.numbers import format_count
from cxlab.read import failures
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration
from cxlab.report import queries


@dataclass(frozen=True)
class Breaks:
    """What breaks most of some attempts: what and whose doing, and of how many. `among`: which these are, "" where that
    needs no word."""

    among: str
    finding: str
    note: str


def tell_breaks(about: Declaration, view: View, compared: View) -> tuple[Breaks, ...]:
    """What breaks most in the runs of a view, as Overview and Failures count it; and of what is `compared`, where other
    attempts failed there. Each without constant agents."""
    ran, here = queries.failed(view), queries.failed(compared)
    if not ran or ran == here:
        return _tell(about, compared, here, "")
    narrowed = view.models or view.tasks or view.facets
    all_runs = "In all runs, whatever their settings" + (
        ", under these filters" if narrowed else ", as Overview has them"
    )
    runs = "In these runs" if view.runs else all_runs
    return (*_tell(about, view, ran, runs), *_tell(about, compared, here, "Among what is compared here"))


def _tell(about: Declaration, view: View, failed: int, among: str) -> tuple[Breaks, ...]:
    found = failures.groups(view.change(verdict="failed"), 1)
    if found.is_empty():
        return ()
    titles = {task.id: task.title for task in about.card.tasks}
    of = f"of {format_count(failed)} that failed"
    return (Breaks(among, *say_worst(found.row(0, named=True), about.card.unit, of, titles)),)
