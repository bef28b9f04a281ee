"""How runs are called where they stand beside each other."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from cxlab.read.annotations import run_names
from cxlab.read.conditions import find_differing, of_runs
from cxlab.records.benchmark_card import Declaration

_MOST_SETTINGS = 2
# A longer value, as a list of judges, reads worse than the end of an id.
_LONGEST_SETTING = 32
_WORDS = {"true": "on", "false": "off"}
_SIZE = ""
"""Stands for a title where the value says it all: "20 dialogues"."""


def call_runs(
    runs: Sequence[tuple[str, str]],
    models: Mapping[str, str],
    settings: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, str]:
    """Run → what it is called, of (run, model) pairs; `models` says how models are called.

    As somebody named it; else by its model, and where several of the runs are of that model by what sets these apart
    in their `settings` (run → title → value), "strong, framework react": by all in which they differ, or, where that is
    too much to read, by as few as tell them apart. Where that is nothing, by the end of its id (all of it, where ends
    are alike). No two are called alike.
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
    """`call_runs` of a benchmark's runs, by the conditions that they were made under and how much was planned."""
    known = of_runs(about.card.id, about.switches)
    one, many = about.card.unit
    settings = {
        run: {**dict(each.conditions.parts), _SIZE: f"{each.planned:,} {one if each.planned == 1 else many}"}
        for run, _ in runs if (each := known.get(run))
    }  # fmt: skip
    return call_runs(runs, models, settings)


def tell_settings(about: Declaration, runs: Iterable[str]) -> dict[str, str]:
    """Run → what was set where these runs of a benchmark differ, their datasets apart: "framework react, turns 5"; of
    one that is not known, or where they are all alike, nothing."""
    known = of_runs(about.card.id, about.switches)
    apart = find_differing({run: known[run].conditions for run in runs if run in known})
    told: dict[str, list[str]] = {}
    for title, values in apart.items():
        for run, value in values.items() if title != "Dataset" else ():
            told.setdefault(run, []).append(_say(title, value))
    return {run: ", ".join(words) for run, words in told.items()}


def _tell_apart(settings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Run → the settings in which these runs differ, in words; none where they are alike, or where it would take too
    much to tell them apart."""
    titles = dict.fromkeys(title for own in settings.values() for title in own)
    apart = [
        title for title in titles
        if len({own.get(title, "") for own in settings.values()}) > 1
        and all(len(own.get(title, "")) <= _LONGEST_SETTING for own in settings.values())
    ]  # fmt: skip
    if len(apart) > _MOST_SETTINGS:
        apart = _choose(apart, settings)
    if not apart:
        return {}
    return {run: ", ".join(_say(title, own.get(title, "")) for title in apart) for run, own in settings.items()}


def _choose(apart: Sequence[str], settings: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The fewest of these titles that tell all of the runs apart; none where it takes too many."""
    for count in range(1, _MOST_SETTINGS + 1):
        for chosen in combinations(apart, count):
            if len({tuple(own.get(title, "") for title in chosen) for own in settings.values()}) == len(settings):
                return list(chosen)
    return []


def _say(title: str, value: str) -> str:
    shown = _WORDS.get(value, value).replace("_", " ") or "none"
    # "Function calling" as within a sentence; "ReAct" as it is.
    shown = shown[:1].lower() + shown[1:] if shown.split(" ")[0][1:].islower() else shown
    return f"{title[:1].lower()}{title[1:]} {shown}" if title else shown
