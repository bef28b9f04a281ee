"""Overview, Compare and Failures on a benchmark of tasks, whose samples are answers and no dialogues."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cxlab import read
from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.cxmarena.importers import published_dataset
from cxlab.metrics.intervals import mean_interval
from cxlab.read import View, failures
from cxlab.read.comparison.ranking import rank
from cxlab.read.results.scores import score_table
from cxlab.read.results.tasks import task_costs
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.plan import SampleFilter
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import write
from cxlab.ui.labels import PASSED_OF_ALL
from cxlab.views.compare import queries
from tests.benchmarks.cxmarena.importers import cxm_folder
from tests.pages.app_script import open_page, words

MODELS = ("simulated:strong", "simulated:floor")
HEADLINES = {"intent": "intent", "quality": "question_accuracy", "tools": "tools@16"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with two models' answers to an imported folder of eight samples."""
    base = tmp_path_factory.mktemp("answers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(base / "home"))
        patch.setenv("CXLAB_NO_AUTOSTART", "1")
        found = published_dataset.import_folder(cxm_folder.store(base / "folder", cxm_folder.make()))
        order = RunRequest("cxmarena", MODELS, judges=("simulated:judge-strict",), dataset_id=found.dataset.id)
        launch([run.id for run in create_runs(order)], ExecutionOptions(workers=1, quiet=True))
        yield base / "home"


def attempt_of(task: str, model: str = "simulated:floor") -> str:
    page = failures.rows(View(tasks=(task,), models=(model,), metric="right"))
    return f"{page.frame['run_id'][0]}/{page.frame['attempt_id'][0]}"


def test_each_task_is_led_by_its_own_figure(home: Path) -> None:
    view = View(benchmark="cxmarena", tasks=tuple(HEADLINES))
    found = {each.task.id: each for each in rank(REGISTRY["cxmarena"].declaration, view).tasks}
    assert list(found) == list(HEADLINES)
    assert {task: each.task.metric for task, each in found.items()} == HEADLINES
    intent = found["intent"]
    assert (intent.leader, intent.table["value"][0]) == ("simulated:strong", 100)
    assert intent.floors["value"][0] < 100
    # Three questions in two samples: each sample counts once.
    assert found["quality"].table["samples"].to_list() == [2]


def test_overview_shows_a_row_a_task(home: Path) -> None:
    app = open_page()
    assert not app.exception
    assert app.subheader[0].value.startswith("CXMArena: only strong has been evaluated")
    by_task, board = (each.value for each in app.dataframe[:2])
    titles = {task.id: task.title for task in REGISTRY["cxmarena"].card.tasks}
    assert {titles["intent"], titles["quality"], titles["tools"]} <= set(by_task["task"])
    assert set(by_task["lead"]) == {"–"}
    assert "attempts" not in board.columns
    assert "of 8 answers of each" in words(app)


def test_wrong_answers_are_counted_and_grouped_by_what_is_wrong_with_them(home: Path) -> None:
    view = View(benchmark="cxmarena", models=("simulated:floor",))
    groups = failures.groups(view)
    assert set(groups["kind"]) == {"answer"}
    assert "called nothing; due track_parcel" in groups["detail"].to_list()
    rows = failures.rows(view.change(metric="right")).frame
    wrong = rows.filter(rows["reason"].is_not_null())
    assert failures.counts(view)["failed"] == wrong.height == (rows["score"] == 0).sum() > 0
    chosen = failures.rows(view.change(metric="right", alike=groups["alike"][0])).frame
    # An answer of which two things are wrong is in the group of each.
    assert all(groups["detail"][0] in reason.split("\n") for reason in chosen["reason"])
    assert read.facets(view, ("errors",))["value"].to_list().count("answer") == 1


def test_failures_speaks_of_answers(home: Path) -> None:
    app = open_page("failures", benchmark="cxmarena")
    assert not app.exception
    # Floors are out of the list until one is asked for.
    assert "called nothing; due “track parcel”" not in app.dataframe[-1].value["reason"].tolist()
    assert not app.toggle(key="failures-floors").value
    app = open_page("failures", benchmark="cxmarena", model="simulated:floor")
    assert [metric.label for metric in app.metric] == ["Answers", PASSED_OF_ALL, "No verdict"]
    assert "called nothing; due “track parcel”" in app.dataframe[-1].value["reason"].tolist()


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("intent", "Called 'Others', which the taxonomy does not have; due '"),
        ("quality", "; due "),
        ("article_search", "How long does the warranty of the Cirrus Fan last?"),
        ("tools", "Called nothing; due “track parcel”"),
        ("kb_refinement", "pairs missed or invented"),
    ],
)
def test_one_answer_shows_what_was_given_and_due(home: Path, task: str, said: str) -> None:
    app = open_page("failures", benchmark="cxmarena", attempt=attempt_of(task))
    assert not app.exception
    assert app.metric[0].label == "Verdict"
    assert said in words(app)


def test_compare_takes_a_task_at_a_time_and_sets_two_answers_side_by_side(home: Path) -> None:
    app = open_page("compare", benchmark="cxmarena", task="tools", attempt=attempt_of("tools"))
    assert not app.exception
    assert app.selectbox(key="cx-filter-metric").value == "tools@16"
    assert "intent" not in app.selectbox(key="cx-filter-metric").options
    assert "on the same sample" in words(app)
    assert "Called nothing; due “track parcel”" in words(app)


def test_costs_are_told_task_by_task_and_unknown_is_not_zero(home: Path) -> None:
    frame = task_costs(View(benchmark="cxmarena", models=("simulated:strong",)))
    assert dict(frame.select("task", "n").iter_rows()) == {
        "article_search": 1, "intent": 2, "kb_refinement": 1, "multi_turn": 1, "quality": 2, "tools": 1,
    }  # fmt: skip
    calls = dict(frame.select("task", "calls").iter_rows())
    # Search asks no model; two list sizes are two calls; a query and an answer are two.
    assert (calls["article_search"], calls["intent"], calls["tools"], calls["multi_turn"]) == (0, 1, 2, 2)
    assert frame["completion_tokens"].null_count() == frame.height
    app = open_page("compare", benchmark="cxmarena", task="intent", tab="front")
    assert not app.exception
    assert "Table 10" in words(app)


def test_trials_are_one_value_each(home: Path) -> None:
    order = RunRequest("cxmarena", ("simulated:weak",), dataset_id=write.list_datasets()[0].id,
                       choice=SampleFilter(where=(("scenario", "intent"),)), trials=3,
                       judges=("simulated:judge-strict",))  # fmt: skip
    (run,) = create_runs(order)
    launch([run.id], ExecutionOptions(workers=1, quiet=True))
    view = View(benchmark="cxmarena", runs=(run.id,), metric="intent")
    scores = score_table(view, by=("trial",))["mean"]
    found = queries.repeated(view).row(0, named=True)
    assert (found["trials"], found["mean"]) == (3, pytest.approx(scores.mean()))
    assert (found["lowest"], found["highest"]) == (scores.min(), scores.max())
    about = mean_interval(scores.to_numpy(), (0, 100))
    assert (found["low"], found["high"]) == pytest.approx((about.low, about.high))
    assert queries.repeated(view.change(runs=(), models=("simulated:strong",))).is_empty()
