"""Variants side by side: the beats, what is told of them, and a person who takes over."""

import asyncio
import gc
import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cxlab import read
from cxlab.benchmarks.mmtaup2 import tasks
from cxlab.benchmarks.mmtaup2.evaluation.measured_metrics import CUT_SHORT, METRICS, measure_attempt
from cxlab.benchmarks.mmtaup2.importers import tau2
from cxlab.benchmarks.mmtaup2.live import left_undone, live_tasks, save_live_run
from cxlab.benchmarks.mmtaup2.live import live_session as stages
from cxlab.benchmarks.mmtaup2.live import variant as variant_terms
from cxlab.benchmarks.mmtaup2.live.live_metrics import NO_TEXT, NO_VOICE, NOT_BOTH, NOT_OVER, differences
from cxlab.benchmarks.mmtaup2.live.live_session import LiveConversation, LiveSession
from cxlab.benchmarks.mmtaup2.live.variant import Variant
from cxlab.benchmarks.mmtaup2.run import kept
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.errors import BadOption, UnknownName
from cxlab.llm import openai_clients
from cxlab.records import Attempt, content_id
from cxlab.records.live_snapshot import WorldChange
from cxlab.store import write
from cxlab.views.failures.sounds import find_sound
from tests.benchmarks.mmtaup2.importers.test_import_tau2 import make_folder
from tests.llm.fault_server import FaultServer

AGENT, CUSTOMER = "simulated:strong", "simulated:customer"
# What must come may take its time on a busy machine.
LONG_S = 300.0
CASE = next(task for id, task in live_tasks.cases("telecom").items() if "lock_sim_card_pin" in id)


def begin(*variants: Variant, seed: int = 0) -> LiveSession:
    return LiveSession(CASE, variants, AGENT, CUSTOMER, seed)


def texts(player: LiveConversation) -> list[str]:
    return [message.text for message in player.frame.messages]


@pytest.fixture(scope="module")
def played() -> LiveSession:
    stage = begin(Variant("easy"), Variant("hard", 2, "voice", 0.2), seed=1)
    stage.forward(400, LONG_S)
    return stage


def test_all_come_to_an_end_and_the_hard_one_later(played: LiveSession) -> None:
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


def test_a_beat_is_one_message_that_somebody_hears(played: LiveSession) -> None:
    for player in played.players:
        heard = [m for m in player.frame.messages if m.role != "tool" and not m.tool_calls and m.turn > 0]
        assert player.beats == len(heard)


def test_the_same_seed_plays_the_same_and_beats_make_no_difference(played: LiveSession) -> None:
    again = begin(Variant("easy"), Variant("hard", 2, "voice", 0.2), seed=1)
    while not again.idle:
        again.beat()
        again.wait(LONG_S)
    assert [texts(player) for player in again.players] == [texts(player) for player in played.players]
    other = begin(Variant("hard", 2, "voice", 0.2), seed=2)
    other.forward(400, LONG_S)
    assert texts(other.players[0]) != texts(played.players[1])


def test_patience_wears_out_with_every_message_and_never_for_who_has_time(played: LiveSession) -> None:
    easy, hard = (player.frame for player in played.players)
    assert easy.worn == ()
    said = [m for m in hard.messages if m.role == "agent" and not m.tool_calls]
    assert len(hard.worn) == len(said)
    assert hard.worn[0] == 0.0
    assert 0 < hard.worn[-1] <= 1
    assert tuple(differences(easy.begun, easy.state)) == easy.changes
    assert hard.begun == easy.begun


def test_a_frame_is_not_changed_by_what_comes_after() -> None:
    stage = begin(Variant("hard"))
    first = stage.players[0].frame
    before = first.messages, first.tally, first.course
    stage.forward(400, LONG_S)
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
    player.wait(LONG_S)
    said, answer = player.frame.messages[1], player.frame.messages[-1]
    assert said.role == "customer"
    assert said.data["by_hand"]
    assert number in said.text
    assert answer.role == "agent"
    assert player.frame.waits == "person"
    assert player.frame.tally.fields == {"phone_number": True}
    player.do("toggle_airplane_mode", {})
    player.wait(LONG_S)
    assert WorldChange(("customer", "device", "airplane_mode"), True, False) in player.frame.changes
    player.do("toggle_gravity", {"by": 2})
    player.wait(LONG_S)
    assert player.frame.messages[-1].data["kind"] == "unknown_tool"
    player.say("", "done")
    player.wait(LONG_S)
    assert player.frame.ended == "customer_stop"
    assert player.touched
    with pytest.raises(BadOption, match="not the customer's turn"):
        player.say("Still there?")


