"""Which tasks show most of what a persona or an exposure does, and what exposure does over all: from stored runs.

Conversations with trial and task alike are set beside each other; floors are left to the caller.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from cxlab.benchmarks.mmtaup2.evaluation import adaptations
from cxlab.benchmarks.mmtaup2.evaluation.summary import RESAMPLES
from cxlab.metrics.paired import paired_difference

Term = tuple[str, int]
"""A persona, and what the agent is told of it (exposure)."""
Key = tuple[str, str, str, int]
"""Run, domain, task and trial."""
SETS: dict[str, tuple[Term, ...]] = {
    "persona": (("none", 0), ("easy", 0), ("hard", 0)),
    "exposure": (("hard", 0), ("hard", 1), ("hard", 2)),
}
"""What is set beside each other, each as (persona, exposure): three customers, or three things told of one."""
TEXT, VOICE = "text", "voice"
ANY = (-math.inf, math.inf)
"""The interval in which every difference lies."""
_SEED = 20260102
# Sums of shares may miss 0 by less than this.
_NOTHING = 1e-9


@dataclass(frozen=True)
class TaskContrast:
    """A task under three terms, as a run played it once: whether each reached the goal, and in how many turns."""

    run_id: str
    dataset: str
    domain: str
    task: str
    trial: int
    kind: str
    passed: tuple[bool, ...]
    turns: tuple[int, ...]
    adapted: tuple[float | None, ...] = ()
    """Of the agent's messages the share that adapt, under each term; empty where nobody looked."""
    hand_over: bool = False
    """Whether all that the task asks for is a hand-over to a person."""

    @property
    def key(self) -> Key:
        """Which task as which run played it: the same for contrasts of another kind."""
        return self.run_id, self.domain, self.task, self.trial

    @property
    def size(self) -> tuple[int, int]:
        """What differs: goals first, then turns."""
        return max(self.passed) - min(self.passed), max(self.turns) - min(self.turns)

    def more_turns(self, place: int = -1) -> int:
        """Turns under the term at `place`, beyond those under the first."""
        return self.turns[place] - self.turns[0]

    def more_adapted(self, place: int = -1) -> float | None:
        """The share of messages that adapt under the term at `place`, beyond that under the first."""
        ends = (self.adapted[0], self.adapted[place]) if self.adapted else (None, None)
        return None if ends[0] is None or ends[1] is None else ends[1] - ends[0]


