"""The page Persona lab as a script sees it."""

import asyncio
import re
import threading
import wave
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from cxlab.benchmarks.mmtaup2.evaluation.worth_showing import PairedEffect, TaskContrast
from cxlab.benchmarks.mmtaup2.generate import make
from cxlab.benchmarks.mmtaup2.importers import tau2
from cxlab.benchmarks.mmtaup2.live import live_session, live_tasks
from cxlab.benchmarks.mmtaup2.live import variant as variant_terms
from cxlab.benchmarks.mmtaup2.live.live_session import LiveSession
from cxlab.benchmarks.mmtaup2.live.stored_session import StoredSession
from cxlab.benchmarks.mmtaup2.live.variant import Variant
from cxlab.benchmarks.mmtaup2.options import MmDataset
from cxlab.dialogue import Move
from cxlab.records.live_snapshot import LiveMetric, LiveSnapshot
from cxlab.runner.launch import ExecutionOptions, launch
from cxlab.runner.request import RunRequest, create_runs
from cxlab.store import write
from cxlab.ui.transcript_html import mark_heard
from cxlab.views.persona import board, claims, showing
from cxlab.views.persona.charts import course_frame, draw_course
from cxlab.views.persona.choices import SETS, Choices, VariantChoice
from cxlab.views.persona.live_conversation import (
    brief_titles,
    find_difference,
    name_place,
    short_titles,
)
from cxlab.views.persona.live_metrics import _metric, _turns, mark_move
from cxlab.voice import audio
from tests.benchmarks.mmtaup2.importers.test_import_tau2 import make_folder
from tests.benchmarks.strong_server import StrongServer
from tests.llm.fault_server import FaultServer
from tests.pages.app_script import codes, open_page, words

pytestmark = pytest.mark.xdist_group("persona")


def html_of(app: AppTest) -> str:
    return "\n".join(each.proto.body for each in app.get("html") if not each.proto.body.startswith("<style"))


def play_to_the_end(app: AppTest) -> None:
    """Play at once; a busy machine takes more than one look at it."""
    app.button(key="play").click().run()
    stage = app.session_state["persona-stage"][1]
    stage.forward(400, 300.0)
    app.run()


LOCKED = "[service_issue]airplane_mode_on|lock_sim_card_pin"


def test_a_presenter_plays_three_personas_and_the_address_keeps_it(empty_home: Path) -> None:
    app = open_page("persona_lab")
    assert not app.exception
    assert html_of(app).count("What can I do for you?") == 3
    assert app.query_params["variant"] == ["none-0-text", "easy-0-text", "hard-0-text"]
    app.button(key="step").click().run()
    assert app.query_params["beats"] == "1"
    assert html_of(app).count("Customer · 1") == 3
    app.button_group(key="pace").set_value("once").run()
    play_to_the_end(app)
    assert not app.exception
    assert "reach the goal" in words(app)
    # What opens is a task that the agent can solve by itself.
    assert "a hand-over" not in words(app)
    assert html_of(app).count("✓ Goal reached") + html_of(app).count("✕ Goal missed") == 3
    assert "P20" not in re.sub(r'title="[^"]*"', "", html_of(app)), "a plan by its id"
    assert "(empty)" not in html_of(app)
    assert "How the agent speaks" in html_of(app)
    table = html_of(app)[html_of(app).rindex('<table class="cx-twelve under">') :]
    told, nothing = table.count('<th scope="row"'), re.search(r"Nothing to count here: .*?</div>", table)
    assert nothing
    left_out = re.findall(r'<span title="[^"]+">', nothing[0])
    assert told + len(left_out) == 14  # turns, messages that repeat, and the twelve
    assert table[: table.index("</table>")].count("<td ") == 3 * told
    assert not re.search(r'<th scope="row"[^>]*>[^<]*</th>(?:<td[^>]*>–</td>){3}', table)
    assert '<span title="stands with the voice variants: it compares them with text">Modality robustness' in nothing[0]
    beats, shown = app.query_params["beats"], html_of(app)
    assert int(beats) > 5
    app.button(key="keep").click().run()
    assert not app.exception
    run = app.session_state["persona-kept"]
    assert [each.id for each in write.list_runs()] == [run]
    assert write.finished(run) == {(sample.id, 0) for sample in write.load_samples(write.load_run(run).dataset_id)}
    failures = open_page("failures", run=run, verdict="all")
    assert not failures.exception
    assert re.search(r"\b3 dialogues\b", words(failures))
    kept = write.load_run(run).setup["played_at"]
    assert {name: values for name, values in kept.items() if name != "beats"} == {
        name: value if isinstance(value, list) else [value]
        for name, value in app.query_params.items()
        if name != "beats"
    }
    app.button(key="restart").click().run()
    assert "beats" not in app.query_params
    assert html_of(app).count("Customer · 1") == 0
    # Whoever gets the address sees what the presenter saw.
    assert html_of(open_page("persona_lab", beats=beats)) == shown


def test_the_same_moments_stand_side_by_side_with_what_the_customer_holds(empty_home: Path) -> None:
    app = open_page("persona_lab", case=LOCKED, variant=["hard-0-text", "hard-1-text"], beats="60")
    assert not app.exception
    # The task asks for a hand-over, and nothing says that its goal is more than that.
    assert "reach the goal, a hand-over" in words(app)
    assert html_of(app).count("✓ Handed over, as this task asks") == 2
    assert "Goal reached" not in html_of(app)
    board = next(each for each in app.get("html") if 'class="cx-board' in each.proto.body).proto.body
    for row in board.split('class="moment">')[1:]:
        assert row.count('class="cell v') == 2
    assert board.count('class="moment">SIM card<') == 1  # both look at it in one row, at whatever turn
    assert board.count('class="adapts"') > 3
    shown = html_of(app)
    assert "Found by rule" in shown
    assert shown.count('class="cx-phone"') == shown.count("Patience left: ") == 2
    assert shown.count("<span>SIM card: locked, it asks for the PIN</span>") == 2


