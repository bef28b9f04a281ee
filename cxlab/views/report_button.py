"""The button that hands over what a page shows as a file."""

from collections.abc import Sequence

import streamlit as st

from cxlab.benchmarks.scores.corrected import correct
from cxlab.read import decisions
from cxlab.report.write import Subject, write_report


def offer_report(key: str, subjects: Sequence[Subject], reviewed: bool = False) -> None:
    """Buttons that make the report on these subjects, whole or short, when pressed, and download it; `reviewed`: with
    what reviewers' decisions change."""

    # What is told of is settled here: made when it is pressed, the report has no page around it to ask.
    def make(short: bool) -> bytes:
        corrections = correct(decisions.in_force()) if reviewed else None
        return write_report(subjects, corrections=corrections, short=short).encode()

    with st.container(horizontal=True):
        st.download_button(
            "Download report",
            lambda: make(short=False),
            f"cxlab-report-{key}.html",
            "text/html",
            key=f"report-{key}",
            on_click="ignore",
            icon=":material/description:",
            help="One HTML file that needs no network and prints well: the decision, figures by task and facet, ways "
            "through procedures, settings, and the ten most telling failures with what was said.",
        )
        st.download_button(
            "Short report",
            lambda: make(short=True),
            f"cxlab-report-{key}-short.html",
            "text/html",
            key=f"report-{key}-short",
            on_click="ignore",
            help="For whoever decides: the decision, its table and the most telling failures, without dialogues.",
        )
