"""The default company is whole and free of contradictions; a file that contradicts another is refused by name."""

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from cxlab import resources
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation import talks
from cxlab.benchmarks.crmarena.tasks import QUERIES_PER_TASK, TASKS
from cxlab.errors import BadFile

SHOES = companies.load_default()
BANK = companies.load(resources.data("crmarena", "finance"))
MODELS = SHOES.catalogue.models
PROFILE = SHOES.profile


def test_the_default_company_has_the_sizes_of_the_paper() -> None:
    assert (len(SHOES.articles), len(PROFILE.issues), len(PROFILE.categories)) == (45, 10, 12)
    assert len(MODELS) >= 40


def test_the_bank_has_as_many_articles_and_issues() -> None:
    assert (len(BANK.articles), len(BANK.profile.issues)) == (45, 10)
    told = talks.load(resources.data("crmarena", "finance", "talks.yaml"), BANK)
    issues = {issue.name for issue in BANK.profile.issues}
    for form in ("chat", "email"):
        assert {talk.issue for talk in told if talk.form == form and talk.breaches is None} == issues
    assert {talk.issue for talk in told if talk.breaches} == issues
    assert {talk.breaches for talk in told} - {None} == {policy.id for policy in BANK.profile.conduct_policies}
    assert all(talk.subject for talk in told)


@pytest.mark.parametrize("company", [SHOES, BANK], ids=["shoes", "bank"])
def test_the_articles_hold_enough_questions_for_the_task(company: companies.Company) -> None:
    asked = [question.ask for article in company.articles.values() for question in article.questions]
    assert len(asked) >= QUERIES_PER_TASK
    assert len(set(asked)) == len(asked)


def test_every_task_has_a_role_that_asks_it() -> None:
    assert {role.persona for role in PROFILE.roles} == {task.persona for task in TASKS.values()}


def test_every_issue_has_a_rule_to_break_and_every_category_a_shoe_and_an_issue() -> None:
    assert {name for policy in PROFILE.conduct_policies for name in policy.issues} == {i.name for i in PROFILE.issues}
    assert {name for shoe in MODELS for name in shoe.categories} == set(PROFILE.categories)
    assert all(any(i.befalls != "all" and name in i.befalls for i in PROFILE.issues) for name in ["Boots", "Kids"])


def test_several_shoes_go_by_one_kind_so_that_a_kind_alone_names_none() -> None:
    kinds = Counter(shoe.kind for shoe in MODELS)
    assert sum(count for count in kinds.values() if count > 1) > len(MODELS) / 2


def test_every_term_is_told_in_an_article() -> None:
    told = {key for article in SHOES.articles.values() for key in article.terms}
    assert set(PROFILE.terms) - told == {"founded"}


def test_no_sentence_stands_in_two_articles() -> None:
    sentences = Counter(
        sentence
        for article in SHOES.articles.values()
        for sentence in {s.strip() for s in re.split(r"(?<=[.?!])\s+|\n", article.body)}
        if len(sentence.split()) > 4
    )
    assert [sentence for sentence, count in sentences.items() if count > 1] == []


def spoil(slug: str, old: str, new: str) -> companies.Company:
    article = SHOES.articles[slug]
    assert old in article.body
    return replace(
        SHOES, articles={**SHOES.articles, slug: article.model_copy(update={"body": article.body.replace(old, new)})}
    )


@pytest.mark.parametrize(
    ("slug", "old", "new", "problem"),
    [
        ("cancel-order", "within 2 hours of", "within 3 hours of", "'3 hour' is none of the terms"),
        ("cancel-order", "within 2 hours of", "within 2 days of", "'2 day' is none of the terms"),
        ("goodwill-credit", "up to $20", "up to $50", "'$50' is none of the terms"),
        ("confirmed-discounts", "get 15%", "get 25%", "'25%' is none of the terms"),
        ("delivery-times", "is free from $90", "is free for much", "does not say '$90'"),
        ("resoling", "Foundry Boot", "Timber Boot", "'Timber' is no name"),
        ("washing-shoes", "the Promenade Knit", "the knitted one", "'Promenade Knit' is no piece"),
        ("washing-shoes", "the Promenade Knit", "the Promenade Knit for $88", "'$88' is none of the terms"),
    ],
)
def test_an_article_that_contradicts_the_company_is_named(slug: str, old: str, new: str, problem: str) -> None:
    faults = list(companies.find_faults(spoil(slug, old, new)))
    assert faults
    assert all(file == f"knowledge/{slug}.md" for file, _ in faults)
    assert any(problem in text for _, text in faults)


def test_the_price_of_a_shoe_may_stand_in_an_article_that_names_it() -> None:
    told = spoil("washing-shoes", "the Promenade Knit", "the Promenade Knit for $89")
    assert list(companies.find_faults(told)) == []


def sell(*models: companies.Model) -> companies.Company:
    return replace(SHOES, catalogue=SHOES.catalogue.model_copy(update={"models": models}))


def test_names_that_lead_nowhere_are_found() -> None:
    articles = {slug: article for slug, article in SHOES.articles.items() if slug != "cancel-order"}
    assert list(companies.find_faults(replace(SHOES, articles=articles))) == [
        ("company.yaml", "there is no article 'cancel-order'")
    ]
    shoe = MODELS[0].model_copy(update={"categories": ("Ballet",)})
    assert list(companies.find_faults(sell(shoe, *MODELS[1:]))) == [("catalogue.yaml", "there is no category 'Ballet'")]
    twice = list(companies.find_faults(sell(MODELS[0], *MODELS)))
    assert twice == [("catalogue.yaml", "model 'Marsh Runner' is there twice")]


def test_a_folder_is_refused_by_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    shutil.copytree(resources.data("crmarena", "shoes"), folder)
    article = folder / "knowledge" / "recycling.md"
    text = article.read_text(encoding="utf-8")
    for spoiled, problem in (
        (text.replace("---\n", "", 1), "begins with its title"),
        (text.replace("topic: care", "topic: mending"), "topic"),
        (text.replace("topic: care", "topic: care\nowner: me"), "owner"),
        (text.replace("title:", "title: *x\nother:"), r"recycling\.md:2"),
        (text.replace("$12.", "$13."), r"\$13"),
    ):
        article.write_text(spoiled, encoding="utf-8")
        with pytest.raises(BadFile, match=problem) as refused:
            companies.read_article(article) if "$13" not in spoiled else companies.load(folder)
        assert "recycling.md" in str(refused.value)
