"""Trades that no archetype is of: they are asked about, and what is made then says nothing of a trade that is near."""

import json
from pathlib import Path

import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import brief_plan, ledger, pack_files, pack_from_brief
from cxlab.benchmarks.cxmarena.conversations import phrasebook, step_phrasing
from cxlab.benchmarks.cxmarena.knowledge import topic_tree
from cxlab.benchmarks.cxmarena.simulated import industry_archetypes
from cxlab.files import grammar
from tests.benchmarks.cxmarena import ledger_check

GOODS, REPAIRS = "any", "repaired"
# The paragraph, the general trade that a person names, the brand's name and what must stand in the pack by its name.
BRIEFS = {
    "beekeeping": (
        "Combwell sells everything for beekeepers: hives, smokers, protective suits, honey extractors and live queen "
        "bees by post. We repair extractors, rent out a mobile honey press by the day, and run a beginners' course "
        "every spring. Orders ship within two days; queens travel only from May to September.",
        GOODS,
        "Combwell",
        ["hives", "smokers", "protective suits", "honey extractors", "live queen bees", "mobile honey press"],
    ),
    "Imkerei": (
        "Imkerbedarf Holm verkauft Bienenkästen, Schutzanzüge, Königinnen und Honigschleudern. Versand in 2 Tagen.",
        GOODS,
        "Imkerbedarf Holm",
        ["Bienenkästen", "Schutzanzüge", "Königinnen", "Honigschleudern"],
    ),
    "watches": (
        "Die Uhrmacherei Sonnleitner in Passau repariert Armbanduhren, Standuhren und Wecker, verkauft gebrauchte "
        "Uhren mit zwei Jahren Garantie und wechselt Batterien und Armbänder sofort. Kostenvoranschläge sind gratis.",
        REPAIRS,
        "Uhrmacherei Sonnleitner",
        ["Armbanduhren", "Standuhren", "Wecker", "Uhren"],
    ),
    "aquariums": (
        "Blue Reef Aquatics sells aquariums, live fish, pumps and water plants. Live fish arrive within 24 hours.",
        GOODS,
        "Blue Reef Aquatics",
        ["aquariums", "live fish", "pumps", "water plants"],
    ),
    "organs": (
        "Orgelbau Kerner in Ulm baut Kirchenorgeln und Truhenorgeln und stimmt Orgeln in ganz Süddeutschland. Jede "
        "Orgel hat 10 Jahre Garantie, eine Stimmung kostet 480 €.",
        REPAIRS,
        "Orgelbau Kerner",
        ["Kirchenorgeln", "Truhenorgeln"],
    ),
    "sewing machines": (
        "Stitchwell sells sewing machines, thread and fabric and repairs machines of all makes. A repair takes 5 "
        "working days.",
        REPAIRS,
        "Stitchwell",
        ["sewing machines", "thread", "fabric"],
    ),
    "Nähmaschinen": (
        "Das Nähzentrum Ostermann in Gera repariert und verkauft Nähmaschinen. Auf jede Maschine gibt es 5 Jahre "
        "Garantie.",
        REPAIRS,
        "Nähzentrum Ostermann",
        ["Nähmaschinen"],
    ),
    "model railways": (
        "Brackwell Models sells model railways, locomotives, carriages and track. Orders over £60 ship free.",
        GOODS,
        "Brackwell Models",
        ["model railways", "locomotives", "carriages", "track"],
    ),
    "archery": (
        "Bogenhof Reiter verkauft Recurvebögen, Pfeile und Zielscheiben. Lieferung in 3 Tagen, 30 Tage Rückgabe.",
        GOODS,
        "Bogenhof Reiter",
        ["Recurvebögen", "Pfeile", "Zielscheiben"],
    ),
    "saddlery": (
        "Thornby Saddlery makes saddles and bridles for horses. A saddle is fitted within 14 days.",
        GOODS,
        "Thornby Saddlery",
        ["saddles", "bridles"],
    ),
    "horlogerie": (
        "L’Horlogerie Pimprenel à Besançon répare des montres et des pendules. Une réparation prend 3 semaines.",
        REPAIRS,
        "L’Horlogerie Pimprenel",
        ["montres", "pendules"],
    ),
    "Sattlerei": (
        "Die Sattlerei Brunner in Kempten näht und repariert Sättel und Zaumzeug. Jeder Sattel hat 5 Jahre Garantie.",
        REPAIRS,
        "Sattlerei Brunner",
        ["Sättel", "Zaumzeug"],
    ),
}