def test_the_lab_opens_on_a_telling_task_of_stored_runs_and_plays_it_as_stored(empty_home: Path) -> None:
    dataset, rows = make(MmDataset(domain=("retail",), count=2, personas=("hard",), modalities=("text",)), 4)
    write.save_dataset(dataset, rows)
    order = RunRequest("mmtaup2", models=("simulated:strong",), customer="simulated:customer", dataset_id=dataset.id)
    launch([run.id for run in create_runs(order)], ExecutionOptions(workers=1, quiet=True))
    example = showing.find_example("simulated:strong", "simulated:customer", "exposure")
    assert example is not None
    best = example.task
    assert not best.hand_over
    assert (best.dataset, best.kind) == (dataset.id, "exposure")
    app = open_page("persona_lab")
    assert not app.exception
    assert (app.query_params["from"], app.query_params["case"]) == (dataset.id, best.task)
    assert app.query_params["variant"] == ["hard-0-text", "hard-1-text", "hard-2-text"]
    assert f"an example and no measure. The goal: {showing.describe(best)}." in words(app)
    assert best.more_adapted(example.place) is not None
    assert example.of == 2
    assert "The task is picked to show most: of 2 stored tasks" in words(app)
    assert "the one on which turns and messages that adapt change most" in words(app)
    assert "Over 2 pairs of stored conversations of strong · simulated, 2 tasks." in words(app)
    assert ", text, hard customers: " in words(app)
    # What is offered is shown as it is stored, and no model is asked.
    stage = app.session_state["persona-stage"][1]
    assert isinstance(stage, StoredSession)
    assert "stored, " in " ".join(each.value for each in app.markdown)
    app.button_group(key="pace").set_value("once").run()
    # Stopped, it can be answered from here, or played live from the start.
    offers = "persona-go-live"
    assert offers not in [each.key for each in app.button]
    app.button(key="step").click().run()
    assert "it goes on live from here: the models are asked" in words(app)
    # Two tasks are sure of nothing, and what is worth showing of them says so.
    assert "a single case, not what is sure over all stored conversations" in words(app)
    # On a stage it would lie below the screen: "Play live" stands above the talk.
    app.toggle(key="large").set_value(True).run()
    assert offers not in [each.key for each in app.button]
    assert app.button_group(key="persona-source-of-play").options == ["Stored dialogue", "Play live"]
    app.toggle(key="large").set_value(False).run()
    for _ in range(3):
        app.button(key="step").click().run()
    said = [[each.text for each in frame.messages] for frame in app.session_state["persona-stage"][1].frames]
    address = dict(app.query_params)
    app.toggle(key="persona-hand-1").set_value(True).run()
    assert not app.exception
    assert not app.warning
    live = app.session_state["persona-stage"][1]
    assert isinstance(live, LiveSession)
    live.wait(300)
    now = [[each.text for each in frame.messages] for frame in live.frames]
    assert (now[0], now[2]) == (said[0], said[2])
    # What the customer had said last got its answer.
    assert now[1][: len(said[1])] == said[1]
    assert live.frames[1].waits == "person"
    assert [each.by_hand for each in live.players] == [False, True, False]
    assert (app.query_params["play"], app.query_params["beats"]) == ("live", "4")
    app.run()
    app.chat_input[0].set_value("Never mind.").run()
    assert not app.exception
    assert "Never mind." in [each.text for each in app.session_state["persona-stage"][1].frames[1].messages]
    app = open_page("persona_lab", **address)
    app.button(key=offers).click().run()
    assert not app.exception
    assert (app.query_params["play"], app.query_params["case"]) == ("live", best.task)
    assert app.query_params["variant"] == ["hard-0-text", "hard-1-text", "hard-2-text"]
    assert len([each for each in app.toggle if "persona-hand-" in str(each.key)]) == 3
    assert offers not in [each.key for each in app.button]
    app.button_group(key="persona-source-of-play").set_value("stored").run()
    play_to_the_end(app)
    assert not app.exception
    assert offers not in [each.key for each in app.button]
    stored = app.session_state["persona-stage"][1].frames
    assert tuple(frame.passed for frame in stored) == best.passed
    assert tuple(frame.tally.turns for frame in stored) == best.turns
    assert not [each for each in app.button if each.key == "keep"]
    assert not [each for each in app.toggle if "hand" in str(each.key)]
    # Played live by the same program it comes out the same, beat by beat.
    app.button_group(key="persona-source-of-play").set_value("live").run()
    assert app.query_params["play"] == "live"
    play_to_the_end(app)
    frames = app.session_state["persona-stage"][1].frames
    for one, other in zip(stored, frames, strict=True):
        assert [each.text for each in one.messages] == [each.text for each in other.messages]
        assert (one.changes, one.course, one.readings, one.worn, one.told) == (
            other.changes, other.course, other.readings, other.worn, other.told,
        )  # fmt: skip
        assert (one.beats, one.ended, one.profiles) == (other.beats, other.ended, other.profiles)
    assert "came out otherwise" not in words(app)
    # As an older version of the program, or another model, left it.
    other = replace(best, passed=tuple(not each for each in best.passed))
    assert "came out otherwise" in showing.tell_otherwise(other, frames)
    assert showing.tell_otherwise(other, ()) == ""