def rank(
    conversations: pl.DataFrame,
    figures: pl.DataFrame,
    datasets: Mapping[str, str],
    said: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> list[TaskContrast]:
    """The contrasts that stored runs hold, the largest first; frames as of store's load_figures.

    `datasets`: run → the dataset that its tasks are of; `said`: (run, attempt) → the agent's messages.
    """
    values: dict[tuple[str, str, str], float] = {
        (run, attempt, metric): value
        for run, attempt, metric, value in figures.select("run_id", "attempt_id", "metric", "value").iter_rows()
        if value is not None
    }
    cells: dict[tuple[str, str, str, int], dict[tuple[str, int], tuple[bool, int, float | None]]] = {}
    for row in conversations.filter(pl.col("modality") == "text").iter_rows(named=True):
        passed, turns = (values.get((row["run_id"], row["attempt_id"], metric)) for metric in ("pass", "turns"))
        if passed is not None and turns is not None:
            key = row["run_id"], row["domain"], row["task"], row["trial"]
            adapted = None if said is None else _value(values, said, (row["run_id"], row["attempt_id"]), "adapted")
            cells.setdefault(key, {})[row["persona"], int(row["exposure"])] = passed >= 100, int(turns), adapted
    found = []
    for (run, domain, task, trial), there in cells.items():
        for kind, terms in SETS.items():
            if all(term in there for term in terms):
                played = [there[term] for term in terms]
                reached, lengths = tuple(one for one, _, _ in played), tuple(one for _, one, _ in played)
                adapting = () if said is None else tuple(one for _, _, one in played)
                found.append(TaskContrast(run, datasets[run], domain, task, trial, kind, reached, lengths, adapting))
    return sorted(found, key=lambda one: (-one.size[0], -one.size[1], one.task, one.kind, one.run_id))


def find_within(contrasts: Sequence[TaskContrast], place: int, within: tuple[float, float]) -> list[TaskContrast]:
    """Those whose difference in turns, of the term at `place` against the first, lies in an interval."""
    return [one for one in contrasts if within[0] <= one.more_turns(place) <= within[1]]


def find_solved(contrasts: Sequence[TaskContrast]) -> list[TaskContrast]:
    """Those that the agent solves under every term by itself: who looks on takes a reached goal for a problem that is
    gone, and a hand-over leaves it."""
    return [one for one in contrasts if all(one.passed) and not one.hand_over]


def find_telling(
    contrasts: Sequence[TaskContrast],
    place: int = -1,
    within: tuple[float, float] = ANY,
    beside: Mapping[Key, float] | None = None,
) -> TaskContrast | None:
    """Of contrasts of one kind the one that shows an audience most: where turns and messages that adapt differ most
    between the term at `place` and the first, of equals the first one. None of none.

    `beside`: what the same conversations show of the other kind, as `weigh` has it. Solved tasks come before others.
    `within`: the interval of the mean, outside of which an example would promise more than is measured; it binds where
    there is any contrast within.
    """
    solved = find_solved(contrasts) or [one for one in contrasts if not one.hand_over] or contrasts
    inside = find_within(solved, place, within) or solved
    weights, more = weigh(inside, place), beside or {}
    return max(inside, key=lambda one: weights[one.key] + more.get(one.key, 0.0), default=None)


def weigh(contrasts: Sequence[TaskContrast], place: int = -1, within: tuple[float, float] = ANY) -> dict[Key, float]:
    """How much each contrast within the interval shows: its differences in turns and in messages that adapt, each in
    parts of the largest one, added up."""
    inside = find_within(contrasts, place, within)
    turns = _parts([abs(one.more_turns(place)) for one in inside])
    adapted = _parts([abs(one.more_adapted(place) or 0.0) for one in inside])
    return {one.key: more + other for one, more, other in zip(inside, turns, adapted, strict=True)}


def _parts(sizes: Sequence[float]) -> list[float]:
    return [size / (max(sizes) or 1) for size in sizes]


@dataclass(frozen=True)
class PairedEffect:
    """What other terms do to one figure: its means under the plainer and the other ones, their paired difference and
    its interval."""

    figure: str
    base: float
    told: float
    difference: float
    low: float
    high: float
    n: int
    """Pairs of conversations."""
    tasks: int

    @property
    def shown(self) -> bool:
        """Whether the interval is clear of 0."""
        return not math.isnan(self.low) and (self.low > _NOTHING or self.high < -_NOTHING)


def is_borne(one: TaskContrast, place: int, effects: Sequence[PairedEffect]) -> bool:
    """Whether all that a contrast shows between the term at `place` and the first is sure over all pairs, as `effects`
    measure them: its difference in turns is within the interval of one that is clear of 0, and where one of the two
    reaches the goal and the other does not, goals differ for sure in that direction."""
    usual = {effect.figure: effect for effect in effects if effect.shown}
    more, goals = one.more_turns(place), int(one.passed[place]) - int(one.passed[0])
    turns, reached = usual.get("turns"), usual.get("pass")
    if not more and not goals:
        return False
    in_turns = not more or (turns is not None and turns.low <= more <= turns.high)
    return in_turns and (not goals or (reached is not None and goals * reached.difference > 0))


FIGURES = {
    "adapted": "messages that adapt",
    "pass": "goals reached",
    "turns": "turns",
}


def count_tests(conversations: pl.DataFrame, told: Term, base: Term, lines: tuple[str, str] = (TEXT, TEXT)) -> int:
    """How many differences stand beside that of these terms in what is stored: each figure, of each level of the one
    factor in which they differ against the plainer one. It is the same whichever of them are looked at."""
    there = conversations.filter(pl.col("modality") == lines[0])
    if lines[0] != lines[1]:
        return len(FIGURES)
    if told[1] == base[1]:
        levels = there.filter(pl.col("exposure").cast(pl.Int64) == base[1])["persona"].n_unique()
    else:
        levels = there.filter(pl.col("persona") == base[0])["exposure"].n_unique()
    return max(1, levels - 1) * len(FIGURES)


def measure_effect(
    conversations: pl.DataFrame,
    figures: pl.DataFrame,
    said: Mapping[tuple[str, str], Sequence[str]],
    told: Term,
    base: Term,
    level: float = 0.95,
    lines: tuple[str, str] = (TEXT, TEXT),
) -> list[PairedEffect]:
    """Conversations under the terms `told` against those under `base`, pair by pair of a task and trial.

    `said`: (run, attempt) → the agent's messages; `level`: of the intervals; `lines`: by text or by voice, of both.
    Runs on one line each are taken for one. Shares are from 0 to 1. Empty where there is no pair.
    """
    values: dict[tuple[str, str, str], float] = {
        (run, attempt, metric): value / 100 if metric == "pass" else value
        for run, attempt, metric, value in figures.select("run_id", "attempt_id", "metric", "value").iter_rows()
        if value is not None
    }
    asked, plainer = (told, lines[0]), (base, lines[1])
    sides: dict[tuple[Term, str], dict[tuple[str, str, int], tuple[str, str]]] = {plainer: {}, asked: {}}
    for row in conversations.iter_rows(named=True):
        if (term := ((row["persona"], int(row["exposure"])), row["modality"])) in sides:
            run = row["run_id"] if lines[0] == lines[1] else ""
            sides[term][run, row["task"], row["trial"]] = row["run_id"], row["attempt_id"]
    shared = [key for key in sides[plainer] if key in sides[asked]]
    found = []
    for figure in FIGURES:
        pairs = []
        for key in shared:
            both = [_value(values, said, sides[at][key], figure) for at in (asked, plainer)]
            if both[0] is not None and both[1] is not None:
                pairs.append((both[0], both[1], key[1]))
        if not pairs:
            continue
        high, plain, tasks = zip(*pairs, strict=True)
        bounds = None if figure == "turns" else (-1.0, 1.0)
        gap = paired_difference(high, plain, tasks, seed=_SEED, resamples=RESAMPLES, level=level, bounds=bounds)
        found.append(
            PairedEffect(
                figure, sum(plain) / len(plain), sum(high) / len(high), gap.difference, gap.low, gap.high, gap.n,
                gap.clusters,
            )
        )  # fmt: skip
    return found


def _value(
    values: Mapping[tuple[str, str, str], float],
    said: Mapping[tuple[str, str], Sequence[str]],
    attempt: tuple[str, str],
    figure: str,
) -> float | None:
    if figure != "adapted":
        return values.get((*attempt, figure))
    manner = adaptations.describe(said.get(attempt, ()))
    return None if manner is None else manner.adapted
