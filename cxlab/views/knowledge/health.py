"""Knowledge, first tab: what is suspected of the knowledge base, to look at, resolve or dismiss."""

from dataclasses import replace

import polars as pl
import streamlit as st

from cxlab.benchmarks.cxmarena.evaluation.knowledge_health import Suspicion, examine
from cxlab.charts.numbers import format_count
from cxlab.read import View
from cxlab.ui.address import cached, link
from cxlab.ui.labels import figures, plain, section
from cxlab.ui.place import go, pick
from cxlab.ui.tables import column, show_table
from cxlab.views.benchmarks import declared
from cxlab.views.knowledge import queries, queries_health
from cxlab.views.knowledge.finding import show_decided, show_finding
from cxlab.views.knowledge.place import CORPORA, KnowledgePlace
from cxlab.views.knowledge.suspicions import (
    KINDS,
    STATE_NAMES,
    ReviewedSuspicion,
    cut_to_difference,
    find_passages,
    is_in_state,
    is_listed,
    say_why,
    titles_of,
    to_row,
)

# Measured on aldersea, on which the least likeness of nameless rules was set, and on three generated brands (English,
# French, German); how common a word of a pattern is was set after a look at the English and the German one.
_REACH_OF_RULES = (
    "Contradictions are found where two articles give one named thing different values, or count in one unit (days, "
    "hours, points) in sentences with the same words. Not found: prices without a name, other words for the same, and "
    "what holds no figure. Of 11 put into a knowledge base written by hand 4 are found, beside 2 pairs that are none; "
    "of 21 in three generated ones 13, beside 25."
)


def show_figures(place: KnowledgePlace, found: list[ReviewedSuspicion], corpora: pl.DataFrame) -> None:
    """The knowledge base in four figures: its size, and what is open."""
    left = [each.suspicion.kind for each in found if each.state == "open"]
    sizes = ", ".join(f"{format_count(n)} in {CORPORA.get(name, name).lower()}" for name, n in corpora.iter_rows())
    asked = sum(examine(place.dataset).questions.values())
    lost = (
        f"{left.count('unanswered')} · {left.count('unreached')}" if asked else "–",
        f"Questions without an article, and articles nobody reached, by {format_count(asked)} questions."
        if asked
        else "This dataset holds no questions asked of its articles, so nothing can be said.",
    )
    figures(
        [
            ("Articles", format_count(max(corpora["n"].to_list(), default=0)), sizes or "No table of articles."),
            *((KINDS[kind][0], format_count(left.count(kind)), f"{KINDS[kind][1]} Suspected and open.")
              for kind in ("contradiction", "repetition")),
            ("Gaps · unreached", *lost),
        ]
    )  # fmt: skip
    if corpora["n"].n_unique() > 1:
        # A dataset is named after one of its collections; the first figure is of the largest.
        st.caption(plain(f"Articles by collection, of which an article may be in several: {sizes}."))


def show_health(place: KnowledgePlace, found: list[ReviewedSuspicion]) -> None:
    """The list of findings, or one of them."""
    if place.finding:
        one = next((each for each in found if each.suspicion.key == place.finding), None)
        if one is not None:
            show_finding(place, one, found)
            return
        st.info("This finding is no longer there; the others are below.")
    show_decided(place)
    if not found:
        st.info("Nothing is suspected of these articles.")
        return
    counts = {kind: sum(each.suspicion.kind == kind and is_in_state(place, each) for each in found) for kind in KINDS}
    names = {"": f"All {format_count(sum(counts.values()))}"}
    names |= {kind: f"{KINDS[kind][0]} {format_count(n)}" for kind, n in counts.items()}
    left = [each for each in found if each.state == "open"]
    talks = {talk for each in left for talk in each.conversations}
    section(
        f"{format_count(len(left))} {'thing' if len(left) == 1 else 'things'} to look at, touching "
        f"{format_count(len(talks))} {'conversation' if len(talks) == 1 else 'conversations'}"
        if left
        else "Everything that was suspected is resolved or dismissed",
        f"{_say_sources(left)} Select one to look at it.",
    )
    st.caption(plain(_REACH_OF_RULES))
    if queries_health.can_be_read(place.dataset):
        tip = "Rules see figures and set phrases; what two articles say in prose takes a reader."
        task = declared(queries.BENCHMARK).value("scenario", queries_health.PAIRS)
        form = {"bench": queries.BENCHMARK, "only-scenario": task}
        link("Have a model look for more", "run", View(dataset=place.dataset), tip, form)
    pick(place, "suspected", "Kind", list(names), names, style="segments", clears=("finding",))
    with st.sidebar:
        pick(place, "status", "Findings", list(STATE_NAMES), STATE_NAMES, clears=("finding",))
    listed = [each for each in found if is_listed(place, each)]
    if not listed:
        st.info("None of these.")
        return
    titles = titles_of(place.dataset, listed)
    rows = pl.DataFrame([to_row(each, titles) | {"why": _say_why_noted(place, each.suspicion)} for each in listed])
    columns = {
        "kind": column("Suspected"),
        "what": column("Where", width="medium"),
        "talks": column(
            "Touched", "count", "Conversations that rested on one of its articles, or in which it was asked."
        ),
        "why": column("Why", width="medium"),
        "by": column("Also said by"),
        "state": column("State", width="small"),
        "collection": column("Collection"),
    }
    if rows["state"].n_unique() < 2:
        del columns["state"]
    alt = "What is suspected of the knowledge base; select one to look at it."
    picked = show_table(rows, columns, key="knowledge-findings", alt=alt, select="single", search=True)
    if picked:
        go(place.change(finding=picked[0]["id"]))


def _say_why_noted(place: KnowledgePlace, one: Suspicion) -> str:
    """Why in a line; of what rules on the texts did not find, what its maker noted."""
    if one.passages or one.kind != "contradiction" or not (noted := cached(find_passages, place.dataset, one)):
        return say_why(one)
    mine, theirs = cut_to_difference(*noted[0])
    return f"By the key alone: “{mine}” – “{theirs}”"


def _say_sources(found: list[ReviewedSuspicion]) -> str:
    """What the rules on texts and questions found, and what only the dataset's key or a run did: a knowledge base
    without a key is shown the first alone."""
    ones = [each.suspicion for each in found]
    own = [one for one in ones if one.passages or one.sure is not None or one.kind in ("unanswered", "unreached")]
    key = sum(one.known for one in ones if one not in own)
    told = f"{format_count(len(own))} found in the articles' own texts and in the questions asked of them, "
    told += "without a model"
    if key:
        told += f"; {format_count(key)} known by the dataset's own key alone, which an imported knowledge base has not"
    return f"{told}."


def with_place(place: KnowledgePlace) -> KnowledgePlace:
    """The place with its tab: an address that names none is of this one, or of that of articles where it names some."""
    if place.view.tab:
        return place
    named = place.article or place.topic or place.find or place.corpus
    return replace(place, view=replace(place.view, tab="articles" if named else "health"))