def test_what_the_customer_did_beside_the_task_is_marked_until_it_is_put_back() -> None:
    player = begin(Variant("easy")).players[0]
    player.by_hand = True
    needless = []
    for tool in ("toggle_data", "toggle_airplane_mode", "toggle_data"):
        player.do(tool, {})
        player.wait(LONG_S)
        marked = [player.frame.messages[place] for place in player.frame.needless]
        needless.append([message.data["tool"] for message in marked])
    # The gold actions end airplane mode; mobile data was on and should have stayed so.
    assert needless == [["toggle_data"], ["toggle_data"], []]


def test_what_went_wrong_in_a_beat_is_raised_where_one_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = begin(Variant("none"))
    player = stage.players[0]

    async def fail(*_: object) -> None:
        raise BadOption("no such line")

    monkeypatch.setattr(player.talk.duet, "step", fail)
    stage.beat()
    stage.wait(LONG_S)
    assert stage.idle
    with pytest.raises(BadOption, match="no such line"):
        _ = player.frame


def test_a_model_that_hangs_is_given_up_and_asked_again() -> None:
    stage = begin(Variant("none"))
    player = stage.players[0]
    agent, asked = player.talk.duet.parties["agent"], asyncio.Event()

    async def hang(*_: object) -> Any:
        asked.set()
        await asyncio.Event().wait()

    player.talk.duet.parties["agent"] = hang
    stage.beat()
    stage.wait(LONG_S)
    stage.beat()
    asyncio.run_coroutine_threadsafe(asked.wait(), stages.loop()).result(LONG_S)
    assert player.busy
    player.give_up()
    player.wait(LONG_S)
    assert (player.frame.ended, player.frame.fault) == ("provider", "It was not waited for any longer.")
    assert stage.idle
    player.talk.duet.parties["agent"] = agent
    before = len(player.frame.messages)
    player.retry()
    player.wait(LONG_S)
    assert player.frame.ended == ""
    assert len(player.frame.messages) > before


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
    monkeypatch.setattr(variant_terms, "open_back_end", lambda audio, domain, options, keep: Ears(keep.root))
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
    stage.forward(400, LONG_S)
    assert [message.turn for message, _ in spoken.recordings()][:3] == [0, 1, 1]
    assert written.recordings() == []
    run = write.load_run(asyncio.run(save_live_run.keep(stage, "test")))
    (aloud,) = (one for one in write.load_samples(run.dataset_id) if one.facets["modality"] == "voice")
    assert samples.terms_of(aloud)["audio"] == "espeak"
    names = [
        json.loads(data).get("wav") for data in read.attempt(run.id, content_id(run.id, aloud.id, 0)).messages["data"]
    ]
    found = {find_sound(run.id, run.setup, name) for name in names if name}
    assert len(found) == len(spoken.recordings())
    assert None not in found


def test_variants_that_there_are_not_are_refused() -> None:
    for given in (("rude", 0, "text"), ("hard", 3, "text"), ("hard", 0, "smell")):
        with pytest.raises(BadOption, match="personas"):
            Variant(*given)


def test_differences_name_the_place_and_leave_out_what_was_only_looked_up() -> None:
    before = {"agent": {"orders": {"#1": {"status": "pending"}}, "bills": [{"bill_id": "B1", "due": 2}]}}
    now = {
        "agent": {
            "orders": {"#1": {"status": "cancelled"}, "#2": {"status": "delivered"}},
            "bills": [{"bill_id": "B2", "due": 3}, {"bill_id": "B1", "due": 2}],
        }
    }
    assert differences(before, now) == [
        WorldChange(("agent", "orders", "#1", "status"), "pending", "cancelled"),
        WorldChange(("agent", "bills", "B2"), None, {"bill_id": "B2", "due": 3}),
    ]
    assert differences(now, now) == []


