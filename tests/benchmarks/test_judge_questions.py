"""What judges are asked of each field is declared, and stands so in the prompt that they get."""

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import JUDGE, VERIFY
from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions
from cxlab.benchmarks.mmtaup2.prompts import judge_prompts
from cxlab.benchmarks.sage.procedures.sop_text import show_fields
from cxlab.benchmarks.sage.prompts import scenario_prompts
from cxlab.benchmarks.sage.rules import files_by_id, load


def asked(benchmark: str, facets: dict[str, str], options: dict[str, object]) -> dict[str, str]:
    declared = REGISTRY[benchmark].questions
    assert declared is not None
    return dict(declared(facets, options))


@pytest.mark.parametrize("glossary", [True, False])
def test_sage_asks_of_each_field_what_the_prompt_prints(glossary: bool) -> None:
    for id in files_by_id():
        found = asked("sage", {"scenario": id}, {"glossary": glossary})
        printed = show_fields(load(id), glossary)
        template = scenario_prompts.judge_prompt(load(id)).parts[0][1]
        assert set(found) == {*load(id).fields, *scenario_prompts.DIMENSIONS}
        for name in load(id).fields:
            assert f"- {name}: {found[name]}" in printed
        for name in scenario_prompts.DIMENSIONS:
            assert f"- {name}: {found[name]}" in template
    assert asked("sage", {"scenario": "gone"}, {}) == {}
    every = asked("sage", {}, {})
    assert {name for id in files_by_id() for name in load(id).fields} <= set(every)


def test_dual_control_asks_of_each_verdict_what_its_group_prints() -> None:
    found = asked("mmtaup2", {}, {})
    assert set(found) == set(judge_prompts.OPTIONS)
    for group, fields in judge_prompts.GROUPS.items():
        template = (judge_prompts.HERE / f"judge_{group}.md").read_text(encoding="utf-8")
        for name in fields:
            assert f"- {name}: {found[name].splitlines()[0]}" in template
    assert rubric_versions.find().rule.strip() in found["transfer"]
    first, two = rubric_versions.find(1), rubric_versions.write_option(rubric_versions.rules()[:2])
    assert first.rule.strip() in asked("mmtaup2", {}, {"escalation": 1})["solved"]
    assert all(each["rule"].strip() in asked("mmtaup2", {}, {"escalation": two})["solved"] for each in two)


def test_answers_and_labels_are_asked_for_as_printed() -> None:
    found = asked("cxmarena", {}, {})
    assert set(found) == {"verdict", "holds"}
    assert set(JUDGE.points) == {"correct", "incorrect", "hallucinated", "refusal"}
    assert all(f"{name}: {text}" in found["verdict"] for name, text in JUDGE.points.items())
    assert found["holds"] in VERIFY.parts[0][1]
