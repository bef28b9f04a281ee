"""The queue of pairs that a person should look at: one is read and decided, blind to what was said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
import streamlit as st

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.relevance.classifier import LOCAL
from cxlab.benchmarks.cdr.relevance.labelling import PUBLISHED
from cxlab.benchmarks.cdr.relevance.queue import (
    KINDS,
    PersonDecision,
    QueuedPair,
    has_trail,
    list_queue,
    revise,
)
from cxlab.charts.numbers import format_count
from cxlab.read import View
from cxlab.records import content_id
from cxlab.store import write
from cxlab.ui.address import cached
from cxlab.ui.annotations import ask_author, author, rate, withdraw
from cxlab.ui.app_frame import guarded
from cxlab.ui.labels import plain, section
from cxlab.ui.place import go
from cxlab.ui.tables import column, show_table
from cxlab.ui.transcript_html import style
from cxlab.ui.trash import delete
from cxlab.views.search import queries
from cxlab.views.search.place import SearchPlace
from cxlab.views.search.results import draw_messages

ANSWERS = {"yes": "It fits", "no": "It does not", "unsure": "Cannot tell"}
_ALL = "all"
_MODELS = {"reranker": "Reranker", "classifier": "Classifier"}


def is_labelled(place: SearchPlace) -> bool:
    """Whether the dataset has queries whose relevance was found out by models."""
    return bool(place.dataset) and cached(has_trail, place.dataset)


def show_relevance(place: SearchPlace) -> None:
    """The next pair, what was decided so far, and the dataset with these decisions."""
    queue = cached(list_queue, place.dataset)
    prefix = f"relevance-{content_id(place.dataset)}-"
    judged = queries.judgements_of_pairs(prefix)
    section(
        f"{format_count(len(queue))} pairs of a question and a conversation are for a person to look at",
        "Models decided which conversations answer which question of this benchmark. These are the pairs that they "
        "could not decide, disagreed on, or were barely sure of.",
    )
    _show_origin(place)
    _show_models(place)
    if not queue and judged.is_empty():
        return
    counts = {kind: sum(each.kind == kind for each in queue) for kind in KINDS}
    names = {_ALL: f"All ({format_count(len(queue))})"}
    names |= {kind: f"{KINDS[kind]} ({format_count(counts[kind])})" for kind in KINDS if counts[kind]}
    kind = st.segmented_control(
        "Which", list(names), default=_ALL, format_func=names.__getitem__, required=True, key="relevance-kind",
        label_visibility="collapsed",
    )  # fmt: skip
    shown = [each for each in queue if kind in (_ALL, each.kind)]
    form, beside = st.columns([3, 2], gap="large")
    mine = judged.filter(author=author())
    with form:
        _decide(place, shown, mine, prefix)
    with beside:
        ask_author()
        _undo(mine, prefix)
        _offer_revision(place, judged)
    _show_decided(judged)


def _show_models(place: SearchPlace) -> None:
    """How far the reranker and the classifier that looked beyond the best candidates can be relied on."""
    config = write.load_dataset(place.dataset).config
    # Older datasets have figures of one way without its name, or no reranker.
    found = {title: config.get(name) or {} for name, title in _MODELS.items()}
    found = {title: told for title, told in found.items() if told.get("base") is not None}
    if not found:
        return
    who = " and ".join(f"a {title.lower()} ({_say_who(told)})" for title, told in found.items())
    st.caption(plain(f"Beyond the best five of each question, {who} looked for more; four judges read what was found."))
    with st.expander("How far they can be relied on", type="compact"):
        st.caption(
            "Over all pairs, and an easier way: each relevant conversation beside three that are not. The paper's "
            "figures are on pairs of which two in five (reranker) and half (classifier) are relevant, which is easier "
            "still. A reranker gives an order and no chances, so it has no accuracy."
        )
        for told in found.values():
            if told.get("by") == told.get("against"):
                st.caption(plain(f"{told['by']} is compared with labels of its own: how steady it is, not how right."))
        rows = [row for title, told in found.items() for row in _list_figures(title, told)]
        names = ("model", "way", "precision", "blind", "paper", "accuracy", "no", "paper_accuracy")
        schema = {"model": pl.String, "way": pl.String, **dict.fromkeys(names[2:], pl.Float64)}
        columns = {
            "model": column("Model"), "way": column("Measured", width="medium"),
            "precision": column("Average precision", "ratio"), "blind": column("A blind order", "ratio"),
            "paper": column("Paper's", "ratio"), "accuracy": column("Accuracy", "ratio"),
            "no": column("Always no", "ratio"), "paper_accuracy": column("Paper's", "ratio"),
        }  # fmt: skip
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        show_table(frame, columns, key="relevance-models", alt="How the two models do.", downloads=False)


def _say_who(told: Mapping[str, Any]) -> str:
    by, against = told.get("by") or LOCAL, told.get("against") or ""
    labels = format_count(told.get("pairs"))
    if against:
        return f"{'trained on made conversations' if by == LOCAL else by}, compared with {labels} labels of {against}"
    return f"trained on {labels} labels{'' if by == LOCAL else f' by what {by} finds'}"


def _list_figures(title: str, told: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of a model: over all pairs, and one relevant beside three that are not."""
    chances = title == _MODELS["classifier"]
    paper = PUBLISHED["classifier_average_precision" if chances else "average_precision"]
    over_all = (told.get("accuracy"), 1 - told["base"], None) if chances else (None,) * 3
    few = (told.get("paired_accuracy"), 0.75, PUBLISHED["accuracy"]) if chances else (None,) * 3
    yield title, "Over all pairs", told.get("average_precision"), told["base"], None, *over_all
    way = f"One with three that are not (n {told.get('paired') or 0})"
    yield title, way, told.get("paired_precision"), 0.25, paper, *few


