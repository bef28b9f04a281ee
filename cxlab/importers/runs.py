"""Runs of another CX Lab, from the folder or DuckDB file that its export wrote, or from its store."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cxlab.importers.importer import Importer, ImportReport

if TYPE_CHECKING:
    from cxlab.store.exports.archive import Archive


@dataclass
class GivenRuns:
    """What an archive holds, checked; `told` says of each run what became of it, once it was saved."""

    archive: Archive
    told: dict[str, str] = field(default_factory=dict)
    dataset: None = None

    def save(self, home: Path | str | None = None) -> None:
        """Store the runs and their datasets; what is here already is left as it is."""
        from cxlab.store.exports import archive

        self.told = archive.take_in(self.archive, home)

    def report(self) -> ImportReport:
        """A line a run; before it is saved what it holds, then what became of it."""
        from cxlab.store.exports.archive import CONFLICT

        runs = self.archive.runs.values()
        lines = [
            f"{run.id}: {self.told.get(run.id, 'can be stored')} ({run.benchmark}, {run.model}, "
            f"{self.archive.attempts[run.id]:,} attempts{', simulated' if run.simulated else ''})"
            for run in sorted(runs, key=lambda each: each.id)
        ]
        record = {
            "runs": {run.id: self.told.get(run.id, "") for run in runs},
            "datasets": sorted(self.archive.datasets),
            "complaints": list(self.archive.complaints),
        }
        clash = CONFLICT in self.told.values()
        return ImportReport(record, tuple(lines), self.archive.complaints, failed=clash)


def _read(path: Path, options: Any) -> GivenRuns:
    del options
    from cxlab.store.exports.archive import read_archive

    return GivenRuns(read_archive(path))


IMPORTER = Importer(
    id="runs",
    title="runs of another CX Lab",
    takes="the folder or DuckDB file that “cxlab export” wrote there, or its store's folder",
    read=_read,
)
