"""Archetypes of trades, and what a simulated model makes of briefs with them."""

import json
import re
from pathlib import Path

import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import brand_pack, brief_plan, ledger, pack_files, pack_from_brief
from cxlab.benchmarks.cxmarena.conversations import (
    phrasebook,
    step_phrasing,
)
from cxlab.benchmarks.cxmarena.knowledge import topic_tree
from cxlab.benchmarks.cxmarena.simulated import brief, industry_archetypes
from cxlab.files import grammar
from cxlab.llm.openai_model import OpenAIModel
from tests.benchmarks.cxmarena import ledger_check
from tests.benchmarks.cxmarena.cxm_brand import generate
from tests.llm.fault_server import FaultServer

LANGUAGES = brand_pack.LANGUAGES
# A brief of each trade: language, the text, the archetype, and what must be facts: (property, value, unit).
BRIEFS = {
    "bicycles": (
        "de",
        "Radwerk Nord baut Trekkingräder und Lastenräder in Bremen. Alle Rahmen haben 10 Jahre Garantie, Lieferung in "
        "5 Tagen, 30 Tage Rückgabe.",
        "ridden",
        [("garantie", 10, "year"), ("lieferzeit", 5, "day"), ("rueckgabe", 30, "day")],
    ),
    "coffee": (
        "en",
        "Harbour Roast roasts coffee beans and decaf. Orders ship within 2 working days, delivery is free from £30, "
        "and 40 farms supply us. Founded in 2009.",
        "eaten",
        [("delivery_time", 2, "working_day"), ("free_from", 30, ""), ("told", 40, ""), ("founded", 2009, "")],
    ),
    "insurance": (
        "fr",
        "Abri assure les logements et les voitures. Réponse en 48 heures, franchise de 150 €, 300 000 assurés.",
        "insured",
        [("reponse", 48, "hour"), ("franchise", 150, ""), ("told", 300000, "")],
    ),
    "hire": (
        "en",
        "Zipway rents e-bikes by the minute in 12 cities. Unlocking costs £1, a ride has a range of 35 km.",
        "hired",
        [("start_fee", 1, ""), ("ride_range", 35, "km"), ("told", 12, "")],
    ),
}


def make(text: str, trade: str, folder: Path) -> brand_pack.Brand:
    """The pack of a paragraph whose trade somebody has confirmed."""
    model = llm.load("simulated:strong")
    plan = brief_plan.answer(brief_plan.read(text, model), trade=trade)
    return pack_files.load(pack_from_brief.write(text, plan, model, folder))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_trade_brings_what_its_issues_and_aspects_name(language: str) -> None:
    for name in industry_archetypes.names():
        trade = industry_archetypes.load(name, language)
        known = {*trade.properties, *trade.keeps, *industry_archetypes.common(language).keeps}
        assert {f for a in trade.aspects.values() for f in a["facts"]} <= known, name
        tools = {*trade.tools, *industry_archetypes.common(language).tools}
        steps = [step for issue in trade.issues.values() for step in issue["steps"]]
        assert {step["tool"] for step in steps if isinstance(step, dict) and "tool" in step} <= tools, name
        for issue in trade.issues.values():
            assert any(isinstance(step, dict) for step in issue["steps"]), "an issue without an action"


