"""Upload a stored organisation to a live one, and take it away again: `python -m cxlab upload DATASET`.

Records are made in batches of 200 over the REST interface, and their ids noted after each (`uploads.py`), so that an
upload that was stopped goes on, and what agents ask of it has the ids of the dataset. A batch whose answer never came
is looked for by what was sent before anything is sent twice. Nothing is touched that the upload did not make.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from pydantic import Field

from cxlab.benchmarks.crmarena.live import upload_job
from cxlab.benchmarks.crmarena.live.connection import Connection
from cxlab.benchmarks.crmarena.live.organisation import LiveOrganisation
from cxlab.benchmarks.crmarena.live.removal import SAY_USERS, undo
from cxlab.benchmarks.crmarena.live.target import read_target
from cxlab.benchmarks.crmarena.live.upload_job import (
    ARTICLE,
    ARTICLES,
    COLLECTION,
    Job,
    UploadWork,
    check_answers,
    find_lost_batch,
    name_error,
    set_field,
)
from cxlab.benchmarks.crmarena.live.upload_records import (
    FIRST,
    KB_A_RECORD,
    UploadPlan,
    list_last,
    list_objects,
    make_plan,
)
from cxlab.benchmarks.crmarena.live.uploads import hold, look_at
from cxlab.benchmarks.crmarena.organisation.schema import Schema
from cxlab.benchmarks.crmarena.organisation.schema_changes import load_of
from cxlab.benchmarks.crmarena.organisation.tables import read_folder
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.generation.stages import Progress
from cxlab.benchmarks.upload import Steps, Uploader, UploadReport
from cxlab.errors import CxError, NotConfigured
from cxlab.records.settings import Settings
from cxlab.store import home, layout

_ID = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{18}(?![A-Za-z0-9])")


class UploadOptions(Settings):
    """How a live organisation is filled."""

    profile: str = Field("Standard User", description="The profile of the users that are made.")
    incomplete: bool = Field(
        False, description="Upload although the organisation lacks something; questions about that have other answers."
    )


def preview(dataset_id: str, options: UploadOptions, undo: bool) -> UploadReport:
    """How many records of which object would be made or taken away, and what stands in the way; changes nothing."""
    try:
        connection = Connection.open()
    except NotConfigured as lacking:
        if undo:
            raise
        connection, said = None, str(lacking)
    schema, tables = _read(dataset_id)
    if connection is None:
        plan, made, host = make_plan(tables, schema, None), {}, ""
    else:
        host = connection.host
        uploaded = look_at(dataset_id, host)
        made = {name: uploaded.list_made(name) for name in list_objects(schema)}
        if undo:
            counts = {name: len(each) for name, each in made.items() if each}
            lines = [f"{name:24}{count:>8,} to take away" for name, count in reversed(counts.items())]
            lines.append(SAY_USERS if made.get("User") else f"{sum(counts.values()):,} records at {host}")
            return UploadReport({"dataset": dataset_id, "host": host, "to_remove": counts}, tuple(lines))
        target = read_target(connection, list_objects(schema), options.profile)
        plan = make_plan(tables, schema, target)
    counts = {name: len(stage) for name, stage in plan.stages.items()}
    there = {name: len(made.get(name, {}).keys() & stage.keys()) for name, stage in plan.stages.items()}
    lines = [f"{name:24}{count:>8,} records" + _say_there(there[name]) for name, count in counts.items()]
    to_make = plan.count - sum(there.values())
    requests = sum(math.ceil((count - there[name]) / upload_job.BATCH) for name, count in counts.items())
    size_mb = math.ceil(to_make * KB_A_RECORD / 1024)
    lines.append(
        f"{plan.count - sum(there.values()):,} records to make, about {requests:,} requests and {size_mb:,} MB"
    )
    complaints = [*plan.problems] if connection is not None else [said]
    if connection is not None:
        complaints += _find_limits(requests, size_mb, target.requests, target.storage_mb)
    record = {"dataset": dataset_id, "host": host, "to_make": counts, "there": there, "problems": complaints}
    return UploadReport(record, tuple(lines), tuple(complaints), whole=not complaints)


def _say_there(count: int) -> str:
    return f", {count:,} of them there already" if count else ""


def _find_limits(requests: int, size_mb: int, left: int | None, storage_mb: int | None) -> Iterator[str]:
    if left is not None and requests > left:
        yield f"requests: about {requests:,} are needed, {left:,} are left today; the upload stops there and can go on"
    if storage_mb is not None and size_mb > storage_mb:
        yield f"data storage: about {size_mb:,} MB are needed, {storage_mb:,} MB are left"


def _read(dataset_id: str) -> tuple[Schema, dict[str, pl.DataFrame]]:
    """The schema and the tables of a stored dataset."""
    folder = layout.dataset_folder(home(), dataset_id)
    schema = load_of(folder)
    return schema, read_folder(folder, schema)


def upload(dataset_id: str, options: UploadOptions) -> Steps:
    """Make the records that are not there yet; refuses an organisation that lacks something unless told otherwise."""
    connection, (schema, tables) = Connection.open(), _read(dataset_id)
    with hold(dataset_id, connection.host) as uploaded:
        plan = make_plan(tables, schema, read_target(connection, list_objects(schema), options.profile))
        if plan.problems and not options.incomplete:
            raise CxError(
                f"{connection.host} lacks {len(plan.problems)} things ({plan.problems[0]}); python -m cxlab upload "
                f"{dataset_id} lists them, --incomplete uploads all the same"
            )
        job = Job(connection, uploaded)
        find_lost_batch(job)
        yield from _wake_users(job)
        for name in plan.stages:
            yield from _make(job, plan, name)
            if name == "Account":
                yield from _pair_contacts(job, tables["Contact"].select("Id", "AccountId").drop_nulls().iter_rows())
        if job.refused or job.waiting:
            kept = ["Orders stay drafts and articles unpublished until the rest is there (or with --incomplete)."]
            if not options.incomplete:
                return job.report(dataset_id, "made", kept)
        for name in FIRST:
            yield from set_field(job, name, FIRST[name][0], list_last(name, tables))
        yield from _publish(job)
        return job.report(dataset_id, "made", [f"Ask it with: --option organisation=live ({uploaded.path})"])


def _make(job: Job, plan: UploadPlan, name: str) -> UploadWork:
    """Make what is not there yet of one object; a batch that is refused whole ends it."""
    ids = job.uploaded.ids
    todo = {key: body for key, body in plan.stages[name].items() if key not in ids}
    total, tried = len(plan.stages[name]), len(plan.stages[name]) - len(todo)
    yield Progress(name, tried, total)
    keys = [*todo]
    for start in range(0, len(keys), upload_job.BATCH):
        batch: dict[str, dict[str, Any]] = {}
        for key in keys[start : start + upload_job.BATCH]:
            body = _translate(todo[key], ids, plan.stored_ids)
            if body is None:
                job.waiting[name] += 1
            else:
                batch[key] = body
        made = _send(job, name, batch) if batch else {}
        if batch and not made:
            if left := len(keys) - start - upload_job.BATCH:
                job.waiting[name] += max(left, 0)
            return
        tried += len(keys[start : start + upload_job.BATCH])
        yield Progress(name, tried, total)


def _translate(body: Mapping[str, Any], ids: Mapping[str, str], stored: frozenset[str]) -> dict[str, Any] | None:
    """The fields with the server's ids; None where one names a record that is not there. Long texts may name any."""
    found: dict[str, Any] = {}
    for name, value in body.items():
        given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if any(each in stored and each not in ids for each in given):
            return None
        if isinstance(value, str):
            found[name] = _ID.sub(lambda match: ids.get(match[0], match[0]), value)
        else:
            found[name] = [ids.get(each, each) for each in value] if isinstance(value, list) else value
    return found


