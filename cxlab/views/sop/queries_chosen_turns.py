"""The turns that are compared with their procedure, and tables of them in memory."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import polars as pl

from cxlab.read.coded import number_clusters, spell
from cxlab.read.kept.chosen import keep_among, keep_facets
from cxlab.read.kept.numbers import number
from cxlab.read.query import Params, ask, cut, selection, version_of, where, widen
from cxlab.read.view import View
from cxlab.store import layout

EVALUATED = (1, 5, 10, 15)
"""Turns that the benchmark always looks at, as far as a dialogue reaches them; besides them the last one."""


def where_chosen(view: View) -> tuple[str, Params]:
    condition, params = where(view, "traces", "t.")
    if view.at == "last":
        condition += " AND t.last"
    elif view.at.isascii() and view.at.isdigit():
        condition += " AND t.turn = $at_turn"
        params["at_turn"] = int(view.at)
    return condition, params


USABLE = "t.parsed AND len(t.reference_path) > 0"
WAY = "list_append(t.predicted_path, coalesce(t.predicted_action, '')) AS way"
WANTED = "list_append(t.reference_path, t.reference_action) AS wanted"


class Turns(NamedTuple):
    """A selection: `turns` (run_id, attempt_id, turn, model, sample_id, cluster, error, pair, n = 1; model and error as
    categories, clusters numbered); what each `pair` of ways is: pair, way, wanted; and how often each model has them:
    model, way, wanted, n. Turns that do not count have no pair."""

    turns: pl.DataFrame
    pairs: pl.DataFrame
    counted: pl.DataFrame


def read_turns(view: View) -> Turns:
    """The turns of a selection; all charts of a page are made from one reading of the traces."""
    chosen = selection(view).change(metric="")
    return _choose_turns(str(layout.home()), version_of(view), chosen, view.at)


@lru_cache(maxsize=4)
def _choose_turns(home: str, version: str, chosen: View, at: str) -> Turns:
    # Filters that change from look to look are applied to what was read, so that a change of them reads nothing anew.
    filters = ("models", *(name for name, _ in chosen.facets))
    turns, pairs = _read_traces(home, version, widen(chosen.change(among=""), filters), at)
    turns = cut(turns, chosen, ("models",))
    turns = keep_facets(keep_among(turns, chosen), chosen)
    counted = spell(turns.group_by("model", "pair").agg(pl.col("n").sum())).join(pairs, on="pair")
    return Turns(turns, counted.select(pairs.columns).unique("pair"), counted.drop("pair"))


# A row a turn of an attempt, without its ways: enough for the page that is looked at and the one before.
@lru_cache(maxsize=2)
def _read_traces(home: str, version: str, wanted: View, at: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    condition, params = where_chosen(replace(wanted, at=at))
    frame = ask(
        f"""
        SELECT *, CASE WHEN usable THEN hash(way, wanted) END AS pair FROM (
            SELECT t.run_id, t.attempt_id, t.turn, t.model, t.sample_id, t.error, {USABLE} AS usable, {WAY}, {WANTED}
            FROM traces t WHERE {condition})
        """,
        params,
    )
    pairs = frame.filter(pl.col("pair").is_not_null()).unique("pair").select("pair", "way", "wanted")
    turns = number(frame.drop("way", "wanted", "usable")).with_columns(
        pl.col("model", "error").cast(pl.Categorical),
        n=pl.lit(1, pl.Int64),
        cluster=number_clusters(frame["sample_id"]),
    )
    return turns, pairs


def models(view: View) -> list[str]:
    """The models that have a turn in the selection, in the alphabet's order."""
    return sorted(read_turns(view).turns["model"].unique())
