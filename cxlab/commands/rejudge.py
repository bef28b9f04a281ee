"""`patch`: the judges' rule about handing over, version by version."""

import json
import sys
from typing import Annotated

import typer

from cxlab.commands.evaluate import AsJson, Budget, Concurrency, Quiet, Workers, finish


def patch(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs of mmtaup2.")],
    judge: Annotated[list[str], typer.Option(help="A judge, repeatable. Default: each run's own.")] = [],  # noqa: B006 typer copies it
    version: Annotated[list[int], typer.Option(help="Only this version of the rule, repeatable.")] = [],  # noqa: B006
    again: Annotated[bool, typer.Option("--again", help="Ask also what was asked before.")] = False,
    concurrency: Concurrency = None,
    budget: Budget = None,
    workers: Workers = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Judge stored conversations under every version of the rule about handing over; asks only what is left."""
    from cxlab.benchmarks.mmtaup2.evaluation import rubric_versions
    from cxlab.runner.launch import ExecutionOptions, launch
    from cxlab.runner.rejudge import plan_rejudging

    manner = ExecutionOptions(concurrency=concurrency, budget_usd=budget, workers=workers, quiet=quiet)
    rules = (
        [rubric_versions.find(number) for number in dict.fromkeys(version)]
        if version
        else list(rubric_versions.rules())
    )
    plan = plan_rejudging(runs, judge, rules, again=again)
    if not quiet:
        told = f"{len(rules)} versions of the rule: {plan.kept} of {plan.kept + plan.asked} (judge, version) are kept"
        print(told, file=sys.stderr)
    if not plan.runs:
        if as_json:
            print(json.dumps({"runs": [], "kept": plan.kept, "asked": 0}))
        elif not quiet:
            print("Nothing is left to ask. See page Judges, Escalation.")
        return
    finish(launch(plan.runs, manner), manner, as_json, kept=plan.kept, asked=plan.asked)
