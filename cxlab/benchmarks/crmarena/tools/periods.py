"""Tools that work with dates: where a period begins and ends."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from cxlab.benchmarks.crmarena.organisation.queryable import Queryable
from cxlab.benchmarks.crmarena.tasks import MONTHS
from cxlab.benchmarks.crmarena.tools.definition import Moment, ToolError, read_moment, write_moment

_QUARTERS = {f"Q{number + 1}": 3 * number + 1 for number in range(4)}
_SEASONS = {"Spring": 3, "Summer": 6, "Fall": 9, "Winter": 12}


def get_start_date(
    sandbox: Queryable,
    end_date: Moment,
    period: Annotated[Literal["day", "week", "month", "quarter"], Field(description="The unit to count back in")],
    interval_count: Annotated[int, Field(ge=0, le=10_000, description="How many units to go back")],
) -> str:
    """Work out the moment that lies interval_count periods before end_date."""
    del sandbox
    end = read_moment(end_date)
    try:
        if period in ("day", "week"):
            return write_moment(end - timedelta(days=interval_count * (7 if period == "week" else 1)))
        return write_moment(_months_before(end, interval_count * (3 if period == "quarter" else 1)))
    except (OverflowError, ValueError):
        raise ToolError("the start lies before the calendar begins") from None


def _months_before(moment: datetime, count: int) -> datetime:
    """The same day some months before, or the last one of a month that has no such day."""
    year, month = divmod(moment.year * 12 + moment.month - 1 - count, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def get_period(
    sandbox: Queryable,
    period_name: Annotated[str, Field(description="A month (January), a quarter (Q1) or a season (Spring)")],
    year: Annotated[int, Field(ge=1, le=9998, description="The year in which the period begins")],
) -> dict[str, str]:
    """Tell when a named period begins (start_date) and the moment at which it is over (end_date). Winter begins in
    December of the year that is given.
    """
    name = period_name.strip().capitalize()
    if name == "Autumn" and sandbox.compat == "policy":
        name = "Fall"  # the policy's own word; the original does not know it
    if name in MONTHS:
        first, length = MONTHS.index(name) + 1, 1
    elif name in _QUARTERS or name in _SEASONS:
        first, length = (_QUARTERS | _SEASONS)[name], 3
    else:
        known = f"{MONTHS[0]} to {MONTHS[-1]}, {', '.join(_QUARTERS)}, {', '.join(_SEASONS)}"
        raise ToolError(f"unknown period {period_name[:40]!r}; known: {known}")
    start = datetime(year, first, 1, tzinfo=UTC)
    return {"start_date": write_moment(start), "end_date": write_moment(_months_before(start, -length))}
