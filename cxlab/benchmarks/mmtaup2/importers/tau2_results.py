"""tau2-bench's result files into a run: attempts with all that was said and done, how they ended, how they were marked.

Three layouts are read: one `results.json` with its simulations in it, the same with them beside it as
`simulations/ID.json`, and tau-bench's list of records. Keys that are not known are passed over, and keys that an older
file lacks are taken as null. The run's id is the hash of what was read, so a file imported twice is one run.
"""

from __future__ import annotations

import errno
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from cxlab.benchmarks import get
from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.mmtaup2 import worlds
from cxlab.benchmarks.mmtaup2.evaluation import measured_metrics as measuring
from cxlab.benchmarks.mmtaup2.evaluation import unknown_world
from cxlab.benchmarks.mmtaup2.generate import exposure_facet
from cxlab.benchmarks.mmtaup2.importers.tau2 import LICENCE, read_json
from cxlab.benchmarks.mmtaup2.importers.tau2_file import (
    LARGEST_FILE,
    list_simulations,
    read_object,
    read_tasks,
    read_text,
    tasks_within,
    without_doubles,
)
from cxlab.benchmarks.mmtaup2.importers.tau2_simulations import (
    RawSimulation,
    mark,
    read_end,
    read_messages,
    read_simulation,
    read_time,
    read_usage,
)
from cxlab.benchmarks.mmtaup2.importers.tau2_tasks import (
    RawTask,
    Unusable,
    compose,
    describe,
    facets_of,
    sample_id,
)
from cxlab.benchmarks.mmtaup2.tasks.samples import BENCHMARK, HELD_ELSEWHERE, task_of, to_sample
from cxlab.benchmarks.mmtaup2.worlds import World
from cxlab.errors import BadFile
from cxlab.files import find_fault
from cxlab.importers.imported import RejectedRow
from cxlab.importers.importer import ImportReport
from cxlab.records import Attempt, Dataset, Run, Sample, Score, content_id

LONGEST_MODEL = 100


@dataclass
class Results:
    """What a file came to; nothing is stored yet. `rows` counts the simulations that the file has, `new` is whether
    `save` met no run of the same content."""

    run: Run
    dataset: Dataset
    samples: list[Sample]
    attempts: list[tuple[Attempt, Scored]]
    rejected: list[RejectedRow]
    rows: int
    new: bool = True

    def save(self, home: Path | str | None = None) -> None:
        """Store the run and its tasks, unless this very run is there already."""
        self.new = store(self, home)

    def report(self) -> ImportReport:
        """The run, and how many of its simulations were taken."""
        record = {
            "run": self.run.id,
            "model": self.run.model,
            "domain": self.run.setup["domain"],
            "simulations": self.rows,
            "attempts": len(self.attempts),
            "passed": self.passed,
            "rejected": len(self.rejected),
            "new": self.new,
        }
        state = "" if self.new else " (this run was there already)"
        taken = f"{len(self.attempts)} of {self.rows} simulations of {self.run.model}, {self.passed} passed{state}"
        complaints = tuple(f"rejected: {one}" for one in self.rejected)
        return ImportReport(record, (f"{self.run.id}: {taken}",), complaints)

    @property
    def passed(self) -> int:
        """Attempts with the full reward."""
        return sum(
            score.metric == "right" and score.value == 100 for _, scored in self.attempts for score in scored.scores
        )


def store(found: Results, home: Path | str | None = None) -> bool:
    """Store the run and its tasks; False when this very run is there already. The run appears whole or not at all."""
    from cxlab.store import layout, write
    from cxlab.store.compact import compact

    base = layout.resolve_home(home)
    folder = base / "runs" / found.run.id
    if folder.exists():
        return False
    write.save_dataset(found.dataset, found.samples, base)
    (base / "tmp").mkdir(parents=True, exist_ok=True)
    (base / "runs").mkdir(exist_ok=True)
    # Written in a store of its own, and moved when it is done.
    with tempfile.TemporaryDirectory(dir=base / "tmp", ignore_cleanup_errors=True) as aside:
        fresh = write.create_run(found.run, aside)
        with write.PartWriter(found.run, {sample.id: sample for sample in found.samples}, home=aside) as parts:
            tasks = {sample.id: sample.task for sample in found.samples}
            complete = get(found.run.benchmark).complete
            for attempt, scored in found.attempts:
                parts.add(attempt, complete(tasks[attempt.sample_id], attempt, scored))
        compact(found.run.id, aside)
        layout.write_whole(fresh / "status.json", orjson.dumps(_status(found)))
        try:
            fresh.rename(folder)
        except OSError as taken:
            if taken.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            return False
    return True


