"""A stored dataset beside the paper: statistics of language (table 9), the checks (appendix C), sizes (table 8)."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.cxmarena.generation.dataset_statistics import read_published, tell_lost
from cxlab.benchmarks.dataset_figures import OWN, CheckTable, DatasetFigures, FigureTable, count_checks
from cxlab.records import Dataset
from cxlab.store import layout

# What each check asks, by its name in dataset.json.
CHECKS = {
    "intent": "Intent supported by the conversation",
    "article_search": "Query answerable from its article alone",
    "multi_turn": "Article relevant to what was said last",
    "quality": "Quality answer upheld",
}
# What a check's rate is a share of, where it is not samples: the figures that hold how many were looked at and upheld.
_BASES = {"multi_turn": ("passages", "relevant"), "quality": ("questions", "confirmed")}
_REAL, _SYNTHETIC = "Real world", "CXMArena"


def list_figures(dataset: Dataset) -> list[DatasetFigures]:
    """Of a dataset of this benchmark all three; of other conversations with statistics those of their language."""
    if dataset.benchmark == "cxmarena":
        return [compare_language(dataset), list_checks(dataset), compare_sizes(dataset)]
    return [compare_language(dataset)] if dataset.config.get("statistics") else []


def compare_language(dataset: Dataset) -> FigureTable:
    """Table 9: what was measured of this dataset beside the published one and real contact centres."""
    flat = _flatten(dataset.config.get("statistics") or {})
    table = read_published("table9")
    rows = [(*row, flat.get(key)) for key, row in zip(table["keys"], table["rows"], strict=True)]
    texts = {"statistic": pl.String, "kind": pl.String}
    schema = {**texts, "synthetic": pl.Float64, "real": pl.Float64, OWN: pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(label=pl.col("statistic"))
    known = frame.drop_nulls(OWN)
    near = known.filter((pl.col(OWN) / pl.col("real") - 1).abs() <= 0.2).height
    return FigureTable(
        id="statistics",
        finding=f"{near} of {known.height} statistics lie within 20 % of real contact centres"
        if known.height
        else "Published statistics of language and length",
        meaning="Each figure as a multiple of what real contact centres have (table 9). Moving-average type-token "
        "ratio: mean share of different words in 100 in a row. Tokens are estimated from words and signs; the paper "
        "counts cl100k_base. Type-token ratio and vocabulary depend on the size: a small dataset has fewer words.",
        frame=frame,
        columns={OWN: "This dataset", "synthetic": _SYNTHETIC, "real": _REAL},
        reference="real",
        texts={"statistic": "Statistic"},
        lacking="This dataset was stored without statistics of its own.",
    )


def _flatten(given: dict[str, Any]) -> dict[str, float]:
    flat: dict[str, float] = {}
    for key, value in given.items():
        if isinstance(value, dict):
            # Of two groups that both have a figure, that of conversations comes first, as in the paper.
            flat = {**_flatten(value), **flat} if key != "conversations" else {**flat, **_flatten(value)}
        elif isinstance(value, int | float):
            flat[key] = float(value)
    return flat


def list_checks(dataset: Dataset) -> CheckTable:
    """What share of what was derived a model's check upheld."""
    rows = []
    for name, told in (dataset.config.get("validation") or {}).items():
        counted, upheld = _BASES.get(name, ("n", "passed"))
        if counted not in told:
            counted, upheld = "n", "passed"
        left_out, relabelled, unread = (int(told.get(each, 0)) for each in ("left_out", "relabelled", "unread"))
        n, passed = int(told.get(counted) or 0), int(told.get(upheld) or 0)
        what = "samples" if counted == "n" else counted
        rows.append((_name(name), what, n, passed, left_out, relabelled, unread))
    return CheckTable(
        id="checks",
        finding="How much of it passed the checks",
        meaning="A model looks at what was derived; what fails is left out or relabelled. Intervals: 95 %, Wilson, as "
        "if each were by itself, though questions and passages of one conversation are alike. The paper's rates "
        f"(appendix C) come without numbers of cases. {tell_lost(dataset.config)}".rstrip(),
        frame=count_checks(rows),
        published=tuple((_name(name), float(share)) for name, share in read_published("appendixC")["rows"]),
    )


def _name(check: str) -> str:
    return CHECKS.get(check) or check.replace("_", " ").capitalize()


