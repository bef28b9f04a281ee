"""Check the phrase banks of stand-ins: every line must be read as what it is meant to say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cxlab.benchmarks.sage.conditions import same
from cxlab.benchmarks.sage.rules import FieldSpec, Scenario, load
from cxlab.benchmarks.sage.simulated.phrases import FOLDER, NO_FIELD, NO_OPTION, Phrases, bank_of
from cxlab.benchmarks.sage.simulated.signal_reader import FieldSignals, ReaderSkill, read, topic_hits
from cxlab.files import Complaint, grammar, line_of, lines_of

SIGNAL_FREE = "a customer who says it would state a fact by accident; reword it"
FEWEST_WORDINGS = 24

LocatedComplaints = Iterator[tuple[tuple[object, ...], str, str]]


def check_banks() -> list[Complaint]:
    """Complaints about all phrase banks."""
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        bank = bank_of(path.stem)
        if bank is not None:
            wrong = list(check_bank(load(path.stem), bank))
            lines = lines_of(path) if wrong else {}
            name = f"{FOLDER.name}/{path.name}"
            for where, problem, fix in wrong:
                found.append(Complaint(name, line_of(lines, where), problem, fix))
    return found


def guides(s: Scenario, bank: Phrases) -> tuple[FieldSignals, ...]:
    """The fields of a scenario as a reader needs them that knows its bank."""

    def options(name: str, spec: FieldSpec) -> tuple[tuple[Any, tuple[str, ...], tuple[str, ...]], ...]:
        known = bank.fields.get(name, NO_FIELD).options
        found = ((value, known.get(value, NO_OPTION)) for value in spec.options)
        return tuple((value, phrases.signals, phrases.subtle) for value, phrases in found)

    return tuple(FieldSignals(n, spec.default, spec.emotion, options(n, spec)) for n, spec in s.fields.items())


def check_bank(s: Scenario, bank: Phrases) -> LocatedComplaints:
    """What is wrong with a bank, with the place in its file."""
    counts = {name: len(values) for name, values in s.slots.items()}
    allowed = set(s.slots) | set(s.system)
    reading, skill = guides(s, bank), ReaderSkill("checker")

    def heard(text: str) -> dict[str, Any]:
        return {name: value for name, (value, evidence) in read(reading, [text], skill).items() if evidence}

    def silent(where: tuple[object, ...], lines: Iterable[str], but: tuple[str, ...] = ()) -> LocatedComplaints:
        yield from grammar.check_lines(where, lines, allowed)
        for index, line in enumerate(lines):
            for text in _wordings(line):
                if told := {k: v for k, v in heard(text).items() if k not in but}:
                    yield (*where, index), f"{text!r} says {told}", SIGNAL_FREE
                    break

    for slot, values in s.slots.items():
        for index, word in enumerate(values):
            if told := heard(word):
                yield ("slots", slot, index), f"the slot value {word!r} says {told}", SIGNAL_FREE
    for name in bank.fields.keys() - s.fields.keys():
        yield ("fields", name), f"the scenario has no field {name!r}", "remove it"
    for name, spec in bank.fields.items():
        for value, option in spec.options.items():
            here = ("fields", name, "options", value)
            for kind in ("says", "heated", "oblique", "denies"):
                lines = getattr(option, kind)
                yield from grammar.check_lines((*here, kind), lines, allowed)
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
            hits = {other: topic_hits(ask, o.topic) for other, o in bank.fields.items()}
            if hits[name] < 2 or any(n >= hits[name] for o, n in hits.items() if o != name):
                problem = f"the question {ask!r} is not told apart by its topic words: {hits}"
                yield ("fields", name, "ask", index), problem, "use at least two of the field's topic words"
    for key, openings in bank.intents.items():
        intent = s.intents[key]
        yield from grammar.check_lines(("intents", key, "openings"), openings.openings, allowed)
        for index, line in enumerate(openings.openings):
            for text in _wordings(line):
                told = heard(text)
                wrong = {k: v for k, v in told.items() if not (k in intent.when and s.meets(k, v, intent.when[k]))}
                if wrong:
                    yield (
                        ("intents", key, "openings", index),
                        f"{text!r} says {wrong}, which the intent does not fix",
                        "an opening may only tell what the intent's when: fixes",
                    )
                    break
    yield from silent(("talk", "small_talk"), bank.talk.small_talk)
    for level, lines in bank.talk.objections.items():
        yield from silent(("talk", "objections", level), lines)


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
