"""The published CXMArena files into a dataset."""

from pathlib import Path
from typing import Any

from cxlab.importers.importer import Imported, Importer


def _read(path: Path, options: Any) -> Imported:
    from cxlab.benchmarks.cxmarena.importers import published_dataset

    del options
    return published_dataset.read_folder(path)


IMPORTERS = (
    Importer(
        id="cxmarena",
        title="the published CXMArena data set",
        takes="its folder, with Parquet or CSV; parts may be missing",
        read=_read,
    ),
)