def test_the_twelve_metrics_stand_after_each_turn_and_end_as_they_are_stored(
    played: LiveSession, tmp_path: Path
) -> None:
    easy, hard = played.frames
    assert [one.metric for one in easy.readings] == list(METRICS)
    run = asyncio.run(save_live_run.keep(played, "test", tmp_path))
    for player, sample in zip(
        played.players, write.load_samples(write.load_run(run, tmp_path).dataset_id, tmp_path), strict=True
    ):
        found = measure_attempt(CASE, kept(player.talk, sample, run, 0, player.started))
        for one in player.frame.readings:
            assert (one.value, one.n) == (found.value(one.metric), len(found.figures[one.metric].observations))
            assert (one.value is None) == bool(one.reason)
    # Since the turn before, only what hangs on the end can have come up: the goal was reached though misheard.
    arga = next(one for one in hard.readings if one.metric == "arga")
    assert (arga.value, hard.before["arga"]) == (float(bool(hard.passed)), None)
    stage = begin(Variant("hard", 0, "voice", 0.3))
    seen = []
    while not stage.idle:
        stage.beat()
        stage.wait(LONG_S)
        seen.append(stage.frames[0])
    efficiency = list(METRICS).index("turn_efficiency")
    for frame in seen:
        if (was := frame.before.get("turn_efficiency")) is not None:
            assert was >= frame.readings[efficiency].value >= min(1, frame.tally.least / frame.tally.turns) - 1e-9
    assert {one.reason for one in seen[4].readings if one.metric == "arga"} == {NOT_OVER}


def test_voice_is_compared_with_text_where_the_variants_allow_it() -> None:
    stage = begin(Variant("hard"), Variant("hard", 0, "voice", 0.1), Variant("hard", 2, "voice", 0.1))

    def read(metric: str) -> list[tuple[float | None, str]]:
        found = [next(one for one in frame.readings if one.metric == metric) for frame in stage.frames]
        return [(one.value, one.reason) for one in found]

    assert read("turn_overhead") == [(None, NO_VOICE), (None, NOT_BOTH), (None, NO_TEXT)]
    stage.forward(400, LONG_S)
    text, voice, _ = stage.frames
    assert text.passed
    assert read("modality_robustness")[1] == (float(bool(voice.passed)), "")
    assert read("turn_overhead")[1][0] == pytest.approx(voice.tally.turns / text.tally.turns - 1)
    assert read("turn_overhead")[2] == (None, NO_TEXT)


def test_words_are_seen_as_they_are_written_and_a_broken_stream_ends_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reply = "Please switch the phone off and on again."
    drafts = []

    def write_down(player: LiveConversation, side: str, text: str) -> None:
        write(player, side, text)
        drafts.append(player.draft)

    write = LiveConversation._write
    monkeypatch.setattr(LiveConversation, "_write", write_down)
    with FaultServer() as server:
        scene = server.scene("stream", reply=reply)
        described = f'[endpoints.near]\nbase_url = "{scene.url}"\nmodel = "tiny"\nattempts = 1\nkey_required = false\n'
        (tmp_path / "models.toml").write_text(described, encoding="utf-8")
        monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
        stage = LiveSession(CASE, (Variant("easy"),), "endpoint:near", CUSTOMER, 0)
        player = stage.players[0]
        assert not stage.free
        for _ in range(2):
            stage.beat()
            stage.wait(LONG_S)
        assert ("agent", "Please switch the phone") in drafts
        assert player.draft is None
        assert player.frame.messages[-1].text == reply
        # A server that takes no tools is asked for JSON, and only what it says in it is shown.
        scene.mode, scene.reply = "stream_no_tools", json.dumps({"calls": [], "message": 'Say "yes", please.'})
        drafts.clear()
        for _ in range(2):
            stage.beat()
            stage.wait(LONG_S)
        assert ("agent", 'Say "yes",') in drafts
        assert player.frame.messages[-1].text == 'Say "yes", please.'
        scene.mode = "stream_broken"
        stage.beat()
        stage.wait(LONG_S)
        stage.beat()
        stage.wait(LONG_S)
        assert player.frame.ended == "provider"
        assert "broke off" in player.frame.fault or "connection" in player.frame.fault
        assert {one.reason for one in player.frame.readings} == {CUT_SHORT}
        # Once the server is well again, it goes on from the message that failed.
        scene.mode, before = "stream_no_tools", player.frame.messages
        player.retry()
        player.wait(LONG_S)
        assert player.frame.ended == ""
        assert player.frame.messages[: len(before)] == before
        assert player.frame.messages[-1].text == 'Say "yes", please.'
        assert player.since is None
        stage.close().result(LONG_S)


