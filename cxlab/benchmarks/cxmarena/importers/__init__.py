"""The published CXMArena files into a dataset."""

from cxlab.importers.importer import Importer, read_late

IMPORTERS = (
    Importer(
        id="cxmarena",
        title="the published CXMArena data set",
        takes="its folder, with Parquet or CSV; parts may be missing",
        read=read_late("cxlab.benchmarks.cxmarena.importers.published_dataset:read_folder"),
    ),
)
