"""Which metric leads a task: what the viewer chose, else what is declared, else the next one that has scores.

Runs from before a metric was there are led by the next one that they have. This is the one place that says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from cxlab.read.query import ask
from cxlab.records.benchmark_card import Declaration, Task
from cxlab.store import catalogue, layout


def headline_of(about: Declaration, task: str) -> Task:
    """What leads a task; of a task that is not declared the benchmark's headline."""
    return about.card.task(task) or Task(task, task, about.card.headline)


def candidates(about: Declaration, task: str, asked: str = "") -> tuple[str, ...]:
    """The metrics that may lead a task, the most wanted first: its headline, the one that is asked for, and those that
    head an attempt."""
    headline = headline_of(about, task).metric
    return tuple(dict.fromkeys((headline, asked or headline, *about.card.leading)))


def first_scored(metrics: Sequence[str], scored: Callable[[str], bool]) -> str:
    """The first of these metrics that anything is scored by; the very first where nothing is."""
    return next(filter(scored, metrics), metrics[0])


def may_lead(about: Declaration) -> tuple[str, ...]:
    """The metrics that a viewer may let lead, in any of the tasks."""
    return tuple(dict.fromkeys(metric for task in about.card.tasks for metric in task.leads))


def led_by(about: Declaration, lead: str) -> Declaration:
    """The declaration with a viewer's choice of what leads, in the tasks that let it be chosen."""
    tasks = tuple(replace(task, metric=lead) if lead in task.leads else task for task in about.card.tasks)
    return replace(about, card=replace(about.card, tasks=tasks)) if tasks != about.card.tasks else about


# Of all benchmarks at once, as a page that shows several would else read the scores for each.
@lru_cache(maxsize=2)
def _read_scored(home: str, version: str) -> tuple[tuple[str, str, str], ...]:
    """(benchmark, task, metric) of which there is a score."""
    return tuple(ask("SELECT DISTINCT benchmark, task, metric FROM scores WHERE value IS NOT NULL").iter_rows())


def with_scored_headlines(about: Declaration) -> Declaration:
    """The declaration with, for each task whose headline no attempt at it has, the next metric that some have."""
    scored: dict[str, set[str]] = {}
    for benchmark, task, metric in _read_scored(str(layout.home()), catalogue.data_version()):
        if benchmark == about.card.id:
            scored.setdefault(task, set()).add(metric)

    def metric_of(task: Task) -> str:
        return first_scored(candidates(about, task.id), scored.get(task.id, set()).__contains__)

    tasks = tuple(replace(task, metric=metric_of(task)) for task in about.card.tasks)
    return replace(about, card=replace(about.card, tasks=tasks)) if tasks != about.card.tasks else about