def test_the_lab_opens_on_personas_and_says_what_they_change(empty_home: Path) -> None:
    made = MmDataset(
        domain=("retail",), count=2, personas=("none", "easy", "hard"), modalities=("text",), exposures=("0",)
    )
    dataset, rows = make(made, 4)
    write.save_dataset(dataset, rows)
    order = RunRequest("mmtaup2", models=("simulated:strong",), customer="simulated:customer", dataset_id=dataset.id)
    launch([run.id for run in create_runs(order)], ExecutionOptions(workers=1, quiet=True))
    app = open_page("persona_lab")
    assert not app.exception
    assert app.query_params["variant"] == ["none-0-text", "easy-0-text", "hard-0-text"]
    told = words(app)
    assert "Over 2 pairs of stored conversations of strong · simulated, 2 tasks." in told
    assert any(each.value.startswith("Hard persona against none") for each in app.subheader)
    assert "**Easy persona against none, text, the agent told nothing of the customer**: " in told
    assert "Hard persona against none, text, the agent told nothing of the customer: " in told


def test_a_conversation_that_missed_the_goal_is_not_the_better_one() -> None:
    reached, missed = (replace(frame, passed=passed) for frame, passed in zip(_two_ends(), (True, False), strict=True))
    columns = [VariantChoice("easy"), VariantChoice("hard")]
    assert find_difference(columns, [reached, missed]) == (
        f"1 of 2 reach the goal; hard persona misses it after {missed.tally.turns} turns"
    )
    shorter = replace(missed, tally=replace(missed.tally, turns=1))
    longer = replace(reached, tally=replace(reached.tally, turns=99))
    assert _praised([longer, reached, shorter]) == [False, True, False]
    # Of one alone that reached it, and of such as are alike, nothing is praised.
    assert not any(_praised([reached, shorter]) + _praised([shorter, missed]) + _praised([reached, reached]))
    # Nor is what was handed over with something left to mend, nor anything before all are over.
    assert _praised([longer, replace(reached, unmended=("bill overdue",)), shorter]) == [False] * 3
    assert not any(_praised([longer, reached, replace(shorter, ended="")]))
    one = replace(reached.readings[0], value=0.5, best=1.0)
    other = replace(one, value=1.0)
    frames = [reached, missed, reached]
    assert [cell[1] for cell in _metric([one, other, other], frames, False).cells] == [False, False, True]


def _praised(frames: list[LiveSnapshot]) -> list[bool]:
    return [cell[1] for cell in _turns(frames, False).cells]


def test_voice_profile_and_presentation(empty_home: Path) -> None:
    app = open_page("persona_lab", variant=["hard-1-text", "hard-2-voice-30"], beats="16", show="large")
    assert not app.exception
    shown = html_of(app)
    assert "<del>" in shown
    assert "<mark" in shown
    assert "The agent was told" in shown
    assert "The agent infers" in shown
    assert not app.selectbox or all(box.key != "persona-domain" for box in app.selectbox)
    app.session_state["persona-stage"][1].forward(400, 300.0)
    app.run()
    table = next(
        each.proto.body for each in app.get("html") if "cx-twelve" in each.proto.body and "<tbody>" in each.proto.body
    )
    assert table.count("<tr class=") == table.count('<tr class="apart"') > 2
    assert "figures that are the same here, or have a value of one alone" in words(app)
    app.toggle(key="large").set_value(False).run()
    assert "show" not in app.query_params
    assert "Voice has no sound here" in words(app)


def test_the_page_says_how_well_the_recogniser_on_this_machine_hears() -> None:
    def page(line: str) -> None:
        from cxlab.views.persona.choices import VariantChoice
        from cxlab.views.persona.live_conversation import explain_voice

        explain_voice((VariantChoice("hard", 0, line),), {})

    (told,) = AppTest.from_function(page, args=("sound",)).run().caption
    assert "misheard 22 of 172 words" in told.value
    (told,) = AppTest.from_function(page, args=("voice",)).run().caption
    assert "misheard" not in told.value


