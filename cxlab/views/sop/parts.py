"""How the parts of a score go together with it, beside what the paper found."""

import polars as pl
import streamlit as st

from cxlab.charts.dots import draw_dots
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count
from cxlab.charts.theme import Mark, plain
from cxlab.read import View
from cxlab.read.results.published import PublishedTable, published
from cxlab.records.metric_names import name_metric
from cxlab.ui.address import cached
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import badge, section
from cxlab.ui.tables import column, show_chart
from cxlab.views.benchmarks import declared
from cxlab.views.sop import queries_parts

_WHOLE, _REST = "with the whole", "with the other parts"


def show_parts(current: View) -> None:
    """Each weighted sum that the benchmark declares with its parts."""
    sums = declared(current.benchmark).card.sums
    if not sums:
        st.info("No score of this benchmark is declared as a sum of others.")
    for whole, weights in sums.items():
        _show_sum(current, whole, dict(weights))


def _show_sum(current: View, whole: str, weights: dict[str, float]) -> None:
    frame = cached(queries_parts.part_correlations, current, whole, weights)
    known = frame.filter(pl.col("rest").is_not_null()).sort("rest")
    if known.is_empty():
        st.info(f"No turns whose parts of {plain(name_metric(whole))} differ: nothing can be correlated.")
        return
    least = known.row(0, named=True)
    section(
        f"{plain(name_metric(least['part'])).capitalize()} goes least with the rest of {plain(name_metric(whole))}: "
        f"r = {least['rest']:.2f}",
        f"Pearson's r over {format_count(least['n'])} turns of {format_count(least['clusters'])} clusters; 95 % "
        "intervals by drawing samples. A part is in the whole, so its r with the whole is high even by chance; with "
        "the other parts it is not.",
    )
    marks = {_WHOLE: Mark("#0072B2", "circle"), _REST: Mark("#D55E00", "square")}
    rows = [
        {
            "model": side, "group": row["part"], "value": row[value], "low": row[low], "high": row[high],
            "hover": f"{plain(name_metric(row['part']))} {side}<br>r = {row[value]:.2f}",
        }
        for row in frame.iter_rows(named=True)
        for side, value, low, high in ((_WHOLE, "r", "low", "high"), (_REST, "rest", "rest_low", "rest_high"))
        if row[value] is not None
    ]  # fmt: skip
    figure = draw_dots(
        rows, list(weights), [_WHOLE, _REST], {part: name_metric(part) for part in weights}, marks, dark(), 2
    )
    figure.update_xaxes(title="Pearson's r", range=[min([0.0, *(row["value"] for row in rows)]) - 0.05, 1.05])
    columns = {
        "name": column("Part"),
        "r": column("r with the whole", "ratio"),
        "low": column("95 % from", "ratio"),
        "high": column("to", "ratio"),
        "rest": column("r with the other parts", "ratio"),
        "rest_low": column("95 % from", "ratio"),
        "rest_high": column("to", "ratio"),
        "n": column("n turns", "count"),
        "clusters": column("Clusters", "count"),
        "r2_models": column("R² over models", "ratio", "Of models' means; empty for fewer than three models."),
        "models": column("Models", "count"),
    }
    shown = frame.with_columns(name=name_each(frame["part"], name_metric))
    show_chart(figure, shown, key=f"sop-parts-{whole}", alt=f"Correlation of the parts of {whole}.", columns=columns)
    tables = [table for table in published(declared(current.benchmark).published) if f"parts {whole}" in table.beside]
    for table in tables:
        _show_published(table, frame)


def _show_published(table: PublishedTable, frame: pl.DataFrame) -> None:
    """The paper's bound beside our own R² over models."""
    own = frame.join(table.frame, on="part", how="inner").filter(pl.col("r2_models").is_not_null())
    above = int((own["r2_models"] > own["r2_above"]).sum())
    few = "fewer than three models here, so there is nothing to set beside it"
    here = f"here it does for {above} of {own.height}, over {own['models'][0]} models" if own.height else few
    with st.container(horizontal=True, vertical_alignment="center"):
        badge("published")
        st.caption(f"{plain(table.caption)} {here.capitalize()}. {plain(table.source)}", width="stretch")
