"""The general customer voice is spoken in every scenario, so it must state a fact of none."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import yaml

from cxlab.benchmarks.sage.rules import FOLDER, LEVELS, ids, load
from cxlab.benchmarks.sage.simulated.check_phrases import guides
from cxlab.benchmarks.sage.simulated.phrases import phrases_of
from cxlab.benchmarks.sage.simulated.signal_reader import NEGATORS, ReaderSkill, heat, read
from cxlab.files import grammar

PATH = FOLDER.parent / "simulated" / "sage" / "customer_voice.yaml"
KINDS = (
    "greeting",
    "lead",
    "tail",
    "correction",
    "dodge",
    "vague",
    "relief",
    "grudging",
    "goodbye",
    "objecting",
    "repeat",
    "asked_again",
)
WIDE = ("dodge", "vague", "relief", "grudging", "goodbye")
BEFORE_A_FACT = ("greeting", "lead", "correction", "repeat", "asked_again")
LIMIT = 12


@functools.cache
def reading_of(scenario_id: str):
    scenario = load(scenario_id)
    return guides(scenario, phrases_of(scenario))


Lines = tuple[tuple[str, str, str], ...]


@functools.cache
def voice() -> dict[str, dict[str, list[str]]]:
    loaded: dict[str, dict[str, list[str]]] = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    return loaded


def lines() -> Lines:
    return tuple(
        (kind, level, line) for kind, levels in voice().items() for level, said in levels.items() for line in said
    )


@functools.cache
def wordings(line: str) -> tuple[str, ...]:
    """The first wordings in order, and some drawn at random, since a long line has more than LIMIT."""
    rng = np.random.default_rng(7)
    return tuple(dict.fromkeys([*grammar.every(line, LIMIT), *(grammar.say(line, rng, {}) for _ in range(LIMIT))]))


def test_every_kind_has_every_level() -> None:
    assert tuple(voice()) == KINDS
    assert all(tuple(levels) == LEVELS for levels in voice().values())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", LEVELS)
def test_there_is_enough_variety(kind: str, level: str) -> None:
    said = voice()[kind][level]
    distinct = {text for line in said for text in grammar.every(line, 10_000)}
    if kind == "objecting" and level != "strong":
        return  # others ask without a word before
    assert len(said) >= 5
    assert len(distinct) >= (200 if kind in WIDE else 25)


def test_no_line_needs_a_slot() -> None:
    assert not [line for _, _, line in lines() if grammar.slot_names(line)]


@pytest.mark.parametrize("scenario_id", ids())
def test_the_voice_states_no_fact(scenario_id: str) -> None:
    reading, skill = reading_of(scenario_id), ReaderSkill("checker")
    told = []
    for kind, level, line in lines():
        for text in wordings(line):
            taken = {name: evidence.wording for name, (_, evidence) in read(reading, [text], skill).items() if evidence}
            if taken:
                told.append((kind, level, text, taken))
                break
    assert not told


def test_a_careless_reader_finds_no_fact_either() -> None:
    """A reader that overlooks "not" must not be led astray by the voice, only by the facts' own lines."""
    careless = ReaderSkill("checker", negation=False)
    for scenario_id in ids():
        reading = reading_of(scenario_id)
        for kind, level, line in lines():
            for text in wordings(line):
                taken = {n: e.wording for n, (_, e) in read(reading, [text], careless).items() if e}
                assert not taken, (scenario_id, kind, level, text, taken)


@pytest.mark.parametrize("kind", BEFORE_A_FACT)
def test_what_stands_before_a_fact_does_not_negate_it(kind: str) -> None:
    """ "I'm not saying it twice" without a stop would turn the fact that follows into its opposite."""
    negating = [
        text
        for level in LEVELS
        for line in voice()[kind][level]
        for text in wordings(line)
        if NEGATORS.search(text.lower() + " ")
    ]
    assert not negating


@pytest.mark.parametrize("level", ["zero", "weak"])
def test_only_the_strong_level_is_heated(level: str) -> None:
    assert not [text for _, at, line in lines() if at == level for text in wordings(line) if heat(text)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_strong_level_is_heated_at_times(kind: str) -> None:
    said = [text for line in voice()[kind]["strong"] for text in wordings(line)]
    share = sum(heat(text) > 0 for text in said) / len(said)
    assert 0.1 < share < 0.9


@pytest.mark.parametrize("scenario_id", ids())
def test_the_voice_around_a_fact_leaves_it_readable(scenario_id: str) -> None:
    """Where two pieces meet, no signal may arise or be lost."""
    scenario, skill, rng = load(scenario_id), ReaderSkill("checker"), np.random.default_rng(11)
    reading, bank = reading_of(scenario_id), phrases_of(scenario)

    def draw(said: list[str] | tuple[str, ...]) -> str:
        slots = {name: values[int(rng.random() * len(values))] for name, values in scenario.slots.items()}
        return grammar.say(said[int(rng.random() * len(said))], rng, slots)

    lost = []
    for name, spec in bank.fields.items():
        for value, option in spec.options.items():
            for level in LEVELS:
                for before in BEFORE_A_FACT[1:] * 4:
                    fact = draw(option.heated if level == "strong" else option.says)
                    text = f"{draw(voice()[before][level])} {fact}. {draw(voice()['tail'][level])}"
                    taken = {n: v for n, (v, evidence) in read(reading, [text], skill).items() if evidence}
                    if taken != {name: value}:
                        lost.append((text, name, value, taken))
    assert not lost
