"""A printed procedure can be read back without loss, so that simulated agents need nothing else."""

import itertools

import pytest

from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.procedures import sop_text
from cxlab.benchmarks.sage.simulated.agent import walk
from cxlab.benchmarks.sage.simulated.procedure_reader import parse_value, read_procedure
from cxlab.llm.simulated.profiles import Profile

PERFECT = Profile("perfect", "", "", "x", "agent", rule_following=1.0, joint_conditions=1.0, hostility_sensitivity=0.0)


@pytest.mark.parametrize("name", rules.ids())
def test_print_and_read_back(name: str) -> None:
    s = rules.load(name)
    read = read_procedure(sop_text.show_procedure(rules.load(name)))
    assert {f.name: (f.default, dict(f.options)) for f in read.fields} == {
        n: (f.default, {v: o.description for v, o in f.options.items()}) for n, f in s.fields.items()
    }
    assert {step.name: step.title for step in read.steps.values()} == {n: x.title for n, x in s.stages.items()}
    assert read.actions == {name: action.description for name, action in s.actions.items()}


@pytest.mark.parametrize("name", rules.ids())
def test_a_faultless_walker_agrees_with_the_rule_engine(name: str) -> None:
    s = rules.load(name)
    read = read_procedure(sop_text.show_procedure(rules.load(name)))
    names = [*s.fields, *(n for n, v in s.system.items() if not v.context_only)]
    # With a load of 0.004 a message no reliability is perfect; 1.0 minus it is far above any digest here.
    for values in itertools.product(*(s.domain(n) for n in names)):
        facts = dict(zip(names, values, strict=True))
        trace = s.trace(facts, facts)
        known = {n: v for n, v in facts.items() if n in s.fields}
        known |= {n: parse_value(v) for n, v in sop_text.shown_system(facts, s).items()}
        path, action, plan, looked = walk(read, known, s.start, PERFECT, [""])
        assert (tuple(path), action) == (trace.path, trace.action["Action"])
        if s.plan:
            assert (plan if action == s.plan.with_action else s.plan.none) == trace.action[s.plan.name]
        assert {n for n in trace.read if n in s.fields} <= set(looked)


def test_without_glossary_no_meaning_is_printed() -> None:
    meaning = rules.load("telecom_package").fields["ConsumptionType"].options["Cancel"].description
    assert meaning in sop_text.show_procedure(rules.load("telecom_package"), True)
    assert meaning not in sop_text.show_procedure(rules.load("telecom_package"), False)


@pytest.mark.parametrize(
    ("name", "words"),
    [("NoContract", "no contract"), ("VIP", "VIP"), ("hasInsurance", "has insurance"), ("one_course", "one course")],
)
def test_names_of_programs_become_words(name: str, words: str) -> None:
    assert sop_text.in_words(name) == words
