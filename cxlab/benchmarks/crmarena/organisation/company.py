"""Who a company is: its profile, catalogue and knowledge articles, read from a folder and checked against each other.

    load_default() -> Company     # data/crmarena/shoes
    load(folder) -> Company       # company.yaml, catalogue.yaml, knowledge/*.md; BadFile for the first fault

What happens in the company (orders, cases, transfers, times) is not here: it is drawn from latent variables.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from cxlab import resources
from cxlab.benchmarks.crmarena.tasks import Persona
from cxlab.errors import BadFile
from cxlab.files import load_model, parse_yaml, read_text

FORM = "see data/crmarena/shoes for the form"
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Key = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(_[a-z0-9]+)*$")]

_UNITS = r"business days?|days?|hours?|minutes?|weeks?|months?|years?|points?|photos?|instalments?|lines?"
_AMOUNT = re.compile(rf"(\$?\d[\d,]*(?:\.\d+)?%?)(?: ({_UNITS})\b)?")
_STEP = re.compile(r"^\d+\. ", re.MULTILINE)
_CAPITALISED = re.compile(r"\b[A-Z][\w-]+")
# What stands before a capital that only begins a sentence, a quotation or a step.
_BEGINNING = re.compile(r"(?:^|[.?!:\n] *|[\"“(]|\n\d+\. )$")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Warehouse(_Strict):
    """Where parcels leave; `state` is the two-letter code."""

    name: Text
    state: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]


class Region(_Strict):
    """A state that is shipped to; `delivery` in business days by standard shipping."""

    state: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    name: Text
    ships_from: Text
    delivery: Annotated[int, Field(ge=1, le=30)]
    cities: Annotated[tuple[Text, ...], Field(min_length=1)]


class Term(_Strict):
    """A price or period by which the company goes: its value as it is written, and what it is."""

    value: Text
    says: Text


class Issue(_Strict):
    """A kind of trouble that cases are about; `befalls` names product categories, or all of them."""

    name: Text
    description: Text
    cause: Text
    customer_says: Text
    befalls: tuple[Text, ...] | Literal["all"]


class Role(_Strict):
    """What the people do who ask the tasks of one persona."""

    persona: Persona
    name: Text
    does: Text


class ConductPolicy(_Strict):
    """A rule that an agent can break in an e-mail or chat, and the knowledge article that states it.

    `breach` is what an agent does who breaks it; `issues` are those in whose cases it comes up.
    """

    id: Slug
    article: Slug
    rule: Text
    breach: Text
    terms: tuple[Key, ...]
    issues: Annotated[tuple[Text, ...], Field(min_length=1)]


class TaskPolicies(_Strict):
    """The policies that are given with a task, in words; the tools with `compat="policy"` compute the same."""

    case_routing: Text
    handle_time: Text
    transfer_count: Text


class Profile(_Strict):
    """The file company.yaml."""

    id: Slug
    name: Text
    short_name: Text
    industry: Text
    description: Text
    currency: Literal["USD"]
    support_email: Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.example$")]
    warehouses: Annotated[tuple[Warehouse, ...], Field(min_length=1)]
    regions: Annotated[tuple[Region, ...], Field(min_length=2)]
    categories: Annotated[tuple[Text, ...], Field(min_length=1)]
    terms: dict[Key, Term]
    issues: Annotated[tuple[Issue, ...], Field(min_length=2)]
    task_policies: TaskPolicies
    roles: Annotated[tuple[Role, ...], Field(min_length=1)]
    conduct_policies: Annotated[tuple[ConductPolicy, ...], Field(min_length=1)]


class ExtraForm(_Strict):
    """A form in which a model of the catalogue comes besides, and what it adds to the price."""

    name: Text
    adds: Annotated[float, Field(ge=0, le=100_000)]


class Model(_Strict):
    """A model of the catalogue. Each variant for each audience is a product; `kind` is what customers call it.

    `price` in the company's currency; `extra` makes each of these products come in one more form.
    """

    name: Text
    kind: Text
    categories: Annotated[tuple[Text, ...], Field(min_length=1)]
    price: Annotated[float, Field(gt=0, le=100_000)]
    audiences: Annotated[tuple[Text, ...], Field(min_length=1)]
    variants: Annotated[tuple[Text, ...], Field(min_length=1)]
    extra: ExtraForm | None = None
    about: Text


class Catalogue(_Strict):
    """The file catalogue.yaml; `plural`: whether people speak of one product in the plural, as of shoes."""

    plural: bool = False
    models: Annotated[tuple[Model, ...], Field(min_length=1)]


class Question(_Strict):
    """A question that an article answers; the answer is a piece of its text."""

    ask: Text
    answer: Text


class Article(_Strict):
    """A knowledge article: `helps` says when it is the right one, `terms` which prices and periods its body names."""

    slug: Slug
    title: Text
    helps: Text
    topic: Literal["returns", "fit", "payment", "warranty", "conduct", "club", "orders", "delivery", "stock", "care"]
    terms: tuple[Key, ...]
    questions: Annotated[tuple[Question, ...], Field(min_length=1)]
    body: Text


@dataclass(frozen=True)
class Company:
    """A whole company: profile, catalogue, articles by their slug."""

    profile: Profile
    catalogue: Catalogue
    articles: dict[str, Article]


@functools.cache
def load_default() -> Company:
    """The company that comes with the product: a maker and seller of shoes."""
    return load(resources.data("crmarena", "shoes"))


def load(folder: Path) -> Company:
    """The company of a folder; BadFile names the first file that is wrong or does not fit the others."""
    profile = load_model(folder / "company.yaml", Profile, FORM)
    catalogue = load_model(folder / "catalogue.yaml", Catalogue, FORM)
    articles = {path.stem: read_article(path) for path in sorted(folder.glob("knowledge/*.md"))}
    company = Company(profile, catalogue, articles)
    for name, problem in find_faults(company):
        raise BadFile(folder / name, None, problem, FORM)
    return company


def read_article(path: Path) -> Article:
    """A knowledge article: YAML between two lines of ---, then Markdown."""
    parts = read_text(path).split("---\n", 2)
    if len(parts) != 3 or parts[0]:
        raise BadFile(path, 1, "an article begins with its title and terms between two lines of ---", FORM)
    head = parse_yaml("\n" + parts[1], path)  # the empty line keeps the file's line numbers
    if not isinstance(head, dict):
        raise BadFile(path, 2, "the head of the article is not a mapping", "begin with title: …")
    try:
        return Article.model_validate({**head, "slug": path.stem, "body": parts[2]})
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise BadFile(path, None, f"{'.'.join(map(str, first['loc']))}: {first['msg']}", FORM) from error


def find_faults(company: Company) -> Iterator[tuple[str, str]]:
    """(file, problem) for each thing in which the files of a company contradict each other or themselves."""
    profile, catalogue = company.profile, company.catalogue
    yield from (("company.yaml", text) for text in find_profile_faults(profile))
    yield from (("catalogue.yaml", text) for text in find_catalogue_faults(catalogue, profile))
    for title in _twice([article.title for article in company.articles.values()]):
        yield "knowledge", f"the title {title!r} is there twice"
    for article in company.articles.values():
        yield from ((f"knowledge/{article.slug}.md", text) for text in find_article_faults(article, profile, catalogue))
    for policy in profile.conduct_policies:
        if policy.article not in company.articles:
            yield "company.yaml", f"there is no article {policy.article!r}"


def find_profile_faults(profile: Profile) -> list[str]:
    """In what a company's profile contradicts itself."""
    names: dict[str, list[str]] = {
        "state": [region.state for region in profile.regions],
        "category": list(profile.categories),
        "issue": [issue.name for issue in profile.issues],
        "policy": [policy.id for policy in profile.conduct_policies],
        "article of a policy": [policy.article for policy in profile.conduct_policies],
    }
    found = [f"{what} {name!r} is there twice" for what, all_names in names.items() for name in _twice(all_names)]
    links: list[tuple[str, Iterable[str], Iterable[str]]] = [
        ("warehouse", [region.ships_from for region in profile.regions], [each.name for each in profile.warehouses]),
        *(("category", issue.befalls, profile.categories) for issue in profile.issues if issue.befalls != "all"),
        *(("term", policy.terms, profile.terms) for policy in profile.conduct_policies),
        *(("issue", policy.issues, names["issue"]) for policy in profile.conduct_policies),
    ]
    for what, used, known in links:
        found += [f"there is no {what} {name!r}" for name in used if name not in known]
    for policy in profile.conduct_policies:
        told = [profile.terms[key].value for key in policy.terms if key in profile.terms]
        found += [f"{policy.id}: {text}" for text in _strangers(policy.rule, told)]
    return found


