"""Conversations that were played on a stage, kept as a run like any other: found under Failures and Compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from cxlab.benchmarks import get
from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.mmtaup2.generate import exposure_facet
from cxlab.benchmarks.mmtaup2.live.live_session import LiveConversation, LiveSession
from cxlab.benchmarks.mmtaup2.live.variant import LINES
from cxlab.benchmarks.mmtaup2.run import kept
from cxlab.benchmarks.mmtaup2.score import score
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.errors import BadOption
from cxlab.records import Attempt, Dataset, Run, Sample, content_id, new_id
from cxlab.store import layout, write
from cxlab.voice.sound_files import SoundFolder

PLAYED_AT = "played_at"


async def keep(
    stage: LiveSession, code: str, home: Path | str | None = None, address: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Store all conversations of the stage as one run and give its id; `code` is the version of the program.

    `address`: the parameters under which a page plays them again, kept with the run's set-up.
    What can be measured is scored; judges have no say here, and can be asked later (`score RUN`). BadOption while a
    conversation goes on.
    """
    if not all(player.frame.ended for player in stage.players):
        raise BadOption("a conversation still goes on; play it to its end, then keep it")
    dataset, made = _samples(stage)
    run = Run(
        id=new_id("run"),
        benchmark=samples.BENCHMARK,
        model=stage.agent_model.name,
        simulated=stage.agent_model.simulated,
        setup={
            "benchmark": samples.BENCHMARK,
            "model": stage.agent,
            "customer": stage.customer,
            "options": {},
            "played_in": "persona lab",
            PLAYED_AT: {name: list(values) for name, values in (address or {}).items()},
            "by_hand": [place for place, player in enumerate(stage.players) if player.touched],
        },
        judges=(),
        dataset_id=dataset.id,
        seed=stage.seed,
        trials=max(trial for _, trial in made) + 1,
        planned=len(made),
        prompts=get(samples.BENCHMARK).prompts(),
        code=code,
        created=datetime.now(UTC),
    )
    base = layout.resolve_home(home)
    tables = None
    if stage.source:
        # An imported task is nothing without its world, and the dataset that it is from may be deleted.
        domain = stage.task.domain
        tables = {samples.WORLDS: write.load_table(stage.source, samples.WORLDS, base).filter(domain=domain)}
    write.save_dataset(dataset, {sample.id: sample for sample, _ in made}.values(), base, tables)
    folder = write.create_run(run, base)
    setup = Setup(stage.agent_model, None, (), run.id, stage.seed)
    attempts = []
    with write.PartWriter(run, {sample.id: sample for sample, _ in made}, home=base) as parts:
        for player, (sample, trial) in zip(stage.players, made, strict=True):
            attempt = kept(player.talk, sample, run.id, trial, player.started)
            attempt = _with_sounds(attempt, player, folder)
            scored = await score(sample, attempt, setup)
            parts.add(attempt, get(samples.BENCHMARK).complete(sample.task, attempt, scored))
            attempts.append(attempt)
    layout.write_whole(folder / "status.json", orjson.dumps(_status(attempts)))
    return run.id


def _with_sounds(attempt: Attempt, player: LiveConversation, folder: Path) -> Attempt:
    """The attempt with what was spoken laid into the run's folder, for the next play on the stage writes over it."""
    shelf = SoundFolder(folder, f"{layout.SOUNDS}/{attempt.id}")
    spoken = {message.data["wav"]: shelf.put(path.name, path.read_bytes()) for message, path in player.recordings()}
    messages = tuple(
        message.model_copy(update={"data": {**message.data, "wav": spoken[message.data["wav"]]}})
        if message.data.get("wav") in spoken
        else message
        for message in attempt.messages
    )
    return attempt.model_copy(update={"messages": messages})


def _samples(stage: LiveSession) -> tuple[Dataset, list[tuple[Sample, int]]]:
    """A sample a column with its trial: columns alike are trials of one sample."""
    codes = [repr(player.variant) for player in stage.players]
    dataset_id = "mmtaup2-lab-" + content_id(stage.task.model_dump(mode="json"), codes)
    made: list[tuple[Sample, int]] = []
    seen: Counter[str] = Counter()
    for player in stage.players:
        variant = player.variant
        modality = player.talk.terms.modality
        terms: dict[str, Any] = {"persona": variant.persona, "exposure": variant.exposure, "modality": modality}
        if variant.modality == "voice":
            terms["wer"] = variant.wer
        elif modality == "voice":
            terms["audio"] = LINES.get(variant.modality, variant.modality)
        facets = {
            "level": variant.persona,
            "persona": variant.persona,
            "exposure": exposure_facet(variant.exposure),
            "modality": modality,
        }
        sample = samples.to_sample(stage.task, dataset_id, facets, terms=terms)
        made.append((sample, seen[sample.id]))
        seen[sample.id] += 1
    dataset = Dataset(
        id=dataset_id,
        benchmark=samples.BENCHMARK,
        name=f"Played in the Persona lab: {stage.task.id}",
        source="generated",
        config={"variants": codes},
        seed=stage.seed,
        licence="own work",
        created=datetime.now(UTC),
    )
    return dataset, made


def _status(attempts: list[Attempt]) -> dict[str, Any]:
    outcomes = Counter(attempt.outcome for attempt in attempts)
    costs = [attempt.cost_usd for attempt in attempts if attempt.cost_usd is not None]
    return {
        "state": "done",
        "planned": len(attempts),
        "done": len(attempts),
        **{name: outcomes[name] for name in ("ok", "format", "provider")},
        "cost_usd": sum(costs) if len(costs) == len(attempts) else None,
        "started": min(attempt.started for attempt in attempts).isoformat(),
        "updated": datetime.now(UTC).isoformat(),
        "message": "played in the Persona lab",
    }
