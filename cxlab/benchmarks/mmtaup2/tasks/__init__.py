"""Tasks: what a customer wants, what solves it, and how a world is marked afterwards."""

from cxlab.benchmarks.mmtaup2.tasks.own_tasks import make
from cxlab.benchmarks.mmtaup2.tasks.task import (
    Basis,
    CustomerKnowledge,
    GoldAction,
    Task,
    begin,
    count_optimal_turns,
    evaluate,
    replay_gold,
    same,
)

__all__ = [
    "Basis",
    "CustomerKnowledge",
    "GoldAction",
    "Task",
    "begin",
    "count_optimal_turns",
    "evaluate",
    "make",
    "replay_gold",
    "same",
]
