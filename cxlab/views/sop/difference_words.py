"""What two models do differently in a procedure, in a sentence."""

import polars as pl

from cxlab.charts.names import begin, name_id
from cxlab.records.procedure import Procedure, number

_AS_WIDE = 0.8
"""Differences of at least so much of the widest one are as good to tell as that."""


def say_difference(steps: pl.DataFrame, procedure: Procedure, names: tuple[str, str]) -> str:
    """The widest difference that is sure, as a sentence; `steps` is that of `step_differences`."""
    sure = steps.filter("sure").sort(pl.col("difference").abs(), "source", "target", descending=[True, False, False])
    if sure.is_empty():
        return f"No step of {steps.height} tells {names[0]} and {names[1]} apart for sure"
    # Of what one takes the more and the other the less, the step that leaves a stage out says what is done.
    widest = abs(sure["difference"][0])
    rows = [row for row in sure.iter_rows(named=True) if abs(row["difference"]) >= _AS_WIDE * widest]
    row = next((row for row in rows if _passed_by(procedure, row["source"], row["target"])), rows[0])
    passed = _passed_by(procedure, row["source"], row["target"])
    way = f"{number(row['source'])} → {number(row['target'])}"
    does = (
        f"goes past “{procedure.name(passed)}” ({way})"
        if passed
        else f"goes from “{procedure.name(row['source'])}” to “{_name(procedure, row['target'])}”"
    )
    shares = sorted(zip(names, (row["first"], row["second"]), strict=True), key=lambda side: -side[1])
    (more, most), (less, least) = shares
    return f"{more} {does} in {100 * most:.0f} % of turns, {less} in {100 * least:.0f} %"


def _name(procedure: Procedure, node: str) -> str:
    return procedure.name(node) if node in procedure.stages else begin(name_id(node))


def _passed_by(procedure: Procedure, source: str, target: str) -> str:
    """The one stage that the procedure has between two others, which a step from one to the other leaves out."""
    steps = procedure.steps()
    between = [stage for stage in procedure.stages if {(source, stage), (stage, target)} <= set(steps)]
    return between[0] if len(between) == 1 else ""
