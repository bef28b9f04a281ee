"""Which runs, figures and groups the results of Persona lab show, as the address says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import streamlit as st

from cxlab.benchmarks.mmtaup2.evaluation import baselines as floors
from cxlab.benchmarks.mmtaup2.evaluation import results
from cxlab.charts.theme import Mark, short_model
from cxlab.ui.address import cached, mark_sides, marks
from cxlab.ui.choices import choose_id
from cxlab.views.persona.results import labels as terms
from cxlab.views.persona.results.runs import pick_usual, put_together

ALL = "all"
FILTERS = {"domain": "tasks", "persona": "persona", "exposure": "exposure", "modality": "modality"}


@dataclass(frozen=True)
class ResultSelection:
    """What is shown: sides (name → run, or runs that are taken for one) with their marks, the figure, the factor side
    by side, the rest fixed."""

    sides: dict[str, str]
    marks: dict[str, Mark]
    floors: dict[str, str]
    metric: str
    by: str
    only: dict[str, Any]
    weights: tuple[float, ...]
    prefix: str
    dataset: str

    @property
    def runs(self) -> tuple[str, ...]:
        return tuple(self.sides.values())

    @property
    def stored(self) -> tuple[str, ...]:
        """The runs by themselves."""
        return tuple(run for side in self.sides.values() for run in side.split(results.TOGETHER))

    @property
    def title(self) -> str:
        return terms.title(self.metric)

    def table(self, runs: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
        return cached(
            results.make_table, tuple(runs), tuple(by), weights=self.weights, only=self.only, prefix=self.prefix,
            alike=by[0] if by else "",
        )  # fmt: skip

    def named(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with `side`, the name of its run."""
        names = {run: name for name, run in self.sides.items()}
        return frame.with_columns(side=pl.col("run_id").replace_strict(names, default=None, return_dtype=pl.String))


def best_first(scene: ResultSelection, whole: pl.DataFrame) -> tuple[str, ...]:
    """The runs, the best on the figure first: the others are compared with it."""
    value = pl.col("value")
    rows = whole.filter(metric=scene.metric).sort(value if not results.is_up(scene.metric) else -value, nulls_last=True)
    return tuple(rows["run_id"])


def set_scene(known: pl.DataFrame) -> ResultSelection:
    """The choices, all of them in the address."""
    about = {row["run_id"]: row for row in known.iter_rows(named=True)}
    own = [run for run, row in about.items() if row["model"] not in floors.BASELINES]
    usual = pick_usual(own or list(about), about)
    terms.stop_at_unknown_runs(about)
    with st.sidebar:
        picked = terms.choose_runs(about, usual)
        trials = max((about[run]["trials"] for run in picked), default=1)
        # First what every page of this app calls passed, which always has a value.
        figures = sorted(
            [*results.FIGURES, *(f"pass^{k}" for k in range(2, trials + 1))], key=lambda one: one != "pass"
        )
        metric = choose_id("figure", "Figure", figures, terms.title, help=terms.HOW_COUNTED)
        prefix = ""
        if any(about[run]["judged"] for run in picked):
            told = {"": "from the log", "judged_": "by the judges"}
            prefix = choose_id("source", "Counted", list(told), told.__getitem__, help=terms.TWICE)
    with st.container(horizontal=True, vertical_alignment="center"):
        by = terms.choose_factor()
        weights = terms.choose_weights()
    with st.sidebar:
        only = terms.choose_only(by)
    order = list(marks())
    picked = sorted(picked, key=lambda run: order.index(about[run]["model"]) if about[run]["model"] in order else 99)
    together = put_together(picked, about)
    models = [about[runs[0]]["model"] for runs in together]
    sides = {_name(runs[0], about, models): results.TOGETHER.join(runs) for runs in together}
    looks = {_name(runs[0], about, models): marks().get(about[runs[0]]["model"]) for runs in together}
    if len(set(models)) < len(models) or None in looks.values():
        stand_ins = {name: about[runs[0]]["simulated"] for name, runs in zip(sides, together, strict=True)}
        looks = dict(mark_sides(sides, stand_ins))
    return ResultSelection(
        sides=sides,
        marks={name: mark for name, mark in looks.items() if mark is not None},
        floors=_floors(picked, about),
        metric=metric,
        by=by,
        only=only,
        weights=weights,
        prefix=prefix,
        dataset=about[picked[0]]["dataset_id"] if picked else "",
    )


def _name(run: str, about: Mapping[str, Mapping[str, Any]], models: Sequence[str]) -> str:
    model = str(about[run]["model"])
    return model if models.count(model) < 2 else f"{short_model(model)}, {run.rpartition('-')[2]}"


def _floors(picked: Sequence[str], about: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Title → run of the newest run of each floor on the data of the first run."""
    found: dict[str, str] = {}
    for run, row in about.items():
        floor = floors.BASELINES.get(row["model"])
        if floor and picked and run not in picked and row["dataset_id"] == about[picked[0]]["dataset_id"]:
            found.setdefault(floor.title, run)
    return found
