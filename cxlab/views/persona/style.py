"""The look of the Persona lab, as one style sheet."""

import streamlit as st

from cxlab.ui.app_frame import ALONE, colours
from cxlab.views.persona import board, device, live_metrics

# Of a screen: what is not the talk, while it goes on; when a person may answer; when there is a finding and no phone
# is drawn, and when what was not mended is told with it; when a person answers, on a narrow screen and on a wide one.
# Type that grows with the screen takes of it.
_REST = {
    "plain": ("27.5rem", "28.2rem"),
    "live": ("30rem", "31.2rem"),
    "found": ("21.6rem + 8.7vw", "21.6rem + 8.7vw"),
    "left": ("25rem + 8.7vw", "25rem + 8.7vw"),
    "hand": ("29.5rem", "30.5rem"),
}


def apply(large: bool) -> None:
    """The look of the page, put into it; `large` is for a beamer."""
    ink = colours()
    told = "clamp(.95rem, 1.25vw, 1.3rem)" if large else ".86rem"
    # On one screen: what stands above and below a talk takes as much more of it as there is to be said there.
    sizes = ".cx-board {min-height: 7rem; max-height: 27rem;}"
    if large:
        narrow, wide = (
            [f".cx-board.{name} {{--rest: {taken[at]};}}" for name, taken in _REST.items()] for at in (0, 1)
        )
        height = ".cx-board {height: max(13rem, calc(100vh - (var(--rest))));}"
        sizes = " ".join([height, *wide, "@media (max-width: 1200px) {", *narrow, "}"])
    alone = (
        """
    [data-testid="stMain"] h1 {font-size: clamp(1rem, 1.4vw, 1.8rem); line-height: 1.15; padding: 0;
      display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden;}
    [class*="st-key-persona-v"] button p {font-size: clamp(1rem, 1.5vw, 1.5rem); font-weight: 600;}
    [data-testid="stMain"] audio[autoplay] {position: absolute; height: 0;}
    """
        + ALONE
    )
    st.html(
        f"""<style>{alone if large else ""}
    {sizes}
    .st-key-play button {{min-width: 5.6rem;}}
    [data-testid="stSidebar"] [data-testid="stSelectbox"] input {{font-size: .8rem; padding-left: .4rem;
      padding-right: 0;}}
    .cx-quiet {{font-size: {told if large else ".8rem"}; color: {ink.muted};}}
    .cx-change {{font-size: {told}; border-collapse: collapse; width: 100%;}}
    .cx-change td {{padding: 1px .6rem 1px 0; vertical-align: top; overflow-wrap: anywhere;
      border-bottom: 1px solid {ink.hairline};}}
    .cx-change td:first-child {{color: {ink.muted}; width: 48%;}}
    .cx-change mark {{background: transparent; color: {ink.good}; font-weight: 600;}}
    .cx-told {{font-size: {told}; line-height: 1.35;}}
    .cx-told.one {{margin-bottom: .6rem;}}
    {live_metrics.style(large)}
    .cx-end {{font-size: {told}; font-weight: 600;}} .cx-end.good {{color: {ink.good};}}
    .cx-end.bad {{color: {ink.bad};}} .cx-end .cx-quiet {{font-weight: 400; font-size: .85em;}}
    {board.style(large)}
    {device.style(large)}
    </style>"""
    )
