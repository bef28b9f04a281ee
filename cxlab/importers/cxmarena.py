"""The published CXMArena folder into a dataset: Parquet or CSV, with its defects reported row by row.

A file is known by its path: the configuration and split of the published data set (`Articles/
article_search_articles-00000-of-00001.parquet`) or the task alone (`intent_prediction.csv`). Parts may be
missing; the tasks they feed are then left out, and the report says so. Rows count from 1, without the header.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.errors import BadFile
from cxlab.importers import cells
from cxlab.importers.cells import Unreadable
from cxlab.records import Dataset, Facets, Sample, content_id

LICENCE = "CC BY-NC 4.0 (CXMArena, published data set): not for commercial use"
LARGEST_CELL = 2_000_000  # bytes; the longest real article or transcript has some 30 kB
MOST_REPORTED = 1_000  # rejected rows kept in the dataset's own description
SUFFIXES = (".parquet", ".csv")
SIZES = ("16", "32", "64", "96", "128")
OTHERS = "Others"
# Part → what its path contains, the first that fits; and the columns it cannot do without.
PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "articles of search": (r"article_search_articles", ("document_id", "document_content")),
    "articles of refinement": (r"kb_refinement_articles", ("document_id", "document_content")),
    "articles of multi_turn": (r"multi_turn_articles", ("document_id", "document_content")),
    "contradictory": (r"contradictory_pairs", ("Pairs",)),
    "similar": (r"similar(?:ity)?_pairs", ("Pairs",)),
    "taxonomy 1": (r"taxonomy_1", ("L1", "Description")),
    "taxonomy 2": (r"taxonomy_2", ("L1", "L2", "Description")),
    "taxonomy 3": (r"taxonomy_3", ("L1", "Description")),
    "tools": (r"tools_description", ("Name", "Definition")),
    "tool_calling": (r"tool_calling", ("conversation_context", "true_tools")),
    "intent": (r"intent_prediction", ("Complete Conversations",)),
    "quality": (r"agent_quality_adherence", ("conversation", "question_answers")),
    "search": (r"article_search", ("query",)),
    "multi_turn": (r"multi_turn", ("conversation_context", "kb_ids")),
}
TAXONOMIES = {"1": "A", "2": "B", "3": "C"}


@dataclass(frozen=True)
class Rejected:
    """One thing that was not taken: file, row from 1 (None: the whole file), column, and what is wrong."""

    file: str
    row: int | None
    column: str | None
    problem: str

    def __str__(self) -> str:
        where = self.file + (f", row {self.row}" if self.row else "") + (f", {self.column}" if self.column else "")
        return f"{where}: {self.problem}"


@dataclass
class Imported:
    """What a folder came to; nothing is stored yet. `rows` counts what each part had."""

    dataset: Dataset
    samples: list[Sample]
    tables: dict[str, pl.DataFrame]
    rejected: list[Rejected]
    ignored: list[str]
    rows: dict[str, int]

    @property
    def tasks(self) -> dict[str, int]:
        """Samples a task."""
        return dict(Counter(sample.task for sample in self.samples))


@dataclass
class _Folder:
    """The parts as they were found, and what is rejected on the way."""

    parts: dict[str, list[tuple[str, pl.DataFrame]]] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)

    def reject(self, file: str, row: int | None, column: str | None, problem: str) -> None:
        self.rejected.append(Rejected(file, row, column, problem))

    def rows(self, part: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """(file, row, cells) of a part; a row with a cell beyond the limit is rejected."""
        for file, frame in self.parts.get(part, ()):
            for number, row in enumerate(frame.iter_rows(named=True), start=1):
                huge = next((c for c, v in row.items() if isinstance(v, str) and len(v) > LARGEST_CELL // 4), None)
                if huge is not None and (size := len(row[huge].encode("utf-8", "replace"))) > LARGEST_CELL:
                    limit = LARGEST_CELL / 1e6
                    self.reject(file, number, huge, f"{size / 1e6:.1f} MB in one cell; the limit is {limit:.0f} MB")
                    continue
                yield file, number, row


def import_folder(folder: Path | str, home: Path | str | None = None) -> Imported:
    """Read a folder and store it as a dataset; nothing is stored when something raises."""
    from cxlab.store import write

    found = read_folder(folder)
    write.save_dataset(found.dataset, found.samples, home, tables=found.tables)
    return found


def read_folder(folder: Path | str) -> Imported:
    """Read and check a folder; raises BadFile for what cannot be read at all or lacks a column."""
    root = Path(folder)
    read = _open(root)
    articles, corpora = _articles(read)
    taxonomies = _taxonomies(read)
    tools = _tools(read)
    drafts = [
        *_refinement(read, corpora.get("refinement")),
        *_intent(read, taxonomies),
        *_quality(read),
        *_search(read, corpora.get("search")),
        *_multi_turn(read, corpora.get("multi_turn")),
        *_tool_calling(read, corpora.get("multi_turn"), tools),
    ]
    if not drafts:
        first = f"; the first problem: {read.rejected[0]}" if read.rejected else ""
        raise BadFile(root, None, f"no row could be used{first}", "compare the columns with the published data set")
    tables = {
        "articles": articles,
        "taxonomies": pl.DataFrame(
            [{"taxonomy": t, **row} for t, rows in taxonomies.items() for row in rows],
            schema=dict.fromkeys(("taxonomy", "l1", "l2", "description"), pl.String),
        ),
        "tools": pl.DataFrame(
            [{"name": n, "definition": d} for n, d in tools.items()],
            schema={"name": pl.String, "definition": pl.String},
        ),
        "rejected": pl.DataFrame(
            [vars(one) for one in read.rejected],
            schema={"file": pl.String, "row": pl.Int64, "column": pl.String, "problem": pl.String},
        ),
    }
    rows = {part: sum(frame.height for _, frame in files) for part, files in read.parts.items()}
    dataset_id = "cxmarena-" + content_id(drafts, articles.sort("article_id", "body").rows(), list(tools.items()))
    samples, seen = [], Counter[str]()
    for task, inputs, expected, facets in drafts:
        # A row that comes twice stays two samples, as it counts twice in the published figures.
        key = content_id(task, inputs, expected)
        seen[key] += 1
        sample_id = key if seen[key] == 1 else content_id(key, seen[key])
        samples.append(
            Sample(
                id=sample_id,
                dataset_id=dataset_id,
                benchmark="cxmarena",
                task=task,
                inputs=inputs,
                expected=expected,
                facets=Facets(scenario=task, **facets),
            )
        )
    dataset = Dataset(
        id=dataset_id,
        benchmark="cxmarena",
        name=f"CXMArena, imported from {root.resolve().name}",
        source="imported",
        config={"rows": rows, "rejected": len(read.rejected), "ignored": read.ignored},
        seed=None,
        licence=LICENCE,
        created=datetime.now(UTC),
    )
    return Imported(dataset, samples, tables, read.rejected, read.ignored, rows)


def _open(root: Path) -> _Folder:
    if not root.is_dir():
        raise BadFile(root, None, "is no folder", "give the folder that holds the data set's Parquet or CSV files")
    found = _Folder()
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name = path.relative_to(root).as_posix()
        part = _part_of(name) if path.suffix.lower() in SUFFIXES else None
        if part is None:
            found.ignored.append(name)
            continue
        frame = _read(path)
        lacking = [column for column in PARTS[part][1] if column not in frame.columns]
        if lacking:
            raise BadFile(
                path, None, f"no column {', '.join(map(repr, lacking))}", f"it has: {', '.join(frame.columns)}"
            )
        found.parts.setdefault(part, []).append((name, frame))
    if not found.parts:
        known = "Articles/article_search_articles.parquet, Intent_Prediction/train.parquet, multi_turn.csv"
        raise BadFile(root, None, "no file of the CXMArena data set in it", f"files are known by names such as {known}")
    return found


def _part_of(name: str) -> str | None:
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower())
    return next((part for part, (mark, _) in PARTS.items() if re.search(mark, plain)), None)


def _read(path: Path) -> pl.DataFrame:
    try:
        if path.suffix.lower() == ".parquet":
            return pl.read_parquet(path)
        # Everything as text: ids such as 007 and lists are ours to read.
        return pl.read_csv(path, infer_schema=False)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        kind = "Parquet" if path.suffix.lower() == ".parquet" else "CSV in UTF-8"
        raise BadFile(path, None, f"cannot be read as {kind}: {str(error).splitlines()[0][:160]}") from None


Draft = tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]
"""task, inputs, expected, facets"""


def _articles(read: _Folder) -> tuple[pl.DataFrame, dict[str, set[str]]]:
    """The articles table and the ids of each corpus; one id may mean different articles in different corpora."""
    kept: dict[tuple[str, str], list[str]] = {}
    corpora: dict[str, set[str]] = {}
    for corpus in ("search", "refinement", "multi_turn"):
        part = f"articles of {corpus}"
        if part in read.parts:
            corpora[corpus] = set()
        for file, number, row in read.rows(part):
            name, body = cells.as_text(row["document_id"]), cells.as_text(row["document_content"])
            if not name or not body:
                read.reject(file, number, "document_content" if name else "document_id", "empty")
            elif name in corpora[corpus]:
                read.reject(file, number, "document_id", f"{name} came before in this corpus")
            else:
                corpora[corpus].add(name)
                kept.setdefault((name, body), []).append(corpus)
    rows = [
        {
            "article_id": name,
            "kind": "information",
            "topic": [],
            "title": next(line.strip("# *") for line in body.splitlines() if line.strip())[:120],
            "body": body,
            "clean": body,
            "format": "text",
            "corpus": where,
            "facts": [],
            "tools": "[]",
            "relations": "{}",
            "file": None,
        }
        for (name, body), where in kept.items()
    ]
    texts = dict.fromkeys(
        ("article_id", "kind", "title", "body", "clean", "format", "tools", "relations", "file"), pl.String
    )
    lists = dict.fromkeys(("topic", "corpus", "facts"), pl.List(pl.String))
    order = list(rows[0]) if rows else [*texts, *lists]
    schema: dict[str, Any] = {**texts, **lists}
    return pl.DataFrame(rows, schema={name: schema[name] for name in order}), corpora


def _taxonomies(read: _Folder) -> dict[str, list[dict[str, str | None]]]:
    found: dict[str, list[dict[str, str | None]]] = {}
    for number, letter in TAXONOMIES.items():
        for file, row_number, row in read.rows(f"taxonomy {number}"):
            first, second = cells.as_text(row["L1"]), cells.as_text(row.get("L2"))
            if not first:
                read.reject(file, row_number, "L1", "empty")
                continue
            about = {"l1": first, "l2": second or None, "description": cells.as_text(row["Description"])}
            found.setdefault(letter, []).append(about)
    return found


def _tools(read: _Folder) -> dict[str, str]:
    """Name → definition as JSON."""
    found: dict[str, str] = {}
    for file, number, row in read.rows("tools"):
        name = cells.as_text(row["Name"])
        try:
            definition = cells.as_object(row["Definition"])
            inner = definition.get("function", definition)
            if not isinstance(inner, dict) or not inner.get("name"):
                raise Unreadable("no function with a name in it")
        except Unreadable as problem:
            read.reject(file, number, "Definition", str(problem))
            continue
        if name != inner["name"]:
            read.reject(file, number, "Name", f"{name!r} beside a definition of {inner['name']!r}; the latter is used")
        found[str(inner["name"])] = cells.to_json({"type": "function", "function": inner})
    return found


def _needs(read: _Folder, part: str, other: str, there: object) -> bool:
    """Whether a part can be used; says so in the report when what it refers to is missing."""
    if part in read.parts and not there:
        for file, _ in read.parts[part]:
            read.reject(file, None, None, f"left out: it needs {other}, which the folder lacks")
        return False
    return part in read.parts


def _refinement(read: _Folder, corpus: set[str] | None) -> Iterator[Draft]:
    gold: dict[str, list[list[str]]] = {"similar": [], "contradictory": []}
    for kind in gold:
        if not _needs(read, kind, "the split KB_refinement_articles", corpus):
            continue
        seen: set[tuple[str, str]] = set()
        for file, number, row in read.rows(kind):
            try:
                ids = cells.as_list(row["Pairs"])
                if len(ids) != 2:
                    raise Unreadable(f"{len(ids)} ids where a pair is expected")
                a, b = sorted(ids)
                if a == b:
                    raise Unreadable(f"{a} paired with itself")
                if (a, b) in seen:
                    raise Unreadable(f"{a}, {b} came before")
                for one in (a, b):
                    if one not in (corpus or ()):
                        raise Unreadable(f"no article {one} in the split KB_refinement_articles")
            except Unreadable as problem:
                read.reject(file, number, "Pairs", str(problem))
                continue
            seen.add((a, b))
            gold[kind].append([a, b])
    if any(gold.values()):
        yield "kb_refinement", {"corpus": "refinement"}, gold, {}


def _intent(read: _Folder, taxonomies: dict[str, list[dict[str, str | None]]]) -> Iterator[Draft]:
    if not _needs(read, "intent", "the Taxonomy files", taxonomies):
        return
    labels = {t: {join_label(row["l1"], row["l2"]) for row in rows} for t, rows in taxonomies.items()}
    for file, number, row in read.rows("intent"):
        transcript = cells.as_text(row["Complete Conversations"])
        if not transcript:
            read.reject(file, number, "Complete Conversations", "empty")
            continue
        for place, letter in TAXONOMIES.items():
            column = f"Taxonomy_{place}"
            if column not in row or letter not in labels:
                continue
            label = cells.as_text(row[column])
            if label not in labels[letter] and label != OTHERS:
                read.reject(file, number, column, f"{label!r} is no label of taxonomy {letter}" if label else "empty")
                continue
            facets = {"level": letter, "intent": label}
            yield "intent", {"transcript": transcript, "taxonomy": letter}, {"label": label}, facets


def join_label(first: str | None, second: str | None) -> str:
    """The label of a taxonomy's row: L1, or L1:L2 without a space."""
    return f"{first}:{second}" if second else str(first)


