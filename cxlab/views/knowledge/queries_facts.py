"""The ledger of facts, and the articles and messages that state each of them."""

import json
import re
from collections.abc import Sequence
from typing import Any

import polars as pl

from cxlab.read.attempts import Page
from cxlab.read.query import ask
from cxlab.views.knowledge import queries


def ledger(dataset: str, corpus: str, find: str = "", limit: int = queries.ROWS_A_PAGE, offset: int = 0) -> Page:
    """One page of the ledger: fact_id, subject, property, value, articles (of the collection), conversations.

    The most often stated come first; `find` takes facts with all its words in id, subject, property or value.
    """
    params: dict[str, Any] = {"path": str(queries.table_path(dataset, "facts"))}
    parts = ["true"]
    called, shown = _called(dataset), _shown(dataset)
    for place, word in enumerate(find.lower().split()[:12]):
        params[f"word_{place}"] = word
        text = f"lower(concat_ws(' ', fact_id, subject, replace(property, '_', ' '), {called}, value, {shown}))"
        parts.append(f"contains({text}, $word_{place})")
    condition = " AND ".join(parts)
    total = int(ask(f"SELECT count(*) AS n FROM read_parquet($path) WHERE {condition}", params)["n"][0])
    frame = ask(
        f"""
        WITH stated AS (
            SELECT unnest(facts) AS fact_id, count(*) AS articles FROM {queries.articles_in(dataset, "articles")}
            WHERE list_contains(corpus, $corpus) GROUP BY 1
        ), said AS ({_said(dataset)})
        SELECT f.fact_id, subject, {called} AS property, {shown} AS value, coalesce(articles, 0) AS articles,
            coalesce(conversations, 0) AS conversations
        FROM read_parquet($path) f LEFT JOIN stated USING (fact_id) LEFT JOIN said USING (fact_id)
        WHERE {condition} ORDER BY articles DESC, fact_id LIMIT $limit OFFSET $offset
        """,
        {**params, **_talk(dataset), "articles": str(queries.table_path(dataset, "articles")), "corpus": corpus,
         "limit": limit, "offset": offset},
    )  # fmt: skip
    return Page(frame, total)


def count(dataset: str, corpus: str) -> dict[str, int]:
    """How many facts there are, and how many of them no article of the collection states."""
    frame = ask(
        f"""
        SELECT count(*) AS facts, count(*) FILTER (fact_id NOT IN (
            SELECT unnest(facts) FROM {queries.articles_in(dataset, "articles")}
            WHERE list_contains(corpus, $corpus))) AS unstated
        FROM read_parquet($path)
        """,
        {
            "path": str(queries.table_path(dataset, "facts")),
            "articles": str(queries.table_path(dataset, "articles")),
            "corpus": corpus,
        },
    )
    return frame.row(0, named=True)


def of_ids(dataset: str, ids: Sequence[str]) -> pl.DataFrame:
    """The facts of these ids in that order; an id that the ledger lacks stands alone."""
    asked = pl.DataFrame({"fact_id": list(ids)}, schema={"fact_id": pl.String})
    if not queries.has(dataset, "facts"):
        return asked.with_columns(pl.lit(None, pl.String).alias(n) for n in ("subject", "property", "value", "shown"))
    known = ask(
        f"SELECT fact_id, subject, {_called(dataset)} AS property, value::VARCHAR AS value, {_shown(dataset)} AS shown "
        "FROM read_parquet($path) WHERE list_contains($ids::VARCHAR[], fact_id)",
        {"path": str(queries.table_path(dataset, "facts")), "ids": list(ids)},
    )
    return asked.join(known, on="fact_id", how="left", maintain_order="left")


