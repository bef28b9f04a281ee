"""Brand packs and their ledgers: complete files, and no fact that contradicts another."""

from pathlib import Path

import numpy as np
import pytest

from cxlab.benchmarks.cxmarena.brand import (
    brief_plan,
    fact_statements,
    ledger,
    pack_files,
    pack_from_brief,
)
from cxlab.errors import CxError
from cxlab.llm import load
from tests.benchmarks.cxmarena import ledger_check


def test_the_shipped_packs_are_clean() -> None:
    assert [str(c) for c in pack_files.check_files()] == []
    assert {pack_files.load(name).language.language for name in pack_files.names()} == {"en", "fr", "de"}


@pytest.mark.parametrize("name", pack_files.names())
@pytest.mark.parametrize("seed", [1, 2])
def test_a_ledger_obeys_its_laws_and_is_the_same_for_a_seed(name: str, seed: int) -> None:
    pack = pack_files.load(name)
    made = ledger.make(pack, seed=seed, models=3)
    assert ledger_check.check(made) == []
    assert made.facts == ledger.make(pack, seed=seed, models=3).facts
    assert made.facts != ledger.make(pack, seed=seed + 10, models=3).facts


@pytest.mark.parametrize("name", pack_files.names())
def test_what_is_said_of_a_fact_is_read_as_that_fact(name: str) -> None:
    made = ledger.make(pack_files.load(name), seed=3, models=2)
    rng = np.random.default_rng(0)
    facts = list(made.facts.values()) if isinstance(made.facts, dict) else list(made.facts)
    for place in rng.choice(len(facts), size=min(120, len(facts)), replace=False):
        fact = facts[int(place)]
        text = ledger.say(made, fact, rng)
        assert (fact.subject, fact.property, fact.value) in fact_statements.find_facts(
            text, made, about=fact.subject
        ), text
        assert fact_statements.contradictions(text, made, about=fact.subject) == set(), text


def test_an_unknown_brand_is_named() -> None:
    with pytest.raises(CxError):
        pack_files.load("nope")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "A bicycle maker that sells city bikes, cargo bikes and helmets in shops and online, with repairs."),
        ("de", "Ein Hersteller von Kaffeemaschinen und Mühlen aus Köln, der über Händler verkauft und repariert."),
    ],
)
def test_a_brief_becomes_a_pack_that_the_checker_passes(tmp_path: Path, language: str, text: str) -> None:
    model = load("simulated:strong")
    plan = brief_plan.read(text, model)
    assert plan.asks, "neither says what the brand is called"
    plan = brief_plan.answer(plan, called="Vinter", sells=["Kaffeemaschinen"], trade="any")
    path = pack_from_brief.write(text, plan, model, tmp_path)
    assert pack_files.check_file(path) == []
    pack = pack_files.load(path)
    assert pack.language.language == language
    assert ledger_check.check(ledger.make(pack, seed=1, models=2)) == []


def test_a_brief_that_says_nothing_is_refused(tmp_path: Path) -> None:
    model = load("simulated:strong")
    for text in ("A shop.", "A shop that sells " + "bread, rolls and cakes " * 3):
        with pytest.raises(CxError):
            pack_from_brief.write(text, brief_plan.read(text, model), model, tmp_path)
    assert list(tmp_path.iterdir()) == []
