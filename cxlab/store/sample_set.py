"""Some of a dataset's samples as a dataset of their own, which `run` takes like any other."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cxlab.errors import BadOption
from cxlab.records import Dataset, content_id
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
    made = Dataset(
        id=f"{origin.benchmark}-samples-{content_id(dataset_id, [each.id for each in kept])}",
        benchmark=origin.benchmark,
        name=name,
        source=origin.source,
        config={**origin.config, "samples_of": dataset_id, "asked": dict(asked)},
        seed=origin.seed,
        licence=origin.licence,
        created=datetime.now(UTC),
    )
    folder = layout.dataset_folder(layout.resolve_home(home), dataset_id)
    others = [path.stem for path in sorted(folder.glob("*.parquet")) if path.stem != "samples"]
    files = folder / "files"
    write.save_dataset(
        made,
        [each.model_copy(update={"dataset_id": made.id}) for each in kept],
        home,
        tables={each: write.load_table(dataset_id, each, home) for each in others},
        files=files if files.is_dir() else None,
    )
    return made
