"""The rule engine: counts of the paper's procedures, brute force, and what must not pass silently."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.rules import Untraceable
from cxlab.errors import UnknownName

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "sage_sops.json"
LEAVES = {
    "telecom_package": 19,
    "ecommerce_refund": 17,
    "property_service": 23,
    "logistics_delivery": 18,
    "airline_refund": 21,
    "online_education": 21,
}


def all_combinations(s: rules.Scenario):
    names = [*s.fields, *(n for n, v in s.system.items() if not v.context_only)]
    for values in itertools.product(*(s.domain(n) for n in names)):
        facts = dict(zip(names, values, strict=True))
        yield {n: facts[n] for n in s.fields}, {n: facts[n] for n in names if n in s.system}


@pytest.mark.parametrize(("name", "count"), LEAVES.items())
def test_leaf_counts(name: str, count: int) -> None:
    assert len(rules.load(name).leaves()) == count


@pytest.mark.parametrize("name", LEAVES)
def test_every_combination_follows_exactly_one_leaf(name: str) -> None:
    s = rules.load(name)
    seen = set()
    for fields, system in all_combinations(s):
        trace = s.trace(fields, system)
        facts = {**fields, **system}
        fitting = [leaf for leaf in s.leaves() if all(same(facts[k], v) for k, v in leaf.given.items())]
        assert len(fitting) == 1, facts
        assert (fitting[0].path, fitting[0].action) == (trace.path, trace.action)
        assert set(trace.read) == set(fitting[0].given)
        seen.add(fitting[0].id)
    assert len(seen) == LEAVES[name]


@pytest.mark.parametrize("name", LEAVES)
def test_leaves_are_minimal(name: str) -> None:
    """Dropping any value of a leaf leaves the traversal without something it reads."""
    s = rules.load(name)
    for leaf in s.leaves():
        for dropped in leaf.given:
            rest = {k: v for k, v in leaf.given.items() if k != dropped}
            with pytest.raises(Untraceable):
                s.trace(rest, rest)


@pytest.mark.parametrize("name", LEAVES)
def test_leaves_equal_the_reference(name: str) -> None:
    if not REFERENCE.exists():
        pytest.skip("the reference procedures are not beside this checkout")
    wanted = json.loads(REFERENCE.read_text(encoding="utf-8"))[name]["minimal_leaves"]
    ours = [(dict(leaf.given), list(leaf.path), leaf.action) for leaf in rules.load(name).leaves()]
    assert len(ours) == len(wanted)
    for leaf in wanted:
        assert (leaf["given"], [p.replace("step", "stage") for p in leaf["path"]], leaf["finals"]) in ours


def test_the_papers_three_examples() -> None:
    s = rules.load("telecom_package")

    def trace(kind: str, tendency: str, profile: str, emotion: str, status: str, penalty: int):
        fields = {
            "ConsumptionType": kind,
            "ApplicationTendency": tendency,
            "ConsumptionProfile": profile,
            "EmotionTag": emotion,
        }
        return s.trace(fields, {"PackageStatus": status, "Penalty": penalty})

    one = trace("Enquiry", "Agree", "Data", "Calm", "NoContract", 0)
    assert one.path == ("stage1", "stage2", "stage3", "stage6", "stage4")
    assert one.action == {"Action": "ChangeOrder"}
    two = trace("Change", "Agree", "Data", "Discontent", "Contracted", 100)
    assert two.path == ("stage1", "stage2", "stage4", "stage5", "stage7")
    assert two.action == {"Action": "TransHuman"}
    three = trace("Enquiry", "Reject", "Voice", "Calm", "NoContract", 0)
    assert three.path == ("stage1", "stage2", "stage3", "stage6")
    assert three.action == {"Action": "GoodBye"}


@given(penalty=st.integers(min_value=1, max_value=10**6))
def test_any_positive_penalty_takes_the_same_branch(penalty: int) -> None:
    s = rules.load("telecom_package")
    fields = {**s.defaults(), "ConsumptionType": "Cancel", "EmotionTag": "Discontent"}
    assert s.trace(fields, {"PackageStatus": "Contracted", "Penalty": penalty}).action["Action"] == "TransHuman"


def test_plan_goes_with_its_action_only() -> None:
    s = rules.load("online_education")
    outcomes = {(leaf.action["Action"], leaf.action["PLAN"]) for leaf in s.leaves()}
    assert all((plan == "none") == (action != "PLAN") for action, plan in outcomes)
    assert {plan for _, plan in outcomes} == {"none", *(f"PLAN_{c}" for c in "ABCDEF")}


@pytest.mark.parametrize("bad", ["Cancellation", None, 1, True])
def test_unknown_value_never_falls_into_an_else(bad: object) -> None:
    s = rules.load("telecom_package")
    with pytest.raises(Untraceable, match="ConsumptionType"):
        s.trace({**s.defaults(), "ConsumptionType": bad}, {"PackageStatus": "NoContract", "Penalty": 0})


def test_true_is_not_one() -> None:
    s = rules.load("telecom_package")
    with pytest.raises(Untraceable, match="Penalty"):
        s.trace({**s.defaults(), "ConsumptionType": "Cancel"}, {"PackageStatus": "NoContract", "Penalty": True})


@pytest.mark.parametrize("name", ["nope", "../simulated/sage/customer_voice", ""])
def test_unknown_scenario_is_named_with_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownName, match="telecom_package"):
        rules.load(name)
