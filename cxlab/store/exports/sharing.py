"""What of a dataset may be passed on: tables with the texts of a source that forbids it stay out of every export."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from cxlab.errors import BadOption, BadStore, UnknownName
from cxlab.records import Dataset
from cxlab.store import catalogue, layout

TEXTS = ("conversations", "filtered_out")
"""The tables that hold what people said, in any dataset."""
SAMPLES = "samples"
"""Where nobody has labelled conversations, the samples hold them."""


# Words of licences as datasets state them.
_CLOSED = re.compile(r"\bNC\b|\bND\b|non-?commercial|not for commercial|no derivatives", re.IGNORECASE)
_OPEN = re.compile(r"\bown work\b|\bMIT\b|\bApache\b|\bBSD\b|\bCC0\b|\bCC BY\b|public domain", re.IGNORECASE)


def may_pass_on(dataset: Dataset) -> bool | None:
    """Whether what was said on a dataset may be passed on to train models; None where its licence names no known terms,
    as with data of one's own."""
    if dataset.redistributable is False or _CLOSED.search(dataset.licence):
        return False
    return True if dataset.redistributable or _OPEN.search(dataset.licence) else None


def is_kept_out(dataset: Dataset, table: str) -> bool:
    """Whether a table holds texts that its source does not let anybody pass on (`redistributable` of the dataset)."""
    holds = table in TEXTS or (table == SAMPLES and dataset.unlabelled)
    return holds and dataset.redistributable is False


def check_sharing(dataset: Dataset, table: str) -> None:
    """BadOption for a table that is kept out."""
    if is_kept_out(dataset, table):
        raise BadOption(f"{table} of {dataset.id} may not be passed on: {dataset.licence}")


def list_open_runs(run_ids: Iterable[str], base: Path) -> list[str]:
    """Those of the runs whose samples may be passed on; a run whose dataset is gone or damaged has none."""
    found = []
    for run_id in run_ids:
        try:
            dataset = catalogue.find_dataset(catalogue.find_run(run_id, base).dataset_id, base)
        except (BadStore, UnknownName):
            continue
        if not is_kept_out(dataset, SAMPLES):
            found.append(run_id)
    return found


def list_kept_out(run_ids: Iterable[str], base: Path) -> dict[str, dict[str, int]]:
    """What an export of these runs leaves out: dataset → table → rows."""
    found: dict[str, dict[str, int]] = {}
    for wanted in sorted({catalogue.find_run(run, base).dataset_id for run in run_ids}):
        try:
            dataset, folder = catalogue.find_dataset(wanted, base), layout.dataset_folder(base, wanted)
        except (BadStore, UnknownName):
            continue
        for table in (*TEXTS, SAMPLES):
            path = folder / f"{table}.parquet"
            if is_kept_out(dataset, table) and path.is_file():
                rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
                found.setdefault(wanted, {})[table] = int(rows)
    return found
