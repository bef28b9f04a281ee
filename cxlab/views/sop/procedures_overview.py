"""All procedures beside each other, the one that is kept least first; each leads to its map."""

import polars as pl
import streamlit as st

from cxlab.charts.dots import draw_dots
from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import short_model
from cxlab.read import View, procedures
from cxlab.ui.address import cached, marks, set_view
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import with_labels
from cxlab.ui.choices import is_new
from cxlab.ui.labels import Badge, label, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.sop import queries_comparisons
from cxlab.views.sop.charts_map import enlarge


def show_procedures(current: View, facet: str, ids: list[str], large: bool = False) -> None:
    """A row a procedure: how many turns keep it, model by model, and where most leave it; `large` for an audience, the
    finding and the picture alone."""
    frame = cached(queries_comparisons.compare_procedures, current, facet, tuple(ids))
    whole = frame.filter(pl.col("model").is_null())
    if whole.is_empty():
        st.info("No turn of this selection could be compared with a procedure. Widen the filters.")
        return
    worst = whole.row(0, named=True)
    where = f", most of the others leave at “{_name(worst)}”" if worst["stage"] else ""
    of_models = frame.filter(pl.col("model").is_not_null())
    found = marks()
    models = [name for name in found if name in of_models["model"].to_list()]
    badges: list[Badge] = ["simulated"] if any(found[model].simulated for model in models) else []
    section(
        f"{plain(procedures.get(worst['procedure']).title)} is kept least: {format_share(worst['share'])} of "
        f"{format_count(worst['n'])} turns keep it{plain(where)}",
        "" if large else _READS,
        badges,
    )
    rows = [
        {
            "model": row["model"], "group": row["procedure"], "value": row["share"] * 100,
            "low": None if row["low"] is None else row["low"] * 100,
            "high": None if row["high"] is None else row["high"] * 100,
            "hover": f"{format_share(row['share'])} of {format_count(row['n'])} turns keep it<br>{_where(row)}",
        }
        for row in of_models.iter_rows(named=True)
    ]  # fmt: skip
    order = whole["procedure"].to_list()
    names = {id: procedures.get(id).title for id in order}
    figure = draw_dots(rows, order, models, names, found, dark(), axis=(0.0, 100.0))
    figure.update_xaxes(title="Turns that keep the procedure, %")
    key = "sop-procedures"
    table = with_labels(of_models).with_columns(
        procedure=pl.col("procedure").replace(names),
        where=pl.Series([_name(row) for row in of_models.iter_rows(named=True)], dtype=pl.String),
    )
    twin = {"procedure": column("Procedure"), "name": column("Model"), **_COUNTS, **_SHARE, **_LEAK}
    alt = "Share of turns that keep each procedure, a dot a model."
    picked = show_chart(
        enlarge(figure, _TYPE) if large else figure, table, key=key, alt=alt, select=True, columns=twin, table=not large
    )
    if large:
        st.caption("Share of turns whose way is the one due, with 95 % intervals.")
    if picked and is_new(key, "\n".join(picked[0])):
        _open(current, facet, *picked[0])
    if large:
        return
    shares = of_models.pivot("model", index="procedure", values="share") if models else whole.select("procedure")
    listed = whole.join(shares, on="procedure", how="left").with_columns(
        title=pl.col("procedure").replace(names),
        where=pl.Series([_name(row) for row in whole.iter_rows(named=True)], dtype=pl.String),
    )
    columns = {
        "title": column("Procedure"),
        **_COUNTS,
        "share": column("Keep it", "share", "Of all turns shown."),
        **{model: column(short_model(model), "share", label(model)) for model in models if len(models) > 1},
        **_LEAK,
    }
    chosen = show_table(
        listed, columns, key=f"{key}-list", alt="All procedures, the one kept least first.", select="single"
    )
    if chosen:
        _open(current, facet, chosen[0]["procedure"])


_READS = (
    "A turn keeps a procedure when its way is the one due from the first stage to the action. A dot is a model, with "
    "its 95 % interval clustered by sample. Procedures differ in length and in how hard their customers are. Click a "
    "dot for the map of that model, or choose a row for the map of all that are shown."
)
_TYPE = 1.15
"""By how much type is larger for an audience."""
_COUNTS = {"dialogues": column("Dialogues", "count"), "n": column("Turns", "count")}
_SHARE = {
    "share": column("Keep it", "share"),
    "low": column("95 % from", "share"),
    "high": column("to", "share"),
}
_LEAK = {
    "where": column("Most leave at"),
    "left": column("Leave there", "count"),
    "arrived": column("of", "count", "Turns that got there in step with the procedure."),
}


def _name(row: dict[str, object]) -> str | None:
    """The stage where most turns leave, by its name."""
    return procedures.get(str(row["procedure"])).name(str(row["stage"])) if row["stage"] else None


def _where(row: dict[str, object]) -> str:
    if not row["stage"]:
        return "no turn leaves it"
    return plain(f"most leave at “{_name(row)}”: {row['left']} of {row['arrived']} that got there")


def _open(current: View, facet: str, procedure: str, model: str = "") -> None:
    """The map of one procedure, of one model where one was clicked."""
    models = (model,) if model else current.models
    set_view(current.narrow(**{facet: (procedure,)}).change(models=models))
    st.rerun()
