"""How runs are called where they stand beside each other."""

from collections import Counter
from collections.abc import Mapping, Sequence

from cxlab.read.annotations import run_names
from cxlab.read.conditions import of_runs
from cxlab.records.benchmark_card import Declaration

_MOST_SETTINGS = 2
# A longer value, as a list of judges, reads worse than the end of an id.
_LONGEST_SETTING = 32
_WORDS = {"true": "on", "false": "off"}


def call_runs(
    runs: Sequence[tuple[str, str]],
    models: Mapping[str, str],
    settings: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, str]:
    """Run → what it is called, of (run, model) pairs; `models` says how models are called.

    As somebody named it; else by its model, and where several of the runs are of that model by what sets these apart
    in their `settings` (run → title → value), "strong, framework react". Where that is nothing, or too much to read,
    by the end of its id (all of it, where ends are alike). No two are called alike.
    """
    given = run_names()
    ends = Counter(run.rpartition("-")[2] for run, _ in runs)
    told = {run: given.get(run) or models.get(model, model) for run, model in runs}
    unnamed: dict[str, list[str]] = {}
    for run, model in runs:
        if not given.get(run):
            unnamed.setdefault(model, []).append(run)
    for own in unnamed.values():
        for run, words in _tell_apart({run: (settings or {}).get(run, {}) for run in own}).items():
            told[run] += f", {words}"
    often = Counter(told.values())
    for run, _ in runs:
        if often[told[run]] > 1:
            end = run.rpartition("-")[2]
            told[run] = f"{told[run]}, run {end if ends[end] == 1 else run}"
    return told


def call_runs_of(about: Declaration, runs: Sequence[tuple[str, str]], models: Mapping[str, str]) -> dict[str, str]:
    """`call_runs` of a benchmark's runs, by the conditions that they were made under."""
    known = of_runs(about.card.id, about.switches)
    return call_runs(runs, models, {run: dict(known[run].conditions.parts) for run, _ in runs if run in known})


def _tell_apart(settings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Run → the settings in which these runs differ, in words; none where they are alike, or differ in too much."""
    titles = dict.fromkeys(title for own in settings.values() for title in own)
    apart = [title for title in titles if len({own.get(title, "") for own in settings.values()}) > 1]
    values = [own.get(title, "") for own in settings.values() for title in apart]
    if not 0 < len(apart) <= _MOST_SETTINGS or any(len(value) > _LONGEST_SETTING for value in values):
        return {}
    return {
        run: ", ".join(f"{title[:1].lower()}{title[1:]} {_say(own.get(title, ''))}" for title in apart)
        for run, own in settings.items()
    }


def _say(value: str) -> str:
    return _WORDS.get(value, value).replace("_", " ") or "none"