@pytest.mark.parametrize("case", BRIEFS)
def test_a_brief_gets_its_trade_and_its_figures_are_facts(tmp_path: Path, case: str) -> None:
    language, text, trade, figures = BRIEFS[case]
    pack = make(text, trade, tmp_path)
    assert pack.language_id == language
    lines = {key: f for key, f in pack.families.items() if f.root == "products"}
    wanted = industry_archetypes.load(trade, language)
    assert {f.stays for f in pack.families.values() if f.root == "products"} == {trade in ("furnished", "plugged")}
    for family in lines.values():
        assert {*wanted.aspects} <= {*family.aspects}
        assert any(name.removesuffix("_promised") in wanted.properties for name in family.properties)
    assert {*wanted.issues} <= {key for key, issue in pack.issues.items() if {*lines} & {*issue.families}}
    assert not pack.note
    # The ledger of the smallest dataset holds what the brief promises, and nothing contradicts it.
    made = ledger.make(pack, 1, topic_tree.plan(pack, 33, 27))
    assert ledger_check.check(made) == []
    held = {(re.sub(r"_promised$|_\d+$", "", f.property), f.value, f.unit) for f in made.facts.values()}
    assert {(name, float(value), unit) for name, value, unit in figures} <= held
    assert sum(max(len(tool.families), 1) for tool in pack.tools.values()) >= 128


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_tools_of_a_trade_return_is_told_in_words_of_its_own(language: str) -> None:
    common = phrasebook.load(language).results
    for name in industry_archetypes.names():
        trade = industry_archetypes.load(name, language)
        returned = {item.strip() for tool in trade.tools.values() for item in tool["returns"].split(",")}
        for item in returned:
            form = next(f for f in (*trade.results, *common) if re.search(f.match, item, re.IGNORECASE))
            # The last form catches what no other knows, "^day" and "^jour" are of appointments.
            assert form is not common[-1], (name, item)
            assert form.match not in ("^day", "^jour"), (name, item)
        for form in trade.results:
            assert any(re.search(form.match, item, re.IGNORECASE) for item in returned), (name, form.match)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_trade_asks_is_answered_by_what_fits_the_question(language: str) -> None:
    """Only what is long, such as a message on a screen, is answered by "I have sent it"."""
    talk = phrasebook.load(language)
    for name in industry_archetypes.names():
        for key, issue in industry_archetypes.load(name, language).issues.items():
            for step in (
                brand_pack.Step.model_validate({"say": s} if isinstance(s, str) else s) for s in issue["steps"]
            ):
                spoken = step_phrasing.step_act(talk, grammar.every(step.say, 1)[0])
                if step.tool is None and spoken.act in ("ask_open", "ask_step"):
                    assert step.reply or spoken.reply, (name, key, step.say)


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_a_day_is_told_with_one_preposition(language: str) -> None:
    """A day on which something happened brings its preposition along, unlike one that is wished for."""
    talk = phrasebook.load(language)
    lead = {"en": "on", "de": "am", "fr": "le"}[language]
    forms = [form for line in talk.customer["give_day"] for form in grammar.every(line, 9)]
    assert all(f"{lead} thing" in form.lower() for form in forms)


def test_what_a_tool_needs_is_asked_for_once(tmp_path: Path) -> None:
    pack = make(BRIEFS["coffee"][1], "eaten", tmp_path)
    said = generate(pack, 33, 27, 60).conversations
    stale = [c for c in said if c.labels["issue"] == "stale"]
    assert stale
    for c in stale:
        agent = " ".join(m.text for m in c.messages if m.role == "agent")
        assert agent.lower().count("batch number") <= 1, c.id


def test_a_trade_is_known_by_its_name_in_any_language() -> None:
    for name in industry_archetypes.names():
        titles = {industry_archetypes.load(name, spoken).title for spoken in LANGUAGES}
        for language in LANGUAGES:
            found = {kind and kind.name for kind in (industry_archetypes.find(one, language) for one in titles)}
            assert found == {name}
    assert industry_archetypes.find("bell founding", "de") is None


def test_what_is_signed_is_told_apart_from_what_is_sent(tmp_path: Path) -> None:
    pack = make("Tallow insures bicycles and pianos. Answers take 48 hours.", "insurance", tmp_path)
    assert {f.contract for f in pack.families.values() if f.root == "products"} == {True}
    assert not {"damaged_arrival", "wrong_item"} & {*pack.issues}
    goods = make(BRIEFS["coffee"][1], "eaten", tmp_path)
    assert {f.contract for f in goods.families.values()} == {False}


