"""Figures from papers, as transcribed in data/published: read-only, always named by paper and table."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxlab import resources
from cxlab.errors import BadFile

FOLDER = resources.data("published")


@dataclass(frozen=True)
class PublishedColumn:
    """A column of a published table; `unit` is points, percent, ratio, seconds, count, ... or None for text."""

    id: str
    title: str
    kind: str
    unit: str | None
    higher_is_better: bool | None


@dataclass(frozen=True)
class PublishedTable:
    """One table of one paper. `name` is what the paper calls its benchmark; `entity` and `metric` name the columns
    of its leaderboard, if it has one."""

    benchmark: str
    id: str
    table: str
    caption: str
    paper: str
    name: str
    authors: str
    year: int
    arxiv: str | None
    columns: tuple[PublishedColumn, ...]
    frame: pl.DataFrame
    entity: str | None
    metric: str | None
    # What the rows are called where we measure the same; empty where we do not.
    keys: tuple[str, ...]

    @property
    def source(self) -> str:
        """The table and the paper in a few words, to stand beside every figure of it."""
        return f"{self.table}, {self.authors} {self.year}" + (f", arXiv {self.arxiv}" if self.arxiv else "")

    def column(self, name: str) -> PublishedColumn:
        """The column of this id."""
        return next(column for column in self.columns if column.id == name)


@lru_cache(maxsize=4)
def _load(folder: Path, stamp: tuple[int, ...]) -> tuple[PublishedTable, ...]:
    return tuple(table for path in sorted(folder.glob("*.json")) for table in _read(path))


def published(benchmark: str | None = None, folder: Path = FOLDER) -> list[PublishedTable]:
    """All published tables (of one benchmark), in the order of the files; read again when a file changes."""
    stamp = tuple(path.stat().st_mtime_ns for path in sorted(folder.glob("*.json")))
    return [table for table in _load(folder, stamp) if benchmark in (None, table.benchmark)]


def published_board(benchmark: str | None = None) -> pl.DataFrame:
    """The papers' leaderboards, best first: benchmark, entity, value, unit, metric, higher_is_better, source, table."""
    parts = []
    for table in published(benchmark):
        if table.entity is None or table.metric is None:
            continue
        column = table.column(table.metric)
        parts.append(
            table.frame.select(
                benchmark=pl.lit(table.benchmark),
                entity=pl.col(table.entity).cast(pl.String),
                value=pl.col(table.metric).cast(pl.Float64),
                unit=pl.lit(column.unit, dtype=pl.String),
                metric=pl.lit(column.title),
                higher_is_better=pl.lit(column.higher_is_better, dtype=pl.Boolean),
                source=pl.lit(table.source),
                table=pl.lit(table.id),
            ).sort("value", descending=column.higher_is_better is not False, nulls_last=True)
        )
    if parts:
        return pl.concat(parts)
    texts = dict.fromkeys(("benchmark", "entity", "unit", "metric", "source", "table"), pl.String)
    return pl.DataFrame(schema={**texts, "value": pl.Float64, "higher_is_better": pl.Boolean})


def _read(path: Path) -> list[PublishedTable]:
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        paper = content["paper"]
        return [_table(content["benchmark"], paper, each) for each in content["tables"]]
    except (ValueError, KeyError, TypeError) as fault:
        raise BadFile(
            path.name, None, f"not a file of published tables ({fault})", "compare it with another file there"
        ) from fault


def _table(benchmark: str, paper: dict[str, Any], table: dict[str, Any]) -> PublishedTable:
    columns = tuple(
        PublishedColumn(**{name: each.get(name) for name in PublishedColumn.__dataclass_fields__})
        for each in table["columns"]
    )
    schema = {column.id: pl.Float64 if column.kind == "number" else pl.String for column in columns}
    board = table.get("leaderboard") or {}
    return PublishedTable(
        benchmark=benchmark,
        id=table["id"],
        table=table["table"],
        caption=table["caption"],
        paper=paper["title"],
        name=paper.get("name") or paper["title"].partition(":")[0],
        authors=paper["authors_short"],
        year=paper["year"],
        arxiv=paper.get("arxiv"),
        columns=columns,
        frame=pl.DataFrame(table["rows"], schema=schema, orient="row", strict=False),
        entity=board.get("entity"),
        metric=board.get("metric"),
        keys=tuple(table.get("keys", ())),
    )
