"""Which retriever to trust for which kind of question: what runs of the benchmark say, by area."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.charts.numbers import format_interval, format_points
from cxlab.read import View
from cxlab.records.metric_names import spell_metric
from cxlab.store import write
from cxlab.ui.address import cached, link
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import empty, plain, section
from cxlab.ui.tables import column, show_chart
from cxlab.views.benchmarks import declared
from cxlab.views.retrieval import charts, queries_datasets
from cxlab.views.retrieval import queries as searches
from cxlab.views.search.place import SearchPlace, name_retriever

BENCHMARK = "cdr"
METRIC = "ndcg@10"
_NAME = spell_metric(METRIC)


def show_trust(place: SearchPlace) -> None:
    """The board by area for the granularity that is searched with, from the dataset whose queries ran most."""
    used = cached(queries_datasets.datasets).filter(benchmark=BENCHMARK, task=place.granularity)
    if used.is_empty():
        empty(
            "Here you would see which retriever finds what is right for which kind of question: emotion, intent, "
            "dynamics, trust, style. No retriever has been evaluated at this granularity yet.",
            command="python -m cxlab run cdr --model retriever:bm25 --model retriever:conversation",
        )
        return
    names = {each.id: each.name for each in write.list_datasets()}
    options = used.sort("runs", "n", descending=True)["dataset_id"].to_list()
    own = [place.dataset] if place.dataset in options else []
    order = list(dict.fromkeys([*own, *options]))
    dataset = st.selectbox(
        "Measured on", order, format_func=lambda each: f"{names.get(each, 'a deleted dataset')} · {each[-6:]}",
        key="search-measured",
    )  # fmt: skip
    _show_board(place, dataset or order[0])


def _show_board(place: SearchPlace, dataset: str) -> None:
    known = cached(searches.load, dataset, place.granularity).runs
    floors = {each.model for each in REGISTRY[BENCHMARK].floors}
    runs = known.filter(~pl.col("model").is_in(list(floors)))
    # A model that ran twice counts with its latest run.
    latest = runs.sort("run_id").unique("model", keep="last", maintain_order=True)
    models = dict(latest.select("run_id", "model").iter_rows())
    frame = cached(searches.areas, dataset, place.granularity, list(models), METRIC)
    if frame.is_empty():
        st.caption("The queries of this dataset name no areas.")
        return
    areas = declared(BENCHMARK)
    titles = next((facet.labels for facet in areas.facets if facet.id == "area"), {})
    shown = frame.with_columns(
        area=pl.col("area").replace(titles),
        name=pl.col("run_id").replace_strict({run: _short(model) for run, model in models.items()}, default=None),
    )
    best = shown.sort("mean", descending=True).unique("area", keep="first", maintain_order=True).sort("area")
    means = shown.group_by("name").agg(pl.col("mean").mean()).sort("mean", descending=True)
    leader = means.row(0, named=True)
    compared = [(row, _find_near(shown, row)) for row in best.iter_rows(named=True)]
    apart = [row["area"] for row, near in compared if not near]
    words = f"{leader['name']} is ahead on average: {_NAME} {format_points(leader['mean'])}"
    section(
        plain(
            words + (f"; told apart from all others in {', '.join(apart)}" if apart else ", in no area beyond chance")
        ),
        "Of 100; hover for the 95 % interval, which is wide where an area has few queries. Measured with known "
        "answers, on other conversations than yours: a small difference here says little about them.",
    )
    runs_in_order = sorted(models, key=lambda run: means["name"].to_list().index(_short(models[run])))
    order = shown.group_by("area").agg(pl.col("mean").mean()).sort("mean")["area"].to_list()
    figure = charts.draw_areas(shown, order, runs_in_order, {r: _short(m) for r, m in models.items()}, _NAME, dark())
    columns = {
        "area": column("Area"), "name": column("Retriever"), "mean": column(_NAME, "points"),
        "low": column("95 % from", "points"), "high": column("to", "points"), "n": column("n queries", "count"),
    }  # fmt: skip
    show_chart(figure, shown.sort("area", "name"), key="search-trust", alt=f"{_NAME} by area.", columns=columns)
    for row, near in compared:
        told = f"{row['area']}: {row['name']} {format_points(row['mean'])}, 95 % interval "
        told += f"{format_interval(row['low'], row['high'])}, n {row['n']}"
        st.text(told + (f". Not told apart from: {', '.join(near)}" if near else ". Apart from all others"))
    link("All figures, floors and misses on Retrieval", "retrieval", View(dataset=dataset, tasks=(place.granularity,)))


def _find_near(shown: pl.DataFrame, best: dict[str, Any]) -> list[str]:
    """The retrievers of the best one's area whose intervals reach into its own; without an interval all do."""
    rivals = shown.filter((pl.col("area") == best["area"]) & (pl.col("name") != best["name"]))
    if best["low"] is not None:
        rivals = rivals.filter((pl.col("high") >= best["low"]) | pl.col("high").is_null())
    return sorted(rivals["name"])


def _short(model: str) -> str:
    return name_retriever(model.removeprefix("retriever:"))
