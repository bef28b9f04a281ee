"""Run the provider faults of a run again: a new run that takes over everything else as it is stored.

Parts are only ever added to, so a fault cannot be replaced in its own run; the old run stays as it was.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cxlab.benchmarks.contract import Benchmark, Scored, Setup
from cxlab.errors import BadOption
from cxlab.records import Attempt, Run, Sample, Vote, new_id
from cxlab.runner.plan import SampleTrial
from cxlab.runner.report import find_too_long, find_unjudged
from cxlab.runner.request import read_code_version, tell_job
from cxlab.runner.stored import kept_replies
from cxlab.runner.stored.replay import adopt, list_pairs, paid
from cxlab.store import layout, load, write


def create_retry(source_id: str, too_long: bool = False) -> Run:
    """Store a new run that will do again what providers did not deliver in `source_id`.

    What was longer than the model can read stays as it is, unless `too_long` asks for it: to another model behind the
    same name, or with a longer context.
    """
    source = write.load_run(source_id)
    if source.setup.get("rescored_from"):
        raise BadOption(f"run {source_id} only judged run {source.setup['rescored_from']} again; retry that one")
    if not _list_faulted(source_id, too_long) and not find_unjudged(source_id):
        if left := len(list_pairs(source_id, "provider")):
            many = f"{left} of its samples {'is' if left == 1 else 'are'}"
            raise BadOption(
                f"run {source_id}: {many} longer than the model can read, which a second try does not mend, and "
                "nothing else is to be tried again; to ask all the same, say --too-long as well"
            )
        raise BadOption(f"run {source_id} holds no provider faults; there is nothing to try again")
    run = source.model_copy(
        update={
            "id": new_id("run"),
            "setup": {**source.setup, "retried_from": source_id, "too_long_again": too_long},
            "code": read_code_version(),
            "created": datetime.now(UTC),
        }
    )
    write.create_run(run)
    kept_replies.take_over(*(layout.run_folder(layout.home(), each) for each in (source_id, run.id)))
    tell_job([run.id])
    return run


def _list_faulted(source_id: str, too_long: bool) -> list[SampleTrial]:
    """The pairs that are done again."""
    faulted = list_pairs(source_id, "provider")
    if too_long:
        return faulted
    left = set(list_pairs(source_id, ids=find_too_long(source_id)))
    return [pair for pair in faulted if pair not in left]


def order_pairs(source_id: str, planned: list[SampleTrial], too_long: bool = False) -> list[SampleTrial]:
    """The planned pairs: those that are taken over first, in the order in which they are stored."""
    faulted = set(_list_faulted(source_id, too_long))
    kept = [each for each in list_pairs(source_id) if each not in faulted]
    known = set(kept)
    return kept + [each for each in planned if each not in known]


def take_over_finished(benchmark: Benchmark, source_id: str, too_long: bool = False) -> Benchmark:
    """The benchmark, except that what the source run finished is read from there, scores and all.

    An attempt on which a judge could not vote is kept and put to the judges again; the votes of the others stand.
    As in `rescore.replay`, stored attempts are read in step with the workers.
    """
    kept = set(list_pairs(source_id)) - set(_list_faulted(source_id, too_long))
    unjudged = find_unjudged(source_id)
    stored: Iterator[tuple[Attempt, load.StoredScored]] = load.load_attempts(source_id)
    scores: dict[str, Scored] = {}
    votes: dict[str, tuple[Vote, ...]] = {}

    async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
        if (sample.id, trial) not in kept:
            return await benchmark.run(sample, setup, trial)
        for attempt, scored in stored:
            if (attempt.sample_id, attempt.trial) == (sample.id, trial):
                mine = adopt(attempt, setup.run_id)
                adopted = _adopt_scores(scored, mine.id)
                if attempt.id in unjudged:
                    votes[mine.id] = adopted.votes
                else:
                    scores[mine.id] = adopted
                return mine
        raise RuntimeError(f"run {source_id} no longer holds sample {sample.id}, trial {trial}")

    async def score(sample: Sample, attempt: Attempt, setup: Setup) -> Scored:
        ready = scores.pop(attempt.id, None)
        if ready is not None:
            return ready
        return await benchmark.score(sample, attempt, replace(setup, votes=votes.pop(attempt.id, ())))

    return replace(benchmark, run=run, score=score)


def _adopt_scores(scored: load.StoredScored, attempt_id: str) -> Scored:
    def adopt_rows(rows: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(row.model_copy(update={"attempt_id": attempt_id}) for row in rows)

    rows = {name: adopt_rows(getattr(scored, name)) for name in ("scores", "votes", "judgements", "traces")}
    # Votes were paid for in the old run, like the attempt.
    rows["votes"] = tuple(vote.model_copy(update={"usage": paid(vote.usage)}) for vote in rows["votes"])
    verdict = scored.verdict and scored.verdict.model_copy(update={"attempt_id": attempt_id})
    return Scored(**rows, verdict=verdict)