def read_file(path: Path | str) -> Results:
    """Read and check a result file, or the folder that it lies in; BadFile for what cannot be read at all."""
    file = Path(path)
    if file.is_dir():
        there = sorted(each.name for each in file.glob("*.json"))
        file = file / "results.json"
        if file.name not in there:
            fix = f"give one of its files: {', '.join(there[:8])}" if there else "give the file itself"
            raise BadFile(file.parent, None, "holds no results.json", fix)
    whole = read_json(file, LARGEST_FILE)
    rejected: list[RejectedRow] = []
    head: dict[str, Any] = whole if isinstance(whole, dict) else {}
    info = read_object(head.get("info"))
    if beyond := find_fault(info):
        raise BadFile(file, None, f"info.{'.'.join(beyond.where[:6])}: {beyond.problem}", beyond.fix)
    domain = read_text(read_object(info.get("environment_info")).get("domain_name")) or _domain_by_name(file)
    policy = read_text(read_object(info.get("environment_info")).get("policy"))
    world = worlds.load(domain, 0, 1) if domain in worlds.DOMAINS else None
    tasks = read_tasks(file.name, head.get("tasks") or tasks_within(whole), rejected)
    talks, rows = [], 0
    for name, row, given in list_simulations(file, whole, rejected):
        rows += 1
        try:
            talks.append((name, row, read_simulation(given)))
        except Unusable as fault:
            rejected.append(RejectedRow(name, row, fault.field, str(fault)))
    kept = without_doubles(talks, rejected)
    if not kept:
        first = f"; the first problem: {rejected[0]}" if rejected else ""
        raise BadFile(file, None, f"no simulation could be used{first}", "give a results.json that tau2-bench wrote")
    samples = _samples(domain, tasks, [talk.task_id for talk, _ in kept], bool(info.get("audio_native_config")), world)
    dataset_id = "tau2-results-" + content_id([sample.model_dump(mode="json") for sample in samples.values()])
    created = read_time(read_text(head.get("timestamp"))) or datetime.fromtimestamp(file.stat().st_mtime, UTC)
    samples = {name: sample.model_copy(update={"dataset_id": dataset_id}) for name, sample in samples.items()}
    run = _run(file, info, domain, dataset_id, [(talk, trial) for talk, trial in kept], created)
    attempts = [
        _attempt(run, samples[talk.task_id], talk, trial, world, created, place, policy)
        for place, (talk, trial) in enumerate(kept)
    ]
    dataset = Dataset(
        id=dataset_id,
        benchmark=BENCHMARK,
        name=f"Tasks of tau2-bench results, {domain}",
        source="imported",
        config={"domain": domain, "tasks": len(samples)},
        seed=None,
        licence=LICENCE,
        created=created,
    )
    return Results(run, dataset, list(samples.values()), attempts, rejected, rows)


def _samples(
    domain: str, tasks: Mapping[str, RawTask], names: list[str], voice: bool, world: World | None
) -> dict[str, Sample]:
    """Task id → sample; of a task that the file does not describe, its id is all that is known."""
    found = {}
    for name in dict.fromkeys(names):
        raw = tasks.get(name) or RawTask(id=name)
        # Its agents know of a customer what the customer says.
        facets = {**facets_of(raw), "exposure": exposure_facet(0), "modality": "voice" if voice else "text"}
        task = compose(raw, domain, world) if world else None
        if task is None:
            inputs, expected, leaf = describe(raw, domain)
            known = {"scenario": domain, "leaf": leaf, "language": "en", **facets}
            shown = {name: value for name, value in known.items() if value is not None}
            found[name] = Sample(
                id=sample_id(domain, raw),
                dataset_id="",
                benchmark=BENCHMARK,
                task=domain,
                inputs=inputs,
                expected=expected,
                facets=shown,
            )
        else:
            found[name] = to_sample(task, "", facets, sample_id(domain, raw))
    return found


