"""What the results say of a figure of which a part is undecided: how much, and between what the figure lies."""

from collections.abc import Callable

import polars as pl

from cxlab.benchmarks.mmtaup2.evaluation.left_undecided import COUNTED
from cxlab.charts.theme import short_model

EXPLAINED = (
    "Undecided is what the wording leaves open and no judge decides. At least: if all of it were a no; at most: if all "
    "were a yes; a mean of the rest alone would be no figure. Drawn in grey from the one to the other."
)
ON_DIFFERENCES = "Of what is decided alone: what is undecided may turn each of them round. "


def has_bounds(rows: pl.DataFrame) -> bool:
    """Whether any of these is told by its bounds, in place of a mean."""
    return "least" in rows.columns and rows["least"].null_count() < rows.height


def tell_bounds(metric: str, title: str, whole: pl.DataFrame, write: Callable[[str, float], str]) -> str:
    """Each side with its bounds, or its mean where little of it is open: nobody is ahead."""
    told: list[str] = []
    for row in whole.sort("side").iter_rows(named=True):
        if row["least"] is not None:
            words = f"at least {write(metric, row['least'])}, at most {write(metric, row['most'])}"
        elif row["value"] is not None:
            words = write(metric, row["value"])
        else:
            continue
        told.append(f"{short_model(row['side'])}: {'' if told else f'{title} '}{words}{say_share(metric, row)}")
    return "; ".join(told)


def say_share(metric: str, row: dict[str, object]) -> str:
    """ " (45 % of the turns of the customer undecided)"; "" where all is decided."""
    share = row.get("undecided")
    if not isinstance(share, float) or share <= 0:
        return ""
    shown = f"{100 * share:.0f}" if share >= 0.01 else "under 1"
    return f" ({shown} % of the {COUNTED[metric]} undecided)"
