"""The talks of the default company fit it, and a talk that does not is refused."""

import re
from collections import Counter
from pathlib import Path

import pytest

from cxlab import resources
from cxlab.benchmarks.crmarena.organisation import company as companies
from cxlab.benchmarks.crmarena.organisation import talks
from cxlab.errors import BadFile

SHOES = companies.load_default()
TALKS = talks.load_default()
POLICIES = {policy.id: policy for policy in SHOES.profile.conduct_policies}


def test_there_are_sixty_talks_over_all_issues_in_both_forms() -> None:
    assert len(TALKS) >= 60
    assert {talk.form for talk in TALKS} == {"chat", "email"}
    for kept in (True, False):
        assert {talk.issue for talk in TALKS if (talk.breaches is None) == kept} == {
            issue.name for issue in SHOES.profile.issues
        }


def test_every_rule_is_broken_in_some_talk() -> None:
    assert {talk.breaches for talk in TALKS} - {None} == set(POLICIES)


def test_no_line_is_said_twice() -> None:
    said = Counter(text for talk in TALKS for _, text in talk.spoken() if len(text.split()) > 4)
    assert [text for text, count in said.items() if count > 1] == []


def test_who_breaks_another_rule_still_checks_who_asks() -> None:
    # What an agent does to an order, without order number and e-mail address said before, breaks the identity check.
    acts = re.compile(
        r"\b(cancelled|refunded|reserved|changed|added the points|approved|leaves today|I see the order)\b"
    )
    loose = []
    for talk in TALKS:
        known: set[str] = set()
        for who, text in talk.spoken():
            known |= {slot for slot in ("<order>", "<email>") if who == "customer" and slot in text}
            if who == "agent" and acts.search(text) and len(known) < 2 and "can be cancelled" not in text:
                loose.append(talk.id)
    assert set(loose) <= {talk.id for talk in TALKS if talk.breaches == "identity-check"}


def test_credits_above_the_limit_are_marked() -> None:
    limit = float(SHOES.profile.terms["goodwill_limit"].value.strip("$"))
    above = set()
    for talk in TALKS:
        for who, text in talk.spoken():
            given = re.findall(r"credit of \$(\d+)|\$(\d+) of goodwill credit", text) if who == "agent" else []
            above |= {talk.id for pair in given if float("".join(pair)) > limit}
    assert above == {talk.id for talk in TALKS if talk.breaches == "goodwill-limit"}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("issue: Warranty Claim", "issue: Rusty Nails", "there is no issue"),
        ("breaches: lost-parcel", "breaches: lost-dog", "there is no policy"),
        ("breaches: lost-parcel", "breaches: cancel-window", "does not come up"),
        ("id: chat-sole-photos", "id: chat-size-toes", "is there twice"),
        ("<product>", "<shoes>", "there is no slot 'shoes'"),
        ("age: [6, 35]", "age: [60, 35]", "least age"),
        ("form: chat\n", "form: email\n", "an e-mail has a subject"),
        ("- customer:", "- robot:", "'customer', 'agent' or 'colleague'"),
        ("kinds: [sneaker,", "kinds: [ski,", "kind 'ski'"),
    ],
)
def test_a_talk_that_does_not_fit_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    text = resources.data("crmarena", "shoes", "talks.yaml").read_text(encoding="utf-8")
    start = text.index("talks:\n")
    assert old in text[start:]
    path = tmp_path / "talks.yaml"
    path.write_text(text[start:].replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadFile, match=re.escape(problem)):
        talks.load(path, SHOES)
