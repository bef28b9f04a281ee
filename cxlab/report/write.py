"""A report as one HTML file: no script, no request, light and dark, and as it stands on paper.

Every value is escaped by the template engine: what customers, models and pages said is text.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from cxlab.charts import numbers
from cxlab.charts.names import name_parties
from cxlab.charts.theme import DARK, LIGHT, short_model
from cxlab.read.comparison.sets import Unit
from cxlab.read.comparison.words import say_apart
from cxlab.read.view import View
from cxlab.records.benchmark_card import Declaration
from cxlab.records.correction import Corrections
from cxlab.report import dots
from cxlab.report.content import MOST_FAILURES, find_section

_LEAST_FAILURES = 3

Subject = tuple[Declaration, View, Unit]
"""A benchmark, the view of it that is told of, and whether its models or its runs are the sides."""


def is_short(subjects: Sequence[Subject]) -> bool:
    """Whether a report on these is short unless the whole of it is asked for: of several benchmarks nobody reads on to
    the last, and whoever decides wants what was found of each first."""
    return len(subjects) > 1


def write_report(
    subjects: Sequence[Subject],
    title: str = "",
    made: datetime | None = None,
    corrections: Corrections | None = None,
    short: bool = False,
) -> str:
    """The report on these subjects, one benchmark each, as HTML; with what `corrections` change beside it.

    Ten dialogues in all, though three of each benchmark: printed, ten of each would be a book that nobody reads.
    `short`: of one benchmark a page or two, with the decision, its table, and three failures without their dialogues;
    of several one failure each.
    """
    most, least = (_LEAST_FAILURES, 1) if short else (MOST_FAILURES, _LEAST_FAILURES)
    failures = max(least, most // max(len(subjects), 1))
    sections = [find_section(about, view, unit, corrections, failures) for about, view, unit in subjects]
    names = (f"{each.about.card.name}, {each.task}" if each.task else each.about.card.name for each in sections)
    title = title or f"CX Lab report: {'; '.join(names)}"
    return _environment().get_template("short.html" if short else "report.html").render(
        title=title, made=numbers.format_time(made or datetime.now(UTC)), sections=sections,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("cxlab.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    filters: dict[str, Any] = {
        "points": numbers.format_points, "share": numbers.format_share, "usd": numbers.format_usd,
        "seconds": numbers.format_seconds, "count": numbers.format_count, "time": numbers.format_time,
        "short": short_model, "parties": name_parties,
    }  # fmt: skip
    found.filters.update(filters)
    found.globals.update(say_apart=say_apart, light=LIGHT, dark=DARK, width=dots.WIDTH, left=dots.LEFT)
    return found
