"""A corpus beside the published one: sizes and areas (table 2), and the shares of domains (figure 3)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl

from cxlab.benchmarks.cdr.corpus.dataset import load_corpus
from cxlab.benchmarks.cdr.corpus.domains import TASK, count_domains
from cxlab.benchmarks.cdr.corpus.written import AREAS, DOMAINS
from cxlab.benchmarks.cdr.queries.templates import AREA_SHARES
from cxlab.benchmarks.cdr.units import UnitText
from cxlab.benchmarks.dataset_figures import OWN, FigureTable, ShareTable, count_shares
from cxlab.metrics.text_statistics import tokens
from cxlab.records import Dataset
from cxlab.store import write

PAPER = {
    "conversations": 9_146.0, "queries": 1_583.0, "messages": 5.4, "tokens": 464.0, "relevant": 20.44,
    "pairs": 32_357.0,
}  # fmt: skip
LABELS = {
    "conversations": "Conversations",
    "queries": "Queries",
    "messages": "Messages a conversation",
    # GPT-4o's table of tokens has to be fetched from the network. On the hundred written by hand the estimate is 4 %
    # above its count (of one conversation from 2 % below to 10 % above, 90 % of them).
    "tokens": "Tokens a conversation, estimated",
    "relevant": "Relevant conversations a query",
    "pairs": "Pairs of a query and a conversation",
}
_TEXT = UnitText()
# Of figure 3 the text names these two alone.
DOMAIN_SHARES = {"people_society": 17.0, "business_industrial": 15.79}


def measure(dataset: Dataset) -> dict[str, float | None]:
    """The figures of a stored dataset by the ids above; area:ID in per cent of the queries that have one."""
    corpus = load_corpus(dataset.id)
    samples = write.load_samples(dataset.id)
    one = [sample for sample in samples if sample.task == "session"]
    pairs = sum(len(sample.expected["conversations"]) for sample in one)
    messages = sum(len(talk.messages) for talk in corpus.values())
    found: dict[str, float | None] = {
        "conversations": len(corpus),
        "queries": len(one) or None,
        "messages": messages / len(corpus),
        "tokens": sum(tokens(_TEXT.write(talk.messages)) for talk in corpus.values()) / len(corpus),
        "relevant": pairs / len(one) if one else None,
        "pairs": pairs or None,
    }
    areas = Counter(area for sample in one if (area := sample.facets.get("area")))
    total = areas.total()
    return found | {f"area:{id}": 100 * areas[id] / total if total else None for id in AREAS}


def list_figures(dataset: Dataset) -> list[FigureTable | ShareTable]:
    """Table 2 and figure 3 of the paper beside a dataset of this benchmark; nothing of others, nor of samples about
    conversations that lie elsewhere."""
    if dataset.benchmark != "cdr" or dataset.config.get("sent_to"):
        return []
    ours = measure(dataset)
    paper = {**PAPER, **{f"area:{id}": share for id, share in AREA_SHARES.items()}}
    rows: list[tuple[Any, ...]] = []
    for id, value in ours.items():
        _, _, area = id.rpartition(":")
        label = LABELS.get(id) or f"{AREAS[area]}, %"
        counted = "ratio" if id in ("messages", "relevant") else "count"
        rows.append((label, counted, value, paper.get(id)))
    schema = {"label": pl.String, "kind": pl.String, OWN: pl.Float64, "paper": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return [
        FigureTable(
            id="sizes",
            finding=f"{len(load_corpus(dataset.id)):,} conversations, {int(ours['queries'] or 0):,} queries",
            meaning="Each figure as a multiple of the published corpus (table 2). Areas are those of the queries.",
            frame=frame,
            columns={OWN: "This dataset", "paper": "CDR"},
            reference="paper",
        ),
        _list_domains(dataset),
    ]


def _list_domains(dataset: Dataset) -> ShareTable:
    """The shares of the domains, the largest first."""
    read = count_domains(dataset.id, load_corpus(dataset.id))
    by_size = sorted(DOMAINS, key=lambda id: (-read.counts.get(id, 0), id)) if read else []
    counts = {DOMAINS[id]: read.counts.get(id, 0) for id in by_size} if read else {}
    finding = f"Most often: {next(iter(counts))}" if any(counts.values()) else "Domains are not known"
    who = "by the conversations' labels" if read and read.by == "labels" else f"as {read.by} reads them" if read else ""
    rest = f" {read.others:,} are of none of the twelve." if read and read.others else ""
    rest += f" Of {read.unread:,} it is not known." if read and read.unread else ""
    return ShareTable(
        id="domains",
        finding=finding,
        meaning=f"Share of the conversations of a known domain {who}, with 95 % intervals (Wilson). Of the paper's "
        f"figure 3, which a classifier of 26 domains made, the text prints two shares.{rest}",
        frame=count_shares(counts),
        published=tuple((DOMAINS[id], share / 100) for id, share in DOMAIN_SHARES.items()),
        lacking=f"These conversations carry no labels of domains. A model can read them: "
        f"python -m cxlab send {dataset.id} {TASK}",
    )


def describe(dataset: Dataset) -> list[str]:
    """The same in lines for a terminal."""
    if not (tables := list_figures(dataset)):
        return []
    sizes, domains = tables
    lines = [f"{'':42} {'this one':>10} {'paper':>10}"]
    lines += [
        f"{row['label']:42} {_write(row[OWN]):>10} {_write(row['paper']):>10}"
        for row in sizes.frame.iter_rows(named=True)
    ]
    if domains.frame.is_empty():
        return [*lines, domains.lacking]
    paper = {DOMAINS[id]: share for id, share in DOMAIN_SHARES.items()}
    return lines + [
        f"{row['label'] + ', %':42} {_write(100 * row['share']):>10} {_write(paper.get(row['label'])):>10}"
        for row in domains.frame.iter_rows(named=True)
    ]


def _write(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
