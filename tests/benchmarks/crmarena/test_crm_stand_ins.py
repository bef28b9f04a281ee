"""What stand-ins understand of a question, and what they find in texts."""

import pytest

from cxlab import resources
from cxlab.benchmarks.crmarena.answers import f1
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation import incoming
from cxlab.benchmarks.crmarena.simulated import answering, question, reading

TODAY = "Today's date: 2022-05-10"


@pytest.mark.parametrize(
    ("text", "kind", "window", "more_than", "extreme"),
    [
        (
            "In February 2021, determine the agent with the longest handle time who managed more than 2 cases.",
            "handle_time", ("named", "February", 2021), 2, "max",
        ),
        (
            "Who needed the shortest time per case on average during Q2 of 2020? Take agents with more than 1 case.",
            "handle_time", ("named", "Q2", 2020), 1, "min",
        ),
        (
            "Leaving out agents with 24 cases or fewer, who handed on the most cases over the last 6 quarters?",
            "transfer_count", ("past", "quarter", 6), 24, "max",
        ),
        (
            "Which agent with at least four cases gave the fewest of them to somebody else in the past two weeks?",
            "transfer_count", ("past", "week", 2), 3, "min",
        ),
        ("In which state did we close cases fastest in winter 2021?", "best_region_identification",
         ("named", "Winter", 2021), None, "min"),
        (
            "Which issue of the Puddle Boot 2019 01tWs000000005zIAA was reported most in the second quarter of 2021?",
            "top_issue_identification", ("named", "Q2", 2021), None, "max",
        ),
        ("During the past year, when did cases about 01tWs000000005zIAA peak?", "monthly_trend_analysis",
         ("past", "month", 12), None, "max"),
        ("Until when can holiday orders be returned?", "knowledge_qa", None, None, "max"),
    ],
)  # fmt: skip
def test_questions_are_read(
    text: str, kind: str, window: tuple[str, ...] | None, more_than: int | None, extreme: str
) -> None:
    found = question.read(text, TODAY)
    assert (found.kind, found.window, found.more_than, found.extreme) == (kind, window, more_than, extreme)
    assert str(found.today) == "2022-05-10"


def test_who_asks_and_what_about_is_in_the_context() -> None:
    bought = question.read("Which product was that?", f"{TODAY}\nThe contact has the Id 003Ws000000000DIAQ.")
    assert (bought.kind, bought.id("003")) == ("named_entity_disambiguation", "003Ws000000000DIAQ")
    broken = question.read("Which rule was broken?", "The case has the Id 500Ws000000003AIAQ.")
    assert (broken.kind, broken.id("500")) == ("policy_violation_identification", "500Ws000000003AIAQ")
    new = question.read("Who should get it?\nSubject: Late (Trail Shoe)", "Policy: Give a new case to the agent who …")
    assert new.kind == "case_routing"


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("My card shows two charges.", "pay"),
        ("The sole is coming away at the toe.", "defect"),
        ("Tracking has said in transit since Tuesday.", "late"),
        ("They are too narrow at the ball of the foot.", "size"),
    ],
)
def test_issues_are_told_by_customers_words(text: str, issue: str) -> None:
    names = {"pay": "Payment Problem", "defect": "Product Defect", "late": "Late Delivery", "size": "Size Mismatch"}
    assert reading.pick_issue(text, [{"Id": id, "Name": name} for id, name in names.items()]) == issue


@pytest.mark.parametrize("industry", ["shoes", "finance"])
def test_nearly_every_case_that_comes_in_is_told_by_its_issue(industry: str) -> None:
    folder = resources.data("crmarena", industry)
    company = companies.load(folder)
    issues = [{"Id": issue.name, "Name": issue.name} for issue in company.profile.issues]
    cases = incoming.load(folder / "new_cases.yaml", company)
    products = [f"{model.name} {model.variants[0].title()}" for model in company.catalogue.models][::5]
    told = [
        reading.pick_issue(f"Subject: {case.subject} ({name})\n{case.description}", issues) == case.issue
        for case in cases
        for name in products
    ]
    assert sum(told) / len(told) > 0.95


def test_answers_are_pieces_of_articles() -> None:
    article = {"Title": "Returns", "Content": "Boots may be sent back within 30 days. The label costs $6."}
    assert reading.find_answer("Within how many days can boots be sent back?", article) == "30 days"
    assert reading.find_answer("How much is the label?", article) == "$6"
    articles = [{"Id": "a", "Title": "Gift cards"}, {"Id": "b", "Title": "Goodwill credit"}]
    assert reading.find_breach("I grant you a goodwill credit of $50.", articles) == "b"
    assert reading.find_breach("Your parcel is on its way.", articles) is None


BODY = """Bicycles are rented for up to 14 days. The deposit of $80 is paid at the desk, since locks are tested there.

1. Ask for an identity card. A helmet costs $4 a day.
2. Damage is reported to the workshop. Children never ride alone.
"""


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("For how long can a bicycle be rented?", "up to 14 days"),
        ("How much is the deposit?", "$80"),
        ("What does a helmet cost?", "$4"),
        ("Where is the deposit paid?", "at the desk"),
        ("Why is it paid at the desk?", "locks are tested there"),
        ("May children ride alone?", "Children never ride alone"),
        ("To whom is damage reported?", "to the workshop"),
    ],
)
def test_an_answer_is_what_the_question_does_not_say(asked: str, answer: str) -> None:
    assert answering.find_answer(asked, "Renting a bicycle", BODY) == answer
    assert answering.find_answer(asked, "Empty", "") == "None"


@pytest.mark.parametrize("industry", ["shoes", "finance"])
def test_with_the_right_article_in_hand_more_than_half_of_each_answer_is_found(industry: str) -> None:
    company = companies.load(resources.data("crmarena", industry))
    shares, first = [], 0
    listed = [{"Id": slug, "Title": each.title, "Content": each.body} for slug, each in company.articles.items()]
    for article in company.articles.values():
        for asked in article.questions:
            shares.append(f1(answering.find_answer(asked.ask, article.title, article.body), asked.answer))
            first += reading.rank_articles(asked.ask, listed)[0]["Id"] == article.slug
    assert sum(shares) / len(shares) > 0.5
    assert first / len(shares) > 0.8
