"""One upload or undoing under way: where it goes, what is noted and refused, and what both ways share."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cxlab.benchmarks.crmarena.live.connection import Connection
from cxlab.benchmarks.crmarena.live.organisation import LiveOrganisation
from cxlab.benchmarks.crmarena.live.uploads import UploadLog
from cxlab.benchmarks.crmarena.organisation.tables import TypeMismatch, to_time
from cxlab.benchmarks.generation.stages import Progress
from cxlab.benchmarks.upload import UploadReport
from cxlab.errors import Unreachable

BATCH = 200
COLLECTION = "composite/sobjects"
ARTICLE, ARTICLES = "Knowledge__kav", "knowledgeManagement/articleVersions/masterVersions"
# The clocks here and there may differ.
_SKEW = timedelta(minutes=15)
UploadWork = Generator[Progress, None, None]


@dataclass
class Job:
    """One upload or undoing under way: where it goes, what is noted, and what was refused."""

    connection: Connection
    uploaded: UploadLog
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    waiting: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)

    def report(self, dataset_id: str, what: str, kept: Sequence[str] = ()) -> UploadReport:
        """What it came to."""
        said = [f"{name}: {count:,} refused ({code})" for (name, code), count in self.refused.items()]
        said += [
            f"{name}: {count:,} left, because others that they name are not there"
            for name, count in self.waiting.items()
        ]
        lines = [f"{name:24}{count:>8,} {what}" for name, count in self.done.items()]
        record = {
            "dataset": dataset_id,
            "host": self.connection.host,
            what: dict(self.done),
            "refused": sum(self.refused.values()),
            "left": sum(self.waiting.values()),
        }
        return UploadReport(record, (*lines, *kept), tuple(said), whole=not said)


def check_answers(job: Job, answers: Any, count: int) -> list[dict[str, Any]]:
    if not (isinstance(answers, list) and len(answers) == count and all(isinstance(each, dict) for each in answers)):
        raise Unreachable(f"{job.connection.host} does not answer for each record that it was sent")
    return answers


def name_error(answer: Mapping[str, Any]) -> str:
    first: Mapping[str, Any] = next(iter(answer.get("errors") or ()), {})
    return f"{first.get('statusCode', 'no reason')}: {first.get('message', '')}"[:200]


def set_field(job: Job, name: str, field_name: str, values: Mapping[str, Any]) -> UploadWork:
    """Set one field of records that were uploaded."""
    ids = job.uploaded.list_made(name)
    todo = [(ids[key], value) for key, value in values.items() if key in ids]
    for start in range(0, len(todo), BATCH):
        batch = todo[start : start + BATCH]
        records = [{"attributes": {"type": name}, "id": id, field_name: value} for id, value in batch]
        answers = job.connection.send("PATCH", COLLECTION, {"allOrNone": False, "records": records})
        for answer in check_answers(job, answers, len(batch)):
            if not answer.get("success"):
                job.refused[f"{name}.{field_name}", name_error(answer)] += 1
        yield Progress(f"{name} {field_name}", start + len(batch), len(todo))


def find_lost_batch(job: Job) -> None:
    """Note the records of a batch whose answer never came, by what was sent, where the organisation has them."""
    lost = job.uploaded.find_lost()
    if lost is None:
        return
    live = LiveOrganisation.open(connection=job.connection)
    fields = sorted({name for body in lost.bodies.values() for name in body})
    since = (lost.since - _SKEW).strftime("%Y-%m-%dT%H:%M:%SZ")
    records = live.soql(f"SELECT {', '.join(['Id', *fields])} FROM {lost.object} WHERE SystemModstamp >= {since}")
    known = set(job.uploaded.ids.values())
    there: dict[str, list[str]] = {}
    for record in records:
        if record["Id"] not in known:
            there.setdefault(_digest(record, fields), []).append(record["Id"])
    made = {}
    for key, body in lost.bodies.items():
        if key not in job.uploaded.ids and (same := there.get(_digest(body, fields))):
            made[key] = same.pop()
    job.uploaded.add(lost.object, made)
    job.uploaded.end()
    job.done[lost.object] += len(made)


def _digest(values: Mapping[str, Any], fields: Sequence[str]) -> str:
    return json.dumps([_plain(values.get(name)) for name in fields])


def _plain(value: Any) -> Any:
    """A value as it can be compared: the server writes numbers, times and blanks in its own way."""
    if isinstance(value, bool) or value is None:
        return value or None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        try:
            return to_time(value).isoformat()
        except TypeMismatch:
            pass
    return " ".join(value.split()) or None if isinstance(value, str) else value
