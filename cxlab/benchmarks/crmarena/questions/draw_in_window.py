"""Questions about a stretch of time: agents, issues and months of a product, states."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal

import numpy as np

from cxlab.benchmarks.crmarena.generation.latent import START
from cxlab.benchmarks.crmarena.questions import windows
from cxlab.benchmarks.crmarena.questions.question import Question, Source, pick
from cxlab.benchmarks.crmarena.questions.truth import CandidateRanking
from cxlab.benchmarks.crmarena.questions.windows import Window
from cxlab.benchmarks.crmarena.questions.wording import Meaning, Seed, load_wordings
from cxlab.benchmarks.crmarena.tasks import MONTHS

# Values nearer to each other than this share are nearly level: no question is asked about them.
NEARLY_LEVEL = 0.05


def draw_agent(source: Source, task: str, rng: np.random.Generator, answerable: bool) -> Question | None:
    """Who of those with more than some cases took longest or shortest, or gave away most or fewest."""
    seed = pick(load_wordings().of_task(task), rng)
    window, today = _draw_window(source, seed, rng, {"week": (2, 8), "month": (1, 12), "quarter": (1, 6)})
    start, end = window.bounds(today)
    handled = source.truth.count_handled(start, end)
    if not handled:
        return None
    extreme: Literal["min", "max"] = "max" if rng.integers(2) else "min"
    counts = sorted(handled.values())
    idle = False
    if answerable:
        if len(counts) < 2 or counts[-2] < 2:
            return None
        # At least two agents have more than that.
        more_than = int(rng.integers(1, counts[-2]))
    else:
        idle = task == "transfer_count" and rng.random() < 0.5
        more_than = int(rng.integers(1, max(counts[-1], 2))) if idle else counts[-1] + int(rng.integers(0, 3))
        extreme = "max" if idle else extreme
    rank = source.truth.rank_handle_times if task == "handle_time" else source.truth.rank_transfers
    ranking = rank(start, end, more_than, extreme)
    if answerable and (len(ranking.names) < 2 or not _is_clear(ranking)):
        return None
    if not answerable and ranking.names:
        return None
    if idle and not any(count > more_than for count in handled.values()):
        return None
    words = load_wordings().extremes[extreme]
    return Question(
        task=task,
        seed=seed,
        slots={"window": _say(window, rng), "n": str(more_than), **words},
        meaning=Meaning(window=window, more_than=more_than, extreme=extreme),
        arguments={"window": window.argument, "more_than": more_than, "extreme": extreme},
        answerable=answerable,
        today=today,
        answers=ranking.answers,
    )


def weigh_products(source: Source) -> tuple[list[str], np.ndarray]:
    """Products that have cases, and how often each is asked about."""
    products, counts = np.unique(source.truth.product.astype(str), return_counts=True)
    return products.tolist(), counts / counts.sum()


def draw_top_issue(
    source: Source, weighed: tuple[list[str], np.ndarray], rng: np.random.Generator, answerable: bool
) -> Question | None:
    """Which issue a product has most."""
    seed = pick(load_wordings().of_task("top_issue_identification"), rng)
    product = weighed[0][int(rng.choice(len(weighed[0]), p=weighed[1]))]
    window, today = _draw_window(source, seed, rng, {"week": (4, 10), "month": (2, 18), "quarter": (1, 8)})
    ranking = source.truth.rank_issues(product, *window.bounds(today))
    if answerable and (not _is_clear(ranking) or ranking.values[0] < 2):
        return None
    if not answerable and ranking.names:
        return None
    return _ask_product("top_issue_identification", source, seed, product, window, today, ranking.answers, rng)


def draw_month(
    source: Source, weighed: tuple[list[str], np.ndarray], rng: np.random.Generator, answerable: bool
) -> Question | None:
    """In which month most cases of a product came."""
    seed = pick(load_wordings().of_task("monthly_trend_analysis"), rng)
    product = weighed[0][int(rng.choice(len(weighed[0]), p=weighed[1]))]
    # Less than a year: no month comes twice.
    window, today = _draw_window(source, seed, rng, {"month": (3, 10), "quarter": (1, 3)})
    ranking = source.truth.rank_months(product, *window.bounds(today))
    if not _is_clear(ranking) or ranking.values[0] < 2:
        return None
    answers = tuple(MONTHS[int(month) % 12] for month in ranking.answers)
    return _ask_product("monthly_trend_analysis", source, seed, product, window, today, answers, rng)


def _ask_product(
    task: str,
    source: Source,
    seed: Seed,
    product: str,
    window: Window,
    today: date,
    answers: tuple[str, ...],
    rng: np.random.Generator,
) -> Question:
    name = next(each.name for each in source.entities.products if each.id == product)
    return Question(
        task=task,
        seed=seed,
        slots={"window": _say(window, rng), "product": name},
        meaning=Meaning(names=(name,), window=window),
        arguments={"product_id": product, "window": window.argument},
        answerable=bool(answers),
        today=today,
        answers=answers,
        block=f"The product's Id is {product}.",
    )


def draw_state(source: Source, rng: np.random.Generator, answerable: bool) -> Question | None:
    """In which state cases are closed fastest."""
    seed = pick(load_wordings().of_task("best_region_identification"), rng)
    window, today = _draw_window(source, seed, rng, {"week": (3, 10), "month": (1, 12), "quarter": (1, 6)})
    ranking = source.truth.rank_states(*window.bounds(today))
    if len(ranking.names) < 3 or not _is_clear(ranking):
        return None
    return Question(
        task="best_region_identification",
        seed=seed,
        slots={"window": _say(window, rng)},
        meaning=Meaning(window=window, extreme="min"),
        arguments={"window": window.argument},
        answerable=True,
        today=today,
        answers=ranking.answers,
    )


def _draw_window(
    source: Source, seed: Seed, rng: np.random.Generator, periods: dict[str, tuple[int, int]]
) -> tuple[Window, date]:
    """A window in the time of the organisation, and a day on which one may ask about it."""
    if seed.window == "named":
        window = windows.draw_named(rng, START, source.end, ("month", "quarter", "season"))
        after = window.bounds(source.end)[1].date()
        # Asked within a year after it.
        return window, after + timedelta(days=int(rng.integers(0, min((source.end - after).days, 365) + 1)))
    while True:
        window = windows.draw_past(rng, periods)
        first = windows.back(START, window.period, -window.count)
        if first <= source.end:
            return window, first + timedelta(days=int(rng.integers(0, (source.end - first).days + 1)))


def _is_clear(ranking: CandidateRanking) -> bool:
    return bool(ranking.names) and len(ranking.answers) == 1 and ranking.margin >= NEARLY_LEVEL


def _say(window: Window, rng: np.random.Generator) -> str:
    phrases = window.phrases()
    return phrases[int(rng.integers(len(phrases)))]
