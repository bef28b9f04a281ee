"""The parts of the page Retrieval that look at single queries: what went wrong, one query in full, answers."""

from collections.abc import Callable

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count, format_share
from cxlab.errors import BadStore, UnknownName
from cxlab.read import View
from cxlab.ui.address import cached, here, open_page, set_view
from cxlab.ui.app_frame import dark
from cxlab.ui.boards import published_columns
from cxlab.ui.choices import is_new
from cxlab.ui.labels import badge, chip, empty, error, plain, say, section
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.benchmarks import find_published
from cxlab.views.retrieval import charts, queries_errors
from cxlab.views.retrieval import queries as retrieval
from cxlab.views.retrieval.charts_answers import ANSWERS, draw_answers
from cxlab.views.retrieval.indexes import IndexSelection, explain_areas, pick_run
from cxlab.views.retrieval.relations import SHORT, WHERE

_PASSAGES = 3
_LONGEST = 1500
FindPassage = Callable[[str, int | None, int | None], str]
"""(document, start, end of the piece) → the piece as it was indexed; the document's beginning without a place."""


def find_passage(read_document: Callable[[str, str, str], str] | None, dataset: str, name: str) -> FindPassage:
    """Looks up a piece of a document of a dataset's table `name` as it was indexed."""

    def passage(document: str, start: int | None, end: int | None) -> str:
        if read_document is None:
            return "This benchmark does not show what it ranks."
        try:
            text = read_document(dataset, name, document)
        except UnknownName:
            return "The dataset has no such document."
        except BadStore as missing:
            return str(missing)
        return text[slice(start or 0, end or _LONGEST)]

    return passage


def _go(view: View) -> None:
    set_view(view)
    st.rerun()


def show_misses(scene: IndexSelection, view: View) -> None:
    """Queries whose first result is not right: kinds, counts, rows."""
    best = (
        cached(retrieval.board, *scene.key).filter(metric=scene.metric).sort("mean", descending=True, nulls_last=True)
    )
    run = pick_run(scene, view, "field", "Index", best["run_id"].to_list())
    firsts = scene.firsts
    counts = cached(queries_errors.counts, scene.dataset, scene.task, (run,), scene.cut)
    if counts.is_empty():
        st.success(plain(f"✓ {scene.names[run]} puts a right {scene.search.unit[0]} first on every query."))
        return
    queries, wrong = int(counts["queries"][0]), int(counts["n"].sum())
    far = int(counts.filter(pl.col("where") != "late")["n"].sum())
    usual = counts.group_by("first").agg(pl.col("n").sum()).sort("n", "first", descending=[True, False])["first"][0]
    section(
        plain(
            f"{scene.names[run]} leaves the right {scene.search.unit[0]} out of the first {scene.cut} on "
            f"{format_count(far)} of {format_count(queries)} queries; on {format_count(wrong - far)} more it is not "
            f"first. Ahead of it, most often: {firsts[usual]}"
        ),
        f"{_explain_kinds(scene)} Click a number for its queries.",
    )
    columns = {
        "where": column("How far"), "first": column("What stands first"), "n": column("Queries", "count"),
        "share": column("Of all", "share"), "short": column(f"At most {SHORT} words", "count"),
    }  # fmt: skip
    rows = counts.sort("n", descending=True).with_columns(
        share=pl.col("n") / pl.col("queries"),
        where=pl.col("where").replace_strict(WHERE),
        first=pl.col("first").replace_strict(firsts, default=pl.col("first")),
    )
    where = {**WHERE, "late": f"right one at 2 to {scene.cut}", "beyond": f"right one only beyond {scene.cut}"}
    figure = charts.draw_kinds(counts, where, firsts, run, dark())
    picked = show_chart(
        figure, rows, key=f"retrieval-kinds-{scene.task}", alt="Misses by kind.", columns=columns, select=True
    )
    if is_new("retrieval-kinds", picked):
        _go(here().change(alike=f"{picked[0][0]}|{picked[0][1]}", field=run))
    short = int(counts["short"].sum())
    st.caption(plain(f"Query too short (at most {SHORT} words): {format_count(short)} of these {format_count(wrong)}."))
    _compare_kinds(scene, where)
    _show_rows(scene, view, run, where)


def _explain_kinds(scene: IndexSelection) -> str:
    """Where it is known from what stands first."""
    if scene.search.misses:
        return (
            "What stands first is told by rules from its words and the query's, where no right one is in the first 10."
        )
    tree = "Siblings share a parent in the topic tree."
    return f"{tree} {explain_areas(scene)}. Both are known from the data, no model judged them."


