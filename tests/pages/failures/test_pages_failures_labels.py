"""Labels to check: samples that all strong models fail, of all benchmarks on one list."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cxlab.read import View, ask
from cxlab.read.annotations import WRONG_LABEL
from cxlab.read.attempts import tasks_tried
from cxlab.records import Dataset, Sample
from cxlab.store import write
from cxlab.ui.annotations import annotate
from cxlab.ui.tables import table_key
from cxlab.views.compare import queries_verdicts
from cxlab.views.failures import labels_to_check
from cxlab.views.failures.labels_to_check import suspects
from cxlab.views.failures.queries_label_answers import NOTHING, read_answers, say_answers
from tests.pages.app_script import open_page, picked, words
from tests.stores.judged import HOSTILE
from tests.stores.runs import write_run

pytestmark = pytest.mark.xdist_group("failures")

Values = dict[tuple[str, int], float | None]


def values(**scores: float) -> Values:
    return {(name, 1): value for name, value in scores.items()}


def make_runs(home: Path) -> None:
    """Strong fail s0 alike and s1 each in another way; weak passes s2, which both strong fail; s3 they pass."""
    good = values(s0=0, s1=0, s2=0, s3=100)
    write_run(home, 1, "a", good, reasons={"s0": "late", "s1": "rude", "s2": "late"})
    write_run(home, 2, "b", good, reasons={"s0": "late", "s1": "slow", "s2": "late"})
    for number, model in ((3, "c"), (4, "d")):
        write_run(home, number, model, values(s0=0, s1=0, s2=100 if model == "c" else 0, s3=0),
                  reasons=dict.fromkeys(("s0", "s1", "s2", "s3"), "late"))  # fmt: skip
    for number, model in ((5, "a"), (6, "b")):
        write_run(home, number, model, values(t0=0, t1=100), benchmark="mmtaup2", task="telecom", metric="pass",
                  reasons={"t0": "not done"})  # fmt: skip


def test_all_benchmarks_stand_on_one_list_the_most_telling_first(empty_home: Path) -> None:
    make_runs(empty_home)
    found = suspects(View())
    told = dict(zip(found["sample"], zip(found["why"], found["passed"], strict=True), strict=True))
    assert told == {
        "s0": ("the same reason", ""),
        "t0": ("the same reason", ""),
        "s1": ("each another", ""),
        "s2": ("the same reason", "c"),
    }
    # What a weaker model passes comes last: there the label is likely right.
    assert found["sample"][-1] == "s2"
    # Both models pass half of the telecom tasks and a quarter of the dialogues: that all fail is least expected there.
    assert found.head(2)["sample"].to_list() == ["t0", "s0"]
    assert found.head(2)["chance"].to_list() == [0.25, 0.5625]
    assert set(suspects(View("mmtaup2"))["sample"]) == {"t0"}
    assert tasks_tried(View()) == {("sage", "dialogue"), ("mmtaup2", "telecom")}
    app = open_page("failures", tab="labels")
    assert not app.exception
    # That all of them make the same mistake is no evidence against a label; the same other answer is.
    assert "No label stands out: nowhere did all leading models give the same other answer" in words(app)
    table = next(each.value for each in app.dataframe if "strong" in each.value.columns)
    assert {*table["sample"]} == {"s0", "s1", "s2", "t0"}
    assert "Labels to check" in str([each.options for each in app.segmented_control])


def test_only_what_a_filter_leaves_is_ranked(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_runs(empty_home)
    asked: list[str] = []

    def audit(view: View) -> Any:
        asked.append(view.benchmark)
        return queries_verdicts.audit(view)

    monkeypatch.setattr(labels_to_check, "audit", audit)
    scope = View(runs=tuple(run.id for run in write.list_runs() if run.benchmark == "mmtaup2"))
    assert suspects(scope)["sample"].to_list() == ["t0"]
    assert asked == ["mmtaup2"]


def test_what_is_marked_is_told_and_can_be_found_again(empty_home: Path) -> None:
    make_runs(empty_home)
    row = suspects(View("sage")).row(0, named=True)
    assert row["mark"] == ""
    annotate("tag", row["run_id"], row["attempt_id"], WRONG_LABEL)
    assert suspects(View("sage")).filter(mark="✕ label is wrong")["sample"].to_list() == [row["sample"]]
    app = open_page("failures", tab="labels")
    assert [each.label for each in app.button if each.label.replace("\\", "").endswith("so far: 1 attempt")]


@pytest.mark.parametrize(
    ("expected", "given", "told"),
    [
        ({"label": "Refund"}, {"label": "Exchange"}, ("Refund", "Exchange")),
        ({"label": "Refund"}, {"label": None}, ("Refund", NOTHING)),
        ({"tools": [{"name": "add_pet"}]}, {"calls": {"16": [{"name": "find_it"}], "32": []}}, ("add pet", "find it")),
        ({"tools": [{"name": "add_pet"}]}, {"calls": {"16": []}}, ("add pet", NOTHING)),
        ({"answer": "5 days", "answers": ["5 days"]}, {"answer": "7 days"}, ("5 days", "7 days")),
        ({"answer": None}, {"answer": "None"}, (NOTHING, NOTHING)),
        ({"article_id": "KB_1", "answer": "25 minutes"}, {"ranked": ["KB_2"]}, ("", "")),
        ({"gold": []}, {"reward": {}}, ("", "")),
        ({"answers": ["Yes", "No"]}, {"answers": ["Yes", "Yes"]}, ("Was it polite? No.", "Was it polite? Yes.")),
    ],
)
def test_what_is_due_stands_beside_what_was_given(
    expected: dict[str, Any], given: dict[str, Any], told: tuple[str, str]
) -> None:
    assert say_answers(expected, given, {"questions": ["Was it quick?", "Was it polite?"]}) == told


def test_what_is_due_is_read_of_the_attempts_own_dataset(empty_home: Path) -> None:
    for number, (dataset, due) in enumerate((("d1", "Refund"), ("d2", "Exchange")), 1):
        write_dataset(empty_home, dataset, {"s0": {"label": due}, "s1": {"article_id": "KB_1"}})
        write_run(empty_home, number, "a", values(s0=0, s1=0, s2=0), dataset=dataset)
    found = read_answers(ask("SELECT run_id, attempt_id FROM attempts WHERE run_id <> '' ORDER BY ALL"))
    # Of s1 there is no answer to be set beside another, and s2 is not stored.
    assert sorted(found.select("attempt_id", "due", "given").rows()) == [
        ("a1-s0-1", "Refund", NOTHING),
        ("a2-s0-1", "Exchange", NOTHING),
    ]


def write_dataset(home: Path, name: str, expected: dict[str, Any]) -> None:
    samples = [Sample(id=id, dataset_id=name, benchmark="sage", task="dialogue", inputs={}, expected=each)
               for id, each in expected.items()]  # fmt: skip
    about = Dataset(id=name, benchmark="sage", name=name, source="generated", config={}, seed=0, licence="none",
                    created=datetime(2026, 1, 1, tzinfo=UTC))  # fmt: skip
    write.save_dataset(about, samples, home)


def test_the_same_other_answer_is_what_speaks_against_a_label(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_runs(empty_home)
    long = "x " * 80
    answers = {"s0": {"a": "x", "b": "x"}, "s1": {"a": f"{long}1", "b": f"{long}2"}, "s2": {"a": "z", "b": "z"}}

    def read(_attempts: pl.DataFrame) -> pl.DataFrame:
        known = ask("SELECT run_id, attempt_id, sample_id, model FROM attempts").rows()
        rows = [
            (run, attempt, "due", answers.get(sample, {}).get(model, NOTHING)) for run, attempt, sample, model in known
        ]
        return pl.DataFrame(rows, schema=["run_id", "attempt_id", "due", "given"], orient="row")

    monkeypatch.setattr(labels_to_check, "read_answers", read)
    found = {row["sample"]: (row["why"], row["given"]) for row in suspects(View()).iter_rows(named=True)}
    # That none of them has an answer is no agreement on another one.
    assert found == {
        "s0": ("the same other answer", "x"), "s1": ("each another", f"{long[:59]} … / {long[:59]} …"),
        "s2": ("the same other answer", "z"), "t0": ("the same reason", NOTHING),
    }  # fmt: skip
    app = open_page("failures", tab="labels")
    # A weaker model passes s2.
    assert "1 label in doubt: all leading models gave the same other answer, and nobody passes" in words(app)
    assert suspects(View())["sample"][0] == "s0"


def test_a_label_is_decided_on_in_the_list(empty_home: Path) -> None:
    make_runs(empty_home)
    found = suspects(View("sage"))
    app = open_page("failures", tab="labels", benchmark="sage", state={table_key("labels-to-check", found): picked(0)})
    assert "Late" in words(app)
    assert [each.label for each in app.button if each.label.startswith("Label is")] == [
        "Label is wrong",
        "Label is right",
    ]
    for words_, mark in (("Label is right", "✓ label is right"), ("Label is wrong", "✕ label is wrong")):
        next(each for each in app.button if each.label == words_).click().run()
        # The row stays the one that is picked, and takes one mark of the two.
        assert suspects(View("sage"))["mark"].to_list() == [mark, *[""] * (found.height - 1)]
    next(each for each in app.button if each.label.startswith("Undo")).click().run()
    assert not any(suspects(View("sage"))["mark"])


@pytest.mark.parametrize("models", [0, 1])
def test_of_fewer_than_two_models_nothing_is_claimed(empty_home: Path, models: int) -> None:
    for number in range(models):
        write_run(empty_home, number + 1, f"m{number}", values(s0=0), reasons={"s0": "late"})
    app = open_page("failures", tab="labels")
    assert not app.exception
    assert suspects(View()).is_empty()
    if models:
        assert "No label stands out" in words(app)


@pytest.mark.parametrize("name", ["x" * 200, "\u05de\u05d5\u05d3\u05dc \u05d7\u05d6\u05e7 " * 16, HOSTILE])
def test_long_right_to_left_and_hostile_names_are_text(empty_home: Path, name: str) -> None:
    for number, model in enumerate((f"{name}1", f"{name}2", "c"), 1):
        write_run(empty_home, number, model, values(s0=0, s1=100), reasons={"s0": name})
    app = open_page("failures", tab="labels")
    assert not app.exception
    table = next(each.value for each in app.dataframe if "strong" in each.value.columns)
    # A cell of a table is text, whatever stands in it.
    assert table["reason"].to_list() == [name]


def test_a_store_of_twelve_attempts_that_all_failed_says_so_and_no_more(empty_home: Path) -> None:
    twelve = {f"s{place}": 0.0 for place in range(6)}
    for number, model in enumerate(("a", "b"), 1):
        write_run(empty_home, number, model, values(**twelve), reasons=dict.fromkeys(twelve, "late"), judges=())
    app = open_page("failures", tab="labels")
    assert not app.exception
    # Who fails everything is expected to fail each: it says nothing of a label.
    assert "No label stands out" in words(app)
    assert suspects(View())["chance"].to_list() == [1.0] * 6
