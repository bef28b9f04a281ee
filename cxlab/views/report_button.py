"""The button that hands over what a page shows as a file."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from cxlab.benchmarks.scores.corrected import correct
from cxlab.read import View, decisions
from cxlab.read.conditions import of_runs
from cxlab.report.write import Subject, is_short, write_report
from cxlab.views.benchmarks import declared
from cxlab.views.comparison_sets import leave_out_marked


def offer_report(key: str, subjects: Sequence[Subject], reviewed: bool = False) -> None:
    """Buttons that make the report on these subjects when pressed, and download it: in the form that one would send on,
    and in the other; `reviewed`: with what reviewers' decisions change."""

    # What is told of is settled here: made when it is pressed, the report has no page around it to ask.
    def make(short: bool) -> bytes:
        corrections = correct(decisions.in_force()) if reviewed else None
        return write_report(subjects, corrections=corrections, short=short).encode()

    usual = is_short(subjects)
    with st.container(horizontal=True):
        for short in (usual, not usual):
            st.download_button(
                "Download report" if short is usual else "Short report" if short else "Whole report",
                partial(make, short),
                f"cxlab-report-{key}{'-short' if short else ''}.html",
                "text/html",
                key=f"report-{key}{'-short' if short else ''}",
                on_click="ignore",
                icon=":material/description:" if short is usual else None,
                help=_FORMS[short],
            )


def offer_report_of(key: str, shown: View, benchmarks: Sequence[str], reviewed: bool = False) -> None:
    """The same of what a page shows of some benchmarks: its filters, and the comparison set that the address has."""
    subjects: list[Subject] = []
    for name in benchmarks:
        about = declared(name, shown.lead)
        # Runs that are chosen are of one benchmark: the others have nothing to tell of them.
        if not shown.runs or set(shown.runs) & of_runs(name, about.switches).keys():
            view = View(name, shown.runs, shown.models, shown.tasks, shown.facets, sets=shown.sets, lead=shown.lead)
            subjects.append((about, leave_out_marked(view), "model"))
    if subjects:
        offer_report(key, subjects, reviewed)


_FORMS = {
    True: "For whoever decides: the decision, its table and the most telling failures, without dialogues; a page or "
    "two for each benchmark. One HTML file that needs no network and prints well.",
    False: "One HTML file that needs no network and prints well: the decision, figures by task and facet, ways through "
    "procedures, settings, and the ten most telling failures with what was said; some ten pages for each benchmark.",
}
