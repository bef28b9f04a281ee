"""Judges: do the judges agree, and does it matter?"""

import polars as pl
import streamlit as st

from cxlab import read, ui
from cxlab.charts.numbers import format_count, format_ratio, format_share
from cxlab.read import View, judges, stakes
from cxlab.ui import docket, effects, leanings, panel, strips

ui.routed()

TABS = {
    "agreement": "Agreement",
    "matters": "Does it matter",
    "strict": "Strictness",
    "gold": "Against the truth",
    "twice": "Twice the same",
    "queue": "Disagreements",
}


def show_figures(view: View, table: pl.DataFrame) -> None:
    """The panel in four figures."""
    names = table["judge"].to_list()
    found = ui.cached(panel.reliability, view, names)
    by_kind = {row["kind"]: row for row in found.iter_rows(named=True)}
    field, grade = by_kind.get("field", {}), by_kind.get("dimension", {})
    way = {row["measure"]: row for row in ui.cached(stakes.materiality, view).iter_rows(named=True)}.get("way")
    interval = (
        f" 95 % interval {format_share(way['low'])} to {format_share(way['high'])}, n {format_count(way['n'])} turns."
        if way
        else ""
    )
    ui.figures(
        [
            ("Judged turns", format_count(table["turns"].max()), f"Turns with votes; {len(names)} judges on each."),
            (
                "Agree on fields",
                format_share(field.get("agree")),
                f"Two judges at random. Alpha {format_ratio(field.get('alpha'))}, n "
                f"{format_count(field.get('n'))} verdicts.",
            ),
            (
                "Agree on grades",
                format_share(grade.get("agree")),
                f"Two judges at random. Ordinal alpha {format_ratio(grade.get('alpha'))}, n "
                f"{format_count(grade.get('n'))}.",
            ),
            (
                "Splits that matter",
                format_share(way["mean"]) if way else "–",
                f"Turns on which two judges' own fields lead different ways.{interval}",
            ),
        ]
    )


def show_page(view: View) -> None:
    """The panel, then one question at a time."""
    view = ui.sidebar_filters(view, ["models", "scenarios", "levels", "runs"])
    view = view.change(metric="overall", page=view.page)
    filters = view.filters().change(judges=())
    strips.style()
    table = ui.cached(judges.panel, filters)
    if table.is_empty():
        st.info("No judge has voted under these filters. Clear one of them in the sidebar.")
        return
    if table["judge"].str.starts_with("simulated:").any():
        st.caption(
            "The judges of the demo are simulated (◇): they show what the page does, not how language models judge."
        )
    show_figures(filters, table)
    tab = pick_tab(view)
    names = table["judge"].to_list()
    with st.container(key="cx-wide"):
        show_tab(view, filters, names, tab)


def show_tab(view: View, filters: View, names: list[str], tab: str) -> None:
    """The section that is picked."""
    if len(names) < 2 and tab in ("agreement", "matters"):
        st.info(
            "There is one judge only; agreement needs two. Add judges with `python -m cxlab score RUN --judges A,B,C`."
        )
    elif tab == "agreement":
        panel.show_agreement(filters.change(field=view.field, judges=view.judges), names)
    elif tab == "matters":
        effects.show_materiality(filters)
    elif tab == "strict":
        leanings.show_strictness(filters)
    elif tab == "gold":
        leanings.show_gold(filters.change(field=view.field))
    elif tab == "twice":
        leanings.show_retest(filters)
    else:
        docket.show_queue(view)


def pick_tab(view: View) -> str:
    """Which question is shown; part of the address."""
    st.session_state["judges-tab"] = view.tab if view.tab in TABS else "agreement"
    st.segmented_control(
        "Question",
        list(TABS),
        format_func=TABS.__getitem__,
        key="judges-tab",
        required=True,
        label_visibility="collapsed",
        on_change=lambda: ui.set_view(ui.view().change(tab=st.session_state["judges-tab"], page=1, field="")),
    )
    return str(st.session_state["judges-tab"])


view = ui.view()
ui.header("Judges", "Do the judges agree, and does it matter?")
if not ui.cached(read.health)["votes"]:
    ui.empty(
        "Here you would see how far the judges agree beyond chance, on how many turns a split changes what "
        "would have been "
        "right, who grades strictly or favours its own family, and a queue of disagreements to decide. No "
        "judge has voted in "
        "this store yet.",
        "Start a run with judges",
        lambda: ui.open_page("run", View()),
        "python -m cxlab demo",
    )
else:
    show_page(view)
