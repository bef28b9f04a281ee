"""A knowledge base as it is stored: datasets, topics, articles, facts, and where each of them is stated.

One id may mean different articles in different collections (the refinement corpus numbers its articles anew, and
published data repeats ids), so an article is named by its collection and its id.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.errors import BadFile, UnknownName
from cxlab.read.attempts import Page
from cxlab.read.query import ask
from cxlab.store import catalogue, layout, write

BENCHMARK = "cxmarena"
ROWS_A_PAGE = 50
# What an article can be known to have: a pair of the gold with another one.
TROUBLES = ("contradictory", "similar")
# "KB_9" comes before "KB_10".
BY_NUMBER = "try_cast(regexp_extract(article_id, '[0-9]+$') AS BIGINT) NULLS LAST, article_id"


@dataclass(frozen=True)
class ArticleFilter:
    """Which articles are looked at; empty takes all. `topic` is a path from the root, `trouble` one of TROUBLES."""

    dataset: str
    corpus: str
    topic: tuple[str, ...] = ()
    kind: str = ""
    format: str = ""
    find: str = ""
    trouble: str = ""


def datasets() -> pl.DataFrame:
    """The benchmark's datasets, newest first and those made of others last: dataset_id, name, source, created; none of
    conversations without labels, which hold neither articles nor gold."""
    found = [one for one in write.list_datasets() if one.benchmark == BENCHMARK and not one.unlabelled]
    found.sort(key=lambda one: one.derived_from is not None)
    rows = [{"dataset_id": d.id, "name": d.name, "source": d.source, "created": d.created} for d in found]
    types: dict[str, Any] = {**dict.fromkeys(("dataset_id", "name", "source"), pl.String), "created": pl.Datetime}
    return pl.DataFrame(rows, schema=types if not rows else None)


def has(dataset: str, table: str) -> bool:
    """Whether a dataset has this table beside its samples."""
    return table_path(dataset, table).is_file()


def corpora(dataset: str) -> pl.DataFrame:
    """The collections of articles: corpus, n; the largest first, the refinement corpus (which is made up) last."""
    if not has(dataset, "articles"):
        return pl.DataFrame(schema={"corpus": pl.String, "n": pl.Int64})
    return ask(
        f"SELECT corpus, count(*) AS n FROM (SELECT unnest(corpus) AS corpus FROM {articles_in(dataset)}) GROUP BY 1 "
        "ORDER BY corpus = 'refinement', n DESC, corpus = 'search' DESC, corpus",
        {"path": str(table_path(dataset, "articles"))},
    )


def tree(dataset: str, corpus: str) -> pl.DataFrame:
    """The topics as they hold articles, parents before children: path, title, depth, n, own, wrong, description.

    `n` counts the articles at or below a topic, `own` those at it, `wrong` those of `n` with a known pair.
    """
    rows = ask(
        f"SELECT article_id, topic FROM {articles_in(dataset)} WHERE list_contains(corpus, $corpus) AND len(topic) > 0",
        {"path": str(table_path(dataset, "articles")), "corpus": corpus},
    )
    troubled = set(trouble(dataset, corpus)["article_id"])
    count: Counter[tuple[str, ...]] = Counter()
    own: Counter[tuple[str, ...]] = Counter()
    wrong: Counter[tuple[str, ...]] = Counter()
    for name, topic in rows.iter_rows():
        path = tuple(topic)
        own[path] += 1
        for depth in range(1, len(path) + 1):
            count[path[:depth]] += 1
            wrong[path[:depth]] += name in troubled
    about = _descriptions(dataset)
    found = [
        {
            "path": list(path), "title": path[-1], "depth": len(path), "n": n, "own": own[path], "wrong": wrong[path],
            "description": about.get(path, ""),
        }
        for path, n in sorted(count.items(), key=lambda item: (len(item[0]), -item[1], item[0]))
    ]  # fmt: skip
    texts = {"title": pl.String, "description": pl.String}
    numbers = dict.fromkeys(("depth", "n", "own", "wrong"), pl.Int64)
    return pl.DataFrame(found, schema={"path": pl.List(pl.String), **texts, **numbers}).select(
        "path", "title", "depth", "n", "own", "wrong", "description"
    )


def _descriptions(dataset: str) -> dict[tuple[str, ...], str]:
    """What the table `topics` says of each path; topics without an article are in none of the counts."""
    if not has(dataset, "topics"):
        return {}
    rows = {row["topic_id"]: row for row in write.load_table(dataset, "topics").iter_rows(named=True)}
    found = {}
    for row in rows.values():
        path: list[str] = []
        above: dict[str, Any] | None = row
        # A cycle in somebody's table must not hold the page.
        while above is not None and len(path) < 50:
            path.insert(0, above["title"])
            above = rows.get(above["parent"] or "")
        found[tuple(path)] = row["description"] or ""
    return found


def kinds(shelf: ArticleFilter) -> pl.DataFrame:
    """Which kinds and formats a collection has: kind, format, n."""
    return ask(
        f"SELECT kind, format, count(*) AS n FROM {articles_in(shelf.dataset)} WHERE list_contains(corpus, $corpus) "
        "GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2",
        {"path": str(table_path(shelf.dataset, "articles")), "corpus": shelf.corpus},
    )


def articles(shelf: ArticleFilter, limit: int = ROWS_A_PAGE, offset: int = 0) -> Page:
    """One page of articles without their texts: article_id, title, topic, kind, format, facts, tools, words, and
    how many known pairs of each of TROUBLES.

    Words of `find` must all occur in the id, the title or either text; those with all of them in the title come first.
    """
    condition, params = _where(shelf)
    words = [name for name in params if name.startswith("word_")]
    titled = " AND ".join(f"contains(lower(title), ${name})" for name in words)
    order = f"({titled}) DESC, {BY_NUMBER}" if words else BY_NUMBER
    # The texts are read once, lowered once, and only where words are looked for; then one page of rows is fetched.
    text = "lower(concat_ws(' ', article_id, title, body, clean))" if words else "NULL"
    ids = ask(
        f"SELECT article_id FROM (SELECT *, {text} AS whole FROM {articles_in(shelf.dataset)} "
        f"WHERE list_contains(corpus, $corpus)) WHERE {condition} ORDER BY {order}",
        params,
    )["article_id"]
    return Page(_rows(shelf, ids.slice(offset, limit).to_list()), len(ids))


def others(shelf: ArticleFilter, ids: Iterable[str], limit: int) -> pl.DataFrame:
    """Of these articles, in this order, those under the shelf's filters that lack a word of `find`: the columns of
    `articles`.
    """
    near = list(ids)
    worded, params = _where(shelf)
    plain, plain_params = _where(replace(shelf, find=""))
    found = ask(
        "SELECT article_id FROM (SELECT *, lower(concat_ws(' ', article_id, title, body, clean)) AS whole "
        f"FROM {articles_in(shelf.dataset)}) "
        f"WHERE list_contains($near::VARCHAR[], article_id) AND {plain} AND NOT ({worded}) "
        "ORDER BY list_position($near::VARCHAR[], article_id)",
        {**params, **plain_params, "near": near},
    )["article_id"]
    return _rows(shelf, found.head(limit).to_list())


def _rows(shelf: ArticleFilter, ids: list[str]) -> pl.DataFrame:
    """These articles of a collection, in this order, without their texts."""
    path = str(table_path(shelf.dataset, "articles"))
    frame = ask(
        rf"""
        SELECT article_id, title, topic, kind, format, len(facts) AS facts,
            coalesce(json_array_length(try_cast(tools AS JSON)), 0)::BIGINT AS tools,
            array_length(string_split_regex(trim(body), '\s+')) AS words
        FROM {articles_in(shelf.dataset)}
        WHERE list_contains(corpus, $corpus) AND list_contains($ids::VARCHAR[], article_id)
        ORDER BY list_position($ids::VARCHAR[], article_id)
        """,
        {"path": path, "corpus": shelf.corpus, "ids": ids},
    )
    known = trouble(shelf.dataset, shelf.corpus).select("article_id", *TROUBLES)
    rows = frame.join(known, on="article_id", how="left", maintain_order="left")
    return rows.with_columns(pl.col(TROUBLES).fill_null(0))


def _where(shelf: ArticleFilter) -> tuple[str, dict[str, Any]]:
    params: dict[str, Any] = {"path": str(table_path(shelf.dataset, "articles")), "corpus": shelf.corpus}
    parts = ["list_contains(corpus, $corpus)"]
    if shelf.topic:
        parts.append(f"topic[1:{len(shelf.topic)}] = $topic")
        params["topic"] = list(shelf.topic)
    for column in ("kind", "format"):
        if value := getattr(shelf, column):
            parts.append(f"{column} = ${column}")
            params[column] = value
    for place, word in enumerate(shelf.find.lower().split()[:12]):
        params[f"word_{place}"] = word
        parts.append(f"contains(whole, $word_{place})")
    if shelf.trouble in TROUBLES:
        known = trouble(shelf.dataset, shelf.corpus)
        params["ids"] = known.filter(pl.col(shelf.trouble) > 0)["article_id"].to_list()
        parts.append("list_contains($ids::VARCHAR[], article_id)")
    return " AND ".join(parts), params


def article(dataset: str, corpus: str, article_id: str) -> dict[str, Any]:
    """One article whole, `tools` and `relations` read; UnknownName when the collection has none of this id."""
    found = ask(
        f"SELECT * FROM {articles_in(dataset)} WHERE article_id = $id AND list_contains(corpus, $corpus) LIMIT 1",
        {"path": str(table_path(dataset, "articles")), "id": article_id, "corpus": corpus},
    )
    if found.is_empty():
        raise UnknownName(f"article of {corpus} in dataset {dataset!r}", article_id, ["those listed on the page"])
    row = found.row(0, named=True)
    return {
        **row,
        "body": row["body"] or "",
        "clean": row["clean"] or row["body"] or "",
        "tools": _define(dataset, _json(row["tools"], [])),
        "relations": _json(row["relations"], {}),
        "acronyms": _spell_out(dataset, _json(row.get("acronyms"), {})),
    }


def find_corpora(dataset: str, article_id: str) -> list[str]:
    """The collections that have an article of this id."""
    rows = ask(
        f"SELECT DISTINCT unnest(corpus) AS corpus FROM {articles_in(dataset)} WHERE article_id = $id ORDER BY 1",
        {"path": str(table_path(dataset, "articles")), "id": article_id},
    )
    return rows["corpus"].to_list()


def _define(dataset: str, tools: list[Any]) -> list[dict[str, Any]]:
    """Definitions for the tools that stand as names; a name that no table knows keeps what it is called."""
    names = [tool for tool in tools if isinstance(tool, str)]
    known: dict[str, Any] = {}
    if names and has(dataset, "tools"):
        rows = ask(
            "SELECT name, definition FROM read_parquet($path) WHERE list_contains($names::VARCHAR[], name)",
            {"path": str(table_path(dataset, "tools")), "names": names},
        )
        known = {name: _json(definition, {}) for name, definition in rows.iter_rows()}
    defined = [known.get(tool) or {"function": {"name": tool}} if isinstance(tool, str) else tool for tool in tools]
    return [tool for tool in defined if isinstance(tool, dict)]


def _spell_out(dataset: str, used: dict[str, Any]) -> dict[str, str]:
    """Acronym → phrase, of the phrases that were shortened in one article."""
    if not used or not has(dataset, "acronyms"):
        return {}
    rows = ask(
        "SELECT acronym, phrase FROM read_parquet($path) WHERE list_contains($phrases::VARCHAR[], phrase)",
        {"path": str(table_path(dataset, "acronyms")), "phrases": list(used)},
    )
    return dict(rows.iter_rows())


def titles(dataset: str, corpus: str, ids: Iterable[str]) -> dict[str, str]:
    """Id → title of those articles that the collection has."""
    rows = ask(
        f"SELECT article_id, title FROM {articles_in(dataset)} "
        "WHERE list_contains($ids::VARCHAR[], article_id) AND list_contains(corpus, $corpus)",
        {"path": str(table_path(dataset, "articles")), "ids": list(ids), "corpus": corpus},
    )
    return dict(rows.iter_rows())


def all_titles(dataset: str, corpus: str) -> dict[str, str]:
    """Id → title of all articles of a collection."""
    rows = ask(
        f"SELECT article_id, title FROM {articles_in(dataset)} WHERE list_contains(corpus, $corpus) ORDER BY 1",
        {"path": str(table_path(dataset, "articles")), "corpus": corpus},
    )
    return {str(id): str(title or id) for id, title in rows.iter_rows()}


def kept_file(dataset: str, name: str | None) -> bytes | None:
    """A file that was kept beside the articles (a PDF); None when the dataset has none of this name."""
    # The name comes from a table that anybody may have written: it must not lead out of the folder.
    if not name or Path(name).name != name or name.startswith("."):
        return None
    path = table_path(dataset, "files").with_suffix("") / name
    return path.read_bytes() if path.is_file() else None


def pdf_pages(data: bytes, name: str) -> list[str]:
    """The text of each page of a PDF; BadFile says why there is none."""
    import io
    import logging

    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        return [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]
    # A broken file takes pypdf's parser to places that it does not foresee.
    except (PyPdfError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as fault:
        raise BadFile(
            name, None, f"cannot be read as PDF ({type(fault).__name__})", "import the article anew"
        ) from None


# Known pairs ------------------------------------------------------------------------------------------


def gold(dataset: str) -> pl.DataFrame:
    """The pairs that are known: corpus, kind (similar or contradictory), first, second (the smaller id first)."""
    rows = ask(
        "SELECT inputs, expected FROM samples WHERE dataset_id = $dataset AND task = 'kb_refinement'",
        {"dataset": dataset},
    )
    found = {
        (json.loads(inputs).get("corpus", "refinement"), kind, *sorted(map(str, pair)))
        for inputs, expected in rows.iter_rows()
        for kind in TROUBLES
        for pair in json.loads(expected).get(kind) or ()
        if len(pair) == 2
    }
    return pl.DataFrame(
        sorted(found), schema=dict.fromkeys(("corpus", "kind", "first", "second"), pl.String), orient="row"
    )


def trouble(dataset: str, corpus: str) -> pl.DataFrame:
    """The articles with a known pair: article_id, contradictory, similar (how many of each)."""
    return _trouble(str(layout.home()), catalogue.data_version(), dataset, corpus)


@lru_cache(maxsize=8)
def _trouble(home: str, version: str, dataset: str, corpus: str) -> pl.DataFrame:
    pairs = gold(dataset).filter(pl.col("corpus") == corpus)
    ends = pl.concat([pairs.select("kind", article_id="first"), pairs.select("kind", article_id="second")])
    counts = [(pl.col("kind") == kind).sum().cast(pl.Int64).alias(kind) for kind in TROUBLES]
    return ends.group_by("article_id").agg(counts).sort("article_id")


# What an article has, and what stands in where a table lacks the column.
_ARTICLE = {
    "kind": "NULL::VARCHAR", "topic": "[]::VARCHAR[]", "title": "NULL::VARCHAR", "body": "NULL::VARCHAR",
    "clean": "NULL::VARCHAR", "format": "NULL::VARCHAR", "corpus": "['all']", "facts": "[]::VARCHAR[]",
    "tools": "'[]'", "relations": "'{}'", "acronyms": "'{}'", "file": "NULL::VARCHAR",
    "subject": "NULL::VARCHAR", "style": "NULL::VARCHAR",
}  # fmt: skip


# Without these something is missing on the page; the others not every data set has.
_EXPECTED = ("kind", "topic", "title", "body", "format", "corpus")


def lacking(dataset: str) -> list[str]:
    """What should stand in the dataset's table of articles and does not; [] where it has no such table."""
    known = columns(dataset, "articles")
    return [name for name in _EXPECTED if name not in known] if known else []


def articles_in(dataset: str, path: str = "path") -> str:
    """The table of articles as a source for SQL, whole even where it lacks columns; `path` is the parameter."""
    known = columns(dataset, "articles")
    missing = [name for name in _ARTICLE if name not in known]
    if not missing:
        return f"read_parquet(${path})"
    return f"(SELECT *, {', '.join(f'{_ARTICLE[name]} AS {name}' for name in missing)} FROM read_parquet(${path}))"


def columns(dataset: str, table: str) -> frozenset[str]:
    """The columns of a table; tables of other versions may have more or fewer."""
    return frozenset(pl.read_parquet_schema(table_path(dataset, table))) if has(dataset, table) else frozenset()


def table_path(dataset: str, table: str) -> Path:
    """Where a table of a dataset lies, whether it exists or not."""
    return layout.home() / "datasets" / layout.check_id("dataset", dataset) / f"{table}.parquet"


def _json(text: str | None, empty: Any) -> Any:
    try:
        found = json.loads(text or "")
    except ValueError:
        return empty
    return found if isinstance(found, type(empty)) else empty
