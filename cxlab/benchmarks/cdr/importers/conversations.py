"""Conversations to search: the published files, people's own, or those that stand in the store already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field

from cxlab.benchmarks.cdr.corpus.dataset import build, load_corpus
from cxlab.benchmarks.cdr.corpus.filtering import FilterOptions, FilterResult, filter_in_steps
from cxlab.benchmarks.cdr.corpus.sources import SOURCES, find_source
from cxlab.benchmarks.cdr.importers.cdr_files import CORPUS, read_cdr_files
from cxlab.errors import BadFile, BadOption
from cxlab.importers.conversations import MappingOptions, PackedConversations, read_folder_in_steps
from cxlab.importers.imported import RejectedRow, build_rejected
from cxlab.importers.importer import Importer, ImportReport
from cxlab.records import Conversation, Dataset, Sample
from cxlab.records.progress import Progress, finish
from cxlab.store import load, write

UNSTATED = "not stated: ask whoever gave you the data"


class CdrImport(MappingOptions, FilterOptions):
    """What is imported, how its columns are read, and how strictly it is filtered."""

    filter: bool = Field(
        True, description="Leave out duplicates and what cannot be searched, and take personal data out; the published "
        "files are taken as they are."
    )  # fmt: skip
    name: str = Field("", description="What the dataset is called; else after the file.")
    source: str | None = Field(
        None,
        description="Where they are from, for the licence: one of the paper's sources.",
        json_schema_extra={"choices": list(SOURCES)},
    )
    licence: str = Field("", description="What may be done with them.")
    dataset: str | None = Field(None, description="Instead of a path: a stored dataset with conversations.")
    run: str | None = Field(None, description="Instead of a path: a stored run, whose dialogues are taken.")


@dataclass
class ImportedCorpus:
    """What an import came to; nothing is stored before `save`."""

    dataset: Dataset
    samples: list[Sample]
    tables: dict[str, pl.DataFrame]
    filtered: FilterResult | None
    rejected: list[RejectedRow] = field(default_factory=list)
    notices: list[RejectedRow] = field(default_factory=list)

    def save(self, home: Path | str | None = None) -> None:
        """Store the dataset, whole or not at all."""
        write.save_dataset(self.dataset, self.samples, home, tables=self.tables)

    def report(self) -> ImportReport:
        """Counts first, then each thing that was left out or is odd."""
        left_out = len(self.filtered.rejected) if self.filtered else 0
        record = {
            "dataset": self.dataset.id,
            "conversations": self.dataset.config["corpus"],
            "queries": self.dataset.config["queries"],
            "tasks": dict(Counter(sample.task for sample in self.samples)),
            "rejected": [vars(one) for one in self.rejected],
            "filtered": self.filtered.to_record() if self.filtered else None,
        }
        made = f"{self.dataset.config['corpus']:,} conversations, {self.dataset.config['queries']:,} queries"
        lines = [
            f"{self.dataset.id}: {made}; {len(self.rejected):,} complaints, {left_out:,} left out by the filter",
            *(self.filtered.lines() if self.filtered else ()),
            f"Licence: {self.dataset.licence}",
        ]  # fmt: skip
        complaints = [f"rejected: {one}" for one in self.rejected] + [f"note: {one}" for one in self.notices]
        return ImportReport(record, tuple(lines), tuple(complaints))


def read_path(path: Path, options: CdrImport) -> ImportedCorpus:
    """The published files of a folder, else conversations of any form that is known; BadFile for what is neither."""
    return finish(read_path_in_steps(path, options))


def read_path_in_steps(path: Path, options: CdrImport) -> Generator[Progress, None, ImportedCorpus]:
    """The same with progress."""
    if options.dataset or options.run:
        raise BadOption("give a path, or a stored dataset, or a run; not two of them")
    if path.is_dir() and (path / CORPUS).is_file():
        return _read_published(path, options)
    preset = MappingOptions.read(find_source(options.source).mapping).changes() if options.source else {}
    given = options.changes()
    roles = {**preset.get("roles", {}), **given.get("roles", {})}
    found = yield from read_folder_in_steps(path, {**preset, **given, **({"roles": roles} if roles else {})})
    if not found.conversations:
        first = f"; the first problem: {found.rejected[0]}" if found.rejected else ""
        raise BadFile(path, None, f"no conversation could be used{first}", "see --shape, --role, --text, --speakers")
    about = {"conversations": "real", "rows": found.rows_of, "ignored": found.ignored}
    name = f"Conversations, imported from {path.resolve().name}"
    return (yield from _make(name, found.conversations, options, about, None, found.rejected, found.notices))


def read_stored(options: CdrImport) -> ImportedCorpus:
    """The conversations of a stored dataset, or the dialogues of a stored run's attempts."""
    return finish(read_stored_in_steps(options))


