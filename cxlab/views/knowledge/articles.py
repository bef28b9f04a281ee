"""Knowledge, first tab: the topic tree, the articles below a topic, and one article with its noise on and off."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count, format_share, largest
from cxlab.errors import BadFile, UnknownName
from cxlab.ui.address import cached
from cxlab.ui.app_frame import dark, guarded
from cxlab.ui.choices import is_new
from cxlab.ui.labels import chip, error, plain, say, section, show_code
from cxlab.ui.paging import show_pages
from cxlab.ui.place import find_words, go, pick
from cxlab.ui.tables import column, show_chart, show_table
from cxlab.views.knowledge import queries, queries_facts
from cxlab.views.knowledge.article_html import show_text, to_html
from cxlab.views.knowledge.charts import draw_tree
from cxlab.views.knowledge.place import CORPORA, KnowledgePlace

_TROUBLES = {"": "all", "contradictory": "contradicted by another", "similar": "repeated by another"}
_RELATIONS = {
    "parent": "Above", "children": "Below", "siblings": "Beside", "after": "Read first", "issue_of": "Is an issue of",
    "of": "Made from",
}  # fmt: skip
_FORMATS = {"text": "plain text", "table": "tables", "html": "HTML", "markdown": "Markdown", "pdf": "PDF"}
_TEXTS = {"both": "Both", "served": "As served (noise on)", "clean": "Clean (noise off)"}
_MOST_LINKS = 12
_MOST_NEAR = 8


def choose_articles(place: KnowledgePlace, corpora: pl.DataFrame) -> KnowledgePlace:
    """The filters of the list in the sidebar."""
    names = corpora["corpus"].to_list()
    titles = {name: f"{CORPORA.get(name, name)} ({format_count(n)})" for name, n in corpora.iter_rows()}
    with st.sidebar:
        corpus = pick(
            place, "corpus", "Collection", names, titles, clears=("topic", "article", "trouble", "kind", "form"),
            help="Each task searches a collection of its own; the refinement corpus has repetitions and contradictions "
            "put in on purpose.",
        )  # fmt: skip
        place = replace(place, corpus=corpus)
        known = cached(queries.kinds, place.shelf)
        for name, title, column_, words in (("kind", "Kind", "kind", {}), ("form", "Served as", "format", _FORMATS)):
            counts = known.group_by(column_).agg(pl.col("n").sum()).sort("n", descending=True)
            if counts.height > 1:
                said = {value: f"{words.get(value, value)} ({format_count(n)})" for value, n in counts.iter_rows()}
                pick(place, name, title, ["", *counts[column_]], {"": "all", **said}, clears=("article",))
        if cached(queries.trouble, place.dataset, corpus).height:
            pick(place, "trouble", "Known trouble", list(_TROUBLES), _TROUBLES, clears=("article",))
    return place


Nearest = Callable[[str, str, str], list[str]]
"""Dataset, collection and a text → ids of the articles that are nearest to it, best first."""


def show_articles(place: KnowledgePlace, corpora: pl.DataFrame, nearest: Nearest) -> None:
    """The tree and the list, or one article."""
    if corpora.is_empty():
        st.info("This dataset came without articles, so there is no knowledge base to read.")
        return
    place = choose_articles(place, corpora)
    if place.article:
        show_article(place)
        return
    tree = cached(queries.tree, place.dataset, place.corpus)
    if tree.height:
        show_tree(place, tree)
    else:
        st.caption("The articles of this collection have no topics, so there is no tree: search, or page through them.")
    show_list(place, nearest)


def show_tree(place: KnowledgePlace, tree: pl.DataFrame) -> None:
    """The tree from the chosen topic down; a click goes there."""
    troubled = bool(tree["wrong"].sum())
    roots = tree.filter(pl.col("depth") == 1)
    deepest = int(largest(tree["depth"], 0))
    if troubled:
        worst = (
            roots.with_columns(share=pl.col("wrong") / pl.col("n"))
            .sort("share", "n", descending=True)
            .row(0, named=True)
        )
        share, n = format_share(worst["share"]), format_count(worst["n"])
        title = f"Most trouble under {worst['title']}: {share} of {n} articles"
    else:
        title = (
            f"{format_count(int(roots['n'].sum()))} articles under {roots.height} roots, up to {deepest} levels deep"
        )
    section(
        plain(title),
        "From left to right one level further down; a block is as high as it has articles. Click a block to go there, "
        "the leftmost to go up."
        + (" Red: more of its articles than usual have a known repetition or contradiction." if troubled else ""),
    )
    _trail(place)
    picked = show_chart(
        draw_tree(
            tree, place.topic, "All articles", dark(), wrong="with a known pair" if troubled else "",
        ),
        tree.with_columns(path=pl.col("path").list.join(" › ")),
        key="knowledge-tree",
        alt=f"The topic tree: {title}.",
        columns={
            "path": column("Topic", width="large"),
            "n": column("Articles", "count", "At the topic and below it."),
            "own": column("Own", "count", "At the topic itself."),
            **({"wrong": column("With a known pair", "count")} if troubled else {}),
            "description": column("What it is about"),
        },
        select=True,
    )  # fmt: skip
    if is_new("knowledge-tree", picked):
        target = tuple(str(part) for part in picked[0] if part)
        if target != place.topic:
            go(place.change(topic=target, article=""))


def _trail(place: KnowledgePlace) -> None:
    if not place.topic:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("All articles", key="knowledge-top", type="tertiary"):
            go(place.change(topic=(), article=""))
        for depth, title in enumerate(place.topic, start=1):
            st.text("›")
            last = depth == len(place.topic) and not place.article
            if st.button(plain(title), key=f"knowledge-up-{depth}", type="tertiary", disabled=last):
                go(place.change(topic=place.topic[:depth], article=""))


def show_list(place: KnowledgePlace, nearest: Nearest) -> None:
    """The articles below the topic, a page at a time; of a search, those that have its words before those near it."""
    find_words(place, "Search articles", "words in the title or either text, or an id")
    page = cached(queries.articles, place.shelf, queries.ROWS_A_PAGE, (place.view.page - 1) * queries.ROWS_A_PAGE)
    where = f" under {place.topic[-1]}" if place.topic else ""
    st.caption(plain(f"{format_count(page.total)} {'article' if page.total == 1 else 'articles'}{where}"))
    if page.frame.is_empty():
        st.info("No article has all of these words under these filters.")
    else:
        _show_rows(place, page.frame, "knowledge-articles", "Articles; select one to read it.")
        show_pages(place.view, page.total, queries.ROWS_A_PAGE, "knowledge-page")
    if place.find.strip():
        with guarded(), st.spinner("Looking for articles near to it"):
            ids = cached(nearest, place.dataset, place.corpus, place.find)
            near = cached(queries.others, place.shelf, ids, _MOST_NEAR)
            if not near.is_empty():
                section("Near to it in other words", "Without all of the words; the nearest first.")
                _show_rows(place, near, "knowledge-near", "Articles near to what was searched; select one to read it.")


def _show_rows(place: KnowledgePlace, frame: pl.DataFrame, key: str, alt: str) -> None:
    """A table of articles; a click opens one."""
    rows = frame.with_columns(
        topic=pl.col("topic").list.join(" › "),
        format=pl.col("format").replace(_FORMATS),
    )
    columns = {
        "title": column("Article", width="medium"),
        "article_id": column("Id", "id", width="small"),
        "kind": column("Kind"),
        "format": column("Served as", width="small"),
        "words": column("Words", "count"),
        "facts": column("Facts", "count"),
        "tools": column("Tools", "count"),
        "contradictory": column("Contradicted by", "count", "Known pairs of the gold."),
        "similar": column("Repeated by", "count", "Known pairs of the gold."),
        "topic": column("Topic"),
    }
    empty = [name for name in ("facts", "tools", "contradictory", "similar") if not rows[name].sum()]
    if not rows["topic"].str.len_chars().sum():
        empty.append("topic")
    shown = {name: each for name, each in columns.items() if name not in empty}
    picked = show_table(
        rows.rename({"article_id": "id"}).with_columns(article_id=pl.col("id")), shown, key=key, alt=alt,
        select="single",
    )  # fmt: skip
    if picked:
        go(place.change(article=picked[0]["article_id"], page=place.view.page))


# One article ------------------------------------------------------------------------------------------


def show_article(place: KnowledgePlace) -> None:
    """The article that is open: both texts, facts, tools, relations, and the pairs it is known for."""
    # A link may name an article of another collection.
    there = cached(queries.find_corpora, place.dataset, place.article)
    if there and place.corpus not in there:
        place = replace(place, corpus=there[0])
    try:
        found = cached(queries.article, place.dataset, place.corpus, place.article)
    except UnknownName as unknown:
        error(str(unknown))
        if st.button("All articles", key="knowledge-lost"):
            go(place.change(article=""))
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if st.button("← Back to the list", key="knowledge-back", type="tertiary", shortcut="u"):
            go(place.change(article="", page=place.view.page))
        st.caption(plain(" › ".join(found["topic"] or ())))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(plain(found["title"] or found["article_id"]), anchor=False, width="content")
        chip(found["kind"], "blue")
        chip(f"served as {_FORMATS.get(found['format'], found['format'])}")
        show_code(found["article_id"], width="content")
    text, about = st.columns([5, 2], gap="large")
    with text:
        show_texts(place, found)
    with about, st.container(key="cx-beside"):
        show_about(place, found)


def show_texts(place: KnowledgePlace, found: Mapping[str, Any]) -> None:
    """The clean text, the served one, or both side by side."""
    shown = pick(place, "text", "Text", list(_TEXTS), _TEXTS, style="segments")
    acronyms = found["acronyms"]
    if acronyms:
        known = "; ".join(f"{short} = {phrase}" for short, phrase in sorted(acronyms.items()))
        st.caption(
            plain(f"{len(acronyms)} {'acronym' if len(acronyms) == 1 else 'acronyms'} put in (underlined): {known}")
        )
    sides = st.columns(2, gap="medium") if shown == "both" else [st.container()]
    if shown in ("both", "clean"):
        with sides[0]:
            st.caption(f"Clean · {format_count(len(found['clean'].split()))} words")
            show_text(to_html(found["clean"], "text"))
    if shown in ("both", "served"):
        with sides[-1]:
            _served(found, place.dataset, acronyms)


def _served(found: Mapping[str, Any], dataset: str, acronyms: Mapping[str, str]) -> None:
    form = found["format"]
    words = f"As served · {_FORMATS.get(form, form)} · {format_count(len(found['body'].split()))} words"
    source = False
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(words)
        if form in ("html", "markdown", "table"):
            source = st.toggle("Source", key="knowledge-source", bind="query-params")
    if found["body"] == found["clean"]:
        st.caption("No noise was put on this article: it is served as it was written.")
    if form == "pdf":
        _pdf(found, dataset, acronyms)
    elif source:
        show_code(found["body"], wrap=form != "table")
    else:
        show_text(to_html(found["body"], form, acronyms))


def _pdf(found: Mapping[str, Any], dataset: str, acronyms: Mapping[str, str]) -> None:
    """The kept file for download, and what was read from each of its pages."""
    data = queries.kept_file(dataset, found["file"])
    if data is None:
        st.caption("The PDF itself was not kept; this is the text that was read from it.")
        show_text(to_html(found["body"], "pdf", acronyms))
        return
    st.download_button(
        f"Open the PDF ({format_count(len(data) / 1024)} kB)", data, str(found["file"]), "application/pdf",
        key="knowledge-pdf", on_click="ignore",
    )  # fmt: skip
    try:
        pages = queries.pdf_pages(data, str(found["file"]))
    except BadFile as fault:
        error(str(fault))
        pages = [found["body"]]
    for number, page in enumerate(pages, start=1):
        st.caption(f"Page {number} of {len(pages)}, as read back")
        show_text(to_html(page, "pdf", acronyms))


def show_about(place: KnowledgePlace, found: Mapping[str, Any]) -> None:
    """Beside the text: pairs, facts, tools, relations."""
    _pairs(place)
    ids = list(found["facts"] or ())
    if ids:
        st.markdown(f"**{format_count(len(ids))} facts stated**")
        known = cached(queries_facts.of_ids, place.dataset, ids).with_columns(
            property=pl.col("property").str.replace_all("_", " "),
            subject=pl.coalesce("subject", "fact_id"),
        )
        picked = show_table(
            known, {"property": column("What"), "shown": column("Value"), "subject": column("About")},
            key="knowledge-own-facts", alt="The facts this article states; select one to see where else it is stated.",
            select="single", downloads=False, height=min(36 + 35 * len(ids), 320),
        )  # fmt: skip
        if picked:
            go(place.change(tab="facts", fact=picked[0]["fact_id"], article=""))
    if found["tools"]:
        st.markdown(f"**{format_count(len(found['tools']))} tools for its steps**")
        for tool in found["tools"]:
            _tool(tool)
    _relations(place, found["relations"])


def _tool(tool: Any) -> None:
    function = tool.get("function", tool) if isinstance(tool, dict) else {}
    with st.expander(plain(function.get("name", "tool")), type="compact"):
        if function.get("description"):
            say(str(function["description"]))
        show_code(json.dumps(tool, indent=2, ensure_ascii=False))


def _relations(place: KnowledgePlace, relations: Mapping[str, Sequence[str]]) -> None:
    for name, ids in relations.items():
        if not ids or not isinstance(ids, list | tuple):
            continue
        # What an article of the refinement corpus was made from lies in another collection.
        corpus = (
            next(iter(cached(queries.find_corpora, place.dataset, str(ids[0]))), "") if name == "of" else place.corpus
        )
        titles = cached(queries.titles, place.dataset, corpus, list(map(str, ids[:_MOST_LINKS])))
        st.markdown(f"**{_RELATIONS.get(name, plain(name))}**" + (f" · {len(ids)}" if len(ids) > 1 else ""))
        with st.container(gap=None):
            for each in map(str, ids[:_MOST_LINKS]):
                if st.button(plain(titles.get(each, each)), key=f"knowledge-to-{name}-{each}", type="tertiary",
                             disabled=each not in titles):  # fmt: skip
                    go(place.change(article=each, corpus=corpus))
        if len(ids) > _MOST_LINKS:
            st.caption(f"and {len(ids) - _MOST_LINKS} more")


def _pairs(place: KnowledgePlace) -> None:
    known = cached(queries.gold, place.dataset).filter(
        (pl.col("corpus") == place.corpus) & ((pl.col("first") == place.article) | (pl.col("second") == place.article))
    )
    for row in known.iter_rows(named=True):
        other = row["second"] if row["first"] == place.article else row["first"]
        words = {"contradictory": "✕ Contradicts", "similar": "≈ Repeats"}[row["kind"]]
        if st.button(plain(f"{words} {other}"), key=f"knowledge-pair-{row['kind']}-{other}", type="secondary"):
            go(place.change(tab="pairs", pairs=row["kind"], pair=(row["first"], row["second"]), article=""))
