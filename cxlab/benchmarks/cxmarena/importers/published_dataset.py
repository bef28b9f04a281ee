"""The published CXMArena folder into a dataset: Parquet or CSV, with its defects reported row by row.

A file is known by its path: the configuration and split of the published data set (`Articles/
article_search_articles-00000-of-00001.parquet`) or the task alone (`intent_prediction.csv`). Parts may be
missing; the tasks they feed are then left out, and the report says so. Rows count from 1, without the header.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.cxmarena.importers.published_conversations import make_conversations, measure
from cxlab.benchmarks.cxmarena.importers.published_folder import PublishedFolder, open_folder
from cxlab.benchmarks.cxmarena.importers.published_tasks import (
    TAXONOMIES,
    draft_intent,
    draft_multi_turn,
    draft_quality,
    draft_refinement,
    draft_search,
    draft_tool_calling,
)
from cxlab.errors import BadFile
from cxlab.importers import cells
from cxlab.importers.cells import Unreadable
from cxlab.importers.imported import ImportResult, RejectedRow
from cxlab.records import Dataset, Sample, content_id

LICENCE = "CC BY-NC 4.0 (CXMArena, published data set): not for commercial use"


def import_folder(folder: Path | str, home: Path | str | None = None) -> ImportResult:
    """Read a folder and store it as a dataset; nothing is stored when something raises."""
    found = read_folder(folder)
    found.save(home)
    return found


def read_folder(folder: Path | str) -> ImportResult:
    """Read and check a folder; raises BadFile for what cannot be read at all or lacks a column."""
    root = Path(folder)
    read = open_folder(root)
    articles, corpora = _articles(read)
    taxonomies = _taxonomies(read)
    tools = _tools(read)
    drafts = [
        *draft_refinement(read, corpora.get("refinement")),
        *draft_intent(read, taxonomies),
        *draft_quality(read),
        *draft_search(read, corpora.get("search")),
        *draft_multi_turn(read, corpora.get("multi_turn")),
        *draft_tool_calling(read, corpora.get("multi_turn"), tools),
    ]
    if not drafts:
        first = f"; the first problem: {read.rejected[0]}" if read.rejected else ""
        raise BadFile(root, None, f"no row could be used{first}", "compare the columns with the published data set")
    tables = {
        "articles": articles,
        "taxonomies": pl.DataFrame(
            [{"taxonomy": t, **row} for t, rows in taxonomies.items() for row in rows],
            schema=dict.fromkeys(("taxonomy", "l1", "l2", "description"), pl.String),
        ),
        "tools": pl.DataFrame(
            [{"name": n, "definition": d} for n, d in tools.items()],
            schema={"name": pl.String, "definition": pl.String},
        ),
        "rejected": pl.DataFrame(
            [vars(one) for one in read.rejected],
            schema={"file": pl.String, "row": pl.Int64, "column": pl.String, "problem": pl.String},
        ),
    }
    conversations = make_conversations(drafts)
    if conversations.height:
        tables["conversations"] = conversations
    # As generated data sets have it: what is searched in conversations, not the corpus with copies put in.
    read_by_agents = articles.filter(pl.col("corpus").list.contains("multi_turn"))
    bodies = (read_by_agents if read_by_agents.height else articles)["body"].to_list()
    rows = {part: sum(frame.height for _, frame in files) for part, files in read.parts.items()}
    dataset_id = "cxmarena-" + content_id(drafts, articles.sort("article_id", "body").rows(), list(tools.items()))
    samples, seen = [], Counter[str]()
    for task, inputs, expected, facets in drafts:
        # A row that comes twice stays two samples, as it counts twice in the published figures.
        key = content_id(task, inputs, expected)
        seen[key] += 1
        sample_id = key if seen[key] == 1 else content_id(key, seen[key])
        samples.append(
            Sample(
                id=sample_id,
                dataset_id=dataset_id,
                benchmark="cxmarena",
                task=task,
                inputs=inputs,
                expected=expected,
                facets={"scenario": task, **facets},
            )
        )
    dataset = Dataset(
        id=dataset_id,
        benchmark="cxmarena",
        name=f"CXMArena, imported from {root.resolve().name}",
        source="imported",
        config={
            "rows": rows,
            "rejected": len(read.rejected),
            "ignored": read.ignored,
            "statistics": measure(conversations, bodies),
        },
        seed=None,
        licence=LICENCE,
        created=datetime.now(UTC),
    )
    return ImportResult(dataset, samples, tables, read.rejected, read.ignored, rows)


def _articles(read: PublishedFolder) -> tuple[pl.DataFrame, dict[str, set[str]]]:
    """The articles table and the ids of each corpus; one id may mean different articles in different corpora."""
    kept: dict[tuple[str, str], list[str]] = {}
    corpora: dict[str, set[str]] = {}
    for corpus in ("search", "refinement", "multi_turn"):
        part = f"articles of {corpus}"
        if part in read.parts:
            corpora[corpus] = set()
        for file, number, row in read.rows(part):
            name, body = cells.as_text(row["document_id"]), cells.as_text(row["document_content"])
            if not name or not body:
                read.reject(file, number, "document_content" if name else "document_id", "empty")
            elif name in corpora[corpus]:
                read.reject(file, number, "document_id", f"{name} came before in this corpus")
            else:
                corpora[corpus].add(name)
                kept.setdefault((name, body), []).append(corpus)
    rows = [
        {
            "article_id": name,
            "kind": "information",
            "topic": [],
            "title": next(line.strip("# *") for line in body.splitlines() if line.strip())[:120],
            "body": body,
            "clean": body,
            "format": "text",
            "corpus": where,
            "facts": [],
            "tools": "[]",
            "relations": "{}",
            "file": None,
        }
        for (name, body), where in kept.items()
    ]
    texts = dict.fromkeys(
        ("article_id", "kind", "title", "body", "clean", "format", "tools", "relations", "file"), pl.String
    )
    lists = dict.fromkeys(("topic", "corpus", "facts"), pl.List(pl.String))
    order = list(rows[0]) if rows else [*texts, *lists]
    schema: dict[str, Any] = {**texts, **lists}
    return pl.DataFrame(rows, schema={name: schema[name] for name in order}), corpora


def _taxonomies(read: PublishedFolder) -> dict[str, list[dict[str, str | None]]]:
    found: dict[str, list[dict[str, str | None]]] = {}
    for number, letter in TAXONOMIES.items():
        for file, row_number, row in read.rows(f"taxonomy {number}"):
            first, second = cells.as_text(row["L1"]), cells.as_text(row.get("L2"))
            if not first:
                read.reject(file, row_number, "L1", "empty")
                continue
            about = {"l1": first, "l2": second or None, "description": cells.as_text(row["Description"])}
            found.setdefault(letter, []).append(about)
    return found


def _tools(read: PublishedFolder) -> dict[str, str]:
    """Name → definition as JSON."""
    found: dict[str, str] = {}
    for file, number, row in read.rows("tools"):
        name = cells.as_text(row["Name"])
        try:
            definition = cells.as_object(row["Definition"])
            inner = definition.get("function", definition)
            if not isinstance(inner, dict) or not inner.get("name"):
                raise Unreadable("no function with a name in it")
        except Unreadable as problem:
            read.reject(file, number, "Definition", str(problem))
            continue
        if name != inner["name"]:
            read.reject(file, number, "Name", f"{name!r} beside a definition of {inner['name']!r}; the latter is used")
        found[str(inner["name"])] = cells.to_json({"type": "function", "function": inner})
    return found


__all__ = ["ImportResult", "RejectedRow", "import_folder", "read_folder"]