def find_catalogue_faults(catalogue: Catalogue, profile: Profile) -> list[str]:
    """In what a catalogue contradicts itself or the company's profile."""
    found = [f"model {name!r} is there twice" for name in _twice([model.name for model in catalogue.models])]
    used = dict.fromkeys(name for model in catalogue.models for name in model.categories)
    return found + [f"there is no category {name!r}" for name in used if name not in profile.categories]


def find_article_faults(article: Article, profile: Profile, catalogue: Catalogue) -> Iterator[str]:
    """In what an article contradicts itself, the company's terms and rules, or the names that it has."""
    missing = [key for key in article.terms if key not in profile.terms]
    yield from (f"there is no term {key!r}" for key in missing)
    if missing:
        return  # what follows looks them up
    for policy in profile.conduct_policies:
        if policy.article == article.slug and not set(policy.terms) <= set(article.terms):
            yield f"the rule {policy.id} rests on terms that the article does not list"
    body = _STEP.sub("", article.body)
    told = [profile.terms[key].value for key in article.terms]
    told += [f"${model.price:g}" for model in catalogue.models if model.name in body]
    yield from _strangers(" ".join((article.title, article.helps, body)), told)
    for key in article.terms:
        value = profile.terms[key].value
        if value.lower() not in body.lower():
            yield f"the article lists {key}, but does not say {value!r}"
    plain = " ".join(article.body.split()).lower()
    for question in article.questions:
        if question.answer.lower() not in plain:
            yield f"the answer {question.answer!r} is no piece of the article"
    known = _known_names(profile, catalogue)
    for text in (article.title, article.helps, article.body):
        for found in _CAPITALISED.finditer(text):
            if found.group() not in known and not _BEGINNING.search(text[: found.start()]):
                yield f"{found.group()!r} is no name that the company file or the catalogue knows"


def _strangers(text: str, told: Iterable[str]) -> Iterator[str]:
    """Amounts of a text, with their units, that are none of those told."""
    known = {amount for value in told for amount in _amounts(value)}
    yield from (f"{' '.join(a).strip()!r} is none of the terms listed" for a in _amounts(text) if a not in known)


def _amounts(text: str) -> list[tuple[str, str]]:
    return [(number.rstrip(","), unit.rstrip("s")) for number, unit in _AMOUNT.findall(text)]


def _known_names(profile: Profile, catalogue: Catalogue) -> frozenset[str]:
    """Every capitalised word of profile and catalogue."""
    texts = [profile.model_dump_json(), *(model.name for model in catalogue.models)]
    return frozenset(word for text in texts for word in _CAPITALISED.findall(text))


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
