"""What the page Retrieval reads, on a store in which every rank is known."""

from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cxlab.benchmarks.contract import Scored
from cxlab.errors import UnknownName
from cxlab.metrics.retrieval import evaluate
from cxlab.read import View, score_table
from cxlab.records import Attempt, Dataset, Run, Sample
from cxlab.records.benchmark_card import Search
from cxlab.store import write
from cxlab.views.retrieval import queries, queries_datasets, queries_errors
from cxlab.views.retrieval.relations import expect_by_chance
from tests.stores.searches import (
    DATASET,
    GOLD,
    HOSTILE,
    QUERIES,
    RANKED,
    JudgingWriter,
    attempt,
    lose,
    make_searched_store,
    samples,
)  # fmt: skip
from tests.stores.verdicts import decide

SEARCH = (DATASET, "article_search")
RUNS = tuple(RANKED)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_searched_store(tmp_path_factory.mktemp("searched"))


@pytest.fixture(autouse=True)
def home(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(store))
    return store


def mean(run: str, metric: str) -> float:
    return float(queries.board(*SEARCH, RUNS).filter(run_id=run, metric=metric)["mean"][0])


def test_a_perfect_index_has_100_and_ranks_are_counted_without_repetitions() -> None:
    assert {mean("run-good", metric) for metric in queries.METRICS if metric != "precision@10"} == {100.0}
    assert mean("run-good", "precision@10") == 10.0  # one of ten is all that can be right
    # Fair finds at 2, 1, 12 and 2; poor never, at 5, never, and for one query nothing at all.
    assert [mean("run-fair", f"hit@{k}") for k in (1, 5, 10)] == [25.0, 75.0, 75.0]
    assert mean("run-fair", "recall@20") == 100.0
    assert mean("run-fair", "mrr@10") == pytest.approx(100 * (1 / 2 + 1 + 0 + 1 / 2) / 4)
    assert mean("run-poor", "mrr@10") == pytest.approx(100 * (1 / 5) / 4)


def test_the_board_says_what_the_runs_own_scores_say() -> None:
    names = ("hit@1", "hit@10", "mrr@10", "ndcg@10", "precision@10")
    stored = score_table(View(tasks=("article_search",)), by=("run_id",), metrics=names)
    for run, metric, value in stored.select("run_id", "metric", "mean").iter_rows():
        assert mean(run, metric) == pytest.approx(value)


def test_curves_rise_and_end_in_the_board() -> None:
    found = queries.curves(*SEARCH, RUNS).filter(kind="hit").sort("run_id", "k")
    for (run,), part in found.group_by("run_id"):
        assert part["mean"].is_sorted()
        assert part.filter(k=10)["mean"][0] == mean(str(run), "hit@10")


def test_the_public_count_needs_chunks() -> None:
    board = queries.board(*SEARCH, RUNS).filter(metric=queries.PUBLIC)
    told = dict(board.select("run_id", "mean").iter_rows())
    assert told == {"run-good": None, "run-fair": 75.0, "run-poor": 25.0}


def test_two_runs_of_one_index_are_told_apart_by_model_then_by_number() -> None:
    told = [
        ("BM25", "simulated:strong"),
        ("BM25", "simulated:weak"),
        ("MiniLM", "a"),
        ("MiniLM", "a"),
        ("Lexical", "a"),
    ]
    runs = [{"name": name, "model": model} for name, model in told]
    queries.tell_apart(runs)
    assert [run["whole"] for run in runs] == ["BM25, strong", "BM25, weak", "MiniLM", "MiniLM (2)", "Lexical"]


def test_indexes_have_names() -> None:
    runs = queries.load(*SEARCH).runs
    assert runs["name"].to_list() == ["Hybrid with MiniLM 500/50", "BM25 1000/100", "BM25 500/0"]
    assert (
        queries.name_index("hybrid:openai:text-embedding-3-small", 500, 0) == "Hybrid with text-embedding-3-small 500/0"
    )
    assert queries.name_index("endpoint:me/bge", 250, 25, "endpoint:me/bge@1f") == "me/bge 250/25"


def test_chance_is_the_mean_over_all_orders() -> None:
    size, gold = 6, 2
    orders = [list(order) for order in permutations(range(size))]
    truth = evaluate(orders, [range(gold)] * len(orders), cutoffs=(1, 5, 10, 20))
    found = expect_by_chance(np.array([gold]), size)
    for metric, name in queries.METRICS.items():
        assert found[metric] == pytest.approx(100 * truth[name]), metric


def test_floors_are_below_what_searches() -> None:
    found = {(name, metric): value for name, metric, value in queries.floors(*SEARCH).iter_rows()}
    assert found["chance", "recall@10"] == pytest.approx(100 * 10 / 35)
    assert found["commonest", "hit@1"] == 50.0  # A1 is right for two of four


