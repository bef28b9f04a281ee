"""`prompts`: what a real model gets, message by message with its schema."""

from typing import Annotated

import typer

from cxlab.commands import json_line


def prompts(
    benchmark: Annotated[str, typer.Argument(help="The benchmark.")],
    name: Annotated[str, typer.Argument(help="One prompt, or all of a role: agent, customer, judge, writer.")] = "",
    sample: Annotated[str, typer.Option(help="The sample by its id. Default: a usual one of each task.")] = "",
    option: Annotated[list[str], typer.Option(help="A switch of the run as key=value, repeatable.")] = [],  # noqa: B006
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON a prompt.")] = False,
) -> None:
    """What a real model gets, message by message with its schema, for one sample; asks no real model."""
    from cxlab.benchmarks import get, prompt_renderings
    from cxlab.records.settings import split_pairs

    found = prompt_renderings.pick(prompt_renderings.render(get(benchmark), sample, options=split_pairs(option)), name)
    for rendering in found:
        if as_json:
            json_line.say(rendering.to_record())
        else:
            print(rendering.to_text())
    if not as_json and not name:
        others = sorted(_others(benchmark, {rendering.name for rendering in found}))
        if others:
            print(f"Not asked here, as they need another server or another switch: {', '.join(others)}")


def _others(benchmark: str, shown: set[str]) -> set[str]:
    """Prompts that the benchmark has and that this sample's attempt did not come to."""
    from cxlab.benchmarks import get

    return {name.partition("/")[0] for name in get(benchmark).prompts()} - shown
