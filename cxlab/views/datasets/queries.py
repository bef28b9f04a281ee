"""What is evaluated on: the stored datasets, what they hold, and their statistics beside the published ones."""

import io
import json
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.dataset_figures import DatasetFigures
from cxlab.read.files import to_csv, to_parquet
from cxlab.read.query import ask
from cxlab.records import Dataset
from cxlab.store import layout, write
from cxlab.store.exports.sharing import check_sharing

_SCHEMA: dict[str, Any] = {
    "dataset_id": pl.String,
    "benchmark": pl.String,
    "name": pl.String,
    "source": pl.String,
    "language": pl.String,
    "samples": pl.Int64,
    "tasks": pl.List(pl.String),
    "conversations": pl.Int64,
    "articles": pl.Int64,
    "runs": pl.Int64,
    "seed": pl.Int64,
    "licence": pl.String,
    "created": pl.Datetime("us", "UTC"),
}


def datasets() -> pl.DataFrame:
    """All stored datasets, newest first, with counts; `conversations` and `articles` are null where it has none."""
    runs = dict(ask("SELECT dataset_id, count(*) FROM runs GROUP BY 1").iter_rows())
    rows = []
    for dataset in write.list_datasets():
        counts = count_rows(dataset.id)
        rows.append(
            {
                "dataset_id": dataset.id,
                "benchmark": dataset.benchmark,
                "name": dataset.name,
                "source": dataset.source,
                "language": options(dataset).get("language"),
                "samples": counts["samples"],
                "tasks": list(tasks(dataset.id)),
                "conversations": counts.get("conversations"),
                "articles": counts.get("articles"),
                "runs": runs.get(dataset.id, 0),
                "seed": dataset.seed,
                "licence": dataset.licence,
                "created": dataset.created,
            }
        )
    return pl.DataFrame(rows, schema=_SCHEMA)


def is_of(dataset_id: str) -> pl.Expr:
    """The condition that picks a dataset's row."""
    return pl.col("dataset_id") == dataset_id


def options(dataset: Dataset) -> dict[str, Any]:
    """The settings that a dataset was made with."""
    given = dataset.config.get("options", dataset.config)
    return given if isinstance(given, dict) else {}


def load(dataset_id: str) -> Dataset:
    """The dataset of this id; UnknownName where there is none."""
    return write.load_dataset(dataset_id)


def count_rows(dataset_id: str) -> dict[str, int]:
    """Rows of each of its tables, read from the files' ends alone."""
    found = {}
    for path in sorted(folder(dataset_id).glob("*.parquet")):
        found[path.stem] = int(pl.scan_parquet(path).select(pl.len()).collect().item())
    return found


def tasks(dataset_id: str) -> dict[str, int]:
    """Samples a task, in the order in which tasks come."""
    path = folder(dataset_id) / "samples.parquet"
    counted = pl.scan_parquet(path).group_by("task", maintain_order=True).agg(pl.len()).collect()
    return dict(counted.iter_rows())


def folder(dataset_id: str) -> Path:
    """Where the dataset lies."""
    return layout.dataset_folder(layout.home(), dataset_id)


def export(dataset_id: str, table: str, form: str) -> bytes:
    """A table as a file: "parquet" as stored, "csv" guarded against formulas, "jsonl" one object a line."""
    check_sharing(load(dataset_id), table)
    frame = write.load_table(dataset_id, table)
    if form == "parquet":
        return to_parquet(frame)
    if form == "csv":
        return to_csv(frame)
    sink = io.BytesIO()
    for row in frame.iter_rows(named=True):
        # What is JSON inside the table is JSON in the file, too, not text with quotes in quotes.
        whole = {name: _nested(value) for name, value in row.items()}
        sink.write(json.dumps(whole, ensure_ascii=False, default=str).encode() + b"\n")
    return sink.getvalue()


def _nested(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def rejected(dataset_id: str) -> pl.DataFrame:
    """What an import did not take: file, row, column, problem; empty for a generated dataset."""
    path = folder(dataset_id) / "rejected.parquet"
    if not path.is_file():
        return pl.DataFrame(schema={"file": pl.String, "row": pl.Int64, "column": pl.String, "problem": pl.String})
    return pl.read_parquet(path)


def figures(dataset_id: str) -> list[DatasetFigures]:
    """The dataset's figures beside published ones: of its benchmark; of a dataset that is no benchmark's, of those
    that have a word on it."""
    dataset = load(dataset_id)
    asked = [dataset.benchmark] if dataset.benchmark in REGISTRY else list(REGISTRY)
    hands = [hand for name in asked if (hand := REGISTRY[name].dataset_figures)]
    return [each for hand in hands for each in hand(dataset)]
