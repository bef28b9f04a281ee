"""Some of a dataset's conversations as a dataset of their own, with the samples that are about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.cdr.corpus.dataset import CORPUS
from cxlab.errors import BadOption
from cxlab.records import Dataset, content_id
from cxlab.store import layout, write

# What a sample calls the conversation that it is about, in every benchmark whose samples are about one.
_ABOUT = "conversation_id"
# What was said of the whole and not of the part.
_LEFT_OUT = ("samples", "filtered_out", "rejected")


def save_subset(
    dataset_id: str, name: str, ids: Sequence[str], asked: dict[str, Any], home: Path | str | None = None
) -> Dataset:
    """Store the conversations of these ids, in the origin's order, and return the new dataset.

    It belongs to the origin's benchmark, with those of its samples that name one of the conversations and all its other
    tables, so that it can be evaluated as the origin can; queries over the whole of a corpus are not taken over. The
    same conversations under the same name are the same dataset. BadOption where no conversation is left.
    """
    origin = write.load_dataset(dataset_id, home)
    wanted = set(ids)
    talks = write.load_table(dataset_id, CORPUS, home).filter(pl.col("conversation_id").is_in(list(wanted)))
    if talks.is_empty():
        raise BadOption("a set needs one conversation or more")
    kept = [each for each in write.load_samples(dataset_id, home) if each.inputs.get(_ABOUT) in wanted]
    made = Dataset(
        id=f"{origin.benchmark}-set-{content_id(dataset_id, name, talks['conversation_id'].to_list())}",
        benchmark=origin.benchmark,
        name=name,
        source=origin.source,
        config={**origin.config, "set_of": dataset_id, "asked": asked, "corpus": talks.height, "queries": 0},
        seed=origin.seed,
        licence=origin.licence,
        created=datetime.now(UTC),
    )
    samples = [each.model_copy(update={"id": content_id(made.id, each.id), "dataset_id": made.id}) for each in kept]
    folder = layout.dataset_folder(layout.resolve_home(home), dataset_id)
    others = [path.stem for path in sorted(folder.glob("*.parquet")) if path.stem not in (CORPUS, *_LEFT_OUT)]
    tables = {CORPUS: talks} | {each: write.load_table(dataset_id, each, home) for each in others}
    write.save_dataset(made, samples, home, tables=tables)
    return made
