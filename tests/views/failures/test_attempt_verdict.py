"""What counts for a verdict, told of every task and of one that declares nothing."""

import pytest

from cxlab.benchmarks import REGISTRY, get
from cxlab.records.benchmark_card import Task
from cxlab.views.failures.attempt_verdict import say_rule


@pytest.mark.parametrize("name", REGISTRY)
def test_every_task_says_what_counts(name: str) -> None:
    rules = {task.id: say_rule(task) for task in get(name).card.tasks}
    assert rules
    for task, rule in rules.items():
        assert rule == (rule[:1].lower() + rule[1:]).strip(), task
        assert rule.endswith("."), task
        assert "_" not in rule, task


def test_without_a_rule_it_is_told_from_the_threshold() -> None:
    assert say_rule(Task("a", "A", "f1", pass_from=50)) == "passed with F1 at 50 or more."
    assert say_rule(Task("a", "A", "f1")) == "passed with F1 at 100 or more."
    least = Task("a", "A", "f1", decided_by="turns", higher_is_better=False)
    assert say_rule(least) == "passed with turns at 0 or less."
    assert say_rule(None) == ""
