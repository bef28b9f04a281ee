"""What was struck when brands of odd trades were read aloud: each sentence here once stood wrong in a conversation."""

import datetime
import json
import re
from pathlib import Path

import numpy as np
import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import (
    brand_pack,
    brief_plan,
    joined_phrases,
    ledger,
    pack_files,
    pack_from_brief,
    value_format,
)
from cxlab.benchmarks.cxmarena.conversations import (
    personas,
    phrasebook,
    step_phrasing,
)
from cxlab.benchmarks.cxmarena.knowledge import topic_tree
from cxlab.benchmarks.cxmarena.simulated import industry_archetypes
from cxlab.files import grammar
from cxlab.records import Conversation
from tests.benchmarks.cxmarena.cxm_brand import generate

MUSEUM = (
    "The Harrow Quay Museum offers guided tours and lessons. A missed tour costs £14, a tour lasts 50 minutes, and it "
    "can be changed up to 2 days before."
)
KAYAKS = (
    "Fenbrook Paddles rents kayaks and canoes in Norfolk. A day costs £38, a deposit of £60 is returned within 3 days."
)
STROM = (
    "Die Solina Energie GmbH liefert Ökostrom und Gas. Der Arbeitspreis beträgt 31 Cent, die Laufzeit 12 Monate, "
    "gekündigt wird mit einer Frist von 4 Wochen."
)


def make(text: str, trade: str, folder: Path, language: str = "") -> brand_pack.Brand:
    model = llm.load("simulated:strong")
    plan = brief_plan.answer(brief_plan.read(text, model), trade=trade, language=language)
    return pack_files.load(pack_from_brief.write(text, plan, model, folder))


def talk(pack: brand_pack.Brand, count: int = 40) -> list[Conversation]:
    return generate(pack, 33, 27, count).conversations


def calls(said: Conversation) -> list[tuple[str, dict[str, str], dict[str, str]]]:
    """(tool, arguments, result) of a conversation."""
    results = [json.loads(m.text) for m in said.messages if m.role == "tool"]
    asked = [call for m in said.messages for call in m.tool_calls]
    return [(c.name, json.loads(c.arguments), r) for c, r in zip(asked, results, strict=True)]


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> list[Conversation]:
    return talk(make(MUSEUM, "booked", tmp_path_factory.mktemp("museum")))


def test_what_is_booked_is_paid_back_by_its_booking_and_by_its_price(museum: list[Conversation]) -> None:
    refunds = [(name, given) for said in museum for name, given, _ in calls(said) if name.startswith("issue_refund")]
    assert refunds
    for said in museum:
        text = " ".join(m.text for m in said.messages if m.role == "agent")
        for name, given, _ in calls(said):
            if name.startswith("issue_refund"):
                assert "visit" in given
                assert "contract_id" not in given
                assert f"£{given['amount']}" in text, "what is given back is what the agent names"


def test_a_name_that_begins_with_the_makes_no_name_of_every_the(museum: list[Conversation]) -> None:
    said = " ".join(m.text for one in museum for m in one.messages if m.role != "tool")
    assert not re.search(r"\bthe The\b", said)
    assert not re.search(r"(?:says|see|course|question): The (?!Harrow)", said)
    assert "appointment for the appointment" not in said


def test_a_bill_that_is_corrected_is_not_the_sum_that_comes_back(tmp_path: Path) -> None:
    said = talk(make(STROM, industry_archetypes.ANY_SERVICE, tmp_path))
    corrected = 0
    for one in said:
        done = {re.sub(r"_[a-z]+$", "", name): (given, result) for name, given, result in calls(one)}
        if "rechnung_aendern" in done and "erstatten" in done:
            corrected += 1
            assert done["rechnung_aendern"][1]["neuer Betrag"] != done["erstatten"][0]["betrag"]
    assert corrected
    text = " ".join(m.text for one in said for m in one.messages)
    assert "bei der Solina Energie GmbH" in text
    assert "bei Solina" not in text


def test_no_contract_began_before_it_could_be_had(tmp_path: Path) -> None:
    pack = make(STROM, industry_archetypes.ANY_SERVICE, tmp_path)
    facts = ledger.make(pack, 1, topic_tree.plan(pack, 33, 27))
    checked = 0
    for one in talk(pack):
        launched = next((f.value for f in facts.of(str(one.labels["subject"])) if "-" in str(f.value)), None)
        for _, _, result in calls(one):
            if launched is not None and "Beginn" in result:
                checked += 1
                assert str(launched) <= result["Beginn"]
                assert datetime.date.fromisoformat(result["Beginn"])
    assert checked


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("de", "31 Cent, 24 ct", [("price", 0.31), ("price", 0.24)]),
        ("de", "ab 15 Uhr, um 8:30 Uhr", [("time", "15:00"), ("time", "08:30")]),
        ("en", "24p a unit, in 1080p", [("price", 0.24), ("count", 1080)]),
        ("en", "from 3 pm to 9:30 p.m., or 10:15", [("time", "15:00"), ("time", "21:30"), ("time", "10:15")]),
        ("fr", "12 centimes à 9 h 30", [("price", 0.12), ("time", "09:30")]),
    ],
)
def test_cents_and_hours_keep_their_unit(language: str, text: str, wanted: list[tuple[str, object]]) -> None:
    found = value_format.find(text, brand_pack.load_language(language))
    assert [(m.kind, m.value) for m in found] == wanted


