"""What `compare` writes for a terminal, from the plain values that its JSON has."""

from collections.abc import Sequence
from typing import Any

from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.sets import ComparisonSet
from cxlab.read.comparison.words import STANDING, say_set
from cxlab.records.benchmark_card import Declaration
from cxlab.records.decimals import write_decimals
from cxlab.report.decision_figures import Figure


def write(
    about: Declaration, chosen: ComparisonSet, found: Ranking, told: dict[str, Any], names: dict[str, str]
) -> str:
    """One task for a terminal."""
    lines = [f"{about.card.name}, {found.task.title} ({found.task.metric}): {told['verdict']}"]
    where = f"; set {chosen.conditions.id}, dataset {chosen.conditions.dataset}" if chosen.conditions else ""
    lines.append(f"  {say_set(found.compared)}{where}.")
    lines.append(f"  {told['judged_by']}")
    if told["decision"]:
        lines += [f"  {each['told']}." for each in told["decision"]["other_leads"]]
        lines += [f"  {Figure(**each)}" for each in told["decision"]["told"]]
    if told["below_floor"]:
        lines.append(f"  ! {told['below_floor']}.")
    gaps = {row["model"]: row for row in told["differences"]}
    sides = "model" if chosen.conditions else "run"
    rows = [(sides, "mean", "95 %", f"against {names.get(told['baseline'], '')}", "95 %, corrected", "", "samples")]
    for row in told["models"]:
        other = gaps.get(row["model"])
        rows.append((
            row["name"], _points(row["mean"]), _span(row),
            "" if other is None else _points(other["difference"], "+.1f"), "" if other is None else _span(other),
            "" if other is None else STANDING[other["verdict"]], f"{row['n']} (has {row['has']} of {told['of']})",
        ))  # fmt: skip
    rows += [(f"{floor['name']}, not ranked", _points(floor["mean"]), "", "", "", "", str(floor["n"]))
             for floor in told["floors"]]  # fmt: skip
    lines += _align(rows)
    if told["corrected"]:
        lines += _write_corrected(told["corrected"], sides)
    if left := told.get("without_judge"):
        lines.append(f"  {left['verdict']}. {left['told']}")
        lines += _align([
            (sides, "as judged", "without", "95 %"),
            *((row["name"], _points(row["mean"]), _points(row["without"]), _span(row)) for row in left["models"]),
        ])  # fmt: skip
        lines += [f"  ! Run {run} is not scored anew: {why}." for run, why in left["left_out"].items()]
    lines += [f"  Not ranked: {names[row['model']]} {row['reason']}." for row in told["left_out"]]
    if told["customers"] and told["customers"]["told"]:
        lines.append(f"  {told['customers']['told']}")
    return "\n".join(lines)


def _write_corrected(told: dict[str, Any], sides: str) -> list[str]:
    """What reviewers' decisions change, for a terminal."""
    rows = [(sides, "as judged", "corrected", "95 %", "change", "passed", "passed, corrected")]
    rows += [
        (row["name"], _points(row["mean"]), _points(row["corrected"]), _span(row), _points(row["change"], "+.1f"),
         _share(row["passed"]), _share(row["passed_corrected"]))
        for row in told["models"]
    ]  # fmt: skip
    lines = [f"  With reviewers' corrections: {told['verdict']}. {told['told']}", *_align(rows)]
    return lines + [f"  ! Run {run} is not corrected: {why}." for run, why in told["left_out"].items()]


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, columns below each other."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows]  # fmt: skip


def _points(value: float | None, form: str = ".1f") -> str:
    return "–" if value is None else write_decimals(value, form)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{_points(100 * value)}%"


def _span(row: dict[str, Any]) -> str:
    return "–" if row["low"] is None else f"{_points(row['low'])} to {_points(row['high'])}"
