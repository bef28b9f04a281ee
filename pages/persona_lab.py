"""Persona lab: what does a persona do to an agent?"""

import asyncio
import time
from dataclasses import replace

import streamlit as st

from cxlab import llm, ui
from cxlab.benchmarks.mmtaup2 import keeping
from cxlab.benchmarks.mmtaup2 import stage as stages
from cxlab.benchmarks.mmtaup2.stage import Player, Stage, Variant
from cxlab.charts.persona import course_frame, draw_course
from cxlab.runner.order import read_code_version
from cxlab.ui import persona as parts
from cxlab.ui import persona_choices as address
from cxlab.ui import persona_hand as hand
from cxlab.ui.persona_choices import PACES, Choices
from cxlab.ui.persona_controls import show_controls, show_keep
from cxlab.voice import audio

ui.routed()
DOMAINS = {"telecom": "Telecom: a phone that does not work", "retail": "Retail: orders of a shop"}
CUSTOMER = "simulated:customer"
SHOWN_FIRST = {"telecom": "lock_sim_card_pin", "retail": "cancel_order"}


def stage_of(choices: Choices) -> Stage:
    """The stage of these choices; another one is set up when they change, as far played as the address says."""
    held: tuple[object, Stage] | None = st.session_state.get("persona-stage")
    if held and held[0] == choices.play:
        return held[1]
    if held:
        held[1].close()
    task = stages.cases(choices.domain)[choices.case]
    variants = [Variant(c.persona, c.exposure, c.modality, c.wer / 100) for c in choices.columns]
    stage = Stage(task, variants, choices.agent, CUSTOMER, choices.seed)
    st.session_state.update({"persona-stage": (choices.play, stage), "persona-playing": False, "persona-kept": None})
    if stage.free:  # what costs money is played only by who presses the button
        stage.forward(choices.beats)
    return stage


def keep_place(choices: Choices, stage: Stage) -> None:
    """The address says how far it has been played; what a person said is in no address."""
    address.write(replace(choices, beats=0 if stage.touched else min(stage.beats, address.MANY_BEATS)))


def control(choices: Choices, stage: Stage) -> None:
    def play(on: bool) -> None:
        st.session_state["persona-playing"] = on
        if not on:
            keep_place(choices, stage)

    def step() -> None:
        stage.beat()
        stage.wait(20 if stage.free else 0.3)
        keep_place(choices, stage)

    def restart() -> None:
        st.session_state.pop("persona-stage", None)
        stage.close()
        address.write(replace(choices, beats=0))

    playing = st.session_state["persona-playing"]
    show_controls(choices, playing, stage.idle, play=play, step=step, restart=restart, simulated=stage.free)


def show_stage(choices: Choices, stage: Stage, followed: bool) -> None:
    """The columns as they stand, one beat further if it is time. `followed`: this is drawn again and again."""
    playing, pace = st.session_state["persona-playing"], PACES[choices.pace][1]
    sounds = [found[1] for player in stage.players if (found := player.sound())]
    due = st.session_state.get("persona-beaten", 0.0) + max([0.8 * pace, *sounds])
    if playing and time.monotonic() > due:
        st.session_state["persona-beaten"] = time.monotonic()
        if choices.pace == "once":
            stage.forward(address.MANY_BEATS, pace)
        else:
            stage.beat()
            stage.wait(0.3)
    frames = [player.frame for player in stage.players]
    finding = parts.find_difference(choices.columns, frames)
    if finding:
        ui.section(finding)
    for place, column in enumerate(st.columns(len(frames), gap="medium")):
        with column:
            show_player(choices, stage, place, stage.players[place])
    if not choices.large:
        parts.explain_voice(choices.columns, audio.missing())
    if finding and not choices.large:
        show_keep(st.session_state["persona-kept"], lambda: keep(stage))
        names, courses = parts.short_titles(choices.columns), [frame.course for frame in frames]
        ui.section("How far each had come, turn by turn", "Critical fields used rightly, needed actions carried out.")
        alt = "Share of what the task needs that was done, by turn and variant."
        ui.show_chart(draw_course(names, courses, ui.dark()), course_frame(names, courses), key="course", alt=alt)
    if stage.touched:
        keep_place(choices, stage)
    if (playing and stage.idle) or followed != (playing or stage.busy):
        st.session_state["persona-playing"] = playing and not stage.idle
        keep_place(choices, stage)
        st.rerun()


def keep(stage: Stage) -> None:
    st.session_state["persona-kept"] = asyncio.run(keeping.keep(stage, read_code_version()))


def show_player(choices: Choices, stage: Stage, place: int, player: Player) -> None:
    frame, column, large = player.frame, choices.columns[place], choices.large
    parts.show_talk(frame, column.title, large, player.busy)
    if sound := player.sound():
        st.audio(str(sound[0]), autoplay=st.session_state["persona-playing"])
    parts.show_end(frame, large)
    if not frame.ended:
        player.by_hand = st.toggle("Answer as the customer", player.by_hand, key=f"persona-hand-{place}")
        if player.by_hand:
            tools = player.talk.world.tools("customer")
            hand.show_hand(place, player.frame, tools, player.say, player.do, lambda: player.say("", "done"))
            with st.popover("What the customer knows", type="tertiary", key=f"persona-card-{place}"):
                hand.show_card(stage.task.known.model_dump())
    parts.show_tally(frame.tally, large, any(each.modality != "text" for each in choices.columns))
    parts.show_changes(frame.changes, choices.domain, large)
    parts.show_profile(frame, column, large)
    if not stage.free:
        parts.show_cost(frame.cost_usd)


cases = {name: {id: stages.title(task) for id, task in stages.cases(name).items()} for name in DOMAINS}
usual = {name: next((id for id in known if SHOWN_FIRST[name] in id), "") for name, known in cases.items()}
models = [row.name for row in llm.known() if row.configured and "judge" not in row.name and row.name != CUSTOMER]
lacks = audio.missing()
chosen = address.read(cases, usual, models, not lacks)
parts.style(chosen.large)
if not chosen.large:
    ui.header("Persona lab", "What does a persona do to an agent?")
    with st.sidebar:
        address.choose_play(chosen, cases, DOMAINS, {name: ui.label(name) for name in models})
address.write(chosen)
stage = stage_of(chosen)
with st.container(horizontal=True, vertical_alignment="center"):
    if chosen.large:
        parts.show_title(chosen.columns, cases[chosen.domain][chosen.case])
    control(chosen, stage)
titles = parts.short_titles(chosen.columns) if chosen.large else [column.title for column in chosen.columns]
for number, head in enumerate(st.columns(len(chosen.columns), gap="medium")):
    with head:
        address.choose_column(chosen, number, titles[number], lacks)
followed = st.session_state["persona-playing"] or stage.busy
st.fragment(run_every=PACES[chosen.pace][1] if followed else None)(show_stage)(chosen, stage, followed)
