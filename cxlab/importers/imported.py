"""What an import comes to, the same for every source: a dataset, its tables, and what was not taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from cxlab.importers.importer import ImportReport
from cxlab.records import Dataset, Sample


@dataclass(frozen=True)
class RejectedRow:
    """One thing that was not taken: file, row from 1 (None: the whole file), column, and what is wrong."""

    file: str
    row: int | None
    column: str | None
    problem: str

    def __str__(self) -> str:
        where = self.file + (f", row {self.row}" if self.row else "") + (f", {self.column}" if self.column else "")
        return f"{where}: {self.problem}"


def build_rejected(rows: Iterable[RejectedRow]) -> pl.DataFrame:
    """The rows as a dataset's table keeps them: file, row, column, problem."""
    schema = {"file": pl.String, "row": pl.Int64, "column": pl.String, "problem": pl.String}
    return pl.DataFrame([vars(one) for one in rows], schema=schema)


@dataclass
class ImportResult:
    """What a folder came to; nothing is stored yet. `rows` counts what each part had."""

    dataset: Dataset
    samples: list[Sample]
    tables: dict[str, pl.DataFrame]
    rejected: list[RejectedRow] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)

    @property
    def tasks(self) -> dict[str, int]:
        """Samples a task; none where there is no gold."""
        return dict(Counter(sample.task for sample in self.samples))

    def save(self, home: Path | str | None = None) -> None:
        """Store the dataset, whole or not at all."""
        from cxlab.store import write

        write.save_dataset(self.dataset, self.samples, home, tables=self.tables)

    def report(self) -> ImportReport:
        """What was taken and what not; a dataset without gold counts its conversations."""
        record = {
            "dataset": self.dataset.id,
            "tasks": self.tasks,
            "rows": self.rows,
            "rejected": [vars(one) for one in self.rejected],
            "ignored": self.ignored,
        }
        counts = ", ".join(f"{count} {task}" for task, count in self.tasks.items())
        what = f"{len(self.samples)} samples ({counts})"
        if not self.samples and "conversations" in self.tables:
            talks = self.tables["conversations"].height
            what = f"{talks} conversation{'' if talks == 1 else 's'}"
        return ImportReport(
            record,
            (f"{self.dataset.id}: {what}; {len(self.rejected)} complaints", f"Licence: {self.dataset.licence}"),
            tuple(f"rejected: {one}" for one in self.rejected),
        )
