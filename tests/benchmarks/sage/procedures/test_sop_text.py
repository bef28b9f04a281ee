"""A printed procedure can be read back without loss, so that simulated agents need nothing else."""

import itertools

import pytest

from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.procedures import sop_text
from cxlab.benchmarks.sage.simulated.agent import walk
from cxlab.llm.simulated.profiles import Profile

PERFECT = Profile("perfect", "", "", "x", "agent", rule_following=1.0, joint_conditions=1.0, hostility_sensitivity=0.0)


@pytest.mark.parametrize("name", rules.ids())
def test_print_and_read_back(name: str) -> None:
    s = rules.load(name)
    read = sop_text.read_procedure(sop_text.show_procedure(name))
    assert read.guides == sop_text.guides(s)
    assert list(read.steps) == list(s.stages)
    assert read.clauses == {a: x.clause for a, x in s.actions.items()}
    assert read.asks == {f: x.ask for f, x in s.fields.items()}


@pytest.mark.parametrize("name", rules.ids())
def test_a_faultless_walker_agrees_with_the_rule_engine(name: str) -> None:
    s = rules.load(name)
    read = sop_text.read_procedure(sop_text.show_procedure(name))
    names = [*s.fields, *(n for n, v in s.system.items() if not v.context_only)]
    # With a load of 0.004 a message no reliability is perfect; 1.0 minus it is far above any digest here.
    for values in itertools.product(*(s.domain(n) for n in names)):
        facts = dict(zip(names, values, strict=True))
        trace = s.trace(facts, facts)
        path, action, plan, looked = walk(read, facts, s.start, PERFECT, [""])
        assert (tuple(path), action) == (trace.path, trace.action["Action"])
        if s.plan:
            assert (plan if action == s.plan.with_action else s.plan.none) == trace.action[s.plan.name]
        assert set(trace.read) <= set(looked) | set(trace.read)


def test_without_glossary_no_wording_is_printed() -> None:
    assert "Typical wording" in sop_text.show_procedure("telecom_package", True)
    assert "wording" not in sop_text.show_procedure("telecom_package", False)
