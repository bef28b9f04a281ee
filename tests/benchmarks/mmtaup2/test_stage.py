"""Variants side by side: the beats, what is told of them, and a person who takes over."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cxlab.benchmarks.mmtaup2 import keeping, samples
from cxlab.benchmarks.mmtaup2 import stage as stages
from cxlab.benchmarks.mmtaup2.stage import Player, Stage, Variant, differences
from cxlab.errors import BadOption
from cxlab.records.frame import Change
from cxlab.store import write

AGENT, CUSTOMER = "simulated:strong", "simulated:customer"
CASE = next(task for id, task in stages.cases("telecom").items() if "lock_sim_card_pin" in id)


def begin(*variants: Variant, seed: int = 0) -> Stage:
    return Stage(CASE, variants, AGENT, CUSTOMER, seed)


def texts(player: Player) -> list[str]:
    return [message.text for message in player.frame.messages]


@pytest.fixture(scope="module")
def played() -> Stage:
    stage = begin(Variant("easy"), Variant("hard", 2, "voice", 0.2))
    stage.forward(400)
    return stage


def test_all_come_to_an_end_and_the_hard_one_later(played: Stage) -> None:
    easy, hard = (player.frame for player in played.players)
    assert easy.ended
    assert hard.ended
    assert played.idle
    assert easy.tally.turns < hard.tally.turns
    assert easy.course[-1][1] == 1.0
    assert hard.profiles
    assert not easy.profiles
    assert easy.tally.wer == 0.0
    assert hard.tally.wer == pytest.approx(0.2, abs=0.05)


def test_a_beat_is_one_message_that_somebody_hears(played: Stage) -> None:
    for player in played.players:
        heard = [m for m in player.frame.messages if m.role != "tool" and not m.tool_calls and m.turn > 0]
        assert player.beats == len(heard)


def test_the_same_seed_plays_the_same_and_beats_make_no_difference(played: Stage) -> None:
    again = begin(Variant("easy"), Variant("hard", 2, "voice", 0.2))
    while not again.idle:
        again.beat()
        again.wait(20)
    assert [texts(player) for player in again.players] == [texts(player) for player in played.players]
    other = begin(Variant("hard", 2, "voice", 0.2), seed=1)
    other.forward(400)
    assert texts(other.players[0]) != texts(played.players[1])


def test_a_frame_is_not_changed_by_what_comes_after() -> None:
    stage = begin(Variant("hard"))
    first = stage.players[0].frame
    before = first.messages, first.tally, first.course
    stage.forward(400)
    assert (first.messages, first.tally, first.course) == before
    assert len(stage.players[0].frame.messages) > len(before[0])


def test_a_person_answers_for_the_customer_and_uses_the_phone() -> None:
    stage = begin(Variant("hard"))
    player = stage.players[0]
    player.by_hand = True
    assert player.idle
    assert player.frame.waits == "person"
    player.beat()
    assert player.beats == 0
    number = CASE.known.facts["phone_number"]
    player.say(f"My phone has no service. My number is {number}.")
    player.wait(20)
    said, answer = player.frame.messages[1], player.frame.messages[-1]
    assert said.role == "customer"
    assert said.data["by_hand"]
    assert number in said.text
    assert answer.role == "agent"
    assert player.frame.waits == "person"
    assert player.frame.tally.fields == {"phone_number": True}
    player.do("toggle_airplane_mode", {})
    player.wait(20)
    assert Change(("customer", "device", "airplane_mode"), True, False) in player.frame.changes
    player.do("toggle_gravity", {"by": 2})
    player.wait(20)
    assert player.frame.messages[-1].data["kind"] == "unknown_tool"
    player.say("", "done")
    player.wait(20)
    assert player.frame.ended == "customer_stop"
    assert player.touched
    with pytest.raises(BadOption, match="not the customer's turn"):
        player.say("Still there?")


def test_what_went_wrong_in_a_beat_is_raised_where_one_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = begin(Variant("none"))
    player = stage.players[0]

    async def fail(*_: object) -> None:
        raise BadOption("no such line")

    monkeypatch.setattr(player.talk.duet, "step", fail)
    stage.beat()
    stage.wait(20)
    assert stage.idle
    with pytest.raises(BadOption, match="no such line"):
        _ = player.frame


class Ears:
    """Stands in for a voice and a recogniser: keeps a file and hears all but the last word."""

    def __init__(self, keep: Path) -> None:
        self.keep = keep

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, Any]]:
        self.keep.mkdir(parents=True, exist_ok=True)
        name = f"{side}-{seed}.wav"
        (self.keep / name).write_bytes(b"RIFF")
        return " ".join(text.split()[:-1]), {"wav": name, "seconds": 1.5}


def test_real_audio_is_kept_where_a_page_can_play_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    monkeypatch.setattr(stages, "real_ears", lambda domain, keep: Ears(keep))
    stage = begin(Variant("easy", 0, "sound"), Variant("easy"))
    spoken, written = stage.players
    found = spoken.sound()
    assert found is not None
    assert found[0].read_bytes() == b"RIFF"
    assert found[0].is_relative_to(tmp_path)
    assert found[1] == 1.5
    assert written.sound() is None
    assert spoken.frame.messages[0].text == "Hello, this is the service desk for your mobile line. What can I do for"
    assert spoken.talk.output()["modality"] == "voice"


def test_variants_that_there_are_not_are_refused() -> None:
    for given in (("rude", 0, "text"), ("hard", 3, "text"), ("hard", 0, "smell")):
        with pytest.raises(BadOption, match="personas"):
            Variant(*given)  # type: ignore[arg-type]


def test_differences_name_the_place_and_leave_out_what_was_only_looked_up() -> None:
    before = {"agent": {"orders": {"#1": {"status": "pending"}}, "bills": [{"bill_id": "B1", "due": 2}]}}
    now = {
        "agent": {
            "orders": {"#1": {"status": "cancelled"}, "#2": {"status": "delivered"}},
            "bills": [{"bill_id": "B2", "due": 3}, {"bill_id": "B1", "due": 2}],
        }
    }
    assert differences(before, now) == [
        Change(("agent", "orders", "#1", "status"), "pending", "cancelled"),
        Change(("agent", "bills", "B2"), None, {"bill_id": "B2", "due": 3}),
    ]
    assert differences(now, now) == []


def test_columns_alike_are_kept_as_trials_of_one_sample(tmp_path: Path) -> None:
    stage = begin(Variant("easy"), Variant("easy"), Variant("hard", 2, "voice", 0.3))
    with pytest.raises(BadOption, match="still goes on"):
        asyncio.run(keeping.keep(stage, "test", tmp_path))
    stage.forward(400)
    run = write.load_run(asyncio.run(keeping.keep(stage, "test", tmp_path)), tmp_path)
    made = write.load_samples(run.dataset_id, tmp_path)
    assert [(each.facets.persona, each.facets.modality) for each in made] == [("easy", "text"), ("hard", "voice")]
    assert write.finished(run.id, tmp_path) == {(made[0].id, 0), (made[0].id, 1), (made[1].id, 0)}
    assert run.trials == 2
    # What was kept can be played again as any sample.
    assert samples.task_of(made[1]) == CASE
    assert samples.terms_of(made[1]) == {"persona": "hard", "exposure": 2, "modality": "voice", "wer": 0.3}
