"""Which questions are asked: windows, products, customers and cases for which one makes sense and has one answer.

Of five tasks 30 % have none: nobody had so many cases, nothing was handed over, no case of the product, no such order,
no rule broken. What is nearly level, or ambiguous, is left out.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from cxlab.benchmarks.crmarena.generation.latent import rng_for
from cxlab.benchmarks.crmarena.questions.draw_from_records import (
    NamedEntities,
    draw_knowledge,
    draw_routings,
    draw_violations,
)
from cxlab.benchmarks.crmarena.questions.draw_in_window import (
    draw_agent,
    draw_month,
    draw_state,
    draw_top_issue,
    weigh_products,
)
from cxlab.benchmarks.crmarena.questions.question import Question, Source, count_unanswerable
from cxlab.benchmarks.crmarena.tasks import TASKS

# One answer is that of at most this share of a task's questions, so that always giving it is worth little.
MOST_OF_ONE = 0.15
TRIES_A_QUESTION = 400

Draw = Callable[[np.random.Generator, bool], Question | None]


def draw_questions(source: Source, count: int) -> dict[str, list[Question]]:
    """Up to `count` questions a task, fewer where no more of them make sense."""
    drawers: dict[str, Draw] = {
        "handle_time": functools.partial(draw_agent, source, "handle_time"),
        "transfer_count": functools.partial(draw_agent, source, "transfer_count"),
        "top_issue_identification": functools.partial(draw_top_issue, source, weigh_products(source)),
        "monthly_trend_analysis": functools.partial(draw_month, source, weigh_products(source)),
        "best_region_identification": functools.partial(draw_state, source),
        "named_entity_disambiguation": NamedEntities(source).draw,
    }
    found = {}
    for task in TASKS:
        rng = rng_for(source.seed, f"questions {task}")
        if task in drawers:
            # Some purchases are not decided by what a customer bought, as a reader says: more are drawn.
            more = round(1.2 * count) if task == "named_entity_disambiguation" else count
            found[task] = _draw_many(drawers[task], task, more, rng)
        elif task == "case_routing":
            found[task] = draw_routings(source, count, rng)
        elif task == "policy_violation_identification":
            found[task] = draw_violations(source, count, rng)
        else:
            found[task] = draw_knowledge(source, count, rng)
    return found


def _draw_many(draw: Draw, task: str, count: int, rng: np.random.Generator) -> list[Question]:
    without = count_unanswerable(task, count)
    made: list[Question] = []
    seen: set[tuple[Any, ...]] = set()
    for answerable, wanted in ((True, count - without), (False, without)):
        given = Counter[str]()
        most = max(round(MOST_OF_ONE * wanted), 2)
        kept = 0
        for _ in range(TRIES_A_QUESTION * wanted):
            if kept == wanted:
                break
            one = draw(rng, answerable)
            if one is None or one.key in seen:
                continue
            if one.answers and given[one.answers[0]] >= most:
                continue
            if one.answers:
                given[one.answers[0]] += 1
            seen.add(one.key)
            made.append(one)
            kept += 1
    return [made[place] for place in rng.permutation(len(made))]
