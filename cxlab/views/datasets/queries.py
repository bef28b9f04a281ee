"""What is evaluated on: the stored datasets, what they hold, and their statistics beside the published ones."""

import io
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.metrics.intervals import proportion_interval
from cxlab.read.files import to_csv, to_parquet
from cxlab.read.published import published
from cxlab.read.query import ask
from cxlab.records import Dataset
from cxlab.store import layout, write

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


def language_statistics(dataset_id: str) -> pl.DataFrame:
    """Table 9: key, statistic, kind, ours (null where not measured), synthetic and real as published."""
    given = load(dataset_id).config.get("statistics") or {}
    flat = _flatten(given)
    table = next(each for each in published("cxmarena") if each.id == "table9")
    key = pl.Series("key", table.keys, dtype=pl.String)
    ours = key.replace_strict(flat, default=None, return_dtype=pl.Float64)
    return table.frame.with_columns(key=key, ours=ours).select("key", "statistic", "kind", "ours", "synthetic", "real")


def _flatten(given: dict[str, Any]) -> dict[str, float]:
    flat: dict[str, float] = {}
    for key, value in given.items():
        if isinstance(value, dict):
            # Of two groups that both have a figure, that of conversations comes first, as in the paper.
            flat = {**_flatten(value), **flat} if key != "conversations" else {**flat, **_flatten(value)}
        elif isinstance(value, int | float):
            flat[key] = float(value)
    return flat


def size_statistics(dataset_id: str) -> pl.DataFrame:
    """Table 8: part, figure, ours (null where the dataset lacks the part), published."""
    table = next(each for each in published("cxmarena") if each.id == "table8")
    names = list(zip(table.frame["part"], table.frame["figure"], strict=True))
    noted = load(dataset_id).config.get("counts")
    # The generator counts while it has all in hand; of an imported dataset it is done here.
    ours = {name: noted.get(": ".join(name)) for name in names} if noted else _sizes(str(folder(dataset_id)))
    found = pl.Series("ours", [ours.get(name) for name in names], dtype=pl.Float64)
    return table.frame.select("part", "figure", found, published=pl.col("value"))


@lru_cache(maxsize=16)  # a dataset never changes: its id is the hash of its content
def _sizes(place: str) -> dict[tuple[str, str], float]:
    path = Path(place)
    found: dict[tuple[str, str], float] = {}
    rows = {table: _length(path / f"{table}.parquet") for table in ("conversations", "articles", "tools")}
    if rows["conversations"] is not None:
        found["Conversations", "Conversations"] = rows["conversations"]
    corpora: dict[str, int] = {}
    if rows["articles"] is not None:
        articles = pl.scan_parquet(path / "articles.parquet").select("kind", "corpus").collect()
        # The articles of the refinement corpus are others than those of the knowledge base.
        searched, issue = pl.col("corpus").list.contains("search"), pl.col("kind") == "issue"
        issues = issue & pl.col("corpus").list.contains("multi_turn")
        found["Knowledge base", "Information articles"] = articles.filter(searched & ~issue).height
        found["Knowledge base", "Issue articles"] = articles.filter(issues).height
        corpora = dict(articles["corpus"].explode().drop_nulls().value_counts().iter_rows())
    found |= _sample_sizes(path / "samples.parquet", corpora, rows["tools"])
    if (path / "taxonomies.parquet").is_file():
        taxonomies = pl.scan_parquet(path / "taxonomies.parquet").select("taxonomy", "l2").collect()
        for name, n, deep in taxonomies.group_by("taxonomy").agg(pl.len(), pl.col("l2").count()).iter_rows():
            found["Intent", f"Intents of taxonomy {name}"] = n
            found["Intent", f"Levels of taxonomy {name}"] = 2 if deep else 1
    return found


def _sample_sizes(path: Path, corpora: dict[str, int], tools: int | None) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    counts = ask(
        """SELECT task, count(*) AS n,
            count(DISTINCT coalesce(json_extract_string(inputs, '$.conversation_id'), sample_id)) AS cases,
            count(DISTINCT list_filter(facets, lambda f: f.key = 'level')[1].value) AS levels,
            avg(json_array_length(inputs, '$.questions')) AS questions,
            sum(json_array_length(expected, '$.similar')) AS similar,
            sum(json_array_length(expected, '$.contradictory')) AS contradictory
        FROM read_parquet($path) GROUP BY task""",
        {"path": str(path)},
    )
    for row in counts.iter_rows(named=True):
        task, n = row["task"], row["n"]
        if task == "kb_refinement":
            part = "Knowledge-base refinement"
            found[part, "Articles"] = corpora.get("refinement", 0)
            found[part, "Similar pairs"] = row["similar"]
            found[part, "Contradictory pairs"] = row["contradictory"]
        elif task == "intent":
            found["Intent", "Labelled conversations"] = n / max(row["levels"], 1)
        elif task == "quality":
            found["Quality", "Labelled conversations"] = row["cases"]
            # A case may be spread over several samples: its questions are those of all of them.
            found["Quality", "Questions a conversation, mean"] = row["questions"] * n / row["cases"]
        elif task == "article_search":
            found["Article search", "Articles"] = corpora.get("search", 0)
            found["Article search", "Queries"] = n
        elif task == "multi_turn":
            found["Multi-turn", "Conversations"] = row["cases"]
            found["Multi-turn", "Articles"] = corpora.get("multi_turn", 0)
    if tools is not None:
        found["Multi-turn", "Tools"] = tools
    return found


def _length(path: Path) -> int | None:
    return int(pl.scan_parquet(path).select(pl.len()).collect().item()) if path.is_file() else None


# What a check's rate is a share of, where it is not samples: the figures that hold how many were looked at and upheld.
_BASES = {"multi_turn": ("passages", "relevant"), "quality": ("questions", "confirmed")}


def validation(dataset_id: str) -> pl.DataFrame:
    """The checks that the dataset was put through: procedure, what was counted, n, passed, rate, low, high (95 %,
    Wilson), and how many samples were left_out, relabelled, or could not be decided (unread).
    """
    given = load(dataset_id).config.get("validation") or {}
    rows = []
    for procedure, told in given.items():
        counted, upheld = _BASES.get(procedure, ("n", "passed"))
        if counted not in told:
            counted, upheld = "n", "passed"
        n, passed = int(told.get(counted) or 0), int(told.get(upheld) or 0)
        shares: tuple[float | None, ...] = tuple(proportion_interval(passed, n)[:3]) if n else (None, None, None)
        what = "samples" if counted == "n" else counted
        rest = (told.get(name, 0) for name in ("left_out", "relabelled", "unread"))
        rows.append((procedure, what, n, passed, *shares, *rest))
    counts = dict.fromkeys(("left_out", "relabelled", "unread"), pl.Int64)
    shares_schema = dict.fromkeys(("rate", "low", "high"), pl.Float64)
    schema = {"procedure": pl.String, "what": pl.String, "n": pl.Int64, "passed": pl.Int64, **shares_schema, **counts}
    return pl.DataFrame(rows, schema=schema, orient="row")
