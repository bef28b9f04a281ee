"""How answers come about: the steps that are shown, beside the solver's own and what the queries find."""

from pathlib import Path

import pytest

from cxlab.store import write
from cxlab.views.crm import organisation as desk
from cxlab.views.crm.tasks.solving import (
    can_solve,
    name_answer,
    shorten_question,
    tabulate,
    work_out,
    write_alone,
    write_argument,
)
from tests.conftest import use
from tests.stores.crm import AGENT, CASE, DATASET, TODAY


@pytest.fixture(autouse=True)
def home(crm_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(crm_store, monkeypatch)


def test_steps_lead_to_the_gold_answer_and_their_queries_give_their_results() -> None:
    sandbox = desk.open_sandbox(write.load_dataset(DATASET), TODAY)
    solvable = [each for each in write.load_samples(DATASET) if can_solve(each.task, each.expected)]
    assert len(solvable) == 3
    for sample in solvable:
        found = work_out(sandbox, sample.task, sample.expected["arguments"])
        assert list(found.answers) == sample.expected["answers"]
        assert found.steps[0].tool == "get_period"
        for step in found.steps:
            for query in step.queries:
                assert sandbox.soql(query) is not None
        listed = [step for step in found.steps if step.tool == "get_cases"]
        assert [sandbox.soql(step.queries[0]) for step in listed] == [step.result for step in listed]


def test_an_argument_names_the_step_that_returned_it() -> None:
    sandbox = desk.open_sandbox(write.load_dataset(DATASET), TODAY)
    sample = next(
        each for each in write.load_samples(DATASET) if each.expected["answer"] and each.task == "handle_time"
    )
    steps = work_out(sandbox, sample.task, sample.expected["arguments"]).steps
    for step in steps:
        for name, number in step.made_by.items():
            assert steps[number - 1].result == step.arguments[name]
    assert steps[-1].made_by == {"values_by_id": len(steps) - 1}


def test_values_are_told_by_what_their_ids_stand_for() -> None:
    shoes = desk.load(DATASET)
    assert name_answer(shoes, "handle_time", AGENT) == f"Ann0 O'Neil ({AGENT})"
    assert name_answer(shoes, "monthly_trend_analysis", "May") == "May"
    assert name_answer(None, "handle_time", None) == "None: the question has no answer"
    assert (
        write_argument(shoes, [AGENT, CASE[:5], 2020, None, True, 1.5]) == "Ann0 O'Neil, 500Ws, 2020, null and 2 more"
    )
    assert write_argument(shoes, []) == "none"
    assert write_argument(shoes, "2020-03-01T00:00:00.000+0000") == "2020-03-01 00:00"
    assert write_argument(shoes, "2020-03-01T23:59:59Z") == "2020-03-01 23:59:59"
    assert write_argument(shoes, [{"Id": CASE}]) == "1 record"
    assert tabulate(shoes, {AGENT: 3, "x": 12345.6}) == (["", ""], [["x", "12,346"], ["Ann0 O'Neil", "3"]], 2)
    heads, rows, count = tabulate(shoes, [{"OwnerId": AGENT, "n": n} for n in range(30)])
    assert (heads, rows[0], len(rows), count) == (["OwnerId", "n"], ["Ann0 O'Neil", "0"], 12, 30)
    assert tabulate(shoes, [{"Body": "x" * 500}])[1] == [["x" * 159 + "…"]]
    assert tabulate(shoes, "2020") == tabulate(shoes, []) == tabulate(shoes, {}) == ([], [], 0)


def test_an_id_stands_beside_its_name_where_a_step_turns_one_into_another_of_that_name() -> None:
    shoes = desk.load(DATASET)
    assert write_alone(shoes, AGENT) == f"Ann0 O'Neil ({AGENT})"
    assert write_alone(None, AGENT) == AGENT
    assert write_alone(shoes, "May") == "May"
    assert write_alone(shoes, "2020-03-01T00:00:00Z") == "2020-03-01 00:00"
    assert write_alone(shoes, [AGENT]) == "Ann0 O'Neil"
    # Beside a column with the names the ids are told; a column without one has names in their place.
    beside = [{"OwnerId": AGENT, "Name": "Ann0 O'Neil"}]
    assert tabulate(shoes, beside)[:2] == (["OwnerId", "Name"], [[AGENT, "Ann0 O'Neil"]])
    assert tabulate(shoes, [{"OwnerId": AGENT, "Name": "Boots"}])[1] == [["Ann0 O'Neil", "Boots"]]


def test_a_question_in_a_table_says_what_is_asked_and_not_its_form() -> None:
    asked = "Who took longest?\nAnswer with nothing but the Id of the agent."
    assert shorten_question(asked) == "Who took longest?"
    assert shorten_question("Who took longest?") == "Who took longest?"
    routing = "Who gets it?\nSubject: Late\nDescription: " + "Where are my boots? " * 20 + "\nAnswer with an Id."
    assert shorten_question(routing).startswith("Who gets it? Subject: Late Description: Where")
    assert len(shorten_question(routing)) <= 105
    assert shorten_question("") == ""
