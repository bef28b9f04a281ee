"""Pairs of a query and a conversation that a person should look at, and a dataset with what people decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from cxlab.benchmarks.cdr.corpus.dataset import build, load_corpus
from cxlab.benchmarks.cdr.relevance.labelling import SURE, TRAIL, LabelDecision
from cxlab.errors import BadOption, UnknownName
from cxlab.records import Dataset, Sample
from cxlab.store import write

QUERIES = "queries"
"""The table with all queries that were asked for, also those that were dropped: query_id, text, area."""
PERSON = "person"
"""The step of the trail that a person's decision is."""
NEAR = 0.05
"""How far a chance may be from the classifier's threshold to be looked at."""
KINDS = {
    "undecided": "Nobody could tell",
    "panel": "The panel disagreed",
    "threshold": f"The classifier is near its threshold of {SURE:g}",
}
_TASK = "session"


class QueuedPair(NamedTuple):
    """`kind` of KINDS; `told`: what was said of the pair; `relevant`: what the dataset says now."""

    query_id: str
    query: str
    conversation_id: str
    kind: str
    told: str
    relevant: bool

    @property
    def pair(self) -> tuple[str, str]:
        """The query's and the conversation's id."""
        return self.query_id, self.conversation_id


class PersonDecision(NamedTuple):
    """What a person decided of a pair."""

    query_id: str
    conversation_id: str
    author: str
    fits: bool


def has_trail(dataset_id: str, home: Path | None = None) -> bool:
    """Whether it is known of a dataset how its relevance was found out."""
    return _load(dataset_id, TRAIL, home) is not None


def list_queue(dataset_id: str, home: Path | None = None) -> list[QueuedPair]:
    """All pairs that nobody could decide, that the panel did not agree on, or whose chance is near the threshold.

    What a person has decided already is not among them. UnknownName for a dataset without a trail.
    """
    trail = _load(dataset_id, TRAIL, home)
    if trail is None:
        raise UnknownName(f"table of dataset {dataset_id!r}", TRAIL, ())
    texts, relevant = _read_queries(dataset_id, home), _read_relevant(write.load_samples(dataset_id, home))
    by: dict[tuple[str, str], list[LabelDecision]] = {}
    for row in trail.iter_rows():
        decision = LabelDecision(*row)
        by.setdefault((decision.query_id, decision.conversation_id), []).append(decision)
    found = []
    for (query, name), decisions in by.items():
        kind = _find_kind(decisions)
        if kind and query in texts:
            told = "; ".join(_say(each) for each in decisions)
            found.append(QueuedPair(query, texts[query][0], name, kind, told, name in relevant.get(query, ())))
    order = list(KINDS)
    return sorted(found, key=lambda each: (order.index(each.kind), each.query_id, each.conversation_id))


def revise(dataset_id: str, decisions: Sequence[PersonDecision], home: Path | None = None) -> Dataset:
    """Store the dataset once more with these decisions: in its relevance, and at the end of its trail.

    Of several people's word on a pair the majority counts, a tie leaves it as it is. A query that nothing is relevant
    to any more is dropped, one that was dropped comes back with its first conversation. BadOption without a decision.
    """
    if not decisions:
        raise BadOption("there is no decision to take over yet")
    origin = write.load_dataset(dataset_id, home)
    samples = write.load_samples(dataset_id, home)
    corpus, texts, relevant = load_corpus(dataset_id, home), _read_queries(dataset_id, home), _read_relevant(samples)
    trail = _load(dataset_id, TRAIL, home)
    if trail is None:
        raise UnknownName(f"table of dataset {dataset_id!r}", TRAIL, ())
    votes: dict[tuple[str, str], int] = {}
    for each in decisions:
        if each.query_id not in texts or each.conversation_id not in corpus:
            raise BadOption(f"{each.query_id} and {each.conversation_id} are no pair of this dataset")
        pair = each.query_id, each.conversation_id
        votes[pair] = votes.get(pair, 0) + (1 if each.fits else -1)
    for (query, name), balance in votes.items():
        if balance:
            held = relevant.setdefault(query, set())
            (held.add if balance > 0 else held.discard)(name)
    kept = {query: text for query, (text, _) in texts.items() if relevant.get(query)}
    rows = [LabelDecision(each.query_id, each.conversation_id, PERSON, each.author, each.fits) for each in decisions]
    dropped: Mapping[str, str] = origin.config.get("dropped") or {}
    gone = {query: dropped.get(query, "people found no conversation that fits") for query in texts if query not in kept}
    dataset, made, tables = build(
        origin.name,
        origin.source,
        corpus,
        kept,
        relevant,
        {query: area for query, (_, area) in texts.items() if query in kept and area},
        config={
            **origin.config,
            "dropped": gone,
            "decided_by_people": int(origin.config.get("decided_by_people") or 0) + len(votes),
        },
        licence=origin.licence,
        seed=origin.seed,
        derived_from=dataset_id,
        derivation="decisions",
        redistributable=origin.redistributable,
    )
    tables[TRAIL] = pl.concat([trail, pl.DataFrame(rows, schema=trail.schema, orient="row")])
    tables[QUERIES] = build_queries({q: t for q, (t, _) in texts.items()}, {q: a for q, (_, a) in texts.items()})
    write.save_dataset(dataset, made, home, tables=tables)
    return dataset


def build_queries(queries: Mapping[str, str], areas: Mapping[str, str]) -> pl.DataFrame:
    """The table of all queries."""
    schema = dict.fromkeys(("query_id", "text", "area"), pl.String)
    return pl.DataFrame([(id, text, areas.get(id, "")) for id, text in queries.items()], schema=schema, orient="row")


def _find_kind(decisions: Iterable[LabelDecision]) -> str:
    """Why a person should look; "" where none has to."""
    last = {each.step: each for each in decisions}
    if PERSON in last:
        return ""
    panel, chance = last.get("panel"), last.get("classifier")
    if panel is not None:
        return "panel" if panel.score not in (0.0, 1.0) or panel.fits is None else _near(chance)
    read = [each for each in decisions if each.step in ("candidates", "sampled", "uncertain")]
    return "undecided" if read and read[-1].fits is None else _near(chance)


def _near(chance: LabelDecision | None) -> str:
    return "threshold" if chance is not None and abs((chance.score or 0.0) - SURE) <= NEAR else ""


def _say(decision: LabelDecision) -> str:
    word = {True: "fits", False: "does not fit", None: "cannot tell"}[decision.fits]
    score = "" if decision.score is None else f" ({decision.score:.2f})"
    if decision.step == "reranker":  # it decides nothing
        return f"reranker by {decision.by}: {decision.reason}{score}"
    reason = f", {decision.reason}" if decision.reason else ""
    return f"{decision.step} by {decision.by}: {word}{score}{reason}"


def _read_queries(dataset_id: str, home: Path | None) -> dict[str, tuple[str, str]]:
    """Query → (text, area): of the table, else of the samples, which lack those that were dropped."""
    frame = _load(dataset_id, QUERIES, home)
    if frame is not None:
        return {id: (text, area) for id, text, area in frame.iter_rows()}
    return {
        str(each.inputs["query_id"]): (str(each.inputs["query"]), each.facets.get("area", ""))
        for each in write.load_samples(dataset_id, home)
    }


def _read_relevant(samples: Iterable[Sample]) -> dict[str, set[str]]:
    return {str(each.inputs["query_id"]): set(each.expected["conversations"]) for each in samples if each.task == _TASK}


def _load(dataset_id: str, name: str, home: Path | None) -> pl.DataFrame | None:
    try:
        return write.load_table(dataset_id, name, home)
    except UnknownName:
        return None
