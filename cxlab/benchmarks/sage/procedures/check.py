"""Check a scenario file before anybody runs it: file, line, what is wrong, how to mend it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cxlab.benchmarks.sage.procedures.signal_reader import ReaderSkill, read, topic_hits
from cxlab.benchmarks.sage.procedures.sop_text import guides
from cxlab.benchmarks.sage.rules import FOLDER, LEVELS, MORE, Scenario, Untraceable, applies, meets, parse, same
from cxlab.files import Complaint, grammar, line_of, lines_of

SIGNAL_FREE = "a customer who says it would state a fact by accident; reword it"
FEWEST_WORDINGS = 24
# Of the values that one stage reads; the largest stage that ships has some dozens.
MOST_COMBINATIONS = 2_000
# Of the walk to one stage; beyond, every combination of values is taken to be possible there.
MOST_STEPS = 20_000


def check_files(paths: Iterable[Path] | None = None) -> list[Complaint]:
    """Complaints about all scenario files, or about those given."""
    found: list[Complaint] = []
    for path in sorted(FOLDER.glob("*.yaml")) if paths is None else paths:
        found += check_file(Path(path))
    return found


def check_file(path: Path) -> list[Complaint]:
    """Complaints about one file: first its form, then its graph, then its phrases."""
    scenario, complaints = parse(path)
    if scenario is None:
        return complaints
    lines = lines_of(path)
    found = [*_graph(scenario), *_phrases(scenario)]
    if path.stem != scenario.id:
        found.append((("id",), f"the id is {scenario.id!r} but the file is {path.name}", f"write id: {path.stem}"))
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
    integer = name in s.system and s.system[name].integer
    for value in condition if isinstance(condition, list | tuple) else [condition]:
        if integer and (isinstance(value, int) or (isinstance(value, str) and MORE.fullmatch(value))):
            continue
        if not any(same(value, option) for option in s.domain(name)):
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
        fits = [i for i, b in enumerate(branches) if all(k in facts and meets(facts[k], c) for k, c in b.when.items())]
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
                values = [v for v in s.domain(name) if meets(v, condition)]
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
        if not any(applies(i.when, {**s.defaults(), **leaf.given}) for i in s.intents.values()):
            yield ("intents",), f"no intent fits leaf {leaf.id} {dict(leaf.given)}", "widen an intent's when:"


def _phrases(s: Scenario) -> LocatedComplaints:
    counts = {name: len(values) for name, values in s.slots.items()}
    allowed = set(s.slots) | set(s.system)
    reading, skill = guides(s), ReaderSkill("checker")

    def heard(text: str) -> dict[str, Any]:
        return {name: value for name, (value, evidence) in read(reading, [text], skill).items() if evidence}

    def form(where: tuple[object, ...], lines: Iterable[str]) -> LocatedComplaints:
        for index, line in enumerate(lines):
            try:
                unknown = grammar.slot_names(line) - allowed
                grammar.parse(line)
            except grammar.BadPhrase as error:
                yield (*where, index), str(error), "mend the brackets"
                continue
            if unknown:
                yield (*where, index), f"no slot {sorted(unknown)}", f"known slots: {', '.join(sorted(allowed))}"

    def silent(where: tuple[object, ...], lines: Iterable[str], but: tuple[str, ...] = ()) -> LocatedComplaints:
        yield from form(where, lines)
        for index, line in enumerate(lines):
            for text in _wordings(line):
                if told := {k: v for k, v in heard(text).items() if k not in but}:
                    yield (*where, index), f"{text!r} says {told}", SIGNAL_FREE
                    break

    for slot, values in s.slots.items():
        for index, word in enumerate(values):
            if told := heard(word):
                yield ("slots", slot, index), f"the slot value {word!r} says {told}", SIGNAL_FREE
    for name, spec in s.fields.items():
        for value, option in spec.options.items():
            here = ("fields", name, "options", value)
            for kind in ("says", "heated", "oblique", "denies"):
                lines = getattr(option, kind)
                yield from form((*here, kind), lines)
                if not lines and kind in ("says", "heated"):
                    yield here, f"{name}={value} has no {kind}", f"add {kind}: lines"
                if kind == "denies":
                    yield from _denies(name, value, (*here, kind), lines, heard)
                else:
                    yield from _means(name, value, (*here, kind), lines, heard)
            wordings = sum(grammar.variants(line, counts) for line in option.says if _wordings(line))
            if option.says and wordings < FEWEST_WORDINGS:
                yield (*here, "says"), f"{name}={value} can be said in {wordings} ways only", f"reach {FEWEST_WORDINGS}"
        for index, ask in enumerate(spec.ask):
            hits = {other: topic_hits(ask, o.topic) for other, o in s.fields.items()}
            if hits[name] < 2 or any(n >= hits[name] for o, n in hits.items() if o != name):
                problem = f"the question {ask!r} is not told apart by its topic words: {hits}"
                yield ("fields", name, "ask", index), problem, "use at least two of the field's topic words"
    for key, intent in s.intents.items():
        yield from form(("intents", key, "openings"), intent.openings)
        yield from form(("intents", key, "background"), intent.background)
        for variable, condition in intent.when.items():
            yield from _condition(s, ("intents", key), variable, condition)
        if intent.level not in LEVELS:
            yield ("intents", key, "level"), f"unknown level {intent.level!r}", f"known: {', '.join(LEVELS)}"
        for index, line in enumerate(intent.openings):
            for text in _wordings(line):
                wrong = {k: v for k, v in heard(text).items() if not (k in intent.when and meets(v, intent.when[k]))}
                if wrong:
                    yield (
                        ("intents", key, "openings", index),
                        f"{text!r} says {wrong}, which the intent does not fix",
                        "an opening may only tell what the intent's when: fixes",
                    )
                    break
    yield from silent(("talk", "small_talk"), s.talk.small_talk)
    for level in LEVELS:
        if not s.talk.objections.get(level):
            yield ("talk", "objections"), f"no objections for level {level}", "add lines"
        yield from silent(("talk", "objections", level), s.talk.objections.get(level, ()))
    for level in s.talk.objections:
        if level not in LEVELS:
            yield ("talk", "objections", level), f"unknown level {level!r}", f"known: {', '.join(LEVELS)}"


def _wordings(line: str) -> list[str]:
    """Some wordings of a line; none of one whose form is wrong, which is a complaint of its own."""
    try:
        return grammar.every(line, 60)
    except grammar.BadPhrase:
        return []


def _denies(name: str, value: Any, where: tuple[object, ...], lines: Iterable[str], heard: Any) -> LocatedComplaints:
    """A denial must not be read as the very option that it denies."""
    for index, line in enumerate(lines):
        told = next((text for text in _wordings(line) if same(heard(text).get(name), value)), None)
        if told:
            yield (
                (*where, index),
                f"{told!r} says {name}={value} instead of denying it",
                "put not or never before the signal",
            )


def _means(name: str, value: Any, where: tuple[object, ...], lines: Iterable[str], heard: Any) -> LocatedComplaints:
    """Each wording must be read as its own option by a reader that knows all signals."""
    for index, line in enumerate(lines):
        for text in _wordings(line):
            told = heard(text)
            if name not in told:
                yield (
                    (*where, index),
                    f"{text!r} carries no signal of {name}={value}",
                    "use a wording from its signals or subtle",
                )
                break
            if not same(told[name], value):
                yield (*where, index), f"{text!r} reads as {name}={told[name]}", f"it should read as {value}"
                break
            if others := {k: v for k, v in told.items() if k != name}:
                yield (*where, index), f"{text!r} also says {others}", "say one thing in one line"
                break
