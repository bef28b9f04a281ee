"""The talks of the default company fit it, and a talk that does not is refused."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
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


def test_a_wording_has_one_form_of_everything_and_the_same_detail_throughout() -> None:
    rng = np.random.default_rng(1)
    for talk in TALKS:
        told = {talk.word(rng) for _ in range(20)}
        assert len(told) >= 3, talk.id
        for worded in told:
            whole = "\n".join([worded.subject, *(text for _, text in worded.lines)])
            assert not set(re.findall(r"<([^<>]*)>", whole)) - talks.SLOTS, whole
            assert not re.search(r"[{}|]|  |\.\.|\?\?|\b(\w+) \1\b", whole), whole
            assert ("<order>" in whole and "<email>" in whole) == talk.identifies
            for pattern in talk.match():
                assert pattern.search(whole), pattern.pattern
    made = talks.Talk.model_validate({
        "id": "x", "form": "chat", "issue": "i", "age": [0, 1], "details": {"day": ["Monday", "Sunday"]},
        "lines": [{"customer": "It came {on <day>|<day> night}."}, {"agent": "<day>, <customer>?"}],
    })  # fmt: skip
    forms = {tuple(text for _, text in made.word(rng).lines) for _ in range(60)}
    assert forms == {
        (f"It came {said}.", f"{day}, <customer>?")
        for day in ("Monday", "Sunday")
        for said in (f"on {day}", f"{day} night")
    }


def test_the_subject_does_not_tell_whether_a_rule_is_broken() -> None:
    assert all(talk.subject for talk in TALKS)


def test_who_breaks_another_rule_still_checks_who_asks() -> None:
    # What an agent does to an order, without order number and e-mail address said before, breaks the identity check.
    acts = re.compile(
        r"\b(cancelled|refunded|reserved|changed|added the points|approved|leaves today|I see the order)\b"
    )
    loose = []
    for talk in TALKS:
        known: set[str] = set()
        for who, text in talk.spoken():
            if who == "customer" and "<ids>" in text:
                known = {"<order>", "<email>"}
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
        ("form: email\n    subject:", "form: email\n    kinds: [clog] #", "an e-mail has a subject"),
        ("{Only the toes.|", "{Only the toes. <email>|", "tell different facts"),
        ("{Only the toes.|", "{Only {the toes.|", "do not close each other"),
        ("    details:\n", "    details:\n      order: [mine]\n", "'order' is no detail"),
        ("audiences: [Men's,", "audiences: [Cats',", 'no product for "Cats\'"'),
        ("- customer:", "- robot:", "'customer', 'agent' or 'colleague'"),
        ("kinds: [hiking boot,", "kinds: [ski,", "kind 'ski'"),
    ],
)
def test_a_talk_that_does_not_fit_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    text = resources.data("crmarena", "shoes", "talks.yaml").read_text(encoding="utf-8")
    start = text.index("talks:\n")
    assert old in text[start:]
    path = tmp_path / "talks.yaml"
    path.write_text(text[:start] + text[start:].replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadFile, match=re.escape(problem)):
        talks.load(path, SHOES)
