"""Importers on rows that nobody meant well: rejected one by one, or the file refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks import REGISTRY
from cxlab.errors import BadFile, BadOption
from cxlab.importers import cells, folders, transcripts
from cxlab.importers.cells import Unreadable
from tests.importers.hostile import ODD, TEXTS, few, places, spoil

TALK = {
    "conversation_id": "t",
    "messages": [{"role": "user", "content": "Hi"}, {"role": "agent", "content": "Hello"}],
}


@few
@given(st.lists(st.tuples(st.sampled_from(places(TALK)[1:]), ODD), min_size=1, max_size=3))
def test_one_odd_conversation_never_takes_the_others(tmp_path: Path, spoilt: list[tuple[tuple[Any, ...], Any]]) -> None:
    odd: Any = TALK
    for where, value in spoilt:
        if where in places(odd):
            odd = spoil(odd, where, value)
    lines = [json.dumps(odd), json.dumps({**TALK, "conversation_id": "sound"})]
    (tmp_path / "talks.jsonl").write_text("\n".join(lines))
    found = transcripts.read_folder(tmp_path / "talks.jsonl")
    assert "sound" in found.tables["conversations"]["conversation_id"]
    found.save(tmp_path / "home")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "a", "role": "user", "text": "\\ud800"}', "surrogate"),
        ('{"id": "\\ud800", "role": "user", "text": "x"}', "surrogate"),
        ('{"id": "a", "role": "user", "text": "\\u0000"}', "NUL"),
        ('{"id": "a", "id": "b", "role": "user", "text": "x"}', "stands twice"),
        ('{"id": ' + "9" * 5000 + ', "role": "user", "text": "x"}', "64 bits"),
        ('{"id": "a", "role": "user", "text": NaN}', "not finite"),
        ("[" * 100_000, "nested"),
    ],
)
def test_a_line_that_no_store_could_hold_is_rejected(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "talks.jsonl").write_text("\n".join([json.dumps(TALK), line]))
    found = transcripts.read_folder(tmp_path)
    assert [(one.row, problem in one.problem) for one in found.rejected] == [(2, True)]


@few
@given(
    st.text(max_size=60)
    | st.text(alphabet="[]{}()'\",;: \n\\ab1-", max_size=60)
    | st.recursive(ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)).map(
        lambda value: json.dumps(value) if len(repr(value)) % 2 else repr(value)
    )
)
def test_any_cell_is_data_or_unreadable(text: str) -> None:
    for read in (cells.as_list, cells.as_object, cells.as_dicts):
        try:
            found = read(text)
        except Unreadable:
            continue
        json.dumps(found, ensure_ascii=False).encode()
    assert all(isinstance(line["id"], int) for line in cells.as_lines(text))


def test_cells_made_to_take_for_ever() -> None:
    """Each of these took a time that grew with the square of its length, or with its power."""
    with pytest.raises(Unreadable):
        cells.as_list("['" + "a' '" * 20_000 + "!")
    assert cells.as_list("['" + "a' '" * 3 + "b']") == ["a", "a", "a", "b"]
    assert cells.as_lines("\n" * 200_000) == []
    assert len(cells.as_lines("\n \nAgent: a\n\n  Customer: b\n")) == 2
    assert cells.as_lines("AGENT[" + "9" * 5_000 + "]: x") == []
    with pytest.raises(Unreadable, match="the limit"):
        cells.as_list("[" + "a," * 200_000)
    question, answer, evidence = cells.as_question(
        {"question": "Was it polite?", "answer": "yes", "proof_message_ids": "[1, " + "9" * 5_000 + "]"}
    )
    assert (question, answer, evidence) == ("Was it polite?", "Yes", [1])


@pytest.mark.parametrize("value", ["1e999", "NaN", "9" * 30, "[" * 200 + "]" * 200, '"a\\u0000"', "[-Infinity]"])
def test_an_option_that_no_store_could_hold_is_refused(value: str) -> None:
    options = REGISTRY["cxmarena"].Options
    with pytest.raises(BadOption, match=r"chunk=.*: give a whole number from 1 to 1e\+06"):
        options.read_words([f"chunk={value}"])
    read = options.read_words(["chunk=500", "query=last"]).to_record()
    assert (read["chunk"], read["query"]) == (500, "last")


def test_folders_with_brackets_in_their_names(tmp_path: Path) -> None:
    frame = pl.DataFrame([("a", "user", "Hi"), ("a", "agent", "Hello")], schema=["id", "role", "text"], orient="row")
    folder = tmp_path / "calls [2025] {a,b} *"
    folder.mkdir()
    frame.write_csv(folder / "one [1].csv")
    frame.with_columns(pl.lit("b").alias("id")).write_parquet(folder / "two?.parquet")
    assert transcripts.read_folder(folder).tables["conversations"].height == 2


def test_a_whole_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST_ENTRIES", 20)
    for number in range(25):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(BadFile, match="more than 20 files and folders"):
        transcripts.read_folder(tmp_path)
    deep = tmp_path / "deep"
    (deep / "/".join("abcdefghijkl")).mkdir(parents=True)
    with pytest.raises(BadFile, match="folders more than 10 deep"):
        transcripts.read_folder(deep)


def test_links_in_a_circle_and_hidden_folders_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.csv").write_text("x")
    (tmp_path / "b.csv").write_text("x")
    assert folders.files_below(tmp_path) == [tmp_path / "b.csv"]


def test_tables_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    for content in (b"", b"PAR1", b"PAR1" + b"\xff" * 40 + b"PAR1", b"\0" * 100):
        path.write_bytes(content)
        with pytest.raises(BadFile, match="cannot be read as Parquet"):
            folders.read_table(path)
    table = tmp_path / "a.csv"
    for content in (b"", b"id,text\n1,caf\xe9\n", b'a,b\n"1,2\n3,4,5,6\n'):
        table.write_bytes(content)
        with pytest.raises(BadFile, match="cannot be read as CSV in UTF-8"):
            folders.read_table(table)
    monkeypatch.setattr(folders, "MOST_ROWS", 3)
    pl.DataFrame({"a": [1] * 4}).write_parquet(path)
    with pytest.raises(BadFile, match="4 rows; the limit is 3"):
        folders.read_table(path)