def test_goods_of_another_trade_lend_no_words(tmp_path: Path) -> None:
    pack = make("Vélorive vend des vélos et des casques à qui roule chaque jour.", "ridden", tmp_path)
    said = json.dumps([i.model_dump() for i in pack.issues.values()], ensure_ascii=False)
    said += json.dumps([f.description for f in pack.families.values()], ensure_ascii=False)
    assert not [word for word in ("flacon", "débris", "abine", "parfum") if word in said]


def test_plain_plurals_of_people_say_what_is_sold() -> None:
    model = llm.load("simulated:strong")
    for text, lines in (
        ("Nous louons des vélos cargo et des remorques à Nantes.", ["vélos cargo", "remorques"]),
        ("Wir vermieten Zelte und Kanus am Bodensee.", ["Zelte", "Kanus"]),
    ):
        assert brief_plan.read(text, model).products == lines


def test_a_trade_that_nobody_knows_keeps_what_holds_for_any_and_says_so(tmp_path: Path) -> None:
    told = "Bellfounders Marsh casts church bells for towers. Each bell is tuned for 3 weeks."
    pack = make(told, "any", tmp_path)
    assert "No archetype of a trade fits church bells" in pack.note
    (line,) = [f for f in pack.families.values() if f.root == "products"]
    own = {p for name in industry_archetypes.names() for p in industry_archetypes.load(name, "en").properties}
    assert not own & {*line.properties}
    said = json.dumps([line.about, *(pack.aspects[a].lines for a in line.aspects)]).lower()
    assert not [word for word in ("battery", "hub", "lamp", "socket", "app", "device") if f" {word}" in said]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Brightside Parking offers season tickets and bays. A season ticket costs £48.", 2),
        ("Ledgerline makes invoicing software for builders. The plan costs £29 a month.", 1),
    ],
)
def test_a_car_park_and_a_software_house_are_asked_about_and_sell_no_goods(
    tmp_path: Path, text: str, lines: int
) -> None:
    plan = brief_plan.read(text, llm.load("simulated:strong"))
    assert (plan.trade, len(plan.asks), len(plan.products)) == ("", 1, lines)
    pack = make(text, industry_archetypes.ANY_SERVICE, tmp_path)
    sold = [family for family in pack.families.values() if family.root == "products"]
    assert len(sold) == lines
    facts = ledger.make(pack, 1, topic_tree.plan(pack, 33, 27))
    # Nobody is bound for 17 months, and no notice is longer than the term.
    terms = {fact.value for fact in facts.facts.values() if fact.property == "term"}
    assert terms <= {6, 12, 18, 24}
    assert not [line for family in pack.families.values() for line in family.about if "your order" in line]
    for family in sold:
        assert not {"weight", "warranty", "price"} & {*family.properties}
        assert {"cancel_plan", "bill_wrong"} <= {
            key
            for key, issue in pack.issues.items()
            if {pack.families[f].title for f in issue.families} & {family.title}
        }
    remarks = [pack.properties[name].remarks for family in sold for name in family.properties]
    said = json.dumps([*remarks, *(family.about for family in sold)]).lower()
    assert not [word for word in ("software version", "redecorate", "batter", "serial number", "parts") if word in said]


def test_how_something_is_offered_says_more_than_what_it_is() -> None:
    sold, rented = "Veloria sells bicycles.", "Veloria rents bicycles by the hour."
    found = [industry_archetypes.choose("bicycles", text, "en") for text in (sold, rented)]
    assert [t.name for t in found if t] == ["ridden", "hired"]
    # A line's own words go before the brief's.
    mixed = industry_archetypes.choose(
        "coffee beans", "Roastery sells bicycles, bicycle bags, bike lamps and coffee beans.", "en"
    )
    assert mixed is not None
    assert mixed.name == "eaten"


