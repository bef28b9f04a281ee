"""The published formats, made here from their description, become a dataset; what does not fit is said by row."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cxlab.benchmarks.crmarena.importers import IMPORTERS, PublishedOptions, published
from cxlab.benchmarks.crmarena.importers.task_file import read_tasks
from cxlab.benchmarks.crmarena.organisation.integrity import find_faults
from cxlab.benchmarks.crmarena.organisation.schema import load_default
from cxlab.benchmarks.crmarena.organisation.tables import to_tables
from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.tasks import PREFIXES, TASKS
from cxlab.errors import BadFile, BadOption
from cxlab.store import write
from tests.benchmarks.crmarena.mirror_files import write_mirror
from tests.benchmarks.crmarena.small_organisation import add_history, ident, make_rows

ROWS = add_history(make_rows(5, cases=20))
# What a query of each task comes with, as the reference describes it.
REQUIRED = {
    "handle_time": "A policy.\nToday's date: 2021-03-17",
    "transfer_count": "A policy.\nToday's date: 2021-03-17",
    "case_routing": "A policy.",
    "named_entity_disambiguation": f"Contact id: {ident('003', 2)}. Today's date is 2021-03-17.",
    "policy_violation_identification": f"The case is {ident('500', 4)}.",
    "knowledge_qa": "Be brief.",
}
ANSWERS = {kind: ident(prefix, 1) for kind, prefix in PREFIXES.items()} | {"month": "March", "state": "GA"}


def make_tasks() -> list[dict[str, Any]]:
    """Two queries a task, of which the second has no answer where that may be."""
    made = []
    for task in TASKS.values():
        right = ANSWERS.get(task.answer, "some words")
        for n in range(2):
            made.append(
                {
                    "idx": task.first + n,
                    "query": f"Question {n} of {task.id}?",
                    "answer": None if n and task.unanswerable else right,
                    "task": task.id,
                    "metadata": {
                        "required": REQUIRED.get(task.id, "Today's date: 2021-03-17"),
                        "optional": "Q1 is January to March.",
                    },
                    "reward_metric": task.metric,
                }
            )
    return made


def write_tasks(path: Path, tasks: Any) -> Path:
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tasks(tmp_path / "crmarena_w_metadata.json", make_tasks())
    write_mirror(tmp_path / "crmarena_data.db", ROWS)
    return tmp_path


def test_both_files_become_a_dataset(folder: Path) -> None:
    found = published.read(folder / "crmarena_w_metadata.json", folder / "crmarena_data.db")
    assert found.rejected == []
    assert found.faults == ()
    assert sorted(found.ignored) == ["crm_notes"]
    found.save(folder / "home")
    samples = {sample.inputs["number"]: sample for sample in write.load_samples(found.dataset.id, folder / "home")}
    assert len(samples) == 18
    handle, product, violation = samples[650], samples[521], samples[910]
    assert (handle.inputs["today"], handle.expected, handle.facets["answerable"]) == (
        "2021-03-17",
        {"answer": ident("005", 1)},
        "yes",
    )
    assert handle.facets["persona"] == "manager"
    assert product.inputs["contact_id"] == ident("003", 2)
    assert (product.expected, product.facets["answerable"]) == ({"answer": None}, "no")
    assert violation.inputs["case_id"] == ident("500", 4)
    assert "today" not in violation.inputs
    sandbox = Sandbox.open(found.dataset.id, home=folder / "home", today=handle.inputs["today"])
    assert sandbox.soql("SELECT COUNT() FROM Case") == [{"expr0": 20}]
    told = found.report()
    assert told.record["tasks"] == dict.fromkeys(TASKS, 2)
    assert "records of" in told.lines[1]
    assert "CC BY-NC 4.0" in told.lines[-1]


def test_the_same_files_are_the_same_dataset(folder: Path, tmp_path: Path) -> None:
    one = IMPORTERS[0].read(folder, PublishedOptions())
    other = published.read(folder / "crmarena_w_metadata.json", folder / "crmarena_data.db")
    assert one.dataset.id == other.dataset.id
    as_lines = folder / "tasks.jsonl"
    as_lines.write_text("\n".join(json.dumps({**t, "type": t["task"]}) for t in make_tasks()), encoding="utf-8")
    as_list = published.read(folder / "crmarena_w_metadata.json", None)
    assert published.read(as_lines, None).dataset.id == as_list.dataset.id != one.dataset.id


def test_each_alone_and_neither(folder: Path) -> None:
    assert "No organisation" in published.read(folder / "crmarena_w_metadata.json", None).report().lines[1]
    assert published.read(None, folder / "crmarena_data.db").samples == []
    with pytest.raises(BadOption, match="give --tasks FILE"):
        published.read(None, None)
    with pytest.raises(BadOption, match="not both"):
        IMPORTERS[0].read(folder, PublishedOptions(tasks="x.json"))
    with pytest.raises(BadFile, match="does not exist"):
        published.read_folder_or_file(folder / "nothing")
    (folder / "more.jsonl").write_text("{}")
    with pytest.raises(BadFile, match="holds several task files"):
        published.read_folder_or_file(folder)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"task": "lead_routing"}, "row 1, task: 'lead_routing' is none of the nine tasks"),
        ({"query": ""}, "row 1, query: String should have at least 1 character"),
        ({"idx": 391}, "row 2, idx: 391 came before"),
        ({"answer": None}, "row 1, answer: null, and every query of case_routing has an answer"),
        ({"answer": ["a", "b"]}, "row 1, answer: 2 answers; one is needed"),
        ({"answer": 7}, "row 1, answer: Input should be a valid string"),
        ({"reward_metric": "privacy_rejection"}, "row 1, reward_metric: 'privacy_rejection', not exact_match"),
        ({"metadata": "none"}, "row 1, metadata: Input should be a valid dictionary"),
    ],
)
def test_rows_that_do_not_fit_are_told(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    tasks = make_tasks()
    tasks[0] |= change
    found, rejected, rows = read_tasks(write_tasks(tmp_path / "tasks.json", tasks))
    assert (len(found), rows) == (17, 18)
    assert str(rejected[0]).startswith(f"tasks.json, {told}")


def test_a_list_with_one_answer_is_that_answer(tmp_path: Path) -> None:
    tasks = [{**task, "answer": [task["answer"]]} for task in make_tasks()]
    found, rejected, _ = read_tasks(write_tasks(tmp_path / "tasks.json", tasks))
    assert rejected == []
    assert found[0].answer == ident("005", 1)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "not JSON"),
        ("[", "not JSON"),
        ("{}", "is no list of tasks"),
        ("[]", "no task could be used"),
        ("[1, null]", "no task could be used; the first problem: tasks.json, row 1"),
        ("[" * 3000 + "]" * 3000, "nested"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(content)
    with pytest.raises(BadFile, match=told):
        read_tasks(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["idx", "query", "answer", "task"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=40)
@given(JSON, st.sampled_from(["idx", "query", "answer", "task", "metadata", "reward_metric"]))
def test_no_value_is_a_surprise(tmp_path_factory: pytest.TempPathFactory, value: Any, field: str) -> None:
    tasks = make_tasks()[:2]
    tasks[0][field] = value
    path = write_tasks(tmp_path_factory.mktemp("t") / "tasks.json", tasks)
    try:
        found, rejected, _ = read_tasks(path)
    except BadFile:  # what no file may hold: NUL, numbers beyond 64 bits
        return
    assert len(found) + len(rejected) == 2


def test_a_database_with_odd_values_is_taken_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_mirror(tmp_path / "org.db", ROWS)
    with closing(sqlite3.connect(path)) as con:
        con.execute("UPDATE \"Case\" SET CreatedDate = 'soon' WHERE rowid = 1")
        con.execute("UPDATE OrderItem SET Quantity = x'ff00' WHERE rowid = 2")
        con.execute('ALTER TABLE "Case" ADD COLUMN Mood TEXT')
        endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n AS Id FROM t"
        con.execute("DROP TABLE Pricebook2")
        con.execute(f"CREATE VIEW Pricebook2 AS {endless}")
        con.commit()
    found = published.read(None, path)
    assert [str(one).split(":")[0] for one in found.rejected] == [
        "org.db, row 1, Case.CreatedDate",
        "org.db, row 2, OrderItem.Quantity",
    ]
    assert "Case.Mood" in found.ignored
    assert found.tables["rejected"]["column"].to_list() == ["Case.CreatedDate", "OrderItem.Quantity"]
    assert found.tables["Case"]["CreatedDate"].null_count() == 1


def test_what_does_not_hold_in_an_organisation_is_told() -> None:
    schema = load_default()
    assert find_faults(to_tables(ROWS, schema), schema) == []
    assert find_faults(to_tables({}, schema), schema) == []

    def faults(name: str, **change: Any) -> list[str]:
        rows = {key: [dict(row) for row in some] for key, some in ROWS.items()}
        rows[name][0] |= change
        return find_faults(to_tables(rows, schema), schema)

    assert faults("Issue__c", Id=ident("a1M", 1))[0] == "Issue__c: 1 of 2 ids come more than once"
    assert faults("User", Id="x")[0] == "User: 1 of 5 ids do not begin with 005"
    assert faults("OrderItem", OrderId=ident("801", 99)) == ["OrderItem.OrderId: 1 of 24 lead to no Order"]
    assert faults("CaseHistory__c", Field__c="Case Closed") != []
    assert any("first assignment" in fault for fault in faults("Case", CreatedDate="2019-01-01T00:00:00.000+0000"))
    assert any("last assignment" in fault for fault in faults("Case", OwnerId=ident("005", 9)))


def test_the_command_takes_flags_instead_of_a_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cxlab import cli
    from cxlab.benchmarks import import_sources

    monkeypatch.setenv("CXLAB_HOME", str(folder / "home"))
    monkeypatch.setattr(import_sources, "list_sources", lambda: {"crmarena": IMPORTERS[0]})
    monkeypatch.setattr("cxlab.benchmarks.scores.gold_check.tell", lambda name: None)
    tasks, org = str(folder / "crmarena_w_metadata.json"), str(folder / "crmarena_data.db")
    words = {
        "named": ["import", "crmarena", "--tasks", tasks, "--org", org],
        "equals": ["import", "crmarena", f"--tasks={tasks}", f"--org={org}"],
        "folder": ["import", "crmarena", str(folder)],
    }
    told = {name: CliRunner().invoke(cli.app, [*each, "--json"]) for name, each in words.items()}
    assert {name: each.exit_code for name, each in told.items()} == dict.fromkeys(words, 0), told["named"].output
    ids = {json.loads(each.stdout.splitlines()[0])["dataset"] for each in told.values()}
    assert len(ids) == 1
    missing = CliRunner().invoke(cli.app, ["import", "crmarena"])
    assert isinstance(missing.exception, BadOption)
    assert "give its path" in str(missing.exception)