def _send(job: Job, name: str, batch: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Make one batch and note its ids; what is refused is counted."""
    job.uploaded.begin(name, batch)
    records = [{"attributes": {"type": name}, **body} for body in batch.values()]
    try:
        answers = job.connection.send("POST", COLLECTION, {"allOrNone": False, "records": records})
    except QueryError as fault:
        answers = [{"success": False, "errors": [{"statusCode": fault.code, "message": fault.message}]}] * len(batch)
    made: dict[str, str] = {}
    for key, answer in zip(batch, check_answers(job, answers, len(batch)), strict=True):
        if answer.get("success"):
            made[key] = answer["id"]
        else:
            job.refused[name, name_error(answer)] += 1
    job.uploaded.add(name, made)
    job.uploaded.end()
    job.done[name] += len(made)
    return made


def _pair_contacts(job: Job, contacts: Iterator[tuple[str, str]]) -> UploadWork:
    """Pair each contact with the one that the product made of its account."""
    ids = job.uploaded.ids
    accounts = {contact: ids[account] for contact, account in contacts if contact not in ids and account in ids}
    wanted = [*dict.fromkeys(accounts.values())]
    live = LiveOrganisation.open(connection=job.connection)
    person: dict[str, str] = {}
    for start in range(0, len(wanted), upload_job.BATCH):
        listed = ", ".join(f"'{each}'" for each in wanted[start : start + upload_job.BATCH])
        found = live.soql(f"SELECT Id, PersonContactId FROM Account WHERE Id IN ({listed})")
        person |= {each["Id"]: each["PersonContactId"] for each in found if each.get("PersonContactId")}
        yield Progress("Contact", min(start + upload_job.BATCH, len(wanted)), len(wanted))
    job.uploaded.add("Contact", {each: person[account] for each, account in accounts.items() if account in person})


def _wake_users(job: Job) -> UploadWork:
    """Users that an earlier upload made, and its undoing made inactive."""
    yield from set_field(job, "User", "IsActive", dict.fromkeys(job.uploaded.list_made("User"), True))


def _publish(job: Job) -> UploadWork:
    """Publish the articles that are drafts."""
    made = job.uploaded.list_made(ARTICLE)
    if not made:
        return
    query = f"SELECT Id FROM {ARTICLE} WHERE PublishStatus = 'Draft' AND Language = 'en_US'"
    drafts = {each["Id"] for each in LiveOrganisation.open(connection=job.connection).soql(query)} & set(made.values())
    for number, article in enumerate(sorted(drafts), 1):
        try:
            job.connection.send("PATCH", f"{ARTICLES}/{article}", {"publishStatus": "Online"})
        except QueryError as fault:
            job.refused["articles to publish", str(fault)[:200]] += 1
        yield Progress("articles", number, len(drafts))


UPLOADER = Uploader(
    to="a Salesforce organisation, named in the environment as for --option organisation=live",
    preview=preview,
    upload=upload,
    undo=undo,
    Options=UploadOptions,
)
