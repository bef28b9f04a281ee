"""A run's table for the terminal: by area and granularity, with intervals, what it took, and what was odd."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from cxlab.benchmarks.cdr.corpus.written import AREAS
from cxlab.benchmarks.cdr.evaluation import HUB_LEAST, HUB_SHARE
from cxlab.benchmarks.cdr.units import GRANULARITIES
from cxlab.errors import BadOption
from cxlab.metrics.intervals import mean_interval
from cxlab.records import Sample
from cxlab.store import load, write

SHOWN = ("ndcg@10", "recall@10", "hit@10", "mrr@10")
ALL = "all areas"


def list_figures(run_id: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One row a granularity and area, all areas first; the time is that of a query's search, without a model's calls.

    `fit` is the index's, of the whole granularity; `hubs`: units that come first, wrongly, for 5 % of the queries and
    three or more; `cut`: units longer than the retriever reads, -1 where it does not say.
    """
    if options:
        raise BadOption(f"--option {min(options)}: the table of this benchmark has no switches")
    samples = {sample.id: sample for sample in write.load_samples(write.load_run(run_id).dataset_id)}
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for attempt, scored in load.load_attempts(run_id):
        sample = samples.get(attempt.sample_id)
        if sample is None or attempt.outcome == "provider":
            continue
        values = {score.metric: score.value for score in scored.scores if score.metric in SHOWN}
        told = {"values": values, "output": attempt.output, "first": _find_wrong_first(sample, attempt.output)}
        for area in (ALL, sample.facets.get("area") or ""):
            rows.setdefault((sample.task, area), []).append(told)
    order = [ALL, *AREAS]
    return [
        _sum_up(granularity, area, rows[granularity, area])
        for granularity in GRANULARITIES
        for area in sorted({area for _, area in rows}, key=lambda each: order.index(each) if each in order else 99)
        if (granularity, area) in rows and area
    ]


def _sum_up(granularity: str, area: str, told: list[dict[str, Any]]) -> dict[str, Any]:
    searches = [each["output"].get("steps", {}).get("search", {}) for each in told]
    index = told[0]["output"].get("index", {})
    times = [step["latency_s"] for step in searches if step.get("latency_s") is not None]
    values = {name: [each["values"].get(name) for each in told] for name in SHOWN}
    found: dict[str, Any] = {"granularity": granularity, "area": AREAS.get(area, area), "n": len(told)}
    for name in SHOWN:
        known = [value for value in values[name] if value is not None]
        interval = mean_interval(np.array(known), bounds=(0.0, 100.0))
        found[name] = interval.mean
        if name == SHOWN[0]:
            found |= {"from": interval.low, "to": interval.high}
    firsts = Counter(each["first"] for each in told if each["first"] is not None)
    least = max(HUB_LEAST, HUB_SHARE * len(told))
    cut = index.get("cut")
    return found | {
        "ms a query": 1000 * float(np.median(times)) if times else 0.0,
        "fit, s": max((step.get("build_s") or 0.0 for step in searches), default=0.0),
        "units": index.get("chunks") or 0,
        "empty": index.get("empty") or 0,
        "cut": -1 if cut is None else cut,
        "dimensions": index.get("dimensions") or 0,
        "hubs": sum(count >= least for count in firsts.values()),
        "cores": os.cpu_count() or 0,
    }


def _find_wrong_first(sample: Sample, output: Mapping[str, Any]) -> tuple[str, int] | None:
    """The unit that came first though its conversation is not relevant."""
    ranked, units = output.get("ranked") or [], output.get("units") or []
    if not ranked or output.get("alike") or ranked[0] in sample.expected["conversations"]:
        return None
    return ranked[0], units[0][0] if units else 0
