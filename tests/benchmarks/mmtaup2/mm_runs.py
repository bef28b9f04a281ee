"""Runs of conversations made by hand, in a store of their own: two tasks, two personas, text and voice."""

from pathlib import Path
from typing import Any

from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.mmtaup2 import score
from cxlab.benchmarks.mmtaup2.evaluation import baselines, measured_metrics, summary
from cxlab.benchmarks.mmtaup2.evaluation.judging import judged_metrics, verdict_figures
from cxlab.benchmarks.mmtaup2.generate import exposure_facet
from cxlab.benchmarks.mmtaup2.tasks import samples
from cxlab.records import Attempt, Dataset, Run, Sample
from cxlab.store import write
from tests.benchmarks.mmtaup2.mm_conversations import NOON, attempt, clean, rough, task
from tests.stores.verdicts import JudgingWriter

# Task, persona, modality, whether it passed.
PLAYED = tuple(
    (name, persona, modality, not (persona == "hard" and modality == "voice" and name == "T2"))
    for name in ("T1", "T2")
    for persona in ("none", "hard")
    for modality in ("text", "voice")
)
FLOOR = next(iter(baselines.BASELINES))


def conversation(run: str, sample: Sample, passed: bool, trial: int) -> Attempt:
    """By voice the rough one, by text the clean one; a floor says nothing."""
    terms = dict(samples.terms_of(sample))
    messages = clean() if terms["modality"] == "text" else rough()
    made = attempt(messages[:3] if run == "floor" else messages, passed and run != "floor", trial, **terms)
    return made.model_copy(update={"id": f"{sample.id}-{trial}", "run_id": run, "sample_id": sample.id})


def sample_of(name: str, persona: str, modality: str) -> Sample:
    terms = {"persona": persona, "exposure": 0, "modality": modality}
    facets = {"level": persona, "persona": persona, "exposure": exposure_facet(0), "modality": modality}
    return samples.to_sample(task(id=name), "d1", facets, terms=terms)


def write_runs(home: Path) -> dict[str, list[summary.ConversationResult]]:
    """Store the runs "able" (two trials) and "floor"; the cases as they are measured from the messages."""
    told = [(sample_of(name, persona, modality), passed) for name, persona, modality, passed in PLAYED]
    dataset = Dataset(
        id="d1", benchmark="mmtaup2", name="tiny", source="generated", config={}, seed=1, licence="CC0", created=NOON
    )
    write.save_dataset(dataset, [sample for sample, _ in told], home)
    cases: dict[str, list[summary.ConversationResult]] = {}
    for name, model, trials in (("able", "simulated:strong", 2), ("floor", FLOOR, 1)):
        run = make_run(name, model, trials, len(told) * trials)
        write.create_run(run, home)
        with JudgingWriter(run, {sample.id: sample for sample, _ in told}, home=home) as writer:
            for trial in range(1, trials + 1):
                for sample, passed in told:
                    made = conversation(name, sample, passed, trial)
                    goal = samples.task_of(sample)
                    found = measured_metrics.measure_attempt(goal, made)
                    rows = [*score.own_scores(goal, made), *measured_metrics.scores(made, found)]
                    panel = verdict_figures.figures(judged_metrics.measured_verdicts(goal, found, made, {}), 5)
                    rows += measured_metrics.scores(made, measured_metrics.Measurement(panel), "judged_")
                    writer.add(made, Scored(tuple(rows)))
                    cases.setdefault(name, []).append(summary.case(goal, made, found.figures))
    return cases


def make_run(name: str, model: str, trials: int, planned: int, **setup: Any) -> Run:
    return Run(
        id=name, benchmark="mmtaup2", model=model, simulated=True, setup=setup, judges=(), dataset_id="d1", seed=1,
        trials=trials, planned=planned, prompts={}, code="0.1", created=NOON,
    )  # fmt: skip
