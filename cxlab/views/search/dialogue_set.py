"""The dialogues of runs that were found, kept as a set: on Failures, as files, or as a dataset to run again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count
from cxlab.errors import UnknownName
from cxlab.read import View, failures
from cxlab.read.files import to_csv
from cxlab.read.query import AttemptSet
from cxlab.read.word_search.attempts import SPEAKERS
from cxlab.records.benchmark_card import Declaration
from cxlab.store import write
from cxlab.store.exports.chat_export import ChatFilter, render_chat
from cxlab.ui.address import cached, link
from cxlab.ui.app_frame import guarded
from cxlab.ui.labels import plain, show_code
from cxlab.ui.trash import delete
from cxlab.views.failures.attempt_list import choose_metric
from cxlab.views.failures.attempt_set import make_datasets, name_columns, read_set, say_samples
from cxlab.views.search.queries_dialogues import FoundDialogues, find_dialogues
from cxlab.word_forms import Term

_MADE = "search-datasets-made"
_LONGEST_NAME = 80
# Of each dialogue so many messages that hold the words stand in a file.
_SAID = 3


def offer_dialogues(view: View, about: Declaration, terms: Sequence[Term], found: FoundDialogues) -> None:
    """The ways to keep what was found: `view` is that of the search, with its words and who says them."""
    whole = found.held == len(terms)
    kept = view.change(tab="", page=1, verdict=view.verdict or "all")
    most = failures.MOST_EXPORTED
    told = f"; the first {format_count(most)}" if found.dialogues > most else ""
    name = f"cxlab-dialogues-{datetime.now(UTC):%Y-%m-%d}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        many = "this dialogue" if found.dialogues == 1 else f"these {format_count(found.dialogues)} dialogues"
        st.caption(f"Keep {many}:", width="content")
        if whole:
            link("Open the set on Failures", "failures", kept, "With the words and who says them, all in its address.")
        with st.popover("Dataset to run again", type="tertiary"):
            _offer_dataset(kept, terms)
        st.download_button(
            "CSV", lambda: write_table(kept, about, terms), f"{name}.csv", "text/csv", key="search-dialogues-csv",
            on_click="ignore", type="tertiary",
            help=f"One row a dialogue, with the messages that hold the words (the first {_SAID}){told}.",
        )  # fmt: skip
        st.download_button(
            "JSONL", lambda: write_lines(kept, about, terms), f"{name}.jsonl", "application/x-ndjson",
            key="search-dialogues-jsonl", on_click="ignore", type="tertiary",
            help=f"One line a dialogue, with its verdict and all its messages{told}.",
        )  # fmt: skip
        st.download_button(
            "Chat JSONL", lambda: write_chat(kept, terms), f"{name}.chat.jsonl", "application/x-ndjson",
            key="search-dialogues-chat", on_click="ignore", type="tertiary",
            help="One dialogue a line in OpenAI's chat format, for training; what may not be passed on and own data "
            f"stay out{told}.",
        )  # fmt: skip


def write_table(view: View, about: Declaration, terms: Sequence[Term]) -> bytes:
    """The dialogues as CSV, as Failures writes them, and beside each what was said in it."""
    settled = choose_metric(view, about)
    metrics = _metrics_of(settled, about)
    chosen = _read(settled, about, terms, messages=False)
    said = find_all(view, terms).said.with_columns(line=pl.format("{}: {}", "role", "text"))
    lines = said.group_by("run_id", "attempt_id", maintain_order=True).agg(matched=pl.col("line").str.join("\n"))
    return to_csv(name_columns(chosen.join(lines, on=["run_id", "attempt_id"], how="left"), metrics))


def write_lines(view: View, about: Declaration, terms: Sequence[Term]) -> bytes:
    """The dialogues as JSON Lines, with all that was said."""
    return failures.to_jsonl(_read(choose_metric(view, about), about, terms, messages=True))


def write_chat(view: View, terms: Sequence[Term]) -> bytes:
    """The dialogues as chat messages."""
    rows = find_all(view, terms).rows.select("run_id", "attempt_id").iter_rows()
    return render_chat(ChatFilter(attempts=frozenset(rows)))


def find_all(view: View, terms: Sequence[Term]) -> FoundDialogues:
    """All the dialogues that the page turns through, up to what a file holds."""
    roles = SPEAKERS.get(view.speaker, (view.speaker,))
    narrowed = view.change(search="", speaker="", verdict="" if view.verdict == "all" else view.verdict)
    return cached(find_dialogues, narrowed, terms, roles, failures.MOST_EXPORTED, 0, _SAID)


def name_these(view: View, terms: Sequence[Term]) -> View:
    """The view of just these dialogues, also where none holds all the words. The words stay with it: a dataset says
    what it was chosen by."""
    rows = find_all(view, terms).rows.select("run_id", "attempt_id")
    return view.change(search="", sought=view.search, among=AttemptSet.of(rows).keep())


def _read(view: View, about: Declaration, terms: Sequence[Term], messages: bool) -> pl.DataFrame:
    less = view.metric in about.card.lower_is_better
    return read_set(name_these(view, terms), about, messages, _metrics_of(view, about), less)


def _metrics_of(view: View, about: Declaration) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*about.card.leading, view.metric])) if view.metric else ()


def _offer_dataset(view: View, terms: Sequence[Term]) -> None:
    """The samples of these dialogues as a dataset under a name, and what was made of them here."""
    st.caption(
        "The samples of these dialogues with all that their dataset holds beside them, under a name. What you run on "
        "it is compared with what was run before: it is the same samples."
    )
    with st.form("search-dialogues-dataset", border=False):
        usual = " ".join(each.text for each in terms)[:_LONGEST_NAME]
        name = st.text_input("Name", f"Dialogues with {usual}"[:_LONGEST_NAME], max_chars=_LONGEST_NAME).strip()
        if st.form_submit_button("Save the set", type="primary") and name:
            with guarded():
                made, lost = make_datasets(name_these(view, terms), name)
                st.session_state[_MADE] = {each.id: attempts for each, attempts in made}
                for each in lost:
                    st.warning(plain(each))
    kept = st.session_state.get(_MADE, {})
    for id, attempts in kept.items():
        try:
            dataset = write.load_dataset(id)
        except UnknownName:
            continue
        count = len(write.load_samples(id, only_facets=True))
        st.markdown(f"**{plain(dataset.name)}** · saved")
        st.caption(plain(f"{say_samples(count, attempts, 'dialogues')}."))
        show_code(f"python -m cxlab run {dataset.benchmark} --dataset {id}")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            link("Look at it", "datasets", View(dataset=id))
            if st.button("Undo", key=f"search-dialogues-drop-{id}", type="tertiary"):
                with guarded():
                    delete("dataset", id)
                    st.session_state[_MADE] = {each: n for each, n in kept.items() if each != id}
                    st.rerun()
