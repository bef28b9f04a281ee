"""Questions about single records: what a customer bought, new cases, broken rules, knowledge articles."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import numpy as np
import polars as pl

from cxlab.benchmarks.crmarena.generation.records import issue_id, list_articles
from cxlab.benchmarks.crmarena.organisation.incoming import NewCase
from cxlab.benchmarks.crmarena.questions import windows
from cxlab.benchmarks.crmarena.questions.question import Question, Source, count_unanswerable, pick
from cxlab.benchmarks.crmarena.questions.windows import Window
from cxlab.benchmarks.crmarena.questions.wording import Meaning, fill, load_wordings

# So many of the questions about a purchase name the variant although the kind would do.
WITH_VARIANT = 0.25


class NamedEntities:
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
        self.products = {product.id: product for product in source.entities.products}
        self.contacts = dict(source.tables["Contact"].select("AccountId", "Id").iter_rows())
        self.kinds = sorted({product.kind for product in source.entities.products})

    def draw(self, rng: np.random.Generator, answerable: bool) -> Question | None:
        """Which of the products bought some time ago is meant, or that there is none."""
        account, day = pick(self.days, rng)
        period = ("day", "week", "month", "quarter")[int(rng.integers(4))]
        count = int(rng.integers(*{"day": (2, 20), "week": (1, 11), "month": (1, 11), "quarter": (1, 5)}[period]))
        today = windows.back(day, period, -count)
        if windows.back(today, period, count) != day or today > self.source.end:
            return None
        kinds = Counter(self.products[product].kind for product in self.bought[account, day])
        if answerable:
            meant = self.products[pick(self.bought[account, day], rng)]
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
                kind = pick(self.kinds, rng)
                if kind in kinds:
                    return None
            else:
                kind = pick(sorted(kinds), rng)
                today += timedelta(days=int(rng.integers(1, 6)))
                if today > self.source.end or (account, windows.back(today, period, count)) in self.bought:
                    return None
            answers = ()
        window = Window(period=period, count=count)
        words = kind + "s" * (self.source.entities.company.catalogue.plural and not kind.endswith("s"))
        return Question(
            task="named_entity_disambiguation",
            seed=load_wordings().of_task("named_entity_disambiguation")[0],
            slots={"words": words, "ago": pick(_say_ago(window), rng)},
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


def draw_routings(source: Source, count: int, rng: np.random.Generator) -> list[Question]:
    """New cases of a product that somebody bought; that one agent is the right one is for the solver to say."""
    issues = {issue.name: issue_id(n) for n, issue in enumerate(source.entities.company.profile.issues)}
    seed = load_wordings().of_task("case_routing")[0]
    orders = source.tables["Order"].filter(pl.col("Status") == "Activated")
    whose = dict(orders.select("Id", "AccountId").iter_rows())
    items = [row for row in source.tables["OrderItem"].select("OrderId", "Product2Id").iter_rows() if row[0] in whose]
    emails = dict(source.tables["Account"].select("Id", "PersonEmail").iter_rows())
    products = {product.id: product for product in source.entities.products}
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
            "product": source.entities.name_product(products[product]),
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


def draw_violations(source: Source, count: int, rng: np.random.Generator) -> list[Question]:
    """Cases in which a rule was broken, and some in which none was."""
    hidden = source.tables["latent_cases"].select("case_id", "breach", "article_id")
    without = count_unanswerable("policy_violation_identification", count)
    policies = {policy.id: policy for policy in source.entities.company.profile.conduct_policies}
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


def draw_knowledge(source: Source, count: int, rng: np.random.Generator) -> list[Question]:
    """The articles' own questions."""
    asked = [
        (article_id, question)
        for article_id, article in list_articles(source.entities.company).items()
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
