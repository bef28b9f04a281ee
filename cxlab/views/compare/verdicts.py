"""Whose doing failures were, side by side, and samples that all strong sides fail alike: is the label wrong?"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count, format_share
from cxlab.read import View
from cxlab.read.annotations import WRONG_LABEL
from cxlab.read.comparison.sets import Unit
from cxlab.records.benchmark_card import Declaration
from cxlab.ui.address import cached, link, open_page
from cxlab.ui.annotations import annotate
from cxlab.ui.app_frame import guarded
from cxlab.ui.choices import choose_id, is_new
from cxlab.ui.labels import empty, plain, section
from cxlab.ui.tables import column, show_table
from cxlab.views.compare import queries
from cxlab.views.compare.queries_verdicts import audit, owners, runs_behind

_WORDS = {"failed": "failed", "unscored": "no verdict"}


def show_owners(about: Declaration, view: View, unit: Unit, named: Mapping[str, str]) -> None:
    """Failed and unscored attempts by whose doing they were, a column a side; a row leads to them."""
    found = cached(owners, view, unit).filter(pl.col("side").is_in(list(named)))
    if found.is_empty():
        empty(f"No {about.card.unit[0]} of these sides failed, and all could be scored.")
        return
    one, many = about.card.unit
    tried = dict(found.select("side", "tried").iter_rows())
    sides = [side for side in named if side in tried]
    top = found.group_by("owner", maintain_order=True).agg(pl.col("n").sum()).row(0)
    whole = int(found["n"].sum())
    section(
        f"{format_share(top[1] / whole)} of what failed or got no verdict is the {plain(top[0])}'s doing"
        if top[0] != "unknown" else "Whose doing most failures were is not known",
        f"{many.capitalize()} of each side by verdict and owner, of those that all sides tried. Select "
        "a row to read them.",
    )  # fmt: skip
    models = models_of(sides, cached(queries.sides, view, unit))
    names = {"": "Of all", **{side: f"Of {named[side]}" for side in models}}
    of = choose_id("whose", "Whose to read", list(names), names.__getitem__, style="segments") if models else ""
    rows = []
    for (verdict, owner), part in found.group_by("verdict", "owner", maintain_order=True):
        counts = dict(part.select("side", "n").iter_rows())
        cells = {
            f"side_{place}": f"{format_count(counts.get(side, 0))} ({format_share(counts.get(side, 0) / tried[side])})"
            for place, side in enumerate(sides)
        }
        rows.append({"verdict": verdict, "owner": owner, "what": _WORDS.get(str(verdict), str(verdict)), **cells})
    columns = {"owner": column("Whose doing"), "what": column(f"The {one}")}
    columns |= {f"side_{place}": column(named[side]) for place, side in enumerate(sides)}
    picked = show_table(pl.DataFrame(rows), columns, key="compare-owners", alt="Failures by owner.", select="single")
    if picked:
        row = picked[0]
        target = counted(about, view, unit, str(row["verdict"]), str(row["owner"]), models.get(of, ""))
        open_page("failures", target)


def models_of(sides: Sequence[str], board: pl.DataFrame) -> dict[str, str]:
    """Side → its model, of sides of which each has a model of its own; empty where two runs are of one model."""
    known = dict(board.select("side", "model").iter_rows())
    own = {side: known[side] for side in sides if side in known}
    return own if len(set(own.values())) == len(own) > 1 else {}


def counted(about: Declaration, view: View, unit: Unit, verdict: str, owner: str, model: str = "") -> View:
    """The attempts that `show_owners` counts in a row, or in that of one model, as the page Failures shows them."""
    floors = "shown" if set(about.floor_models) & set(view.models) else ""
    scope = View(about.card.id, tasks=view.tasks, facets=view.facets, verdict=verdict, floors=floors, shared=unit)
    return scope.change(owners=(owner,), runs=cached(runs_behind, view, unit), models=(model,) if model else ())


def show_audit(about: Declaration, view: View, unit: Unit, named: Mapping[str, str]) -> None:
    """Samples that every strong side failed, those that fail alike and that nobody passed first; with a mark."""
    strong, found = cached(audit, view, unit)
    who = ", ".join(named.get(side, side) for side in strong)
    if found.is_empty():
        told = f"No sample is failed by all of {who}." if len(strong) > 1 else "It takes two models to tell."
        empty(f"{plain(told)} What all strong models fail alike would stand here: there the label may be wrong.")
        return
    # Of two sides both are looked at, of which neither is the better half.
    half = "by the whole better half" if len(strong) < len(named) else "by both" if len(strong) == 2 else "by all"
    of = "The better half of what is compared" if len(strong) < len(named) else "Compared"
    alike = found.filter(pl.col("alike") & (pl.col("passed_by").list.len() == 0)).height
    one = alike == 1
    several = found.height != 1
    section(
        f"{format_count(alike)} sample{' is' if one else 's are'} failed {half} for one reason, and passed by nobody: "
        "is the label wrong?"
        if alike
        else f"{format_count(found.height)} sample{'s are' if several else ' is'} failed {half}, but not for one "
        "reason",
        f"{of}: {plain(who)}. They all fail {format_count(found.height)} "
        f"sample{'s' if several else ''}{', those for one reason first' if alike else ''}: either hard, or with a "
        "wrong label. Select one to look and to mark it.",
    )
    shown = found.with_columns(
        why=pl.when("alike").then(pl.lit("one for all")).otherwise(pl.lit("different")),
        passed=pl.col("passed_by").list.eval(pl.element().replace(dict(named))).list.join(", "),
        mark=pl.when("marked").then(pl.lit("✕ label is wrong")).otherwise(pl.lit("")),
    )
    columns = {"sample_id": column("Sample", "id", width="small")}
    identity = about.identifying
    if identity and identity.id in shown.columns and shown[identity.id].null_count() == 0:
        columns = {identity.id: column(identity.title, help=identity.meaning or None)}
    for facet in about.facets:
        if facet.spread and not facet.identifies and facet.id in shown.columns and shown[facet.id].n_unique() > 1:
            columns[facet.id] = column(facet.title, help=facet.meaning or None)
            shown = shown.with_columns(name_each(shown[facet.id], partial(about.value, facet.id)))
    columns |= {
        "why": column("Reasons", help="Whether all of these sides fail for the same reason at the same place."),
        "reason": column("Commonest reason", width="large"),
        "passed": column("Passed by", help="Weaker sides that passed it: then the label is likely right."),
        "mark": column("Mark"),
    }
    for name in ("passed", "mark"):
        if not any(shown[name]):
            del columns[name]
    picked = show_table(shown.drop("opened"), columns, key="compare-audit", alt="Samples whose label may be wrong.",
                        select="single", search=True, height=300 if shown.height > 6 else None)  # fmt: skip
    chosen = str(picked[0]["sample_id"]) if picked else ""
    if is_new("compare-audit", chosen):
        st.query_params["sample"] = chosen
    opened = found.filter(pl.col("sample_id") == st.query_params.get("sample", ""))
    if opened.height:
        _show_sample(about, opened.row(0, named=True), named)


def _show_sample(about: Declaration, row: Mapping[str, Any], named: Mapping[str, str]) -> None:
    with st.container(border=True):
        st.markdown(f"**{plain(row['sample_id'])}**: {plain(row['reason'] or 'no reason is stored')}")
        with st.container(horizontal=True):
            for side, run, attempt in row["opened"]:
                target = View(benchmark=about.card.id).open(run, attempt)
                link(f"Open what {named.get(side, side)} did", "failures", target)
        marked = row["marked"]
        words = "Take the mark back" if marked else "Mark: label is wrong"
        help = (
            f"Tags these {about.card.unit[1]} “{WRONG_LABEL}”, which Failures can be filtered by. Scores stay as they "
            "are until marked samples are left out, further up."
        )
        if st.button(words, key=f"audit-{row['sample_id']}", help=help):
            with guarded():
                for _, run, attempt in row["opened"]:
                    annotate("untag" if marked else "tag", run, attempt, WRONG_LABEL)
                st.rerun()