def _compare_kinds(scene: IndexSelection, where: dict[str, str]) -> None:
    """The same kinds in every index, as shares."""
    with st.expander("All indexes side by side", type="compact"):
        counts = cached(queries_errors.counts, *scene.key, scene.cut)
        sums = counts.group_by("run_id", "where").agg(share=pl.col("n").sum() / pl.col("queries").first())
        wide = sums.pivot(on="where", index="run_id", values="share").fill_null(0.0)
        siblings = (
            counts.filter(first="sibling").group_by("run_id").agg(sibling=pl.col("n").sum() / pl.col("queries").first())
        )
        rows = scene.name(wide).join(siblings, on="run_id", how="left").with_columns(pl.col("sibling").fill_null(0.0))
        columns = {
            "name": column("Index"),
            **{name: column(where[name], "share") for name in WHERE if name in rows.columns},
            "sibling": column("a sibling first", "share"),
        }
        show_table(rows.sort("name"), columns, key=f"retrieval-kinds-all-{scene.task}", alt="Misses by index.")


def _show_rows(scene: IndexSelection, view: View, run: str, where: dict[str, str]) -> None:
    firsts = scene.firsts
    far, _, first = view.alike.partition("|")
    far, first = far if far in WHERE else "", first if first in firsts else ""
    short = view.alike == "short"
    rows = queries_errors.rows(scene.dataset, scene.task, run, scene.cut, far, first, view.stage, short)
    words = [where.get(far, ""), firsts.get(first, ""), view.stage, "short query" if short else ""]
    told = ", ".join(filter(None, words))
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = f"{format_count(rows.height)} queries" + (f": {told}" if told else ", the worst first")
        st.markdown(f"**{plain(shown)}**", width="content")
        if st.button("Short queries only", key="retrieval-short", type="tertiary", disabled=short):
            _go(here().change(alike="short"))
        if told and st.button("Show all", key="retrieval-all", type="tertiary"):
            _go(here().change(alike="", stage=""))
    if rows.is_empty():
        st.caption("None of this kind.")
        return
    columns = {
        "query": column("Query", width="large"),
        "rank": column(
            "Right at", "count", f"Rank of the right {scene.search.unit[0]}; empty: not among those that were kept."
        ),
        "first_": column("What stands first"),
        "right_title": column("Right"),
        "top_title": column("First"),
        "area": column("Area"),
    }
    named = rows.head(queries_errors.ROWS).with_columns(
        first_=pl.col("first").replace_strict(firsts, default=pl.col("first"))
    )
    picked = show_table(
        named, columns, key=f"retrieval-rows-{scene.task}", alt="Queries that went wrong.", select="single",
        search=True, height=320,
    )  # fmt: skip
    if rows.height > queries_errors.ROWS:
        st.caption(f"The first {queries_errors.ROWS}; narrow by kind or area for the others.")
    if picked and is_new("retrieval-rows", picked[0]["attempt_id"]):
        _go(here().change(tab="query").open(picked[0]["run_id"], picked[0]["attempt_id"]))


def show_query(scene: IndexSelection, view: View, passage: FindPassage) -> None:
    """One query: how two indexes rank for it, with the passages they found."""
    rows = retrieval.load(scene.dataset, scene.task).rows
    opened = view.opened or ("", "")
    own = rows.filter(run_id=opened[0], attempt_id=opened[1])
    if own.is_empty():
        _list_queries(scene)
        return
    runs = list(dict.fromkeys([opened[0], *scene.runs]))
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("All queries", key="retrieval-up", type="tertiary", shortcut="u"):
            _go(here().change(attempt=""))
        if st.button("Open the attempt", key="retrieval-attempt", type="tertiary"):
            open_page("failures", View(benchmark=scene.benchmark).open(*opened))
    ranks = dict(rows.filter(sample_id=own["sample_id"][0]).select("run_id", pl.col("rank").fill_null(99)).iter_rows())
    mine = ranks[opened[0]]
    # Unless one is chosen, the index that stands farthest apart on this query.
    others = sorted((run for run in runs if run != opened[0]), key=lambda run: -abs(ranks.get(run, mine) - mine))
    beside = [pick_run(scene, view, "baseline", "Beside it", others)] if others else []
    try:
        sample, asked = queries_errors.one_query(scene.dataset, scene.task, own["sample_id"][0], [opened[0], *beside])
    except UnknownName as unknown:
        error(str(unknown))
        return
    if sample["transcript"]:
        with st.expander("The conversation so far", type="compact"):
            say(sample["transcript"])
    else:
        say(sample["query"])
    if sample["answer"]:
        with st.expander("The expected answer", type="compact"):
            say(sample["answer"])
    for place, (box, one) in enumerate(zip(st.columns(len(asked)), asked, strict=True) if asked else ()):
        with box:
            _show_ranking(scene, one, sample["titles"], passage, f"{place}-{one.run_id}", bool(sample["transcript"]))


