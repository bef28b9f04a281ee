"""Conversations that were played on a stage, kept as a run like any other: found under Failures and Compare."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from cxlab.benchmarks.base import Setup
from cxlab.benchmarks.mmtaup2 import benchmark, samples
from cxlab.benchmarks.mmtaup2.assess import score
from cxlab.benchmarks.mmtaup2.generate import exposure_facet
from cxlab.benchmarks.mmtaup2.run import kept
from cxlab.benchmarks.mmtaup2.stage import Stage
from cxlab.errors import BadOption
from cxlab.records import Attempt, Dataset, Run, Sample, content_id, new_id
from cxlab.store import layout, write


async def keep(stage: Stage, code: str, home: Path | str | None = None) -> str:
    """Store all conversations of the stage as one run and give its id; `code` is the version of the program.

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
            "by_hand": [place for place, player in enumerate(stage.players) if player.touched],
        },
        judges=(),
        dataset_id=dataset.id,
        seed=stage.seed,
        trials=max(trial for _, trial in made) + 1,
        planned=len(made),
        prompts=benchmark.hashes(),
        code=code,
        created=datetime.now(UTC),
    )
    base = layout.resolve_home(home)
    write.save_dataset(dataset, {sample.id: sample for sample, _ in made}.values(), base)
    folder = write.create_run(run, base)
    setup = Setup(stage.agent_model, None, (), run.id, stage.seed)
    attempts = []
    with write.PartWriter(run, {sample.id: sample for sample, _ in made}, home=base) as parts:
        for player, (sample, trial) in zip(stage.players, made, strict=True):
            attempt = kept(player.talk, sample, run.id, trial, player.started)
            parts.add(attempt, await score(sample, attempt, setup))
            attempts.append(attempt)
    layout.write_whole(folder / "status.json", orjson.dumps(_status(attempts)))
    return run.id


def _samples(stage: Stage) -> tuple[Dataset, list[tuple[Sample, int]]]:
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
        facets = {
            "level": variant.persona,
            "persona": variant.persona,
            "modality": modality,
            "intent": exposure_facet(variant.exposure),
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
