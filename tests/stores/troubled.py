"""A store in which everything goes wrong that can, drawn at random from a seed, and its records to count by hand."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cxlab.benchmarks.contract import Scored
from cxlab.records import Attempt, Dataset, Failure, Message, Run, Sample, Score, SingleJudgeTrace, Trace, Verdict, Vote
from cxlab.store import write

NOON = datetime(2026, 2, 1, 12, tzinfo=UTC)
MODELS = ("simulated:base", "simulated:strong", "simulated:weak")
_STAGES = ("stage1", "stage2", "stage3", "stage5")
_ACTIONS = ("Refund", "Exchange", None)
_FIELDS = ("CoreIntention", "RefundReasonable", "ProvidedDocument")
_VALUES = ("ReturnOrRefund", "Exchange", True, False, None)
_WHERES = ("provider", "agent", "format", "tool", "judge", "scorer", "customer")
_TYPES = ("refused", "arguments", "unknown_tool", "timeout", "invalid", "not_json")
_MESSAGES = ("field 'fields.CoreIntention': bad", "order 12-b is unknown", "order 77 is unknown", "late")
_ERRORS = ("none", "none", "field", "execution", "action", "lucky", "format", "unscored")


@dataclass(frozen=True)
class Made:
    """One attempt with all that the store holds of it."""

    run: Run
    sample: Sample
    attempt: Attempt
    scored: Scored


def make_troubled_store(home: Path, seed: int = 0, each: int = 40) -> list[Made]:
    """Three runs of `each` attempts of as many samples, and one that scores the first again."""
    rng = random.Random(seed)
    dataset = Dataset(
        id="d", benchmark="sage", name="troubled", source="generated", config={}, seed=seed, licence="CC0", created=NOON
    )
    samples = [_make_sample(rng, place) for place in range(each)]
    write.save_dataset(dataset, samples, home)
    made = []
    for place, model in enumerate((*MODELS, MODELS[0])):
        again = place == len(MODELS)
        run = Run(
            id=f"run-{place}", benchmark="sage", model=model, simulated=True,
            setup={"rescored_from": "run-0" if again else None}, judges=("one", "two"), dataset_id="d", seed=seed,
            trials=1, planned=each, prompts={}, code="0", created=NOON + timedelta(minutes=place),
        )  # fmt: skip
        write.create_run(run, home)
        with write.PartWriter(run, {sample.id: sample for sample in samples}, home=home) as writer:
            for number, sample in enumerate(samples[: each // 4] if again else samples):
                attempt, scored = _make_attempt(rng, run.id, f"{run.id}-a{number}", sample.id)
                writer.add(attempt, scored)
                made.append(Made(run, sample, attempt, scored))
    return made


def _make_sample(rng: random.Random, place: int) -> Sample:
    scenario = rng.choice(("ecommerce_refund", "telecom_package", None))
    facets = {"level": rng.choice(("weak", "strong"))} | ({"scenario": scenario} if scenario else {})
    return Sample(
        id=f"s{place}", dataset_id="d", benchmark="sage", task=rng.choice(("dialogue", "other")), inputs={},
        expected={}, facets=facets,
    )  # fmt: skip


def _make_attempt(rng: random.Random, run_id: str, key: str, sample_id: str) -> tuple[Attempt, Scored]:
    failures = [
        Failure(
            where=rng.choice(_WHERES),
            type=rng.choice(_TYPES), message=rng.choice(_MESSAGES), turn=rng.choice((None, 1, 2, 3)),
        )
        for _ in range(rng.choice((0, 0, 1, 3)))
    ]  # fmt: skip
    attempt = Attempt(
        id=key, run_id=run_id, sample_id=sample_id, trial=0, failures=tuple(failures), started=NOON,
        messages=(Message(role="customer", text=f"Hello from {key}.", turn=1),),
    )  # fmt: skip
    value = rng.choice(("failed", "failed", "unscored", "passed", None))
    owner = "" if value == "passed" else rng.choice(("agent", "provider", "judge", "tool"))
    verdict = value and Verdict(
        attempt_id=key, value=value, reason=_say_reason(key, rng.choice(("handed over", "nothing done"))), owner=owner,
        turn=rng.choice((None, 2)), stage=rng.choice((None, "stage2")), field=rng.choice((None, "tool")),
        tool=rng.choice((None, "find_order")),
    )  # fmt: skip
    turns = range(1, rng.choice((1, 2, 4)))
    traces = tuple(_make_trace(rng, key, turn) for turn in turns)
    votes = tuple(Vote(attempt_id=key, turn=turn, judge="one", valid=rng.random() > 0.1, raw="{}") for turn in turns)
    scores = tuple(
        Score(attempt_id=key, turn=turn, metric="overall", value=value, reason=None if value is not None else "none")
        for turn in (*turns, *rng.sample((None,), rng.choice((0, 1))))
        for value in (rng.choice((None, 10.0 * rng.randrange(10))),)
    )
    return attempt, Scored(scores=scores, votes=votes, traces=traces, verdict=verdict or None)


def _say_reason(key: str, reason: str) -> str:
    """Of every fifth attempt both things are wrong."""
    return "handed over\nnothing done" if key.endswith(("0", "5")) else reason


def _make_trace(rng: random.Random, key: str, turn: int) -> Trace:
    def way() -> tuple[str, ...]:
        return _STAGES[: rng.randrange(len(_STAGES) + 1)]

    def fields() -> dict[str, Any]:
        return {name: rng.choice(_VALUES) for name in rng.sample(_FIELDS, rng.randrange(len(_FIELDS) + 1))}

    return Trace(
        attempt_id=key, turn=turn, last=False, parsed=True, error=rng.choice(_ERRORS),
        predicted_fields=fields(), panel_fields=fields(),
        predicted_path=way(), reference_path=way(), own_path=way(),
        predicted_action=rng.choice(_ACTIONS), reference_action=rng.choice(_ACTIONS), own_action=rng.choice(_ACTIONS),
        single_judges=tuple(
            SingleJudgeTrace(judge=judge, path=way(), action=rng.choice(_ACTIONS))
            for judge in rng.choice(((), ("one",), ("one", "two")))
        ),
    )  # fmt: skip
