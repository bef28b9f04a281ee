"""Some of a dataset's conversations as a dataset of their own, with the samples that are about them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.cdr.corpus.dataset import CORPUS
from cxlab.errors import BadOption
from cxlab.records import Dataset, content_id
from cxlab.store import write
from cxlab.store.sample_set import save_part

# What a sample calls the conversation that it is about, in every benchmark whose samples are about one.
_ABOUT = "conversation_id"
# What was said of the whole and not of the part.
_LEFT_OUT = ("filtered_out", "rejected")


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
    made = f"{origin.benchmark}-set-{content_id(dataset_id, name, talks['conversation_id'].to_list())}"
    samples = [each.model_copy(update={"id": content_id(made, each.id)}) for each in kept]
    config = {"asked": asked, "corpus": talks.height, "queries": 0}
    tables = {CORPUS: talks}
    return save_part(
        origin, made, "conversations", name, samples, config, home, tables=tables, left_out=_LEFT_OUT, files=False
    )
