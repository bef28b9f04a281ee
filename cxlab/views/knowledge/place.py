"""Where one is on the page Knowledge, and what its tabs share.

The address holds a `View` (dataset, run, tab, page) and the page's own keys (`KnowledgePlace`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count, format_share, format_time
from cxlab.read import View
from cxlab.ui.address import cached, here
from cxlab.ui.app_frame import zone
from cxlab.ui.labels import figures, label
from cxlab.ui.place import PagePlace, move
from cxlab.views.benchmarks import declared
from cxlab.views.knowledge import queries, queries_intents
from cxlab.views.knowledge import queries_pairs as pairs
from cxlab.views.knowledge.queries import BENCHMARK

CORPORA = {"search": "For article search", "multi_turn": "For conversations", "refinement": "For refinement"}


@dataclass(frozen=True)
class KnowledgePlace(PagePlace):
    """Where one is: `view` (what pages share) and what only this page knows. Empty: nothing chosen."""

    page = "knowledge"
    prefix = "knowledge"

    corpus: str = ""
    topic: tuple[str, ...] = ()
    article: str = ""
    kind: str = ""
    form: str = ""
    trouble: str = ""
    find: str = ""
    pairs: str = ""
    outcome: str = ""
    pair: tuple[str, ...] = ()
    taxonomy: str = ""
    gold: str = ""
    said: str = ""
    question: str = ""
    sample: str = ""
    fact: str = ""
    text: str = ""
    suspected: str = ""
    finding: str = ""
    status: str = ""

    @property
    def run(self) -> str:
        """The run that is looked at; "" when there is none."""
        return self.view.runs[0] if self.view.runs else ""

    @property
    def shelf(self) -> queries.ArticleFilter:
        """The articles that are listed."""
        return queries.ArticleFilter(
            self.dataset, self.corpus, self.topic, self.kind, self.form, self.find, self.trouble
        )  # fmt: skip


def choose_dataset(view: View, known: pl.DataFrame) -> View:
    """The dataset in the sidebar; the newest where the address names none that there is."""
    ids = known["dataset_id"].to_list()
    names = {
        row["dataset_id"]: f"{row['name']} · {format_time(row['created'], zone())}"
        for row in known.iter_rows(named=True)
    }
    now = view.dataset if view.dataset in ids else ids[0]
    st.session_state["knowledge-dataset"] = now

    def changed() -> None:
        # Another dataset has other topics, articles and runs: only the tab stays.
        current = here()
        move(KnowledgePlace(View(dataset=str(st.session_state["knowledge-dataset"]), tab=current.tab)))

    with st.sidebar:
        st.selectbox("Dataset", ids, key="knowledge-dataset", format_func=names.__getitem__, on_change=changed)
    return view.change(dataset=now, page=view.page)


def choose_run(place: KnowledgePlace, runs: pl.DataFrame, task: str = "") -> KnowledgePlace:
    """The run in the sidebar, the newest with the task first and constant agents last; none where nobody tried it."""
    able = runs.filter(pl.col("tasks").list.contains(task)) if task else runs
    able = able.sort(pl.col("model").is_in(declared(BENCHMARK).floor_models), maintain_order=True)
    ids = able["run_id"].to_list()
    if not ids:
        return replace(place, view=replace(place.view, runs=()))
    names = {row["run_id"]: _name_run(row) for row in able.iter_rows(named=True)}
    st.session_state["knowledge-run"] = place.run if place.run in ids else ids[0]

    def changed() -> None:
        move(KnowledgePlace.now().change(runs=(str(st.session_state["knowledge-run"]),)))

    with st.sidebar:
        st.selectbox("Run", ids, key="knowledge-run", format_func=names.__getitem__, on_change=changed)
    return replace(place, view=replace(place.view, runs=(str(st.session_state["knowledge-run"]),)))


def _name_run(row: Mapping[str, Any]) -> str:
    options = (json.loads(row["setup"] or "{}") or {}).get("options") or {}
    said = ", ".join(str(options[name]) for name in ("similarity", "contradictions", "threshold") if options.get(name))
    return f"{label(row['model'])} · {f'{said} · ' if said else ''}{format_time(row['created'], zone())}"


def show_models(place: KnowledgePlace, corpora: pl.DataFrame) -> None:
    """The chosen run in four figures: what it was shown, and what it saw of what is known to be wrong."""
    known = {row["kind"]: row["len"] for row in cached(_count_gold, place.dataset).iter_rows(named=True)}
    found = cached(pairs.load, place.dataset, place.run) if place.run else None
    counted = {row["kind"]: row for row in pairs.count(found).iter_rows(named=True)} if found else {}
    items = [
        (
            "Articles",
            format_count(max(corpora["n"].to_list(), default=0)),
            ", ".join(f"{format_count(n)} in {CORPORA.get(name, name).lower()}" for name, n in corpora.iter_rows())
            or "The dataset has no table of articles.",
        )
    ]
    for kind, title in (("contradictory", "Contradictions missed"), ("similar", "Repetitions missed")):
        row = counted.get(kind)
        items.append(
            (
                title,
                f"{format_count(row['missed'])} of {format_count(row['gold'])}" if row else "–",
                f"Known pairs that the chosen run did not name; {format_count(known.get(kind, 0))} are known."
                + ("" if row else " No run has looked for them yet."),
            )
        )
    items.append(_intent_figure(place))
    figures(items)


def _count_gold(dataset: str) -> pl.DataFrame:
    return queries.gold(dataset).group_by("kind").len()


def _intent_figure(place: KnowledgePlace) -> tuple[str, str, str]:
    names = cached(queries_intents.taxonomies, place.dataset)["taxonomy"].unique().sort().to_list()
    if names:
        found = cached(queries_intents.confusions, place.dataset, place.run, names[0]) if place.run else pl.DataFrame()
        if found.height:
            right = int(found.filter(pl.col("gold") == pl.col("said"))["n"].sum())
            whole = int(found["n"].sum())
            told = f"{format_count(right)} of {format_count(whole)} conversations, label equal to the letter."
            return "Intents told right", format_share(right / whole), f"Taxonomy {names[0]}: {told}"
    return "Intents told right", "–", "No run has told the intents of this dataset yet."
