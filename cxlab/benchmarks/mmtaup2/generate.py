"""Samples of MM-tau-p2: tasks of each domain, crossed with persona, exposure and modality.

Every task comes under all terms, so that a persona, an exposure or a modality is compared on the same tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cxlab.benchmarks.mmtaup2 import tasks, worlds
from cxlab.benchmarks.mmtaup2.conversation import exposure, personas, speech
from cxlab.benchmarks.mmtaup2.conversation.speech import USUAL_WER
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.errors import BadOption, UnknownName
from cxlab.records import Dataset, Sample, content_id

COUNT = 40  # of telecom as many as the paper has
OPTIONS = ("domain", "count", "personas", "exposures", "modalities", "wer")
# Raised when a change makes other tasks of the same settings.
VERSION = 1


def generate(config: dict[str, Any], seed: int) -> tuple[Dataset, list[Sample]]:
    """`count` tasks a domain under all terms; everything is taken where `config` does not narrow it.

    domain, personas, exposures, modalities: one value, several with commas, or a list. wer: of the voice channel.
    Deterministic for a seed; a sample's id is the hash of its content.
    """
    for name in config:
        if name not in OPTIONS:
            raise UnknownName("option of mmtaup2's generator", name, OPTIONS)
    domains = read_list(config, "domain", worlds.DOMAINS)
    people = read_list(config, "personas", personas.NAMES)
    levels = [int(level) for level in read_list(config, "exposures", tuple(map(str, exposure.LEVELS)))]
    modalities = read_list(config, "modalities", speech.MODALITIES)
    count, wer = _count(config), _wer(config)
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
    terms = f"{len(people)} personas × {len(levels)} exposures × {' and '.join(modalities)}"
    dataset = Dataset(
        id=dataset_id,
        benchmark=samples.BENCHMARK,
        name=f"MM-tau-p², {len(made)} tasks of {' and '.join(domains)} × {terms}",
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


def read_list(config: Mapping[str, Any], name: str, known: Sequence[str]) -> list[str]:
    """The values of a setting in the order of `known`, all without one; UnknownName for what there is not."""
    given = config.get(name)
    if given is None:
        return list(known)
    parts = given if isinstance(given, list | tuple) else str(given).split(",")
    asked = [str(part).strip() for part in parts]
    for each in asked:
        if each not in known:
            raise UnknownName(name.removesuffix("s") if name != "modalities" else "modality", each, known)
    if not asked:
        raise BadOption(f"{name} is empty; take from {', '.join(known)}")
    return [each for each in known if each in asked]


def _count(config: Mapping[str, Any]) -> int:
    try:
        count = int(config.get("count", COUNT))
    except (TypeError, ValueError):
        raise BadOption(f"count={config['count']!r}; give a number of tasks a domain, such as {COUNT}") from None
    if count < 1:
        raise BadOption(f"count={count}; give at least 1")
    return count


def _wer(config: Mapping[str, Any]) -> float:
    try:
        wer = float(config.get("wer", USUAL_WER))
    except (TypeError, ValueError):
        raise BadOption(f"wer={config['wer']!r}; give a share of words from 0 to 1") from None
    if not 0 <= wer <= 1:
        raise BadOption(f"wer={wer}; give a share of words from 0 to 1")
    return wer
