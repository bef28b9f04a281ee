"""A store of the third version opens, and what stood in its datasets' settings are fields now."""

import json
import zipfile
from pathlib import Path

import pytest

from cxlab.records import FILE_VERSION, Dataset
from cxlab.runner.stored.migrate import migrate
from cxlab.store import layout, write
from cxlab.store.exports.archive import read_archive, take_in

STORE = Path(__file__).parents[1] / "data" / "store_3.zip"  # make_store_3.py made it


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with zipfile.ZipFile(STORE) as packed:
        packed.extractall(tmp_path / "home")
    return tmp_path / "home"


def read_datasets(home: Path) -> dict[str, Dataset]:
    return {each.name: each for each in write.list_datasets(home)}


def check_datasets(home: Path) -> None:
    found = read_datasets(home)
    whole, part, two = found["Six talks"], found["One question"], found["Two talks"]
    task, again = found["Domains: Two talks"], found["Conversations of Six talks"]
    assert (whole.derived_from, whole.derivation, whole.unlabelled) == (None, None, False)
    assert (part.derived_from, part.derivation) == (whole.id, "samples")
    # It inherited its origin's key, too.
    assert (two.derived_from, two.derivation) == (part.id, "conversations")
    assert (task.derived_from, task.derivation, task.unlabelled) == (two.id, "task", True)
    assert (again.derived_from, again.derivation) == (whole.id, "import")
    assert {each.redistributable for each in (whole, part, two, task, again)} == {False}
    old = {"share", "unlabelled", "samples_of", "set_of", "conversations_of", "from_dataset"}
    assert not any(old & each.config.keys() for each in found.values())
    assert write.list_derived(part.id, "conversations", home) == [two]


def test_it_is_migrated_without_writing_a_row_anew(home: Path) -> None:
    parts = {path: path.stat().st_ino for path in home.rglob("*.parquet")}
    assert any(path.name == "traces.parquet" for path in parts)
    list(migrate(home))
    check_datasets(home)
    assert {path: path.stat().st_ino for path in home.rglob("*.parquet")} == parts
    for path in [*home.glob("runs/*/run.json"), *home.glob("datasets/*/dataset.json")]:
        assert json.loads(path.read_bytes())["version"] == FILE_VERSION
    assert layout.is_up_to_date(home)


def test_its_records_are_read_as_fields_before_it_is_migrated(home: Path) -> None:
    check_datasets(home)


def test_an_archive_of_it_opens(home: Path, tmp_path: Path) -> None:
    given = read_archive(home)
    assert not given.complaints
    assert set(take_in(given, tmp_path / "other").values()) == {"stored"}
    list(migrate(tmp_path / "other"))
    assert {run.version for run in write.list_runs(tmp_path / "other")} == {FILE_VERSION}
    stored = read_datasets(tmp_path / "other")
    assert stored["One question"].derived_from == stored["Six talks"].id


@pytest.mark.parametrize(
    ("id", "config", "expected"),
    [
        ("cxmarena-taxonomy-1", {"version_of": "a", "samples_of": "b"}, ("a", "taxonomy")),
        ("sage-samples-1", {"version_of": "a", "samples_of": "b"}, ("b", "samples")),
        ("cdr-1", {"reference": "a", "share": None, "revises": "b"}, ("b", "decisions")),
        ("cdr-1", {"reference": "a"}, ("a", "labels")),
        ("cdr-1", {"queries": 3}, (None, None)),
    ],
)
def test_of_inherited_keys_its_own_counts(id: str, config: dict[str, str], expected: tuple[str, str]) -> None:
    made = Dataset(
        id=id, benchmark="b", name="n", source="imported", config=config, seed=None, licence="",
        created="2026-11-01T00:00:00Z", version=3,
    )  # fmt: skip
    assert made.config == config  # only what is read from a file may be of an older version
    read = Dataset.model_validate_json(made.model_dump_json(exclude={"derived_from", "derivation"}), strict=True)
    assert (read.derived_from, read.derivation) == expected
    assert read.redistributable is None
    assert Dataset.model_validate_json(read.model_copy(update={"version": FILE_VERSION}).model_dump_json()) == (
        read.model_copy(update={"version": FILE_VERSION})
    )
