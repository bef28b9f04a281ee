"""`doctor`: what is wrong with the store and with the benchmarks of other packages, and its repair."""

from typing import TYPE_CHECKING, Annotated

import typer

from cxlab.commands import json_line

if TYPE_CHECKING:
    from cxlab.store.health import Finding


def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON, the last line.")] = False,
) -> None:
    """Say what is wrong with the store and with benchmarks of other packages; exit code 1 if anything is left.

    --repair keeps each original in the trash."""
    from cxlab.errors import CxError

    found = _examine()
    done: list[str] = []
    if repair:
        for one in found:
            if one.repair is None:
                continue
            try:
                done.append(f"{one.problem}: {one.repair()}")
            except CxError as why:  # the others can be repaired all the same
                print(f"not repaired: {one.problem}: {why}")
        found = _examine()
    if as_json:
        left = [{"problem": one.problem, "advice": one.advice, "repairable": bool(one.repair)} for one in found]
        json_line.say({"repaired": done, "found": left})
    else:
        _print(done, found)
    if found:
        raise typer.Exit(1)


def _examine() -> "list[Finding]":
    from cxlab import jobs
    from cxlab.benchmarks import REGISTRY
    from cxlab.runner.stored import health as runs
    from cxlab.store import health as store

    found = [*store.examine(), *runs.examine()]
    if (fault := jobs.find_damage()) is not None:
        advice = "moves the table to the trash; jobs vanish from the lists, what they made stays"
        found.append(store.Finding(f"jobs.sqlite is damaged: {fault}", advice, _repair_jobs))
    advice = "mend or remove the package; the other benchmarks work without it"
    found += [store.Finding(each.describe(), advice) for each in REGISTRY.left_out]
    return found


def _repair_jobs() -> str:
    from cxlab import jobs

    moved = jobs.set_damaged_aside()
    return f"moved to {moved}" if moved else "it is sound again"


def _print(done: "list[str]", found: "list[Finding]") -> None:
    for line in done:
        print(f"repaired: {line}")
    for one in found:
        print(one.problem)
        print(f"    {'--repair ' if one.repair else ''}{one.advice}")
    if not found:
        print("Nothing is wrong with the store." if not done else "Nothing else is wrong with the store.")
    elif any(one.repair for one in found):
        able = sum(one.repair is not None for one in found)
        print(f"{len(found)} findings, {able} of which can be repaired: python -m cxlab doctor --repair")
