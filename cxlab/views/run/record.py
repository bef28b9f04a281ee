"""The record of one run: what was ordered, every switch with its value, prompts and code."""

import streamlit as st

from cxlab.charts.names import name_parties
from cxlab.read.runs import cost_by_role, run_record
from cxlab.ui.address import cached
from cxlab.ui.labels import plain
from cxlab.ui.path_strips import grid, style
from cxlab.ui.run_names import name_run, offer_names, show_notes
from cxlab.views.benchmarks import declared, read_settings
from cxlab.views.run.cost_by_role import show_spent


def show_record(run_id: str) -> None:
    """All settings of a run, those at their default too, so that it can be told from another one."""
    row = cached(run_record, run_id)
    if row is None:
        return
    setup = row["setup"]
    choice = setup.get("choice") or {}
    about = declared(row["benchmark"])
    narrowed = [f"{about.title(facet)}: {about.value(facet, value)}" for facet, value in choice.get("where") or ()]
    if choice.get("limit"):
        narrowed.append(f"at most {choice['limit']} samples")
    ordered = {
        "Run": run_id,
        "Benchmark": about.card.title,
        "Model": name_parties(row["model"]),
        "Customer": name_parties(setup.get("customer") or ""),
        "Judges": name_parties(", ".join(row["judges"] or ())),
        "Dataset": row["dataset_id"],
        "Samples": ", ".join(narrowed) or "all",
        "Trials": row["trials"],
        "Seed": row["seed"],
        "Budget": f"${setup['budget_usd']:g}" if setup.get("budget_usd") else "none",
        "Code": row["code"],
    }
    options = read_settings(row["benchmark"], setup.get("options") or {})
    style()
    offer_names([run_id], "record")
    show_notes(run_id)
    with st.expander(f"Settings of {plain(name_run(run_id))}", expanded=True):
        left, right = st.columns(2, gap="medium")
        with left:
            grid(("What", ""), [[(name, "quiet"), (str(value or "–"), "")] for name, value in ordered.items()])
        with right:
            grid(("Switch", ""), [[(name, "quiet"), (value, "")] for name, value in options.items()])
    show_spent(cached(cost_by_role, run_id))