def _quality(read: _Folder) -> Iterator[Draft]:
    for file, number, row in read.rows("quality"):
        lines = cells.as_lines(cells.as_text(row["conversation"]))
        if not lines:
            read.reject(file, number, "conversation", "no line of a customer or agent in it")
            continue
        try:
            asked = [cells.as_question(one) for one in cells.as_dicts(row["question_answers"])]
            if not asked:
                raise Unreadable("no question")
        except Unreadable as problem:
            read.reject(file, number, "question_answers", str(problem))
            continue
        known = {line["id"] for line in lines}
        for question, _, evidence in asked:
            if stray := [one for one in evidence if one not in known]:
                read.reject(file, number, "question_answers", f"no line {stray} for {question[:60]!r}; left out")
        case = cells.as_text(row.get("conversation_id")) or content_id(row["conversation"])
        inputs = {"lines": lines, "questions": [question for question, _, _ in asked], "conversation_id": case}
        proof = [[one for one in evidence if one in known] for _, _, evidence in asked]
        yield "quality", inputs, {"answers": [answer for _, answer, _ in asked], "evidence": proof}, {}


def _search(read: _Folder, corpus: set[str] | None) -> Iterator[Draft]:
    if not _needs(read, "search", "the split article_search_articles", corpus):
        return
    for file, number, row in read.rows("search"):
        column = next((c for c in ("True KB ID", "True KB Id", "true_kb_id") if c in row), None)
        if column is None:
            raise BadFile(file, None, "no column 'True KB ID'", f"it has: {', '.join(row)}")
        query, article = cells.as_text(row["query"]), cells.as_text(row[column])
        if not query:
            read.reject(file, number, "query", "empty")
        elif article not in (corpus or ()):
            read.reject(file, number, column, f"no article {article or '(empty)'} in the split article_search_articles")
        else:
            expected = {"article_id": article, "answer": cells.as_text(row.get("answer"))}
            yield "article_search", {"query": query, "corpus": "search"}, expected, {}


