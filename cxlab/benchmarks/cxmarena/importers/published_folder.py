"""The published folder's files: which part each one is, its rows, and what is rejected of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.errors import BadFile
from cxlab.importers.folders import files_below, read_table
from cxlab.importers.imported import RejectedRow

LARGEST_CELL = 2_000_000  # bytes; the longest real article or transcript has some 30 kB
SUFFIXES = (".parquet", ".csv")
# Part → what its path contains, the first that fits; and the columns it cannot do without.
PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "articles of search": (r"article_search_articles", ("document_id", "document_content")),
    "articles of refinement": (r"kb_refinement_articles", ("document_id", "document_content")),
    "articles of multi_turn": (r"multi_turn_articles", ("document_id", "document_content")),
    "contradictory": (r"contradictory_pairs", ("Pairs",)),
    "similar": (r"similar(?:ity)?_pairs", ("Pairs",)),
    "taxonomy 1": (r"taxonomy_1", ("L1", "Description")),
    "taxonomy 2": (r"taxonomy_2", ("L1", "L2", "Description")),
    "taxonomy 3": (r"taxonomy_3", ("L1", "Description")),
    "tools": (r"tools_description", ("Name", "Definition")),
    "tool_calling": (r"tool_calling", ("conversation_context", "true_tools")),
    "intent": (r"intent_prediction", ("Complete Conversations",)),
    "quality": (r"agent_quality_adherence", ("conversation", "question_answers")),
    "search": (r"article_search", ("query",)),
    "multi_turn": (r"multi_turn", ("conversation_context", "kb_ids")),
}


@dataclass
class PublishedFolder:
    """The parts as they were found, and what is rejected on the way."""

    parts: dict[str, list[tuple[str, pl.DataFrame]]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    rejected: list[RejectedRow] = field(default_factory=list)

    def reject(self, file: str, row: int | None, column: str | None, problem: str) -> None:
        self.rejected.append(RejectedRow(file, row, column, problem))

    def rows(self, part: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """(file, row, cells) of a part; a row with a cell beyond the limit is rejected."""
        for file, frame in self.parts.get(part, ()):
            for number, row in enumerate(frame.iter_rows(named=True), start=1):
                huge = next((c for c, v in row.items() if isinstance(v, str) and len(v) > LARGEST_CELL // 4), None)
                if huge is not None and (size := len(row[huge].encode("utf-8", "replace"))) > LARGEST_CELL:
                    limit = LARGEST_CELL / 1e6
                    self.reject(file, number, huge, f"{size / 1e6:.1f} MB in one cell; the limit is {limit:.0f} MB")
                    continue
                yield file, number, row


def open_folder(root: Path) -> PublishedFolder:
    """The parts of a folder; BadFile for what cannot be read at all or lacks a column."""
    if not root.is_dir():
        raise BadFile(root, None, "is no folder", "give the folder that holds the data set's Parquet or CSV files")
    found = PublishedFolder()
    for path in files_below(root):
        name = path.relative_to(root).as_posix()
        part = _part_of(name) if path.suffix.lower() in SUFFIXES else None
        if part is None:
            found.ignored.append(name)
            continue
        frame = read_table(path)
        lacking = [column for column in PARTS[part][1] if column not in frame.columns]
        if lacking:
            raise BadFile(
                path, None, f"no column {', '.join(map(repr, lacking))}", f"it has: {', '.join(frame.columns)}"
            )
        found.parts.setdefault(part, []).append((name, frame))
    if not found.parts:
        known = "Articles/article_search_articles.parquet, Intent_Prediction/train.parquet, multi_turn.csv"
        raise BadFile(root, None, "no file of the CXMArena data set in it", f"files are known by names such as {known}")
    return found


def _part_of(name: str) -> str | None:
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower())
    return next((part for part, (mark, _) in PARTS.items() if re.search(mark, plain)), None)
