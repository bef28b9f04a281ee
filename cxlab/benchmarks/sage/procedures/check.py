"""Check a scenario file before anybody runs it: file, line, what is wrong, how to mend it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cxlab.benchmarks.sage import conditions
from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.rules import LEVELS, Scenario, Untraceable, files_by_id, parse
from cxlab.files import Complaint, grammar, line_of, lines_of

KINDS = {"integer": "a whole number", "amount": "an amount", "date": "a date"}
# Of the values that one stage reads; the largest stage that ships has some dozens.
MOST_COMBINATIONS = 2_000
# Of the walk to one stage; beyond, every combination of values is taken to be possible there.
MOST_STEPS = 20_000


def check_files(paths: Iterable[Path] | None = None) -> list[Complaint]:
    """Complaints about the files given, or about all scenarios."""
    found: list[Complaint] = []
    for path in files_by_id().values() if paths is None else paths:
        found += check_file(Path(path))
    return found


def check_file(path: Path) -> list[Complaint]:
    """Complaints about one file: its form, its graph, its texts, and whether what is generated from it passes."""
    scenario, complaints = parse(path)
    if scenario is None:
        return complaints
    found = [*_graph(scenario), *_texts(scenario)]
    if not found:
        found += _samples(scenario)
    if path.stem != scenario.id:
        found.append((("id",), f"the id is {scenario.id!r} but the file is {path.name}", f"write id: {path.stem}"))
    lines = lines_of(path) if found else {}
    return [Complaint(path.name, line_of(lines, where), problem, fix) for where, problem, fix in found]


LocatedComplaints = Iterator[tuple[tuple[object, ...], str, str]]


def _graph(s: Scenario) -> LocatedComplaints:
    if clash := set(s.fields) & set(s.system):
        yield ("system",), f"{sorted(clash)} are both fields and system variables", "rename one"
    reads: set[str] = set()
    used: set[str] = set()
    for name, stage in s.stages.items():
        for index, branch in enumerate(stage.branches):
            where = ("stages", name, "branches", index)
            if (branch.to is None) == (branch.action is None):
                yield (
                    where,
                    f"a branch of {name} must lead to a stage or end in an action",
                    "give either to: or action:",
                )
            if branch.to is not None and branch.to not in s.stages:
                yield where, f"{name} leads to unknown stage {branch.to!r}", f"known stages: {', '.join(s.stages)}"
            if branch.action is not None and branch.action not in s.actions:
                yield (
                    where,
                    f"{name} ends in unknown action {branch.action!r}",
                    f"known actions: {', '.join(s.actions)}",
                )
            used.add(branch.action or "")
            for variable, condition in branch.when.items():
                yield from _condition(s, where, variable, condition)
                reads.add(variable)
            for output, value in branch.set.items():
                if s.plan is None or output != s.plan.name or value not in s.plan.values:
                    yield where, f"{name} sets {output}={value}, which no plan knows", "add it under plan.values"
        yield from _coverage(s, name)
    for action in s.actions:
        if action not in used:
            yield ("actions", action), f"action {action} is never used", "end a branch in it or remove it"
    for name, spec in s.fields.items():
        if name not in reads:
            yield ("fields", name), f"field {name} is never read by a stage", "branch on it or remove it"
        if not any(same(spec.default, o) for o in spec.options):
            yield ("fields", name, "default"), f"default {spec.default!r} is no option of {name}", "choose an option"
    for name, known in s.system.items():
        if name not in reads and not known.context_only:
            yield ("system", name), f"variable {name} is never read", "branch on it or mark it context_only: true"
    yield from _reach(s)


def _condition(s: Scenario, where: tuple[object, ...], name: str, condition: Any) -> LocatedComplaints:
    if name not in s.fields and name not in s.system:
        yield where, f"unknown field {name!r}", f"known: {', '.join([*s.fields, *s.system])}"
        return
    kind = s.kind(name)
    for value in condition if isinstance(condition, list | tuple) else [condition]:
        if kind is not None:
            if conditions.read_interval(value, kind) is None:
                shapes = '2026-11-21, ">2026-11-21"' if kind == "date" else '0, ">100", "<=100" or "10..20"'
                yield where, f"{name} {value!r} is no bound of {KINDS[kind]}", f"write such as {shapes}"
        elif not any(same(value, option) for option in s.domain(name)):
            yield where, f"{name} has no option {value!r}", f"options: {', '.join(map(str, s.domain(name)))}"


def _coverage(s: Scenario, stage: str) -> LocatedComplaints:
    """Each combination of the values that a stage reads must fit exactly one branch."""
    import itertools

    branches = s.stages[stage].branches
    if not branches:
        yield ("stages", stage), f"{stage} has no branch", "add one that leads on or ends in an action"
    names = list(dict.fromkeys(n for b in branches for n in b.when if n in s.fields or n in s.system))
    if (count := math.prod(len(s.domain(name)) for name in names)) > MOST_COMBINATIONS:
        yield ("stages", stage), f"{stage} reads {count:.1e} combinations of values", "make several stages of it"
        return
    reachable = [dict(zip(names, values, strict=True)) for values in itertools.product(*(s.domain(n) for n in names))]
    possible = _arriving(s, stage)
    for facts in reachable:
        if possible is not None and not any(all(same(p.get(k, v), v) for k, v in facts.items()) for p in possible):
            continue
        fits = [i for i, b in enumerate(branches) if s.applies(b.when, facts)]
        told = ", ".join(f"{k}={v}" for k, v in facts.items())
        if not fits:
            yield ("stages", stage), f"{stage} has no branch for {told}", "add a branch that covers it"
        elif len(fits) > 1:
            yield (
                ("stages", stage, "branches", fits[1]),
                f"{stage} has {len(fits)} branches for {told}",
                "make them exclusive",
            )


def _arriving(s: Scenario, target: str) -> list[dict[str, Any]] | None:
    """The facts already read on every way to a stage; None where the graph cannot be walked yet."""
    found: list[dict[str, Any]] = []
    todo: list[tuple[str, dict[str, Any], int]] = [(s.start, {}, 0)]
    steps = 0
    while todo:
        stage, given, depth = todo.pop()
        steps += 1
        if steps > MOST_STEPS:
            return None
        if stage == target:
            found.append(given)
            continue
        if depth > len(s.stages) or stage not in s.stages:
            return None
        for branch in s.stages[stage].branches:
            if branch.to is None:
                continue
            options: list[dict[str, Any]] = [given]
            for name, condition in branch.when.items():
                if name not in s.fields and name not in s.system:
                    return None
                values = [v for v in s.domain(name) if s.meets(name, v, condition)]
                options = [{**o, name: v} for o in options for v in values if same(o.get(name, v), v)]
                if len(options) > MOST_COMBINATIONS:
                    return None
            todo += [(branch.to, o, depth + 1) for o in options]
    return found


def _reach(s: Scenario) -> LocatedComplaints:
    seen, todo = set(), [s.start]
    while todo:
        stage = todo.pop()
        if stage in seen or stage not in s.stages:
            continue
        seen.add(stage)
        todo += [b.to for b in s.stages[stage].branches if b.to]
    for stage in s.stages:
        if stage not in seen:
            yield ("stages", stage), f"stage {stage} cannot be reached", "lead a branch to it or remove it"
    try:
        leaves = s.leaves()
    except (Untraceable, KeyError) as error:
        yield ("stages",), f"a dead end: {error}", "give every way an action"
        return
    for leaf in leaves:
        if not any(s.applies(i.when, {**s.defaults(), **leaf.given}) for i in s.intents.values()):
            yield ("intents",), f"no intent fits leaf {leaf.id} {dict(leaf.given)}", "widen an intent's when:"


def _texts(s: Scenario) -> LocatedComplaints:
    """Slots must be known, intents sound, and a customer's words not those of the desk."""
    allowed = set(s.slots) | set(s.system)

    for name, spec in s.fields.items():
        for value, option in spec.options.items():
            here = ("fields", name, "options", value)
            yield from grammar.check_lines(here, [option.customer], allowed)
            shared = _runs(option.customer) & (_runs(option.description) | _runs(spec.description))
            if shared:
                told = " ".join(min(shared))
                yield here, f"customer: and description: of {name}={value} share {told!r}", "say it in other words"
    if not s.personalities:
        yield ("personalities",), "no personality", "add one with a description"
    for key, intent in s.intents.items():
        yield from grammar.check_lines(("intents", key, "background"), intent.background, allowed)
        for variable, condition in intent.when.items():
            yield from _condition(s, ("intents", key), variable, condition)
        if intent.level not in LEVELS:
            yield ("intents", key, "level"), f"unknown level {intent.level!r}", f"known: {', '.join(LEVELS)}"


def _samples(s: Scenario) -> LocatedComplaints:
    """What is generated must lead where its leaf leads: the gold of each sample passes."""
    from cxlab.benchmarks.sage.generate import make_samples

    for sample in make_samples("check", s, LEVELS[:1], seed=0, per_leaf=2):
        try:
            found = s.trace(sample.expected["fields"], sample.inputs["system"])
        except Untraceable as error:
            yield ("stages",), f"a generated case has no way: {error}", "give every value an option or a bound"
            return
        if (list(found.path), found.action) != (sample.expected["path"], sample.expected["action"]):
            leaf, values = sample.facets["leaf"], sample.inputs["system"]
            yield ("stages",), f"leaf {leaf} with {values} goes {' '.join(found.path)}", "make the branches exclusive"
            return


def _runs(text: str) -> set[tuple[str, ...]]:
    """All runs of five words."""
    words = re.findall(r"[\w'’-]+", text.lower())
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)}
