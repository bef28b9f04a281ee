"""Which dialogues are written as training data, with what benchmarks declare of headlines and constant agents."""

import math

from cxlab.benchmarks import REGISTRY
from cxlab.errors import BadOption
from cxlab.store.exports.chat_export import ChatFilter


def filter_chat(
    runs: tuple[str, ...] = (),
    *,
    models: tuple[str, ...] = (),
    passed: bool = False,
    min_score: float | None = None,
    floors: bool = True,
    simulated: bool = True,
    own_data: bool = False,
) -> ChatFilter:
    """A filter of dialogues; without `floors` constant agents stay out. Raises BadOption for a score that is none."""
    if min_score is not None and not math.isfinite(min_score):
        raise BadOption(f"--min-score {min_score}: give a number on the scale of the headline")
    known = [REGISTRY[name] for name in REGISTRY]
    return ChatFilter(
        runs=runs,
        models=models,
        passed=passed,
        min_score=min_score,
        left_out=() if floors else tuple(floor.model for each in known for floor in each.floors),
        simulated=simulated,
        own_data=own_data,
        headlines={
            (each.card.id, task.id): (task.metric, task.higher_is_better) for each in known for task in each.card.tasks
        },
    )