def test_a_paragraph_keeps_its_cents_its_term_and_its_notice(tmp_path: Path) -> None:
    plan = brief_plan.read(STROM, llm.load("simulated:strong"))
    assert "31 Cent" in [figure.value for figure in plan.figures]
    pack = make(STROM, industry_archetypes.ANY_SERVICE, tmp_path)
    facts = ledger.make(pack, 1, topic_tree.plan(pack, 33, 27))
    held = {(re.sub(r"_promised$|_\d+$", "", f.property), f.value) for f in facts.facts.values()}
    assert {("told", 0.31), ("laufzeit_vertrag", 12.0), ("frist", 4.0)} <= held


def test_a_real_writer_may_state_cents_in_euros() -> None:
    price = brief_plan.PlannedFigure(value="31 Cent", of="Preis")
    plan = brief_plan.BriefPlan(
        language="de", name="Solina", products=[], figures=[price], trade="Strom", certainty=1.0, asks=[]
    )
    pack = "name: Solina\nproperties: {preis: {range: [%s, %s]}}\n"
    assert brief_plan.check(pack % (0.31, 0.31), Path("pack.yaml"), plan) == []
    assert brief_plan.check(pack % (0.13, 0.13), Path("pack.yaml"), plan)


def test_a_price_of_a_product_is_the_price_of_its_line(tmp_path: Path) -> None:
    pack = make("Marrow & Tweed makes coats and scarves in Leeds. A coat costs £210.", "clothing", tmp_path)
    facts = ledger.make(pack, 1, topic_tree.plan(pack, 33, 27))
    prices: dict[str, set[object]] = {"coats": set(), "scarves": set()}
    for subject in facts.subjects.values():
        if subject.family in prices:
            prices[subject.family] |= {f.value for f in facts.of(subject.name) if f.property.startswith("price")}
    assert prices["coats"] == {210.0}
    assert prices["scarves"] != {210.0}


@pytest.mark.parametrize("language", brand_pack.LANGUAGES)
def test_what_an_agent_is_to_ask_is_not_left_to_the_customer(language: str) -> None:
    """ "Find out when the message came" is a question, nothing that a customer is told to do."""
    talk_of = phrasebook.load(language)
    asks = {"en": r"(?:Ask|Find out)\b", "de": r"(?:Fragen|Klären) Sie\b", "fr": r"Demandez\b"}[language]
    for name in industry_archetypes.names():
        for issue in industry_archetypes.load(name, language).issues.values():
            written = [{"say": step} if isinstance(step, str) else step for step in issue["steps"]]
            for step in map(brand_pack.Step.model_validate, written):
                for said in grammar.every(step.say, 6):
                    if step.tool is None and re.match(asks, said):
                        spoken = step_phrasing.step_act(talk_of, said)
                        assert spoken.act in ("ask_open", "ask_step", "request", "later", "warn"), (name, said, spoken)


def test_the_comma_of_a_sum_ends_no_clause() -> None:
    talk_of = phrasebook.load("de")
    assert step_phrasing.own(talk_of, "Erstatten Sie den Preis von 133,00 €") == "den Preis von 133,00 € erstatten"
    assert step_phrasing.own(talk_of, "Prüfen Sie, ob der Tag frei ist") == "prüfen, ob der Tag frei ist"
    assert step_phrasing.own(phrasebook.load("fr"), "Parcourez chaque ligne") == "parcourir chaque ligne"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("willkommen bei Zahnarztpraxis Lindenhof", "willkommen bei der Zahnarztpraxis Lindenhof"),
        ("der Kundenservice von Bäckerei Sonnenhof", "der Kundenservice der Bäckerei Sonnenhof"),
        ("willkommen bei Skiverleih Gratwerk", "willkommen beim Skiverleih Gratwerk"),
        ("hier ist Friedhofsgärtnerei Brenneke", "hier ist die Friedhofsgärtnerei Brenneke"),
        ("willkommen bei Radwerk Nord", "willkommen bei Radwerk Nord"),
    ],
)
def test_a_company_called_by_what_it_is_has_its_article(text: str, said: str) -> None:
    assert joined_phrases.polish(text, "de") == said


