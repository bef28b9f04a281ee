"""How forms, timelines, queries and steps look on the page CRM desk; once a page."""

import streamlit as st

from cxlab.ui import path_strips
from cxlab.ui.app_frame import colours


def style() -> None:
    """The look of what this view draws from templates of its own."""
    ink = colours()
    path_strips.style()
    mono = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
    st.html(
        f"""<style>
    [data-testid="stMain"] [data-testid="stPageLink-NavLink"] {{background: transparent; padding: .1rem .2rem;
      min-height: 0; height: auto;}}
    [data-testid="stMain"] [data-testid="stPageLink-NavLink"] p {{font-weight: 400; font-size: .9rem;
      white-space: normal; line-height: 1.4; overflow-wrap: anywhere;}}
    .cx-form {{border-collapse: collapse; width: 100%; font-size: .88rem; font-variant-numeric: tabular-nums;}}
    .cx-form th {{text-align: left; font-weight: 500; color: {ink.muted}; padding: 4px 14px 4px 0; width: 38%;
      vertical-align: top; border-bottom: 1px solid {ink.hairline}; cursor: help;}}
    .cx-form td {{padding: 4px 0; border-bottom: 1px solid {ink.hairline}; overflow-wrap: anywhere;}}
    .cx-form td.none {{color: {ink.muted}; font-style: italic;}}
    [class*="st-key-cx-event-"] {{border-left: 2px solid {ink.hairline}; padding: .1rem 0 .3rem .9rem;
      position: relative; overflow-wrap: anywhere;}}
    [class*="st-key-cx-event-"]::before {{content: ""; position: absolute; left: -6px; top: .6rem; width: 10px;
      height: 10px; border-radius: 50%; background: {ink.muted};}}
    [class*="st-key-cx-event-opened"]::before {{background: {ink.warning};}}
    [class*="st-key-cx-event-closed"]::before {{background: {ink.good};}}
    [class*="st-key-cx-event-order"]::before {{background: {ink.accent};}}
    [class*="st-key-cx-event-handed"]::before {{background: {ink.bad};}}
    [class*="st-key-cx-event-"] [data-testid="stHorizontalBlock"] {{flex-wrap: nowrap;}}
    [class*="st-key-cx-event-"] [data-testid="stHorizontalBlock"] > div:last-child {{min-width: 0;
      flex: 1 1 0 !important;}}
    [class*="st-key-cx-event-"] [data-testid="stPageLink"] * {{min-width: 0; max-width: 100%;}}
    [class*="st-key-cx-event-"] [data-testid="stHorizontalBlock"] > div:first-child {{flex: none;}}
    [class*="st-key-cx-event-"] [data-testid="stText"] {{font-family: inherit; font-size: .88rem;
      font-variant-numeric: tabular-nums;}}
    .cx-said {{white-space: pre-wrap; line-height: 1.45; margin: .1rem 0 .4rem 9rem; font-size: .9rem;
      border-left: 3px solid {ink.hairline}; padding-left: .7rem; overflow-wrap: anywhere;}}
    .cx-said.customer {{border-left-color: #56B4E9;}} .cx-said.agent {{border-left-color: {ink.accent};}}
    .cx-said .who {{display: block; font-size: .78rem; color: {ink.muted};}}
    .cx-source {{font-family: {mono}; font-size: .84rem; line-height: 1.5; background: {ink.raised};
      border: 1px solid {ink.hairline}; border-radius: .4rem; padding: .5rem .7rem; overflow-x: auto;}}
    .cx-source div {{white-space: pre;}} .cx-source .no {{color: {ink.muted}; user-select: none;}}
    .cx-source .caret, .cx-source .fault {{color: {ink.bad}; font-weight: 600;}}
    .cx-source .fault {{white-space: pre-wrap;}}
    .cx-passage {{white-space: pre-wrap; line-height: 1.5; font-size: .92rem; border-left: 3px solid {ink.hairline};
      padding-left: .8rem; overflow-wrap: anywhere;}}
    .cx-passage mark {{background: {ink.warning}55; color: inherit; padding: 0 2px; border-radius: 2px;}}
    [class*="st-key-cx-solver-marked"], [class*="st-key-cx-reply-marked"] {{
      border-left: 4px solid {ink.bad} !important;}}
    @media (max-width: 1180px) {{
      .cx-said {{margin-left: 0;}}
    }}
    </style>"""
    )
