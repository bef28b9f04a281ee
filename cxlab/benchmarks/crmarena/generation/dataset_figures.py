"""A stored organisation beside the paper: objects, fields and references (table 1), records an object (table 8), and
how much of what was written passed its checks."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path

import polars as pl

from cxlab.benchmarks.crmarena.organisation.schema import ObjectInfo
from cxlab.benchmarks.crmarena.organisation.schema_changes import load_of
from cxlab.benchmarks.dataset_figures import OWN, CheckTable, DatasetFigures, FigureTable, count_checks
from cxlab.records import Dataset
from cxlab.store import layout

PAPER, MIRROR = "paper", "mirror"
# Table 1 of the paper.
# The paper's table 1. Its 1.31 is 21 references; its metadata declare 20, which is 1.25.
OBJECTS, REFERENCES_AN_OBJECT = 16, 1.31
_WRITTEN = {
    "users": "Names of users",
    "customers": "Names of customers",
    "cases": "Texts of cases",
    "records": "Texts of added objects",
    "purchases": "Questions about a purchase",
    "questions": "Other words for questions",
}


def list_figures(dataset: Dataset) -> list[DatasetFigures]:
    """The three tables of a dataset of this benchmark; of any other none."""
    if dataset.benchmark != "crmarena":
        return []
    found: list[DatasetFigures] = [compare_sizes(dataset), compare_schema(dataset)]
    return [*found, list_checks(dataset)] if dataset.config.get("writing") else found


def compare_sizes(dataset: Dataset) -> FigureTable:
    """Table 8: records an object beside the paper's and the public copy's."""
    folder = layout.dataset_folder(layout.home(), dataset.id)
    ours = count_records(folder)
    rows = [
        (
            *(name, "count", str(sum(field.listed for field in info.fields.values())), str(_count_references(info))),
            *(_number(ours.get(name)), _number(info.rows), _number(info.mirror_rows)),
        )
        for name, info in load_of(folder).objects.items()
    ]
    texts = dict.fromkeys(("label", "kind", "fields", "references"), pl.String)
    schema = {**texts, **dict.fromkeys((OWN, PAPER, MIRROR), pl.Float64)}
    cases = ours.get("Case", 0)
    return FigureTable(
        id="sizes",
        finding=f"{cases:,} cases, {sum(ours.values()):,} records in all"
        if ours
        else "This dataset has no organisation: its questions can be read, not answered",
        meaning="Records of each object as multiples of the paper's (table 8; it does not tell all). The public copy "
        "of the original has more users, and each chat twice. Fields are those that agents are told of, "
        "references those that the original's metadata declares; a case's links with issue and order item are not.",
        frame=pl.DataFrame(rows, schema=schema, orient="row"),
        columns={OWN: "This dataset", PAPER: "Paper", MIRROR: "Public copy"},
        reference=PAPER,
        texts={"label": "Object", "fields": "Fields", "references": "References"},
    )


def compare_schema(dataset: Dataset) -> FigureTable:
    """Table 1: objects and references an object."""
    folder = layout.dataset_folder(layout.home(), dataset.id)
    objects, ours = load_of(folder).objects, count_records(folder)
    filled = {name: info for name, info in objects.items() if ours.get(name)}
    shown = filled or objects
    references = {name: _count_references(info) for name, info in shown.items()}
    rows = [
        ("Objects", "count", float(len(shown)), float(OBJECTS)),
        ("References an object", "ratio", sum(references.values()) / len(shown), REFERENCES_AN_OBJECT),
    ]
    schema = {"label": pl.String, "kind": pl.String, **dict.fromkeys((OWN, PAPER), pl.Float64)}
    return FigureTable(
        id="schema",
        finding=f"{len(shown)} objects with {sum(references.values())} references, "
        f"{sum(references.values()) / len(shown):.2f} an object; the paper says {REFERENCES_AN_OBJECT}",
        meaning="Table 1. The paper's 1.31 is 21 references of 16 objects; the original's metadata declares 20.",
        frame=pl.DataFrame(rows, schema=schema, orient="row"),
        columns={OWN: "This dataset", PAPER: "Paper"},
        reference=PAPER,
    )


def _count_references(info: ObjectInfo) -> int:
    return sum(1 for field in info.references if field.reference is not None and field.reference.declared)


def list_checks(dataset: Dataset) -> CheckTable:
    """How many batches were in form and held what was given, and how many entries a reader upheld."""
    rows = []
    for name, told in dataset.config["writing"].items():
        counts = Counter({key: int(value) for key, value in told.items()})
        asked = counts["batches"] + counts["discarded"]
        rows.append(
            (
                *(_WRITTEN.get(name, name), "batches", asked, counts["batches"]),
                *(counts["refused"] + counts["left_out"], counts["again"], 0),
            )
        )
    cases = dataset.config["writing"].get("cases", {})
    alike = int(cases.get("similar", 0)) - int(cases.get("told_anew", 0))
    said = f"; {alike:,} cases are told nearly as an earlier one" if "similar" in cases else ""
    if lost := int(cases.get("left_out", 0)):
        said += f"; {lost:,} {'case is' if lost == 1 else 'cases are'} left out"
    return CheckTable(
        id="checks",
        finding=f"How much of what was written passed its checks{said}",
        meaning="A batch that has not the form that was asked for, or does not hold what is given, is discarded and "
        "made again. Left out: cases that the writer did not write, entries that another reader did not uphold, or "
        "questions that keep their plain words. "
        "Relabelled: cases that were written a second time. Intervals: 95 %, Wilson.",
        frame=count_checks(rows),
    )


def _number(value: int | None) -> float | None:
    return None if value is None else float(value)


@lru_cache(maxsize=16)  # a dataset never changes: its id is the hash of its content
def count_records(folder: Path) -> dict[str, int]:
    """Records of each object in a stored dataset's folder; without those it has none of."""
    found = {}
    for name in load_of(folder).objects:
        path = folder / f"{name}.parquet"
        if path.is_file() and (count := int(pl.scan_parquet(path).select(pl.len()).collect().item())):
            found[name] = count
    return found