def _show_ranking(
    scene: IndexSelection,
    asked: queries_errors.QueryRanking,
    gold: dict[str, str],
    passage: FindPassage,
    key: str,
    spoken: bool,
) -> None:
    right = asked.ranking.filter("right")["rank"].to_list()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(scene.names[asked.run_id])}**", width="content")
        near = bool(right) and right[0] <= scene.cut
        ranks = ", ".join(map(str, right))
        words = f"✓ right at {ranks}" if near else f"✕ right only at {ranks}" if right else "✕ right one not found"
        chip(words, "green" if near else "red")
    if spoken:
        st.caption("The query that was written")
        say(asked.query or "none")
    mark = pl.when("right").then(pl.lit("✓ ")).otherwise(pl.lit(""))
    table = asked.ranking.with_columns(document=pl.format("{}{}. {}", mark, "rank", "title"))
    columns = {
        "score": column("Score", "ratio", "Of its best piece, on the scale of the method.", width="small"),
        "document": column(scene.search.unit[0].capitalize()),
        "document_id": column("Id", "id", width="small"),
    }
    if table["score"].null_count() == table.height:
        del columns["score"]
    show_table(
        table,
        columns,
        key=f"retrieval-ranking-{key}",
        alt=f"The {scene.search.unit[1]} found, best first.",
        downloads=False,
    )
    st.caption("The pieces that put them there")
    shown = table.filter((pl.col("rank") <= _PASSAGES) | pl.col("right"))
    for row in shown.iter_rows(named=True):
        with st.expander(plain(row["document"]), type="compact"):
            say(passage(row["document_id"], row["start"], row["end"]))
    for missing in [one for one in gold if one not in set(asked.ranking["document_id"])]:
        with st.expander(plain(f"Not found: {gold[missing]}"), type="compact"):
            say(passage(missing, None, None))
    if asked.response:
        with st.expander("The answer that was written from it", type="compact"):
            say(asked.response)


def _list_queries(scene: IndexSelection) -> None:
    """Queries to choose from, those first on which the indexes disagree."""
    section(
        "On which queries do the indexes part?",
        f"Rank of the right {scene.search.unit[0]} in each index; empty: not found. The widest gaps first. Select "
        "a row to see two rankings beside each other.",
    )
    words = st.text_input(
        "Search the queries", key="retrieval-words", placeholder="Words in the query", label_visibility="collapsed"
    )
    rows = queries_errors.queries(scene.dataset, scene.task, scene.runs, words)
    if rows.is_empty():
        st.caption("No query holds these words.")
        return
    columns = {
        "query": column("Query", width="large"),
        "area": column("Area"),
        **{run: column(scene.names[run], "count") for run in scene.runs},
    }
    picked = show_table(rows, columns, key="retrieval-queries", alt="Queries.", select="single", height=420)
    if not picked or not is_new("retrieval-queries", picked[0]["sample_id"]):
        return
    found = retrieval.load(scene.dataset, scene.task).rows.filter(sample_id=picked[0]["sample_id"])
    first = found.filter(pl.col("run_id").is_in(list(scene.runs))).sort(pl.col("rank").fill_null(99))
    _go(here().open(first["run_id"][0], first["attempt_id"][0]))


def show_answers(scene: IndexSelection) -> None:
    """What the judges made of the answers written from what was found."""
    key = (scene.dataset, scene.task, scene.every)
    frame = cached(queries_errors.answers, *key)
    if frame.is_empty():
        empty(
            "Here you would see how many answers are correct, incorrect, hallucinated or refused, index by index. No "
            "answer was written in these runs: try an index with “Write and judge answers”."
        )
        return
    broken = cached(queries_errors.judge_errors, *key)
    best = frame.filter(kind="correct").sort("share", "run_id", descending=[True, False])
    lead = (
        f"{format_share(best['share'][0])} of the answers are correct with {scene.names[best['run_id'][0]]}"
        if best.height
        else "No answer was found correct"
    )
    errors = (
        f"{format_share(broken.select(pl.col('share').mean()).item())} of single judges' replies could not be read. "
        if broken.height
        else ""
    )
    section(
        plain(lead),
        "By the majority of the judges. "
        + plain(errors)
        + "Splits, unreadable judges and missing answers stand apart: "
        "they are none of the four verdicts.",
    )
    columns = {
        "name": column("Index"), "word": column("Verdict"), "n": column("Answers", "count"),
        "share": column("Share", "share"), "low": column("95 % from", "share"), "high": column("to", "share"),
        "total": column("of", "count"),
    }  # fmt: skip
    rows = scene.name(frame).with_columns(word=pl.col("kind").replace_strict(ANSWERS, default=pl.col("kind")))
    left, right = st.columns(2, gap="large")
    with left:
        figure = draw_answers(frame, scene.names, dark())
        show_chart(figure, rows, key=f"retrieval-answers-{scene.task}", alt="Answers by verdict.", columns=columns)
    table = find_published(scene.benchmark, "answers", scene.task)
    if table is not None:
        with right:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown("**The paper reports**, in per cent")
                badge("published")
            show_table(
                table.frame, published_columns(table), key="retrieval-table5", alt=f"Published: {table.source}.",
                downloads=False,
            )  # fmt: skip
            st.caption(plain(f"{table.source}: other data and judge, to look at and not to pair."))
