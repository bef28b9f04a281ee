"""Figures from papers, in files that each benchmark hands over: read-only, always named by paper and table.

Those that ship lie in data/published. A table's `beside` says where it stands: "PLACE", or "PLACE TASK" where it is of
one task alone. Places: statistics, sizes, checks (of a dataset), realism (of its conversations), costs (of answers),
search and answers (of the page Retrieval), parts (of a metric, which stands in the task's place). `leaderboard` names
the columns by which its rows are ranked.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
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
    beside: tuple[str, ...]

    @property
    def source(self) -> str:
        """The table and the paper in a few words, to stand beside every figure of it."""
        return f"{self.table}, {self.authors} {self.year}" + (f", arXiv {self.arxiv}" if self.arxiv else "")

    # A table is kept as long as its file stays as it is, and so is its order.
    @cached_property
    def board(self) -> pl.DataFrame | None:
        """Its part of `published_board`; None where it has no leaderboard."""
        if self.entity is None or self.metric is None:
            return None
        column = self.column(self.metric)
        return self.frame.select(
            benchmark=pl.lit(self.benchmark),
            entity=pl.col(self.entity).cast(pl.String),
            value=pl.col(self.metric).cast(pl.Float64),
            unit=pl.lit(column.unit, dtype=pl.String),
            metric=pl.lit(column.title),
            higher_is_better=pl.lit(column.higher_is_better, dtype=pl.Boolean),
            source=pl.lit(self.source),
            table=pl.lit(self.id),
        ).sort("value", descending=column.higher_is_better is not False, nulls_last=True)

    def column(self, name: str) -> PublishedColumn:
        """The column of this id."""
        return next(column for column in self.columns if column.id == name)


def list_files(folder: Path = FOLDER) -> tuple[Path, ...]:
    """The files that ship, also of papers whose benchmark is not here."""
    return tuple(sorted(folder.glob("*.json")))


def published(files: Iterable[Path]) -> list[PublishedTable]:
    """The tables of these files, in their order; a file is read again when it changes."""
    return [table for path in files for table in _load(path, path.stat().st_mtime_ns)]


@lru_cache(maxsize=32)
def _load(path: Path, stamp: int) -> tuple[PublishedTable, ...]:
    return tuple(_read(path))


def published_board(tables: Sequence[PublishedTable]) -> pl.DataFrame:
    """The papers' leaderboards, best first: benchmark, entity, value, unit, metric, higher_is_better, source, table."""
    if parts := [table.board for table in tables if table.board is not None]:
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
        beside=tuple(table.get("beside", ())),
    )
