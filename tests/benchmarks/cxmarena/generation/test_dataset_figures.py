"""A stored dataset beside the paper: sizes as table 8 counts them, statistics as table 9 has them, pass rates."""

from pathlib import Path

import polars as pl
import pytest

from cxlab.benchmarks.cxmarena.generation import dataset_figures, dataset_statistics
from cxlab.benchmarks.dataset_figures import count_checks
from cxlab.store import write
from tests.stores.cxmarena_dataset import DATASET, STATISTICS


@pytest.fixture(autouse=True)
def home(brand_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(brand_store))
    return brand_store


def test_sizes_are_counted_as_table_8_has_them() -> None:
    frame = dataset_figures.compare_sizes(write.load_dataset(DATASET)).frame
    ours = {(part, figure): n for part, figure, n in frame.select("part", "figure", "ours").iter_rows()}
    assert ours["Conversations", "Conversations"] == 6
    assert ours["Knowledge base", "Information articles"] == 2  # the refinement corpus is none of it
    assert ours["Knowledge base", "Issue articles"] == 1
    assert ours["Knowledge-base refinement", "Articles"] == 3
    assert ours["Knowledge-base refinement", "Similar pairs"] == 1
    assert ours["Intent", "Labelled conversations"] == 6
    assert (ours["Intent", "Intents of taxonomy A"], ours["Intent", "Levels of taxonomy B"]) == (2, 2)
    assert ours["Intent", "Intents of taxonomy C"] is None
    assert ours["Quality", "Labelled conversations"] == 6
    assert ours["Quality", "Questions a conversation, mean"] == 3
    assert ours["Multi-turn", "Articles"] == 3
    published = dict(zip(zip(frame["part"], frame["figure"], strict=True), frame["published"], strict=True))
    assert published["Conversations", "Conversations"] == 1994
    # The paper's own total of what makes up the knowledge base.
    assert published["Knowledge base", "Information articles"] + published["Knowledge base", "Issue articles"] == 3168


def test_language_statistics_stand_beside_both_published_columns() -> None:
    frame = dataset_figures.compare_language(write.load_dataset(DATASET)).frame
    titles = [row[0] for row in dataset_statistics.read_published("table9")["rows"]]
    keys = dataset_statistics.read_published("table9")["keys"]
    named = frame.with_columns(key=pl.col("statistic").replace_strict(dict(zip(titles, keys, strict=True))))
    assert dict(named.select("key", "ours").iter_rows()) == STATISTICS
    mattr = named.row(by_predicate=pl.col("key") == "mattr", named=True)
    assert (mattr["synthetic"], mattr["real"]) == (0.747, 0.754)


def test_pass_rates_carry_their_interval() -> None:
    frame = dataset_figures.list_checks(write.load_dataset(DATASET)).frame
    row = frame.row(by_predicate=pl.col("label") == dataset_figures.CHECKS["intent"], named=True)
    assert row["rate"] == pytest.approx(0.975)
    # Wilson's interval of 39 in 40, worked out by hand from its closed form.
    passages = frame.row(by_predicate=pl.col("label") == dataset_figures.CHECKS["multi_turn"], named=True)
    # Of a conversation with several passages each counts by itself, as in the paper.
    assert (passages["what"], passages["n"], passages["rate"], passages["relabelled"]) == ("passages", 10, 0.6, 3)
    assert (row["low"], row["high"]) == (pytest.approx(0.8712, abs=1e-3), pytest.approx(0.9956, abs=1e-3))


def test_other_conversations_have_their_language_alone() -> None:
    own = write.load_dataset(DATASET)
    others = own.model_copy(update={"benchmark": "transcripts"})
    assert [each.id for each in dataset_figures.list_figures(others)] == ["statistics"]
    assert dataset_figures.list_figures(others.model_copy(update={"config": {}})) == []


def test_a_check_that_looked_at_nothing_has_no_rate() -> None:
    row = count_checks([("x", "samples", 0, 0, 1, 2, 3)]).row(0, named=True)
    assert (row["rate"], row["low"], row["left_out"], row["unread"]) == (None, None, 1, 3)


def test_what_a_writer_did_not_give_is_told_where_the_checks_are() -> None:
    dataset = write.load_dataset(DATASET)
    lost = {"articles": 2, "conversations": 0, "intent names": 1}
    told = (
        "2 articles that did not state their facts; 1 names of intents, in whose place stands the title of an article."
    )
    short = dataset.model_copy(update={"config": {**dataset.config, "left_out": lost}})
    assert dataset_figures.list_checks(short).meaning.endswith(f"Asked for again and not had: {told}")
    none = dataset.model_copy(update={"config": {**dataset.config, "left_out": dict.fromkeys(lost, 0)}})
    assert "Asked for again" not in dataset_figures.list_checks(none).meaning
    assert "Asked for again" not in dataset_figures.list_checks(dataset).meaning
