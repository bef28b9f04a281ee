"""ABCD's dialogues: recognised without a mapping, read with what the agent did, and searched like any others."""

import json
from pathlib import Path
from typing import Any

import pytest

from cxlab.errors import BadFile
from cxlab.importers.conversations import COLUMNS, guess, read, read_conversations
from cxlab.importers.transcripts import read_folder

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "abcd" / "abcd_sample.json"
SAID = [
    ["agent", "Good morning, how can I help?"],
    ["customer", "My kettle came without its lid."],
    ["agent", "I am sorry. May I have your name?"],
    ["customer", "Ola Brandt"],
    ["action", "Account has been opened for Ola Brandt."],
    ["agent", "A lid is on its way."],
]
PRESSED: dict[int, list[Any]] = {4: ["missing_part", "take_action", "open-account", ["ola brandt"], -1]}


def dialogue(number: int = 7, said: list[list[str]] = SAID, **more: Any) -> dict[str, Any]:
    told = ["missing_part", "retrieve_utterance", None, [], 3]
    shown = [
        {"speaker": who, "text": text.lower(), "turn_count": n, "targets": PRESSED.get(n, told), "candidates": [1, 2]}
        for n, (who, text) in enumerate(said)
    ]
    scenario = {"personal": {"customer_name": "ola brandt"}, "flow": "product_defect", "subflow": "missing_part"}
    return {"convo_id": number, "scenario": scenario, "original": said, "delexed": shown, **more}


def test_what_was_said_and_done_is_read_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([dialogue()]))
    found = read(path, guess(path))
    assert found.rejected == found.notices == []
    talk = found.conversations["7"]
    assert [(m.role, m.text) for m in talk.messages] == [
        ("agent", "Good morning, how can I help?"),
        ("customer", "My kettle came without its lid."),
        ("agent", "I am sorry. May I have your name?"),
        ("customer", "Ola Brandt"),
        ("agent", ""),
        ("tool", "Account has been opened for Ola Brandt."),
        ("agent", "A lid is on its way."),
    ]
    (call,) = talk.messages[4].tool_calls
    assert (call.name, json.loads(call.arguments)) == ("open-account", {"values": ["ola brandt"]})
    assert talk.messages[5].data == {"call": call.id}
    # What the customer was told to be is no property of the conversation.
    assert talk.labels == {COLUMNS: {"flow": "product_defect", "subflow": "missing_part"}}


def test_the_whole_corpus_is_an_object_of_three_lists_and_lines_are_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "abcd.json"
    parts = {"train": [dialogue(1), dialogue(2)], "dev": [], "test": [dialogue(3)]}
    path.write_text(json.dumps(parts, indent=1))
    assert list(read_conversations(path).conversations) == ["1", "2", "3"]
    lines = tmp_path / "abcd.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in parts["train"]))
    assert list(read_conversations(lines).conversations) == ["1", "2"]
    for broken in ('{"train": [1] "dev": []}', '{"train": {}}', '{"train": []', "{}"):
        path.write_text(broken)
        with pytest.raises(BadFile):
            read_conversations(path)


def test_without_buttons_what_was_shown_is_kept_and_other_files_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([dialogue(delexed=[])]))
    messages = read(path, guess(path)).conversations["7"].messages
    assert [m.role for m in messages] == ["agent", "customer", "agent", "customer", "tool", "agent"]
    own = {"convo_id": "x", "original": "a letter", "messages": [{"role": "user", "content": "Hi"}]}
    path.write_text(json.dumps([own]))
    assert [m.text for m in read(path, guess(path)).conversations["x"].messages] == ["Hi"]


@pytest.mark.skipif(not SHARED.is_file(), reason="ABCD's sample is not beside this checkout")
def test_the_published_sample_is_imported_whole() -> None:
    found = read_folder(SHARED)
    assert (found.rejected, found.dataset.config["rows"]) == ([], {"abcd_sample.json": 3})
    talks = read_conversations(SHARED).conversations
    assert list(talks) == ["3592", "9489", "3695"]
    told = json.loads(SHARED.read_text())
    for each in told:
        read_back = [m for m in talks[str(each["convo_id"])].messages if not m.tool_calls]
        assert [m.text for m in read_back] == [text.strip() for _, text in each["original"]]
        pressed = [m.tool_calls[0].name for m in talks[str(each["convo_id"])].messages if m.tool_calls]
        assert pressed == [turn["targets"][2] for turn in each["delexed"] if turn["speaker"] == "action"]
