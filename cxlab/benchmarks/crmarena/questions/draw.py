"""Which questions are asked: windows, products, customers and cases for which one makes sense and has one answer.

Of five tasks 30 % have none: nobody had so many cases, nothing was handed over, no case of the product, no such order,
no rule broken. What is nearly level, or ambiguous, is left out.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation.latent import START, rng_for
from cxlab.benchmarks.crmarena.generation.records import Cast, issue_id, list_articles
from cxlab.benchmarks.crmarena.organisation.incoming import NewCase
from cxlab.benchmarks.crmarena.questions import windows
from cxlab.benchmarks.crmarena.questions.truth import Ranking, Truth
from cxlab.benchmarks.crmarena.questions.windows import Window
from cxlab.benchmarks.crmarena.questions.wording import Meaning, Seed, fill, load_wordings
from cxlab.benchmarks.crmarena.tasks import MONTHS, TASKS

UNANSWERABLE = 0.3
# Values nearer to each other than this share are nearly level: no question is asked about them.
NEARLY_LEVEL = 0.05
# One answer is that of at most this share of a task's questions, so that always giving it is worth little.
MOST_OF_ONE = 0.15
TRIES_A_QUESTION = 400
# So many of the questions about a purchase name the variant although the kind would do.
WITH_VARIANT = 0.25


@dataclass(frozen=True)
class Question:
    """One question. `slots` fill its seed's wordings, `plain` is one without a seed; `meaning` is what other words must
    keep. `arguments` are the solver's. `answers` are those that follow from how it was drawn, None where only the
    solver tells. `hidden` is kept with the sample's gold. `block` stands below the question as it is.
    """

    task: str
    seed: Seed | None
    slots: Mapping[str, str]
    meaning: Meaning
    arguments: Mapping[str, Any]
    answerable: bool
    today: date | None = None
    contact_id: str | None = None
    case_id: str | None = None
    answers: tuple[str, ...] | None = None
    hidden: Mapping[str, Any] = field(default_factory=dict)
    block: str = ""
    plain: str = ""

    def word(self, number: int) -> str:
        """The question in the wording of that number, counted round."""
        if self.seed is None:
            return self.plain
        return fill(self.seed.wordings[number % len(self.seed.wordings)], dict(self.slots))

    @property
    def key(self) -> tuple[Any, ...]:
        """What no two questions have in common."""
        return (
            self.task,
            self.plain,
            self.today if self.task != "case_routing" else None,
            repr(sorted(self.arguments.items())),
            self.case_id,
        )


@dataclass(frozen=True)
class Source:
    """What questions are drawn from."""

    cast: Cast
    truth: Truth
    tables: Mapping[str, pl.DataFrame]
    incoming: Sequence[NewCase]
    end: date
    seed: int


Draw = Callable[[np.random.Generator, bool], Question | None]


def draw_questions(source: Source, count: int) -> dict[str, list[Question]]:
    """Up to `count` questions a task, fewer where no more of them make sense."""
    drawers: dict[str, Draw] = {
        "handle_time": functools.partial(_draw_agent, source, "handle_time"),
        "transfer_count": functools.partial(_draw_agent, source, "transfer_count"),
        "top_issue_identification": functools.partial(_draw_top_issue, source, _weigh_products(source)),
        "monthly_trend_analysis": functools.partial(_draw_month, source, _weigh_products(source)),
        "best_region_identification": functools.partial(_draw_state, source),
        "named_entity_disambiguation": _NamedEntities(source).draw,
    }
    found = {}
    for task in TASKS:
        rng = rng_for(source.seed, f"questions {task}")
        if task in drawers:
            # Some purchases are not decided by what a customer bought, as a reader says: more are drawn.
            more = round(1.2 * count) if task == "named_entity_disambiguation" else count
            found[task] = _draw_many(drawers[task], task, more, rng)
        elif task == "case_routing":
            found[task] = _draw_routings(source, count, rng)
        elif task == "policy_violation_identification":
            found[task] = _draw_violations(source, count, rng)
        else:
            found[task] = _draw_knowledge(source, count, rng)
    return found


def count_unanswerable(task: str, count: int) -> int:
    """How many of a task's questions have no answer."""
    return round(UNANSWERABLE * count) if TASKS[task].unanswerable else 0


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


# --- agents, products and states in a window


def _draw_agent(source: Source, task: str, rng: np.random.Generator, answerable: bool) -> Question | None:
    seed = _pick(load_wordings().of_task(task), rng)
    window, today = _draw_window(source, seed, rng, {"week": (2, 8), "month": (1, 12), "quarter": (1, 6)})
    start, end = window.bounds(today)
    handled = source.truth.count_handled(start, end)
    if not handled:
        return None
    extreme = ("min", "max")[int(rng.integers(2))]
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
    words = load_wordings().extremes[extreme]  # type: ignore[index]
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