def _known_ids(read: _Folder, file: str, number: int, column: str, cell: Any, corpus: set[str] | None) -> list[str]:
    """The ids of a cell that the corpus has; each other one is reported."""
    try:
        ids = list(dict.fromkeys(cells.as_list(cell)))
    except Unreadable as problem:
        read.reject(file, number, column, str(problem))
        return []
    for one in ids:
        if one not in (corpus or ()):
            read.reject(file, number, column, f"no article {one} in the split multi_turn_articles; left out")
    return [one for one in ids if one in (corpus or ())]


def _multi_turn(read: _Folder, corpus: set[str] | None) -> Iterator[Draft]:
    if not _needs(read, "multi_turn", "the split multi_turn_articles", corpus):
        return
    for file, number, row in read.rows("multi_turn"):
        transcript = cells.as_text(row["conversation_context"])
        ids = _known_ids(read, file, number, "kb_ids", row["kb_ids"], corpus)
        if not transcript:
            read.reject(file, number, "conversation_context", "empty")
        elif not ids:
            read.reject(file, number, "kb_ids", "no known article is left; the row is left out")
        else:
            expected = {"article_ids": ids, "answer": cells.as_text(row.get("correct_agent_response"))}
            yield "multi_turn", {"transcript": transcript, "corpus": "multi_turn"}, expected, {}


