"""The published rows as drafts of samples: one function a task, each row checked, what is wrong with it reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cxlab.benchmarks.cxmarena.importers.published_folder import PublishedFolder
from cxlab.errors import BadFile
from cxlab.importers import cells
from cxlab.importers.cells import Unreadable
from cxlab.records import content_id

SIZES = ("16", "32", "64", "96", "128")
OTHERS = "Others"
TAXONOMIES = {"1": "A", "2": "B", "3": "C"}

SampleDraft = tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]
"""task, inputs, expected, facets"""


def _needs(read: PublishedFolder, part: str, other: str, there: object) -> bool:
    """Whether a part can be used; says so in the report when what it refers to is missing."""
    if part in read.parts and not there:
        for file, _ in read.parts[part]:
            read.reject(file, None, None, f"left out: it needs {other}, which the folder lacks")
        return False
    return part in read.parts


def draft_refinement(read: PublishedFolder, corpus: set[str] | None) -> Iterator[SampleDraft]:
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


def draft_intent(read: PublishedFolder, taxonomies: dict[str, list[dict[str, str | None]]]) -> Iterator[SampleDraft]:
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
            inputs: dict[str, Any] = {"transcript": transcript, "taxonomy": letter}
            if label not in labels[letter] and label != OTHERS:
                inputs |= _keep(read, file, number, column, f"{label!r} is no label of taxonomy {letter}")
            yield "intent", inputs, {"label": label}, {"level": letter, "intent": label}


def _keep(read: PublishedFolder, file: str, row: int, column: str, problem: str) -> dict[str, str]:
    """What marks a row that nobody can get right: the public evaluator counts it as wrong, so it stays and counts."""
    read.reject(file, row, column, f"{problem}; kept, and wrong for everybody as in the published figures")
    return {"unreachable": problem}


def join_label(first: str | None, second: str | None) -> str:
    """The label of a taxonomy's row: L1, or L1:L2 without a space."""
    return f"{first}:{second}" if second else str(first)


def draft_quality(read: PublishedFolder) -> Iterator[SampleDraft]:
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


def draft_search(read: PublishedFolder, corpus: set[str] | None) -> Iterator[SampleDraft]:
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


def _known_ids(
    read: PublishedFolder, file: str, number: int, column: str, cell: Any, corpus: set[str] | None
) -> list[str]:
    """The ids of a cell that the corpus has; each other one is reported."""
    try:
        ids = _ids_of(cell, strict=True)
    except Unreadable as problem:
        read.reject(file, number, column, str(problem))
        return []
    for one in ids:
        if one not in (corpus or ()):
            read.reject(file, number, column, f"no article {one} in the split multi_turn_articles; left out")
    return [one for one in ids if one in (corpus or ())]


def _ids_of(cell: Any, strict: bool = False) -> list[str]:
    """The ids of a cell, each once; none, or Unreadable where it is `strict`, when it holds no list."""
    try:
        return list(dict.fromkeys(cells.as_list(cell)))
    except Unreadable:
        if strict:
            raise
        return []


def draft_multi_turn(read: PublishedFolder, corpus: set[str] | None) -> Iterator[SampleDraft]:
    if not _needs(read, "multi_turn", "the split multi_turn_articles", corpus):
        return
    for file, number, row in read.rows("multi_turn"):
        transcript = cells.as_text(row["conversation_context"])
        ids = _known_ids(read, file, number, "kb_ids", row["kb_ids"], corpus)
        if not transcript:
            read.reject(file, number, "conversation_context", "empty")
        else:
            inputs: dict[str, Any] = {"transcript": transcript, "corpus": "multi_turn"}
            if not ids:
                inputs |= _keep(read, file, number, "kb_ids", "no known article")
            expected: dict[str, Any] = {"article_ids": ids, "answer": cells.as_text(row.get("correct_agent_response"))}
            if (named := _ids_of(row["kb_ids"])) != ids:
                expected["published_ids"] = named
            yield "multi_turn", inputs, expected, {}


def draft_tool_calling(read: PublishedFolder, corpus: set[str] | None, tools: dict[str, str]) -> Iterator[SampleDraft]:
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
        except Unreadable as problem:
            read.reject(file, number, "true_tools", str(problem))
            continue
        inputs: dict[str, Any] = {"transcript": transcript, "articles": ids, "sampler": "popular", "mode": "auto"}
        if stray := [name for name in true if name not in tools]:
            inputs |= _keep(read, file, number, "true_tools", f"no definition of {', '.join(stray)}")
        candidates = {}
        for size in SIZES:
            name = f"tool_candidates{size}"
            if row.get(name) is None:
                continue
            try:
                offered = cells.as_list(row[name])
                if lacking := [one for one in true if one not in offered]:
                    inputs |= _keep(read, file, number, name, f"the right tool {', '.join(lacking)} is not among them")
            except Unreadable as problem:
                read.reject(file, number, name, str(problem))
                continue
            if stray := [one for one in offered if one not in tools]:
                read.reject(file, number, name, f"no definition of {', '.join(stray)}; left out")
            candidates[size] = [one for one in offered if one in tools]
        if not candidates:
            read.reject(file, number, "tool_candidates", "no usable list of candidates")
            continue
        inputs["candidates"] = candidates
        yield "tools", inputs, {"tools": [{"name": name} for name in true]}, {"sampler": "popular"}