@pytest.mark.parametrize("case", BRIEFS)
def test_an_unknown_trade_is_asked_about_and_gets_the_words_of_none(tmp_path: Path, case: str) -> None:
    text, general, name, products = BRIEFS[case]
    model = llm.load("simulated:strong")
    plan = brief_plan.read(text, model)
    assert plan.name == name
    assert set(products) <= set(plan.products)
    repairs = industry_archetypes.load(REPAIRS, plan.language).title
    # It is sure of nothing but that things are repaired, where the paragraph says that first.
    assert plan.asks or plan.trade == repairs
    assert plan.certainty < brief_plan.CERTAIN or plan.trade == repairs
    if plan.asks:
        assert repairs in plan.asks[0]
        assert "'any'" in plan.asks[0]
    plan = brief_plan.answer(plan, trade=general)
    pack = pack_files.load(pack_from_brief.write(text, plan, model, tmp_path))
    lines = {family.title.casefold(): family for family in pack.families.values() if family.root == "products"}
    assert {product.casefold() for product in products} <= set(lines)
    others = [one for one in industry_archetypes.names() if one != general]
    foreign = [industry_archetypes.load(one, plan.language) for one in others]
    common = industry_archetypes.common(plan.language)
    for kind in foreign:
        assert not {*kind.properties} & {p for family in lines.values() for p in family.properties}, kind.name
        assert not ({*kind.issues} & {*pack.issues}) - {*common.goods}, kind.name
        assert not [form for form in kind.results if form in pack.results], kind.name
    said = json.dumps([[f.about, f.use, f.care] for f in lines.values()], ensure_ascii=False)
    assert not [line for kind in foreign for line in (*kind.about, *kind.use, *kind.care) if line in said]
    # Nothing that is sold or repaired is a contract with a term.
    assert not any(family.contract for family in lines.values())
    if general == REPAIRS:
        mine = industry_archetypes.load(REPAIRS, plan.language)
        assert {*mine.issues} <= {*pack.issues}
        own = {p.removesuffix("_promised") for family in lines.values() for p in family.properties}
        assert {*mine.properties} <= own
    assert ledger_check.check(ledger.make(pack, 1, topic_tree.plan(pack, 33, 27))) == []


@pytest.mark.parametrize(
    ("text", "trade", "sure"),
    [
        # All that is sold names the trade; of three it names two; of four only two; a honey press is a press.
        ("Harbour Roast roasts coffee beans and sells teas.", "food and drink", True),
        ("Pedalworks sells city bikes, tandems and helmets.", "bicycles", True),
        ("Pedalworks sells city bikes, tandems, helmets and maps.", "bicycles", False),
        ("Combwell rents out a mobile honey press.", "rental", False),
        ("Presswell sells honey presses.", "food and drink", False),
        ("Seamwell sells sewing machines.", "electrical goods", False),
        ("Bridlewell makes saddles.", "bicycles", False),
        ("Woolwell makes cardigans.", "games and toys", False),
    ],
)
def test_a_trade_is_certain_by_what_is_sold_and_by_how_much_of_it(text: str, trade: str, sure: bool) -> None:
    plan = brief_plan.read(text, llm.load("simulated:strong"))
    assert (plan.certainty >= brief_plan.CERTAIN) is sure
    assert bool(plan.asks) is not sure
    if sure:
        assert plan.trade == trade


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_no_customer_is_told_to_explain_an_estimate(language: str) -> None:
    """What only the workshop can do is a tool's step or a question; none is left to the customer."""
    talk = phrasebook.load(language)
    for name, issue in industry_archetypes.load(REPAIRS, language).issues.items():
        for step in (one for one in issue["steps"] if isinstance(one, str)):
            for said in grammar.every(step, 4):
                assert step_phrasing.step_act(talk, said).act != "instruct", (name, said)