def test_what_is_rented_and_brought_back_has_neither_battery_nor_plate(tmp_path: Path) -> None:
    pack = make(KAYAKS, "rental", tmp_path)
    said = talk(pack)
    text = " ".join(m.text for one in said for m in one.messages).lower()
    assert not [word for word in ("battery", "unlock", "plate", "vehicle", "a minute costs", "braking") if word in text]
    assert {str(one.labels["issue"]) for one in said} & {"deposit_missing", "charged_late", "damaged", "other_day"}
    facts = ledger.make(pack, 1, topic_tree.plan(pack, 33, 27))
    held = {(f.property, f.value) for f in facts.facts.values()}
    assert {("day_price_promised", 38.0), ("deposit_promised", 60.0), ("deposit_back_promised", 3.0)} <= held


def test_a_house_number_is_said_as_a_number() -> None:
    rng = np.random.default_rng(0)
    for language, wanted in (("en", "number 27"), ("de", "27"), ("fr", "27")):
        talk_of = phrasebook.load(language)
        lines = [
            phrasebook.PhraseVars(talk_of, rng, {"value": "27"}).line(talk_of.customer["give_number"])
            for _ in range(20)
        ]
        assert all(wanted.lower() in line.lower() for line in lines)
        assert not [line for line in lines if re.match(r"(?:Das ist|C’est) 27", line)]


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_answers_fit_any_form_of_their_question(language: str) -> None:
    """ "Who am I talking to?" is answered by a name, not by "of course"; what was confirmed is not written down."""
    said = phrasebook.load(language).customer
    names = [form for line in said["tell_name"] for form in grammar.every(line, 30)]
    assert not [form for form in names if re.match(r"(?:Of course|Sure|Natürlich|Gern|Bien sûr)\b", form)]
    heard = [form for line in said["react_report"] for form in grammar.every(line, 60)]
    assert not [form for form in heard if re.search(r"written that down|notiert|noté", form)]


def test_nothing_is_packed_on_a_day_that_has_not_been_yet(tmp_path: Path) -> None:
    """The year of the conversations is over, and what is eaten was packed weeks before, not years."""
    assert ledger.FIRST_DAY + datetime.timedelta(days=ledger.DAYS + 330) < datetime.date(2026, 1, 1)
    said = talk(
        make("Harbour Roast roasts coffee beans and decaf. Orders ship within 2 working days.", "eaten", tmp_path)
    )
    packed = [result["day of packing"] for one in said for _, _, result in calls(one) if "day of packing" in result]
    assert packed
    first = (ledger.FIRST_DAY + datetime.timedelta(days=ledger.DAYS - 60)).isoformat()
    assert min(packed) >= first


def test_german_nouns_have_the_cases_that_differ() -> None:
    """ "Wie komme ich aus das Servicepaket heraus?" was asked where a family named no dative."""
    known = industry_archetypes.common("de")
    families = [known.service, known.papers, known.withdrawal, known.overview]
    trades = [industry_archetypes.load(name, "de") for name in industry_archetypes.names()]
    families += [trade.service for trade in trades if trade.service]
    families += [trade.model_dump() for trade in trades] + [known.line.model_dump(), known.contract_line.model_dump()]
    families += [family.model_dump() for family in pack_files.load("talvero").families.values()]
    for family in families:
        article = family["the"].split()[0]
        assert article not in ("der", "das", "die") or family.get("dat"), family["the"]
        assert article != "der" or family.get("acc"), family["the"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("auf <subject> steht eine Zahlung", "auf dem Konto steht eine Zahlung"),
        ("wie komme ich an mein Geld auf <subject>?", "wie komme ich an mein Geld auf dem Konto?"),
        ("ich höre nichts von meinem Antrag auf <subject>", "ich höre nichts von meinem Antrag auf das Konto"),
        ("wie komme ich aus <subject> heraus?", "wie komme ich aus dem Konto heraus?"),
    ],
)
def test_what_a_customer_leaves_vague_stands_in_its_case(line: str, told: str) -> None:
    family = brand_pack.Family.model_validate(
        {
            **pack_files.load("talvero").families["tarif"].model_dump(by_alias=True),
            "the": "das Konto",
            "acc": "das Konto",
            "dat": "dem Konto",
        }
    )
    assert personas.vague_line(line, family, "de") == told


@pytest.mark.parametrize("language", brand_pack.LANGUAGES)
def test_who_has_a_contract_has_read_no_delivery_note(language: str, tmp_path: Path) -> None:
    text = {
        "en": "Aldor Bank offers current accounts and savings accounts. An account costs £3 a month.",
        "de": "Die Aldor Bank bietet Girokonten und Sparkonten. Ein Konto kostet 3 € im Monat.",
        "fr": "Crédit Aldor est une banque. Elle propose un compte courant et un livret. Le compte coûte 3 € par mois.",
    }[language]
    pack = make(text, "banked", tmp_path, language)
    sent = [word for word in brand_pack.load_language(language).words["paper"] if word not in pack.words["paper"]]
    assert sent
    told = [each for said in talk(pack, 30) for each in said.persona["customer"]["masked"]]
    tried = [str(each["value"]) for each in told if each["detail"] == "tried"]
    assert tried
    for one in tried:
        assert not any(re.search(rf"\b{re.escape(word)}\b", one) for word in sent), one
