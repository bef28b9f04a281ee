"""What the board says of a message and of the end of a talk: planted faults, marks that are in sight, handed over."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from cxlab.dialogue.dual_control import SILENCE
from cxlab.records import Message
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.views.persona import board, live_metrics
from cxlab.views.persona import live_conversation as parts
from cxlab.views.persona.choices import VariantChoice

HARD = VariantChoice("hard", 0)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is drawn as HTML."""
    found: list[str] = []
    for module in (board, parts):
        monkeypatch.setattr(module, "st", SimpleNamespace(html=lambda text, **_: found.append(str(text))))
    return found


def frame_of(*messages: Message, ended: str = "", **more: Any) -> LiveSnapshot:
    known = {"passed": False, "by_customer": False, "waits": "", "hand_over": False, "unmended": (), "needless": ()}
    frame: Any = SimpleNamespace(messages=messages, ended=ended, **(known | more))
    return cast("LiveSnapshot", frame)


def agent(text: str, **data: Any) -> Message:
    return Message(role="agent", text=text, turn=1, data=data)


def test_an_empty_reply_of_a_stand_in_is_called_a_planted_fault_and_a_real_ones_is_not() -> None:
    pending = board.Pending(False, None, None)
    for stand_in in (True, False):
        [[line]] = board._lines(frame_of(agent(SILENCE)), HARD, pending, False, stand_in)
        assert (board.PLANTED in line["signs"]) is stand_in
    [[line]] = board._lines(frame_of(agent("Hello.")), HARD, pending, False, True)
    assert board.PLANTED not in line["signs"]


def test_the_legend_tells_of_marks_that_are_in_sight_alone(drawn: list[str]) -> None:
    board.explain_marks([HARD], [frame_of(agent("Good day."))])
    assert drawn == []
    board.explain_marks([HARD], [frame_of(agent("Please check the APN settings."))])
    assert "Wavy" in drawn[0]
    assert "Shaded" not in drawn[0]
    board.explain_marks([VariantChoice("none", 0)], [frame_of(agent("Take your time, there is no hurry."))])
    assert "Shaded" in drawn[1]
    assert "Wavy" not in drawn[1]


def test_who_was_handed_over_did_not_end_it(drawn: list[str]) -> None:
    handed = Message(role="tool", text="", turn=1, data={"tool": "transfer_to_human_agents", "kind": "ok"})
    for large in (False, True):
        parts.show_end(frame_of(handed, agent("I am handing you over."), ended="customer_stop"), large)
    assert all("handed over to a person" in text and "customer ended it" not in text for text in drawn)
    parts.show_end(frame_of(agent("Goodbye."), ended="customer_stop"), False)
    assert "the customer ended it" in drawn[-1]


def test_a_hand_over_that_the_task_asks_for_is_called_that_and_tells_what_is_still_wrong(drawn: list[str]) -> None:
    handed = Message(role="tool", text="", turn=1, data={"tool": "transfer_to_human_agents", "kind": "ok"})
    for large in (False, True):
        left = {"unmended": ("airplane mode is on", "line suspended, bill overdue")}
        parts.show_end(frame_of(handed, ended="customer_stop", passed=True, hand_over=True, **left), large)
        assert "Handed over, as this task asks" in drawn[-1]
        assert "Not mended: airplane mode is on; line suspended, bill overdue" in drawn[-1]
        assert "Goal reached" not in drawn[-1]
        assert "phone, line and orders" not in drawn[-1]
    parts.show_end(frame_of(handed, ended="customer_stop", passed=True, hand_over=True), False)
    assert "Not mended" not in drawn[-1]
    # Handed over without being asked for.
    parts.show_end(frame_of(handed, ended="customer_stop"), False)
    assert "Goal missed · handed over to a person" in drawn[-1]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("get_details_by_id also needs: id.", "sent without id"),
        ("get_details_by_id does not take: bill_no.", "sent with what it does not take: bill no"),
        ("get_details_by_id takes its arguments as a JSON object.", "sent in a form that cannot be read"),
        ("get_details_by_id: id must be text.", "id must be text"),
        ("No customer has the phone number '555'.", "No customer has the phone number '555'."),
    ],
)
def test_a_call_that_failed_is_told_in_words(error: str, words: str) -> None:
    data = {"tool": "get_details_by_id", "kind": "arguments", "error": error, "arguments": {}}
    call = Message(role="tool", text="", turn=1, data=data)
    [[line]] = board._lines(frame_of(call), HARD, board.Pending(False, None, None), True, True)
    assert line["fault"] == words


def test_which_messages_count_as_annoyed_stands_at_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(live_metrics, "st", SimpleNamespace(html=lambda text, **_: drawn.append(str(text))))
    said = [Message(role="customer", text=text, turn=1) for text in ("This is ridiculous.", "I told you <b>twice</b>.")]
    live_metrics.show_manner(["none", "easy"], [frame_of(*said), frame_of(said[0])], [])
    assert "1 of 2, 1 open" in drawn[0]
    assert "Annoyed: “This is ridiculous.”\nOpen: “I told you &lt;b&gt;twice&lt;/b&gt;.”" in drawn[0]
