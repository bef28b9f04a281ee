"""A corpus beside the published one (table 2): sizes, and the parts of areas and domains."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.corpus.written import AREAS, DOMAINS
from cxlab.benchmarks.cdr.queries.templates import AREA_SHARES
from cxlab.benchmarks.dataset_figures import OWN, FigureTable
from cxlab.records import Dataset
from cxlab.store import write

PAPER = {"conversations": 9_146.0, "queries": 1_583.0, "messages": 5.4, "relevant": 20.44, "pairs": 32_357.0}
LABELS = {
    "conversations": "Conversations",
    "queries": "Queries",
    "messages": "Messages a conversation",
    "relevant": "Relevant conversations a query",
    "pairs": "Pairs of a query and a conversation",
}
# Of figure 3 the text names these two alone.
DOMAIN_SHARES = {"people_society": 17.0, "business_industrial": 15.79}


def measure(dataset: Dataset) -> dict[str, float | None]:
    """The figures of a stored dataset by the ids above; area:ID and domain:ID in per cent of those that have one."""
    corpus = load_corpus(dataset.id)
    samples = write.load_samples(dataset.id)
    one = [sample for sample in samples if sample.task == "session"]
    pairs = sum(len(sample.expected["conversations"]) for sample in one)
    messages = sum(len(talk.messages) for talk in corpus.values())
    found: dict[str, float | None] = {
        "conversations": len(corpus),
        "queries": len(one) or None,
        "messages": messages / len(corpus),
        "relevant": pairs / len(one) if one else None,
        "pairs": pairs or None,
    }
    areas = Counter(area for sample in one if (area := sample.facets.get("area")))
    domains = Counter(str(talk.labels["domain"]) for talk in corpus.values() if talk.labels.get("domain"))
    for kind, counts, known in (("area", areas, AREAS), ("domain", domains, DOMAINS)):
        total = sum(counts.values())
        found |= {f"{kind}:{id}": 100 * counts[id] / total if total else None for id in known}
    return found


def list_figures(dataset: Dataset) -> list[FigureTable]:
    """Table 2 of the paper beside a dataset of this benchmark; nothing of others."""
    if dataset.benchmark != "cdr":
        return []
    ours = measure(dataset)
    paper = {**PAPER, **{f"area:{id}": share for id, share in AREA_SHARES.items()}}
    paper |= {f"domain:{id}": share for id, share in DOMAIN_SHARES.items()}
    rows: list[tuple[Any, ...]] = []
    for id, value in ours.items():
        kind, _, name = id.rpartition(":")
        label = LABELS.get(id) or f"{(AREAS if kind == 'area' else DOMAINS)[name]}, %"
        counted = "ratio" if id in ("messages", "relevant") else "count"
        rows.append((label, counted, value, paper.get(id)))
    schema = {"label": pl.String, "kind": pl.String, OWN: pl.Float64, "paper": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return [
        FigureTable(
            id="sizes",
            finding=f"{len(load_corpus(dataset.id)):,} conversations, {int(ours['queries'] or 0):,} queries",
            meaning="Each figure as a multiple of the published corpus (table 2; of its domains the text names two). "
            "Areas are those of the queries, domains those of the conversations, where they are known.",
            frame=frame,
            columns={OWN: "This dataset", "paper": "CDR"},
            reference="paper",
        )
    ]


def describe(dataset: Dataset) -> list[str]:
    """The same in lines for a terminal."""
    if not (tables := list_figures(dataset)):
        return []
    head = f"{'':42} {'this one':>10} {'paper':>10}"
    return [
        head,
        *(
            f"{row['label']:42} {_write(row[OWN]):>10} {_write(row['paper']):>10}"
            for row in tables[0].frame.iter_rows(named=True)
        ),
    ]


def _write(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
