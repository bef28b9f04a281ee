"""Conversation noise: each switch by itself, the same bytes again, and the way back to the clean text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.cxmarena.conversations.noise import (
    CallerCheck,
    IvrOpening,
    Noise,
    NoisyConversation,
    add_noise,
    remove_noise,
)
from cxlab.errors import BadOption, UnknownName
from cxlab.records import Message, ToolCall
from cxlab.voice import hear, word_error_rate

FEE = (
    "Hey there, I was just charged a 75 dollar delivery fee for my order today and I am confused because I thought "
    "local delivery was free. Can you help clarify this?"
)
CALL = (
    Message(role="customer", text=FEE, turn=1, data={"facts": ["delivery.fee"]}),
    Message(role="agent", text="Remote areas cost more, even close by.", turn=1, data={"class": "knowledge_base"}),
    Message(role="customer", text="  That is odd, since my name is Yusuf Rossi and I live\nnext door. ", turn=2),
    Message(
        role="agent", text="", turn=2, tool_calls=(ToolCall(id="1", name="find_order", arguments='{"id": "W23"}'),)
    ),
    Message(role="tool", text="ok", turn=2, data={"tool": "find_order", "result": {"status": "sent"}}),
    Message(role="agent", text="It was sent today.", turn=2),
    Message(role="customer", text="Okay.", turn=3),
    Message(role="customer", text="", turn=4),
)
MENUS = (
    IvrOpening.Menu(options=("orders", "delivery", "returns"), choice=1),
    IvrOpening.Menu(options=("delivery fees", "tracking"), choice=0),
)
OPENING = IvrOpening(
    brand="Green Build", menus=MENUS, check=CallerCheck(what="the last four digits of the order", value="4821")
)
RATE = st.sampled_from([0.0, 0.1, 0.4, 1.0])
NOISE = st.builds(
    Noise,
    seed=st.integers(0, 10**6),
    fragmentation=RATE,
    wer=RATE,
    opening=st.sampled_from([None, OPENING]),
    language=st.sampled_from(["en", "de", "fr"]),
    roles=st.sampled_from([("customer",), ("customer", "agent")]),
)
TEXT = st.text(max_size=80) | st.lists(
    st.sampled_from(["and", "I", "was", "charged", "75", "today,", "Rossi.", "a", "lot", "because\n", "—", "my"])
).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.builds(Message, role=st.sampled_from(["customer", "agent"]), text=TEXT, turn=st.just(1))), NOISE)
def test_any_noise_can_be_removed(messages: list[Message], noise: Noise) -> None:
    assert remove_noise(add_noise(messages, noise)) == tuple(messages)


@settings(max_examples=100, deadline=None)
@given(NOISE)
@example(Noise(seed=681842, fragmentation=1.0, wer=1.0, language="fr"))  # a fragment of which no word is heard
def test_the_map_points_both_ways(noise: Noise) -> None:
    noisy = add_noise(CALL, noise)
    assert remove_noise(noisy) == CALL
    assert len(noisy.messages) == len(noisy.origins)
    for index, message in enumerate(CALL):
        places = noisy.places(index)
        assert places
        assert list(places) == list(range(places[0], places[-1] + 1)), "fragments follow one another"
        assert all(noisy.source(place) == index for place in places)
        assert all(noisy.messages[place].turn == message.turn for place in places)
        assert all(noisy.messages[place].role == message.role for place in places)
        assert noisy.messages[places[-1]].data == message.data
        assert noisy.messages[places[-1]].tool_calls == message.tool_calls
        assert all(noisy.messages[place].text.strip() for place in places) or not message.text.strip()
    opening = [i for i in range(len(noisy.messages)) if noisy.source(i) is None]
    assert opening == list(range(len(opening)))
    assert bool(opening) == (noise.opening is not None)
    assert noisy.carry([1, 5]) == (*noisy.places(1), *noisy.places(5))


@settings(deadline=None)
@given(NOISE)
def test_same_seed_same_bytes_and_storable(noise: Noise) -> None:
    noisy = add_noise(CALL, noise)
    stored = noisy.model_dump_json()
    assert add_noise(list(CALL), noise).model_dump_json() == stored
    assert remove_noise(NoisyConversation.model_validate_json(stored)) == CALL


def test_no_switch_no_change() -> None:
    noisy = add_noise(CALL, Noise(seed=5))
    assert noisy.messages == CALL
    assert [noisy.source(i) for i in range(len(CALL))] == list(range(len(CALL)))


def test_fragmentation_alone_only_cuts() -> None:
    noisy = add_noise(CALL, Noise(seed=1, fragmentation=1.0))
    parts = [noisy.messages[i].text for i in noisy.places(0)]
    assert len(parts) > 2
    assert " ".join(parts) == FEE
    assert not any(origin.changes for origin in noisy.origins)
    assert "".join(noisy.messages[i].text for i in noisy.places(1)) == CALL[1].text, "agents are not cut"
    assert all(len(part.split()) >= 2 for part in parts)
    # Breaks by syntax: the full stop is always one at this dial.
    assert any(part.endswith("free.") for part in parts)


def test_more_fragmentation_breaks_more_and_also_in_mid_phrase() -> None:
    def broken(dial: float) -> list[list[str]]:
        found = [add_noise(CALL[:1], Noise(seed=seed, fragmentation=dial)) for seed in range(60)]
        return [[message.text for message in noisy.messages] for noisy in found]

    few, many = broken(0.2), broken(0.9)
    assert sum(map(len, few)) < 0.7 * sum(map(len, many))
    ends = {text.split()[-1] for parts in many for text in parts[:-1]}
    assert {"there,", "today", "free."} <= ends
    assert any(end.isalpha() and end not in ("today", "confused") for end in ends)


def test_speech_alone_keeps_the_messages_and_the_rate() -> None:
    told = [word_error_rate(FEE, add_noise(CALL, Noise(seed=s, wer=0.2)).messages[0].text) for s in range(200)]
    assert sum(told) / len(told) == pytest.approx(0.2, rel=0.1)
    noisy = add_noise(CALL, Noise(seed=1, wer=0.4))
    assert len(noisy.messages) == len(CALL)
    assert [m.text for m in noisy.messages if m.role != "customer"] == [m.text for m in CALL if m.role != "customer"]
    assert noisy.messages[0].text != FEE


def test_switches_do_not_touch_each_other() -> None:
    for seed in range(40):
        alone = add_noise(CALL, Noise(seed=seed, wer=0.3))
        both = add_noise(CALL, Noise(seed=seed, wer=0.3, fragmentation=0.7, opening=OPENING))
        for index in range(len(CALL)):
            (place,) = alone.places(index)
            joined = "".join(both.messages[i].text + both.origins[i].after for i in both.places(index))
            assert joined == alone.messages[place].text
        opening = add_noise(CALL, Noise(seed=seed, opening=OPENING))
        assert [m.role for m in opening.messages if m.turn == 0] == [m.role for m in both.messages if m.turn == 0]
        cut = add_noise(CALL, Noise(seed=seed, fragmentation=0.7))
        # Only a break that would tear one error apart is missing.
        for index in range(len(CALL)):
            starts = {cut.origins[i].start for i in cut.places(index)}
            assert {both.origins[i].start for i in both.places(index)} <= starts


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_the_opening_reads_like_a_menu(language: str) -> None:
    for seed in range(40):
        noisy = add_noise(CALL, Noise(seed=seed, opening=OPENING, language=language))
        opening = [m for i, m in enumerate(noisy.messages) if noisy.source(i) is None]
        assert {m.turn for m in opening} == {0}
        assert opening[0].role == "ivr"
        assert "Green Build" in opening[0].text
        assert all(option in opening[0].text for option in MENUS[0].options)
        assert opening[-1].role == "ivr"
        said = [m.text for m in opening if m.role == "customer"]
        assert "4821" in said
        assert "2" in said or any("elivery" in text for text in said)
        assert not any("<" in m.text or "|" in m.text for m in opening)
    keyed = {m.data.get("keyed") for s in range(40) for m in add_noise(CALL, Noise(seed=s, opening=OPENING)).messages}
    assert {True, False} <= keyed


def test_a_withheld_number_is_asked_for_twice_and_never_said() -> None:
    opening = IvrOpening(
        brand="Lumen", menus=(IvrOpening.Menu(options=("orders",)),), check=CallerCheck(what="the order number")
    )
    texts = [m.text for m in add_noise(CALL, Noise(seed=1, opening=opening)).messages if m.turn == 0]
    assert sum("the order number" in text for text in texts) == 2
    assert "2" in texts, "nothing fits, so the caller takes the last option"


def test_keys_are_never_misheard() -> None:
    noise = [Noise(seed=s, wer=1.0, opening=OPENING) for s in range(20)]
    assert all("4821" in [m.text for m in add_noise(CALL, each).messages] for each in noise)


def test_the_errors_are_those_of_the_channel() -> None:
    noisy = add_noise(CALL[:1], Noise(seed=3, wer=0.3))
    changes = noisy.origins[0].changes
    assert changes
    for change in changes:
        assert noisy.messages[0].text[change.at : change.at + len(change.heard)] == change.heard
    known = {error.kind for seed in range(300) for error in hear(FEE, 0.5, seed).errors}
    assert {change.kind for change in changes} <= known


@pytest.mark.parametrize("bad", [{"wer": 1.5}, {"wer": -0.1}, {"fragmentation": 2.0}])
def test_dials_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(BadOption, match="0 to 1"):
        add_noise(CALL, Noise(**bad))


def test_unknown_language_and_choice_are_refused() -> None:
    with pytest.raises(UnknownName, match="'it'"):
        add_noise(CALL, Noise(language="it"))
    wrong = IvrOpening(brand="Lumen", menus=(IvrOpening.Menu(options=("orders",), choice=3),))
    with pytest.raises(BadOption, match="IVR choice 3"):
        add_noise(CALL, Noise(opening=wrong))
