"""Scores of attempts as they would be without one judge of the panel, from stored votes: nobody is asked anew."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.scores.corrected import sum_up
from cxlab.benchmarks.scores.stored import name_of_judge, rescore_attempts, why_uncorrected
from cxlab.errors import CxError
from cxlab.records.correction import Corrections, Effect
from cxlab.store import catalogue, layout, write


def judges_of(runs: Collection[str]) -> tuple[str, ...]:
    """The judges, as they sign, that every one of these runs asked, where each asked two or more and its scores can be
    made anew from what they said; else none."""
    panels: list[list[str]] = []
    for run_id in runs:
        try:
            run = write.load_run(run_id)
        except (CxError, FileNotFoundError):
            return ()
        benchmark = REGISTRY.get(run.setup.get("benchmark", run.benchmark))
        if benchmark is None or why_uncorrected(benchmark, run) or len(run.judges) < 2:
            return ()
        panels.append([name_of_judge(judge) for judge in run.judges])
    return tuple(judge for judge in panels[0] if all(judge in panel for panel in panels)) if panels else ()


def leave_out(judge: str, attempts: Mapping[str, Collection[str]]) -> Corrections:
    """The effect of leaving a judge out on attempts (run → its attempts); remembered until the store changes."""
    effects: dict[tuple[str, str], Effect] = {}
    left_out: dict[str, str] = {}
    place = (str(layout.home()), catalogue.data_version())
    for run_id, wanted in attempts.items():
        try:
            found = _score_without(judge, run_id, *place)
        except (CxError, FileNotFoundError) as fault:
            left_out[run_id] = f"its record or dataset cannot be read ({fault})"
            continue
        effects.update({(run_id, attempt): found[attempt] for attempt in wanted if attempt in found})
    return Corrections(effects, {}, left_out)


@lru_cache(maxsize=24)
def _score_without(judge: str, run_id: str, home: str, version: str) -> dict[str, Effect]:
    """Attempt → what it was scored, by the rules of today, with all judges and without this one."""
    run = write.load_run(run_id)
    benchmark = REGISTRY[run.setup.get("benchmark", run.benchmark)]
    names = [name for name in run.judges if name_of_judge(name) != judge]
    smaller = run.model_copy(update={"judges": tuple(names)})

    def drop(stored: Scored) -> Scored:
        return replace(
            stored,
            votes=tuple(vote for vote in stored.votes if vote.judge != judge),
            judgements=tuple(one for one in stored.judgements if one.judge != judge),
        )

    return {
        each.attempt.id: Effect(*sum_up(each.before, each.after))
        for each in rescore_attempts(benchmark, run, None, lambda _, stored: drop(stored), smaller)
    }
