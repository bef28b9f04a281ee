"""Units of conversations: what is cut, what a unit's text holds, and what is empty."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.cdr.units import GRANULARITIES, UnitText, split
from cxlab.errors import BadOption, UnknownName
from cxlab.records import Conversation, Message

said = st.tuples(st.sampled_from(("customer", "agent", "system", "tool", "ivr")), st.text(max_size=12))


def talk(*messages: tuple[str, str]) -> Conversation:
    return Conversation(id="c", messages=tuple(Message(role=role, text=text, turn=1) for role, text in messages))


FOUR = talk(("customer", "My bill is wrong."), ("agent", "Which month?"), ("customer", "May."), ("agent", "Corrected."))


def test_the_three_granularities():
    assert [unit.text for unit in split(FOUR, "turn")] == [
        "user: My bill is wrong.",
        "assistant: Which month?",
        "user: May.",
        "assistant: Corrected.",
    ]
    assert [unit.text for unit in split(FOUR, "window")] == [
        "user: My bill is wrong.\nassistant: Which month?\nuser: May.",
        "assistant: Which month?\nuser: May.\nassistant: Corrected.",
    ]
    (whole,) = split(FOUR, "session")
    assert whole == ("c", "\n".join(unit.text for unit in split(FOUR, "turn")), 0, 3)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_talk_shorter_than_a_window_gives_one(count):
    short = talk(*[("customer", f"m{number}") for number in range(count)])
    assert len(split(short, "window")) == 1
    assert split(short, "window")[0].text.count("\n") == count - 1
    assert split(talk(), "window") == split(talk(), "session") == split(talk(), "turn") == []


def test_what_a_text_contains_is_a_setting():
    mixed = talk(
        ("system", "Be kind."), ("customer", "Hi."), ("tool", "{}"), ("agent", " Hello. "), ("ivr", "Press 1.")
    )
    assert split(mixed, "session")[0].text == "user: Hi.\nassistant: Hello."
    bare = UnitText(prefix=False, roles=("agent",))
    assert split(mixed, "session", bare)[0].text == "Hello."
    assert (split(mixed, "session", bare)[0].first, split(mixed, "session")[0].first) == (3, 1)
    assert "menu: Press 1." in split(mixed, "session", UnitText(roles=("ivr", "system")))[0].text
    assert bare.to_record() == {"prefix": False, "roles": ["agent"]}
    assert UnitText.read({"roles": "agent,customer"}).roles == ("agent", "customer")
    with pytest.raises(BadOption, match="roles"):
        UnitText.read({"roles": []})


def test_messages_without_text_make_an_empty_unit_and_no_prefix_hides_it():
    blank = talk(("customer", " \n"), ("agent", "Are you there?"), ("customer", ""))
    assert [unit.text for unit in split(blank, "turn")] == ["", "assistant: Are you there?", ""]
    assert [unit.text for unit in split(blank, "window")] == ["assistant: Are you there?"]


def test_unknown_granularity():
    with pytest.raises(UnknownName, match=r"granularity 'chunk'; known: session, turn, window"):
        split(FOUR, "chunk")


@given(st.lists(said, max_size=9), st.sampled_from(GRANULARITIES))
def test_every_message_that_counts_is_in_a_unit_and_nothing_else(messages, granularity):
    whole = talk(*messages)
    units = split(whole, granularity)
    counted = [place for place, (role, _) in enumerate(messages) if role in ("customer", "agent")]
    held = [[place for place in counted if unit.first <= place <= unit.last] for unit in units]
    expected = {
        "turn": [[place] for place in counted],
        "session": [counted] if counted else [],
        "window": [counted[at : at + 3] for at in range(len(counted) - 2)] or ([counted] if counted else []),
    }
    assert held == expected[granularity]
    for unit, places in zip(units, held, strict=True):
        speakers = {"customer": "user", "agent": "assistant"}
        told = [(speakers[messages[at][0]], messages[at][1].strip()) for at in places]
        assert unit.text == "\n".join(f"{who}: {text}" for who, text in told if text)
        assert unit.conversation_id == "c"
