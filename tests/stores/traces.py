"""A store with a handful of traces whose every number can be counted by hand."""

from datetime import UTC, datetime
from pathlib import Path

from cxlab.benchmarks.contract import Scored
from cxlab.metrics.paths import alignment
from cxlab.records import Attempt, Dataset, Run, Sample, Score, Trace
from cxlab.store import write
from tests.stores.verdicts import JudgingWriter, decide

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
RIGHT = ("stage1", "stage2", "stage5")  # Cancel without a fee
LONG = ("stage1", "stage2", "stage5", "stage7")


def make_trace(attempt: str, turn: int, last: bool, taken: tuple[str, ...], due: tuple[str, ...], error: str) -> Trace:
    """Paths come with their action as the last step; an empty `taken` is a reply that could not be parsed."""
    if not taken:
        return Trace(attempt_id=attempt, turn=turn, last=last, parsed=False, error="format")
    return Trace(
        attempt_id=attempt,
        turn=turn,
        last=last,
        parsed=True,
        predicted_path=taken[:-1],
        predicted_action=taken[-1],
        reference_path=due[:-1],
        reference_action=due[-1],
        moves=alignment(taken[:-1], due[:-1]).moves,
        error=error,
    )


Turns = list[tuple[tuple[str, ...], tuple[str, ...], str, float]]


def fill(home: Path, runs: dict[str, dict[str, Turns]], run: str = "run") -> None:
    """`runs`: model -> sample -> its turns as (taken, due, error, overall). Levels go zero, weak, strong by sample."""
    names = sorted({sample for samples in runs.values() for sample in samples})
    levels = ("zero", "weak", "strong")
    samples = {
        name: Sample(
            id=name,
            dataset_id="d",
            benchmark="sage",
            task="dialogue",
            inputs={},
            expected={},
            facets={"scenario": "telecom_package", "level": levels[place % 3], "leaf": f"TP-{place // 3 + 1:02d}"},
        )
        for place, name in enumerate(names)
    }
    dataset = Dataset(
        id="d", benchmark="sage", name="by hand", source="generated", config={}, seed=0, licence="none", created=NOON
    )
    write.save_dataset(dataset, list(samples.values()), home)
    for model, tried in runs.items():
        record = Run(
            id=f"{run}-{model}",
            benchmark="sage",
            model=model,
            simulated=False,
            setup={},
            judges=(),
            dataset_id="d",
            seed=0,
            trials=1,
            planned=len(tried),
            prompts={},
            code="0",
            created=NOON,
        )
        write.create_run(record, home)
        with JudgingWriter(record, samples, home=home) as writer:
            for sample, turns in tried.items():
                own = f"{model}-{sample}"
                attempt = Attempt(id=own, run_id=record.id, sample_id=sample, trial=0, started=NOON)
                numbers = (1, 5, 10, 15)[: len(turns)]
                traces = tuple(
                    make_trace(own, turn, turn == numbers[-1], taken, due, error)
                    for turn, (taken, due, error, _) in zip(numbers, turns, strict=True)
                )
                scores = tuple(
                    Score(attempt_id=own, turn=turn, metric="overall", value=value)
                    for turn, (*_, value) in zip(numbers, turns, strict=True)
                )
                writer.add(attempt, decide("sage", "dialogue", attempt, Scored(scores=scores, traces=traces)))
