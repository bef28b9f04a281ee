"""Which metric leads a task: what the viewer chose, else what is declared, else the next one that has scores.

Runs from before a metric was there are led by the next one that they have. This is the one place that says so.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from cxlab.read.query import ask
from cxlab.records.benchmark_card import Card, Declaration, Task
from cxlab.records.metric_names import name_metric
from cxlab.store import catalogue, layout


def headline_of(about: Declaration, task: str) -> Task:
    """What leads a task; of a task that is not declared the benchmark's headline."""
    return about.card.task(task) or Task(task, task, about.card.headline)


def say_rule(task: Task | None) -> str:
    """What passing a task is: as it is declared, else its threshold; "" of a task that nobody declares."""
    if task is None or task.verdict_rule:
        return task.verdict_rule if task else ""
    limit = task.pass_from if task.pass_from is not None else 100 if task.higher_is_better else 0
    metric = name_metric(task.decided_by or task.metric)
    return f"{metric} must be {limit:g} or {'more' if task.higher_is_better else 'less'}."


def say_rules(card: Card) -> str:
    """What passing is in a benchmark's tasks, those of one rule together; "" where nothing is declared."""
    rules: dict[str, list[str]] = {}
    for task in card.tasks:
        rules.setdefault(say_rule(task), []).append(task.title)
    if len(rules) == 1:
        return f"What passing is: {next(iter(rules))}"
    told = " ".join(f"{', '.join(titles)}: {rule}" for rule, titles in rules.items())
    return f"What passing is, by task. {told}" if told else ""


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


def has_score(benchmark: str, task: str, metric: str) -> bool:
    """Whether any attempt at a task ("" for any) has a score by this metric."""
    known = _index_scored(str(layout.home()), catalogue.data_version())
    return (benchmark, task, metric) in known


@lru_cache(maxsize=2)
def _index_scored(home: str, version: str) -> frozenset[tuple[str, str, str]]:
    scored = _read_scored(home, version)
    return frozenset(scored) | {(benchmark, "", metric) for benchmark, _, metric in scored}


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
