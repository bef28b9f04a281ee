"""What Overview asks of a benchmark beside its rankings: how many attempts passed, and what breaks most."""

from dataclasses import dataclass
from typing import Any

from cxlab.read import View, failures
from cxlab.read.comparison.other_metrics import OtherLead, find_other_leads
from cxlab.ui.address import cached
from cxlab.views.benchmarks import declared
from cxlab.views.comparison_sets import ranked


@dataclass(frozen=True)
class Outcome:
    """Attempts by their stored verdict; of those that failed (`worst`), and of those that neither passed nor failed
    (`undecided`), the first of `failures.groups`; None without any."""

    passed: int
    failed: int
    unscored: int
    worst: dict[str, Any] | None
    undecided: dict[str, Any] | None = None


def outcome(view: View) -> Outcome:
    """What became of the attempts of a benchmark, without the view's constant agents."""
    # Of all benchmarks at once: the page has a row for each.
    counts = dict.fromkeys(("passed", "failed", "unscored"), 0)
    for benchmark, model, verdict, n in cached(failures.count_verdicts).iter_rows():
        if benchmark == view.benchmark and model not in view.without:
            counts[verdict] += n
    worst = _find_commonest(view.change(verdict="failed")) if counts["failed"] else None
    undecided = _find_commonest(view.change(verdict="unscored")) if counts["unscored"] else None
    return Outcome(**counts, worst=worst, undecided=undecided)


def _find_commonest(view: View) -> dict[str, Any] | None:
    found = failures.groups(view, 1)
    return found.row(0, named=True) if found.height else None


def other_leads(view: View) -> tuple[OtherLead, ...]:
    """Who is first by each other metric that may lead the one task of a benchmark that has two models to compare."""
    found = next(each for each in ranked(view).tasks if each.table.height > 1)
    return find_other_leads(declared(view.benchmark, view.lead), found)
