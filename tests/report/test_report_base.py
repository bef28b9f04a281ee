"""A report on runs tells all of one base, of each run its own figures, and is to be had on a page or two."""

from pathlib import Path

import pytest

from cxlab.benchmarks import REGISTRY
from cxlab.charts.theme import mark_models
from cxlab.read import View
from cxlab.read.comparison.words import say_apart
from cxlab.report.content import find_section
from cxlab.report.dots import LEFT, WIDTH, Value, draw
from cxlab.report.write import write_report
from cxlab.ui.annotations import annotate
from tests.report.test_report import Page, words_of
from tests.stores.runs import write_run

ABOUT = REGISTRY["sage"].declaration
# Passes from 50 on: of the first ten samples none, of the others all.
HALF = {(f"s{i}", 1): 20.0 if i < 10 else 80.0 for i in range(30)}
FEW = {key: value for key, value in HALF.items() if int(key[0][1:]) < 15}


@pytest.fixture
def runs(empty_home: Path) -> list[str]:
    reasons = {f"s{i}": f"went wrong {'abcdefghij'[i]}" for i in range(10)}
    return [
        write_run(empty_home, 1, "a", HALF, reasons=reasons),
        write_run(empty_home, 2, "b", {**HALF, ("s29", 1): 20.0}),
        write_run(empty_home, 3, "a", FEW, reasons=reasons),
    ]


def test_all_parts_of_a_report_of_runs_stand_on_what_all_have_but_each_run_is_told_whole(runs: list[str]) -> None:
    section = find_section(ABOUT, View("sage", runs=tuple(runs)), "run_id")
    assert {row["samples"] for row in section.tasks[0].rows} == {15}
    # Ten of the fifteen failed in each of three runs; the eleventh of b lies outside of what all have.
    assert section.failed == sum(n for verdict, _, n, _ in section.owners if verdict == "failed") == 30
    assert {total for *_, total in section.owners} == {45}
    told = [(run["attempts"], run["planned"], run["passed"], run["counted"]) for run in section.runs]
    assert told == [(30, 30, 20, 15), (30, 30, 19, 15), (15, 15, 5, 15)]
    assert section.base == "All figures but those of whole runs are of the same 45 dialogues: what all 3 runs tried"
    assert section.base in words_of(Page(write_report([(ABOUT, View("sage", runs=tuple(runs)), "run_id")])))


def test_a_later_run_of_the_same_samples_takes_nothing_from_a_runs_own_figures(runs: list[str]) -> None:
    section = find_section(ABOUT, View("sage"), "model")
    told = {run["run_id"]: (run["attempts"], run["passed"], run["counted"]) for run in section.runs}
    assert told == {runs[0]: (30, 20, 15), runs[1]: (30, 19, 30), runs[2]: (15, 5, 15)}
    assert {run["run_id"]: run["called"] for run in section.runs} == {
        runs[0]: "a, 30 dialogues", runs[1]: "", runs[2]: "a, 15 dialogues",
    }  # fmt: skip


def test_a_report_calls_runs_as_people_do_and_has_their_notes(runs: list[str]) -> None:
    annotate("name", runs[2], "", "the short one")
    annotate("note", runs[2], "", "only <fifteen>")
    for short in (False, True):
        text = write_report([(ABOUT, View("sage"), "model")], short=short)
        assert "the short one" in words_of(Page(text))
        assert "only &lt;fifteen&gt;" in text


def test_a_short_report_has_the_decision_its_table_and_three_failures(runs: list[str]) -> None:
    subjects = [(ABOUT, View("sage", runs=tuple(runs[:2])), "run_id")]
    whole, short = (write_report(subjects, short=each) for each in (False, True))  # type: ignore[arg-type]
    section = find_section(ABOUT, View("sage", runs=tuple(runs[:2])), "run_id")
    assert section.decision in words_of(Page(short))
    assert whole.count("<article") == 10
    assert short.count("<article") == 3
    assert short.count("<table") == 1
    several = write_report([*subjects, *subjects], short=True)  # type: ignore[list-item]
    assert several.count("<article") == 2
    assert "In short" in several


def test_no_label_of_a_chart_lies_over_the_names_of_its_rows() -> None:
    (mark,) = mark_models(["a"]).values()
    name = "strong, a long name"
    ends = ((0.0, 100.0), (5.0, 95.0), (None, None), (40.0, 60.0), (0.0, 70.0))
    rows = [(f"{mean} {low}", [Value(mean, low, high, mark, "", name)]) for low, high in ends for mean in (0, 50, 99)]
    for dot in draw(rows, (0.0, 100.0), "").dots:
        width = 6.4 * len(dot.label)
        left, right = (dot.beside - width, dot.beside) if dot.before else (dot.beside, dot.beside + width)
        assert LEFT <= left < right <= WIDTH


def test_a_report_of_one_task_of_several_names_it_where_it_decides(empty_home: Path) -> None:
    about = REGISTRY["crmarena"].declaration
    tasks = {f"s{i}": "case_routing" if i < 15 else "handle_time" for i in range(30)}
    for number, model in enumerate("ab", 1):
        write_run(empty_home, number, model, HALF, benchmark="crmarena", tasks=tasks)
    (title,) = (task.title for task in about.card.tasks if task.id == "case_routing")
    view = View("crmarena", tasks=("case_routing",))
    assert find_section(about, view, "model").decision.startswith(f"{title} alone: cannot tell yet who leads")
    for short in (False, True):
        text = write_report([(about, view, "model")], short=short)
        assert f"<h1>CX Lab report: CRMArena, {title}</h1>" in text
        assert f'<h2 dir="auto">{title} alone: ' in text
        assert " alone: " not in write_report([(about, View("crmarena"), "model")], short=short)
    runs = tuple(run["run_id"] for run in find_section(about, view, "model").runs)
    told = words_of(Page(write_report([(about, view.change(runs=runs), "run_id")], short=True)))
    # Each run is told of whole, so it is said that this is of more than the task.
    assert told.count(f"20 of 30 {about.card.unit[1]} passed in all its tasks") == 2


@pytest.mark.parametrize(("titles", "models", "said", "warns"), [
    (["Framework"], "aa", "These runs differ in framework: that is what is compared", False),
    ([], "ab", "These runs differ in model: that is what is compared", False),
    ([], "aa", "Same conditions: these runs differ in nothing", False),
    (["Framework"], "ab", "These runs differ in model and framework: a difference may be due to any of these", True),
    (["Seed", "Turns"], "aa", "These runs differ in seed and turns: a difference may be due to any of these", True),
])  # fmt: skip
def test_only_where_several_things_differ_is_it_warned_of(
    titles: list[str], models: str, said: str, warns: bool
) -> None:
    assert say_apart(titles, models) == (said, warns)