def stated_in(dataset: str, corpus: str, fact_id: str, limit: int = 200) -> pl.DataFrame:
    """The articles that state a fact: article_id, title, sentence (in which the value stands; empty when reworded)."""
    fact = of_ids(dataset, [fact_id]).row(0, named=True)
    rows = ask(
        f"SELECT article_id, title, clean FROM {queries.articles_in(dataset)} WHERE list_contains(facts, $fact) "
        f"AND list_contains(corpus, $corpus) ORDER BY {queries.BY_NUMBER} LIMIT $limit",
        {"path": str(queries.table_path(dataset, "articles")), "fact": fact_id, "corpus": corpus, "limit": limit},
    )
    found = [(name, title, find_sentence(clean or "", fact)) for name, title, clean in rows.iter_rows()]
    return pl.DataFrame(found, schema=dict.fromkeys(("article_id", "title", "sentence"), pl.String), orient="row")


def said_in(dataset: str, fact_id: str, limit: int = 200) -> pl.DataFrame:
    """The messages that state a fact: conversation_id, line (from 1), role, text."""
    if not queries.has(dataset, "conversations"):
        return pl.DataFrame(
            schema={"conversation_id": pl.String, "line": pl.Int64, "role": pl.String, "text": pl.String}
        )
    return ask(
        """
        WITH lines AS (
            SELECT conversation_id, unnest(json_extract(messages, '$[*]')) AS message,
                generate_subscripts(json_extract(messages, '$[*]'), 1) AS line
            FROM read_parquet($talk) WHERE contains(messages, $quoted)
        )
        SELECT conversation_id, line::BIGINT AS line, message->>'role' AS role, message->>'text' AS text FROM lines
        WHERE list_contains(json_extract_string(message, '$.data.facts[*]'), $fact)
        ORDER BY conversation_id, line LIMIT $limit
        """,
        {**_talk(dataset), "fact": fact_id, "quoted": json.dumps(fact_id), "limit": limit},
    )


def find_sentence(text: str, fact: dict[str, Any]) -> str:
    """The sentence of a text with the fact's value in it, one that names its subject before others; "" for none."""
    value, subject = str(fact["value"] or ""), str(fact["subject"] or "")
    shown = str(fact.get("shown") or "")
    number = re.fullmatch(r"(\d+)(?:\.(\d+))?", value)
    forms = [re.sub(r"\\\s+", r"\\s+", re.escape(shown))] if shown else []
    if number is not None:
        cents = (number[2] or "").rstrip("0")
        forms.append(number[1] + (rf"[.,]{cents}0*" if cents else r"(?:[.,]0+)?"))
    elif value:
        forms.append(re.escape(value))
    if not forms:
        return ""
    found = re.compile(rf"(?<![\w.,])(?:{'|'.join(forms)})(?!\w|[.,]\d)", re.IGNORECASE)
    hits = [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text) if found.search(part)]
    return next((hit for hit in hits if subject and subject in hit), hits[0] if hits else "")


def _said(dataset: str) -> str:
    if not queries.has(dataset, "conversations"):
        return "SELECT NULL::VARCHAR AS fact_id, 0 AS conversations"
    return """SELECT fact_id, count(DISTINCT conversation_id) AS conversations FROM (
        SELECT conversation_id, unnest(json_extract_string(messages, '$[*].data.facts[*]')) AS fact_id
        FROM read_parquet($talk)) GROUP BY 1"""


def _shown(dataset: str) -> str:
    """SQL for a value as people write it: as the ledger shows it where it does, else the value with its unit."""
    plain = "trim(concat_ws(' ', regexp_replace(value::VARCHAR, '\\.0$', ''), unit))"
    return f"coalesce(shown, {plain})" if "shown" in queries.columns(dataset, "facts") else plain


def _called(dataset: str) -> str:
    """SQL for a property as people call it: by its name in the brand's language where the ledger has one, else its id.

    A fact that a brief promises is drawn beside those of its kind, under an id of its own.
    """
    plain = "regexp_replace(replace(property, '_', ' '), ' promised$', '')"
    return f"coalesce(name, {plain})" if "name" in queries.columns(dataset, "facts") else plain


def _talk(dataset: str) -> dict[str, str]:
    return {"talk": str(queries.table_path(dataset, "conversations"))} if queries.has(dataset, "conversations") else {}
