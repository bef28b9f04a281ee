"""The results of a stored run as a table: a row a task, and ALL, the mean over tasks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from cxlab.benchmarks.crmarena.answers import best_constant, f1, pass_k
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.errors import UnknownName
from cxlab.metrics.intervals import clustered_interval
from cxlab.records import Sample
from cxlab.store import write
from cxlab.store.load import load_outcomes

_METRICS = ("score", "exact", "exact_extracted", "turns")


@dataclass
class _Task:
    """What attempts at one task came to: sample → its values, a trial each."""

    golds: dict[str, str | None] = field(default_factory=dict)
    values: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def all(self, metric: str, unanswerable: bool = False) -> list[float]:
        """Every value of a metric, or those of questions without an answer."""
        found = self.values[metric]
        return [value for id, each in found.items() for value in each if not unanswerable or self.golds[id] is None]


def list_figures(run_id: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Task by task: questions and attempts, the score with its interval, what the best constant answer scores, exact
    match of the extracted answer, the score where there is no answer, turns, and pass^k over the trials.

    ALL is the mean over tasks of each figure; its interval treats the tasks as given. pass^k leaves knowledge
    questions out: they have no right and wrong.
    """
    if options:
        raise UnknownName("option of crmarena's table", min(options), ())
    samples = {sample.id: sample for sample in write.load_samples(write.load_run(run_id).dataset_id)}
    tasks = collect(run_id, samples)
    most = min((len(each) for task in tasks.values() for each in task.values["score"].values()), default=1)
    rows = [_to_row(name, tasks[name], most) for name in TASKS if name in tasks]
    return [*rows, _over_tasks(rows)] if rows else []


def collect(run_id: str, samples: Mapping[str, Sample]) -> dict[str, _Task]:
    """Task → what a stored run came to on it; unscored attempts are left out."""
    tasks: dict[str, _Task] = defaultdict(_Task)
    for name, attempt, scored in load_outcomes(run_id, ("scores",), _METRICS):
        sample = samples.get(attempt.sample_id)
        if sample is None or name not in TASKS:
            continue
        tasks[name].golds[sample.id] = sample.expected.get("answer")
        for score in scored.scores:
            if score.value is not None:
                tasks[name].values[score.metric][sample.id].append(score.value)
    return tasks


def find_floor(task: str, golds: Sequence[str | None]) -> float:
    """What the best constant answer to these questions scores, in points. Of answers in words it is one of the gold
    ones, the one with the highest mean F1."""
    if TASKS[task].answer != "text":
        return 100 * best_constant(golds)[1]
    return 100 * max((fmean(f1(one, gold) for gold in golds) for one in dict.fromkeys(golds)), default=math.nan)


def _to_row(name: str, task: _Task, trials: int) -> dict[str, Any]:
    values, clusters = [], []
    for id, each in task.values["score"].items():
        values += each
        clusters += [id] * len(each)
    found = clustered_interval(values, clusters, (0.0, 100.0))
    row: dict[str, Any] = {"task": TASKS[name].short, "questions": len(task.golds), "attempts": len(values)}
    row |= {"score": found.mean, "low": found.low, "high": found.high}
    row |= {"constant": find_floor(name, list(task.golds.values())), "extracted": _mean(task.all("exact_extracted"))}
    row |= {"no answer": _mean(task.all("score", unanswerable=True)), "turns": _mean(task.all("turns"))}
    passed = {id: [value == 100 for value in each] for id, each in task.values["exact"].items()}
    for k in range(1, trials + 1) if trials > 1 else ():
        row[f"pass^{k}"] = pass_k(passed, k) if passed else None
    return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}


def _over_tasks(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The mean over tasks of each figure that they have."""
    found: dict[str, Any] = {
        "task": "ALL",
        **{name: sum(row[name] for row in rows) for name in ("questions", "attempts")},
    }
    for name in list(rows[0])[3:]:
        known = [row[name] for row in rows if row[name] is not None]
        found[name] = fmean(known) if known else None
    # Independent tasks: the widths of their intervals add up as squares.
    for end in ("low", "high"):
        reach = [row[end] - row["score"] for row in rows if row[end] is not None and row["score"] is not None]
        whole = math.sqrt(sum(each * each for each in reach)) / len(rows) if len(reach) == len(rows) else None
        found[end] = None if whole is None else found["score"] + (whole if end == "high" else -whole)
    return found


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