def test_a_providers_fault_loses_nothing_and_each_side_says_what_plays_it(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer() as server:
        scene = server.scene("server_error", reply="What is your phone number?")
        described = f'[endpoints.near]\nbase_url = "{scene.url}"\nmodel = "tiny"\nattempts = 1\nkey_required = false\n'
        (empty_home / "models.toml").write_text(described, encoding="utf-8")
        app = open_page("persona_lab", agent="endpoint:near", variant=["easy-0-text", "hard-0-text"])
        assert not app.exception
        shown = " ".join(each.value for each in app.markdown) + words(app)
        assert "customer simulated" in shown
        assert "agent a real model" in shown
        stage = app.session_state["persona-stage"][1]
        for _ in range(2):
            stage.beat()
            stage.wait(60)
        app.run()
        assert html_of(app).count("Cut short") == 2
        scene.mode, scene.latency_s = "ok", 2.0
        monkeypatch.setattr(board, "SLOW_S", 0.0)
        app.button(key="persona-again-0").click().run()
        # While a slow model thinks, the page counts the seconds.
        assert re.search(r"Agent … \d+ s", html_of(app))
        stage.wait(60)
        app.run()
        assert html_of(app).count("Cut short") == 1
        assert "What is your phone number?" in html_of(app)
        assert "persona-again-all" not in [each.key for each in app.button]  # one button is enough for one
        stage.close().result(60)


def test_all_that_a_fault_cut_short_are_tried_again_at_once(empty_home: Path) -> None:
    with FaultServer() as server:
        scene = server.scene("server_error", reply="What is your phone number?")
        described = f'[endpoints.near]\nbase_url = "{scene.url}"\nmodel = "tiny"\nattempts = 1\nkey_required = false\n'
        (empty_home / "models.toml").write_text(described, encoding="utf-8")
        app = open_page("persona_lab", agent="endpoint:near", variant=["easy-0-text", "hard-0-text"])
        stage = app.session_state["persona-stage"][1]
        for _ in range(2):
            stage.beat()
            stage.wait(60)
        app.run()
        scene.mode = "ok"
        app.button(key="persona-again-all").click().run()
        stage.wait(60)
        app.run()
        assert "Cut short" not in html_of(app)
        assert html_of(app).count("What is your phone number?") == 2
        stage.close().result(60)


class Ears:
    """A recogniser that hears all but the last word of a second of silence."""

    def __init__(self, keep: Path) -> None:
        self.keep = keep

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, object]]:
        self.keep.mkdir(parents=True, exist_ok=True)
        with wave.open(str(self.keep / f"{side}.wav"), "wb") as file:
            file.setparams((1, 2, 16_000, 0, "NONE", ""))
            file.writeframes(bytes(32_000))
        return " ".join(text.split()[:-1]), {"wav": f"{side}.wav", "seconds": 1.0}


