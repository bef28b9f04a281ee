"""One scored attempt in a store of its own, for what pages read."""

from pathlib import Path

from cxlab.benchmarks.contract import Scored
from cxlab.records import Attempt, Dataset, Run, Sample
from cxlab.store import write
from tests.benchmarks.mmtaup2.mm_conversations import NOON
from tests.stores.verdicts import JudgingWriter


def write_run(home: Path, attempt: Attempt, scored: Scored) -> None:
    dataset = Dataset(
        id="d1", benchmark="mmtaup2", name="tiny", source="generated", config={}, seed=1, licence="CC0", created=NOON
    )
    sample = Sample(
        id=attempt.sample_id,
        dataset_id="d1",
        benchmark="mmtaup2",
        task="telecom",
        inputs={},
        expected={},
        facets={"scenario": "telecom"},
    )
    write.save_dataset(dataset, [sample], home)
    run = Run(
        id=attempt.run_id,
        benchmark="mmtaup2",
        model="simulated:base",
        simulated=True,
        setup={},
        judges=(),
        dataset_id="d1",
        seed=1,
        trials=1,
        planned=1,
        prompts={},
        code="0.1",
        created=NOON,
    )
    write.create_run(run, home)
    with JudgingWriter(run, {sample.id: sample}, home=home) as writer:
        writer.add(attempt, scored)
