"""All procedures beside each other, the one that is kept least first; each leads to its map."""

from contextlib import nullcontext

import polars as pl
import streamlit as st

from cxlab.charts.dots import draw_dots
from cxlab.charts.numbers import format_count, format_share
from cxlab.charts.theme import short_model
from cxlab.read import View, procedures
from cxlab.ui.address import cached, marks, set_view
from cxlab.ui.address import view as here
from cxlab.ui.app_frame import dark, read_window, screen
from cxlab.ui.boards import with_labels
from cxlab.ui.choices import is_new
from cxlab.ui.labels import Badge, label, plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.sop import queries_comparisons
from cxlab.views.sop.map.charts import enlarge


def choose_for_audience(current: View, facet: str, ids: list[str]) -> tuple[str, str]:
    """Which procedure's map an audience sees, and by which rule where nobody chose it: the one that is kept least. The
    first is "" for all of them beside each other."""
    chosen, rule = next(iter(current.values(facet)), ""), ""
    if not chosen and current.tab != _ALL:
        frame = cached(queries_comparisons.compare_procedures, current, facet, tuple(ids))
        chosen = frame["procedure"][0] if frame.height else ""
        rule = f"Kept least of {frame['procedure'].n_unique()} procedures. " if len(ids) > 1 else ""
    if len(ids) > 1:
        key = "sop-for-audience"
        st.session_state[key] = chosen

        def changed() -> None:
            picked = st.session_state[key]
            narrowed = here().narrow(**{facet: (picked,) if picked else ()})
            set_view(narrowed.change(tab="" if picked else _ALL, stage=""))

        names = {**{id: procedures.get(id).title for id in ids}, "": "All procedures side by side"}
        st.selectbox(
            "Procedure", list(names), key=key, format_func=names.__getitem__, on_change=changed,
            label_visibility="collapsed", width=260,
        )  # fmt: skip
    return chosen, rule


def show_procedures(current: View, facet: str, ids: list[str], large: bool = False) -> None:
    """A row a procedure: how many turns keep it, model by model, and where most leave it; `large` for an audience, the
    finding and the picture alone, in one window."""
    frame = cached(queries_comparisons.compare_procedures, current, facet, tuple(ids))
    whole = frame.filter(pl.col("model").is_null())
    if whole.is_empty():
        st.info("No turn of this selection could be compared with a procedure. Widen the filters.")
        return
    worst = whole.row(0, named=True)
    # The map, which an audience sees first, tells where.
    where = f", the others leave most often at “{_name(worst)}”" if worst["stage"] and not large else ""
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
    figure.update_xaxes(title=f"Turns that keep the procedure, %{', with 95 % intervals' if large else ''}")
    key = "sop-procedures"
    table = with_labels(of_models).with_columns(
        procedure=pl.col("procedure").replace(names),
        where=pl.Series([_name(row) for row in of_models.iter_rows(named=True)], dtype=pl.String),
    )
    twin = {"procedure": column("Procedure"), "name": column("Model"), **_COUNTS, **_SHARE, **_LEAK}
    alt = "Share of turns that keep each procedure, a dot a model."
    fits = False
    if large:
        room = read_window()[1] - _HEAD_PX
        scale = max(1.0, min(room / figure.layout.height, _MOST_TYPE))
        # A line less high than its letters would be no line; of more models than go into a window the page scrolls.
        fits, figure = room >= _LEAST_HEIGHT * figure.layout.height, enlarge(figure, scale)
        if fits:
            figure.update_layout(height=None)
    with screen() if fits else nullcontext():
        picked = show_chart(
            figure, table, key=key, alt=alt, select=True, columns=twin, table=not large, stretch=fits
        )  # fmt: skip
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
_ALL = "procedures"
"""In the address: an audience sees all procedures beside each other."""
_HEAD_PX = 138
"""What a page for an audience has above the picture."""
_MOST_TYPE, _LEAST_HEIGHT = 1.3, 0.85
"""By how much type is larger for an audience at most, and of its height what a picture may lose to fit a window."""
_COUNTS = {"dialogues": column("Dialogues", "count"), "n": column("Turns", "count")}
_SHARE = {
    "share": column("Keep it", "share"),
    "low": column("95 % from", "share"),
    "high": column("to", "share"),
}
_LEAK = {
    "where": column("Leave at", help="Where turns leave most often."),
    "left": column("Leave there", "count"),
    "arrived": column("of", "count", "Turns that got there in step with the procedure."),
}


def _name(row: dict[str, object]) -> str | None:
    """The stage where most turns leave, by its name."""
    return procedures.get(str(row["procedure"])).name(str(row["stage"])) if row["stage"] else None


def _where(row: dict[str, object]) -> str:
    if not row["stage"]:
        return "no turn leaves it"
    return plain(f"leave most often at “{_name(row)}”: {row['left']} of {row['arrived']} that got there in step")


def _open(current: View, facet: str, procedure: str, model: str = "") -> None:
    """The map of one procedure, of one model where one was clicked."""
    models = (model,) if model else current.models
    set_view(current.narrow(**{facet: (procedure,)}).change(models=models))
    st.rerun()
