"""Persona lab: what does a persona do to an agent?"""

import asyncio
from dataclasses import replace

import streamlit as st

from cxlab import llm, ui
from cxlab.benchmarks.mmtaup2.live import live_tasks, save_live_run
from cxlab.benchmarks.mmtaup2.live.live_session import LiveSession
from cxlab.benchmarks.mmtaup2.live.stored_session import StoredSession
from cxlab.runner.request import read_code_version
from cxlab.ui.unknown import stop_at
from cxlab.views.glossary import show_words
from cxlab.views.persona import choices as address
from cxlab.views.persona import claims, sessions, showing, style
from cxlab.views.persona import live_conversation as parts
from cxlab.views.persona.available import list_available
from cxlab.views.persona.choices import AvailableChoices, Choices
from cxlab.views.persona.columns import interval, keep_place, leave_out, show_board
from cxlab.views.persona.controls import choose_side, choose_source, show_controls
from cxlab.voice import backends

ui.routed()
CUSTOMER = "simulated:customer"
# Ways to speak → what the address calls them, where that differs.
LINES = {"channel": "voice", "espeak": "sound"}


def offer(sources: dict[str, str], source: str) -> AvailableChoices:
    """What there is to choose from, of the tasks of one source."""
    rows = [row for row in llm.known() if row.configured and "judge" not in row.name and row.name != CUSTOMER]
    voices = backends.backends()
    return list_available(
        source,
        sources,
        [row.name for row in rows if llm.only_for(row.name) in ("", "mmtaup2")],
        [CUSTOMER, *(row.name for row in rows if not llm.only_for(row.name))],
        {"text": "Text"} | {LINES.get(each.name, each.name): each.title for each in voices if each.ready},
        {LINES.get(each.name, each.name): each.fix for each in voices if not each.ready},
    )


def control(choices: Choices, stage: LiveSession | StoredSession, is_stored: bool) -> None:
    def play(on: bool) -> None:
        st.session_state["persona-playing"] = on
        if not on:
            keep_place(choices, stage)

    def step() -> None:
        stage.beat()
        stage.wait(20 if stage.free else 0.3)
        st.session_state["persona-stepped"] = stage.beats
        keep_place(choices, stage)

    def back() -> None:
        stage.back()
        stage.wait(20 if stage.free else 0.3)
        st.session_state["persona-kept"] = None
        keep_place(choices, stage)

    def restart() -> None:
        sessions.begin_anew(stage)
        address.write(replace(choices, beats=0, held=""))

    playing = st.session_state["persona-playing"]
    hands = sum(player.by_hand for player in stage.players)
    show_controls(
        choices, playing, stage.idle, play=play, step=step, back=back if stage.has_past else None, restart=restart,
        sides=stage.simulated, hands=hands,
    )  # fmt: skip
    if is_stored and not choices.large:
        choose_source(choices, stage.stored)


def show_live() -> None:
    sources = live_tasks.sources()
    if address.read_source() not in sources or not live_tasks.domains(address.read_source()):
        address.tell_lost(address.read_source())
        return
    if address.is_bare() and (opening := showing.find_opening()):
        st.query_params.from_dict({**{key: st.query_params.get_all(key) for key in st.query_params}, **opening})
    offered = offer(sources, address.read_source())
    stop_at(address.find_unknown(offered), address.leave_out)
    chosen = address.read(offered)
    if not chosen.large:
        with st.sidebar:
            address.choose_play(chosen, offered)
            st.caption("The address of this page holds all of this, and how far it has come, exchange by exchange.")
    address.tell_replaced(chosen, address.find_replaced(chosen))
    address.write(chosen)
    # A recogniser takes a few seconds to be set up, and a model's first connection as long as it takes.
    with st.spinner("Setting the conversations up"):
        attempts = ui.cached(
            sessions.find_attempts, replace(chosen, pace="", large=False, beats=0, anew=False, held="")
        )
        shown = [] if chosen.anew else attempts
        if not shown and (lost := offered.absent & {chosen.agent, chosen.customer}):
            sessions.tell_absent(lost)
            return
        stage = sessions.open_session(chosen, shown)
    sessions.tell_lost(chosen, stage)

    def keep() -> None:
        if isinstance(stage, StoredSession):  # it is kept already
            return
        played = address.query_of(replace(chosen, beats=min(stage.beats, address.MANY_BEATS), held=""))
        st.session_state["persona-kept"] = asyncio.run(save_live_run.keep(stage, read_code_version(), address=played))

    # Before the buttons, which stand for how it is now: what ends while the page is drawn has it drawn once more.
    followed = st.session_state["persona-playing"] or stage.busy
    reason = live_tasks.cases(chosen.domain, chosen.source)[chosen.case].known.reason
    with st.container(horizontal=True, vertical_alignment="center"):
        if chosen.large:
            parts.show_title(chosen.columns, reason, offered.cases[chosen.domain][chosen.case])
        control(chosen, stage, bool(attempts))
        showing.show_worth(chosen)
    titles = parts.short_titles(chosen.columns) if chosen.large else [column.title for column in chosen.columns]
    heads = parts.divide(len(chosen.columns), chosen.large)
    for number, title in enumerate(titles):
        with heads[number]:
            address.choose_column(chosen, number, title, offered, leave_out)
    if chosen.large and attempts:
        with heads[-1]:
            choose_source(chosen, stage.stored)
    parts.show_wish(reason, chosen.large)
    pair = claims.show_effect(
        chosen.agent, chosen.customer, chosen.columns, stage.frames, chosen.large, showing.say_choice(chosen)
    )
    every = interval(chosen, stage) if followed else None
    can_ask = not offered.absent & {chosen.agent, chosen.customer}
    st.fragment(run_every=every)(show_board)(chosen, stage, followed, offered.lacks, keep, pair, can_ask)
    # Below the talk: what became of it is not told before it is seen.
    live = not isinstance(stage, StoredSession)
    showing.show_why(chosen, stage.frames if chosen.anew and not stage.touched else (), live)


large = st.query_params.get("show") == "large"
style.apply(large)
side = "live"
if not large:
    side = choose_side("Persona lab", "What does a persona do to an agent?")
    show_words("persona_lab")
if side == "results":
    from cxlab.views.persona.results.page import show_results

    show_results()
else:
    show_live()
