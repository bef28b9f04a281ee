"""How widespread it is: people judge a sample, blind to what was found; the share, and how far that can be off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl
import streamlit as st

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.charts.numbers import format_count, format_share
from cxlab.metrics.intervals import Interval, proportion_interval
from cxlab.records import content_id
from cxlab.ui.annotations import ask_author, author, rate, withdraw
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import plain, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.ui.transcript_html import style
from cxlab.views.datasets.charts import draw_shares
from cxlab.views.search import finding, queries
from cxlab.views.search.finding import Findings
from cxlab.views.search.place import SearchPlace
from cxlab.views.search.results import draw_messages

ANSWERS = {"yes": "Yes", "no": "No", "unsure": "Unsure"}
_AMONG = {"all": "all conversations under the filters", "found": "the best that were found"}
_ALL, _FOUND = _AMONG
# From so many on a share says something; with fewer the interval is shown all the same.
_ENOUGH = 20


class Spread(NamedTuple):
    """What judgements come to: yes, no and unsure conversations, and the share of yes among yes and no."""

    yes: int
    no: int
    unsure: int
    share: Interval


def show_sample(place: SearchPlace, found: Findings) -> None:
    """The next conversation to judge, and what the judgements come to so far."""
    question_id = name_question(place)
    judged = queries.judgements(question_id)
    kind = st.segmented_control(
        "Among", list(_AMONG), default=_ALL, format_func=lambda each: f"Among {_AMONG[each]}", required=True,
        key="search-among", label_visibility="collapsed",
    )  # fmt: skip
    population = (
        finding.ids(found.hits) if kind == _FOUND else finding.under_filters(place)["conversation_id"].to_list()
    )
    order = draw_order(question_id, population)
    form, beside = st.columns([3, 2], gap="large")
    with beside:
        ask_author()
        mine = judged.filter(author=author())
        _show_share(judged, order, kind or _ALL)
        _undo(mine, question_id)
    with form:
        _judge(place, question_id, order, mine)
    _show_judged(judged, order)


def name_question(place: SearchPlace) -> str:
    """The id that judgements of a question on a dataset are kept under."""
    return f"question-{content_id(place.dataset, ' '.join(place.question.casefold().split()))}"


def draw_order(question_id: str, population: Sequence[str]) -> list[str]:
    """The conversations in an order by chance, the same for everybody, that tells nothing of ranks; a larger
    population keeps the order of those it had."""
    return sorted(population, key=lambda name: content_id(question_id, name))


def count_answers(judged: pl.DataFrame, order: Sequence[str]) -> Spread:
    """The judgements of the beginning of the order, as far as it goes without a gap; by conversation the majority of
    its authors, a tie is unsure. Conversations after a gap are no sample and are left out."""
    by: dict[str, list[str]] = {}
    for name, answer in judged.select("conversation_id", "answer").iter_rows():
        by.setdefault(name, []).append(answer)
    told: Counter[str] = Counter()
    for name in order:
        if name not in by:
            break
        votes = Counter(by[name])
        most = [answer for answer, count in votes.items() if count == max(votes.values())]
        told[most[0] if len(most) == 1 else "unsure"] += 1
    return Spread(told["yes"], told["no"], told["unsure"], proportion_interval(told["yes"], told["yes"] + told["no"]))


def _judge(place: SearchPlace, question_id: str, order: Sequence[str], mine: pl.DataFrame) -> None:
    done = set(mine["conversation_id"])
    name = next((each for each in order if each not in done), None)
    section("Does this conversation fit?", "Drawn by chance; whether it was found, and how well, is not told.")
    st.text(place.question)
    if name is None:
        st.success(f"You have judged all {format_count(len(order))} of them.")
        return
    messages = load_corpus(place.dataset)[name].messages
    style()
    # The key counts, so that nothing on the page tells which one it is.
    with st.container(height=460, key=f"search-judged-{mine.height}", autoscroll=False):
        st.html(draw_messages(messages, range(len(messages)), cut=False))
    with st.container(horizontal=True, gap="small"):
        for answer, words in ANSWERS.items():
            if st.button(words, key=f"search-{answer}", shortcut=answer[0]):
                rate(author(), question_id, name, answer, place.question)
                st.rerun()


def _show_share(judged: pl.DataFrame, order: Sequence[str], kind: str) -> None:
    found = count_answers(judged, order)
    done = found.yes + found.no + found.unsure
    st.progress(done / max(len(order), 1), text=f"{format_count(done)} of {format_count(len(order))} judged")
    if not found.yes + found.no:
        st.caption("Judge some conversations: the share stands here from the first one on.")
        return
    share, low, high = found.share[:3]
    count = f"{format_count(round(low * len(order)))} to {format_count(round(high * len(order)))}"
    st.metric(
        f"of {_AMONG[kind]}", format_share(share),
        help="Share of yes among yes and no, with Wilson's interval for a sample drawn by chance. The order of judging "
        "is such a sample; whoever stops when the figure pleases makes it none.",
    )  # fmt: skip
    st.text(f"95 % interval {format_share(low)} to {format_share(high)}: {count} of {len(order):,} conversations")
    row = {"label": f"{found.yes} of {found.yes + found.no}", "n": found.yes + found.no, "own": True}
    frame = pl.DataFrame(
        {"yes": [found.yes], "no": [found.no], "unsure": [found.unsure], "share": [share], "low": [low], "high": [high]}
    )
    figure = draw_shares([{**row, "share": share, "low": low, "high": high}], dark())
    show_chart(figure, frame, key="search-spread", alt=f"{format_share(share)} fit.", table=False)
    if found.unsure:
        whole = found.yes + found.no + found.unsure
        st.caption(
            f"{found.unsure} unsure are left out: were all of them yes it would be "
            f"{format_share((found.yes + found.unsure) / whole)}, were all no {format_share(found.yes / whole)}."
        )
    if found.yes + found.no < _ENOUGH:
        st.caption(f"From about {_ENOUGH} on the interval begins to be narrow.")


def _undo(mine: pl.DataFrame, question_id: str) -> None:
    if mine.is_empty():
        return
    last = mine.row(-1, named=True)
    if st.button(f"Undo my last: {ANSWERS.get(last['answer'], '?')}", key="search-undo", type="tertiary"):
        withdraw(str(last["id"]), question_id, str(last["conversation_id"]), str(last["author"]))
        st.rerun()


def _show_judged(judged: pl.DataFrame, order: Sequence[str]) -> None:
    shown = judged.filter(pl.col("conversation_id").is_in(list(order)))
    if shown.is_empty():
        return
    with st.expander(plain(f"{shown.height} judgements"), type="compact"):
        columns = {
            "conversation_id": column("Conversation", "id"), "answer": column("Fits"), "author": column("Who"),
            "created": column("When", "time"),
        }  # fmt: skip
        show_table(shown.drop("id").reverse(), columns, key="search-judgements", alt="Judgements.", search=True)