def compare_sizes(dataset: Dataset) -> FigureTable:
    """Table 8: what the dataset holds beside the published one."""
    rows = read_published("table8")["rows"]
    noted = dataset.config.get("counts")
    # The generator counts while it has all in hand; of an imported dataset it is done here.
    ours = noted or count_stored(layout.dataset_folder(layout.home(), dataset.id))
    table = [(part, figure, ours.get(f"{part}: {figure}"), n) for part, figure, n in rows]
    schema = {"part": pl.String, "figure": pl.String, OWN: pl.Float64, "published": pl.Float64}
    frame = pl.DataFrame(table, schema=schema, orient="row").with_columns(
        label=pl.format("{}: {}{}", "part", pl.col("figure").str.slice(0, 1).str.to_lowercase(),
                        pl.col("figure").str.slice(1)),
        kind=pl.lit("count"),
    )  # fmt: skip
    whole = frame.row(0, named=True)
    share = f": {100 * whole[OWN] / whole['published']:.1f} % of the published conversations" if whole[OWN] else ""
    return FigureTable(
        id="sizes",
        finding=f"How large it is beside the published one{share}",
        meaning="Table 8, counted in the stored tables; what the dataset lacks has no mark.",
        frame=frame,
        columns={OWN: "This dataset", "published": _SYNTHETIC},
        reference="published",
        texts={"part": "Part", "figure": "Figure"},
    )


@lru_cache(maxsize=16)  # a dataset never changes: its id is the hash of its content
def count_stored(folder: Path) -> dict[str, float]:
    """The rows of table 8, "part: figure" → count, from the tables of a stored dataset; without what it lacks."""
    found: dict[str, float] = {}
    rows = {table: _length(folder / f"{table}.parquet") for table in ("conversations", "articles", "tools")}
    if rows["conversations"] is not None:
        found["Conversations: Conversations"] = rows["conversations"]
    corpora: dict[str, int] = {}
    if rows["articles"] is not None:
        articles = pl.scan_parquet(folder / "articles.parquet").select("kind", "corpus").collect()
        # The articles of the refinement corpus are others than those of the knowledge base.
        searched, issue = pl.col("corpus").list.contains("search"), pl.col("kind") == "issue"
        issues = issue & pl.col("corpus").list.contains("multi_turn")
        found["Knowledge base: Information articles"] = articles.filter(searched & ~issue).height
        found["Knowledge base: Issue articles"] = articles.filter(issues).height
        corpora = dict(articles["corpus"].explode().drop_nulls().value_counts().iter_rows())
    found |= _count_samples(folder / "samples.parquet", corpora)
    if rows["tools"] is not None:
        found["Multi-turn: Tools"] = rows["tools"]
    if (folder / "taxonomies.parquet").is_file():
        taxonomies = pl.scan_parquet(folder / "taxonomies.parquet").select("taxonomy", "l2").collect()
        for name, n, deep in taxonomies.group_by("taxonomy").agg(pl.len(), pl.col("l2").count()).iter_rows():
            found[f"Intent: Intents of taxonomy {name}"] = n
            found[f"Intent: Levels of taxonomy {name}"] = 2 if deep else 1
    return found


def _count_samples(path: Path, corpora: dict[str, int]) -> dict[str, float]:
    case = pl.coalesce(pl.col("inputs").str.json_path_match("$.conversation_id"), "sample_id")
    rows = pl.scan_parquet(path).select("task", "sample_id", "inputs", "expected", "facets", case=case).collect()
    found: dict[str, float] = {}
    for (task,), part in rows.group_by("task"):
        n, cases = part.height, part["case"].n_unique()
        if task == "kb_refinement":
            name = "Knowledge-base refinement"
            gold = [json.loads(each) for each in part["expected"]]
            found[f"{name}: Articles"] = corpora.get("refinement", 0)
            found[f"{name}: Similar pairs"] = sum(len(each.get("similar") or ()) for each in gold)
            found[f"{name}: Contradictory pairs"] = sum(len(each.get("contradictory") or ()) for each in gold)
        elif task == "intent":
            # A conversation is labelled once in each taxonomy.
            keys = part.select(pl.col("facets").explode().struct.unnest())
            found["Intent: Labelled conversations"] = n / max(keys.filter(key="level")["value"].n_unique(), 1)
        elif task == "quality":
            # A case may be spread over several samples: its questions are those of all of them.
            asked = sum(len(json.loads(each).get("questions") or ()) for each in part["inputs"])
            found["Quality: Labelled conversations"] = cases
            found["Quality: Questions a conversation, mean"] = asked / cases
        elif task == "article_search":
            found["Article search: Articles"] = corpora.get("search", 0)
            found["Article search: Queries"] = n
        elif task == "multi_turn":
            found["Multi-turn: Conversations"] = cases
            found["Multi-turn: Articles"] = corpora.get("multi_turn", 0)
    return found


def _length(path: Path) -> int | None:
    return int(pl.scan_parquet(path).select(pl.len()).collect().item()) if path.is_file() else None
