"""Models that ran in several benchmarks: where each of them leads, and whether that is sure. No mean over benchmarks is
made, as a point of one is not a point of another."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cxlab.read.comparison.ranking import Ranking
from cxlab.read.comparison.words import leads

STANDINGS = ("leads", "ahead", "first", "tied", "level", "behind")
"""Ahead of all others for sure; the same, but no better than a constant agent; first, but not for sure; first, as
others are; not behind the first for sure; behind it for sure."""


@dataclass(frozen=True)
class CrossBenchmarkStanding:
    """`models`, those that lead in most tasks first; `standing[model][benchmark]`: in how many of a benchmark's `tasks`
    it stands how, by STANDINGS. `undecided`: tasks in which nobody is ahead of all others for sure; `below`: those in
    which whoever is does no better than a constant agent."""

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    tasks: Mapping[str, int]
    standing: Mapping[str, Mapping[str, Mapping[str, int]]]
    undecided: int
    below: int

    def count(self, model: str, standing: str) -> int:
        """In how many tasks of all benchmarks a model stands so."""
        return sum(own[standing] for own in self.standing[model].values())


def stand_across(rankings: Mapping[str, Sequence[Ranking]]) -> CrossBenchmarkStanding | None:
    """How the models that were ranked in two benchmarks or more stand; None where there are no two such models."""
    ranked = {name: [each for each in found if each.table.height > 1] for name, found in rankings.items()}
    ran: dict[str, dict[str, Counter[str]]] = {}
    for name, found in ranked.items():
        for each in found:
            for side in each.table["side"]:
                ran.setdefault(side, {}).setdefault(name, Counter())[_stand(each, side)] += 1
    shared = {model: own for model, own in ran.items() if len(own) > 1}
    if len(shared) < 2:
        return None
    names = tuple(name for name in ranked if any(name in own for own in shared.values()))
    found = [each for name in names for each in ranked[name]]

    def order(model: str) -> tuple[int, int, str]:
        counts = [sum(own[standing] for own in shared[model].values()) for standing in ("leads", "first")]
        return -counts[0], -counts[1], model

    return CrossBenchmarkStanding(
        tuple(sorted(shared, key=order)), names, {name: len(ranked[name]) for name in names}, shared,
        sum(not each.decided for each in found), sum(each.decided and not leads(each) for each in found),
    )  # fmt: skip


def _stand(found: Ranking, side: str) -> str:
    if found.decided and side == found.leader:
        return "leads" if leads(found) else "ahead"
    first = round(float(found.table["value"][0]), 1)
    values = zip(found.table["side"], found.table["value"], strict=True)
    level = [each for each, value in values if round(value, 1) == first]
    if side in level:
        return "tied" if len(level) > 1 else "first"
    return "level" if side in found.open else "behind"
