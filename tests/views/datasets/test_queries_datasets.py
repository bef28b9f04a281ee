"""What datasets hold, and their conversations; counts against what was put in, statistics against the paper."""

import io
import json
from pathlib import Path

import polars as pl
import pytest

from cxlab.errors import UnknownName
from cxlab.read import View
from cxlab.store import trash, version
from cxlab.views.conversations import queries
from cxlab.views.datasets import queries as datasets
from tests.stores.cxmarena_dataset import DATASET, STATISTICS, make_dataset
from tests.stores.judged import HOSTILE


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("datasets")
    make_dataset(home)
    return home


@pytest.fixture(autouse=True)
def home(stored: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(stored))
    return stored


def test_a_dataset_is_listed_with_what_it_holds() -> None:
    row = datasets.datasets().row(0, named=True)
    assert (row["dataset_id"], row["language"], row["conversations"], row["articles"]) == (DATASET, "en", 6, 6)
    assert row["samples"] == 3 + 6 * 4
    assert set(row["tasks"]) == {"kb_refinement", "article_search", "multi_turn", "intent", "quality"}
    assert row["runs"] == 0


def test_sizes_are_counted_as_table_8_has_them() -> None:
    frame = datasets.size_statistics(DATASET)
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
    frame = datasets.language_statistics(DATASET)
    assert dict(frame.select("key", "ours").iter_rows()) == STATISTICS
    mattr = frame.row(by_predicate=pl.col("key") == "mattr", named=True)
    assert (mattr["synthetic"], mattr["real"]) == (0.747, 0.754)


def test_pass_rates_carry_their_interval() -> None:
    frame = datasets.validation(DATASET)
    row = frame.row(by_predicate=pl.col("procedure") == "intent", named=True)
    assert row["rate"] == pytest.approx(0.975)
    # Wilson's interval of 39 in 40, worked out by hand from its closed form.
    passages = frame.row(by_predicate=pl.col("procedure") == "multi_turn", named=True)
    # Of a conversation with several passages each counts by itself, as in the paper.
    assert (passages["what"], passages["n"], passages["rate"], passages["relabelled"]) == ("passages", 10, 0.6, 3)
    assert (row["low"], row["high"]) == (pytest.approx(0.8712, abs=1e-3), pytest.approx(0.9956, abs=1e-3))


def test_files_hold_the_table_and_csv_no_formula() -> None:
    frame = pl.read_parquet(io.BytesIO(datasets.export(DATASET, "conversations", "parquet")))
    assert frame.height == 6
    lines = datasets.export(DATASET, "conversations", "jsonl").decode().splitlines()
    assert json.loads(lines[1])["messages"][1]["text"].startswith("Hello, ")
    back = pl.read_csv(io.BytesIO(datasets.export(DATASET, "conversations", "csv")))
    assert back["conversation_id"].to_list() == frame["conversation_id"].to_list()
    with pytest.raises(UnknownName, match="conversations"):
        datasets.export(DATASET, "nothing", "csv")


def test_conversations_are_found_by_family_trait_noise_and_words() -> None:
    def found(search: str = "", **facets: tuple[str, ...]) -> list[str]:
        return queries.listed(View(dataset=DATASET).narrow(**facets).change(search=search))["conversation_id"].to_list()

    assert len(found()) == 6
    assert found(intent=("delivery",)) == ["C_1", "C_5"]
    assert found(persona=("confused",)) == ["C_2"]
    assert found(modality=("menu",)) == ["C_0", "C_2", "C_4"]
    assert found(search="WHISTLES night") == ["C_3"]
    assert found(search="no such words") == []
    assert set(queries.facets(DATASET)["persona"]) == {
        "impatient",
        "brief",
        "polite",
        "wordy",
        "confused",
        "sceptical",
    }


def test_a_conversation_comes_with_its_grounding_and_labels() -> None:
    talk = queries.conversation(DATASET, "C_1")
    assert HOSTILE in talk.messages[1].text
    passages = talk.passages(talk.messages[2])
    assert [(each.article_id, each.title) for each in passages] == [
        ("KB_2", "Article 2 **x**"),
        ("KB_1", "Article 1 **x**"),
    ]
    assert passages[0].text.startswith("A yellow dot")
    assert queries.traits_of(talk.customer) == ["polite", "wordy"]
    assert len(talk.served) > len(talk.messages)
    with pytest.raises(UnknownName):
        queries.conversation(DATASET, "C_99")


def test_a_deleted_dataset_comes_back_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    make_dataset(tmp_path, conversations=1)
    before, seen = datasets.datasets(), version()
    trash.delete("dataset", DATASET)
    assert datasets.datasets().is_empty()
    assert version() != seen
    with pytest.raises(UnknownName):
        trash.delete("dataset", DATASET)
    assert [each.id for each in trash.list_deleted("dataset")] == [DATASET]
    assert trash.list_deleted("run") == []  # a dataset is no run
    trash.restore("dataset", DATASET)
    assert datasets.datasets().equals(before)
    with pytest.raises(UnknownName):
        trash.restore("dataset", DATASET)
