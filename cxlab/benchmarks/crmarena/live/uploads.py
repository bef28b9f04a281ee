"""Which record of a live organisation is which of a stored one, where it was uploaded.

A file a dataset and host in the store, `uploads/DATASET/HOST.tsv`: stored id and the server's, a line each.
"""

from __future__ import annotations

from pathlib import Path

from cxlab.errors import BadFile
from cxlab.store import layout


def find_file(dataset_id: str, host: str, home: Path | str | None) -> Path:
    """Where the ids of a dataset at a host are noted."""
    return (
        layout.resolve_home(home) / "uploads" / layout.check_id("dataset", dataset_id) / f"{host.replace(':', '_')}.tsv"
    )


def read_ids(dataset_id: str, host: str, home: Path | str | None) -> dict[str, str]:
    """Stored id → the server's; none where no file pairs them."""
    path = find_file(dataset_id, host, home)
    if not path.is_file():
        return {}
    ids: dict[str, str] = {}
    # A line that was cut short has no end and does not count.
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n")[:-1], 1):
        ours, tab, theirs = line.strip().partition("\t")
        if not (ours and tab and theirs):
            raise BadFile(path, number, "is no pair of ids", "write the dataset's id, a tab and the organisation's")
        ids[ours] = theirs
    return ids