def _weigh_products(source: Source) -> tuple[list[str], np.ndarray]:
    """Products that have cases, and how often each is asked about."""
    products, counts = np.unique(source.truth.product.astype(str), return_counts=True)
    return products.tolist(), counts / counts.sum()


def _draw_top_issue(
    source: Source, weighed: tuple[list[str], np.ndarray], rng: np.random.Generator, answerable: bool
) -> Question | None:
    seed = _pick(load_wordings().of_task("top_issue_identification"), rng)
    product = weighed[0][int(rng.choice(len(weighed[0]), p=weighed[1]))]
    window, today = _draw_window(source, seed, rng, {"week": (4, 10), "month": (2, 18), "quarter": (1, 8)})
    ranking = source.truth.rank_issues(product, *window.bounds(today))
    if answerable and (not _is_clear(ranking) or ranking.values[0] < 2):
        return None
    if not answerable and ranking.names:
        return None
    return _ask_product("top_issue_identification", source, seed, product, window, today, ranking.answers, rng)


def _draw_month(
    source: Source, weighed: tuple[list[str], np.ndarray], rng: np.random.Generator, answerable: bool
) -> Question | None:
    seed = _pick(load_wordings().of_task("monthly_trend_analysis"), rng)
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
    name = next(each.name for each in source.cast.products if each.id == product)
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


def _draw_state(source: Source, rng: np.random.Generator, answerable: bool) -> Question | None:
    seed = _pick(load_wordings().of_task("best_region_identification"), rng)
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


def _is_clear(ranking: Ranking) -> bool:
    return bool(ranking.names) and len(ranking.answers) == 1 and ranking.margin >= NEARLY_LEVEL


def _say(window: Window, rng: np.random.Generator) -> str:
    phrases = window.phrases()
    return phrases[int(rng.integers(len(phrases)))]


def _pick(things: Sequence[Any], rng: np.random.Generator) -> Any:
    return things[int(rng.integers(len(things)))]


# --- what a customer bought


class _NamedEntities:
    """Orders by customer and day, for questions about what was bought some time ago."""

    def __init__(self, source: Source) -> None:
        self.source = source
        orders = (
            source.tables["Order"].filter(pl.col("Status") == "Activated").select("Id", "AccountId", "EffectiveDate")
        )
        items = source.tables["OrderItem"].select(Id="OrderId", product="Product2Id")
        rows = orders.join(items, on="Id", maintain_order="left").rows()
        self.bought: dict[tuple[str, date], list[str]] = {}
        for _, account, day, product in rows:
            self.bought.setdefault((account, day), []).append(product)
        self.days = sorted(self.bought)
        self.products = {product.id: product for product in source.cast.products}
        self.contacts = dict(source.tables["Contact"].select("AccountId", "Id").iter_rows())
        self.kinds = sorted({product.kind for product in source.cast.products})

    def draw(self, rng: np.random.Generator, answerable: bool) -> Question | None:
        account, day = _pick(self.days, rng)
        period = ("day", "week", "month", "quarter")[int(rng.integers(4))]
        count = int(rng.integers(*{"day": (2, 20), "week": (1, 11), "month": (1, 11), "quarter": (1, 5)}[period]))
        today = windows.back(day, period, -count)
        if windows.back(today, period, count) != day or today > self.source.end:
            return None
        kinds = Counter(self.products[product].kind for product in self.bought[account, day])
        if answerable:
            meant = self.products[_pick(self.bought[account, day], rng)]
            kind, variant = meant.kind, meant.variant
            # What is told apart by its variant alone is asked for with it, and some others are, too.
            if kinds[kind] > 1 or rng.random() < WITH_VARIANT:
                same = [p for p in self.bought[account, day] if self.products[p].kind == kind]
                if sum(self.products[p].variant == variant for p in same) > 1 or " and " in variant:
                    return None
                kind = f"{variant} {kind}"
            answers: tuple[str, ...] = (meant.id,)
        else:
            # Sometimes the day is wrong, sometimes the kind is.
            if rng.random() < 0.5:
                kind = _pick(self.kinds, rng)
                if kind in kinds:
                    return None
            else:
                kind = _pick(sorted(kinds), rng)
                today += timedelta(days=int(rng.integers(1, 6)))
                if today > self.source.end or (account, windows.back(today, period, count)) in self.bought:
                    return None
            answers = ()
        window = Window(period=period, count=count)
        words = kind + "s" * (self.source.cast.company.catalogue.plural and not kind.endswith("s"))
        return Question(
            task="named_entity_disambiguation",
            seed=load_wordings().of_task("named_entity_disambiguation")[0],
            slots={"words": words, "ago": _pick(_say_ago(window), rng)},
            meaning=Meaning(names=(words,), window=window),
            arguments={"contact_id": self.contacts[account], "words": kind, "period": period, "count": count},
            answerable=answerable,
            today=today,
            contact_id=self.contacts[account],
            answers=answers,
        )


