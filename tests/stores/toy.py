"""A benchmark that no page has heard of: a metric of its own of which less is better, two facets, one switch, a floor.

Parcels go by road; an attempt has passed when it came no more than 10 minutes late. `register` puts it among the
others, `fill` writes a store with two couriers and the floor on eight parcels.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Baseline, Benchmark, Card, Facet, Scored, Setup, Task
from cxlab.benchmarks.generation import Generation, GenerationContext, make_at_once
from cxlab.benchmarks.options import GenerateOptions, Options
from cxlab.records import Attempt, Dataset, Message, Run, Sample, Score
from cxlab.store import write
from tests.stores.verdicts import decide

NAME = "parcels"
NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)
FAST, SLOW, FLOOR = "simulated:strong", "simulated:weak", "simulated:floor"
WRONG_ROAD = "took the wrong road"


class Switches(Options):
    speed: Literal["slow", "fast"] = Field("slow", description="How fast couriers may go.")


class Settings(GenerateOptions):
    count: int = Field(8, ge=1, le=100, description="Parcels.")


def samples(count: int) -> list[Sample]:
    return [
        Sample(
            id=f"parcel-{place}", dataset_id="parcels-1", benchmark=NAME, task="deliver",
            inputs={"query": f"No. {place}"}, expected={"minutes": 0},
            facets={"town": "n" if place % 2 else "s", "weather": "rain" if place > 3 else "sun"},
        )
        for place in range(count)
    ]  # fmt: skip


def generate(options: Settings, context: GenerationContext) -> Generation:
    dataset = Dataset(
        id="parcels-1", benchmark=NAME, name="Parcels", source="generated", config={}, seed=context.seed, licence="CC0",
        created=NOON,
    )  # fmt: skip
    return (yield from make_at_once(dataset, samples(options.count)))


async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
    return make_attempt(setup.run_id, sample.id, 0)


async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
    return make_scores(attempt)


def check(sample: Sample) -> Iterable[str]:
    return ()


BENCHMARK = Benchmark(
    card=Card(
        id=NAME,
        title="Parcels: couriers",
        measures="Whether parcels come in time.",
        paper="none",
        licence="CC0",
        tasks=(Task("deliver", "Deliver a parcel", "delay", "minutes", higher_is_better=False, pass_from=10),),
        metrics={"delay": "minutes behind the promised time"},
        leading=("delay",),
        scales={"delay": None},
        lower_is_better=frozenset({"delay"}),
        unit=("parcel", "parcels"),
    ),
    run=run,
    score=score,
    check=check,
    generate=generate,
    Options=Switches,
    GenerateOptions=Settings,
    facets=(
        Facet("town", "Town", "Where it goes.", ("s", "n"), {"n": "Northtown", "s": "Southtown"}, spread=True),
        Facet("weather", "Weather"),
    ),
    floors=(Baseline(FLOOR, "Lost", "Loses every parcel."),),
    with_customer=False,
    needs_judges=False,
)  # fmt: skip


def make_attempt(run_id: str, sample_id: str, minutes: float) -> Attempt:
    return Attempt(
        id=f"{run_id}-{sample_id}", run_id=run_id, sample_id=sample_id, trial=1, started=NOON, latency_s=minutes,
        output={"minutes": minutes}, ended_by="arrived", messages=(Message(role="agent", text="Here it is.", turn=1),),
    )  # fmt: skip


def make_scores(attempt: Attempt) -> Scored:
    minutes = float(attempt.output["minutes"])
    reason = WRONG_ROAD if minutes > 10 else None
    return Scored((Score(attempt_id=attempt.id, turn=None, metric="delay", value=minutes, reason=reason),))


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its one line in the registry."""
    monkeypatch.setitem(REGISTRY.modules, NAME, "tests.stores.toy")


def fill(home: Path) -> None:
    """The fast courier is late with one parcel of eight, the slow one with all, and the floor with all by hours."""
    made = samples(8)
    dataset, _ = BENCHMARK.generate_now({})
    write.save_dataset(dataset, made, home)
    minutes = {
        FAST: [30.0 if place == 7 else place / 4 for place in range(8)],
        SLOW: [20.0 + place for place in range(8)],
        FLOOR: [400.0] * 8,
    }
    for number, (model, late) in enumerate(minutes.items()):
        options = Switches.read({}).to_record()
        record = Run(
            id=f"round-{number}", benchmark=NAME, model=model, simulated=True, setup={"options": options}, judges=(),
            dataset_id=dataset.id, seed=1, trials=1, planned=8, prompts={}, code="0.1", created=NOON,
        )  # fmt: skip
        write.create_run(record, home)
        with write.PartWriter(record, {sample.id: sample for sample in made}, home=home) as writer:
            for place, sample in enumerate(made):
                attempt = make_attempt(record.id, sample.id, late[place])
                writer.add(attempt, decide(NAME, sample.task, attempt, make_scores(attempt)))
