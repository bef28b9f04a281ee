"""Knowledge, fifth tab: the ledger of facts, and where each fact is stated."""

from dataclasses import replace

import polars as pl
import streamlit as st

from cxlab.charts.numbers import format_count
from cxlab.ui.address import cached
from cxlab.ui.labels import chip, plain, section, show_code
from cxlab.ui.paging import show_pages
from cxlab.ui.place import find_words, go, pick
from cxlab.ui.tables import column, show_table
from cxlab.views.knowledge import queries, queries_facts
from cxlab.views.knowledge.place import CORPORA, KnowledgePlace


def show_facts(place: KnowledgePlace, corpora: pl.DataFrame) -> None:
    """The ledger as a table, or one fact with every place that states it."""
    if not queries.has(place.dataset, "facts") or corpora.is_empty():
        st.info("This dataset came without a ledger of facts: generated ones have it, imported ones do not.")
        return
    names = corpora["corpus"].to_list()
    with st.sidebar:
        titles = {name: f"{CORPORA.get(name, name)} ({format_count(n)})" for name, n in corpora.iter_rows()}
        corpus = pick(place, "corpus", "Collection", names, titles, help="Whose articles are counted.")
    place = replace(place, corpus=corpus)
    if place.fact:
        show_fact(place)
        return
    counts = cached(queries_facts.count, place.dataset, corpus)
    section(
        f"{format_count(counts['facts'])} facts, {format_count(counts['unstated'])} of them in no article",
        "One ledger for the whole brand: every article and conversation is written from it, so that no two clean ones "
        "contradict. Select a fact to see where it is stated.",
    )
    find_words(place, "Search facts", "words in the subject, property or value")
    size = queries.ROWS_A_PAGE
    page = cached(queries_facts.ledger, place.dataset, corpus, place.find, size, (place.view.page - 1) * size)
    st.caption(f"{format_count(page.total)} {'fact' if page.total == 1 else 'facts'}")
    if page.frame.is_empty():
        st.info("No fact has all of these words. Take one away.")
        return
    columns = {
        "subject": column("About", width="medium"),
        "property": column("What", width="medium"),
        "value": column("Value", width="medium"),
        "articles": column("Articles", "count", "Of this collection that state it."),
        "conversations": column("Conversations", "count", "In which it is said."),
    }
    if not page.frame["conversations"].sum():
        del columns["conversations"]
    picked = show_table(
        page.frame.with_columns(id=pl.col("fact_id"), property=pl.col("property").str.replace_all("_", " ")),
        columns, key="knowledge-facts", alt="The ledger; select a fact to see where it is stated.", select="single",
    )  # fmt: skip
    show_pages(place.view, page.total, size, "knowledge-facts-page")
    if picked:
        go(place.change(fact=picked[0]["fact_id"], page=place.view.page))


def show_fact(place: KnowledgePlace) -> None:
    """One fact, and the articles and messages that state it."""
    if st.button("← All facts", key="knowledge-facts-up", type="tertiary", shortcut="u"):
        go(place.change(fact="", page=place.view.page))
    fact = cached(queries_facts.of_ids, place.dataset, [place.fact]).row(0, named=True)
    if fact["subject"] is None:
        st.info("The ledger has no fact of this id.")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        what = str(fact["property"]).replace("_", " ")
        st.subheader(plain(f"{fact['subject']}: {what}"), anchor=False, width="content")
        chip(fact["shown"] or fact["value"], "blue")
        show_code(fact["fact_id"], width="content")
    rows = cached(queries_facts.stated_in, place.dataset, place.corpus, place.fact)
    section(f"Stated in {format_count(rows.height)} {'article' if rows.height == 1 else 'articles'}",
            "The sentence in which its value stands; empty where the value is written otherwise.")  # fmt: skip
    picked = show_table(
        rows.with_columns(id=pl.col("article_id")),
        {
            "title": column("Article", width="medium"),
            "sentence": column("Sentence", width="large"),
            "article_id": column("Id", "id", width="small"),
        },
        key="knowledge-stated",
        alt="Articles that state the fact; select one to read it.",
        select="single",
    )
    if picked:
        go(place.change(tab="articles", article=picked[0]["article_id"], fact=""))
    said = cached(queries_facts.said_in, place.dataset, place.fact)
    if said.height:
        talks = said["conversation_id"].n_unique()
        section(f"Said in {format_count(talks)} {'conversation' if talks == 1 else 'conversations'}")
        show_table(
            said.with_columns(id=pl.concat_str("conversation_id", pl.lit("|"), pl.col("line").cast(pl.String))),
            {
                "conversation_id": column("Conversation", "id", width="small"),
                "line": column("Line", "count", width="small"),
                "role": column("Who", width="small"),
                "text": column("What was said", width="large"),
            },
            key="knowledge-said",
            alt="Messages that state the fact.",
        )
