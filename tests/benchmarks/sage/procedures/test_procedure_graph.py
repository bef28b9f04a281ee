from itertools import pairwise
from pathlib import Path

import pytest

from cxlab.benchmarks.sage import rules
from cxlab.benchmarks.sage.procedures import graph
from cxlab.errors import BadFile, UnknownName
from cxlab.views.sop.mermaid import to_mermaid


@pytest.mark.parametrize("scenario", graph.ids())
def test_the_graph_is_the_one_that_the_rule_engine_follows(scenario: str) -> None:
    found, engine = graph.load(scenario), rules.load(scenario)
    assert list(found.stages) == list(engine.stages)
    assert found.start == engine.start
    for leaf in engine.leaves():
        action = next((v for k, v in leaf.action.items() if k != "Action" and v != "none"), leaf.action["Action"])
        assert found.allows([*leaf.path, action]), leaf.id
        assert not found.allows([*leaf.path[1:], action])
        assert not found.allows([*leaf.path, "stage1", action])


@pytest.mark.parametrize("scenario", graph.ids())
def test_every_leaf_uses_an_edge_and_every_edge_has_a_leaf(scenario: str) -> None:
    found = graph.load(scenario)
    used = set()
    for leaf in rules.load(scenario).leaves():
        path = [*leaf.path, leaf.action["Action"]]
        used |= set(pairwise(path))
    assert used == found.steps()


def test_plans_share_the_node_of_the_action_that_hands_them_over() -> None:
    found = graph.load("online_education")
    assert {found.node(plan) for plan in found.plans} == {found.plan_action}
    assert found.node("REFUND") == "REFUND"
    assert found.node("stage3") == "stage3"


def test_mermaid_names_every_stage_action_and_edge() -> None:
    found = graph.load("telecom_package")
    text = to_mermaid(found)
    assert text.startswith("flowchart LR\n")
    assert all(f'{stage}["' in text for stage in found.stages)
    assert sum("-->" in line for line in text.splitlines()) == len(found.edges)
    assert 'stage2 -- "Enquiry" --> stage3' in text
    assert "stage1 --> stage2" in text


def test_unknown_and_broken_scenarios_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "FOLDER", tmp_path)
    (tmp_path / "half.yaml").write_text("id: half\nstages: [1, 2]\n")
    with pytest.raises(BadFile, match=r"half\.yaml"):
        graph.load("half")
    with pytest.raises(UnknownName, match="nowhere"):
        graph.load("nowhere")
