"""Training data: OpenAI's chat format, only what was asked for and may be passed on, and read back as it was."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.scores.chat_filter import filter_chat
from cxlab.errors import BadOption, UnknownName
from cxlab.importers.conversations.folder import read_conversations
from cxlab.records import Attempt, Message, Score, Verdict
from cxlab.records.conversation import ToolCall
from cxlab.store import write
from cxlab.store.exports.chat_export import _to_line, export_chat, render_chat
from cxlab.store.exports.sharing import may_pass_on
from tests.store.store_records import NOON, make_dataset, make_run, make_samples

CALL = ToolCall(id="c1", name="look_up", arguments='{"order": "B-1", "deep": true}')
SAID = (
    Message(role="customer", text="Wo bleibt <b>mein</b> Paket?", turn=1),
    Message(role="agent", text="", turn=1, tool_calls=(CALL,)),
    Message(role="tool", text='{"status": "lost"}', turn=1, data={"call": "c1"}),
    Message(role="agent", text="Es ist verloren.\nIch schicke ein neues.", turn=1),
    Message(role="customer", text="\u05ea\u05d5\u05d3\u05d4", turn=2),
    Message(role="agent", text="Gern.", turn=2),
)
# Run → model, whether it is simulated, dataset; attempts are (score, verdict).
RUNS = {
    "r1": ("simulated:strong", True, "open"),
    "r2": ("simulated:floor", True, "open"),
    "r3": ("openai:gpt-4.1", False, "open"),
    "r4": ("openai:gpt-4.1", False, "shop"),
    "r5": ("openai:gpt-4.1", False, "paper"),
}
LICENCES = {
    "open": "MIT, (c) somebody",
    "shop": "ours, internal",
    "paper": "CC BY-NC 4.0 (a paper): not for commercial use",
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of each run an attempt that passed with 90 points and one that failed with 40."""
    home = tmp_path_factory.mktemp("chat")
    for id, licence in LICENCES.items():
        write.save_dataset(make_dataset(id).model_copy(update={"licence": licence}), make_samples(id)[:2], home)
    for run_id, (model, simulated, dataset) in RUNS.items():
        changes = {"model": model, "simulated": simulated, "dataset_id": dataset}
        run = make_run(run_id).model_copy(update=changes)
        write.create_run(run, home)
        samples = {sample.id: sample for sample in make_samples(dataset)}
        with write.PartWriter(run, samples, home=home) as writer:
            for place, (value, verdict) in enumerate(((90.0, "passed"), (40.0, "failed"))):
                key = f"{run_id}-{place}"
                attempt = Attempt(
                    id=key,
                    run_id=run_id,
                    sample_id=f"s{place}",
                    trial=0,
                    messages=SAID,
                    ended_by="goodbye",
                    started=NOON,
                )
                scores = (Score(attempt_id=key, metric="told", value=value, turn=None),)
                writer.add(attempt, Scored(scores, verdict=Verdict(attempt_id=key, value=verdict)))
    return home


def written(store: Path, to: Path, **asked: Any) -> set[str]:
    files, found = export_chat(filter_chat(**asked), to, store)
    lines, rows = ([json.loads(line) for line in file.read_text().splitlines()] for file in files)
    assert [row["line"] for row in rows] == list(range(1, len(lines) + 1))
    assert found.written == len(lines) == sum(found.licences.values())
    return {row["attempt_id"] for row in rows}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, "r1-0 r1-1 r2-0 r2-1 r3-0 r3-1"),
        ({"passed": True}, "r1-0 r2-0 r3-0"),
        ({"models": ("openai:gpt-4.1",)}, "r3-0 r3-1"),
        ({"min_score": 40.0}, "r1-0 r1-1 r2-0 r2-1 r3-0 r3-1"),
        ({"min_score": 41.0}, "r1-0 r2-0 r3-0"),
        ({"floors": False}, "r1-0 r1-1 r3-0 r3-1"),
        ({"simulated": False}, "r3-0 r3-1"),
        ({"own_data": True, "simulated": False}, "r3-0 r3-1 r4-0 r4-1"),
        ({"runs": ("r5",), "own_data": True}, ""),
        ({"runs": ("r4", "r3"), "passed": True}, "r3-0"),
    ],
)
def test_filters_choose_and_licences_hold(store: Path, tmp_path: Path, asked: dict[str, Any], expected: str) -> None:
    assert written(store, tmp_path / "out", **asked) == set(expected.split())


