"""Play one sample: a conversation under the terms of the sample and the run, kept whole as an attempt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cxlab.benchmarks.contract import Setup
from cxlab.benchmarks.mmtaup2.conversation.speech import USUAL_WER, check_voices, open_back_end
from cxlab.benchmarks.mmtaup2.conversation.task_dialogue import GREETING, ConversationSettings, TaskDialogue, begin
from cxlab.benchmarks.mmtaup2.evaluation.judging import rubric_versions
from cxlab.benchmarks.mmtaup2.options import MmOptions
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.dialogue import Limits
from cxlab.errors import BadOption
from cxlab.records import Attempt, Sample, content_id
from cxlab.store import layout
from cxlab.voice.service import ServiceLine
from cxlab.voice.sound_files import SoundFolder


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One conversation. A provider fault ends it and is recorded; what a model gets wrong is part of it.

    What the run's options say of persona, exposure and modality holds where the sample leaves them open.
    """
    if setup.customer is None:
        raise BadOption("mmtaup2 needs a customer; give --customer, for instance simulated:customer")
    started = datetime.now(UTC)
    terms = terms_of(sample, setup, trial)
    talk = begin(samples.task_of(sample), terms, setup.model, setup.customer, samples.world_of(sample))
    try:
        await talk.duet.greet(GREETING[talk.task.domain])
        await talk.duet.run()
    finally:
        if isinstance(terms.ears, ServiceLine):
            await terms.ears.aclose()
    return kept(talk, sample, setup.run_id, trial, started)


def terms_of(sample: Sample, setup: Setup, trial: int) -> ConversationSettings:
    """What the sample says of its terms holds; the run's options fill in the rest. Raises BadOption."""
    fixed = samples.terms_of(sample)
    own = MmOptions.of(setup.options)
    _refuse_clash(fixed, own.given())
    options = {**own.given(), **fixed}
    modality = sample.facets.get("modality") or str(options.get("modality", "text"))
    ears = None
    if modality == "voice":
        shelf = _shelf(own.audio_folder, setup.run_id, content_id(setup.run_id, sample.id, trial))
        ears = open_back_end(own.audio, sample.task, options, shelf, getattr(setup.model, "budget", None))
    return ConversationSettings(
        persona=sample.facets.get("persona") or str(options.get("persona", "none")),
        exposure=int(options.get("exposure", 0)),
        modality=modality,
        wer=float(options.get("wer", USUAL_WER)),
        seed=seed_of(str(sample.inputs.get("id")), trial, setup.seed),
        limits=Limits(own.steps, own.errors),
        tool_calls=own.tool_calls,
        ears=ears,
    )


def seed_of(task: str, trial: int, run_seed: int) -> int:
    """The seed of a conversation: of a task and trial the same under all terms, so that only the terms differ."""
    return int.from_bytes(hashlib.blake2b(f"{task}\0{trial}\0{run_seed}".encode(), digest_size=4).digest(), "big")


def _refuse_clash(fixed: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Passed over in silence, an option that the sample settles otherwise would seem to have been tried."""
    for name in sorted(fixed.keys() & options.keys()):
        if options[name] != fixed[name]:
            setting = {"persona": "personas", "exposure": "exposures", "modality": "modalities"}.get(name, name)
            raise BadOption(
                f"{name}={options[name]}: the dataset has samples with {name} {fixed[name]}; narrow it with "
                f"python -m cxlab generate mmtaup2 --option {setting}={options[name]}"
            )


def refuse(chosen: Sequence[Sample], options: MmOptions) -> None:
    """Refuse a version of the rule that there is not, voices that nobody has, and terms that clash with a sample's."""
    given = options.given()
    if isinstance(options.escalation, int):
        rubric_versions.find(options.escalation)
    rubric_versions.read_option(options.escalation)
    check_voices(options.audio, given)
    for sample in chosen:
        _refuse_clash(samples.terms_of(sample), given)


def prepare(chosen: Sequence[Sample], options: MmOptions, model: str = "") -> Iterator[tuple[int, int, str]]:
    """Refuse terms that clash and an audio back end that is not there before anything is played; it makes nothing."""
    del model
    domains, given = set(), options.given()
    for sample in chosen:
        fixed = samples.terms_of(sample)
        _refuse_clash(fixed, given)
        if (sample.facets.get("modality") or {**given, **fixed}.get("modality")) == "voice":
            domains.add(sample.task)
    for done, domain in enumerate(sorted(domains), 1):
        open_back_end(options.audio, domain, given)
        yield done, len(domains), "lines"


def _shelf(folder: Any, run_id: str, attempt_id: str) -> SoundFolder | None:
    """Where the sounds of an attempt go: the given folder, else its run's in the store; without a store, nowhere."""
    if folder:
        return SoundFolder(Path(str(folder)), attempt_id)
    of_run = layout.resolve_home(None) / "runs" / layout.check_id("run", run_id)
    return SoundFolder(of_run, f"{layout.SOUNDS}/{attempt_id}") if of_run.is_dir() else None


def kept(talk: TaskDialogue, sample: Sample, run_id: str, trial: int, started: datetime) -> Attempt:
    """A conversation as it stands, as an attempt."""
    duet = talk.duet
    agent = duet.totals["agent"]
    return Attempt(
        id=content_id(run_id, sample.id, trial),
        run_id=run_id,
        sample_id=sample.id,
        trial=trial,
        messages=tuple(duet.messages),
        output=talk.output(),
        outcome=duet.outcome,
        ended_by=duet.ended_by or "",
        failures=(*duet.failures, *talk.exposure.failures),
        usage=agent.usage,
        latency_s=agent.latency_s,
        cost_usd=agent.cost_usd,
        started=started,
    )
