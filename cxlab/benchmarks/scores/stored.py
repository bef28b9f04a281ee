"""Score stored attempts without asking any model: the set-up for it, and scores with people's decisions in force."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
        judges=tuple(UncalledModel(name_of_judge(name), run.simulated) for name in run.judges),
        run_id=run.id,
        seed=run.seed,
        options=benchmark.Options.read(run.setup.get("options", {})),
    )


def name_of_judge(judge: str) -> str:
    """As the judge signs its votes; that may leave out what changes no reply. Its key or server may be gone."""
    try:
        return llm.load(judge).name
    except CxError:
        return judge


class FieldDecision(NamedTuple):
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
    benchmark: Benchmark, run: Run, decided: Mapping[str, Sequence[FieldDecision]], home: Path | None = None
) -> Iterator[CorrectedAttempt]:
    """The attempts of `decided` (attempt id → decisions) scored as stored and anew; of a run that can be corrected.

    A decision is put into every judge's mouth, so that the benchmark's own rules make the scores of it.
    """

    def put(attempt: str, stored: Scored) -> Scored:
        return replace(stored, judgements=tuple(overrule(stored.judgements, decided[attempt], run.judges)))

    yield from rescore_attempts(benchmark, run, tuple(decided), put, home=home)


def rescore_attempts(
    benchmark: Benchmark, run: Run, among: Collection[str] | None, change: Callable[[str, Scored], Scored],
    changed_run: Run | None = None, home: Path | None = None,
) -> Iterator[CorrectedAttempt]:  # fmt: skip
    """Attempts of a run scored as stored, and from what `change` (of attempt id and what is stored) makes of it, under
    `changed_run` where that differs; those of `among`, or all.

    What the store has is scored anew without the change as well, so that a newer scorer is not taken for one.
    """
    again = benchmark.rescore
    if again is None:
        return
    setup = uncalled_setup(benchmark, run)
    other = uncalled_setup(benchmark, changed_run) if changed_run else setup
    samples = {sample.id: sample for sample in write.load_samples(run.dataset_id, home)}
    for attempt, stored in load.load_attempts(run.id, home, among=among):
        if (sample := samples.get(attempt.sample_id)) is None:
            continue  # its dataset was made anew without it
        found = Scored(stored.scores, stored.votes, stored.judgements, stored.traces, stored.verdict)
        before, after = (
            benchmark.complete(sample.task, attempt, again(sample, attempt, each, under))
            for each, under in ((found, setup), (change(attempt.id, found), other))
        )
        yield CorrectedAttempt(sample, attempt, before, after)


def overrule(
    judgements: Sequence[Judgement], decided: Sequence[FieldDecision], judges: Collection[str]
) -> Iterator[Judgement]:
    """The judgements with what was decided as every judge's verdict; a log's own record is no judge's and stays."""
    values = {(each.turn, each.field): each.value for each in decided}
    signed = {name_of_judge(name) for name in judges} | set(judges)
    for one in judgements:
        value = values.get((one.turn, one.field))
        if value is None or one.judge not in signed:
            yield one
        else:
            yield one.model_copy(update={"verdict": value, "status": "ok"})