@pytest.mark.parametrize(
    ("text", "language", "trade"),
    [
        ("Zipway rents e-bikes and trailers by the minute in 12 cities.", "en", "hired"),
        ("Tidehire hires out tents and kayaks on the Welsh coast.", "en", "lent"),
        ("Cargonantes loue des vélos cargo et des remorques à Nantes.", "fr", "hired"),
        ("Outilo loue des échafaudages et des perceuses à Nantes.", "fr", "lent"),
        ("Seezeit vermietet Zelte und Kanus am Bodensee.", "de", "lent"),
        ("Kielrad verleiht Lastenräder und Anhänger in Kiel.", "de", "hired"),
        # Neither vehicles nor equipment: a person is asked.
        ("Strandhof vermietet Ferienwohnungen.", "de", ""),
    ],
)
def test_what_is_rented_is_told_apart_by_what_it_is(text: str, language: str, trade: str) -> None:
    plan = brief_plan.read(text, llm.load("simulated:strong"))
    assert bool(plan.asks) is not bool(trade), plan
    # "rental" is what a person says of either.
    said = industry_archetypes.load("hired", language).title.split()[0]
    found = industry_archetypes.find(plan.trade if trade else said, language, plan.products)
    assert found is not None
    assert found.name == (trade or "hired")
    if trade:
        other = industry_archetypes.find(said, language, plan.products)
        assert other is not None
        assert other.name == trade


@pytest.mark.parametrize(
    ("text", "name", "lines", "trade"),
    [
        ("Velmore Cycles of Bristol builds city bikes by hand.", "Velmore Cycles", ["city bikes"], "bicycles"),
        ("Harbourlight Insurance covers homes and pets.", "Harbourlight Insurance", ["homes", "pets"], "insurance"),
        ("Reelbarn is a streaming service for documentaries.", "Reelbarn", ["documentaries"], "streaming"),
        ("Filmkiste ist ein Streamingdienst für Serien.", "Filmkiste", ["Serien"], "Streaming"),
        ("Die Zahnarztpraxis Dr. Lindner bietet Kronen an.", "Zahnarztpraxis Dr. Lindner", ["Kronen"], ""),
        (
            "Le Musée de la Dentelle propose des ateliers.",
            "Le Musée de la Dentelle",
            ["ateliers"],
            "rendez-vous et cours",
        ),
        ("Les Ateliers Pimprenel fabriquent des puzzles.", "Les Ateliers Pimprenel", ["puzzles"], "jeux et jouets"),
        ("Stadtwerke Grünau liefern Strom und Gas.", "Stadtwerke Grünau", ["Strom", "Gas"], "Energieversorgung"),
    ],
)
def test_names_and_what_is_sold_are_read_in_more_of_their_forms(
    text: str, name: str, lines: list[str], trade: str
) -> None:
    plan = brief_plan.read(text, llm.load("simulated:strong"))
    assert (plan.name, plan.products, plan.trade) == (name, lines, trade)


def test_a_figure_in_words_is_a_figure_and_fixes_what_it_speaks_of(tmp_path: Path) -> None:
    text = "Velmore Cycles builds city bikes and helmets. Every frame carries a ten-year warranty."
    plan = brief_plan.read(text, llm.load("simulated:strong"))
    assert [(one.value, one.of) for one in plan.figures] == [("ten-year", "Every frame carries a … warranty")]
    pack = make(text, "bicycles", tmp_path)
    made = ledger.make(pack, 1, topic_tree.plan(pack, 33, 27))
    bikes, helmets = (f for f in pack.families.values() if f.root == "products")
    held = {f.value for f in made.facts.values() if f.property == "warranty_promised"}
    assert held == {10.0}
    # Helmets are no bicycles: they have no gears.
    assert "gears" in bikes.properties
    assert "gears" not in helmets.properties
    (price,) = brief.told("Eine Zahnreinigung kostet 95 Euro.", "de")
    assert (price.kind, price.text, price.quoted) == ("price", "95 Euro", "Preis: eine Zahnreinigung")


