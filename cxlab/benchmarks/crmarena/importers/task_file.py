"""The published task file: a JSON list, or JSON Lines, of queries with their answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from cxlab import files
from cxlab.benchmarks.crmarena.tasks import TASKS
from cxlab.errors import BadFile
from cxlab.importers.imported import RejectedRow

LARGEST_FILE = 100_000_000
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TODAY = re.compile(rf"today\D{{0,40}}({_DAY.pattern})", re.I)
_CONTACT, _CASE = re.compile(r"\b003\w{12,15}\b"), re.compile(r"\b500\w{12,15}\b")


class _Metadata(BaseModel):
    model_config = ConfigDict(extra="ignore")

    required: str | None = None
    optional: str | None = None


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")

    idx: int
    query: str = Field(min_length=1)
    # A later version of the file has lists; here they have one element.
    answer: str | list[str | None] | None
    task: str = Field(validation_alias=AliasChoices("task", "type"))
    metadata: _Metadata | None = None
    reward_metric: str | None = None


@dataclass(frozen=True)
class PublishedTask:
    """One query. `required` is told to every agent, `optional` to those that are aided; `today`, `contact_id` and
    `case_id` are what `required` names of them, None where it names none.
    """

    number: int
    task: str
    query: str
    answer: str | None
    required: str
    optional: str
    today: str | None
    contact_id: str | None
    case_id: str | None


def read_tasks(path: Path) -> tuple[list[PublishedTask], list[RejectedRow], int]:
    """The tasks of a file, what could not be taken, and how many rows there are; BadFile where nothing can be read."""
    rows = _read_rows(path)
    found: list[PublishedTask] = []
    rejected: list[RejectedRow] = []
    seen: set[int] = set()
    for number, given in enumerate(rows, 1):
        try:
            one = _read(given)
        except _Unusable as fault:
            rejected.append(RejectedRow(path.name, number, fault.field, str(fault)))
            continue
        if one.number in seen:
            rejected.append(RejectedRow(path.name, number, "idx", f"{one.number} came before"))
            continue
        seen.add(one.number)
        found.append(one)
    if not found:
        first = f"; the first problem: {rejected[0]}" if rejected else ""
        raise BadFile(path, None, f"no task could be used{first}", "each needs idx, query, answer and task")
    return found, rejected, len(rows)


class _Unusable(ValueError):
    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def _read_rows(path: Path) -> list[Any]:
    text = files.read_text(path, LARGEST_FILE)
    if text.lstrip()[:1] == "{" and path.suffix.lower() != ".json":
        rows = []
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                rows.append(files.parse_json(line, path, number))
        return rows
    found = files.parse_json(text, path)
    if not isinstance(found, list):
        raise BadFile(path, 1, "is no list of tasks", "take the published file, a JSON list or JSON Lines")
    return found


def _read(given: Any) -> PublishedTask:
    try:
        row = _Row.model_validate(given)
    except ValidationError as fault:
        first = fault.errors(include_url=False)[0]
        raise _Unusable(".".join(map(str, first["loc"][:1])), str(first["msg"])) from None
    if row.task not in TASKS:
        raise _Unusable("task", f"{row.task[:60]!r} is none of the nine tasks")
    answer = row.answer
    if isinstance(answer, list):
        if len(answer) != 1:
            raise _Unusable("answer", f"{len(answer)} answers; one is needed")
        answer = answer[0]
    task = TASKS[row.task]
    if answer is None and not task.unanswerable:
        raise _Unusable("answer", f"null, and every query of {row.task} has an answer")
    if row.reward_metric not in (None, task.metric):
        raise _Unusable("reward_metric", f"{row.reward_metric!r}, not {task.metric}")
    required = (row.metadata.required if row.metadata else None) or ""
    optional = (row.metadata.optional if row.metadata else None) or ""
    told = f"{required}\n{row.query}"
    today = _TODAY.search(told) or _DAY.search(required)
    day = _DAY.search(today[0]) if today else None
    contact, case = _CONTACT.search(required), _CASE.search(required)
    return PublishedTask(
        number=row.idx,
        task=row.task,
        query=row.query,
        answer=answer,
        required=required,
        optional=optional,
        today=day[0] if day else None,
        contact_id=contact[0] if contact else None,
        case_id=case[0] if case else None,
    )
