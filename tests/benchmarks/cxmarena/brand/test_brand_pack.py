"""Brand packs: those at hand can be used, wrong ones are told with file, line and fix, a brief becomes one."""

import re
from pathlib import Path

import numpy as np
import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import brand_pack, ledger, pack_check, pack_files, pack_from_brief
from cxlab.benchmarks.cxmarena.knowledge import article_prompts
from cxlab.benchmarks.cxmarena.simulated import brand_expansion
from cxlab.errors import BadFile, BadOption, UnknownName

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
    assert brand_pack.polish(text, language) == said


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
    path = pack_from_brief.write(text, language, llm.load("simulated:strong"), tmp_path)
    found = pack_files.load(path)
    assert (found.name, found.language_id) == (name, language)
    assert line in [f.one for f in found.families.values() if f.root == "products"]
    assert ledger.check(ledger.make(found, 3, 2)) == []
    assert "Hearthwise" not in path.read_text()
    assert "Talvero" not in path.read_text()


def test_a_brief_that_says_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="say in a paragraph"):
        pack_from_brief.write("Shoes.", "en", llm.load("simulated:strong"), tmp_path)
    with pytest.raises(BadOption, match="unknown language 'it'"):
        pack_from_brief.write(
            "A brand that makes shoes and bags for people.", "it", llm.load("simulated:strong"), tmp_path
        )
    assert list(tmp_path.iterdir()) == []


def test_a_pack_that_stays_wrong_is_not_written(tmp_path: Path) -> None:
    class Stubborn:
        name, simulated, prices = "stubborn", False, None
        asked: list[str] = []

        async def complete(self, request):
            self.asked.append(request.messages[-1]["content"])
            return llm.base.Completion("id: stub\nname: Stub\n", (), llm.base.Usage(calls=1), 0.0, "stop")

        async def aclose(self) -> None: ...

    model = Stubborn()
    with pytest.raises(pack_from_brief.UnusablePack, match="Field required"):
        pack_from_brief.write("Stub makes bags and hats for everybody in town.", "en", model, tmp_path)  # type: ignore[arg-type]
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
    found = brand_expansion.brand_name(told, language, np.random.default_rng(1))
    assert found == name if name else found.lower() not in told.lower()