def test_figures_are_told_with_what_they_count() -> None:
    found = brief.told("Over 3,200 titles, founded in 1998, two years of warranty.", "en")
    assert [(t.what, t.unit, t.value) for t in found] == [
        ("titles", "", 3200.0),
        ("founded", "", 1998.0),
        ("warranty", "year", 2.0),
    ]


def test_a_real_model_gets_one_chance_to_mend_its_pack(tmp_path: Path) -> None:
    """A whole pack is taken, a broken one goes back with its faults and itself, an empty reply is told as that."""
    whole = (brand_pack.FOLDER / "solvanne.yaml").read_text(encoding="utf-8")
    broken = whole.replace("root: returns", "root: nowhere")
    told = "Maison Solvanne compose des soins et des parfums rechargeables."
    name = re.search(r"^name: (.+)$", whole, re.MULTILINE)
    assert name
    plan = brief_plan.BriefPlan(
        language="fr", name=name[1].strip(" '\""), products=["soins"], trade="cosmétiques", certainty=0.9
    )
    with FaultServer() as server:
        good = server.scene(reply=f"Voici :\n```yaml\n{whole}\n```")
        replies = iter((broken, whole))
        mended = server.scene(reply=lambda body: next(replies))
        empty = server.scene("empty")
        kept = [
            pack_from_brief.write(told, plan, at(scene.url), tmp_path / name)
            for scene, name in ((good, "a"), (mended, "b"))
        ]
        with pytest.raises(pack_from_brief.UnusablePack, match="gave no pack"):
            pack_from_brief.write(told, plan, at(empty.url), tmp_path / "c")
    assert [path.read_text(encoding="utf-8").strip() for path in kept] == [whole.strip()] * 2
    assert not (tmp_path / "c").exists()
    assert (good.calls, mended.calls) == (1, 2)
    first, second = (str(body["messages"]) for body in mended.bodies)
    assert "nowhere" in second
    assert "root: nowhere" not in first
    for wish in ("five properties", "four issues", "own value and unit"):
        assert wish in first


def at(url: str) -> OpenAIModel:
    return OpenAIModel("endpoint:test", "tiny", url, "none")


def test_two_verbs_before_a_list_lose_nothing_of_it() -> None:
    told = "Kettenwerk baut und verkauft Stadträder, Lastenräder und E-Bikes und liefert sie fahrbereit nach Hause."
    assert brief.product_lines(told, "de") == ["Stadträder", "Lastenräder", "E-Bikes"]
    assert brief.product_lines("Lumo designs and builds lamps, lanterns and delivers them.", "en") == [
        "lamps",
        "lanterns",
    ]
    assert brief.product_lines("Velo vend et loue des vélos et des tandems en ligne.", "fr") == [
        "vélos",
        "tandems",
    ]


def test_a_word_in_passing_makes_no_trade_and_no_line(tmp_path: Path) -> None:
    garden = "Morgentau verkauft Bonsaibäume und Orchideen nach Maß. Ab 60 Euro frei. Ein Pflegeabo hilft."
    assert brief_plan.read(garden, llm.load("simulated:strong")).asks
    pack = make(garden, "any", tmp_path)
    lines = {key: family.title for key, family in pack.families.items() if family.root == "products"}
    # No subscription to films, no line "Maß"; keys without letters that only German has, and by the line's own name.
    assert lines == {"bonsaibaeume": "Bonsaibäume", "orchideen": "Orchideen"}
    # The pages that show it are in English.
    assert pack.note.startswith("No archetype of a trade fits Bonsaibäume, Orchideen")
    assert any("bonsaibaeume" in tool.families for tool in pack.tools.values())
    assert industry_archetypes.choose("Filmabos", "Nordlicht verkauft Filmabos.", "de") is not None
