"""What reviewers' decisions change in a task that a report tells of."""

from collections.abc import Mapping
from dataclasses import dataclass

from cxlab.charts.names import begin
from cxlab.charts.numbers import format_change, format_interval, format_points, format_share
from cxlab.charts.theme import Mark, mark_of
from cxlab.read.comparison.corrected import CorrectedRanking
from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.words import NO_RANDOM_CHOICE, Name, say_changes, say_leader
from cxlab.records.benchmark_card import Declaration
from cxlab.report.dots import Chart, Value, draw


@dataclass(frozen=True)
class CorrectedTask:
    """A task with reviewers' decisions in force beside it as judged: what is found, sentences, a drawing, and rows of
    name, mean as judged, corrected, its interval, change, success rate as judged and corrected."""

    told: str
    sentences: tuple[str, ...]
    chart: Chart
    rows: tuple[tuple[str, ...], ...]


def tell_corrected(
    about: Declaration, judged: Ranking, found: CorrectedRanking, name: Name, marks: Mapping[str, Mark]
) -> CorrectedTask:
    """Each side's mean as judged and, in the same colour, corrected."""
    rows, drawn = [], []
    ends = {side: (low, high) for side, low, high in judged.table.select("side", "low", "high").iter_rows()}
    for row in found.beside.iter_rows(named=True):
        mark, low, high = mark_of(marks, row["side"]), row["corrected_low"], row["corrected_high"]
        pair = [(row["value"], *ends[row["side"]], "as judged"), (row["corrected"], low, high, "corrected")]
        drawn.append((name(row["side"]), [
            Value(mean, lowest, highest, mark, f"{name(row['side'])} {word}: {format_points(mean)}", word)
            for mean, lowest, highest, word in pair if mean is not None
        ]))  # fmt: skip
        change = format_change(row["change"])
        shares = map(format_share, (row["passed"], row["passed_corrected"]))
        cells = (format_points(row["value"]), format_points(row["corrected"]), format_interval(low, high), change)
        rows.append((name(row["side"]), *cells, *shares))
    told = say_leader(found.ranking, name)
    left = (f"Run {run} is not corrected: {why}." for run, why in found.left_out.items())
    alt = f"{judged.task.title}, {judged.task.metric} by side as judged and corrected, with 95 % intervals: {told}."
    scale = about.card.scale(judged.task.metric)
    sentences = (say_changes(found, about.card.unit[1]), NO_RANDOM_CHOICE, *left)
    return CorrectedTask(begin(told), sentences, draw(drawn, scale, alt), tuple(rows))
