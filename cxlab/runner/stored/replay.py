"""Judge stored dialogues again: a run whose attempts are read from another run instead of being made."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cxlab import llm
from cxlab.benchmarks.contract import Benchmark, Setup
from cxlab.errors import BadOption
from cxlab.records import Attempt, Run, Sample, Usage, content_id, new_id
from cxlab.runner.plan import SampleTrial
from cxlab.runner.report import scan
from cxlab.store import load, write


def create_rescoring(
    source_id: str,
    judges: tuple[str, ...],
    options: Mapping[str, Any] | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Run:
    """Store a new run over the attempts that `source_id` holds now, to be judged by others, or asked otherwise.

    `options` are added to the source's own; `prompts` are those that are asked now, the source's if not given.
    """
    source = write.load_run(source_id)
    for name in judges:
        llm.load(name)
    if len(set(judges)) < len(judges):
        raise BadOption("a judge is named twice")
    planned = len(list_pairs(source_id))
    if not planned:
        raise BadOption(f"run {source_id} holds no attempts yet; finish it with: run --resume {source_id}")
    from cxlab.runner.request import read_code_version, tell_job

    run = source.model_copy(
        update={
            "id": new_id("run"),
            "judges": judges,
            "planned": planned,
            "setup": {
                **source.setup,
                "rescored_from": source_id,
                "budget_usd": None,
                "options": {**source.setup.get("options", {}), **(options or {})},
            },
            "prompts": dict(source.prompts if prompts is None else prompts),
            "code": read_code_version(),
            "group": None,
            "created": datetime.now(UTC),
        }
    )
    write.create_run(run)
    tell_job([run.id])
    return run


def list_pairs(source_id: str, outcome: str | None = None, ids: Collection[str] | None = None) -> list[SampleTrial]:
    """The pairs of a run's stored attempts (of one outcome, or of these ids), in the order in which `load_attempts`
    yields them."""
    import polars as pl

    attempts = scan(source_id, "attempts")
    if attempts is None:
        return []
    if outcome is not None:
        attempts = attempts.filter(outcome=outcome)
    if ids is not None:
        attempts = attempts.filter(pl.col("attempt_id").is_in(list(ids)))
    rows = attempts.select("attempt_id", "sample_id", "trial").sort("attempt_id").collect()
    return [(sample_id, trial) for _, sample_id, trial in rows.iter_rows()]


def replay(benchmark: Benchmark, source_id: str) -> Benchmark:
    """The benchmark with `run` replaced by reading the next stored attempt.

    Attempts are read in step with the workers, which take pairs in the order of `list_pairs` and call
    `run` before they wait for anything; so memory stays flat however large the run is.
    """
    stored: Iterator[Attempt] = (attempt for attempt, _ in load.load_attempts(source_id))

    async def run(sample: Sample, setup: Setup, trial: int) -> Attempt:
        for attempt in stored:
            if (attempt.sample_id, attempt.trial) == (sample.id, trial):
                return adopt(attempt, setup.run_id)
        raise RuntimeError(f"run {source_id} no longer holds sample {sample.id}, trial {trial}")

    return replace(benchmark, run=run)


def adopt(attempt: Attempt, run_id: str) -> Attempt:
    """A stored attempt as one of the new run, with what it cost when it was made: paid in the old one (`paid`)."""
    name = content_id(run_id, attempt.sample_id, attempt.trial)
    said = tuple(
        each if each.usage is None else each.model_copy(update={"usage": paid(each.usage)}) for each in attempt.messages
    )
    return attempt.model_copy(update={"id": name, "run_id": run_id, "messages": said, "usage": paid(attempt.usage)})


def paid(usage: Usage) -> Usage:
    """Calls that were made and paid for before (`Usage.elsewhere`); what they took is kept, for it tells what such an
    attempt takes. Where some replies had been kept from before them, what all took is not known: no count is kept."""
    kept = {"calls": 0, "cached_calls": usage.calls + usage.cached_calls, "unanswered": 0}
    in_part = {"prompt_tokens": 0, "completion_tokens": 0} if usage.calls and usage.cached_calls else {}
    return usage.model_copy(update=kept | in_part)