def read_stored_in_steps(options: CdrImport) -> Generator[Progress, None, ImportedCorpus]:
    """The same with progress."""
    if bool(options.dataset) == bool(options.run):
        raise BadOption("give a path, or --dataset, or --run")
    if options.dataset:
        corpus = load_corpus(options.dataset)
        origin = write.load_dataset(options.dataset)
        made = options.model_copy(update={"licence": options.licence or origin.licence})
        return (yield from _make(f"Conversations of {origin.name}", corpus, made, {}, origin))
    run = write.load_run(str(options.run))
    dialogues = PackedConversations()
    for attempt, _ in load.load_attempts(run.id):
        if attempt.messages:
            dialogues[attempt.id] = Conversation(id=attempt.id, messages=attempt.messages)
    if not dialogues:
        raise BadOption(f"run {run.id} holds no dialogue yet")
    origin = write.load_dataset(run.dataset_id)
    made = options.model_copy(update={"licence": options.licence or origin.licence})
    about, name = {"from_run": run.id}, f"Dialogues of {run.model}, {run.benchmark}"
    return (yield from _make(name, dialogues, made, about, origin))


def _read_published(path: Path, options: CdrImport) -> ImportedCorpus:
    found = read_cdr_files(path)
    licence = options.licence or "as its sources: read here, not to be passed on"
    about = {"conversations": "published", "repeated": found.repeated, "dangling": found.dangling}
    dataset, samples, tables = build(
        "CDR, the published files", "imported", found.corpus, found.queries, found.relevant, {}, config=about,
        licence=licence, redistributable=False,
    )  # fmt: skip
    return ImportedCorpus(dataset, samples, tables, None, found.rejected, found.notices)


def _make(
    name: str,
    corpus: Mapping[str, Conversation],
    options: CdrImport,
    about: Mapping[str, Any],
    origin: Dataset | None = None,
    rejected: list[RejectedRow] | None = None,
    notices: list[RejectedRow] | None = None,
) -> Generator[Progress, None, ImportedCorpus]:
    filtered: FilterResult | None = None
    if options.filter:
        filtered = yield from filter_in_steps(corpus, options)
    kept = filtered.kept if filtered else corpus
    if not kept:
        raise BadOption("the filter left no conversation; give --filter=false, or weaker settings")
    known = find_source(options.source) if options.source else None
    licence = options.licence.strip() or (known.licence if known else UNSTATED)
    config = {
        **about,
        "source": options.source,
        "filter": filtered.to_record() if filtered else None,
    }
    redistributable = origin.redistributable if origin else None
    # What was forbidden once stays so, whatever is said of it later.
    if known and redistributable is not False:
        redistributable = known.share
    count = len(kept)
    yield Progress("store", 0, count)
    dataset, samples, tables = build(
        options.name.strip() or name, "imported", kept, {}, {}, {}, config=config, licence=licence,
        redistributable=redistributable, derived_from=options.dataset or None,
        derivation="import" if options.dataset else None,
    )  # fmt: skip
    if filtered:
        tables["filtered_out"] = filtered.to_frame()
        # They stand in the table now; twice would be too much of many.
        filtered.kept.clear()
    tables["rejected"], tables["notices"] = build_rejected(rejected or ()), build_rejected(notices or ())
    yield Progress("store", count, count)
    return ImportedCorpus(dataset, samples, tables, filtered, rejected or [], notices or [])


IMPORTER = Importer(
    id="cdr",
    title="conversations to search",
    takes="a folder with corpus.json, queries.json and relevant_docs.json as CDR published them, or any file or folder "
    "of conversations: JSON, JSON Lines, Parquet, CSV, transcripts as text",
    read=read_path,
    Options=CdrImport,
    read_named=read_stored,
    in_steps=read_path_in_steps,
    named_in_steps=read_stored_in_steps,
)
