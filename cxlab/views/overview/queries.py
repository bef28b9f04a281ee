"""What Overview asks of a benchmark beside its rankings: how many attempts passed, and what breaks most."""

from dataclasses import dataclass
from typing import Any

from cxlab.read import View, failures
from cxlab.read.comparison.other_metrics import OtherLead, find_other_leads
from cxlab.views.benchmarks import declared
from cxlab.views.comparison_sets import ranked


@dataclass(frozen=True)
class Outcome:
    """Attempts by their stored verdict, and of those that failed the first of `failures.groups`; None without any."""

    passed: int
    failed: int
    unscored: int
    worst: dict[str, Any] | None


def outcome(view: View) -> Outcome:
    """What became of the attempts of a view."""
    counts = failures.counts(view)
    found = failures.groups(view.change(verdict="failed"), 1)
    worst = found.row(0, named=True) if found.height else None
    return Outcome(counts["passed"], counts["failed"], counts["unscored"], worst)


def other_leads(view: View) -> tuple[OtherLead, ...]:
    """Who is first by each other metric that may lead the one task of a benchmark that has two models to compare."""
    found = next(each for each in ranked(view).tasks if each.table.height > 1)
    return find_other_leads(declared(view.benchmark, view.lead), found)
