"""What was struck when brands from French paragraphs were read aloud: articles, infinitives, quoted clauses."""

import re
from pathlib import Path

import pytest

from cxlab import llm
from cxlab.benchmarks.cxmarena.brand import brand_pack, brief_plan, joined_phrases, pack_files, value_format
from cxlab.benchmarks.cxmarena.conversations import phrasebook, step_phrasing
from cxlab.benchmarks.cxmarena.simulated import industry_archetypes
from cxlab.files import grammar
from tests.benchmarks.cxmarena.cxm_brand import generate
from tests.benchmarks.cxmarena.simulated.test_words_of_brands import make

PARAGRAPHS = {
    "banked": "Crédit Aldor est une banque en ligne. Elle propose un compte courant, une carte Premier et un livret. "
    "La carte Premier coûte 9 € par mois.",
    "hosted": "Les Hôtels Marélia louent des chambres au bord de la mer. Une chambre coûte à partir de 94 € la nuit.",
    "supplied": "Lumivolt fournit de l’électricité verte et du gaz aux ménages. L’abonnement coûte 14 € par mois.",
    "trained": "Forme Libre propose des abonnements et des cours collectifs à Lyon. Un abonnement coûte 24 € par mois.",
}
# What may stand before a name that begins with a noun: its article, with or without what was joined to it.
ARTICLE = re.compile(r"(?:\b(?:le|la|du|au)[ \u00a0]|[’'])$", re.IGNORECASE)
# A list's head, a heading or a name in quotation marks goes without.
BARE = re.compile(r"(?:^|[«\n]|^\W*)[ \u00a0]*$")


@pytest.mark.parametrize("trade", PARAGRAPHS)
def test_a_name_that_begins_with_a_noun_has_its_article_in_a_sentence(trade: str, tmp_path: Path) -> None:
    pack = make(PARAGRAPHS[trade], trade, tmp_path, "fr")
    names = {name for family in pack.families.values() if family.article for name in family.models}
    assert names, {key: family.models for key, family in pack.families.items()}
    told = generate(pack, 33, 27, 12)
    seen = 0
    for said in told.conversations:
        for message in said.messages:
            if message.role == "tool":
                continue
            for found in re.finditer("|".join(map(re.escape, sorted(names, key=len, reverse=True))), message.text):
                seen += 1
                assert ARTICLE.search(message.text[: found.start()]), message.text
    assert seen
    for article in told.articles:
        for line in article.body.splitlines():
            for found in re.finditer("|".join(map(re.escape, sorted(names, key=len, reverse=True))), line):
                before = line[: found.start()]
                assert ARTICLE.search(before) or BARE.search(before), line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("de le Compte courant", "du Compte courant"),
        ("de le Abonnement Duo", "de l’Abonnement Duo"),
        ("à le Abonnement Duo", "à l’Abonnement Duo"),
        ("à le Livret", "au Livret"),
        ("de la Offre Souplesse", "de l’Offre Souplesse"),
        ("La Offre Souplesse", "L’Offre Souplesse"),
        ("chez de Hôtels Marélia", "chez d’Hôtels Marélia"),
    ],
)
def test_articles_of_names_are_joined_as_french_joins_them(text: str, told: str) -> None:
    assert joined_phrases.polish(text, "fr") == told


IRREGULAR = re.compile(r"(?:ven|ten|pren|mett|rend|pond|perd|vend|iss|joign|ouvr|écriv|suiv|\blis|\bdit)er\b")
REGULAR = re.compile(r"^(?:laiss|baiss|gliss)er\b")


def test_what_an_agent_will_do_is_an_infinitive() -> None:
    talk = phrasebook.load("fr")
    steps = [
        step
        for name in industry_archetypes.names()
        for issue in industry_archetypes.load(name, "fr").issues.values()
        for step in issue["steps"]
    ]
    steps += [step.model_dump() for issue in pack_files.load("solvanne").issues.values() for step in issue.steps]
    done = [step for step in steps if isinstance(step, dict) and step.get("tool")]
    assert done
    for step in done:
        for said in grammar.every(step["say"], 6):
            act, text, _ = step_phrasing.step_act(talk, said, tool=True)
            first = text.split()[0]
            assert act == "call"
            assert re.search(r"(?:er|ir|re)$", first), text
            assert REGULAR.search(first) or not IRREGULAR.search(first), text


@pytest.mark.parametrize(
    ("command", "infinitive"),
    [("Refaites", "refaire"), ("Prévenez", "prévenir"), ("Reprenez", "reprendre"), ("Rétablissez", "rétablir"),
     ("Laissez", "laisser"), ("Répondez", "répondre"), ("Étendez", "étendre"), ("Rappelez", "rappeler")],
)  # fmt: skip
def test_infinitives_of_commands(command: str, infinitive: str) -> None:
    assert step_phrasing.own(phrasebook.load("fr"), f"{command} la facture") == f"{infinitive} la facture"


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("ouvertes de 6 h à 23 h", ["06:00", "23:00"]),
        ("ouvert de 9h à 18h30", ["09:00", "18:30"]),
        ("une réponse en 24 h", []),
        ("un délai de 12 h", []),
    ],
)
def test_hours_of_the_day_are_no_numbers(text: str, times: list[str]) -> None:
    found = value_format.find(text, brand_pack.load_language("fr"))
    assert [each.value for each in found if each.kind == "time"] == times


def test_a_figure_of_the_paragraph_is_told_in_its_own_clause(tmp_path: Path) -> None:
    pack = make(PARAGRAPHS["hosted"], "hosted", tmp_path, "fr")
    told = [line for name in pack.families["overview"].properties for line in pack.properties[name].says]
    assert told == ["<subject>: «\u00a0Une chambre coûte à partir de <value> la nuit\u00a0»"]


def test_the_sign_within_a_word_opens_no_quotation() -> None:
    text = "Lumivolt fournit de l'électricité verte et du gaz aux ménages de l'Ouest de la France. L'offre coûte 14 €."
    plan = brief_plan.read(text, llm.load("simulated:strong"))
    assert plan.name == "Lumivolt"
    assert plan.products[0] == "électricité verte"
