"""One turn of a dialogue on the map of its procedure: the way that was due and the way that was taken."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from cxlab.read import View, procedures
from cxlab.records.procedure import Procedure
from cxlab.ui.address import link
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import plain
from cxlab.ui.tables import show_chart
from cxlab.views.sop import queries
from cxlab.views.sop.map.charts import draw_map, enlarge

# A dialog is as wide as the page with its sidebar, and half as wide again in a large window.
_IN_A_DIALOG = 1.2
_NO_BRANCHES = pl.DataFrame(schema={"stage": pl.String, "share": pl.Float64})


def offer_map(trace: Mapping[str, Any], turn: int, told: str, benchmark: str, simulated: bool) -> None:
    """A button that opens the map with the turn on it; nothing where the turn has no way that was due, or its
    procedure is gone. `told`: what happened, in a sentence."""
    procedure = procedures.find(trace.get("procedure"))
    if procedure is None or not trace["parsed"] or not trace["reference_path"]:
        return
    tip = "The procedure as a map, and this turn's way on it."
    if st.button("Show on the map", key=f"cx-map-{turn}", type="tertiary", help=tip):
        st.dialog(f"{procedure.title}, turn {turn}", width="large")(_show)(procedure, trace, told, benchmark, simulated)


def _show(procedure: Procedure, trace: Mapping[str, Any], told: str, benchmark: str, simulated: bool) -> None:
    st.markdown(plain(told))
    steps = queries.count_steps(pair_ways(trace))
    figure = draw_map(
        procedure, steps, _NO_BRANCHES, dark(), where_ways_part(trace), "simulated" if simulated else "", counted=False
    )
    figure = enlarge(figure, _IN_A_DIALOG)
    alt = f"Map of {procedure.title} with the way that was due and the way that was taken."
    show_chart(figure, steps, key="cx-one-turn", alt=alt, table=False, zoom=True)
    st.caption(plain(list_steps(procedure, steps)))
    target = View(benchmark=benchmark).narrow(**{procedures.facet_of(benchmark): (procedure.id,)})
    link("Where all dialogues leave this procedure", "sop_paths", target)


def pair_ways(trace: Mapping[str, Any]) -> pl.DataFrame:
    """The turn as `queries.count_steps` reads it: model, way, wanted, n."""
    way = [*trace["predicted_path"], trace["predicted_action"] or ""]
    wanted = [*trace["reference_path"], trace["reference_action"]]
    return pl.DataFrame({"model": [""], "way": [way], "wanted": [wanted], "n": [1]})


def where_ways_part(trace: Mapping[str, Any]) -> str:
    """The last stage that both ways have in common from the start; "" where they do not part."""
    way, wanted = ([*trace[f"{who}_path"], trace[f"{who}_action"]] for who in ("predicted", "reference"))
    for place, (one, other) in enumerate(zip(way, wanted, strict=False)):
        if one != other:
            return str(way[place - 1]) if place else ""
    return ""


def list_steps(procedure: Procedure, steps: pl.DataFrame) -> str:
    """The steps that were not those that were due, in words, for who cannot tell the colours."""
    named = {
        kind: [
            " → ".join(procedure.name(procedure.node(each)) for each in (source, target))
            for source, target in steps.filter(kind=kind).select("source", "target").iter_rows()
        ]
        for kind in ("inserted", "skipped")
    }
    if not any(named.values()):
        return "The way taken is the one that was due."
    words = {"inserted": "Taken, and not due", "skipped": "Due, and not taken"}
    return ". ".join(f"{words[kind]}: {', '.join(each)}" for kind, each in named.items() if each) + "."