def test_areas_are_roots_of_the_right_article() -> None:
    found = queries.areas(*SEARCH, RUNS, "hit@10")
    told = {(run, area): (value, n) for run, area, value, n in found.select("run_id", "area", "mean", "n").iter_rows()}
    assert told["run-poor", "Lamps"] == (pytest.approx(100 / 3), 3)
    assert told["run-poor", "Returns"] == (0.0, 1)


def test_misses_are_told_apart_by_the_topic_tree() -> None:
    def kinds(run: str) -> dict[str, tuple[str, str]]:
        rows = queries_errors.rows(*SEARCH, run, 10)
        return {name: (where, first) for name, where, first in rows.select("sample_id", "where", "first").iter_rows()}

    assert kinds("run-good") == {}
    assert kinds("run-fair") == {"s0": ("late", "sibling"), "s2": ("beyond", "kin"), "s3": ("late", "elsewhere")}
    assert kinds("run-poor") == {
        "s0": ("missing", "elsewhere"), "s1": ("late", "sibling"), "s2": ("missing", "area"),
        "s3": ("empty", "nothing")
    }  # fmt: skip
    counts = queries_errors.counts(*SEARCH, RUNS, 10)
    assert set(counts["run_id"]) == {"run-fair", "run-poor"}
    assert counts.filter(run_id="run-poor")["n"].sum() == 4
    assert counts["short"].sum() == 2  # "aero" is the only short query, missed by two
    # With one article to look at nothing is late any more.
    assert set(queries_errors.counts(*SEARCH, ("run-fair",), 1)["where"]) == {"beyond"}
    assert queries_errors.rows(*SEARCH, "run-poor", 10, where="missing", first="area")["sample_id"].to_list() == ["s2"]
    assert queries_errors.rows(*SEARCH, "run-poor", 10, short=True)["query"].to_list() == ["aero"]


def test_paired_differences_are_those_of_the_means() -> None:
    found = queries.differences(*SEARCH, RUNS, "run-good", "hit@10")
    told = {row["run_id"]: row for row in found.iter_rows(named=True)}
    for run in ("run-fair", "run-poor"):
        assert told[run]["difference"] == pytest.approx(mean(run, "hit@10") - 100)
        assert (told[run]["wins"], told[run]["ties"] + told[run]["losses"], told[run]["n"]) == (0, 4, 4)
    assert found["verdict"].to_list() == ["cannot tell", "cannot tell"]  # four queries prove nothing


def test_one_query_in_two_indexes() -> None:
    sample, asked = queries_errors.one_query(*SEARCH, "s0", ["run-fair", "run-good"])
    assert (sample["query"], sample["gold"], sample["corpus"]) == (QUERIES[0], [GOLD[0]], "search")
    assert [one.run_id for one in asked] == ["run-fair", "run-good"]
    assert asked[0].ranking.select("document_id", "right", "score").rows() == [("A2", False, 9.0), ("A1", True, 8.0)]
    assert asked[1].ranking["document_id"].to_list() == ["A1", "A2"]
    with pytest.raises(UnknownName, match="query"):
        queries_errors.one_query(*SEARCH, "gone", ["run-fair"])


def test_queries_on_which_indexes_part_come_first() -> None:
    found = queries_errors.queries(*SEARCH, RUNS)
    assert found["gap"].is_sorted(descending=True)
    assert found.filter(sample_id="s1").select(RUNS).row(0) == (1, 1, 5)
    assert queries_errors.queries(*SEARCH, RUNS, "CLEANING water")["sample_id"].to_list() == ["s1"]
    assert queries_errors.queries(*SEARCH, RUNS, "evil")["query"].to_list() == [HOSTILE]


def test_answers_keep_what_judges_could_not_say_apart() -> None:
    found = queries_errors.answers(DATASET, "multi_turn", RUNS)
    told = {(run, kind): (n, total) for run, kind, n, total in found.select("run_id", "kind", "n", "total").iter_rows()}
    assert told == {
        ("run-good", "correct"): (2, 3), ("run-good", "split"): (1, 3), ("run-fair", "correct"): (1, 3),
        ("run-fair", "incorrect"): (1, 3), ("run-fair", "refusal"): (1, 3),
    }  # fmt: skip
    assert queries_errors.answers(*SEARCH, RUNS).is_empty()


def test_a_turn_without_a_right_article_is_in_no_mean() -> None:
    board = queries.board(DATASET, "multi_turn", ("run-fair",)).filter(metric="recall@10").row(0, named=True)
    assert (board["mean"], board["n"]) == (25.0, 2)  # half of two articles, none of one; the third has none