def test_a_session_that_nobody_closes_lets_go_of_its_connections(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who leaves the page says nothing, and the server goes on."""
    with FaultServer() as server:
        scene = server.scene("stream", reply="Please switch the phone off.")
        described = f'[endpoints.near]\nbase_url = "{scene.url}"\nmodel = "tiny"\nattempts = 1\nkey_required = false\n'
        (tmp_path / "models.toml").write_text(described, encoding="utf-8")
        monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
        stage = LiveSession(CASE, (Variant("easy"),), "endpoint:near", CUSTOMER, 0)
        for _ in range(2):
            stage.beat()
            stage.wait(LONG_S)

        def held() -> list[object]:
            return [identity for identity in openai_clients._CLIENTS[stages.loop()] if scene.url in identity]

        assert len(held()) == 1
        del stage
        gc.collect()
        until = time.monotonic() + LONG_S
        while held() and time.monotonic() < until:
            time.sleep(0.01)
        assert held() == []


def test_imported_tasks_are_played_in_their_own_world_and_kept_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path / "home"))
    assert list(live_tasks.sources()) == [""]
    source = tau2.import_folder(make_folder(tmp_path / "in")).dataset.id
    assert list(live_tasks.sources()) == ["", source]
    assert live_tasks.domains(source) == ("retail",)
    known = live_tasks.cases("retail", source)
    assert live_tasks.titles(known) == {
        "1": "Cancel pending order", "2": "Question (1)", "3": "Question (2)",
    }  # fmt: skip
    stage = LiveSession(known["1"], (Variant("easy"), Variant("easy")), AGENT, CUSTOMER, 0, source)
    stage.forward(400, LONG_S)
    run = write.load_run(asyncio.run(save_live_run.keep(stage, "test", address={"from": [source]})))
    assert run.setup[save_live_run.PLAYED_AT] == {"from": [source]}
    made = write.load_samples(run.dataset_id)[0]
    world = samples.world_of(made)
    assert made.dataset_id != source
    assert world is not None
    assert tasks.replay_gold(samples.task_of(made), world)["reward"] == 1.0
    with pytest.raises(UnknownName, match="tau2-none"):
        live_tasks.cases("retail", "tau2-none")


def test_columns_alike_are_kept_as_trials_of_one_sample(tmp_path: Path) -> None:
    stage = begin(Variant("easy"), Variant("easy"), Variant("hard", 2, "voice", 0.3))
    with pytest.raises(BadOption, match="still goes on"):
        asyncio.run(save_live_run.keep(stage, "test", tmp_path))
    stage.forward(400, LONG_S)
    run = write.load_run(asyncio.run(save_live_run.keep(stage, "test", tmp_path)), tmp_path)
    made = write.load_samples(run.dataset_id, tmp_path)
    assert [(each.facets["persona"], each.facets["modality"]) for each in made] == [("easy", "text"), ("hard", "voice")]
    assert write.finished(run.id, tmp_path) == {(made[0].id, 0), (made[0].id, 1), (made[1].id, 0)}
    assert run.trials == 2
    # What was kept can be played again as any sample.
    assert samples.task_of(made[1]) == CASE
    assert samples.terms_of(made[1]) == {"persona": "hard", "exposure": 2, "modality": "voice", "wer": 0.3}


@pytest.mark.parametrize("variant", [Variant("hard", 2), Variant("hard", 0, "voice", 0.2)])
def test_back_and_on_again_plays_the_same(variant: Variant) -> None:
    stage = begin(variant, seed=3)
    player = stage.players[0]
    assert not stage.has_past
    stage.forward(9, LONG_S)
    before, profiles, spent = texts(player), player.frame.profiles, player.frame.cost_usd
    stage.beat()
    stage.wait(LONG_S)
    assert len(texts(player)) > len(before)
    stage.back()
    stage.wait(LONG_S)
    assert (texts(player), player.frame.profiles, player.beats) == (before, profiles, 9)
    assert player.frame.cost_usd == spent
    for _ in range(3):
        stage.back()
        stage.wait(LONG_S)
    assert player.beats == 6
    stage.forward(400, LONG_S)
    straight = begin(variant, seed=3)
    straight.forward(400, LONG_S)
    assert texts(player) == texts(straight.players[0])
    assert player.frame.passed == straight.players[0].frame.passed
    assert player.frame.course == straight.players[0].frame.course


def test_a_person_who_is_handed_over_is_not_kept_on_the_line() -> None:
    stage = begin(Variant())
    (player,) = stage.players
    player.by_hand = True
    phone = str(CASE.known.facts["phone_number"])
    for text in ("My phone has no service.", phone, "I want to speak to a person", "get me a person please"):
        if player.frame.waits:
            player.say(text)
            player.wait(LONG_S)
    assert "handing you over" in " ".join(texts(player))
    assert (player.frame.ended, player.frame.waits) == ("customer_stop", "")
    assert player.has_past


def test_what_was_not_mended_before_a_hand_over_is_told() -> None:
    task = live_tasks.cases("telecom")["[service_issue]airplane_mode_on|lock_sim_card_pin|overdue_bill_suspension"]
    player = LiveSession(task, (Variant(),), AGENT, CUSTOMER, 0).players[0]
    player.by_hand = True
    number = str(task.known.facts["phone_number"])
    for text in (f"I have no service. My number is {number}.", "No, I will not pay that.", "A person, please."):
        if player.frame.waits:
            assert player.frame.unmended == ()
            player.say(text)
            player.wait(LONG_S)
    frame = player.frame
    assert (frame.passed, frame.hand_over, frame.changes) == (True, True, ())
    assert frame.unmended == ("airplane mode is on", "line suspended, bill overdue")
    world = player.talk.world
    world.call("customer", "toggle_airplane_mode", {})
    assert left_undone.find_unmended(task, world) == ("line suspended, bill overdue",)
    owed = next(step["arguments"] for step in task.prepare if "new_bill_id" in step["arguments"])
    bill = {"customer_id": owed["customer_id"], "bill_id": owed["new_bill_id"]}
    world.call("agent", "send_payment_request", bill)
    world.call("customer", "make_payment", {})
    assert left_undone.find_unmended(task, world) == ("line still suspended",)
    world.call("agent", "resume_line", {"customer_id": owed["customer_id"], "line_id": owed["line_id"]})
    assert left_undone.find_unmended(task, world) == ()


def test_a_person_takes_back_what_it_said_and_what_came_of_it() -> None:
    stage = begin(Variant("none"), Variant("hard"))
    player, other = stage.players
    player.by_hand = True
    player.say("My phone has no service.")
    player.wait(LONG_S)
    first = texts(player)
    player.do("check_status_bar", {})
    player.wait(LONG_S)
    player.say("Nonsense!", "done")
    player.wait(LONG_S)
    assert player.frame.ended
    stage.back()
    stage.wait(LONG_S)
    assert not player.frame.ended
    assert player.frame.messages[-1].role == "tool"
    stage.back()
    stage.wait(LONG_S)
    assert texts(player) == first
    assert player.frame.waits == "person"
    assert stage.touched
    stage.back()
    stage.wait(LONG_S)
    # The other one was not touched, and nothing that a person said is left: the seed alone plays it again.
    assert len(texts(player)) == len(texts(other)) == 1
    assert not stage.touched
    assert not stage.has_past


@pytest.mark.parametrize("variant", [Variant("hard", 2), Variant("hard", 0, "voice"), Variant("easy", 1)])
def test_a_stored_conversation_goes_on_live_from_any_message_as_it_went_before(variant: Variant) -> None:
    (player,) = (stage := begin(variant)).players
    stage.forward(400, LONG_S)
    frame, output = player.frame, player.talk.output()
    assert frame.ended
    stored = cast("Attempt", SimpleNamespace(messages=frame.messages, output=output))
    spoken = [at for at, one in enumerate(frame.messages, 1) if one.role != "tool" and not one.tool_calls]
    for end in (spoken[0], spoken[len(spoken) // 2], spoken[-2]):
        (other,) = (again := begin(variant)).players
        again.wait(LONG_S)
        other.go_on_from(stored, end)
        again.wait(LONG_S)
        assert [one.text for one in other.frame.messages] == [one.text for one in frame.messages[:end]]
        assert other.frame.beats == spoken.index(end)
        again.forward(400, LONG_S)
        assert [one.text for one in other.frame.messages] == [one.text for one in frame.messages]
        assert (other.frame.ended, other.frame.profiles) == (frame.ended, frame.profiles)
        again.close()
