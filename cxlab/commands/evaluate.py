"""`run`, `score` and `demo`: the commands that evaluate."""

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cxlab.commands import json_line
from cxlab.errors import BadOption, CxError

if TYPE_CHECKING:
    from cxlab.records import Run
    from cxlab.runner.launch import ExecutionOptions
    from cxlab.runner.session import SessionResult
    from cxlab.store.run_status import Status

Judges = Annotated[list[str], typer.Option("--judge", help="A judge, repeatable. Default: the benchmark's own.")]
Concurrency = Annotated[int | None, typer.Option(help="Attempts in flight at once. Default: 32.")]
Budget = Annotated[float | None, typer.Option(help="USD that each run may spend before it stops cleanly.")]
Workers = Annotated[int | None, typer.Option(help="Processes for runs of simulated models only. Default: one a core.")]
Engine = Annotated[str, typer.Option(help="Where shards of simulated runs work: local or ray.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one line of JSON, the last line.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]


def run(
    context: typer.Context,
    benchmark: Annotated[str | None, typer.Argument(help="The benchmark.")] = None,
    model: Annotated[list[str], typer.Option(help="A model under test, repeatable: one run each.")] = [],  # noqa: B006 typer copies it
    customer: Annotated[str | None, typer.Option(help="Who plays the customer. Default: the benchmark's own.")] = None,
    judge: Judges = [],  # noqa: B006
    scenario: Annotated[list[str], typer.Option(help="Only this scenario, repeatable.")] = [],  # noqa: B006
    level: Annotated[list[str], typer.Option(help="Only this adversarial level, repeatable.")] = [],  # noqa: B006
    where: Annotated[list[str], typer.Option(help="Only this facet=value, as modality=voice, repeatable.")] = [],  # noqa: B006
    limit: Annotated[int | None, typer.Option(help="At most this many samples, spread over all leaves.")] = None,
    trials: Annotated[int, typer.Option(help="How often each sample is run.")] = 1,
    dataset: Annotated[str | None, typer.Option(help="A stored dataset. Default: the benchmark's own.")] = None,
    option: Annotated[list[str], typer.Option(help="A switch of the benchmark as key=value, repeatable.")] = [],  # noqa: B006
    seed: Annotated[int, typer.Option(help="Seed of samples, customers and simulated models.")] = 0,
    concurrency: Concurrency = None,
    budget: Budget = None,
    cache: Annotated[bool, typer.Option("--cache", help="Reuse replies that were paid for before.")] = False,
    resume: Annotated[list[str], typer.Option(help="Finish this run instead of starting one, repeatable.")] = [],  # noqa: B006
    faults: Annotated[
        bool,
        typer.Option("--faults", help="With --resume: try provider faults again, in a new run that keeps the rest."),
    ] = False,
    too_long: Annotated[
        bool,
        typer.Option("--too-long", help="With --faults: also what was longer than the model can read."),
    ] = False,
    retry_failed: Annotated[str | None, typer.Option(help="The same as --resume RUN --faults.")] = None,
    shard: Annotated[str | None, typer.Option(help="With --resume: only this share of the run, as 3/16.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Store the run and its estimate, start nothing.")] = False,
    workers: Workers = None,
    engine: Engine = "local",
    as_json: AsJson = False,
    quiet: Quiet = False,
    help_: Annotated[bool, typer.Option("--help", help="Show this, with a benchmark its switches, too.")] = False,
) -> None:
    """Evaluate models on a benchmark, or finish a run that was stopped.

    A benchmark's own switches are flags after its name: python -m cxlab run BENCHMARK --help lists them.
    """
    json_line.always(runs=[])
    if help_:
        _show_help(context, benchmark)
        return
    if benchmark and benchmark.startswith("-"):
        raise BadOption(f"{benchmark!r}: name the benchmark before its own switches, or the run with --resume alone")
    if (resume or retry_failed) and context.args:
        raise BadOption(f"{context.args[0]!r}: a run that is resumed keeps its switches; leave it out")
    from cxlab.runner.launch import ExecutionOptions
    from cxlab.runner.plan import parse_shard

    manner = ExecutionOptions(
        shard=parse_shard(shard) if shard else None,
        workers=workers,
        engine=engine,
        concurrency=concurrency,
        budget_usd=budget,
        quiet=quiet,
    )
    if resume:
        if benchmark or model:
            raise BadOption("--resume takes benchmark and models from the stored run; leave them out")
        finish(work_on(_retry(resume, too_long) if faults else resume, manner, as_json), manner, as_json)
        return
    if retry_failed:
        if benchmark or model:
            raise BadOption("--retry-failed takes benchmark and models from the stored run; leave them out")
        finish(work_on(_retry([retry_failed]), manner, as_json), manner, as_json)
        return
    if faults:
        raise BadOption("--faults needs the run whose faults are tried again: --resume RUN --faults")
    if not benchmark:
        from cxlab.benchmarks import REGISTRY

        raise BadOption(f"name a benchmark ({', '.join(REGISTRY)}), or a run with --resume")
    if shard:
        raise BadOption("--shard needs a stored run: create one with --plan, then use --resume RUN --shard I/N")
    _start(
        manner,
        as_json,
        only_plan=plan,
        benchmark=benchmark,
        models=tuple(model),
        customer=customer,
        judges=tuple(judge),
        dataset_id=dataset,
        scenarios=tuple(scenario),
        levels=tuple(level),
        where=where,
        limit=limit,
        trials=trials,
        options=option,
        flags=context.args,
        seed=seed,
        cache=cache,
    )


def _show_help(context: typer.Context, benchmark: str | None) -> None:
    """The command's own help, and the switches and facets of the benchmark that is named."""
    print(context.get_help())
    if not benchmark:
        return
    from cxlab.commands.switches import describe
    from cxlab.runner.plan import find_benchmark

    found = find_benchmark(benchmark)
    print(f"\nSwitches of {benchmark}, also as --option name=value:\n{describe(found.Options.switches(), flags=True)}")
    print("\nFacets, for --where: " + ", ".join(f"{facet.id} ({facet.title})" for facet in found.facets))


def _start(
    manner: "ExecutionOptions",
    as_json: bool,
    *,
    only_plan: bool,
    scenarios: tuple[str, ...],
    levels: tuple[str, ...],
    where: list[str],
    limit: int | None,
    options: list[str],
    flags: list[str],
    benchmark: str,
    customer: str | None,
    judges: tuple[str, ...],
    **ordered: Any,
) -> None:
    from cxlab import llm
    from cxlab.commands.switches import read_flags
    from cxlab.records.settings import split_pairs
    from cxlab.runner.estimate import estimate
    from cxlab.runner.execute import DEFAULT_CONCURRENCY
    from cxlab.runner.plan import SampleFilter, find_benchmark, parse_where
    from cxlab.runner.request import RunRequest, create_runs

    for complaint in llm.complaints():
        print(f"cxlab: {complaint}", file=sys.stderr)
    narrowed = [*(f"scenario={one}" for one in scenarios), *(f"level={one}" for one in levels), *where]
    found = find_benchmark(benchmark)
    switches: dict[str, Any] = {**split_pairs(options), **read_flags(flags, found.Options, benchmark)}
    if customer is None and found.with_customer:
        customer = found.default_customer
    order = RunRequest(
        benchmark=benchmark,
        customer=customer or None,
        judges=judges or found.default_judges,
        choice=SampleFilter(limit, parse_where(narrowed)),
        options=switches,
        concurrency=manner.concurrency if manner.concurrency is not None else DEFAULT_CONCURRENCY,
        budget_usd=manner.budget_usd,
        **ordered,
    )
    runs = create_runs(order)
    expected = estimate(order) if not manner.quiet or (only_plan and as_json) else []
    for run_, each in zip(runs, () if manner.quiet else expected, strict=manner.quiet is False):
        print(f"{run_.id}: {each.describe()}", file=sys.stderr)
    ids = [run_.id for run_ in runs]
    if only_plan:
        told = {"planned": ids, "estimates": [each.to_record() for each in expected]}
        if as_json:
            json_line.say(told)
        else:
            print("\n".join(ids))
        return
    finish(work_on(ids, manner, as_json), manner, as_json)


def _retry(run_ids: list[str], too_long: bool = False) -> list[str]:
    """New runs that take over what the given ones have, and try their faults again."""
    from cxlab.runner.stored.retry import create_retry

    return [create_retry(run_id, too_long).id for run_id in run_ids]


def work_on(run_ids: Sequence[str], manner: "ExecutionOptions", as_json: bool, **told: int) -> list["SessionResult"]:
    """Work on runs until they are done or stopped; where something breaks, what they came to is told all the same."""
    from cxlab.runner.launch import launch

    outcomes: list[SessionResult] | None = None
    try:
        outcomes = launch(run_ids, manner)
    finally:
        if outcomes is None and as_json:
            _tell_stored(run_ids, **told)
    return outcomes


def _tell_stored(run_ids: Sequence[str], **told: int) -> None:
    """The line of JSON by what is stored of the runs, as far as they have begun."""
    from cxlab.runner.loaded_run import folder_of
    from cxlab.store import run_status, write

    found = []
    for run_id in run_ids:
        with suppress(CxError):  # a run that is not there is what broke it
            run_ = write.load_run(run_id)
            found.append((run_, run_status.read_run(folder_of(run_id), run_.planned)))
    if begun := [(run_, status) for run_, status in found if status is not None]:
        _tell(begun, **told)


def _tell(runs: "list[tuple[Run, Status]]", **told: int) -> None:
    from cxlab.runner.report import sum_up, summarise

    entries = [summarise(run_, status) for run_, status in runs]
    reasons = {run_.id: status.message for run_, status in runs if status.message}
    json_line.say({"runs": entries, **told, **sum_up(entries), "reasons": reasons})


def finish(outcomes: list["SessionResult"], manner: "ExecutionOptions", as_json: bool, **told: int) -> None:
    """Report what came of the runs, and leave with the exit code that says it; `told` goes into the JSON."""
    from cxlab.commands.results import show_tables
    from cxlab.store import write
    from cxlab.store.run_status import name_state

    if as_json:
        _tell([(write.load_run(each.run_id), each.status) for each in outcomes], **told)
    elif not manner.quiet:
        for each in outcomes:
            status = each.status
            counts = f"{status.ok} ok, {status.format} format, {status.provider} provider"
            why = f": {status.message}" if status.message else ""
            print(f"{each.run_id}: {name_state(status)}, {status.done} of {status.planned} ({counts}){why}")
        show_tables([each.run_id for each in outcomes if each.status.done])
    if any(each.interrupted for each in outcomes):
        raise typer.Exit(130)
    # What was lost to a provider's fault here and there is data, as any other failure of an attempt.
    if any(each.status.state not in ("done", "partly") for each in outcomes):
        raise typer.Exit(3)


def score(
    run: Annotated[str, typer.Argument(help="The run whose stored dialogues are judged again.")],
    judge: Judges = [],  # noqa: B006
    concurrency: Concurrency = None,
    budget: Budget = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge the stored dialogues of a run with other judges, as a new run."""
    from cxlab.runner.launch import ExecutionOptions
    from cxlab.runner.stored.replay import create_rescoring

    if not judge:
        raise BadOption("name the judges: --judge simulated:judge-fair")
    manner = ExecutionOptions(concurrency=concurrency, budget_usd=budget, quiet=quiet)
    finish(work_on([create_rescoring(run, tuple(judge)).id], manner, as_json), manner, as_json)


def demo(
    force: Annotated[bool, typer.Option("--force", help="Build it anew although it is there.")] = False,
    workers: Workers = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fill the store with simulated agents on a slice of every benchmark; a demo that was stopped goes on."""
    from cxlab.runner.demo import list_slices, prepare_beside, prepare_slice
    from cxlab.runner.display.stages import StageDisplay
    from cxlab.runner.launch import ExecutionOptions

    began = time.monotonic()
    manner = ExecutionOptions(workers=workers, quiet=quiet)
    launched: list[SessionResult] = []
    (name, first), *others = list_slices()
    # One slice is there to be looked at early; all others are prepared meanwhile and worked on by one set of processes.
    ids, left = StageDisplay(quiet or as_json).follow(prepare_slice(name, first, force))
    with prepare_beside(others, force) as prepared:
        if left or as_json:
            launched += work_on(ids, manner, as_json)
        if all(each.status.state == "done" for each in launched):
            further, left = prepared.result()
            ids += further
            if left or as_json:
                launched += work_on(further, manner, as_json)
    if not launched:
        print(f"The demo is complete: {len(ids)} runs ({', '.join(ids)}). Rebuild it with --force.")
        return
    if not quiet and not as_json:
        print(f"demo: {time.monotonic() - began:.1f} s. Look at it with: python -m cxlab app", file=sys.stderr)
    finish(launched, manner, as_json)
