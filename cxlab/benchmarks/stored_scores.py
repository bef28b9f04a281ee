"""Score stored attempts without asking any model: the set-up for it, and scores with people's decisions in force."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from cxlab import llm
from cxlab.benchmarks.contract import Benchmark, Scored, Setup
from cxlab.errors import CxError
from cxlab.llm import Completion, Request
from cxlab.records import Attempt, Judgement, Run, Sample
from cxlab.store import load, write


class UncalledModel:
    """Stands for a model that scoring stored attempts never calls: its key or server may be gone."""

    def __init__(self, name: str, simulated: bool) -> None:
        self.name, self.simulated = name, simulated

    async def complete(self, request: Request) -> Completion:
        raise RuntimeError(f"scoring called {self.name}; score() may ask judges only")

    async def aclose(self) -> None:
        pass


def uncalled_setup(benchmark: Benchmark, run: Run) -> Setup:
    """The set-up of a stored run in which nobody can be called."""
    return Setup(
        model=UncalledModel(run.model, run.simulated),
        customer=None,
        judges=tuple(UncalledModel(_name_of(name), run.simulated) for name in run.judges),
        run_id=run.id,
        seed=run.seed,
        options=benchmark.Options.read(run.setup.get("options", {})),
    )


def _name_of(judge: str) -> str:
    """As the judge signs its votes; that may leave out what changes no reply. Its key or server may be gone."""
    try:
        return llm.load(judge).name
    except CxError:
        return judge


class Decision(NamedTuple):
    """What people say that a judged field of a turn is."""

    turn: int
    field: str
    value: str


@dataclass(frozen=True)
class CorrectedAttempt:
    """One attempt as the judges alone have it scored, and with people's decisions in the place of their verdicts."""

    sample: Sample
    attempt: Attempt
    before: Scored
    after: Scored


def why_uncorrected(benchmark: Benchmark, run: Run) -> str:
    """Why decisions cannot correct the scores of a run; "" where they can."""
    if benchmark.rescore is None:
        return f"{benchmark.card.name} cannot score stored attempts without asking its judges"
    if "imported_from" in run.setup:
        return "it was imported with its scores"
    return ""


def correct_attempts(
    benchmark: Benchmark, run: Run, decided: Mapping[str, Sequence[Decision]], home: Path | None = None
) -> Iterator[CorrectedAttempt]:
    """The attempts of `decided` (attempt id → decisions) scored as stored and anew; of a run that can be corrected.

    A decision is put into every judge's mouth, so that the benchmark's own rules make the scores of it. What the store
    has is scored anew without decisions as well, so that a newer scorer is not taken for a correction.
    """
    again = benchmark.rescore
    if again is None:
        return
    setup = uncalled_setup(benchmark, run)
    samples = {sample.id: sample for sample in write.load_samples(run.dataset_id, home)}
    for attempt, stored in load.load_attempts(run.id, home, among=tuple(decided)):
        if (sample := samples.get(attempt.sample_id)) is None:
            continue  # its dataset was made anew without it
        found = Scored(stored.scores, stored.votes, stored.judgements, stored.traces, stored.verdict)
        put = replace(found, judgements=tuple(overrule(stored.judgements, decided[attempt.id], run.judges)))
        before, after = (
            benchmark.complete(sample.task, attempt, again(sample, attempt, each, setup)) for each in (found, put)
        )
        yield CorrectedAttempt(sample, attempt, before, after)


def overrule(
    judgements: Sequence[Judgement], decided: Sequence[Decision], judges: Collection[str]
) -> Iterator[Judgement]:
    """The judgements with what was decided as every judge's verdict; a log's own record is no judge's and stays."""
    values = {(each.turn, each.field): each.value for each in decided}
    signed = {_name_of(name) for name in judges} | set(judges)
    for one in judgements:
        value = values.get((one.turn, one.field))
        if value is None or one.judge not in signed:
            yield one
        else:
            yield one.model_copy(update={"verdict": value, "status": "ok"})
