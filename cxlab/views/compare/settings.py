"""Whether the runs that are compared were made with the same settings, and in what they differ."""

from collections.abc import Mapping

import streamlit as st

from cxlab.read import View
from cxlab.ui.address import cached
from cxlab.ui.labels import plain
from cxlab.ui.tables import column, show_table
from cxlab.views.compare.queries import Unit
from cxlab.views.compare.queries_settings import compare_settings


def show_settings(view: View, unit: Unit, named: Mapping[str, str]) -> None:
    """One line where all is the same; else what differs, named."""
    found = cached(compare_settings, view, unit)
    if found.is_empty():
        st.caption("Same settings: these runs differ in nothing but the model.")
        return
    names = ", ".join(name[:1].lower() + name[1:] for name in found["setting"])
    st.warning(f"The settings are not the same: these runs differ in {plain(names)}.", icon="⚠")
    with st.expander("What differs", type="compact"):
        columns = {"setting": column("Setting")} | {
            side: column(named.get(side, side)) for side in found.columns if side != "setting"
        }
        show_table(found, columns, key="compare-settings", alt="Settings in which the runs differ.", downloads=False)
