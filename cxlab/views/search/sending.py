"""Conversations sent to a task that needs no labels: what a model is to find out, the runs, and what they said."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import polars as pl
import streamlit as st

from cxlab.benchmarks import sending
from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.charts.numbers import format_count, format_time
from cxlab.errors import CxError
from cxlab.metrics.intervals import proportion_interval
from cxlab.read import View, procedures
from cxlab.records import Dataset, Run
from cxlab.store import write
from cxlab.store.exports.sharing import is_kept_out
from cxlab.ui.address import cached, has_page, link
from cxlab.ui.app_frame import dark, guarded, zone
from cxlab.ui.labels import badge, plain, section, show_code
from cxlab.ui.place import go
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.ui.transcript_html import style
from cxlab.ui.trash import delete
from cxlab.views.datasets.charts import draw_shares
from cxlab.views.search.place import SearchPlace
from cxlab.views.search.results import draw_messages
from cxlab.views.search.work import SearchJobs
from cxlab.views.switches import fill_in

# Answers to one question that a figure shows, and characters of one and of a question; the table has all.
_SHOWN, _LONGEST, _LONGEST_LABEL = 12, 60, 46
_NO_LABELS = "Nobody has labelled these conversations: how often a model is right cannot be told. "


def show_sending(place: SearchPlace, jobs: SearchJobs, models: Sequence[str]) -> None:
    """The answers of the run in the address, the form for another task, and what was prepared so far."""
    kept = write.list_derived(place.dataset, "task")
    runs = [run for run in write.list_runs() if run.dataset_id in {each.id for each in kept}]
    shown = next((run for run in runs if run.id == place.run), None)
    if shown is not None:
        _show_answers(place, shown)
    if kept:
        section("Prepared of these conversations")
    for each in kept:
        _show_prepared(place, each, [run for run in runs if run.dataset_id == each.id])
    if not jobs.is_working("send", place.dataset):
        _offer(place, jobs, models)


def _offer(place: SearchPlace, jobs: SearchJobs, models: Sequence[str]) -> None:
    count = format_count(len(load_corpus(place.dataset)))
    section(
        f"Have a model read each of these {count} conversations",
        "No labels are needed. This prepares them; which model reads, and what that costs, is chosen on the next page.",
    )
    tasks = {id: task for id, (_, task) in sending.list_tasks().items()}
    order = sorted(tasks, key=lambda id: tasks[id].title, reverse=True)
    picked = st.segmented_control(
        "Task", order, default=order[0], format_func=lambda id: tasks[id].title, required=True, key="send-task",
        label_visibility="collapsed",
    )  # fmt: skip
    task = tasks[picked or order[0]]
    st.caption(plain(task.finds))
    given = fill_in(task.Settings.switches(), f"send-{task.id}", models, procedures.ids())
    args = ["send", place.dataset, task.id]
    try:
        args += [f"--{word.replace('_', '-', 1)}" for word in task.Settings.read(given).to_words()]
        expected = sending.plan(place.dataset, task.id, given)
        problem = "Choose a procedure." if "procedure" in task.Settings.model_fields and not given else ""
    except CxError as mistake:
        expected, problem = None, str(mistake)
    if problem:
        st.caption(plain(problem))
    elif expected is not None:
        st.info(plain(f"{expected.describe()}. Reading the conversations comes on top of it."))
    if st.button("Prepare", type="primary", key="send-prepare", disabled=bool(problem)):
        with guarded():
            jobs.start(args)
    with st.expander("The same on the command line", type="compact"):
        show_code(f"python -m cxlab {shlex.join(args)}")


def _show_prepared(place: SearchPlace, made: Dataset, runs: Sequence[Run]) -> None:
    """One prepared dataset: what it asks, where a model is run on it, and whose answers can be read."""
    _, task = sending.find_task(str(made.config[sending.SENT_TO]))
    with st.container(border=True, key=f"send-prepared-{made.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{task.title}**", width="content")
            told = f"{format_count(made.config.get('conversations'))} conversations"
            if left := int(made.config.get("left_out") or 0):
                told += f", {format_count(left)} of them left out: a side does not speak"
            st.caption(told, width="content")
            show_code(made.id, width="content")
            if not runs and st.button("Undo", key=f"send-drop-{made.id}", type="tertiary"):
                with guarded():
                    delete("dataset", made.id)
                    st.rerun()
        _describe(made)
        for run in sorted(runs, key=lambda run: run.id, reverse=True):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(f"{run.model} · {format_time(run.created, zone())}", width="content")
                if run.simulated:
                    badge("simulated")
                if run.id == place.run:
                    st.caption("shown above", width="content")
                elif st.button("Read the answers", key=f"send-read-{run.id}", type="tertiary"):
                    go(place.change(run=run.id))
        if has_page("run"):
            # Of some benchmarks the usual models are none that could read.
            query = {"bench": made.benchmark, "dataset": made.id, "agents": "simulated:strong"}
            words = "Choose a model and run it" if not runs else "Run another model"
            st.page_link("pages/run.py", label=words, query_params=query)


def _describe(made: Dataset) -> None:
    """What is asked, in a line."""
    config = made.config
    if config.get("questions"):
        st.caption(plain(" ".join(config["questions"])))
    elif config.get("reasons"):
        found = f"found and named by {config['found_by']}: " if config.get("found_by") else ""
        st.caption(plain(f"Reasons, {found}{'; '.join(config['reasons'])}"))
    elif name := (config.get("settings") or {}).get("procedure"):
        known = procedures.find(name)
        st.caption(plain(f"Procedure: {known.title if known else name}"))


def _show_answers(place: SearchPlace, run: Run) -> None:
    answers = cached(sending.read_answers, run.id)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(plain(f"What {run.model} says"), anchor=False, width="content")
        if run.simulated:
            badge("simulated")
        if st.button("Put it away", key="send-away", type="tertiary"):
            go(place.change(run=""))
    if answers.is_empty():
        st.caption("The run has not answered anything yet.")
        return
    stand_in = "A stand-in goes by words and does not understand: try it out with it, decide with a real model. "
    st.caption(_NO_LABELS + (stand_in if run.simulated else "") + "Read what it was shown before you rely on it.")
    counts = sending.count_answers(answers)
    asked = counts["asked"].unique(maintain_order=True).to_list()
    chosen = asked[0]
    if len(asked) > 1:
        _draw_yes(counts)
        chosen = st.selectbox("Asked", asked, key="send-asked") or asked[0]
    part = counts.filter(pl.col("asked") == chosen)
    known = part.drop_nulls("said")
    if known.is_empty():
        st.caption("None of its answers to this could be read.")
    else:
        _draw(chosen, known)
    if unread := int(part["unread"][0]):
        st.caption(f"{format_count(unread)} conversations without an answer that could be read are left out.")
    _show_each(place, run, answers.filter(pl.col("asked") == chosen))


def _draw_yes(counts: pl.DataFrame) -> None:
    """Where each question is one of yes and no, how often it is yes: the least often first."""
    known = counts.drop_nulls("said")
    if known.is_empty() or not set(known["said"]) <= {"Yes", "No"}:
        return
    # Where nobody's answer was yes there is a no, of which the rest are yes.
    every = known.sort("said", descending=True).unique("asked", keep="first", maintain_order=True)
    rows = [
        (row["asked"], found := row["n"] if row["said"] == "Yes" else row["of"] - row["n"], row["of"],
         *proportion_interval(found, row["of"])[:3])
        for row in every.iter_rows(named=True)
    ]  # fmt: skip
    schema = {"asked": pl.String, "n": pl.Int64, "of": pl.Int64, **dict.fromkeys(("share", "low", "high"), pl.Float64)}
    shares = pl.DataFrame(rows, schema=schema, orient="row").sort("share", "asked")
    first = shares.row(0, named=True)
    section(
        plain(f"Least often yes: {_shorten(first['asked'])}"),
        "Share of the conversations that were answered for which each question was answered yes, with its 95 % "
        "interval (Wilson).",
    )
    drawn = [
        {
            **row,
            "label": f"{_shorten(row['asked'], _LONGEST_LABEL)} ({row['n']} of {row['of']})",
            "n": row["of"],
            "own": True,
        }
        for row in shares.head(_SHOWN).iter_rows(named=True)
    ]
    columns = {
        "asked": column("Asked", width="large"), "n": column("Yes", "count"), "of": column("Of", "count"),
        "share": column("Share", "share"), "low": column("95 % from", "share"), "high": column("to", "share"),
    }  # fmt: skip
    show_chart(draw_shares(drawn, dark()), shares, key="send-yes", alt="Share of yes by question.", columns=columns)


def _draw(asked: str, counts: pl.DataFrame) -> None:
    first = counts.row(0, named=True)
    section(
        plain(f"{_shorten(first['said'])}: {first['n']} of {first['of']}"),
        plain(f"{asked}{'' if asked.endswith('?') else '.'} Share of the conversations that were answered, with its "
              "95 % interval (Wilson); it holds for the answers, not for what is true."),
    )  # fmt: skip
    rows = [
        {**row, "label": f"{_shorten(row['said'])} ({row['n']} of {row['of']})", "n": row["of"], "own": True}
        for row in counts.head(_SHOWN).iter_rows(named=True)
    ]
    columns = {
        "said": column("Said"), "n": column("Conversations", "count"), "of": column("Of", "count"),
        "share": column("Share", "share"), "low": column("95 % from", "share"), "high": column("to", "share"),
    }  # fmt: skip
    show_chart(draw_shares(rows, dark()), counts, key="send-shares", alt="Share by answer.", columns=columns)


def _show_each(place: SearchPlace, run: Run, answers: pl.DataFrame) -> None:
    """Each conversation with what was said of it; the chosen one in full, with the messages that were named."""
    said = answers["said"].drop_nulls().unique(maintain_order=True).to_list()
    options = ["", *said]
    only = st.selectbox("Conversations", options, format_func=lambda each: _shorten(each) if each else "all of them",
                        key="send-only") if len(said) > 1 else ""  # fmt: skip
    shown = answers.filter(pl.col("said") == only) if only else answers
    columns = {
        "conversation_id": column("Conversation", "id"), "said": column("Said"),
        "reason": column("Why", width="large"), "messages": column("Messages"),
    }  # fmt: skip
    numbers = pl.col("lines").list.eval((pl.element() + 1).cast(pl.String)).list.join(", ")
    table = shown.with_columns(messages=numbers)
    downloads = not is_kept_out(write.load_dataset(place.dataset), sending.CONVERSATIONS)
    chosen = show_table(table, columns, key="send-answers", alt="What was said of each conversation.", select="single",
                        search=True, downloads=downloads)  # fmt: skip
    if shown.is_empty():
        return
    # Until one is chosen the first of which messages were named.
    row = chosen[0] if chosen else shown.sort(pl.col("lines").list.len() == 0, maintain_order=True).row(0, named=True)
    corpus = load_corpus(place.dataset)
    name = str(row["conversation_id"])
    with st.container(border=True, key="send-one"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            show_code(name, width="content")
            st.markdown(f"**{plain(row['said'] or 'no answer')}**", width="content")
            link("All that was asked and came", "failures", View(attempt=f"{run.id}/{row['attempt_id']}"))
        if row["reason"]:
            st.text(row["reason"])
        if name not in corpus:
            st.caption("The conversation is not stored any more.")
            return
        style()
        messages = corpus[name].messages
        st.html(draw_messages(messages, range(len(messages)), row["lines"] or (), cut=False))
        if not chosen:
            st.caption("Choose another row of the table to read that conversation.")


def _shorten(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
