"""The ledger: laws hold, values are written and read back in each language, statements are recognised."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.cxmarena.brand import brand_pack, fact_statements, ledger, pack_files, value_format
from tests.benchmarks.cxmarena import ledger_check

NAMES = ("hearthwise", "solvanne", "talvero")


class Ledgers(dict[str, ledger.Ledger]):
    """Made when first asked for: not by every process that only collects this file."""

    def __missing__(self, name: str) -> ledger.Ledger:
        self[name] = made = ledger.make(pack_files.load(name), 1, 2)
        return made


LEDGERS = Ledgers()


@pytest.mark.parametrize("name", NAMES)
def test_all_facts_obey_the_laws(name: str) -> None:
    for seed in range(4):
        made = ledger.make(pack_files.load(name), seed)
        assert ledger_check.check(made) == []
    again = ledger.make(pack_files.load(name), 3)
    assert again.facts == made.facts
    assert ledger.make(pack_files.load(name), 4).facts != made.facts


def test_the_check_sees_each_kind_of_fault() -> None:
    made = LEDGERS["hearthwise"]

    def spoilt(fact_id: str, value: value_format.Value) -> list[str]:
        wrong = dataclasses.replace(made.facts[fact_id], value=value)
        return ledger_check.check(dataclasses.replace(made, facts={**made.facts, fact_id: wrong}, _by={}, _of={}))

    low = made.facts["ember-mini.price"].value
    assert any("is not above ember-mini.price" in c for c in spoilt("ember-one.price", low))
    assert any("lies outside" in c for c in spoilt("ember-mini.warranty", 900.0))
    assert any("is no option" in c for c in spoilt("ember-mini.material", "gold"))
    assert any("is not 0.0833" in c for c in spoilt("ember-mini.instalment", 1.0))
    assert any("its parts less the discount" in c for c in spoilt("first-home-bundle.price", 1.0))
    double = dataclasses.replace(made.facts["ember-mini.price"], id="other", value=51.99)
    told = ledger_check.check(dataclasses.replace(made, facts={**made.facts, "other": double}, _by={}, _of={}))
    assert any("price is" in c for c in told)


@pytest.mark.parametrize("name", NAMES)
def test_every_wording_of_every_fact_is_read_back(name: str) -> None:
    made, rng = LEDGERS[name], np.random.default_rng(5)
    for fact in made.facts.values():
        assert fact_statements.find_facts(ledger.say(made, fact, rng) + ".", made) == {fact.triple}


@given(st.floats(0, 99_999).map(lambda v: round(v, 2)), st.sampled_from(["en", "fr", "de"]))
def test_prices_survive_writing_and_reading(value: float, language: str) -> None:
    lang = brand_pack.load_language(language)
    spec = LEDGERS["hearthwise"].brand.properties["price"]
    text = value_format.show(value, spec, lang, "€")
    found = list(value_format.find(f"x {text} y", lang))
    assert [(f.kind, f.value) for f in found] == [("price", value)]


@pytest.mark.parametrize(
    ("language", "symbol", "text"), [("en", "£", "£1,299.00"), ("fr", "€", "1 299,00 €"), ("de", "€", "1.299,00 €")]
)
def test_a_price_is_written_as_the_language_does(language: str, symbol: str, text: str) -> None:
    spec = LEDGERS["hearthwise"].brand.properties["price"]
    assert value_format.show(1299.0, spec, brand_pack.load_language(language), symbol) == text


@pytest.mark.parametrize(
    ("language", "text", "kind", "unit", "value"),
    [
        ("en", "on 4 March 2026.", "date", "", "2026-03-04"),
        ("fr", "le 4 août 2026 au soir", "date", "", "2026-08-04"),
        ("de", "am 15. Juli 2026 war", "date", "", "2026-07-15"),
        ("en", "opens at 9:30.", "time", "", "09:30"),
        ("fr", "ouvre à 9 h 30.", "time", "", "09:30"),
        ("de", "um 9:30 Uhr.", "time", "", "09:30"),
        ("en", "within 10 working days.", "size", "working_day", 10.0),
        ("de", "mit 14 Tagen Frist", "size", "day", 14.0),
        ("fr", "en 3 jours ouvrés.", "size", "working_day", 3.0),
        ("en", "is 21.5 °C now", "size", "degree", 21.5),
        ("de", "59 % davon", "percent", "", 59.0),
        ("en", "with 48 bays", "count", "", 48.0),
    ],
)
def test_figures_are_read(language: str, text: str, kind: str, unit: str, value: value_format.Value) -> None:
    found = list(value_format.find(text, brand_pack.load_language(language)))
    assert [(f.kind, f.unit, f.value) for f in found] == [(kind, unit, value)]


def test_statements_name_their_subject_or_are_about_one() -> None:
    made = LEDGERS["hearthwise"]
    text = "Ember Mini costs £75.99, while Ember Pro is priced at £200.99. It weighs 90 g. Weighing 4 boxes is no fact."
    assert fact_statements.find_facts(text, made) == {("Ember Mini", "price", 75.99), ("Ember Pro", "price", 200.99)}
    assert ("Ember One", "weight", 90.0) in fact_statements.find_facts(text, made, about="Ember One")
    assert fact_statements.find_facts("Ember Minister costs £3.", made) == set()


def test_contradictions_are_what_the_ledger_does_not_hold() -> None:
    made = LEDGERS["talvero"]
    fact = made.facts["fjord-pro.garantie"]
    right = f"Die Garantie auf Fjord Pro läuft {int(float(fact.value))} Monate."
    assert fact_statements.contradictions(right, made) == set()
    assert fact_statements.contradictions("Die Garantie auf Fjord Pro läuft 99 Monate.", made) == {
        ("Fjord Pro", "garantie", 99.0)
    }


def test_more_models_than_the_pack_names_get_a_generation() -> None:
    made = ledger.make(pack_files.load("talvero"), 1, {"smartphone": 10})
    assert "Fjord 2 Pro" in made.subjects
    assert len(made.subjects) == 30
    assert ledger_check.check(made) == []