def _say_ago(window: Window) -> list[str]:
    if window.count == 1:
        return [f"one {window.period} ago", f"1 {window.period} ago"]
    return [f"{window.count} {window.period}s ago", f"{windows.NUMBERS[window.count]} {window.period}s ago"]


# --- new cases, broken rules, knowledge


def _draw_routings(source: Source, count: int, rng: np.random.Generator) -> list[Question]:
    """New cases of a product that somebody bought; that one agent is the right one is for the solver to say."""
    issues = {issue.name: issue_id(n) for n, issue in enumerate(source.cast.company.profile.issues)}
    seed = load_wordings().of_task("case_routing")[0]
    orders = source.tables["Order"].filter(pl.col("Status") == "Activated")
    whose = dict(orders.select("Id", "AccountId").iter_rows())
    items = [row for row in source.tables["OrderItem"].select("OrderId", "Product2Id").iter_rows() if row[0] in whose]
    emails = dict(source.tables["Account"].select("Id", "PersonEmail").iter_rows())
    products = {product.id: product for product in source.cast.products}
    made: list[Question] = []
    cases: list[NewCase] = []
    seen = set()
    # Twice as many as wanted: where two agents are level to the end, the question is left out.
    for _ in range(20 * count):
        if len(made) == 2 * count:
            break
        if not cases:
            cases = [source.incoming[place] for place in rng.permutation(len(source.incoming))]
        case = cases.pop()
        order, product = items[int(rng.integers(len(items)))]
        if (case.subject, product) in seen:
            continue
        seen.add((case.subject, product))
        slots = {
            "product": source.cast.name_product(products[product]),
            "order": order,
            "email": emails[whose[order]],
        }
        block = f"Subject: {case.subject} ({products[product].name})\nDescription: {fill(case.description, slots)}"
        made.append(
            Question(
                task="case_routing",
                seed=seed,
                slots={},
                meaning=Meaning(),
                arguments={"issue_id": issues[case.issue], "product_id": product},
                answerable=True,
                block=block,
            )
        )
    return made


def _draw_violations(source: Source, count: int, rng: np.random.Generator) -> list[Question]:
    hidden = source.tables["latent_cases"].select("case_id", "breach", "article_id")
    without = count_unanswerable("policy_violation_identification", count)
    policies = {policy.id: policy for policy in source.cast.company.profile.conduct_policies}
    seed = load_wordings().of_task("policy_violation_identification")[0]
    # A case that nobody has looked at yet shows nobody's conduct.
    looked = set(source.tables["Case"].filter(pl.col("Status") != "New")["Id"])
    rows = [row for row in hidden.iter_rows() if row[0] in looked]
    made = []
    for answerable, wanted in ((True, count - without), (False, without)):
        fitting = [row for row in rows if (row[1] is not None) == answerable]
        for place in rng.permutation(len(fitting))[:wanted].tolist():
            case, breach, article = fitting[place]
            rule = policies.get(breach or "")
            made.append(
                Question(
                    task="policy_violation_identification",
                    seed=seed,
                    slots={},
                    meaning=Meaning(),
                    arguments={},
                    answerable=answerable,
                    case_id=case,
                    answers=(article,) if answerable else (),
                    hidden={"article_id": article, "rule": rule.rule, "breach": rule.breach} if rule else {},
                )
            )
    return [made[place] for place in rng.permutation(len(made))]


def _draw_knowledge(source: Source, count: int, rng: np.random.Generator) -> list[Question]:
    asked = [
        (article_id, question)
        for article_id, article in list_articles(source.cast.company).items()
        for question in article.questions
    ]
    return [
        Question(
            task="knowledge_qa",
            seed=None,
            slots={},
            meaning=Meaning(),
            arguments={},
            answerable=True,
            plain=asked[place][1].ask,
            answers=(asked[place][1].answer,),
            hidden={"article_id": asked[place][0]},
        )
        for place in rng.permutation(len(asked))[:count].tolist()
    ]
