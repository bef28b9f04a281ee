"""Packed conversations: what goes in comes out, and looks at ids make no objects."""

from hypothesis import given
from hypothesis import strategies as st

from cxlab.importers.conversations import PackedConversations
from cxlab.records import Conversation, Message

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
MESSAGES = st.builds(Message, role=st.sampled_from(("customer", "agent", "system")), text=TEXTS, turn=st.integers(0, 9))
TALKS = st.builds(
    Conversation,
    id=TEXTS.filter(bool),
    messages=st.lists(MESSAGES, max_size=4).map(tuple),
    labels=st.dictionaries(TEXTS, TEXTS | st.integers(-9, 9) | st.booleans(), max_size=3),
)


@given(st.lists(TALKS, max_size=4, unique_by=lambda talk: talk.id))
def test_what_goes_in_comes_out(talks: list[Conversation]) -> None:
    packed = PackedConversations({talk.id: talk for talk in talks})
    assert list(packed.items()) == [(talk.id, talk) for talk in talks]
    copied = PackedConversations(packed)
    if talks:
        copied.move(talks[0].id, packed)
        del copied[talks[0].id]
    assert len(copied) == len(packed) == max(0, len(talks) - 1)


def test_what_was_stored_as_json_is_taken_as_it_is() -> None:
    packed = PackedConversations()
    packed.put_stored("a", '[{"role":"customer","text":"late \\u00e9","turn":1}]', '{"area":"x"}')
    packed.put_stored("b", None, None)
    assert packed["a"] == Conversation(
        id="a", messages=(Message(role="customer", text="late é", turn=1),), labels={"area": "x"}
    )
    assert packed["b"] == Conversation(id="b", messages=())
    assert "c" not in packed
