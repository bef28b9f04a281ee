"""Datasets made of a stored one, which `run` takes like any other: some of its samples, or what was changed of it."""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.errors import BadOption
from cxlab.records import Dataset, Sample, content_id
from cxlab.records.dataset import Derivation
from cxlab.store import layout, write


def save_samples(
    dataset_id: str, name: str, ids: Collection[str], asked: Mapping[str, Any], home: Path | str | None = None
) -> Dataset:
    """Store the samples of these ids, in the origin's order, and return the new dataset.

    It belongs to the origin's benchmark and has all its other tables and files, so that it is evaluated as the origin
    is. Samples keep their ids: what is run on them is compared with what was run on them before. The same samples of
    the same dataset are the same dataset, whatever its name. `asked` says what they were chosen by. BadOption where the
    origin has none of these samples.
    """
    origin = write.load_dataset(dataset_id, home)
    wanted = set(ids)
    kept = [each for each in write.load_samples(dataset_id, home) if each.id in wanted]
    if not kept:
        raise BadOption(f"dataset {dataset_id} has none of these samples; choose attempts of a run on it")
    made = content_id(dataset_id, [each.id for each in kept])
    id = f"{origin.benchmark}-samples-{made}"
    return save_part(origin, id, "samples", name, kept, {"asked": dict(asked)}, home)


def save_part(
    origin: Dataset,
    id: str,
    how: Derivation,
    name: str,
    samples: Iterable[Sample],
    config: Mapping[str, Any],
    home: Path | str | None = None,
    *,
    tables: Mapping[str, pl.DataFrame] | None = None,
    left_out: Collection[str] = (),
    files: bool = True,
) -> Dataset:
    """Store what was made of a dataset as one of its own, and return it: these samples, and the origin's licence, what
    its `config` says, whether it may be passed on, its files, and all its other tables.

    `config` and `tables` come on top of, or in place of, the origin's; tables named in `left_out` stay behind.
    """
    made = Dataset(
        id=id,
        benchmark=origin.benchmark,
        name=name,
        source=origin.source,
        config={**origin.config, **config},
        seed=origin.seed,
        licence=origin.licence,
        created=datetime.now(UTC),
        derived_from=origin.id,
        derivation=how,
        redistributable=origin.redistributable,
        unlabelled=origin.unlabelled,
    )
    folder, changed = layout.dataset_folder(layout.resolve_home(home), origin.id), tables or {}
    others = [path.stem for path in sorted(folder.glob("*.parquet")) if path.stem not in ("samples", *left_out)]
    kept = {each: write.load_table(origin.id, each, home) for each in others if each not in changed}
    stored = [each.model_copy(update={"dataset_id": id}) for each in samples]
    own = folder / "files"
    write.save_dataset(made, stored, home, tables={**kept, **changed}, files=own if files and own.is_dir() else None)
    return made