def _decide(place: SearchPlace, queue: list[QueuedPair], mine: pl.DataFrame, prefix: str) -> None:
    done = set(mine.select("query_id", "conversation_id").iter_rows())
    left = [each for each in queue if each.pair not in done]
    st.progress(1 - len(left) / max(len(queue), 1), text=f"{format_count(len(queue) - len(left))} of "
                f"{format_count(len(queue))} decided by you")  # fmt: skip
    if not left:
        st.success("You have looked at all of these.")
        return
    pair = left[0]
    st.markdown("**Does the conversation fit the question?**")
    st.text(pair.query)
    messages = load_corpus(place.dataset)[pair.conversation_id].messages
    style()
    with st.container(height=420, key=f"relevance-pair-{mine.height}", autoscroll=False):
        st.html(draw_messages(messages, range(len(messages)), cut=False))
    with st.container(horizontal=True, gap="small"):
        for answer, words in ANSWERS.items():
            if st.button(words, key=f"relevance-{answer}"):
                rate(author(), prefix + pair.query_id, pair.conversation_id, answer, pair.query)
                st.rerun()
    with st.expander("Why it is here (look after you have decided for yourself)", type="compact"):
        st.text(f"{KINDS[pair.kind]}. The benchmark counts it as {'' if pair.relevant else 'not '}relevant now.")
        for line in pair.told.split("; "):
            st.text(line)


def _undo(mine: pl.DataFrame, prefix: str) -> None:
    if mine.is_empty():
        return
    last = mine.row(-1, named=True)
    if st.button(f"Undo my last: {ANSWERS.get(last['answer'], '?')}", key="relevance-undo", type="tertiary"):
        withdraw(last["id"], prefix + last["query_id"], last["conversation_id"], last["author"])
        st.rerun()


def _offer_revision(place: SearchPlace, judged: pl.DataFrame) -> None:
    decided = judged.filter(pl.col("answer").is_in(["yes", "no"]))
    if decided.is_empty():
        st.caption("Decisions change the benchmark once you have them taken over.")
        return
    st.caption(
        "Taking them over makes a new version of the dataset: its relevance follows them, its trail names who decided. "
        "This version and its runs stay as they are."
    )
    what = "decision" if decided.height == 1 else "decisions"
    if st.button(f"Take over {format_count(decided.height)} {what}", key="relevance-revise", type="primary"):
        with guarded():
            rows = decided.select("query_id", "conversation_id", "author", "answer").iter_rows()
            made = revise(place.dataset, [PersonDecision(q, name, who, told == "yes") for q, name, who, told in rows])
            go(SearchPlace(View(dataset=made.id, tab="relevance")))


def _show_origin(place: SearchPlace) -> None:
    """Of a version with people's decisions: that it is one, and the way back."""
    dataset = write.load_dataset(place.dataset)
    if dataset.derivation != "decisions":
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"Pairs decided by people in this version: {format_count(dataset.config.get('decided_by_people'))}.")
        if st.button("Undo: delete this version", key="relevance-drop", type="tertiary"):
            with guarded():
                delete("dataset", dataset.id)
                go(SearchPlace(View(dataset=str(dataset.derived_from), tab="relevance")))


def _show_decided(judged: pl.DataFrame) -> None:
    if judged.is_empty():
        return
    with st.expander(plain(f"{judged.height} decisions"), type="compact"):
        columns = {
            "query": column("Question", width="large"), "conversation_id": column("Conversation", "id"),
            "answer": column("Fits"), "author": column("Who"), "created": column("When", "time"),
        }  # fmt: skip
        shown = judged.select(list(columns)).reverse()
        show_table(shown, columns, key="relevance-decisions", alt="Decisions.", search=True)
