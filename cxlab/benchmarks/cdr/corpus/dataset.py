"""A corpus with its queries as a stored dataset, and back: one sample for each query and granularity."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import polars as pl

from cxlab.benchmarks.cdr.units import GRANULARITIES
from cxlab.errors import UnknownName
from cxlab.importers.cells import to_json
from cxlab.importers.conversations import PackedConversations
from cxlab.records import Conversation, Dataset, Sample, content_id
from cxlab.records.dataset import Derivation
from cxlab.store import home, layout, write
from cxlab.word_forms import find_language

BENCHMARK = "cdr"
CORPUS = "conversations"
TEXTS = ("conversation_id", "title", "area", "domain", "persona", "labels", "messages", "noisy", "noise")
_TITLE = 90
_BATCH = 5_000
# A corpus is big; a run asks one.
_KEPT = 4


def build(
    name: str,
    source: Literal["generated", "imported"],
    corpus: Mapping[str, Conversation],
    queries: Mapping[str, str],
    relevant: Mapping[str, Iterable[str]],
    areas: Mapping[str, str],
    *,
    config: Mapping[str, Any],
    licence: str,
    seed: int | None = None,
    prefix: str = BENCHMARK,
    benchmark: str = BENCHMARK,
    derived_from: str | None = None,
    derivation: Derivation | None = None,
    redistributable: bool | None = None,
) -> tuple[Dataset, list[Sample], dict[str, pl.DataFrame]]:
    """(dataset, samples, its table of conversations); the id is the hash of what is in it.

    A query that nothing is relevant to makes no sample: there is nothing to find.
    """
    table = build_conversations(corpus)
    asked = {query: sorted(set(relevant.get(query, ()))) for query in queries}
    # Row by row: the whole corpus as one text would take its memory twice.
    content = [content_id(*row) for row in table.iter_rows()]
    identity = content_id(content, sorted(queries.items()), sorted(asked.items()), sorted(areas.items()))
    dataset = Dataset(
        id=f"{prefix}-{identity}",
        benchmark=benchmark,
        name=name,
        source=source,
        config={**config, "corpus": len(corpus), "queries": sum(map(bool, asked.values()))},
        seed=seed,
        licence=licence,
        created=datetime.now(UTC),
        derived_from=derived_from,
        derivation=derivation,
        redistributable=redistributable,
    )
    samples = [
        Sample(
            id=content_id(dataset.id, query, granularity),
            dataset_id=dataset.id,
            benchmark=BENCHMARK,
            task=granularity,
            inputs={"query": text, "query_id": query, "granularity": granularity},
            expected={"conversations": asked[query]},
            facets={"granularity": granularity} | ({"area": areas[query]} if query in areas else {}),
        )
        for granularity in GRANULARITIES
        for query, text in queries.items()
        if asked[query]
    ]
    return dataset, samples, {CORPUS: table}


def build_conversations(corpus: Mapping[str, Conversation]) -> pl.DataFrame:
    """The table of conversations, as every dataset that has some stores them."""
    frames, rows = [], list[tuple[str, ...]]()
    schema = dict.fromkeys(TEXTS, pl.String)
    for name, talk in corpus.items():
        opening = next((said.text for said in talk.messages if said.role == "customer"), "")
        area, domain = (str(talk.labels.get(each) or "") for each in ("area", "domain"))
        said = to_json([message.model_dump(mode="json") for message in talk.messages])
        rows.append(
            (name, shorten(opening), area, domain, to_json(talk.persona), to_json(talk.labels), said, "[]", "{}")
        )
        # In batches: all rows as Python's texts would be as much again.
        if len(rows) == _BATCH:
            frames.append(pl.DataFrame(rows, schema=schema, orient="row"))
            rows.clear()
    frames.append(pl.DataFrame(rows, schema=schema, orient="row"))
    return pl.concat(frames)


def shorten(text: str, most: int = _TITLE) -> str:
    """The first line of a text, cut at a word where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0] + " …"


def load_corpus(dataset_id: str, where: Path | str | None = None) -> Mapping[str, Conversation]:
    """The conversations of a stored dataset of any benchmark; UnknownName where it has none."""
    base = layout.resolve_home(where or home())
    return _load(str(base), dataset_id)


def corpus_language(dataset_id: str, where: Path | str | None = None) -> str:
    """The language of a stored dataset's conversations, as far as forms of words are known in it, else ""."""
    return _find_language(str(layout.resolve_home(where or home())), dataset_id)


@functools.lru_cache(maxsize=_KEPT)
def _find_language(base: str, dataset_id: str) -> str:
    return find_language(said.text for talk in _load(base, dataset_id).values() for said in talk.messages)


@functools.lru_cache(maxsize=_KEPT)
def _load(base: str, dataset_id: str) -> Mapping[str, Conversation]:
    found = PackedConversations.from_table(write.load_table(dataset_id, CORPUS, Path(base)), dataset_id)
    if not found:
        raise UnknownName(f"conversation of dataset {dataset_id!r}", "any", ())
    return found
