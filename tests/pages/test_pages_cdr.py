"""What pages show of a benchmark whose models under test are retrievers."""

from collections.abc import Iterator

import pytest

from cxlab.benchmarks.cdr.corpus.dataset import build
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import load, write
from cxlab.views.retrieval import queries, queries_across
from tests.benchmarks.cdr.conftest import AREAS, CORPUS, QUERIES, RELEVANT
from tests.pages.app_script import catch_orders, open_page, words

MODELS = ("retriever:bm25", "retriever:conversation", "retriever:random", "simulated:strong")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A store with one dataset on which four models ran; the dataset's id."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXLAB_HOME", str(tmp_path_factory.mktemp("cdr-pages")))
        patch.setenv("CXLAB_NO_AUTOSTART", "1")
        relevant = {**RELEVANT, "q3": {"refund"}}
        dataset, samples, tables = build(
            "Six talks", "generated", CORPUS, QUERIES, relevant, AREAS, config={}, licence="own work"
        )
        write.save_dataset(dataset, samples, tables=tables)
        runs = create_runs(RunRequest("cdr", MODELS, dataset_id=dataset.id))
        launch([run.id for run in runs], ExecutionOptions(quiet=True, workers=1))
        yield dataset.id


def test_retrieval_ranks_retrievers_and_keeps_floors_out(store: str) -> None:
    said = words(open_page("retrieval", tasks="session"))
    assert "nDCG@10" in said
    assert "Ran as well: Random (floor)" in said
    assert "Table 11" in said
    assert "article" not in said
    areas = words(open_page("retrieval", tasks="turn", tab="areas"))
    assert "Conversation Dynamics" in areas or "Intent & Purpose" in areas or "Emotion & Feedback" in areas
    assert "told by rules" in words(open_page("retrieval", tasks="session", tab="misses"))


def test_another_retriever_is_tried_from_the_page(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    orders = catch_orders(monkeypatch)
    app = open_page("retrieval", tasks="session", tab="try")
    (box,) = [each for each in app.multiselect if each.label == "Retrievers"]
    assert box.value == ["retriever:bm25", "retriever:conversation"]
    box.set_value(["retriever:lexical"]).run()
    assert not app.exception
    app.button(key="start").click().run()
    assert not app.exception
    assert next(run.model for run in write.list_runs()) == "retriever:lexical"
    assert orders


def test_run_offers_retrievers_and_chat_models_and_asks_for_no_judge(store: str) -> None:
    app = open_page("run", bench="cdr", dataset=store)
    (box,) = [each for each in app.multiselect if each.label == "Models to evaluate"]
    assert box.value == ["retriever:bm25", "retriever:conversation"]
    assert {"hub retriever", "strong · simulated"} <= {*box.options}
    assert not [each for each in app.multiselect if each.label == "Judges"]


def test_failures_name_kinds(store: str) -> None:
    app = open_page("failures")
    assert not app.exception
    assert "Queries" in [each.label for each in app.metric]


def test_one_attempt_shows_its_ranking_beside_what_is_relevant(store: str) -> None:
    run = next(run for run in write.list_runs() if run.model == "retriever:bm25")
    attempt = next(made for made, _ in load.load_attempts(run.id) if made.messages[0].text == QUERIES["q2"])
    app = open_page("failures", attempt=f"{run.id}/{attempt.id}")
    assert not app.exception
    grids = "\n".join(str(each.proto) for each in app.get("html"))
    assert "✓ right" in words(app) + grids
    assert "login" in words(app) + grids


def test_conversations_says_which_retriever_to_trust_for_which_area(store: str) -> None:
    app = open_page("conversations", dataset=store, tab="trust")
    assert not app.exception
    said = words(app)
    assert "conversation is ahead on average" in said
    assert "Conversation Dynamics: conversation" in said
    assert "random" not in said


def test_a_retriever_is_compared_with_itself_at_another_granularity(store: str) -> None:
    found = queries_across.differences(store, "turn", [run.id for run in write.list_runs()][-4:], "ndcg@10")
    assert set(found["other"]) == {"session", "window"}
    assert set(found["n"]) == {4}
    assert found["unmatched"].sum() == 0
    known = {task: queries.load(store, task) for task in ("turn", "session")}
    for run, other, difference in found.select("run_id", "other", "difference").iter_rows():
        if other == "session":
            means = [
                known[task].figures["ndcg@10"][(known[task].rows["run_id"] == run).to_numpy()].mean()
                for task in ("turn", "session")
            ]
            assert difference == pytest.approx(means[0] - means[1])
    said = words(open_page("retrieval", tasks="turn", tab="gaps"))
    assert "differ from themselves at another task" in said
