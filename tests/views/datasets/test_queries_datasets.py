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
from tests.stores.cxmarena_dataset import DATASET, make_dataset
from tests.stores.judged import HOSTILE


@pytest.fixture(autouse=True)
def home(brand_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CXLAB_HOME", str(brand_store))
    return brand_store


def test_a_dataset_is_listed_with_what_it_holds() -> None:
    row = datasets.datasets().row(0, named=True)
    assert (row["dataset_id"], row["language"], row["conversations"], row["articles"]) == (DATASET, "en", 6, 6)
    assert row["samples"] == 3 + 6 * 4
    assert set(row["tasks"]) == {"kb_refinement", "article_search", "multi_turn", "intent", "quality"}
    assert row["runs"] == 0


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
    assert found(search="whistling") == found(search="turns nights") == found(search="histle") == ["C_3"]
    assert found(search='"whistle"') == found(search='"at night, and"') == ["C_3"], "as it stands"
    assert found(search='"whistling"') == found(search="whistle sensor") == [], "both, but in two messages"
    assert found(search="c_3") == ["C_3"], "one by its id"
    told = queries.look_for(DATASET, "a customer says whistling")
    assert (told.forms, told.sought.words) == ({"whistling": ("whistles",)}, {"whistles"})
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