def _run(
    file: Path,
    info: Mapping[str, Any],
    domain: str,
    dataset_id: str,
    kept: list[tuple[RawSimulation, int]],
    created: datetime,
) -> Run:
    agent, customer = read_object(info.get("agent_info")), read_object(info.get("user_info"))
    llm, made = read_text(agent.get("llm")), read_text(agent.get("implementation"))
    no_model = llm.lower() in ("", "none")
    seed = info.get("seed")
    said = [talk.model_dump(mode="json") for talk, _ in kept]
    return Run(
        id="tau2-" + content_id(info, said),
        benchmark=BENCHMARK,
        model=(made or file.stem if no_model else llm)[:LONGEST_MODEL],
        # A script that plays the agent is no model, and must not pass for one.
        simulated=no_model and bool(made),
        setup={
            "imported_from": file.name,
            "domain": domain,
            "agent": made,
            "agent_options": read_object(agent.get("llm_args")),
            "customer": read_text(customer.get("llm")),
            "max_steps": info.get("max_steps"),
            "max_errors": info.get("max_errors"),
        },
        judges=(),
        dataset_id=dataset_id,
        seed=seed if isinstance(seed, int) and not isinstance(seed, bool) else 0,
        trials=max(trial for _, trial in kept) + 1,
        planned=len(kept),
        prompts={},
        code="tau2-bench " + (read_text(info.get("git_commit")) or "of unknown version"),
        created=created,
    )


def _attempt(
    run: Run,
    sample: Sample,
    talk: RawSimulation,
    trial: int,
    world: World | None,
    created: datetime,
    place: int,
    policy: str,
) -> tuple[Attempt, Scored]:
    messages = read_messages(talk.messages or (), world)
    outcome, failures = read_end(talk)
    marked = mark(talk)
    attempt_id = content_id(run.id, talk.task_id, trial, place)
    passed = None if marked.reward is None else marked.reward >= 1 - 1e-6
    handed_over = any(
        message.data.get("tool") == "transfer_to_human_agents" and message.data.get("kind") == "ok"
        for message in messages
    )
    attempt = Attempt(
        id=attempt_id,
        run_id=run.id,
        sample_id=sample.id,
        trial=trial,
        messages=messages,
        output={
            "reward": {"reward": marked.reward, **marked.parts},
            "passed": passed,
            "persona": sample.facets.get("persona"),
            "modality": sample.facets.get("modality"),
            "ended": talk.termination_reason,
            "transferred": handed_over,
            HELD_ELSEWHERE: talk.id,
            **_told(policy),
        },
        outcome=outcome,
        ended_by=talk.termination_reason or "unknown",
        failures=failures,
        usage=read_usage(talk.messages or ()),
        latency_s=talk.duration or 0.0,
        cost_usd=talk.agent_cost,
        started=read_time(talk.start_time) or read_time(talk.timestamp) or created,
    )
    # The pages rank by `overall` and list under Failures what is not `right`; all are points from 0 to 100.
    values = {
        "overall": None if marked.reward is None else 100 * marked.reward,
        "right": None if passed is None else 100.0 * passed,
        "pass": None if passed is None else 100.0 * passed,
        **{name: 100 * share for name, share in marked.parts.items()},
    }
    scores = [
        Score(
            attempt_id=attempt_id,
            turn=None,
            metric=name,
            value=value,
            reason=marked.reason or None if value is None or name == "right" else None,
        )
        for name, value in values.items()
    ]
    if messages and "optimal_turns" in sample.expected:
        # Telecom's and retail's tasks are ours too: their metrics are measured as those of our own conversations.
        found = measuring.scores(attempt, measuring.measure_attempt(task_of(sample), attempt))
        scores += [score for score in found if score.metric not in values]
    elif messages:
        scores += unknown_world.measure(attempt, sample)
    return attempt, Scored(scores=tuple(scores))


def _told(policy: str) -> dict[str, Any]:
    """The policy of a file, for judges to read, and what it asks of the agent; nothing where the file has none."""
    if not policy.strip():
        return {}
    return {unknown_world.POLICY: policy, unknown_world.ASKS_FIRST: unknown_world.reads_as_asking(policy)}


def _status(found: Results) -> dict[str, Any]:
    outcomes = Counter(attempt.outcome for attempt, _ in found.attempts)
    costs = [attempt.cost_usd for attempt, _ in found.attempts if attempt.cost_usd is not None]
    at = found.run.created.isoformat()
    return {
        "state": "done",
        "planned": found.run.planned,
        "done": len(found.attempts),
        **{name: outcomes[name] for name in ("ok", "format", "provider")},
        "cost_usd": sum(costs) if costs else None,
        "started": at,
        "updated": at,
        "message": f"imported from {found.run.setup['imported_from']}",
    }


def _domain_by_name(file: Path) -> str:
    """tau-bench's files name their domain nowhere but, as a rule, in their own name."""
    known = ("retail", "airline", "telecom")
    return next((name for name in known if name in file.name.lower()), "unknown")
