"""The table of Overview that tells of models over benchmarks."""

from collections.abc import Mapping, Sequence

import polars as pl

from cxlab.charts.theme import short_model
from cxlab.read.comparison.across import CrossBenchmarkStanding, stand_across
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached
from cxlab.ui.labels import label, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.comparison_sets import ranked, view_of

_WORDS = {
    "leads": "✓ leads",
    "ahead": "ahead, but a constant agent is as good",
    "first": "first (not sure)",
    "tied": "level",
    "level": "cannot tell",
    "behind": "behind",
}


def show_across(abouts: Sequence[Declaration]) -> None:
    """Models that ran in several benchmarks, a column a benchmark; nothing without two such models."""
    found = stand_across({about.card.id: cached(ranked, view_of(about.card.id)).tasks for about in abouts})
    if found is None:
        return
    section(
        plain(say_across(found)),
        "Models that ran in several benchmarks. Each task is ranked by itself, on the samples that all its models "
        "have, and tested by itself: among many tasks one lead can be chance. No mean is made over benchmarks: a point "
        "of one is not a point of another.",
    )
    rows = pl.DataFrame(
        [{"name": label(model), **{name: say_standing(found.standing[model].get(name, {}), found.tasks[name])
                                   for name in found.benchmarks}} for model in found.models]
    )  # fmt: skip
    names = {about.card.id: about.card.name for about in abouts}
    columns = {"name": column("Model")} | {name: column(names[name]) for name in found.benchmarks}
    show_table(rows, columns, key="across", alt="Where each model leads, by benchmark.")


def say_across(found: CrossBenchmarkStanding) -> str:
    """Who leads for sure in how many tasks of how many benchmarks."""
    tasks, many = sum(found.tasks.values()), len(found.benchmarks)
    over = f"{tasks} task{'' if tasks == 1 else 's'} of {many} benchmarks"
    leads = {model: found.count(model, "leads") for model in found.models}
    told = [f"{short_model(model)} leads for sure in {n}" for model, n in leads.items() if n]
    if not told:
        return f"Over {over} nobody leads for sure anywhere"
    if len(told) == 1 and max(leads.values()) == tasks:
        return f"{short_model(found.models[0])} leads for sure in all {over}"
    low = f"; in {found.below} somebody is ahead for sure, but no better than a constant agent" if found.below else ""
    rest = f"; in {found.undecided} nobody is ahead for sure" if found.undecided else ""
    return f"Over {over}: {', '.join(told)}{low}{rest}"


def say_standing(counts: Mapping[str, int], tasks: int) -> str:
    """How a model stands in a benchmark: in a word where it has one task, else in how many tasks how."""
    if not counts:
        return "did not run"
    if tasks == 1:
        return next(words for standing, words in _WORDS.items() if counts.get(standing))
    return "; ".join(f"{words} in {counts[standing]}" for standing, words in _WORDS.items() if counts.get(standing))
