"""What changed since the run before: the newest run of a model beside its last one on the same samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_change, format_changes, format_count, format_time
from cxlab.charts.theme import short_model
from cxlab.read import View
from cxlab.read.comparison import ranking
from cxlab.read.conditions import RunConditions, find_differing, of_runs
from cxlab.records.benchmark_card import Declaration
from cxlab.records.metric_names import name_metric
from cxlab.ui.address import cached, link
from cxlab.ui.app_frame import zone
from cxlab.ui.labels import plain, section
from cxlab.views.benchmarks import declared
from cxlab.views.compare.queries_verdicts import count_flips, flips

_MOST_SHOWN = 3
_MOST_TRIED = 6
# Runs of one order stand beside each other, as settings to compare, and none is the other's last one.
_ONE_ORDER = timedelta(minutes=1)


@dataclass(frozen=True)
class Change:
    """What a run came to beside an older one: on how many `samples` that both have, how many of them are `fixed` and
    `broken` by their verdicts and how many have none (`unscored`: now, before); how the tasks' headlines differ (rows
    of `Ranking.gaps` with their metric), and in which settings the two do."""

    samples: int
    fixed: int
    broken: int
    unscored: tuple[int, int]
    gaps: tuple[dict[str, Any], ...]
    apart: tuple[str, ...]


def show_since(abouts: Sequence[Declaration]) -> None:
    """The newest runs that have one of the same model on the same samples before them, each with what changed; nothing
    where there is none."""
    for place, (about, new, old, change) in enumerate(find_changes(abouts)):
        if not place:
            section("Since the last run", "The newest run of a model beside the one before it, on the same samples.")
        _show(about, new, old, change)


def find_changes(
    abouts: Sequence[Declaration],
) -> Iterator[tuple[Declaration, RunConditions, RunConditions, Change]]:
    """What `show_since` shows, one after the other: each is worked out when it is asked for."""
    pairs = [(about, *pair) for about in abouts for pair in find_pairs(about)]
    pairs.sort(key=lambda each: (each[1].created, each[1].run), reverse=True)
    told = 0
    for about, new, old in pairs[:_MOST_TRIED]:
        if told == _MOST_SHOWN:
            return
        if (change := cached(find_change, about.card.id, new.run, old.run)) is not None:
            told += 1
            yield about, new, old, change


def find_pairs(about: Declaration) -> list[tuple[RunConditions, RunConditions]]:
    """Each model's newest run with the one before it on the same dataset; constant agents have none."""
    usable = [each for each in of_runs(about.card.id, about.switches).values()
              if each.model not in about.floor_models and not each.again]  # fmt: skip
    usable.sort(key=lambda each: (each.created, each.run), reverse=True)
    pairs = []
    for model in dict.fromkeys(each.model for each in usable):
        new, *older = [each for each in usable if each.model == model]
        before = (each for each in older if each.conditions.dataset == new.conditions.dataset
                  and new.created - each.created >= _ONE_ORDER)  # fmt: skip
        if old := next(before, None):
            pairs.append((new, old))
    return pairs


def find_change(benchmark: str, new: str, old: str) -> Change | None:
    """What changed from an old run to a new one of a benchmark; None where they have no sample in common."""
    about = declared(benchmark)
    view = View(benchmark, runs=(new, old))
    found = ranking.rank(about, view, "run_id")
    both = [each for each in found.tasks if {new, old} <= set(each.table["side"])]
    if not both:
        return None
    moved = [count_flips(flips(view.change(tasks=(each.task.id,)), new, old, "run_id")) for each in both]
    took = ranking.took(pl.concat([each.compared.results for each in both]))
    unscored = dict(took.select("side", "unscored").iter_rows())
    known = of_runs(benchmark, about.switches)
    gaps = [
        {**row, "metric": each.task.metric}
        for each in both for row in ranking.gaps_from(about, each, old).iter_rows(named=True) if row["side"] == new
    ]  # fmt: skip
    return Change(
        sum(each.compared.samples for each in both),
        sum(fixed for fixed, _, _ in moved),
        sum(broken for _, broken, _ in moved),
        (int(unscored.get(new) or 0), int(unscored.get(old) or 0)),
        tuple(gaps),
        tuple(find_differing({run: known[run].conditions for run in (new, old)})),
    )


def _show(about: Declaration, new: RunConditions, old: RunConditions, change: Change) -> None:
    when = [format_time(each.created, zone()) for each in (new, old)]
    count = f"{format_count(change.samples)} sample{'' if change.samples == 1 else 's'}"
    with st.container(gap=None):
        st.markdown(f"**{plain(about.card.name)}, {plain(short_model(new.model))}**: {plain(say_change(change))}")
        st.caption(plain(f"Run of {when[0]} beside the one of {when[1]}, {count} that both have. {_say_apart(change)}"))
        view = View(about.card.id, runs=(new.run, old.run), baseline=old.run)
        with st.container(horizontal=True):
            link("Compare the two runs", "compare", view, also={"sides": "runs"})
            for name, many in (("broken", change.broken), ("fixed", change.fixed)):
                if many:
                    words = f"See the {format_count(many)} {name}" if many > 1 else f"See the one {name}"
                    link(words, "compare", view, also={"sides": "runs", "show": name})


def say_change(change: Change) -> str:
    """What changed: "3 fixed, 1 broken; decidable score +1.2 (−0.4 to +2.8), which cannot be told from chance"."""
    now, before = change.unscored
    moved = f"{format_count(change.fixed)} fixed, {format_count(change.broken)} broken"
    if now != before:
        moved += f", {format_count(now)} without a verdict and {format_count(before)} before"
    elif not change.fixed and not change.broken and not any(row["wins"] + row["losses"] for row in change.gaps):
        return "the same verdict and score on every sample"
    sure = [row for row in change.gaps if row["verdict"] in ("better", "worse")]
    if len(change.gaps) > 1:
        better = sum(row["verdict"] == "better" for row in sure)
        tasks = f"of {len(change.gaps)} tasks {better} better for sure, {len(sure) - better} worse"
        return f"{moved}; {tasks if sure else f'no sure difference in any of {len(change.gaps)} tasks'}"
    (row,) = change.gaps
    if row["difference"] is None:
        return moved
    if not row["wins"] + row["losses"]:
        return f"{moved}; the same {name_metric(row['metric'])} on every sample"
    span = "" if row["low"] is None else f" ({format_changes(row['low'], row['high'])})"
    chance = f", {row['verdict']} for sure" if sure else ", which cannot be told from chance"
    return f"{moved}; {name_metric(row['metric'])} {format_change(row['difference'])}{span}{chance}"


def _say_apart(change: Change) -> str:
    if not change.apart:
        return "Under the same settings."
    return f"They differ in {', '.join(change.apart).lower()}: what changed may be due to that."
