"""Knowledge, second tab: the repeated and contradicting pairs a run found, missed and invented."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st
from markupsafe import Markup

from cxlab.charts.numbers import format_count, format_ratio, format_share
from cxlab.metrics.intervals import proportion_interval
from cxlab.ui.address import cached
from cxlab.ui.app_frame import dark
from cxlab.ui.labels import chip, empty, plain, section
from cxlab.ui.place import go, pick
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.knowledge import queries, queries_pairs
from cxlab.views.knowledge.article_html import mark_differences, show_text, to_html
from cxlab.views.knowledge.charts import best_cut, draw_sweep
from cxlab.views.knowledge.place import KnowledgePlace
from cxlab.views.knowledge.queries_pairs import Pairs

Differences = Callable[[str, str], Sequence[tuple[str, str]]]
_KINDS = {"contradictory": "Contradictions", "similar": "Repetitions"}
_NOUN = {"contradictory": "contradiction", "similar": "repetition"}
_OUTCOMES = {"": "all", "missed": "✕ missed", "false": "! invented", "found": "✓ found"}
_CHECKS = {"model": "the model", "facts": "the difference of their facts"}
_MOST_PASSAGES = 4


def show_pairs(place: KnowledgePlace, differences: Differences, start_run: Callable[[], None]) -> None:
    """Both kinds of pairs of one run against the gold; or one pair side by side."""
    found = cached(queries_pairs.load, place.dataset, place.run) if place.run else None
    if found is None:
        known = cached(queries.gold, place.dataset)
        if known.is_empty():
            st.info("This dataset has no task of finding repeated and contradicting articles.")
            return
        empty(
            f"Here you would see which of the {format_count(known.height)} known repetitions and contradictions a run "
            "finds, misses and invents, and what another threshold would change. No run has looked for them yet.",
            "Run the task",
            start_run,
            f"python -m cxlab run cxmarena --dataset {place.dataset} --model simulated:strong",
        )
        return
    kind = pick(
        place, "pairs", "Pairs", list(_KINDS), _KINDS, style="segments", clears=("pair", "outcome"),
        help="Two articles that say the same, and two that say different things of the same thing.",
    )  # fmt: skip
    place = replace(place, pairs=kind)
    if len(place.pair) == 2:
        show_pair(place, found, differences)
        return
    if found.outcome == "provider":
        st.warning("The provider failed on some pairs of this run, so contradictions it missed may not be its fault.")
    show_counts(found, kind)
    show_sweep(found, kind)
    show_table_of_pairs(place, found)


def show_counts(found: Pairs, kind: str) -> None:
    """Found, missed and invented in one sentence, with what the run did."""
    rows = {row["kind"]: row for row in queries_pairs.count(found).iter_rows(named=True)}
    row = rows.get(kind)
    if row is None:
        st.info(f"The gold has no {_NOUN[kind]}, and the run named none.")
        return
    told = proportion_interval(row["found"], row["gold"])
    sure = f" (95 % interval {format_share(told.low)} to {format_share(told.high)})" if row["gold"] else ""
    settings = found.settings
    if kind == "contradictory":
        checks = _CHECKS.get(str(settings.get("contradictions")), "nothing more")
        how = f"{format_count(found.checked)} candidate pairs, each checked by {checks}"
    elif settings.get("similar") == "model":
        how = "the most similar pairs, each checked by the model"
    else:
        how = f"called so from a similarity of {found.threshold:.2f}, measured by {settings.get('similarity', 'words')}"
    if kind in found.asked and row["gold"]:
        asked, known = found.asked[kind], row["gold"]
        how += (
            f"; all {format_count(known)} known pairs were among them"
            if asked == known
            else f"; {format_count(asked)} of the {format_count(known)} known pairs were among them, so recall cannot "
            f"exceed {format_share(asked / known)}"
        )
    section(
        f"{format_count(row['found'])} of {format_count(row['gold'])} {_NOUN[kind]}s found, "
        f"{format_count(row['missed'])} missed, {format_count(row['false'])} invented",
        plain(
            f"Precision {format_share(row['precision'])}, recall {format_share(row['recall'])}{sure}, F1 "
            f"{format_share(row['f1'])}; {how}. n {format_count(row['gold'])} known pairs."
        ),
    )
    if found.unread:
        st.caption(f"{format_count(found.unread)} replies could not be read; their pairs count as not named.")


def show_sweep(found: Pairs, kind: str) -> None:
    """What the similarity alone would find at each threshold."""
    sweep = queries_pairs.sweep(found, kind)
    best = best_cut(sweep)
    if best is None:
        st.caption(
            "No pair of the gold is among the pairs whose similarity the run kept, so there is no threshold to choose."
        )
        return
    if kind == "similar":
        now = sweep.filter((pl.col("threshold") - found.threshold).abs() < 1e-6)
        gap = best["f1"] - (now["f1"][0] or 0.0) if now.height else 0.0
        title = (
            f"A threshold of {best['threshold']:.2f} would be better: F1 {format_share(best['f1'])} instead of "
            f"{format_share(now['f1'][0])}"
            if now.height and gap > 0.005
            else f"The threshold {found.threshold:.2f} is about as good as any: F1 {format_share(best['f1'])} at best"
        )
    else:
        title = (
            f"Similarity alone would reach F1 {format_share(best['f1'])} on contradictions, at {best['threshold']:.2f}"
        )
    if kind == "contradictory":
        with st.expander(title):
            _sweep_chart(found, kind, sweep, title)
        return
    section(title)
    _sweep_chart(found, kind, sweep, title)


def _sweep_chart(found: Pairs, kind: str, sweep: pl.DataFrame, title: str) -> None:
    st.caption(
        "If the similarity alone decided, from each threshold on. The best one is chosen on the gold: it is a ceiling. "
        f"The run kept pairs from {found.floor:.2f} on, {format_count(found.scored.height)} of them.",
    )
    show_chart(
        draw_sweep(sweep, found.threshold if kind == "similar" else None, dark()),
        sweep,
        key=f"knowledge-sweep-{kind}",
        alt=f"Precision, recall and F1 by threshold. {title}.",
        columns={
            "threshold": column("Threshold", "ratio"),
            "predicted": column("Pairs", "count"),
            "hits": column("Right", "count"),
            "precision": column("Precision", "share"),
            "recall": column("Recall", "share"),
            "f1": column("F1", "share"),
        },
    )


def show_table_of_pairs(place: KnowledgePlace, found: Pairs) -> None:
    """All pairs of the kind; a row opens both articles side by side."""
    rows = found.table.filter(pl.col("kind") == place.pairs)
    counts = dict(rows["outcome"].value_counts().iter_rows())
    names = {
        name: f"{words} ({format_count(counts.get(name, 0) if name else rows.height)})"
        for name, words in _OUTCOMES.items()
    }
    section("Pair by pair", "Select a row to see the two passages side by side.")
    outcome = pick(place, "outcome", "Show", list(_OUTCOMES), names, style="segments")
    shown = rows.filter(pl.col("outcome") == outcome) if outcome else rows
    if shown.is_empty():
        st.info("There is no such pair.")
        return
    ids = pl.concat([shown["first"], shown["second"]]).unique().sort().to_list()
    titles = cached(queries.titles, place.dataset, found.corpus, ids)
    table = shown.with_columns(
        outcome_=pl.col("outcome").replace(_OUTCOMES),
        first_=pl.col("first").replace(titles),
        second_=pl.col("second").replace(titles),
        id=pl.concat_str("first", pl.lit("|"), "second"),
    )
    picked = show_table(
        table,
        {
            "outcome_": column("Outcome", width="small"),
            "first_": column("Article", width="medium"),
            "second_": column("and", width="medium"),
            "similarity": column("Similarity", "ratio", "Cosine of the two; empty below what the run kept."),
            "first": column("Id", "id", width="small"),
            "second": column("Id", "id", width="small"),
        },
        key=f"knowledge-pairs-{place.pairs}",
        alt=f"{_KINDS[place.pairs]} of the run against the gold; select one to see it.",
        select="single",
        search=True,
    )
    if picked:
        go(place.change(pair=(picked[0]["first"], picked[0]["second"])))


# One pair ---------------------------------------------------------------------------------------------


def show_pair(place: KnowledgePlace, found: Pairs, differences: Differences) -> None:
    """Two articles side by side: the passages that differ or agree, with the words marked that the other lacks."""
    first, second = place.pair
    row = next(iter(found.table.filter(
        (pl.col("kind") == place.pairs) & (pl.col("first") == first) & (pl.col("second") == second)
    ).iter_rows(named=True)), None)  # fmt: skip
    _walk(place, found)
    outcome = row["outcome"] if row else ""
    titles = {"missed": "missed", "found": "found", "false": "invented"}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        title = f"A {_NOUN[place.pairs]} that the run {titles[outcome]}" if outcome else "Two articles"
        st.subheader(title, anchor=False, width="content")
        if row and row["similarity"] is not None:
            chip(f"similarity {format_ratio(row['similarity'])}")
    known = [each for each in (first, second) if _load(place, found.corpus, each)]
    if len(known) < 2:
        st.info("The dataset has not both of these articles.")
        return
    one, other = (_load(place, found.corpus, each) for each in (first, second))
    if row and (row["left"] or row["right"]):
        section("What the run gave as its reason", "The two statements it says cannot both be true.")
        _beside(place, one, other, [(row["left"] or "–", row["right"] or "–")])
    passages, noted = _passages(place, found, one, other, differences)
    if place.pairs == "contradictory":
        note = (
            "The statement that was put in and the one it contradicts, as the dataset's own record has them."
            if noted
            else "Sentences that name the same thing and say something different of it, found by comparing the texts."
        )
        title = "Where they contradict each other" if passages else "No plain contradiction in the words"
    else:
        note = (
            "The passage that was put in, beside where it comes from."
            if noted
            else "The longest sentences that both have, in nearly the same words."
        )
        title = "What they share" if passages else "No sentence is nearly the same"
    marked = " Words and values that the other side lacks are marked."
    section(title, note + marked if passages else "The whole texts are below.")
    _beside(place, one, other, passages[:_MOST_PASSAGES])
    if len(passages) > _MOST_PASSAGES:
        st.caption(f"and {len(passages) - _MOST_PASSAGES} more such passages")
    with st.expander("The whole articles side by side", expanded=not passages):
        left, right = st.columns(2, gap="large")
        for side, whole, mine in ((left, one, 0), (right, other, 1)):
            with side:
                show_text(to_html(whole["clean"], "text", marked=[each[mine] for each in passages]))


def _load(place: KnowledgePlace, corpus: str, name: str) -> dict[str, Any]:
    ids = cached(queries.titles, place.dataset, corpus, [name])
    return cached(queries.article, place.dataset, corpus, name) if ids else {}


def _passages(
    place: KnowledgePlace, found: Pairs, one: Mapping[str, Any], other: Mapping[str, Any], differences: Differences
) -> tuple[list[tuple[str, str]], bool]:
    """The passages to show, and whether the dataset itself notes them."""
    noted = cached(
        queries_pairs.passages, place.dataset, found.corpus, place.pairs, one["article_id"], other["article_id"]
    )
    if noted:
        return noted, True
    compare = differences if place.pairs == "contradictory" else queries_pairs.shared
    return [(mine, theirs) for mine, theirs in compare(one["clean"], other["clean"])], False


def _beside(
    place: KnowledgePlace, one: Mapping[str, Any], other: Mapping[str, Any], passages: Sequence[tuple[str, str]]
) -> None:
    left, right = st.columns(2, gap="large")
    for side, whole in ((left, one), (right, other)):
        with side, st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(whole['title'])}**", width="content")
            key = f"knowledge-read-{whole['article_id']}-{len(passages)}"
            if st.button(f"Read {plain(whole['article_id'])}", key=key, type="tertiary"):
                go(
                    place.change(
                        tab="articles", corpus=(whole["corpus"] or [""])[0], article=whole["article_id"], pair=()
                    )
                )
    for mine, theirs in passages:
        left, right = st.columns(2, gap="large")
        for side, made in zip((left, right), mark_differences(mine, theirs), strict=True):
            with side:
                st.html(Markup('<div class="cx-marked cx-quote">{}</div>').format(made))


def _walk(place: KnowledgePlace, found: Pairs) -> None:
    rows = found.table.filter(pl.col("kind") == place.pairs)
    rows = rows.filter(pl.col("outcome") == place.outcome) if place.outcome else rows
    order = list(rows.select("first", "second").iter_rows())
    at = order.index(place.pair) if place.pair in order else -1
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("← All pairs", key="knowledge-pairs-up", type="tertiary", shortcut="u"):
            go(place.change(pair=()))
        for words, step, shortcut in (("Previous", -1, "p"), ("Next", 1, "n")):
            there = at + step
            able = at >= 0 and 0 <= there < len(order)
            if st.button(words, key=f"knowledge-pairs-{shortcut}", shortcut=shortcut, disabled=not able):
                go(place.change(pair=order[there]))
        if at >= 0:
            st.caption(f"{at + 1} of {len(order)}")