def test_a_line_is_in_the_chat_format_with_tools(store: Path) -> None:
    line = json.loads(render_chat(filter_chat(("r1",), passed=True), store))
    roles = [message["role"] for message in line["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    asked = line["messages"][1]
    assert asked["content"] is None
    assert asked["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": CALL.arguments}}
    ]
    assert line["messages"][2] == {"role": "tool", "tool_call_id": "c1", "content": '{"status": "lost"}'}
    parameters = line["tools"][0]["function"]["parameters"]
    assert parameters["properties"] == {"deep": {"type": "boolean"}, "order": {"type": "string"}}
    assert parameters["required"] == ["deep", "order"]


def test_a_line_names_its_attempt_and_its_messages_stay_as_they_are(store: Path) -> None:
    lines = [json.loads(line) for line in render_chat(filter_chat(("r1",)), store).splitlines()]
    assert [line["metadata"] for line in lines] == [
        {"run_id": "r1", "attempt_id": f"r1-{place}", "sample_id": f"s{place}", "model": "simulated:strong",
         "verdict": verdict} for place, verdict in enumerate(("passed", "failed"))
    ]  # fmt: skip
    allowed = {"role", "content", "tool_calls", "tool_call_id"}
    assert all(message.keys() <= allowed for line in lines for message in line["messages"])


def test_our_own_importer_reads_what_was_written(store: Path, tmp_path: Path) -> None:
    files, _ = export_chat(filter_chat(("r1",)), tmp_path, store)
    found = read_conversations(files[0])
    assert not found.rejected
    assert not found.notices
    assert len(found.conversations) == 2
    for talk in found.conversations.values():
        assert talk.messages == SAID


def test_wrong_requests_are_refused(store: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadOption, match="is a file"):
        export_chat(filter_chat(), tmp_path / "file", store)
    with pytest.raises(UnknownName, match="nowhere"):
        export_chat(filter_chat(("nowhere",)), tmp_path / "out", store)
    with pytest.raises(BadOption, match="min-score"):
        filter_chat(min_score=float("nan"))
    assert not (tmp_path / "out" / "chat.jsonl").exists()


@pytest.mark.parametrize(
    ("licence", "may"),
    [
        ("own work, made with CX Lab", True),
        ("conversations, labels and queries: own work, as this repository", True),
        ("CC BY 4.0", True),
        ("CC BY-NC 4.0 (CRMArena, Salesforce AI Research): not for commercial use", False),
        ("CC-BY-NC-ND 4.0", False),
        ("not stated: ask whoever gave you the data", None),
        ("ours, internal", None),
        ("", None),
    ],
)
def test_licences_are_open_closed_or_to_be_asked_about(licence: str, may: bool | None) -> None:
    dataset = make_dataset().model_copy(update={"licence": licence})
    assert may_pass_on(dataset) is may
    assert may_pass_on(dataset.model_copy(update={"redistributable": False})) is False


ROWS = st.lists(
    st.one_of(
        st.builds(
            lambda text: {"role": "customer", "text": text, "tool_calls": None, "data": None}, st.text(max_size=4)
        ),
        st.builds(
            lambda text, ids: {
                "role": "agent", "text": text, "data": None,
                "tool_calls": json.dumps([{"id": i, "name": "f", "arguments": "{}"} for i in ids]) if ids else None,
            },
            st.text(max_size=4), st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        ),
        st.builds(
            lambda call, side: {"role": "tool", "text": "x", "tool_calls": None,
                                "data": json.dumps({"call": call, "side": side})},
            st.sampled_from(["a", "b", "c", None]), st.sampled_from(["agent", "customer", None]),
        ),
    ),
    max_size=12,
)  # fmt: skip


@given(ROWS)
def test_every_call_is_answered_and_no_message_is_empty(rows: list[dict[str, Any]]) -> None:
    line = _to_line(rows, {"f": {}})
    if line is None:
        return
    waiting: list[str] = []
    for message in line["messages"]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        assert message["content"] or message.get("tool_calls")
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert not waiting
    assert ("tools" in line) == any(message.get("tool_calls") for message in line["messages"])
