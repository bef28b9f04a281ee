"""Verdicts of attempts in made-up stores: given by the benchmark's own rule, as a run gives them."""

from dataclasses import replace

from cxlab.benchmarks import get
from cxlab.benchmarks.contract import Scored
from cxlab.records import Attempt
from cxlab.store import frames, write


def decide(benchmark: str, task: str, attempt: Attempt, scored: Scored) -> Scored:
    """What scoring yielded, with its verdict."""
    return replace(scored, verdict=get(benchmark).judge_attempt(task, attempt, scored))


class JudgingWriter(write.PartWriter):
    """A PartWriter that adds verdicts, as the runner does when it has scored an attempt."""

    def add(self, attempt: Attempt, scored: frames.Scored) -> None:
        found = Scored(tuple(scored.scores), tuple(scored.votes), tuple(scored.judgements), tuple(scored.traces))
        sample = self._samples[attempt.sample_id]
        verdict = get(self._run.benchmark).judge_attempt(sample.task, attempt, found)
        super().add(attempt, replace(found, verdict=scored.verdict or verdict))
