"""Samples of MM-tau-p2: tasks of each domain, crossed with persona, exposure and modality.

Every task comes under all terms, so that a persona, an exposure or a modality is compared on the same tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from cxlab.benchmarks.generation import Generation, GenerationContext, make_at_once
from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.conversation import exposure, personas, speech
from cxlab.benchmarks.mmtaup2.options import MmDataset
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.records import Dataset, Sample, content_id
from cxlab.records.dataset import count_of

# Raised when a change makes other tasks of the same settings.
VERSION = 1


def generate(options: MmDataset, context: GenerationContext) -> Generation:
    """`count` tasks a domain under all terms."""
    return make_at_once(*make(options, context.seed))


def amount(options: MmDataset) -> str:
    """How many dialogues these settings make, and of what."""
    domains, people, levels, modalities = _terms(options)
    made = options.count * len(domains)
    whole = made * len(people) * len(levels) * len(modalities)
    return (
        f"{count_of(whole, 'dialogue')}: {count_of(made, 'task')} × {count_of(len(people), 'persona')} × "
        f"{count_of(len(levels), 'state')} of what the agent knows × {' and '.join(modalities)}"
    )


def _terms(options: MmDataset) -> tuple[list[str], list[str], list[int], list[str]]:
    """Domains, personas, exposures and modalities; all usual ones where none is named."""
    return (
        _chosen(options.domain, worlds.DOMAINS),
        _chosen(options.personas, personas.USUAL),
        [int(level) for level in _chosen(options.exposures, tuple(map(str, exposure.LEVELS)))],
        _chosen(options.modalities, speech.MODALITIES),
    )


def make(options: MmDataset, seed: int) -> tuple[Dataset, list[Sample]]:
    """The dataset and its samples; deterministic for a seed, a sample's id is the hash of its content."""
    domains, people, levels, modalities = _terms(options)
    count, wer = options.count, options.wer
    settings = {
        "domain": domains,
        "count": count,
        "personas": people,
        "exposures": levels,
        "modalities": modalities,
        "wer": wer,
    }
    made = [task for domain in domains for task in tasks.make(domain, seed, count)]
    dataset_id = "mmtaup2-" + content_id(settings, seed, [task.model_dump(mode="json") for task in made], VERSION)
    found: list[Sample] = []
    # First each task at one exposure, by text and voice and with each persona, then all at the next: however early a
    # run ends, what it compares are the same tasks.
    for turn in range(len(levels)):
        for place, task in enumerate(made):
            level = levels[(place + turn) % len(levels)]
            ways = [(modality, person) for modality in modalities for person in people]
            found += [_sample(task, dataset_id, person, level, modality, wer) for modality, person in ways]
    many = f"{count_of(len(made), 'task')} of {' and '.join(domains)}, {count_of(len(found), 'dialogue')}"
    knows = f"{count_of(len(levels), 'state')} of what the agent knows"
    dataset = Dataset(
        id=dataset_id,
        benchmark=samples.BENCHMARK,
        name=f"MM-tau-p², {many}: {count_of(len(people), 'persona')}, {knows}, by {' and '.join(modalities)}",
        source="generated",
        config=settings,
        seed=seed,
        licence="own work",
        created=datetime.now(UTC),
    )
    return dataset, found


def _sample(task: tasks.Task, dataset_id: str, person: str, level: int, modality: str, wer: float) -> Sample:
    terms: dict[str, Any] = {"persona": person, "exposure": level, "modality": modality}
    if modality == "voice":
        terms["wer"] = wer
    facets = {
        "level": person,
        "persona": person,
        "exposure": exposure_facet(level),
        "modality": modality,
    }
    return samples.to_sample(task, dataset_id, facets, terms=terms)


def exposure_facet(level: int) -> str:
    """The exposure as pages filter by it: what the agent is told of the customer."""
    return ("nothing", "persona", "profile")[level]


def _chosen(asked: Sequence[str], known: Sequence[str]) -> list[str]:
    """The values that are asked for in the order of `known`; all when none is named."""
    return [each for each in known if each in (asked or known)]