def test_what_a_provider_cut_short_is_lost_and_in_no_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(make_searched_store(tmp_path)))
    lose(tmp_path)
    runs = queries.load(*SEARCH).runs
    assert runs.select("run_id", "lost").rows()[-1] == ("run-lost", 4)
    assert queries.board(*SEARCH, ("run-lost",)).is_empty()
    assert queries.price(*SEARCH, RUNS, "hit@10")["n"].to_list() == [4, 4, 4]
    assert queries.past_seconds(DATASET)["bm25"] == pytest.approx(1 + 4 * 0.002 + 1 + 3 * 0.001)


def test_another_benchmarks_search_of_another_table_by_its_own_areas(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conversations are ranked, queries are grouped by a facet, and an index has a unit in place of chunks."""
    search = Search("all", "talks", ("conversation", "conversations"), "talks", "talk_id", area="mood")
    monkeypatch.setattr(queries_datasets, "ranking_tasks", lambda name: {"find": search} if name == "talks" else {})
    monkeypatch.setattr(queries_datasets, "REGISTRY", {"talks": None})
    monkeypatch.setattr(queries, "read_defaults", lambda name: {})
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    dataset = Dataset(
        id="talks-1", benchmark="talks", name="T", source="generated", config={}, seed=1, licence="own", created=begun
    )
    asked = [
        Sample(
            id=f"q{n}", dataset_id="talks-1", benchmark="talks", task="find", inputs={"query": "angry callers"},
            expected={"talks": ["T1", "T2"]}, facets={"mood": mood},
        )
        for n, mood in enumerate(("anger", "joy"))
    ]  # fmt: skip
    write.save_dataset(dataset, asked, tables={"talks": pl.DataFrame({"talk_id": ["T1", "T2", "T3"]})})
    run = Run(
        id="run-t", benchmark="talks", dataset_id="talks-1", model="simulated:strong", simulated=True, judges=(),
        prompts={}, seed=1, trials=1, planned=2, code="test", setup={"options": {}}, created=begun,
    )  # fmt: skip
    write.create_run(run)
    with write.PartWriter(run, {sample.id: sample for sample in asked}) as writer:
        for sample, ranked in zip(asked, (["T1", "T3"], ["T3"]), strict=True):
            attempt = Attempt(
                id=f"a-{sample.id}", run_id="run-t", sample_id=sample.id, trial=1, outcome="ok", ended_by="find",
                output={"ranked": ranked, "index": {"retrieval": "bm25", "unit": "window"}}, latency_s=0.1,
                cost_usd=0.0, started=begun,
            )  # fmt: skip
            writer.add(attempt, decide("cxmarena", "article_search", attempt, Scored()))
    assert queries_datasets.datasets().select("dataset_id", "benchmark", "task").rows() == [
        ("talks-1", "talks", "find")
    ]
    assert queries.load("talks-1", "find").runs["name"].to_list() == ["BM25 window"]
    found = queries.areas("talks-1", "find", ["run-t"], "recall@10")
    assert dict(found.select("area", "mean").iter_rows()) == {"anger": 50.0, "joy": 0.0}
    sample, (one,) = queries_errors.one_query("talks-1", "find", "q0", ["run-t"])
    assert (sample["gold"], one.ranking["right"].to_list()) == (["T1", "T2"], [True, False])


def test_indexes_are_compared_on_the_queries_that_all_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_searched_store(tmp_path)
    whole = queries.compare_runs(*SEARCH, RUNS, False)
    assert (set(whole.runs), whole.queries, whole.others) == (set(RUNS), 4, {})
    monkeypatch.setenv("CXLAB_HOME", str(home))
    run = write.load_run("run-poor", home).model_copy(update={"id": "run-part"})
    write.create_run(run, home)
    by_id = {sample.id: sample for sample in samples()}
    with JudgingWriter(run, by_id, home=home) as parts:
        made, scored = attempt("run-poor", by_id["s0"])
        parts.add(made.model_copy(update={"id": "part-s0", "run_id": run.id}), scored)
    every = (*RUNS, "run-part")
    found = queries.compare_runs(*SEARCH, every, False)
    assert (set(found.runs), found.queries, found.others) == (set(RUNS), 4, {"run-part": 1})
    # Who is picked is compared with all others that were, on what they share.
    picked = queries.compare_runs(*SEARCH, every, True)
    assert (set(picked.runs), picked.queries) == (set(every), 1)
    assert set(queries.board(*SEARCH, every).filter(metric="hit@10")["n"]) == {1}
    alone = queries.board(*SEARCH, ("run-good",)).filter(metric="hit@10")
    assert alone["n"].item() == 4