def _tool_calling(read: _Folder, corpus: set[str] | None, tools: dict[str, str]) -> Iterator[Draft]:
    if not _needs(read, "tool_calling", "Tools_Description", tools):
        return
    for file, number, row in read.rows("tool_calling"):
        transcript = cells.as_text(row["conversation_context"])
        column = "kb_ids" if "kb_ids" in row else "kbs"
        ids = _known_ids(read, file, number, column, row[column], corpus) if row.get(column) is not None else []
        try:
            true = cells.as_list(row["true_tools"])
            if not transcript:
                raise Unreadable("conversation_context is empty")
            if not true:
                raise Unreadable("no tool")
            if stray := [name for name in true if name not in tools]:
                raise Unreadable(f"no definition of {', '.join(stray)}")
        except Unreadable as problem:
            read.reject(file, number, "true_tools", str(problem))
            continue
        candidates = {}
        for size in SIZES:
            name = f"tool_candidates{size}"
            if row.get(name) is None:
                continue
            try:
                offered = cells.as_list(row[name])
                if lacking := [one for one in true if one not in offered]:
                    raise Unreadable(f"the right tool {', '.join(lacking)} is not among them; this size is left out")
            except Unreadable as problem:
                read.reject(file, number, name, str(problem))
                continue
            if stray := [one for one in offered if one not in tools]:
                read.reject(file, number, name, f"no definition of {', '.join(stray)}; left out")
            candidates[size] = [one for one in offered if one in tools]
        if not candidates:
            read.reject(file, number, "tool_candidates", "no usable list of candidates")
            continue
        inputs = {
            "transcript": transcript,
            "articles": ids,
            "candidates": candidates,
            "sampler": "popular",
            "mode": "auto",
        }
        yield "tools", inputs, {"tools": [{"name": name} for name in true]}, {}
