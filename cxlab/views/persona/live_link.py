"""The way from a conversation that was played in the Persona lab back to it."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from cxlab.ui.address import has_page
from cxlab.views.persona.choices import KEYS


def show_live_link(run: Mapping[str, Any]) -> None:
    """A link that plays the run's conversations again; nothing for runs that were not played there."""
    given = (run.get("setup") or {}).get("played_at")
    kept = {name: values for name, values in given.items() if name in KEYS} if isinstance(given, Mapping) else {}
    if not kept or not has_page("persona_lab"):
        return
    by_hand = bool((run.get("setup") or {}).get("by_hand"))
    tip = "The same task, seed and variants side by side."
    if by_hand:
        tip += " What a person typed is played by the simulated customer there."
    st.page_link("pages/persona_lab.py", label="Open in the Persona lab", query_params=kept, help=tip)
