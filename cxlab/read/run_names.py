"""How runs are called where they stand beside each other."""

from collections import Counter
from collections.abc import Mapping, Sequence

from cxlab.read.annotations import run_names


def call_runs(runs: Sequence[tuple[str, str]], models: Mapping[str, str]) -> dict[str, str]:
    """Run → what it is called, of (run, model) pairs; `models` says how models are called.

    As somebody named it; else by its model, with the end of its id (all of it, where ends are alike) where several of
    the runs are of that model. No two are called alike.
    """
    given = run_names()
    often = Counter(given.get(run, "") for run, _ in runs)
    once = Counter(model for _, model in runs)
    ends = Counter(run.rpartition("-")[2] for run, _ in runs)
    told = {}
    for run, model in runs:
        name = given.get(run) or models.get(model, model)
        end = run.rpartition("-")[2]
        alone = often[given[run]] == 1 if run in given else once[model] == 1
        told[run] = name if alone else f"{name}, run {end if ends[end] == 1 else run}"
    return told
