"""Scores of attempts with people's decisions in the place of judges' verdicts, beside the scores as judged."""

import threading
from collections.abc import Mapping, Sequence

import polars as pl

from cxlab.benchmarks import REGISTRY
from cxlab.benchmarks.contract import Scored
from cxlab.benchmarks.scores.stored import FieldDecision, correct_attempts, why_uncorrected
from cxlab.errors import CxError
from cxlab.records.correction import PASSED, Corrections, Effect, Sums
from cxlab.store import catalogue, layout, write

_MOST_KEPT = 20_000
_kept: dict[tuple[str, ...], Effect] = {}
_keeping = threading.Lock()


def correct(decided: pl.DataFrame) -> Corrections:
    """The effect of decisions that settle something (run_id, attempt_id, turn, field, value), on attempts that the
    store has; what was worked out once is remembered."""
    by_run: dict[str, dict[str, list[FieldDecision]]] = {}
    rows = decided.select("run_id", "attempt_id", "turn", "field", "value").iter_rows()
    for run_id, attempt_id, turn, field, value in rows:
        by_run.setdefault(run_id, {}).setdefault(attempt_id, []).append(FieldDecision(turn, field, value))
    effects: dict[tuple[str, str], Effect] = {}
    left_out: dict[str, str] = {}
    for run_id, said in by_run.items():
        found = _correct_run(run_id, said)
        if isinstance(found, str):
            left_out[run_id] = found
        else:
            effects.update({(run_id, attempt_id): effect for attempt_id, effect in found.items()})
    counts = {(run_id, attempt_id): len(own) for run_id, said in by_run.items() for attempt_id, own in said.items()}
    return Corrections(effects, counts, left_out)


def _correct_run(run_id: str, decided: Mapping[str, Sequence[FieldDecision]]) -> dict[str, Effect] | str:
    """The effects by attempt, or why there are none."""
    try:
        return _score_anew(run_id, decided)
    except (CxError, FileNotFoundError) as fault:
        return f"its record or dataset cannot be read ({fault})"


def _score_anew(run_id: str, decided: Mapping[str, Sequence[FieldDecision]]) -> dict[str, Effect] | str:
    run = write.load_run(run_id)
    benchmark = REGISTRY.get(run.setup.get("benchmark", run.benchmark))
    if benchmark is None:
        return f"{run.benchmark} is not installed here"
    if why := why_uncorrected(benchmark, run):
        return why
    place = (str(layout.home()), catalogue.data_version(), run_id)
    keys = {attempt: (*place, attempt, repr(sorted(said))) for attempt, said in decided.items()}
    lacking = {attempt: decided[attempt] for attempt, key in keys.items() if key not in _kept}
    fresh = {
        each.attempt.id: Effect(*sum_up(each.before, each.after))
        for each in (correct_attempts(benchmark, run, lacking) if lacking else ())
    }
    with _keeping:
        _kept.update({keys[attempt]: effect for attempt, effect in fresh.items()})
        while len(_kept) > _MOST_KEPT:
            del _kept[next(iter(_kept))]
    return fresh | {attempt: _kept[key] for attempt, key in keys.items() if attempt not in fresh and key in _kept}


def sum_up(before: Scored, after: Scored) -> tuple[Sums, Sums, str, str]:
    """The fields of an Effect: sums and verdicts of an attempt scored in two ways."""
    return _sum_up(before), _sum_up(after), _verdict(before), _verdict(after)


def _verdict(scored: Scored) -> str:
    return scored.verdict.value if scored.verdict else "unscored"


def _sum_up(scored: Scored) -> Sums:
    found: dict[tuple[str, bool], tuple[int, float]] = {}
    for score in scored.scores:
        n, total = found.get(key := (score.metric, score.turn is None), (0, 0.0))
        found[key] = (n, total) if score.value is None else (n + 1, total + score.value)
    verdict = _verdict(scored)
    found[PASSED, True] = (int(verdict in ("passed", "failed")), 100.0 * (verdict == "passed"))
    return found
