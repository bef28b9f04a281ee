"""What the board says of a message and of the end of a talk: planted faults, marks that are in sight, handed over."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from cxlab.dialogue.dual_control import SILENCE
from cxlab.records import Message
from cxlab.records.live_snapshot import LiveSnapshot
from cxlab.views.persona import board
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


def frame_of(*messages: Message, ended: str = "") -> LiveSnapshot:
    frame: Any = SimpleNamespace(messages=messages, ended=ended, passed=False, by_customer=False, waits="")
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
