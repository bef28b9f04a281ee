"""Agent traces: the attempts at an organisation's questions, and one of them step by step."""

from __future__ import annotations

import polars as pl
import streamlit as st

from cxlab import read
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.charts.names import name_each
from cxlab.charts.numbers import format_count
from cxlab.errors import UnknownName
from cxlab.read import View
from cxlab.ui.address import cached, link
from cxlab.ui.labels import empty, error, label, plain, section
from cxlab.ui.paging import show_pages
from cxlab.ui.place import go, pick, show_link
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.crm.board import queries
from cxlab.views.crm.organisation import BENCHMARK
from cxlab.views.crm.place import Place
from cxlab.views.crm.records.page import show_trail
from cxlab.views.crm.tasks.solving import shorten_question
from cxlab.views.crm.traces.attempt_trace import show_attempt
from cxlab.views.failures.attempt_verdict import SIGNS

ROWS_A_PAGE = 200
_VERDICTS = {"failed": "Failed", "passed": "Passed", "unscored": "No verdict", "all": "All"}


def start_run(place: Place) -> None:
    """To the form that starts a run, with this dataset chosen."""
    st.switch_page("pages/run.py", query_params={"bench": BENCHMARK, "dataset": place.dataset})


def say_empty(place: Place, what: str) -> None:
    """What would be here, and the button that makes it."""
    empty(
        f"{what} No agent has worked this organisation yet.",
        "Run agents",
        lambda: start_run(place),
        f"python -m cxlab run {BENCHMARK} --dataset {place.dataset} --model simulated:strong",
    )


def show_attempts(place: Place) -> None:
    """The list, or one attempt, by the address."""
    runs = cached(queries.runs, place.dataset)
    floors = declared(BENCHMARK).floor_models
    able = tuple(run for run, model in runs.select("run_id", "model").iter_rows() if model not in floors)
    if place.view.attempt:
        _show_one(place, _find(place.view.runs[:1] or able, place.kind, place.view.verdict or next(iter(_VERDICTS))))
        return
    if runs.is_empty():
        say_empty(place, "Here you would step through what an agent thought, asked and saw.")
        return
    with st.sidebar:
        names = {row["run_id"]: queries.name_run(row) for row in runs.iter_rows(named=True)}
        chosen = pick(place, "runs", "Run", ["", *names], {"": "all", **names})
        task = pick(place, "kind", "Task", ["", *TASKS], {"": "all", **{id: each.title for id, each in TASKS.items()}})
        verdict = pick(place, "verdict", "What became of it", list(_VERDICTS), _VERDICTS)
    _list(place, _find((chosen,) if chosen else able, task, verdict))
    if not chosen and len(able) < runs.height:
        st.caption("Without constant agents: choose their run in the sidebar to see them.")


def _find(runs: tuple[str, ...], task: str, verdict: str) -> pl.DataFrame:
    return cached(queries.attempts, runs, task, "" if verdict == "all" else verdict)


def _list(place: Place, found: pl.DataFrame) -> None:
    section(plain(say_departure(found, place.view.verdict)), "Pick one to step through it.")
    if found.is_empty():
        st.info("No attempt is like that. Widen the choice in the sidebar.")
        return
    page = min(place.view.page, -(-found.height // ROWS_A_PAGE))
    rows = found.slice((page - 1) * ROWS_A_PAGE, ROWS_A_PAGE)
    shown = rows.with_columns(
        name=name_each(rows["model"], label) + ", " + pl.col("framework"),
        verdict=pl.col("verdict").replace_strict({key: words for key, (words, _) in SIGNS.items()}, default="?"),
        task=pl.col("task").replace({id: each.title for id, each in TASKS.items()}),
        asked=name_each(rows["query"], shorten_question),
    )
    # What tells one attempt from the next comes first: on a narrow page the rest lies beyond the edge.
    columns = {
        "number": column("No.", "count"), "task": column("Task"), "reason": column("First departure"),
        "asked": column("Question"), "name": column("Agent"), "verdict": column("Verdict"),
        "answer": column("Answer given"),
        "turns": column("Replies", "count"), "cost_usd": column("Cost", "usd"),
    }  # fmt: skip
    if place.view.verdict != "all":
        del columns["verdict"]  # all rows have the one that was picked
    if place.kind:
        del columns["task"]
    picked = show_table(shown, columns, key="crm-attempts", alt="Attempts.", select="single", search=True)
    show_pages(place.view, found.height, ROWS_A_PAGE, "crm-attempt-pages")
    if picked:
        go(place.change(attempt=f"{picked[0]['run_id']}/{picked[0]['attempt_id']}"))


def say_departure(found: pl.DataFrame, verdict: str) -> str:
    """Where most of the listed attempts leave the right way first: "Of 50 failed attempts 9 depart first at “window:
    another period”, more than anywhere else"; how many they are where none departs or several places are level."""
    which = {"": "failed ", "failed": "failed ", "passed": "passed "}.get(verdict, "")
    many = f"{format_count(found.height)} {which}attempt{'s' * (found.height != 1)}"
    if found.is_empty():
        return many
    reasons = found.filter(pl.col("reason").fill_null("") != "")["reason"].value_counts().sort("count", descending=True)
    first = reasons.head(2).rows()
    if not first or (len(first) == 2 and first[0][1] == first[1][1]):
        return many
    reason, n = first[0]
    return f"Of {many} {format_count(n)} depart{'s' * (n == 1)} first at “{reason}”, more than anywhere else"


def _show_one(place: Place, listed: pl.DataFrame) -> None:
    """The open attempt, with the ways to its neighbours in the list that it was picked from."""
    run_id, attempt_id = place.view.opened or ("", "")
    try:
        whole = read.attempt(run_id, attempt_id)
    except UnknownName as unknown:
        error(str(unknown))
        return
    if whole.attempt["benchmark"] != BENCHMARK:
        error("This attempt is of another benchmark.", "The page Failures shows it.")
        link("Open it on Failures", "failures", View().open(run_id, attempt_id))
        return
    number = (whole.sample.get("inputs") or {}).get("number", "")
    show_trail([("Attempts", place.change(attempt=""))], f"No. {number} by {label(whole.attempt['model'])}")
    words = SIGNS[str(whole.attempt.get("verdict") or "unscored")][0]
    setup = ((whole.run.get("setup") or {}).get("options") or {}).get("framework", "")
    section(plain(f"{label(whole.attempt['model'])}, {queries.name_framework(setup)}: {words}"))
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        for words, key in _find_neighbours(listed, place.view.attempt):
            show_link(words, place.change(attempt=key))
        link("Figures, notes and tags on Failures", "failures", View().open(run_id, attempt_id))
    show_attempt(whole)


def _find_neighbours(listed: pl.DataFrame, attempt: str) -> list[tuple[str, str]]:
    """(words, `RUN/ATTEMPT`) of the attempts before and after one in a list; [] where it is not in it."""
    keys = [f"{run}/{id}" for run, id in listed.select("run_id", "attempt_id").iter_rows()] if listed.height else []
    if attempt not in keys:
        return []
    at = keys.index(attempt)
    before, after = keys[at - 1] if at else "", keys[at + 1] if at + 1 < len(keys) else ""
    return [(words, key) for words, key in (("Previous", before), ("Next", after)) if key]
