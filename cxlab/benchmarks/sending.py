"""Conversations of a stored dataset sent to a task that needs no labels, and what came of it.

dataset = finish(send("cdr-set-...", "quality", {"questions": "Did the agent say sorry?"}, context)).dataset
read_answers(run_id)         # one row a conversation and thing asked: what was said, why, by which messages
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Benchmark
from cxlab.benchmarks.generation import Generated, Generation, GenerationContext
from cxlab.benchmarks.generation.budget import CostEstimate
from cxlab.benchmarks.unlabelled import ConversationTask
from cxlab.errors import BadOption, UnknownName
from cxlab.importers.conversations import PackedConversations
from cxlab.metrics.intervals import proportion_interval
from cxlab.records import Dataset, Run, Sample, content_id
from cxlab.store import layout, load, write

CONVERSATIONS = "conversations"
"""The table of a dataset that holds its conversations."""
SENT_TO = "sent_to"
"""Of the config of a dataset that was made for a task: the task."""
_ANSWERS: dict[str, Any] = {
    "conversation_id": pl.String, "asked": pl.String, "said": pl.String, "reason": pl.String,
    "lines": pl.List(pl.Int64), "attempt_id": pl.String, "sample_id": pl.String,
}  # fmt: skip


def list_tasks() -> dict[str, tuple[Benchmark, ConversationTask]]:
    """Id of a task → whose it is, and it."""
    return {task.id: (benchmark, task) for benchmark in REGISTRY.values() for task in benchmark.conversation_tasks}


def find_task(id: str) -> tuple[Benchmark, ConversationTask]:
    """The task of that id; UnknownName otherwise."""
    found = list_tasks()
    if id not in found:
        raise UnknownName("task for conversations without labels", id, found)
    return found[id]


def plan(dataset_id: str, task_id: str, given: Mapping[str, Any], home: Path | None = None) -> CostEstimate | None:
    """What sending asks of a real model before anything is run; None where it asks none."""
    _, task = find_task(task_id)
    settings = task.Settings.read(given)
    count = write.load_table(dataset_id, CONVERSATIONS, home).height
    return task.plan(count, settings) if task.plan is not None else None


def send(dataset_id: str, task_id: str, given: Mapping[str, Any], context: GenerationContext) -> Generation:
    """Make and store a dataset of the task, a sample or more for each conversation, with nothing expected.

    The same conversations with the same settings and seed are the same dataset. It keeps the origin's licence and
    whether it may be passed on. UnknownName for a dataset without conversations, BadOption for a task that makes
    nothing of them.
    """
    benchmark, task = find_task(task_id)
    settings = task.Settings.read(given)
    origin = write.load_dataset(dataset_id, context.home)
    corpus = load_conversations(dataset_id, context.home)
    record = settings.to_record()
    made_id = content_id(dataset_id, list(corpus), task.id, record, context.seed)
    work = layout.resolve_home(context.home) / "work" / content_id("send", made_id)
    context.budget.open(work)
    made = yield from context.budget.follow(task.make(corpus, settings, context))
    if not made.samples:
        raise BadOption(f"{task.title}: none of these conversations can be used")
    dataset = Dataset(
        id=f"{benchmark.card.id}-{task.id.replace('_', '-')}-{made_id}",
        benchmark=benchmark.card.id,
        name=f"{task.title}: {origin.name}",
        source=origin.source,
        config={
            **made.config,
            SENT_TO: task.id,
            "settings": record,
            "conversations": len(corpus),
        },
        seed=context.seed,
        licence=origin.licence,
        created=datetime.now(UTC),
        derived_from=dataset_id,
        derivation="task",
        redistributable=origin.redistributable,
        unlabelled=True,
    )
    samples = [
        Sample(
            id=content_id(dataset.id, place, each.conversation_id),
            dataset_id=dataset.id,
            benchmark=benchmark.card.id,
            task=task.id,
            inputs={**each.inputs, "conversation_id": each.conversation_id},
            expected={},
            facets=dict(each.facets),
        )
        for place, each in enumerate(made.samples)
    ]
    folder = write.save_dataset(dataset, samples, context.home, tables=dict(made.tables))
    shutil.rmtree(work, ignore_errors=True)
    return Generated(dataset, tuple(samples), made.tables, folder)


def load_conversations(dataset_id: str, home: Path | None = None) -> PackedConversations:
    """The conversations of a stored dataset of any benchmark; UnknownName where it has none."""
    found = PackedConversations.from_table(write.load_table(dataset_id, CONVERSATIONS, home), dataset_id)
    if not found:
        raise UnknownName(f"conversation of dataset {dataset_id!r}", "any", ())
    return found


def find_run_task(run: Run) -> ConversationTask:
    """The task that a run's dataset was sent to; BadOption for any other run."""
    sent = str(write.load_dataset(run.dataset_id).config.get(SENT_TO) or "")
    if sent not in list_tasks():
        raise BadOption(f"run {run.id} is not of conversations that were sent to a task")
    return find_task(sent)[1]


def read_answers(run_id: str) -> pl.DataFrame:
    """One row a conversation and thing asked: conversation_id, asked, said (null: unreadable or not delivered), reason,
    lines (places of messages, from 0), attempt_id, sample_id; in the order of the dataset."""
    run = write.load_run(run_id)
    task = find_run_task(run)
    samples = {sample.id: sample for sample in write.load_samples(run.dataset_id)}
    place = {id: number for number, id in enumerate(samples)}
    rows = []
    for attempt, scored in load.load_attempts(run_id):
        if (sample := samples.get(attempt.sample_id)) is None:
            continue
        about = str(sample.inputs["conversation_id"])
        at = place[sample.id], attempt.trial
        for asked, said, reason, lines in task.read(sample, attempt, scored.judgements):
            rows.append((*at, about, asked, said, reason, list(lines), attempt.id, sample.id))
    rows.sort(key=lambda row: row[:2])
    return pl.DataFrame([row[2:] for row in rows], schema=_ANSWERS, orient="row")


def count_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """How often each thing was said: asked, said, n with it, of all that were read, share, low, high (Wilson, 95 %),
    unread; in the order in which things were asked, the most frequent first. Of several trials the first counts."""
    answers = answers.unique(["conversation_id", "asked"], keep="first", maintain_order=True)
    order = {asked: place for place, asked in enumerate(answers["asked"].unique(maintain_order=True))}
    rows: list[tuple[Any, ...]] = []
    for (asked,), part in answers.group_by("asked", maintain_order=True):
        read = part.drop_nulls("said")
        for said, count in read.group_by("said").len().iter_rows():
            share, low, high = proportion_interval(count, read.height)[:3]
            rows.append((asked, said, count, read.height, share, low, high, part.height - read.height))
        if read.is_empty():
            rows.append((asked, None, 0, 0, None, None, None, part.height))
    texts = {"asked": pl.String, "said": pl.String, "n": pl.Int64, "of": pl.Int64}
    figures = dict.fromkeys(("share", "low", "high"), pl.Float64)
    rows.sort(key=lambda row: (order[row[0]], -row[2], row[1] or ""))
    return pl.DataFrame(rows, schema={**texts, **figures, "unread": pl.Int64}, orient="row")
