"""The page Retrieval as a script sees it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

from cxlab import jobs
from cxlab.store import write
from cxlab.views import benchmarks
from cxlab.views.retrieval.board import say_best
from tests.pages.app_script import catch_orders
from tests.stores.searches import DATASET, HOSTILE, make_searched_store, samples

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_searched_store(tmp_path_factory.mktemp("searched-page"))


@pytest.fixture
def home(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(store))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    return store


def open_page(**query: Any) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app.query_params["goto"] = "retrieval"
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def turn_to(app: AppTest, **query: Any) -> None:
    """The same session with another address."""
    for key in list(app.query_params):
        del app.query_params[key]
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception, query


def words(app: AppTest) -> str:
    parts = [*app.title, *app.subheader, *app.caption, *app.markdown, *app.info, *app.error, *app.text]
    return "\n".join(str(part.value) for part in parts).replace("\\", "").replace("\u2060", "")


def test_an_empty_store_says_what_would_be_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    app = open_page()
    assert "There is no dataset to search in yet" in words(app)
    assert [button.label for button in app.button] == ["Generate or import a dataset"]


def test_an_empty_page_says_that_the_demo_is_being_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    app = open_page()
    assert not app.info
    monkeypatch.setattr(jobs, "is_building_demo", lambda: True)
    for page in ("retrieval", "knowledge"):
        app = open_page(goto=page)
        assert "The demo is being built" in app.info[0].value


def test_columns_that_a_table_lacks_are_named_and_the_rest_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_searched_store(tmp_path)
    monkeypatch.setenv("CXLAB_HOME", str(home))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    path = home / "datasets" / DATASET / "articles.parquet"
    pl.read_parquet(path).drop("topic", "title", "body", "corpus", "relations").write_parquet(path)
    for tab, said in {
        "": "Hybrid with MiniLM 500/50: hit@10 100.0",
        "areas": "articles of this dataset name no topics",
        "misses": "puts a right article first on every query",
    }.items():
        app = open_page(tab=tab)
        assert said in words(app) + str([each.value for each in app.success])
    app = open_page(tab="query", attempt="run-fair/run-fair-s3")
    assert any("lacks body, corpus, title" in each.value for each in app.text)
    app = open_page(goto="knowledge", dataset=DATASET)
    assert "kind, topic, title, body, format, corpus" in app.warning[0].value
    app = open_page(goto="knowledge", dataset=DATASET, tab="articles")
    assert "A1" in words(app) or any("A1" in str(frame.value.to_dict()) for frame in app.dataframe)


def test_the_board_names_the_best_index_and_what_the_paper_reports(home: Path) -> None:
    app = open_page()
    first = "Hybrid with MiniLM 500/50: hit@10 100.0, 25.0 above BM25 1000/100"
    assert f"{first}: too close to call against 2 of 2 others, see Differences" in words(app)
    assert "Table 4" in words(app)
    board = next(frame.value for frame in app.dataframe if "mrr@10" in frame.value.columns)
    assert board["name"].tolist() == ["Hybrid with MiniLM 500/50", "BM25 1000/100", "BM25 500/0"]
    assert board["hit@10"].tolist() == [100.0, 75.0, 25.0]


def test_who_is_ahead_for_sure_is_told_by_the_paired_test_as_on_compare() -> None:
    def said(means: dict[str, float], *behind: str) -> str:
        names = {"a": "A", "b": "B", "c": "C"}
        return say_best(means, behind, names, "nDCG").replace("\\", "")

    assert said({"a": 21.6, "b": 16.1}, "b") == "A: nDCG 21.6, 5.5 above B for sure"
    assert said({"a": 21.6, "b": 16.1}).endswith("B: too close to call, see Differences")
    three = {"a": 21.6, "b": 16.1, "c": 1.0}
    assert said(three, "b", "c").endswith("above B, and ahead of all 2 others for sure")
    assert said(three, "c").endswith("too close to call against 1 of 2 others, see Differences")
    assert said({"a": 5.0, "b": 5.0}) == "A: nDCG 5.0, the same as B"
    assert said({"a": 5.0}) == "A: nDCG 5.0"


def test_every_question_is_answered(home: Path) -> None:
    expected = {
        "": "Hybrid with MiniLM 500/50: hit@10 100.0",
        "curves": "Looking at 10 articles instead of 1",
        "price": "worth their time",
        "areas": "Lamps is found worst",
        "misses": "",
        "query": "On which queries do the indexes part?",
        "answers": "66.7 % of the answers are correct with Hybrid",
        "gaps": "0 of 2 differ from Hybrid with MiniLM 500/50 for sure",
        "try": "Try another index on this dataset",
    }
    app = open_page()
    for tab, said in expected.items():
        turn_to(app, tab=tab, task="multi_turn" if tab == "answers" else "article_search")
        assert not app.error, tab
        assert said in words(app), tab
        if tab == "misses":
            assert "puts a right article first on every query" in str(app.success[0].value)


def test_what_is_ranked_is_called_as_its_task_declares(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = benchmarks.declared("cxmarena")
    tasks = tuple(
        replace(task, search=replace(task.search, unit=("phone call", "phone calls"))) if task.search else task
        for task in about.card.tasks
    )
    renamed = replace(about, card=replace(about.card, tasks=tasks))
    monkeypatch.setattr(benchmarks, "declared", lambda name: renamed)
    app = open_page()
    seen = {
        "": "",
        "curves": "",
        "misses": "",
        "areas": "",
        "gaps": "",
        "query": "Rank of the right phone call in each index",
    }
    for tab, said in seen.items():
        turn_to(app, tab=tab, task="article_search", **({"field": "run-poor"} if tab == "misses" else {}))
        told = words(app).replace("Find the article", "")  # the task's own name
        assert "rticle" not in told, (tab, told)
        assert said in told
    turn_to(app, tab="query", task="article_search", attempt="run-fair/run-fair-s3", baseline="run-good")
    assert "Phone call" in str([column for frame in app.dataframe for column in (frame.proto.columns,)])
    assert "Looking at 10 phone calls instead of 1" in words(open_page(task="article_search", tab="curves"))


def test_misses_of_one_index_narrowed_by_kind(home: Path) -> None:
    app = open_page(tab="misses", field="run-poor", alike="missing|area")
    assert "leaves the right article out of the first 10 on 3 of 4 queries; on 1 more it is not first" in words(app)
    rows = next(frame.value for frame in app.dataframe if "right_title" in frame.value.columns)
    assert rows["query"].tolist() == ["aero"]


def test_one_query_by_its_address_with_text_that_stays_text(home: Path) -> None:
    app = open_page(tab="query", attempt="run-fair/run-fair-s3", baseline="run-good")
    assert HOSTILE in [each.value for each in app.text]
    assert "BM25 1000/100" in words(app)
    assert "Hybrid with MiniLM 500/50" in words(app)
    assert not any("mrr@10" in frame.value.columns for frame in app.dataframe)  # by itself, without the board
    for each in (*app.markdown, *app.caption, *app.subheader):
        assert "![x](" not in str(each.value)


def test_nonsense_in_the_address_is_ignored(home: Path) -> None:
    app = open_page()
    for query in (
        {"tab": "x", "metric": "'; --", "at": "999"},
        {"tab": "misses", "field": "gone", "alike": "a|b|c", "stage": "nowhere"},
        {"run": ["run-good"], "tab": "gaps"},
    ):
        turn_to(app, **query)
        assert not app.error, query


def test_a_grid_of_indexes_is_ordered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(make_searched_store(tmp_path)))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    started = catch_orders(monkeypatch)
    before = {run.id for run in write.list_runs()}
    grid = {"try-retrieval": ["bm25", "lexical"], "try-chunk": ["250", "1000"]}
    app = open_page(tab="try", overlap="20", on=["Find the article"], **grid)
    shown = {metric.label: metric.value for metric in app.metric}
    assert (shown["Runs"], shown["Searches"], shown["Cost"]) == ("4", "16", "$0")
    app.button(key="start").click().run()
    assert not app.exception
    made = [run for run in write.list_runs() if run.id not in before]
    assert {(run.setup["options"]["retrieval"], run.setup["options"]["chunk"], run.setup["options"]["overlap"])
            for run in made} == {(m, size, size // 5) for m in ("bm25", "lexical") for size in (250, 1000)}  # fmt: skip
    assert {run.planned for run in made} == {4}
    assert started == [["run", *(f"--resume={run.id}" for run in sorted(made, key=lambda r: started[0].index(
        f"--resume={r.id}"))), "--quiet"]]  # fmt: skip
    assert app.query_params["job"]


def test_answers_are_written_and_judged_only_where_somebody_asks_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(make_searched_store(tmp_path)))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    catch_orders(monkeypatch)
    before = {run.id for run in write.list_runs()}
    app = open_page(tab="try", on=["Find and answer within a conversation"], **{"with-query": "last"})
    assert app.toggle(key="with-respond").value is False
    app.toggle(key="with-respond").set_value(True).run()
    app.button(key="start").click().run()
    assert not app.exception
    (made,) = [run for run in write.list_runs() if run.id not in before]
    options = made.setup["options"]
    assert (options["query"], options["respond"], options["answer"]) == ("last", True, False)
    assert len(made.judges) == 3


def test_one_index_is_one_row_whoever_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_searched_store(tmp_path)
    monkeypatch.setenv("CXLAB_HOME", str(home))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    run_again(home, "run-good", "run-same", "simulated:weak")
    app = open_page()
    said = words(app)
    assert "Hybrid with MiniLM 500/50: hit@10 100.0, 25.0 above BM25 1000/100" in said
    assert "1 more run with one of these indexes is not a row of its own" in said
    board = next(frame.value for frame in app.dataframe if "mrr@10" in frame.value.columns)
    assert board["name"].tolist() == ["Hybrid with MiniLM 500/50", "BM25 1000/100", "BM25 500/0"]
    # A link that names the other run leads to the index.
    app = open_page(run=["run-good"])
    assert app.multiselect(key="retrieval-runs").value in (["run-good"], ["run-same"])


def run_again(home: Path, known: str, name: str, model: str) -> None:
    """The same run by another model."""
    shutil.copytree(home / "runs" / known, home / "runs" / name)
    record = home / "runs" / name / "run.json"
    told = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps(told | {"id": name, "model": model}), encoding="utf-8")
    for part in (home / "runs" / name).rglob("*.parquet"):
        frame = pl.read_parquet(part)
        changes = {column: pl.lit(value) for column, value in (("run_id", name), ("model", model)) if column in frame}
        frame.with_columns(**changes).write_parquet(part)


def test_what_cannot_be_ordered_is_said(home: Path) -> None:
    app = open_page(tab="try", **{"try-retrieval": ["nonsense:x"]})
    assert "nonsense" in app.warning[0].value
    assert app.button(key="start").disabled


def test_a_dataset_that_nobody_searched_offers_the_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = make_searched_store(tmp_path / "source")
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CXLAB_NO_AUTOSTART", "1")
    articles = write.load_table(DATASET, "articles", source)
    write.save_dataset(write.load_dataset(DATASET, source), samples(), tables={"articles": articles})
    app = open_page()
    assert "No index has searched this dataset for the task “Find the article” yet" in words(app)
    assert not app.button(key="start").disabled
