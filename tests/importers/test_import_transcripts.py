"""Conversations between people: what is taken, and what is told of the rest."""

import json
from pathlib import Path

import polars as pl
import pytest

from cxlab.errors import BadFile, BadOption
from cxlab.importers.conversations.read import LONGEST_MESSAGE
from cxlab.importers.transcripts import read_folder

ROWS = [
    {"conversation_id": "a", "speaker": "Caller", "utterance": "Hello, it is broken."},
    {"conversation_id": "a", "speaker": "Agent", "utterance": "Which one?"},
    {"conversation_id": "a", "speaker": "caller", "utterance": "The left one"},
    {"conversation_id": "a", "speaker": "caller", "utterance": "I think."},
    {"conversation_id": "b", "speaker": "agent", "utterance": "Nobody there?"},
]


def messages(found: pl.DataFrame, name: str) -> list[dict[str, object]]:
    row = found.filter(pl.col("conversation_id") == name)["messages"][0]
    told: list[dict[str, object]] = json.loads(row)
    return told


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_one_message_a_row_whatever_the_form(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame(ROWS)
    path = tmp_path / f"calls.{suffix}"
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[suffix](path)
    (tmp_path / "readme.md").write_text("-")
    found = read_folder(tmp_path, licence="ours")
    told = messages(found.tables["conversations"], "a")
    assert [(each["role"], each["turn"]) for each in told] == [
        ("customer", 1), ("agent", 1), ("customer", 2), ("customer", 2),
    ]  # fmt: skip
    assert found.tables["conversations"].height == 1
    assert [str(each) for each in found.rejected] == [
        "conversation b: no customer speaks; the conversation is left out"
    ]
    assert (found.ignored, found.rows) == (["readme.md"], {f"calls.{suffix}": 5})
    assert (found.dataset.config["conversations"], found.dataset.licence) == ("real", "ours")
    # Three turns of speakers and four messages, by hand.
    assert found.dataset.config["statistics"]["turns_mean"] == 4.0
    assert found.dataset.config["statistics"]["consecutive_max"] == 2.0


def test_one_conversation_a_line_and_what_is_wrong_with_others(tmp_path: Path) -> None:
    talk = {"id": "x", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    odd = {"id": "y", "messages": [{"role": "alien", "content": "Hi"}, {"role": "agent", "content": ""}]}
    long = {"id": "z", "messages": [{"role": "user", "content": "a" * (LONGEST_MESSAGE + 1)}]}
    lines = [json.dumps(talk), "not json", json.dumps(odd), json.dumps(long)]
    (tmp_path / "talks.jsonl").write_text("\n".join(lines))
    found = read_folder(tmp_path / "talks.jsonl")
    assert len(messages(found.tables["conversations"], "x")) == 2
    told = [(each.row, each.column) for each in found.rejected]
    assert told == [(2, None), (3, "role"), (3, "content"), (3, None), (4, "content"), (4, None)]
    assert found.tables["rejected"].height == 6


def test_what_cannot_be_used_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="does not exist"):
        read_folder(tmp_path / "none")
    with pytest.raises(BadFile, match="no CSV"):
        read_folder(tmp_path)
    (tmp_path / "a.csv").write_text("id,words\n1,hello\n")
    with pytest.raises(BadFile, match="no conversations recognised in the columns id, words"):
        read_folder(tmp_path)
    (tmp_path / "a.csv").write_text("id,role,text\n1,agent,hello\n")
    with pytest.raises(BadFile, match="no conversation could be used"):
        read_folder(tmp_path)
    with pytest.raises(BadOption, match="language"):
        read_folder(tmp_path, language="xx")
