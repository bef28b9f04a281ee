"""The published tasks and a SQLite copy of the original organisation into a dataset; either will do alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks.crmarena.importers.sqlite_mirror import is_mirror, read_mirror
from cxlab.benchmarks.crmarena.importers.task_file import PublishedTask, read_tasks
from cxlab.benchmarks.crmarena.organisation.integrity import find_faults
from cxlab.benchmarks.crmarena.organisation.schema import Schema, load_default
from cxlab.benchmarks.crmarena.organisation.tables import digest, read_folder
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.errors import BadFile, BadOption
from cxlab.importers.imported import ImportResult, RejectedRow
from cxlab.importers.importer import ImportReport
from cxlab.records import Dataset, Sample, content_id

BENCHMARK = "crmarena"
LICENCE = "CC BY-NC 4.0 (CRMArena, Salesforce AI Research): not for commercial use"
_TASK_FILES = ("*.json", "*.jsonl")


@dataclass
class ImportedOrganisation(ImportResult):
    """What was read. `faults` are what does not hold in the organisation; they do not keep it from being used."""

    faults: tuple[str, ...] = ()

    def report(self) -> ImportReport:
        """Queries a task, records an object, and what was not taken or does not hold."""
        told = super().report()
        records = {name: rows for name, rows in self.rows.items() if name in self.tables}
        lines = list(told.lines)
        if any(records.values()):
            filled = sum(1 for rows in records.values() if rows)
            lines.insert(1, f"Organisation: {sum(records.values()):,} records of {filled} objects")
        elif self.samples:
            lines.insert(1, "No organisation: its tasks can be looked at, not run; give it with --org FILE.db")
        faults = tuple(f"does not hold: {fault}" for fault in self.faults)
        record = {**told.record, "faults": list(self.faults)}
        return ImportReport(record, tuple(lines), (*told.complaints, *faults))


def read_folder_or_file(path: Path) -> ImportedOrganisation:
    """What lies at a path: a task file, a SQLite copy, or a folder with one of either; BadFile otherwise."""
    if path.is_dir():
        tasks = sorted(each for pattern in _TASK_FILES for each in path.glob(pattern))
        orgs = sorted(each for each in path.iterdir() if is_mirror(each))
        for what, found in (("task files (.json, .jsonl)", tasks), ("SQLite files", orgs)):
            if len(found) > 1:
                named = ", ".join(each.name for each in found[:4])
                raise BadFile(path, None, f"holds several {what}: {named}", "name one with --tasks or --org")
        if not tasks and not orgs:
            raise BadFile(path, None, "holds neither a task file nor a SQLite file")
        return read(tasks[0] if tasks else None, orgs[0] if orgs else None)
    if not path.exists():
        raise BadFile(path, None, "does not exist")
    return read(None, path) if is_mirror(path) else read(path, None)


def read(tasks: Path | None, org: Path | None) -> ImportedOrganisation:
    """A task file, an organisation (a SQLite file or a folder of tables), or both; BadFile says what is wrong with one.

    The dataset's id follows from what was read, so the same files are the same dataset.
    """
    if tasks is None and org is None:
        raise BadOption("import crmarena: give --tasks FILE, --org FILE.db or both")
    schema = load_default()
    rejected: list[RejectedRow] = []
    ignored: list[str] = []
    rows: dict[str, int] = {}
    published: list[PublishedTask] = []
    if tasks is not None:
        published, rejected, rows[tasks.name] = read_tasks(tasks)
    tables: dict[str, pl.DataFrame] = {}
    faults: list[str] = []
    if org is not None:
        tables = _read_organisation(org, schema, rejected, ignored)
        faults = find_faults(tables, schema)
        rows |= {name: frame.height for name, frame in tables.items()}
    content = [[vars(each) for each in published], {name: digest(frame) for name, frame in tables.items()}]
    dataset_id = f"{BENCHMARK}-{content_id(content)}"
    dataset = Dataset(
        id=dataset_id,
        benchmark=BENCHMARK,
        name=f"CRMArena, imported from {(tasks or org or Path()).name}",
        source="imported",
        # The original's answers follow from the original's tools.
        config={"compat": "original", "rows": rows, "rejected": len(rejected), "faults": faults},
        seed=None,
        licence=LICENCE,
        created=datetime.now(UTC),
    )
    samples = [_to_sample(each, dataset_id) for each in published]
    if rejected:
        columns = {"file": pl.String, "row": pl.Int64, "column": pl.String, "problem": pl.String}
        tables = {**tables, "rejected": pl.DataFrame([vars(one) for one in rejected], schema=columns)}
    return ImportedOrganisation(dataset, samples, tables, rejected, ignored, rows, tuple(faults))


def _read_organisation(
    path: Path, schema: Schema, rejected: list[RejectedRow], ignored: list[str]
) -> dict[str, pl.DataFrame]:
    if path.is_dir():
        return read_folder(path, schema)
    if not path.exists():
        raise BadFile(path, None, "does not exist", "give the SQLite file of the organisation")
    found = read_mirror(path, schema)
    ignored += found.ignored
    rejected += [RejectedRow(path.name, row, f"{name}.{field}", told) for name, row, field, told in found.faults]
    return found.tables


def _to_sample(task: PublishedTask, dataset_id: str) -> Sample:
    hidden: dict[str, Any] = {"today": task.today, "contact_id": task.contact_id, "case_id": task.case_id}
    return Sample(
        id=content_id(dataset_id, task.number),
        dataset_id=dataset_id,
        benchmark=BENCHMARK,
        task=task.task,
        inputs={
            "number": task.number,
            "query": task.query,
            "required": task.required,
            "optional": task.optional,
            **{key: value for key, value in hidden.items() if value is not None},
        },
        expected={"answer": task.answer},
        facets={"persona": TASKS[task.task].persona, "answerable": "no" if task.answer is None else "yes"},
    )
