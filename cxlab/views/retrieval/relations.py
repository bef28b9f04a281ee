"""Where the things that are ranked stand to each other: what was ranked first beside what would have been right."""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cxlab.errors import UnknownName
from cxlab.records.benchmark_card import Search
from cxlab.store import write

WHERE = {
    "late": "right one further down",
    "beyond": "right one only beyond the cut-off",
    "missing": "right one not found",
    "empty": "no query, or nothing found",
}
"""How far a query went wrong; "right" when a right article stands first."""
FIRST = {
    "sibling": "a sibling",
    "kin": "its parent or child",
    "area": "another of the same area",
    "elsewhere": "one of another area",
    "unknown": "another {one}",
    "nothing": "nothing",
}
"""What stands first instead: siblings share a parent in the topic tree, areas are its roots.
`{one}`: what is ranked."""
SHORT = 3
"""A query of at most so many words counts as short."""


_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "document_id": pl.String,
    "title": pl.String,
    "topic": pl.List(pl.String),
    "relations": pl.String,
}


@lru_cache(maxsize=4)
def _load(dataset_id: str, home: Path, stamp: int, search: Search) -> pl.DataFrame:
    frame = write.load_table(dataset_id, search.table, home)
    names = {"document_id": search.id, "title": search.title, "topic": "topic", "relations": "relations"}
    if search.id not in frame.columns:
        return pl.DataFrame(schema=_SCHEMA)
    # What the table lacks is not known: not every collection has titles or topics.
    given = [
        (pl.col(theirs) if theirs in frame.columns else pl.lit(None)).cast(_SCHEMA[ours]).alias(ours)
        for ours, theirs in names.items()
    ]
    # An id may name one document in each corpus; relations by construction are the same in all.
    return frame.select(given).unique("document_id", keep="first", maintain_order=True)


def load(dataset_id: str, home: Path, search: Search) -> pl.DataFrame:
    """What is ranked: document_id, title, topic, relations, null where the table lacks them; empty without a table."""
    path = home / "datasets" / dataset_id / f"{search.table}.parquet"
    try:
        return _load(dataset_id, home, path.stat().st_mtime_ns, search)
    except (FileNotFoundError, UnknownName):
        return pl.DataFrame(schema=_SCHEMA)


def place(rows: pl.DataFrame, documents: pl.DataFrame) -> pl.DataFrame:
    """The rows (gold, top, rank, ...) with `area` (root of the first right document's topic, "" without one), `branch`
    (its path) and `first`: what stands first beside it ("right", or a key of FIRST)."""
    paths = {row[0]: tuple(row[1] or ()) for row in documents.select("document_id", "topic").iter_rows()}
    kin: dict[str, dict[str, list[str]]] = {}

    def relations(name: str) -> dict[str, list[str]]:
        if name not in kin:
            text = texts.get(name)
            kin[name] = json.loads(text) if text else {}
        return kin[name]

    texts = dict(documents.select("document_id", "relations").iter_rows())

    def compare(top: str | None, gold: list[str]) -> str:
        if top is None:
            return "nothing"
        if top in gold:
            return "right"
        own = paths.get(top, ())
        best = "unknown"
        for right in gold:
            path, known = paths.get(right, ()), relations(right)
            if top in known.get("siblings", ()) or (len(path) > 1 and len(own) == len(path) and own[:-1] == path[:-1]):
                return "sibling"
            if any(top in known.get(name, ()) for name in ("parent", "children", "issue_of")):
                best = "kin"
            elif own and path and best != "kin":
                best = "area" if own[0] == path[0] or best == "area" else "elsewhere"
        return best

    gold, tops = rows["gold"].to_list(), rows["top"].to_list()
    seen: dict[tuple[str | None, tuple[str, ...]], str] = {}
    first = []
    for top, ids in zip(tops, gold, strict=True):
        key = (top, tuple(ids))
        if key not in seen:
            seen[key] = compare(top, ids)
        first.append(seen[key])
    branches = [paths.get(ids[0], ()) if ids else () for ids in gold]
    return rows.with_columns(
        pl.Series("area", [path[0] if path else "" for path in branches], dtype=pl.String),
        pl.Series("branch", [" › ".join(path) for path in branches], dtype=pl.String),
        pl.Series("first", first, dtype=pl.String),
    )


def expect_by_chance(gold: NDArray[np.int64], size: int) -> dict[str, float]:
    """What a random order of `size` documents gives on average, 0 to 100; `gold`: how many are right for each query.

    hit@k = 1 - C(N-g, k) / C(N, k), recall@k = k / N, precision@k = g / N, mean of 1 / rank and of the discounted
    gain by the chances of each rank.
    """
    ranks = np.arange(1, min(size, 10) + 1)
    values: dict[str, list[float]] = {}
    sizes, counts = np.unique(np.minimum(gold, size), return_counts=True)
    for g in sizes.tolist():
        # Chance that none of the first k is right, for k = 0, 1, ...
        none = np.cumprod(np.concatenate(([1.0], [max(0, size - g - k) / (size - k) for k in range(len(ranks))])))
        discounts = 1 / np.log2(ranks + 1)
        ideal = discounts[: min(len(ranks), g)].sum()
        found = {f"hit@{k}": 1 - none[min(k, len(ranks))] for k in (1, 5, 10)}
        found |= {f"recall@{k}": min(k, size) / size for k in (10, 20)}
        found["precision@10"] = g / size * min(10, size) / 10
        found["mrr@10"] = float(((none[:-1] - none[1:]) / ranks).sum())
        found["ndcg@10"] = float(g / size * discounts.sum() / ideal)
        for name, value in found.items():
            values.setdefault(name, []).append(100 * float(value))
    return {name: float(np.average(each, weights=counts)) for name, each in values.items()}