def test_real_audio_is_played_where_it_is_installed_and_told_of_where_not(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["easy-0-text", "easy-0-sound"]
    monkeypatch.setattr(audio, "missing", lambda: ["espeak-ng"])
    app = open_page("persona_lab", variant=lines)
    assert not app.exception
    assert app.query_params["variant"] == ["easy-0-text", "easy-0-voice-15"]
    assert "Real audio is not installed" in words(app)
    assert not app.get("audio")
    monkeypatch.setattr(audio, "missing", list)
    monkeypatch.setattr(variant_terms, "open_back_end", lambda audio, domain, options, keep: Ears(keep.root))
    app = open_page("persona_lab", variant=lines)
    assert len(app.get("audio")) == 1  # the greeting, to be listened to again
    app.button(key="step").click().run()
    assert not app.exception
    # What has just been said plays by itself, and all of it again on demand.
    assert [each.proto.autoplay for each in app.get("audio")] == [True, False, False]
    assert "not installed" not in words(app)
    assert "For voice, real audio" not in words(app)
    assert "For voice, OpenAI: set OPENAI_API_KEY" in words(app)
    assert "<del>" in html_of(app)


def test_what_ends_while_the_page_is_drawn_has_its_buttons_drawn_once_more(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    armed, gate = threading.Event(), threading.Event()
    taken, effect = live_session.LiveConversation._taken, claims.show_effect

    async def slow(self: live_session.LiveConversation, move: Move) -> None:
        while not gate.is_set():
            await asyncio.sleep(0.01)
        await taken(self, move)

    def finish(*given: Any) -> Any:
        # Below the buttons: the answer comes before the page is drawn to its end.
        if armed.is_set():
            gate.set()
            st.session_state["persona-stage"][1].wait(300)
        return effect(*given)

    monkeypatch.setattr(live_session, "_SOON_S", 0.0)
    monkeypatch.setattr(live_session.LiveConversation, "_taken", slow)
    monkeypatch.setattr(claims, "show_effect", finish)
    app = open_page("persona_lab", variant=["hard-0-text"])
    app.toggle(key="persona-hand-0").set_value(True).run()
    assert app.button(key="back").disabled
    armed.set()
    app.chat_input(key="persona-say-0").set_value("My phone has no service.").run()
    assert not app.exception
    assert gate.is_set()
    assert not app.button(key="back").disabled


def test_taking_over_as_the_customer(empty_home: Path) -> None:
    app = open_page("persona_lab", domain="retail", variant=["easy-0-text", "hard-0-text"])
    app.toggle(key="persona-hand-1").set_value(True).run()
    app.chat_input(key="persona-say-1").set_value("<img src=x onerror=alert(1)> **Hello**, who is this?").run()
    assert not app.exception
    shown = html_of(app)
    assert "&lt;img src=x onerror=alert(1)&gt; **Hello**, who is this?" in shown
    assert "<img" not in shown
    assert "You, as the customer" in shown
    # What was typed is in no address, so that none pretends to replay it.
    assert "beats" not in app.query_params
    app.button(key="persona-hang-1").click().run()
    assert "the customer ended it" in html_of(app)
    # Who begins anew is still the customer.
    app.button(key="restart").click().run()
    assert not app.exception
    assert "You, as the customer" not in html_of(app)
    assert [app.toggle(key=f"persona-hand-{place}").value for place in (0, 1)] == [False, True]
    assert app.chat_input(key="persona-say-1")
    # What the customer wants stands on the page in full.
    wish = app.session_state["persona-stage"][1].task.known.reason
    assert any(wish in each.value.replace("\\", "") for each in app.caption)


def test_imported_tasks_another_customer_and_an_address_that_needs_what_is_not_here(
    empty_home: Path, tmp_path: Path
) -> None:
    app = open_page("persona_lab", **{"from": "tau2-0123456789ab"})
    assert not app.exception
    assert "tau2-0123456789ab, which is not in this store" in words(app)
    assert codes(app)[0] == "python -m cxlab import tau2 FOLDER"
    app.button[0].click().run()
    assert app.selectbox(key="persona-customer").value == "simulated:customer"
    assert all(box.key != "persona-source" for box in app.selectbox)
    source = tau2.import_folder(make_folder(tmp_path / "in")).dataset.id
    app = open_page("persona_lab", variant=["easy-0-text", "hard-0-text"])
    app.selectbox(key="persona-source").set_value(source).run()
    assert not app.exception
    assert app.query_params["from"] == source
    assert (app.query_params["domain"], app.query_params["case"]) == ("retail", "1")
    app.selectbox(key="persona-customer").set_value("simulated:base").run()
    app.button(key="step").click().run()
    assert not app.exception
    shown, query = html_of(app), {name: app.query_params[name] for name in app.query_params}
    assert (query["customer"], query["beats"]) == ("simulated:base", "1")
    assert "Customer · 1" in shown
    assert html_of(open_page("persona_lab", **query)) == shown


def test_the_results_have_an_address_and_the_lab_stays_as_it_was(empty_home: Path) -> None:
    app = open_page("persona_lab", seed="3", beats="2")
    app.button_group(key="persona-side").set_value("results").run()
    assert not app.exception
    assert app.query_params["tab"] == "results"
    assert "seed" not in app.query_params
    assert not html_of(app).count("cx-board")
    app.button_group(key="persona-side").set_value("live").run()
    assert (app.query_params["seed"], app.query_params["beats"]) == ("3", "2")
    assert html_of(app).count("Customer · 1") == 3


def test_a_play_of_what_there_is_not_is_not_played_in_another_way(empty_home: Path) -> None:
    app = open_page(
        "persona_lab", domain="space", case="x", seed="-4", agent="nobody", variant=["rude-9-smell"], beats="9" * 30
    )
    assert not app.exception
    for each in ("domain “space”", "task “x”", "agent “nobody”", "variant “rude-9-smell”"):
        assert f"no {each}" in words(app)
    assert not [each for each in app.button if each.key == "step"]
    app.button(key="cx-unknown").click().run()
    assert app.query_params["domain"] == "telecom"
    assert app.button(key="step")
    assert not app.error


def test_numbers_that_make_no_sense_are_as_usual(empty_home: Path) -> None:
    app = open_page("persona_lab", seed="-4", beats="9" * 30, pace="x", show="y", variant=["hard-0-voice-" + "0" * 9])
    assert "no variant" in words(app)
    app = open_page("persona_lab", seed="-4", beats="9" * 30, pace="x", show="y", variant=["hard-0-voice-007"])
    assert not app.exception
    assert app.query_params["variant"] in ("hard-0-voice-7", ["hard-0-voice-7"])


def test_columns_change_by_their_lists(empty_home: Path) -> None:
    app = open_page("persona_lab", beats="3")
    app.button(key="persona-set-What the agent knows").click().run()
    assert app.query_params["variant"] == ["hard-0-text", "hard-1-text", "hard-2-text"]
    assert "beats" not in app.query_params
    app.selectbox(key="persona-modality-2-hard-2-text").set_value("voice").run()
    app.selectbox(key="persona-wer-2-hard-2-voice-15").set_value(30).run()
    app.button(key="persona-remove-0").click().run()
    assert app.query_params["variant"] == ["hard-1-text", "hard-2-voice-30"]
    assert not app.exception


def test_codes_are_read_as_they_are_written() -> None:
    for columns in SETS.values():
        assert tuple(VariantChoice.read(column.code) for column in columns) == columns
    assert VariantChoice.read("hard-2-voice-7") == VariantChoice("hard", 2, "voice", 7)


def test_what_was_heard_is_told_from_what_was_said() -> None:
    assert (
        mark_heard("see <b> now", "sea now")
        == '<del>see &lt;b&gt;</del> <mark title="said: see &lt;b&gt;">sea</mark> now'
    )
    assert mark_heard("as it is", "as it is") == "as it is"


def test_titles_say_what_sets_columns_apart() -> None:
    assert short_titles(SETS["Personas"]) == ["No persona", "Easy persona", "Hard persona"]
    assert short_titles([VariantChoice("easy"), VariantChoice("easy")])[1].endswith("(2)")
    assert name_place(("customer", "device", "airplane_mode")) == "phone: airplane mode"
    assert name_place(("address", "address1")) == "street"


def test_where_there_is_little_room_a_column_is_named_by_a_word_or_two() -> None:
    assert brief_titles(SETS["Personas"]) == [("no persona",), ("easy",), ("hard",)]
    assert brief_titles(SETS["Text and voice"]) == [("text",), ("voice",)]
    assert brief_titles([VariantChoice("hard", 1, "voice", 5), VariantChoice("hard", 1, "voice", 30)]) == [
        ("voice 5 %",), ("voice 30 %",),
    ]  # fmt: skip
    assert brief_titles([VariantChoice("easy"), VariantChoice("easy")]) == [("easy",), ("easy",)]


@pytest.mark.parametrize(
    ("best", "was", "now", "mark"),
    [
        (1, 0.5, 0.75, "better"), (1, 0.75, 0.5, "worse"), (0, 0.2, 0.1, "better"), (0, 0.0, 1.0, "worse"),
        (1, 1.2, 1.0, "better"), (1, None, 0.5, "new"), (1, 0.5, 0.5, ""), (1, 0.5, None, ""),
    ],
)  # fmt: skip
def test_a_move_is_marked_by_whether_it_is_for_the_better(
    best: float, was: float | None, now: float | None, mark: str
) -> None:
    reading = LiveMetric("arga", "Goal", "What it is.", now, 1, "", True, best)
    assert (mark in mark_move(reading, {"arga": was})) if mark else mark_move(reading, {"arga": was}) == ""
    # In the first turn there is nothing to have moved from.
    assert mark_move(reading, {}) == ""


def test_what_is_open_stands_beside_what_is_counted_and_much_of_it_leaves_no_mean() -> None:
    frame = SimpleNamespace(before={}, ended="over", passed=True, unmended=())
    few = LiveMetric("user_effort", "User effort", "What it is.", 0.2, 10, "", True, 0.0, 1)
    much = LiveMetric("user_effort", "User effort", "What it is.", 0.1, 10, "", True, 0.0, 10)
    row = _metric([few, much], cast(Any, [frame, frame]), False)
    assert [str(cell[0]) for cell in row.cells] == [
        "<small>2 of 10, 1 open</small> 20 %", "<small>1 of 10, 10 open</small> ≥ 5 %",
    ]  # fmt: skip
    assert "at least 5 %, at most 55 %" in row.cells[1][3]
    # Of two of which one is not known, none is the better one.
    assert not any(cell[1] for cell in row.cells)


def test_the_chart_holds_the_numbers_of_its_table() -> None:
    titles, courses = ["a <b>", "c"], [((1, 0.0), (2, 0.5)), ((1, 1.0),)]
    figure = draw_course(titles, courses, dark=False)
    assert [trace.name for trace in figure.data if trace.mode == "lines"] == ["a &lt;b&gt;", "c"]
    assert course_frame(titles, courses)["share"].to_list() == [0.0, 0.5, 1.0]
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [value for trace in lines for value in trace.y] == [0.0, 50.0, 100.0]
    assert lines[0].line.width > lines[1].line.width  # on one height both are seen


def _two_ends() -> list[LiveSnapshot]:
    played = live_session.LiveSession(
        next(iter(live_tasks.cases("retail").values())),
        (Variant("easy"), Variant("hard")),
        "simulated:floor-nothing",
        "simulated:customer",
        0,
    )
    played.forward(400)
    return list(played.frames)


def test_an_example_that_goes_the_other_way_than_all_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    told = TaskContrast("r", "d", "telecom", "t", 0, "exposure", (True, True, True), (15, 16, 15))
    sure = PairedEffect("turns", 11.9, 11.2, -0.7, -1.0, -0.5, 12, 12)
    unsure, large = replace(sure, high=0.4), replace(sure, difference=-1.7, high=0.4)
    monkeypatch.setattr(showing, "find_runs", lambda *_: {"r": "d"})
    now = cast("Choices", SimpleNamespace(agent="simulated:strong", customer="simulated:customer"))
    words = " Here told went the other way than over all tasks: 15 → 16 turns"
    for usual, start, end in ((sure, words, "11.2."), (unsure, "", ""), (large, words, "though not for sure.")):
        monkeypatch.setattr(showing, "cached", lambda *_, usual=usual: [usual])
        said = showing._tell_against(now, told)
        assert (said.partition(", on average")[0], said.endswith(end)) == (start, True)
    longer = replace(told, turns=(16, 15, 14))
    monkeypatch.setattr(showing, "cached", lambda *_: [sure])
    assert showing._tell_against(now, longer) == ""


def test_the_lab_opens_on_real_models_and_shows_what_is_stored_of_them_where_they_cannot_be_asked(
    empty_home: Path,
) -> None:
    dataset, rows = make(MmDataset(domain=("retail",), count=2, personas=("hard",), modalities=("text",)), 4)
    write.save_dataset(dataset, rows)
    with StrongServer() as server:
        (empty_home / "models.toml").write_text(server.settings())
        for agent, customer in (
            ("simulated:strong", "simulated:customer"),
            ("endpoint:agent", "endpoint:customer"),
            ("simulated:strong", "endpoint:customer"),
        ):
            order = RunRequest("mmtaup2", models=(agent,), customer=customer, dataset_id=dataset.id)
            launch([run.id for run in create_runs(order)], ExecutionOptions(workers=1, quiet=True))
    (empty_home / "models.toml").unlink()
    app = open_page("persona_lab")
    assert not app.exception
    assert (app.query_params["agent"], app.query_params["customer"]) == ("endpoint:agent", "endpoint:customer")
    assert "pairs of stored conversations of endpoint:agent" in words(app)
    # The means of one customer are not told of another: the largest run of the two alone is behind them.
    assert claims.find_runs("simulated:strong", "endpoint:customer") != claims.find_runs(
        "simulated:strong", "simulated:customer"
    )
    here = {name: app.query_params[name] for name in app.query_params}
    asked = open_page("persona_lab", **{**here, "play": "live"})
    assert not asked.exception
    assert "endpoint:agent and endpoint:customer cannot be asked on this machine" in words(asked)
    asked.button(key="cx-empty-Show what is stored").click().run()
    assert not asked.exception
    assert "pairs of stored conversations of endpoint:agent" in words(asked)


def test_what_a_persona_changes_is_said_in_words_and_one_pair_is_no_measure() -> None:
    turns = PairedEffect("turns", 5.7, 12.9, 7.2, 4.8, 9.8, 12, 12)
    goals = PairedEffect("pass", 1.0, 0.92, -0.08, -0.25, 0.0, 12, 12)
    adapted = PairedEffect("adapted", 0.32, 0.02, -0.3, -0.5, -0.1, 12, 12)
    assert claims.tell_finding([adapted, goals, turns]) == (
        "30.0 points fewer messages that adapt, 7.2 more turns; no sure difference in goals reached"
    )
    # Of what is the same no interval is told.
    assert claims.tell_effect([replace(adapted, base=0.0, told=0.0, difference=0.0, low=-0.37, high=0.37)]) == (
        "not sure: messages that adapt the same: 0 %"
    )
    unsure = [replace(one, low=-1.0, high=1.0) for one in (adapted, goals, turns)]
    assert claims.tell_finding(unsure) == "no sure difference in messages that adapt, goals reached and turns"
    assert claims.tell_finding([goals]) == "no sure difference in goals reached"
    assert claims.tell_finding([turns]) == "7.2 more turns"
    # What would matter is told with what it is, though it may be chance.
    fewer = replace(goals, told=0.42, difference=-0.58, high=0.1)
    assert claims.tell_finding([unsure[0], fewer, unsure[2]]) == (
        "goals reached 12 of 12 → 5 of 12, not sure; no sure difference in messages that adapt and turns"
    )
    assert claims.tell_finding([replace(turns, n=1)]) == "one pair of dialogues, an example and no measure"


def _ends_after(passed: bool, turns: int, hand_over: bool = False) -> LiveSnapshot:
    """A conversation that is over, or (turns 0) one that goes on."""
    tally = SimpleNamespace(turns=turns)
    ended = "customer_stop" if turns else ""
    told = SimpleNamespace(ended=ended, passed=passed if ended else None, tally=tally, hand_over=hand_over)
    return cast("LiveSnapshot", told)


def test_the_example_tells_the_columns_of_the_claim_and_how_it_stands_to_the_mean() -> None:
    columns = [VariantChoice(each) for each in ("none", "easy", "hard")]
    told = [_ends_after(True, 4), _ends_after(True, 3), _ends_after(True, 7)]
    assert find_difference(columns, told) == "All reach the goal; easy persona takes 3 turns, hard persona 7"
    assert find_difference(columns, told, (0, 2)) == "All reach the goal; no persona takes 4 turns, hard persona 7"
    usual = PairedEffect("turns", 5.7, 12.4, 6.8, 3.7, 10.3, 12, 12)
    hard = claims.list_comparisons(columns)[1]
    assert hard.place == 2

    def say(turns: int, effect: PairedEffect = usual, passed: bool = True) -> str:
        frames = [_ends_after(True, 4), _ends_after(True, 3), _ends_after(passed, turns)]
        return claims.say_example(claims.Claim(hard, [effect]), frames)

    assert say(7) == "3 more turns, milder than the mean"
    assert say(11) == "7 more turns, about the mean"
    assert say(14) == "10 more turns, stronger than the mean"
    assert say(3) == "1 fewer turn, the other way than the mean"
    assert say(4) == "as many turns, milder than the mean"
    # Nothing of what goes on, of what may be chance, or of a conversation that came to nothing.
    assert (say(0), say(7, replace(usual, low=-1.0)), say(7, passed=False)) == ("", "", "")


def test_a_lone_column_is_named_and_told_by_itself() -> None:
    hard = [VariantChoice("hard", 1)]
    assert short_titles(hard) == ["Hard persona"]
    assert find_difference(hard, [_ends_after(True, 7)]) == "The goal is reached in 7 turns"
    assert find_difference(hard, [_ends_after(False, 1)]) == "The goal is missed after 1 turn"
    handed = _ends_after(True, 4, hand_over=True)
    assert find_difference(hard, [handed]) == "The goal, a hand-over, is reached in 4 turns"
    assert claims.list_comparisons(hard) == []


def test_a_column_that_goes_leaves_the_others_where_they_are(empty_home: Path) -> None:
    app = open_page("persona_lab", variant=["none-0-text", "easy-0-text", "hard-0-text"], beats="6", show="large")
    stage = app.session_state["persona-stage"][1]
    said = [[each.text for each in frame.messages] for frame in stage.frames]
    app.button(key="persona-remove-1").click().run()
    assert not app.exception
    assert app.session_state["persona-stage"][1] is stage
    assert [[each.text for each in frame.messages] for frame in stage.frames] == [said[0], said[2]]
    assert app.query_params["variant"] == ["none-0-text", "hard-0-text"]
    assert app.query_params["beats"] == "6"
    # What a person has typed stays as well, and one column can be shown alone.
    app.toggle(key="persona-hand-1").set_value(True).run()
    app.button(key="persona-remove-0").click().run()
    assert not app.exception
    assert app.query_params["variant"] in ("hard-0-text", ["hard-0-text"])
    assert app.toggle(key="persona-hand-0").value
    assert "persona-remove-0" not in [each.key for each in app.button]
    assert html_of(app).count('class="cell v0"') == html_of(app).count('class="cell v')


def test_a_column_is_held_against_the_first_where_one_thing_sets_them_apart() -> None:
    def told(*codes: str) -> list[str]:
        return [one.what for one in claims.list_comparisons([VariantChoice.read(code) for code in codes])]

    assert told("none-0-text", "easy-0-text", "hard-0-text") == [
        "Easy persona against none",
        "Hard persona against none",
    ]
    assert told("hard-0-text", "hard-1-text") == ["Told the persona"]
    assert told("hard-0-text", "hard-0-voice-15") == ["By voice, 15 % misheard, against text"]
    # The third differs in two things, the runs were misheard at another rate, and nobody can be told who nobody is.
    assert told("hard-0-text", "hard-1-text", "hard-2-voice-15") == ["Told the persona"]
    assert told("hard-0-text", "hard-0-voice-30") == told("none-0-text", "none-1-text") == []
    assert told("easy-0-text", "hard-1-text") == told("hard-0-text", "hard-0-text") == []


def test_a_claim_is_the_same_whichever_columns_are_open(empty_home: Path) -> None:
    made = MmDataset(
        domain=("retail",), count=2, personas=("none", "easy", "hard"), modalities=("text",), exposures=("0", "1")
    )
    dataset, rows = make(made, 4)
    write.save_dataset(dataset, rows)
    order = RunRequest("mmtaup2", models=("simulated:strong",), customer="simulated:customer", dataset_id=dataset.id)
    launch([run.id for run in create_runs(order)], ExecutionOptions(workers=1, quiet=True))
    (run,) = claims.find_runs("simulated:strong", "simulated:customer")
    none, hard, told = ("none", 0), ("hard", 0), ("hard", 1)
    # Two levels beside the plainest, three figures each; of what is told one.
    assert (claims.count((run,), hard, none), claims.count((run,), told, hard)) == (6, 3)
    for variants in (["none-0-text", "easy-0-text", "hard-0-text"], ["none-0-text", "hard-0-text"]):
        app = open_page("persona_lab", variant=variants, agent="simulated:strong", **{"from": dataset.id})
        assert "corrected for 6 comparisons" in words(app)


def test_what_a_provider_cut_short_is_no_goal_missed() -> None:
    missed = _two_ends()
    columns = [VariantChoice("easy"), VariantChoice("hard")]
    cut = [replace(frame, ended="provider") for frame in missed]
    assert find_difference(columns, missed).startswith("None reaches the goal")
    assert find_difference(columns, [missed[0], cut[1]]) == (
        "None reaches the goal; 1 cut short, for the model's provider failed"
    )
    assert find_difference(columns, cut) == "All were cut short: the model's provider failed"


def test_a_presenter_goes_back_one_message_and_the_address_says_so(empty_home: Path) -> None:
    app = open_page("persona_lab")
    assert app.button(key="back").disabled
    for _ in range(2):
        app.button(key="step").click().run()
    two = html_of(app)
    app.button(key="step").click().run()
    assert app.query_params["beats"] == "3"
    app.button(key="back").click().run()
    assert not app.exception
    assert app.query_params["beats"] == "2"
    assert re.sub("fresh", "", html_of(app)) == re.sub("fresh", "", two)


def test_a_model_that_hangs_can_be_given_up_and_tried_again(empty_home: Path) -> None:
    app = open_page("persona_lab")
    stage = app.session_state["persona-stage"][1]
    (player, *others) = stage.players
    duet = player.talk.duet

    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    parties, duet.parties = duet.parties, {"agent": hang, "customer": hang}
    player.beat()
    player._since -= 60  # it has been a minute
    app.run()
    assert "persona-give-up-1" not in [button.key for button in app.button]
    app.button(key="persona-give-up-0").click().run()
    assert not app.exception
    assert "Cut short" in html_of(app)
    duet.parties = parties
    app.button(key="persona-again-0").click().run()
    player.wait(300.0)
    assert player.frame.ended == ""
    assert len(player.frame.messages) > 1
    assert not any(other.busy for other in others)


def test_what_a_list_cuts_stands_below_it_in_full_and_what_is_worth_showing_above_the_talk(empty_home: Path) -> None:
    app = open_page("persona_lab")
    domain = app.selectbox(key="persona-domain")
    told = [caption.value.replace("\\", "") for caption in app.sidebar.caption]
    assert "Telecom: a phone that does not work" in told
    assert not any("Worth showing" in each for each in told)
    task = app.selectbox(key="persona-case")
    assert domain.value == "telecom"
    assert live_tasks.titles(live_tasks.cases("telecom"))[str(task.value)].split(";")[0] in " ".join(told)


def test_who_answers_as_the_customer_is_no_simulation(empty_home: Path) -> None:
    app = open_page("persona_lab")
    assert "both sides simulated" in words(app)
    app.toggle(key="persona-hand-0").set_value(True).run()
    assert "simulated but for you" in words(app)
    assert "both sides simulated" not in words(app)


def test_a_page_loaded_anew_finds_what_was_typed_and_says_when_it_is_gone(empty_home: Path) -> None:
    app = open_page("persona_lab")
    app.toggle(key="persona-hand-0").set_value(True).run()
    app.chat_input(key="persona-say-0").set_value("My phone has no service.").run()
    assert "You, as the customer" in html_of(app)
    given = {name: app.query_params[name] for name in app.query_params}
    assert "My phone" not in str(given)
    again = open_page("persona_lab", **given)
    assert not again.exception
    assert "My phone has no service." in html_of(again)
    assert "begins anew" not in words(again)
    again.button(key="restart").click().run()
    assert "held" not in again.query_params
    later = open_page("persona_lab", **given)
    assert "My phone has no service." not in html_of(later)
    assert "begins anew" in words(later)


def test_the_address_keeps_up_with_what_is_played(empty_home: Path) -> None:
    app = open_page("persona_lab")
    app.button(key="play").click().run()
    stage = app.session_state["persona-stage"][1]
    stage.forward(5, 300.0)
    app.run()
    assert app.session_state["persona-playing"]
    assert int(app.query_params["beats"]) >= 5
