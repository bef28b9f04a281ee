"""`rejudge`: stored attempts, judged again under other versions of a rule. `rescore`: scores by today's scorer."""

import sys
from typing import Annotated

import typer

from cxlab.commands import json_line
from cxlab.commands.evaluate import AsJson, Budget, Concurrency, Quiet, Workers, finish, work_on


def rejudge(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs whose attempts are judged again.")],
    judge: Annotated[list[str], typer.Option(help="A judge, repeatable. Default: each run's own.")] = [],  # noqa: B006 typer copies it
    version: Annotated[list[int], typer.Option(help="Only this version, repeatable.")] = [],  # noqa: B006
    again: Annotated[bool, typer.Option("--again", help="Ask also what was asked before.")] = False,
    concurrency: Concurrency = None,
    budget: Budget = None,
    workers: Workers = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge stored attempts under every version of what judges are asked by; asks only what is left."""
    from cxlab.runner.launch import ExecutionOptions
    from cxlab.runner.stored.rejudge import plan_rejudging

    manner = ExecutionOptions(concurrency=concurrency, budget_usd=budget, workers=workers, quiet=quiet)
    plan = plan_rejudging(runs, judge, version, again=again)
    if not quiet:
        print(f"{plan.kept} of {plan.kept + plan.asked} (judge, version) are kept", file=sys.stderr)
    if not plan.runs:
        if as_json:
            json_line.say({"runs": [], "kept": plan.kept, "asked": 0})
        elif not quiet:
            print(f"Nothing is left to ask. See {plan.where}.")
        return
    told = {"kept": plan.kept, "asked": plan.asked}
    finish(work_on(plan.runs, manner, as_json, **told), manner, as_json, **told)


def rescore(
    run: Annotated[str, typer.Argument(help="The run whose stored attempts are scored again.")],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Score the stored attempts of a run by today's scorer, in their place; asks no model, judges' votes stand."""
    from cxlab.runner import report
    from cxlab.runner.stored import rescore as scoring

    def tell(done: int, of: int) -> None:
        if not quiet and sys.stderr.isatty():
            print(f"\r{done:,} of {of:,} attempts", end="\n" if done == of else "", file=sys.stderr, flush=True)

    found = scoring.rescore(run, tell)
    if as_json:
        told = {"run": run, "attempts": found.attempts, "changed": found.changed, "scorer": found.scorer}
        json_line.say({**told, "mean": report.means(run)})
        return
    changed = f"{found.changed:,} of them came out otherwise" if found.changed else "all came out as before"
    print(f"{run}: {found.attempts:,} attempts scored by scorer {found.scorer}; {changed}")
