"""Brand packs: those at hand can be used, wrong ones are told with file, line and fix, a brief becomes one."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import (
    brand_pack,
    brief_plan,
    joined_phrases,
    ledger,
    pack_check,
    pack_files,
    pack_from_brief,
)
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.benchmarks.cxmarena.simulated import brief
from cxlab.cli import app
from cxlab.errors import BadFile, BadOption, UnknownName
from tests.benchmarks.cxmarena import ledger_check

PACK = (brand_pack.FOLDER / "talvero.yaml").read_text(encoding="utf-8")


def broken(tmp_path: Path, old: str, new: str) -> list[str]:
    assert old in PACK
    path = tmp_path / "talvero.yaml"
    path.write_text(PACK.replace(old, new, 1), encoding="utf-8")
    return [str(c) for c in pack_files.check_file(path)]


@pytest.mark.parametrize("name", ["hearthwise", "solvanne", "talvero"])
def test_the_packs_pass_their_check(name: str) -> None:
    assert pack_files.check_file(brand_pack.FOLDER / f"{name}.yaml") == []
    found = pack_files.load(name)
    assert {f.root for f in found.families.values()} == set(brand_pack.ROOTS)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("language: de", "language: pl", r":4: unknown language; known languages: en, fr, de"),
        ("overview: >-", "overwiew: >-", r"overwiew: Extra inputs.*correct its spelling"),
        ("the: der Preis, ", "", r"properties.preis.the: Field required; add the key"),
        ('after: [einrichten], lines: ["<sign>', 'after: [gibts], lines: ["<sign>', r"unknown aspect 'gibts'"),
        ("tool: stoerung_pruefen", "tool: zaubern", r"unknown tool 'zaubern'; known: diagnose_lesen"),
        ("root: shipping", "root: story", r"no family under the root 'shipping'; add a family"),
        ("(einem Werkzeug|zwei", "einem Werkzeug|zwei", r":\d+: a \| outside brackets"),
        ("(einem Werkzeug|zwei", "(einem <zauber>|zwei", r"no slot \['zauber'\]"),
        ('"Der (aktuelle |reguläre |)Preis von', '"(Aktuell|) von', r"is read as \[\]; use one of its cues"),
        ("range: [25, 95]", "range: [95, 25]", r"upside down; swap"),
        ("Fjord, Tundra, Polaris", "Fjord, Fjord, Polaris", r"the name 'Fjord' is taken by smartphone"),
        ("unit: nit", "unit: lux", r"unknown unit 'lux'; known: "),
    ],
)
def test_a_wrong_pack_is_told_with_line_and_fix(tmp_path: Path, old: str, new: str, told: str) -> None:
    complaints = broken(tmp_path, old, new)
    assert any(re.search(told, c) for c in complaints), complaints
    assert all(c.startswith("talvero.yaml:") for c in complaints)
    with pytest.raises(BadFile):
        pack_files.load(tmp_path / "talvero.yaml")


def test_a_cyclic_precursor_and_a_cyclic_law_are_named(tmp_path: Path) -> None:
    told = broken(tmp_path, "einrichten: {title", "einrichten: {after: [software], title")
    assert any("a cyclic precursor: " in c and "einrichten → software → einrichten" in c for c in told), told
    law = "  - {law: ratio, property: preis, of: rate, factor: 12}\n  - {law: ratio, property: rate"
    told = broken(tmp_path, "  - {law: ratio, property: rate", law)
    assert any("a cyclic dependency: " in c for c in told), told


def test_unknown_names_and_languages() -> None:
    with pytest.raises(UnknownName, match="unknown brand 'nix'; known: hearthwise, solvanne, talvero"):
        pack_files.load("nix")
    with pytest.raises(BadFile, match="no such file"):
        pack_files.load("/nowhere/pack.yaml")
    with pytest.raises(BadOption, match="unknown language 'pl'; known: en, fr, de"):
        brand_pack.load_language("pl")


def test_cycles_are_found_where_they_are() -> None:
    assert pack_check.find_cycle({"a": ("b", "c"), "b": ("d",), "c": ("d",), "d": ()}) == []
    assert pack_check.find_cycle({"a": ("b",), "b": ("c",), "c": ("b",)}) in (["b", "c", "b"], ["c", "b", "c"])


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("de le flacon et de les pots à le comptoir que il a", "fr", "du flacon et des pots au comptoir qu’il a"),
        ("relisez-le avant de ouvrir", "fr", "relisez-le avant d’ouvrir"),
        (
            "Que faire: rien? La historienne et la harpiste",
            "fr",
            "Que faire\u00a0: rien\u00a0? L’historienne et la harpiste",
        ),
        ("bei dem Kauf in dem Laden", "de", "beim Kauf im Laden"),
        ("a attentive and a useful hint", "en", "an attentive and a useful hint"),
    ],
)
def test_polish_contracts(text: str, language: str, said: str) -> None:
    assert joined_phrases.polish(text, language) == said


def test_every_prompt_of_writing_is_sound() -> None:
    assert [complaint for prompt in article_prompts.ALL for complaint in prompt.check()] == []


@pytest.mark.parametrize(
    ("text", "language", "name", "line"),
    [
        ("„Röstwerk“ baut Espressomaschinen und Kaffeemühlen für Büros.", "de", "Röstwerk", "Kaffeemühlen"),
        ("Pedalwright makes cargo bikes and child trailers for families.", "en", "Pedalwright", "child trailers"),
        ("Atelier Brunelle fabrique des violons et des archets pour les élèves.", "fr", "Atelier Brunelle", "archets"),
    ],
)
def test_a_brief_becomes_a_usable_pack(tmp_path: Path, text: str, language: str, name: str, line: str) -> None:
    model = llm.load("simulated:strong")
    plan = brief_plan.answer(brief_plan.read(text, model), trade="any")
    path = pack_from_brief.write(text, plan, model, tmp_path)
    found = pack_files.load(path)
    assert (found.name, found.language_id) == (name, language)
    assert line in [f.one for f in found.families.values() if f.root == "products"]
    assert ledger_check.check(ledger.make(found, 3, 2)) == []
    assert "Hearthwise" not in path.read_text()
    assert "Talvero" not in path.read_text()


def test_a_brief_that_says_nothing_is_refused(tmp_path: Path) -> None:
    model = llm.load("simulated:strong")
    plan = brief_plan.BriefPlan(language="en", name="Soles", products=["shoes"], trade="worn", certainty=1.0)
    with pytest.raises(BadOption, match="say in a paragraph"):
        pack_from_brief.write("Shoes.", plan, model, tmp_path)
    foreign = plan.model_copy(update={"language": "it"})
    with pytest.raises(BadOption, match="unknown language 'it'"):
        pack_from_brief.write("A brand that makes shoes and bags for people.", foreign, model, tmp_path)
    assert list(tmp_path.iterdir()) == []


BRIEFS = {
    "parking": "Brightside Parking offers season tickets and bays to 4,000 commuters; a season ticket costs £48.",
    "bells": "Bellfounders Marsh casts church bells for towers. Bells carry a warranty of 50 years.",
    "kayaks": "Fjordpaddle builds and sells kayaks for touring. Hulls carry a warranty of 5 years.",
    "billing": "Ledgerly sells billing software and invoicing apps for €19 a month; support answers within 4 hours.",
}


@pytest.mark.parametrize("case", BRIEFS)
def test_a_trade_that_a_stand_in_does_not_know_is_asked_for_and_never_guessed(tmp_path: Path, case: str) -> None:
    model = llm.load("simulated:strong")
    plan = brief_plan.read(BRIEFS[case], model)
    assert plan.name in BRIEFS[case]
    assert plan.products
    assert plan.figures
    assert plan.certainty < brief_plan.CERTAIN
    assert any("trade" in question for question in plan.asks)
    with pytest.raises(brief_plan.OpenQuestions, match="The paragraph leaves something open"):
        pack_from_brief.write(BRIEFS[case], plan, model, tmp_path)
    assert list(tmp_path.iterdir()) == []
    found = pack_files.load(pack_from_brief.write(BRIEFS[case], brief_plan.answer(plan, trade="any"), model, tmp_path))
    assert found.name == plan.name
    assert {f.one for f in found.families.values() if f.root == "products"} == set(plan.products)


@pytest.mark.parametrize(
    ("text", "language", "name", "trade"),
    [
        ("Spoke & Chain sells city bicycles and insures them against theft.", "en", "Spoke & Chain", "bicycles"),
        ("Veloria rents bicycles by the hour.", "en", "Veloria", "rental of vehicles"),
        ("Radwerk Nord baut Trekkingräder und Lastenräder in Kiel.", "de", "Radwerk Nord", "Fahrräder"),
        ("Abri assure les logements et les voitures.", "fr", "Abri", "assurance"),
    ],
)
def test_what_a_paragraph_says_plainly_is_not_asked_for(text: str, language: str, name: str, trade: str) -> None:
    plan = brief_plan.read(text, llm.load("simulated:strong"))
    assert (plan.language, plan.name, plan.trade, plan.asks) == (language, name, trade, [])


@pytest.mark.parametrize(
    ("text", "name", "products", "figures"),
    [
        ("Marlow Bank is a bank. A current account costs £4 a month.", "Marlow Bank", [],
         {"£4": "price of a current account, a month"}),
        ("Die Sonnenhof Bäckerei in Kassel verkauft Brot und Torten. Eine Torte kostet 34,50 €.", "Sonnenhof Bäckerei",
         ["Brot", "Torten"], {"34,50 €": "Preis: eine Torte"}),
        ("Fenwick Cycles builds city bikes. Every bike can be returned within 60 days.", "Fenwick Cycles",
         ["city bikes"], {"60 days": "Every bike can be returned within …"}),
        ("We make things nice for people and we care.", "", [], {}),
    ],
)  # fmt: skip
def test_a_paragraph_is_understood_as_a_person_would_put_it(
    text: str, name: str, products: list[str], figures: dict[str, str]
) -> None:
    plan = brief_plan.read(text, llm.load("simulated:strong"))
    assert (plan.name, plan.products) == (name, products)
    assert {one.value: one.of for one in plan.figures} == figures


def test_a_pack_that_loses_a_name_a_product_or_a_figure_is_sent_back(tmp_path: Path) -> None:
    plan = brief_plan.read(BRIEFS["kayaks"], llm.load("simulated:strong"))
    lines = "".join(f"  f{n}: {{root: products, title: {one}}}\n" for n, one in enumerate(plan.products))
    whole = f"name: Fjordpaddle\nfamilies:\n{lines}properties:\n  guarantee: {{range: [5.0, 5]}}\n"
    assert brief_plan.check(whole, tmp_path / "x.yaml", plan) == []
    for old, new, said in (
        ("Fjordpaddle", "Fjord", "name is not 'Fjordpaddle'"),
        ("root: products", "root: services", "is no family under products"),
        ("[5.0, 5]", "[4, 5]", "5 years"),
    ):
        told = brief_plan.check(whole.replace(old, new), tmp_path / "x.yaml", plan)
        assert told, old
        assert said in str(told[0])


def test_a_bank_does_not_become_smart_homes_with_its_name(tmp_path: Path) -> None:
    """Each number of the paragraph stands somewhere in a long pack, and its overview quotes them all."""
    plan = brief_plan.BriefPlan(
        language="en",
        name="Harrow Bank",
        products=["current accounts", "mortgages"],
        figures=[brief_plan.PlannedFigure(value="£48", of="an account"), brief_plan.PlannedFigure(value="10 years")],
        trade="bank",
        certainty=1.0,
    )
    other = (brand_pack.FOLDER / "hearthwise.yaml").read_text(encoding="utf-8")
    own = other.replace("name: Hearthwise", "name: Harrow Bank").replace(
        "overview: >-\n", "overview: >-\n  £48, 10 years.\n"
    )
    told = [str(one) for one in brief_plan.check(own, tmp_path / "harrow_bank.yaml", plan)]
    assert [
        next((word for word in ("accounts is no", "mortgages is no", "£48", "10 years") if word in one), one)
        for one in told
    ] == [
        "accounts is no",
        "mortgages is no",
        "£48",
        "10 years",
    ]


def test_the_plan_of_a_brief_is_one_line_of_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXLAB_HOME", str(tmp_path))
    words = ["generate", "cxmarena", "--brief", BRIEFS["parking"], "--plan", "--json"]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0
    told = json.loads(found.stdout.splitlines()[-1])
    assert {"name", "language", "trade", "certainty", "products", "figures", "asks"} <= set(told)
    assert told["name"] == "Brightside Parking"
    assert told["asks"]
    answered = CliRunner().invoke(app, [*words, "--trade", "any"])
    assert json.loads(answered.stdout.splitlines()[-1])["asks"] == []
    asked = CliRunner().invoke(app, ["generate", "cxmarena", "--brief", BRIEFS["parking"], "--json"])
    assert asked.exit_code != 0
    assert isinstance(asked.exception, brief_plan.OpenQuestions)


def test_a_pack_that_stays_wrong_is_not_written(tmp_path: Path) -> None:
    class Stubborn:
        name, simulated, prices = "stubborn", False, None
        asked: list[str] = []

        async def complete(self, request):
            self.asked.append(request.messages[-1]["content"])
            return llm.base.Completion("id: stub\nname: Stub\n", (), llm.base.Usage(calls=1), 0.0, "stop")

        async def aclose(self) -> None: ...

    model = Stubborn()
    plan = brief_plan.BriefPlan(language="en", name="Stub", products=["bags"], trade="worn", certainty=1.0)
    with pytest.raises(pack_from_brief.UnusablePack, match="Field required"):
        pack_from_brief.write("Stub makes bags and hats for everybody in town.", plan, model, tmp_path)
    assert len(model.asked) == 2
    assert "faults" in model.asked[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("told", "language", "name"),
    [
        ("Nordrad baut Fahrräder.", "de", "Nordrad"),
        ("Wir sind Nordrad und bauen Fahrräder.", "de", "Nordrad"),
        ("Wir verkaufen Fahrräder und Helme.", "de", None),
        ("Nous vendons des vélos.", "fr", None),
        ("A brand called Bright Hill sells lamps.", "en", "Bright Hill"),
        ("We sell lamps.", "en", None),
    ],
)
def test_a_brief_that_begins_with_we_does_not_name_the_brand_so(told: str, language: str, name: str | None) -> None:
    found = brief.brand_name(told, language, np.random.default_rng(1))
    assert found == name if name else found.lower() not in told.lower()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Die Radwerk Lindau GmbH baut Lastenräder und verkauft sie online.", "Radwerk Lindau GmbH"),
        ("Radwerk Lindau baut Lastenräder und verkauft sie online.", "Radwerk Lindau"),
    ],
)
def test_an_article_before_a_company_is_no_part_of_its_name(text: str, name: str) -> None:
    assert brief_plan.read(text, llm.load("simulated:strong")).name == name


def test_a_trade_that_is_asked_for_is_not_written_into_the_form() -> None:
    def shown(certainty: float) -> str:
        plan = brief_plan.BriefPlan(language="en", name="Soles", products=["things"], trade="food", certainty=certainty)
        return next(one.value for one in plan.corrections() if one.setting == "trade")

    assert (shown(0.4), shown(0.9)) == ("", "food")
