"""Take away what an upload made: records in the opposite order, users made inactive."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from cxlab.benchmarks.crmarena.live import upload_job
from cxlab.benchmarks.crmarena.live.connection import Connection
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
from cxlab.benchmarks.crmarena.live.upload_records import FIRST, list_objects
from cxlab.benchmarks.crmarena.live.uploads import hold
from cxlab.benchmarks.crmarena.organisation.schema_changes import load_of
from cxlab.benchmarks.crmarena.soql.errors import QueryError
from cxlab.benchmarks.generation.stages import Progress
from cxlab.benchmarks.upload import Steps
from cxlab.records.settings import Settings
from cxlab.store import home, layout

_GONE = {"ENTITY_IS_DELETED", "NOT_FOUND", "INVALID_CROSS_REFERENCE_KEY"}
SAY_USERS = "Users cannot be deleted: they are made inactive. What is deleted lies in the organisation's recycle bin."


def undo(dataset_id: str, options: Settings) -> Steps:
    """Take away the records that the upload made, those that refer to others first; users are made inactive."""
    del options
    connection, schema = Connection.open(), load_of(layout.dataset_folder(home(), dataset_id))
    with hold(dataset_id, connection.host) as uploaded:
        job = Job(connection, uploaded)
        find_lost_batch(job)
        job.done.clear()
        field_name, draft = FIRST["Order"]
        yield from set_field(job, "Order", field_name, dict.fromkeys(uploaded.list_made("Order"), draft))
        for name in reversed(list_objects(schema)):
            made = uploaded.list_made(name)
            if name == "User":
                yield from set_field(job, name, "IsActive", dict.fromkeys(made, False))
            elif name == ARTICLE:
                yield from _remove_articles(job, made)
            elif name != "Contact":
                yield from _remove(job, name, made)
            elif made:
                left = uploaded.list_made("Contact")
                uploaded.drop(left)  # they go with their accounts
        return job.report(dataset_id, "taken away", [SAY_USERS] if uploaded.list_made("User") else [])


def _remove(job: Job, name: str, made: Mapping[str, str]) -> UploadWork:
    keys = [*made][::-1]  # a product's standard price after its others
    for start in range(0, len(keys), upload_job.BATCH):
        batch = keys[start : start + upload_job.BATCH]
        asked = {"ids": ",".join(made[key] for key in batch), "allOrNone": "false"}
        answers = check_answers(job, job.connection.send("DELETE", COLLECTION, params=asked), len(batch))
        gone = {}
        for key, answer in zip(batch, answers, strict=True):
            why = name_error(answer)
            if answer.get("success") or why.partition(":")[0] in _GONE:
                gone[key] = made[key]
            else:
                job.refused[name, why] += 1
        job.uploaded.drop(gone)
        job.done[name] += len(gone)
        yield Progress(name, start + len(batch), len(keys))


def _remove_articles(job: Job, made: Mapping[str, str]) -> UploadWork:
    """An article that was published is archived before it can be deleted."""
    for number, (key, article) in enumerate(made.items(), 1):
        with suppress(QueryError):  # a draft cannot be archived, and need not be
            job.connection.send("PATCH", f"{ARTICLES}/{article}", {"publishStatus": "Archived"})
        why = ""
        try:
            job.connection.send("DELETE", f"{ARTICLES}/{article}")
        except QueryError as fault:
            why = "" if fault.code in _GONE else str(fault)[:200]
        if why:
            job.refused[ARTICLE, why] += 1
        else:
            job.uploaded.drop({key: article})
            job.done[ARTICLE] += 1
        yield Progress(ARTICLE, number, len(made))
