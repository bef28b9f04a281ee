"""What several samples share counts once in every interval: held against brute force over whole clusters."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from cxlab.benchmarks import REGISTRY
from cxlab.metrics.intervals import clustered_interval
from cxlab.metrics.paired import paired_difference
from cxlab.read import View, score_table
from cxlab.read.comparison import score_sums
from cxlab.read.comparison.decision import decide
from cxlab.read.comparison.ranking import SEED, rank
from cxlab.read.comparison.words import say_set
from cxlab.read.query import ask
from cxlab.read.sample_clusters import TABLE, add_cluster, as_table
from cxlab.records import Dataset, Sample
from cxlab.report.decision_figures import list_figures
from cxlab.store import write
from cxlab.views.compare.queries_verdicts import count_flips, flips
from tests.stores.runs import write_run

TASKS, EACH = 9, 4
MM = REGISTRY["mmtaup2"].declaration


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    return tmp_path


def store(home: Path, benchmark: str, samples: Sequence[tuple[str, dict[str, str]]], dataset: str = "d1") -> None:
    """A dataset of samples with these ids and inputs."""
    about = Dataset(
        id=dataset, benchmark=benchmark, name=dataset, source="generated", config={}, seed=0, licence="CC0-1.0",
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    task = REGISTRY[benchmark].card.tasks[0].id
    made = [
        Sample(id=id, dataset_id=dataset, benchmark=benchmark, task=task, inputs=inputs, expected={})
        for id, inputs in samples
    ]
    write.save_dataset(about, made, home=home)


def task_of(sample: str) -> str:
    return sample.partition("-")[0]


def fill(home: Path, gap: float = 9.0) -> dict[str, dict[str, float]]:
    """Two models on tasks under four personas each; what a model gets hangs on the task, hardly on the persona."""
    rng = np.random.default_rng(5)
    names = [f"t{task}-{persona}" for task in range(TASKS) for persona in range(EACH)]
    store(home, "mmtaup2", [(name, {"domain": "telecom", "id": task_of(name)}) for name in names])
    hard = {f"t{task}": rng.normal(0, 12) for task in range(TASKS)}
    apart = {f"t{task}": gap + rng.normal(0, 12) for task in range(TASKS)}
    values = {
        "one": {name: 60 + hard[task_of(name)] + rng.normal(0, 1) for name in names},
        "two": {name: 60 + hard[task_of(name)] - apart[task_of(name)] + rng.normal(0, 1) for name in names},
    }
    for place, (model, own) in enumerate(values.items()):
        write_run(home, place + 1, model, {(name, 1): value for name, value in own.items()}, benchmark="mmtaup2",
                  task=MM.card.tasks[0].id)  # fmt: skip
    return values


def test_rankings_take_whole_clusters(home: Path) -> None:
    values = fill(home)
    found = rank(MM, View(benchmark="mmtaup2")).tasks[0]
    names = sorted(values["one"])
    clusters = [task_of(name) for name in names]
    scale = MM.card.scale(found.task.metric)
    for side, own in values.items():
        row = found.table.filter(side=side).row(0, named=True)
        by_hand = clustered_interval([own[name] for name in names], clusters, scale)
        assert (row["low"], row["high"]) == pytest.approx((by_hand.low, by_hand.high))
        assert (row["samples"], row["clusters"]) == (TASKS * EACH, TASKS)
    both = [[values[side][name] for name in names] for side in ("two", "one")]
    by_hand_gap = paired_difference(*both, clusters, seed=SEED, resamples=4000, bounds=(-100, 100))
    gap = found.gaps.row(0, named=True)
    assert gap["side"] == "two"
    assert (gap["low"], gap["high"], gap["p"]) == pytest.approx((by_hand_gap.low, by_hand_gap.high, by_hand_gap.p))
    assert (gap["n"], gap["clusters"]) == (TASKS * EACH, TASKS)
    # As if the personas of a task told of themselves each, the same figures would have been sure.
    loose = paired_difference(*both, seed=SEED, resamples=4000, bounds=(-100, 100))
    assert loose.p < 0.05 < gap["p"]
    assert not found.decided
    # A resampled mean of whole tasks spreads as the interval says, within what Student's t and nine tasks leave open.
    rng = np.random.default_rng(0)
    means = np.array([np.mean([values["one"][n] - values["two"][n] for n in names if task_of(n) == f"t{task}"])
                      for task in range(TASKS)])  # fmt: skip
    spread = means[rng.integers(0, TASKS, (4000, TASKS))].mean(axis=1).std()
    assert 1.5 < (gap["high"] - gap["low"]) / 2 / spread < 3.0


def test_words_say_from_how_many_situations_samples_are(home: Path) -> None:
    fill(home)
    found = rank(MM, View(benchmark="mmtaup2")).tasks[0]
    assert say_set(found.compared) == "36 samples from 9 tasks that both models have"
    between = decide(MM, found)
    assert between is not None
    told = {each.label: each.note for each in list_figures(MM, found, between, _priced(found.table), "pass", str)}
    assert "paired on 36 samples from 9 tasks" in next(note for label, note in told.items() if "ahead" in label)
    needed = found.gaps["needed"][0]
    more = -(-int(needed - 36) * TASKS // 36)
    assert f" and these samples come from {more} more task" in told["More samples to settle it"]


def _priced(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(simulated=pl.lit(True), cost_usd=pl.lit(None), latency_s=pl.lit(None))


def test_the_two_tables_of_means_agree_and_are_clustered_alike(home: Path) -> None:
    values = fill(home)
    view = View(benchmark="mmtaup2", metric=MM.card.headline)
    scale = MM.card.scale(MM.card.headline)
    in_sql = score_table(view, ("model",), scales={view.metric: scale}).drop("metric")
    assert_frame_equal(in_sql, score_sums.table(view, ("model",), scale))
    names = sorted(values["one"])
    by_hand = clustered_interval([values["one"][name] for name in names], list(map(task_of, names)), scale)
    row = in_sql.filter(model="one").row(0, named=True)
    assert (row["n"], row["clusters"]) == (36, 9)
    assert (row["low"], row["high"]) == pytest.approx((by_hand.low, by_hand.high))
    by_sample = score_table(view, ("sample_id",))
    assert by_sample.height == 36  # a group of its own each, whatever its cluster


def test_which_samples_belong_together(home: Path) -> None:
    one, other = {"conversation_id": "c1"}, {"conversation_id": "c2"}
    store(home, "cxmarena", [("a", one), ("b", one), ("c", other), ("none", {})], "large")
    store(home, "cxmarena", [("a", one)], "small")  # some of the large one's samples
    store(home, "cxmarena", [("x", one), ("y", one)], "brand")  # another brand numbers its conversations anew
    store(home, "crmarena", [("q", one)], "crm")  # declares no cluster
    asked = pl.DataFrame({"sample_id": ["a", "b", "c", "none", "x", "y", "q", "gone"]})
    told = dict(add_cluster(asked).iter_rows())
    assert told["a"] == told["b"]
    assert told["x"] == told["y"]
    assert len({told["a"], told["c"], told["x"]}) == 3
    assert {name: told[name] for name in ("none", "q", "gone")} == {"none": "none", "q": "q", "gone": "gone"}
    assert ask(f"SELECT count(*) AS n FROM {TABLE}", beside=as_table())["n"].to_list() == [5]


def test_a_sample_alone_in_its_cluster_changes_nothing(home: Path) -> None:
    rng = np.random.default_rng(1)
    values = {side: {(f"s{i}", 1): float(rng.uniform(20, 90)) for i in range(24)} for side in ("one", "two")}
    for place, (model, own) in enumerate(values.items()):
        write_run(home, place + 1, model, own)
    found = rank(REGISTRY["sage"].declaration, View(benchmark="sage")).tasks[0]
    pair = [[value for _, value in sorted(values[side].items())] for side in (found.gaps["side"][0], found.leader)]
    by_hand = paired_difference(*pair, seed=SEED, resamples=4000, bounds=(-100, 100))
    gap = found.gaps.row(0, named=True)
    assert (gap["low"], gap["high"], gap["p"], gap["clusters"]) == pytest.approx(
        (by_hand.low, by_hand.high, by_hand.p, 24)
    )


def test_flips_are_tested_by_whole_clusters(home: Path) -> None:
    names = [f"t{task}-{persona}" for task in range(6) for persona in range(EACH)]
    store(home, "mmtaup2", [(name, {"domain": "telecom", "id": task_of(name)}) for name in names])
    for place, model in enumerate(("one", "two")):
        own = {(name, 1): 90.0 if place == 0 or task_of(name) == "t0" else 10.0 for name in names}
        write_run(home, place + 1, model, own, benchmark="mmtaup2", task=MM.card.tasks[0].id)
    found = flips(View(benchmark="mmtaup2", metric=MM.card.headline), "one", "two")
    # Five tasks of four samples each flip as one: p is that of five signs, not of twenty.
    assert count_flips(found) == (20, 0, 2 / 2**5)


@pytest.mark.parametrize("benchmark", ["sage", "cxmarena", "mmtaup2"])
def test_what_is_declared_stands_in_the_samples_that_are_made(benchmark: str) -> None:
    found = REGISTRY[benchmark]
    assert found.cluster is not None
    _, samples = found.generate_now(found.demo.generate if found.demo else {}, seed=1)
    told = [tuple(each.inputs.get(path) for path in found.cluster.paths) for each in samples]
    known = [each for each in told if None not in each]
    assert 1 < len(set(known)) < len(known)
