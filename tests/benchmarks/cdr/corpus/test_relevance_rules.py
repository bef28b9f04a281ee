"""Rules over labels: each form against what it says, by hand and by brute force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cxlab.benchmarks.cdr.corpus.relevance_rules import LabelledMessage, Pattern, Rule

LABELS = st.sets(st.sampled_from("abc"))
TALK = st.lists(st.builds(LabelledMessage, st.sampled_from(["user", "assistant"]), LABELS.map(frozenset)), max_size=8)


def talk(*messages: str) -> list[LabelledMessage]:
    """ "u ab" is a user's message with the labels a and b."""
    sides = {"u": "user", "a": "assistant"}
    return [LabelledMessage(sides[one[0]], frozenset(one[2:])) for one in messages]


A, B = {"user": ["a"]}, {"user": ["b"]}
THEIRS = {"assistant": ["b"]}


@pytest.mark.parametrize(
    ("rule", "fits", "does_not"),
    [
        ({"has": A}, ["u c", "u a"], ["a a", "u b"]),
        ({"has": {"user": ["a"], "with": ["c"]}}, ["u ac"], ["u a", "u c"]),
        ({"times": [2, A]}, ["u a", "a c", "u a"], ["u a", "a a"]),
        ({"starts": A}, ["a b", "u a", "u b"], ["u b", "u a"]),
        ({"ends": A}, ["u b", "u a", "a b"], ["u a", "u b"]),
        ({"reply": [A, THEIRS]}, ["u a", "a b"], ["u a", "a c", "a b"]),
        ({"later": [A, THEIRS]}, ["u a", "a c", "a b"], ["a b", "u a"]),
        ({"turns": [A, B]}, ["u a", "u b", "u a", "u b"], ["u a", "u b", "u a"]),
        ({"turns": [A, B]}, ["u a", "u b"], ["u ab"]),
        ({"rises": ["a", "b"]}, ["u", "u a", "a b", "u b"], ["u", "u b", "u a"]),
        ({"falls": ["a", "b"]}, ["u b", "u a", "u", "a b"], ["u a", "u b", "u"]),
        ({"all": [{"has": A}, {"has": B}]}, ["u a", "u b"], ["u a"]),
        ({"any": [{"has": A}, {"has": B}]}, ["u b"], ["u c"]),
        ({"not": {"has": A}}, ["u b"], ["u a"]),
    ],
)
def test_rule_fits(rule, fits, does_not):
    found = Rule.model_validate(rule)
    assert found.fits(talk(*fits))
    assert not found.fits(talk(*does_not))


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"has": A, "ends": A},
        {"has": {"user": ["a"], "assistant": ["b"]}},
        {"has": {"with": ["a"]}},
        {"has": {"user": []}},
        {"times": [1, A]},
        {"turns": [A, THEIRS]},
        {"all": []},
        {"rises": []},
        {"has_": A},
    ],
)
def test_what_is_no_rule_is_refused(rule):
    with pytest.raises(ValidationError):
        Rule.model_validate(rule)


@given(TALK)
def test_a_way_backwards_is_the_other_way(messages):
    """Brute force for order: read backwards, `rises` is `falls` and `turns` changes its sides."""
    back = messages[::-1]
    assert Rule(rises=("a", "b")).fits(messages) == Rule(falls=("a", "b")).fits(back)
    a, b = Pattern(user=("a",)), Pattern(user=("b",))
    assert Rule(turns=(a, b)).fits(messages) == Rule(turns=(b, a)).fits(back)
    later = any(a.fits(one) and b.fits(other) for at, one in enumerate(messages) for other in messages[at + 1 :])
    assert Rule(later=(a, b)).fits(messages) == later
    assert not Rule(turns=(a, b)).fits(messages) or later


def test_patterns_of_a_rule_are_all_found():
    rule = Rule.model_validate({"all": [{"not": {"reply": [A, THEIRS]}}, {"falls": ["c"]}, {"times": [2, B]}]})
    assert sorted((one.side, one.any_of) for one in rule.patterns()) == [
        ("assistant", ("b",)),
        ("user", ("a",)),
        ("user", ("b",)),
        ("user", ("c",)),
    ]
    assert rule.directed
    assert not Rule.model_validate({"has": A}).directed
