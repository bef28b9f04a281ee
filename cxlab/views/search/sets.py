"""What was found, kept as a set: a dataset with a name, a link and files, that can be evaluated like its origin."""

from __future__ import annotations

import json

import polars as pl
import streamlit as st

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.cdr.corpus.dataset import CORPUS
from cxlab.benchmarks.cdr.corpus.subset import save_subset
from cxlab.benchmarks.cdr.units.unit_text import SPEAKERS
from cxlab.charts.numbers import format_count
from cxlab.errors import UnknownName
from cxlab.read import View
from cxlab.records import Dataset
from cxlab.records.procedure import declared as with_procedures
from cxlab.store import write
from cxlab.store.exports.sharing import is_kept_out
from cxlab.ui.address import has_page, link
from cxlab.ui.app_frame import guarded
from cxlab.ui.labels import label, plain, section, show_code
from cxlab.ui.place import go
from cxlab.ui.tables import column, show_table
from cxlab.ui.trash import delete, show_trash
from cxlab.views.datasets import queries as datasets
from cxlab.views.search.finding import Findings
from cxlab.views.search.place import SearchPlace, is_joined, name_retriever
from cxlab.word_forms import Sought

_LONGEST = 80
# Letters of what matched.
_EXCERPT = 200
# A narrow cell shows no more of them: a word further in would not be seen.
_SEEN = 30


def show_sets(place: SearchPlace, found: Findings) -> None:
    """Keep what was found, and the sets that were kept of these conversations."""
    _offer(place, found)
    kept = write.list_derived(place.dataset, "conversations")
    if kept:
        section(f"{format_count(len(kept))} saved of these conversations")
    for each in kept:
        _show_set(each)
    show_trash("dataset")


def _offer(place: SearchPlace, found: Findings) -> None:
    section(
        "Save this conversation"
        if len(found.hits) == 1
        else f"Save these {format_count(len(found.hits))} conversations",
        "As a dataset of its own. To share the search itself, share the address of this page.",
    )
    naming, pressing = st.columns([4, 1], vertical_alignment="bottom")
    usual = (place.question or f"like {place.like.partition('~')[2]}")[:_LONGEST]
    name = naming.text_input("Name of the set", usual, max_chars=_LONGEST, key="search-set-name").strip()
    if pressing.button("Save the set", type="primary", key="search-set-save", disabled=not name, width="stretch"):
        with guarded():
            asked = {key: value for key, value in place.change(tab="").to_query().items() if key != "dataset"}
            made = save_subset(place.dataset, name, [each.conversation.id for each in found.hits], asked)
            st.session_state["search-set-saved"] = made.id
            # With the conversations named: the set is the newest dataset now, which an address without any would open.
            go(place)
    frame = build_table(found)
    columns = {"rank": column("Rank", "count"), "conversation_id": column("Conversation", "id")}
    if is_joined(place.retriever):
        frame = frame.drop("score")
    else:
        columns["score"] = column(
            "Score", "ratio", f"By which {name_retriever(place.retriever)} ranks; higher fits better."
        )
    columns["matched"] = column("What matched", width="large")
    dataset = write.load_dataset(place.dataset)
    kept_out = is_kept_out(dataset, CORPUS)
    alt = "The conversations of the set."
    show_table(frame, columns, key="search-set", alt=alt, search=True, downloads=not kept_out)
    if kept_out:
        st.caption(plain(f"No downloads: {_say_count(len(found.hits))} may not be passed on ({dataset.licence})."))
        return
    st.download_button(
        "Download conversations as JSON Lines", lambda: write_lines(found), "cxlab-conversations.jsonl",
        "application/x-ndjson", key="search-set-jsonl", on_click="ignore", type="tertiary",
    )  # fmt: skip


def _say_count(number: int) -> str:
    return "1 conversation" if number == 1 else f"{format_count(number)} conversations"


def _begin_near(text: str, sought: Sought) -> str:
    """The text from shortly before the first word that was looked for, where that stands further in."""
    at = next((start for start, _ in sought.find(text)), 0)
    start = text.rfind(" ", 0, at - _SEEN // 2) + 1 if at > _SEEN else 0
    return f"… {text[start:]}" if start else text


def build_table(found: Findings) -> pl.DataFrame:
    """One row a conversation: rank, conversation_id, score, first and last message that matched, from 1, and what."""
    rows = []
    sought = Sought(frozenset(form for forms in found.forms.values() for form in forms))
    for rank, hit in enumerate(found.hits, 1):
        held = hit.conversation.messages[hit.unit.first : hit.unit.last + 1]
        text = " / ".join(" ".join(each.text.split()) for each in held)
        text = _begin_near(text, sought)
        shown = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
        rows.append((rank, hit.conversation.id, hit.score, hit.unit.first + 1, hit.unit.last + 1, shown))
    schema = {
        "rank": pl.Int64, "conversation_id": pl.String, "score": pl.Float64, "first": pl.Int64, "last": pl.Int64,
        "matched": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def write_lines(found: Findings) -> bytes:
    """The conversations as this page reads them: a conversation a line, with role and content messages."""
    lines = []
    for hit in found.hits:
        said = [{"role": SPEAKERS[each.role], "content": each.text} for each in hit.conversation.messages]
        lines.append(json.dumps({"id": hit.conversation.id, "messages": said}, ensure_ascii=False))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _show_set(kept: Dataset) -> None:
    """One set, where it can be sent, and the way to take it back."""
    new = st.session_state.get("search-set-saved") == kept.id
    with st.container(border=True, key=f"search-kept-{kept.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(kept.name)}**" + (" · saved" if new else ""), width="content")
            st.caption(_say_count(int(kept.config.get("corpus") or 0)), width="content")
            show_code(kept.id, width="content")
            if st.button("Undo" if new else "Delete", key=f"search-drop-{kept.id}", type="tertiary"):
                with guarded():
                    delete("dataset", kept.id)
                    st.rerun()
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            # A link within a page would leave the address as it was.
            if st.button("Search in it", key=f"search-in-{kept.id}", type="tertiary"):
                go(SearchPlace(View(dataset=kept.id)))
            if st.button("Send it to a task", key=f"search-send-{kept.id}", type="tertiary"):
                go(SearchPlace(View(dataset=kept.id, tab="send")))
            link("Read and download it", "datasets", View(dataset=kept.id, tab="conversations"))
        _send(kept)


def _send(kept: Dataset) -> None:
    """What can be done with it: the tasks that it has samples of, and the paths of the run that it came from."""
    counts = datasets.tasks(kept.id)
    if counts and kept.benchmark in REGISTRY:
        titles = {task.id: task.title for task in REGISTRY[kept.benchmark].card.tasks}
        told = ", ".join(f"{titles.get(task, label(task))} ({format_count(count)})" for task, count in counts.items())
        if has_page("run"):
            query = {"bench": kept.benchmark, "dataset": kept.id}
            st.page_link("pages/run.py", label="Evaluate a model on it", query_params=query)
        st.caption(plain(f"Tasks with their samples: {told}"))
    if run := kept.config.get("from_run"):
        try:
            benchmark = write.load_run(str(run)).benchmark
        except UnknownName:
            return
        if benchmark in with_procedures():
            link("Check the procedure: paths of the run", "sop_paths", View(runs=(str(run),)))
        link("Attempts of the run", "failures", View(runs=(str(run),)))
