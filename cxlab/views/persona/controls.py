"""Play, pause, step, start anew; how fast, and how large; and what was played kept as a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from cxlab.benchmarks.mmtaup2.live.stored_session import StoredPlay
from cxlab.charts.numbers import format_time
from cxlab.read import View
from cxlab.ui.address import link
from cxlab.ui.app_frame import zone
from cxlab.ui.labels import badge, chip, label, plain
from cxlab.views.persona.choices import PACES, Choices, write

_SOURCES = {"stored": "Stored dialogue", "live": "Play live"}
SIDES = {"live": "Dialogues", "results": "Results"}


def choose_side(title: str, question: str) -> str:
    """The page's name, and which of its two sides is looked at: "live" or "results".

    Each has an address of its own; going back, the lab stands as it was left.
    """
    now = "results" if st.query_params.get("tab") == "results" else "live"
    st.session_state["persona-side"] = now

    def turn() -> None:
        here = {name: st.query_params.get_all(name) for name in st.query_params}
        st.session_state[f"persona-left-{now}"] = here
        other = st.session_state["persona-side"] or now
        kept = st.session_state.get(f"persona-left-{other}", {"tab": ["results"]} if other == "results" else {})
        if other != now:
            st.session_state["persona-playing"] = False
            st.query_params.from_dict(kept)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(title, anchor=False, width="content")
        st.segmented_control(
            "Side", list(SIDES), key="persona-side", format_func=SIDES.__getitem__, label_visibility="collapsed",
            on_change=turn,
        )  # fmt: skip
    st.caption(question)
    return now


def show_controls(
    now: Choices,
    playing: bool,
    idle: bool,
    *,
    play: Callable[[bool], None],
    step: Callable[[], None],
    back: Callable[[], None] | None,
    restart: Callable[[], None],
    sides: Mapping[str, bool],
    hands: int = 0,
) -> None:
    """The bar above the columns; each button has its key. `back`: None where nothing can be taken back; `sides`: side →
    whether its model is simulated; `hands`: in how many columns a person answers for the customer."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        if playing:
            st.button("Pause", type="primary", key="play", on_click=play, args=(False,), shortcut="p")
        else:
            st.button("Play", type="primary", key="play", on_click=play, args=(True,), disabled=idle, shortcut="p")
        st.button("Step", key="step", on_click=step, disabled=idle or playing, shortcut="s")
        tip = "Takes back what was said last; where you answer as the customer, your last words and what came of them."
        st.button("Back", key="back", on_click=back, disabled=back is None or playing, shortcut="b", help=tip)
        tip = "The same task and seed from the start."
        st.button("Restart", key="restart", on_click=restart, shortcut="x", help=tip)
        st.session_state["pace"] = now.pace
        st.segmented_control(
            "Pace", list(PACES), key="pace", format_func=lambda each: PACES[each][0], label_visibility="collapsed",
            on_change=lambda: write(replace(now, pace=st.session_state["pace"] or "brisk")),
        )  # fmt: skip
        st.session_state["large"] = now.large
        st.toggle(
            "Presentation", key="large", help="Larger text, fewer words, one screen.",
            on_change=lambda: write(replace(now, large=st.session_state["large"])),
        )  # fmt: skip
        mark_sides(sides, hands)


def choose_source(now: Choices, stored: StoredPlay | None) -> None:
    """Whether the stored conversations are shown or the models asked anew; of what is stored, when and by whom."""
    st.session_state["persona-source-of-play"] = "live" if now.anew else "stored"

    def turn() -> None:
        anew = st.session_state["persona-source-of-play"] == "live"
        write(replace(now, anew=anew, beats=0, held=""))

    when = format_time(stored.created, zone()).partition(" ")[0] if stored else ""
    tip = (
        "Stored: the very dialogues of a run, turn by turn, no model is asked. Live: the models are asked now and may "
        "answer otherwise. Where you answer as the customer in a stored dialogue, it goes on live from there."
    )
    if now.large and stored:
        tip += plain(f" These are of {when}, by {label(stored.model)}.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.segmented_control(
            "What is shown", ["stored", "live"], key="persona-source-of-play", format_func=_SOURCES.__getitem__,
            label_visibility="collapsed", required=True, on_change=turn, help=tip,
        )  # fmt: skip
        if now.large:
            return
        if stored:
            chip(f"stored, {when}, {label(stored.model)}", "gray", "Shown from the store; no model is asked.")
        else:
            chip("live", "blue", "The models are asked now; it may come out otherwise than stored.")


def mark_sides(sides: Mapping[str, bool], hands: int = 0) -> None:
    """What plays each side: one mark where both are of a kind, else each side its own; and a person in its place."""
    paid = "Asked over its provider; what it costs stands beneath the columns."
    if not hands and not any(sides.values()):
        chip("● both sides real models", "blue", paid)
        return
    if all(sides.values()):
        badge("simulated", "simulated but for you" if hands else "both sides simulated")
        return
    if hands:
        chip("● customer: you", "blue", "A person answers for the customer in one of the columns at least.")
    for side, simulated in sides.items():
        if simulated:
            badge("simulated", f"{side} simulated")
        else:
            chip(f"● {side} a real model", "blue", paid)


def show_keep(stored: Sequence[str], kept: str | None, keep: Callable[[], None]) -> None:
    """Keep what has been played, once; then the way to it. `stored`: the runs that it is from, where it is kept."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if stored:
            link("Open the stored runs under Failures", "failures", View(runs=tuple(stored), verdict="all"))
        elif kept:
            link("Open the conversations under Failures", "failures", View(runs=(kept,), verdict="all"))
        else:
            tip = "Stores these conversations as a run, so that they are found under Failures and Compare."
            st.button("Keep as a run", key="keep", on_click=keep, help=tip)
