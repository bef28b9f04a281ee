"""Play one sample: a conversation under the terms of the sample and the run, kept whole as an attempt."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cxlab.benchmarks.base import Setup
from cxlab.benchmarks.mmtaup2 import samples
from cxlab.benchmarks.mmtaup2.conversation import GREETING, Talk, Terms, begin
from cxlab.benchmarks.mmtaup2.speech import BACK_ENDS, USUAL_WER, real_ears
from cxlab.dialogue import Limits
from cxlab.errors import BadOption
from cxlab.records import Attempt, Sample, content_id


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    """One conversation. A provider fault ends it and is recorded; what a model gets wrong is part of it.

    Options: `exposure` 0, 1 or 2; `persona` and `modality` where the sample leaves them open; `wer` of the voice
    channel; `audio` channel, or espeak for real sound, kept in `audio_folder`; `steps` and `errors`, the limits;
    `tool_calls` auto, native or json.
    """
    if setup.customer is None:
        raise BadOption("mmtaup2 needs a customer; give --customer, for instance simulated:customer")
    started = datetime.now(UTC)
    talk = begin(
        samples.task_of(sample), terms_of(sample, setup, trial), setup.model, setup.customer, samples.world_of(sample)
    )
    await talk.duet.greet(GREETING[talk.task.domain])
    await talk.duet.run()
    return kept(talk, sample, setup.run_id, trial, started)


def terms_of(sample: Sample, setup: Setup, trial: int) -> Terms:
    """What the sample says of its terms holds; the run's options fill in the rest. Raises BadOption."""
    fixed = samples.terms_of(sample)
    for name in fixed.keys() & setup.options.keys():
        # Passed over in silence, an option would seem to have been tried.
        if setup.options[name] != fixed[name]:
            setting = {"persona": "personas", "exposure": "exposures", "modality": "modalities"}.get(name, name)
            raise BadOption(
                f"{name}={setup.options[name]}: the dataset has samples with {name} {fixed[name]}; narrow it with "
                f"python -m cxlab generate mmtaup2 --option {setting}={setup.options[name]}"
            )
    options = {**setup.options, **fixed}
    # The same task and trial have the same seed under all terms, so that only the terms differ.
    seed = hashlib.blake2b(f"{sample.inputs.get('id')}\0{trial}\0{setup.seed}".encode(), digest_size=4).digest()
    modality = sample.facets.modality or str(options.get("modality", "text"))
    audio = str(options.get("audio", BACK_ENDS[0]))
    if audio not in BACK_ENDS:
        raise BadOption(f"audio {audio!r}; give one of {', '.join(BACK_ENDS)}")
    folder = options.get("audio_folder")
    return Terms(
        persona=sample.facets.persona or str(options.get("persona", "none")),
        exposure=_number(options, "exposure", 0, int),
        modality=modality,
        wer=_number(options, "wer", USUAL_WER, float),
        seed=int.from_bytes(seed, "big"),
        limits=Limits(_number(options, "steps", Limits.steps, int), _number(options, "errors", Limits.errors, int)),
        tool_calls=str(options.get("tool_calls", "auto")),
        ears=real_ears(sample.task, Path(folder) if folder else None)
        if audio == "espeak" and modality == "voice"
        else None,
        shared={key: options[key] for key in ("cache", "budget") if options.get(key) is not None},
    )


def kept(talk: Talk, sample: Sample, run_id: str, trial: int, started: datetime) -> Attempt:
    """A conversation as it stands, as an attempt."""
    duet = talk.duet
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
        usage=duet.usage,
        latency_s=duet.latency_s,
        cost_usd=duet.cost_usd,
        started=started,
    )


def _number(options: dict[str, Any], name: str, usual: Any, kind: type) -> Any:
    value = options.get(name, usual)
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise BadOption(f"{name} {value!r}; give a number") from None
