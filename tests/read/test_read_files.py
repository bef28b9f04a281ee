import io
import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from cxlab.errors import BadFile
from cxlab.read.files import to_csv, to_parquet
from cxlab.read.results.published import FOLDER, list_files, published, published_board


@pytest.mark.parametrize("evil", ["=1+1", "+1", "-1", "@sum", "\tx", "  =cmd"])
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(evil: str) -> None:
    found = pl.read_csv(to_csv(pl.DataFrame({"a": [evil, "plain"], "n": [-1.5, 2.0]})), infer_schema=False)
    assert found["a"].to_list() == [f"'{evil}", "plain"]
    assert found["n"].to_list() == ["-1.5", "2.0"]


def test_nested_values_and_times_survive_as_text() -> None:
    frame = pl.DataFrame(
        {"path": [["a", "b"]], "move": [{"move": "sync", "stage": "s"}], "t": [datetime(2026, 1, 2, tzinfo=UTC)]}
    )
    found = pl.read_csv(to_csv(frame))
    assert json.loads(found["path"][0]) == ["a", "b"]
    assert json.loads(found["move"][0]) == {"move": "sync", "stage": "s"}
    assert found["t"][0] == "2026-01-02T00:00:00Z"


def test_a_column_name_cannot_be_a_formula_either() -> None:
    assert to_csv(pl.DataFrame({"=a": [1]})).startswith(b"'=a")


def test_parquet_keeps_the_types() -> None:
    frame = pl.DataFrame({"path": [["a"]], "n": [1]})
    assert pl.read_parquet(io.BytesIO(to_parquet(frame))).equals(frame)


def test_every_published_table_can_be_read_and_names_its_source() -> None:
    tables = published(list_files())
    assert {table.benchmark for table in tables} >= {"sage", "cdr", "cxmarena", "crmarena", "mmtaup2"}
    for table in tables:
        assert table.frame.height
        assert table.frame.columns == [column.id for column in table.columns]
        assert table.table in table.source


def test_the_published_board_is_best_first() -> None:
    board = published_board(published([FOLDER / "sage.json"]))
    assert board["entity"][0] == "Claude-Opus-4.5"
    assert board["value"].to_list() == sorted(board["value"], reverse=True)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"benchmark": "x"}')
    with pytest.raises(BadFile, match=r"x\.json"):
        published(list_files(tmp_path))
