"""`send` and `answers`: conversations that nobody has labelled given to a task, and what was said of each."""

from typing import Annotated

import typer

from cxlab.commands import json_line
from cxlab.errors import BadOption


def send(
    context: typer.Context,
    dataset: Annotated[str | None, typer.Argument(help="A stored dataset with conversations, as a saved set.")] = None,
    task: Annotated[str | None, typer.Argument(help="What is to be found out; --help lists the tasks.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of what is drawn.")] = 0,
    budget: Annotated[float | None, typer.Option(help="USD that a real model may cost here; then it stops.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it will take, make nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    help_: Annotated[bool, typer.Option("--help", help="Show this, and the tasks with their settings.")] = False,
) -> None:
    """Make a dataset of anybody's conversations for a task that needs no labels; then run it like any other.

    Settings of a task follow it: python -m cxlab send DATASET TASK --SETTING=…. Figures that need labels are left out.
    """
    from dataclasses import asdict

    from cxlab.benchmarks import sending
    from cxlab.benchmarks.generation import GenerationContext
    from cxlab.benchmarks.generation.budget import GenerationBudget
    from cxlab.commands.switches import describe, read_flags
    from cxlab.records.bounds import check_whole
    from cxlab.runner.display.stages import StageDisplay

    if help_:
        print(context.get_help() + "\n\nTasks:")
        for id, (_, each) in sending.list_tasks().items():
            print(f"  {id}: {each.finds}")
            print("\n".join(f"    {line}" for line in describe(each.Settings.switches(), flags=True).splitlines()))
        return
    if dataset is None or task is None or task.startswith("-"):
        raise BadOption(f"name a dataset and a task: {', '.join(sending.list_tasks())}")
    benchmark, found = sending.find_task(task)
    given = read_flags(context.args, found.Settings, task)
    check_whole("seed", seed)
    expected = sending.plan(dataset, task, given)
    told = "Making it asks no server and costs nothing." if expected is None else expected.describe()
    if plan:
        if as_json:
            json_line.say({"plan": asdict(expected) if expected else None})
        else:
            print(told)
        return
    board = StageDisplay(quiet)
    spending = GenerationBudget(budget, lambda spent: board.spend(asdict(spent), spent.describe()))
    made = board.follow(sending.send(dataset, task, given, GenerationContext(seed, budget=spending)))
    board.write(made.dataset.id)
    if as_json:
        json_line.say({"dataset": made.dataset.id, "samples": len(made.samples), "task": task})
        return
    left = int(made.dataset.config.get("left_out") or 0)
    print(f"{made.dataset.id}: {made.dataset.name}; {len(made.samples):,} samples, {left:,} conversations left out")
    card, model = benchmark.card.id, "MODEL"
    print(f"Run it with: python -m cxlab run {card} --dataset {made.dataset.id} --model {model}")
    print("Then read what was said: python -m cxlab answers RUN")


def answers(
    run: Annotated[str, typer.Argument(help="A run of conversations that were sent to a task.")],
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each answer.")] = False,
) -> None:
    """What a run said of conversations that nobody has labelled: how often, then of each conversation and why."""
    from cxlab.benchmarks.sending import count_answers, read_answers
    from cxlab.store import write

    found = read_answers(run)
    if as_json:
        for row in found.iter_rows(named=True):
            json_line.say(row)
        return
    about = write.load_run(run)
    print(f"{about.id}: {about.model}{' (simulated)' if about.simulated else ''}; nobody has labelled these")
    asked = ""
    for row in count_answers(found).iter_rows(named=True):
        if row["asked"] != asked:
            asked = row["asked"]
            print(f"\n{asked}" + (f"  ({row['unread']:,} not answered)" if row["unread"] else ""))
        if row["said"] is not None:
            part = f"{row['share']:.0%} [{row['low']:.0%}, {row['high']:.0%}]"
            print(f"  {row['n']:>6,} of {row['of']:,}  {part:>18}  {row['said']}")
    for row in found.iter_rows(named=True):
        lines = f" (messages {', '.join(str(place + 1) for place in row['lines'])})" if row["lines"] else ""
        said = f"  {row['said'] or 'no answer'}{lines}. {row['reason']}".rstrip()
        print(f"\n{row['conversation_id']}: {row['asked']}\n{said}")
