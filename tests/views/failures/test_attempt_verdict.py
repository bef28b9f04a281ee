"""What counts for a verdict, told of every task and of one that declares nothing."""

import pytest

from cxlab.benchmarks import REGISTRY, get
from cxlab.read.results.headlines import say_rule, say_rules
from cxlab.records.benchmark_card import Card, Task


@pytest.mark.parametrize("name", REGISTRY)
def test_every_task_says_what_counts(name: str) -> None:
    rules = {task.id: say_rule(task) for task in get(name).card.tasks}
    assert rules
    for task, rule in rules.items():
        assert rule == (rule[:1].lower() + rule[1:]).strip(), task
        assert rule.endswith("."), task
        assert "_" not in rule, task


def test_without_a_rule_it_is_told_from_the_threshold() -> None:
    assert say_rule(Task("a", "A", "f1", pass_from=50)) == "F1 must be 50 or more."
    assert say_rule(Task("a", "A", "f1")) == "F1 must be 100 or more."
    least = Task("a", "A", "f1", decided_by="turns", higher_is_better=False)
    assert say_rule(least) == "turns must be 0 or less."
    assert say_rule(None) == ""


def test_tasks_of_one_rule_are_told_together() -> None:
    one, two, three = (Task(id, id.upper(), metric) for id, metric in (("a", "f1"), ("b", "f1"), ("c", "mrr")))

    def card(*tasks: Task) -> Card:
        return Card("x", "X", "", "", "", tasks, {})

    assert say_rules(card(one, two)) == "What passing is: F1 must be 100 or more."
    told = "What passing is, by task. A, B: F1 must be 100 or more. C: MRR must be 100 or more."
    assert say_rules(card(one, two, three)) == told
    assert say_rules(card()) == ""
