"""Contradictions by passages: a hand-made knowledge base in which it is known what contradicts what."""

import asyncio
import json

import numpy as np
import pytest

from cxlab.benchmarks.cxmarena.evaluation import duplicate_detection, evaluation_prompts
from cxlab.benchmarks.cxmarena.evaluation.claims import (
    contrasts,
    find_figures,
    find_names,
    read_claims,
    unit_of,
    worded_claims,
)
from cxlab.benchmarks.cxmarena.evaluation.contradiction_candidates import excerpt, find_contrasts
from cxlab.benchmarks.cxmarena.evaluation.corpus import Corpus
from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import PairInputs, Passage
from cxlab.benchmarks.cxmarena.evaluation.property_alignment import SURE, disagreements
from cxlab.benchmarks.cxmarena.simulated import article_pairs, property_lexicon
from cxlab.errors import BadOption
from cxlab.llm.base import Reply
from cxlab.llm.simulated.profiles import PROFILES

THINGS = [
    "Aero Lamp",
    "Boreal Heater",
    "Calm Fan",
    "Dune Stove",
    "Echo Bell",
    "Fern Pot",
    "Gale Hood",
    "Harbour Cam",
    "Iris Desk",
    "Jet Kettle",
]
WOODS = ["walnut", "oak", "ash", "cherry wood"]
FILLER = (
    "Most questions about {thing} are answered by a look at the label. A steady hand and a dry cloth are all that care "
    "takes, whatever the season. Whoever is in doubt asks the service desk, which is open on weekdays."
)


def statements(number: int, thing: str) -> tuple[list[str], list[str]]:
    """The facts of one thing in two wordings that share few words; price and rate, width and height are alike."""
    price, rate, width, height, life = 200 + 30 * number, 20 + 3 * number, 31 + number, 70 + 2 * number, 2 + number
    one = [
        f"{thing} sells for £{price}.00, which is also what the receipt says.",
        f"The monthly rate for {thing} is £{rate}.50.",
        f"{thing} measures {width} cm across.",
        f"On a shelf {thing} stands {height} cm tall.",
        f"With care {thing} lasts {life} years.",
        f"The frame of {thing} is made of {WOODS[number % 4]}.",
    ]
    other = [
        f"Asked about the price of {thing}, the desk says: £{price}.",
        f"Paid by the month, {thing} comes to £{rate}.50.",
        f"As for the width, {thing} comes to {width} cm.",
        f"Regarding its height, {thing} is {height} cm.",
        f"The lifespan of {thing} is {life} years.",
        f"For its frame {thing} relies on {WOODS[number % 4]}.",
    ]
    return one, other


def knowledge() -> dict[str, str]:
    """Two articles a thing, which agree, in two wordings; the second is about another thing, too."""
    texts = {}
    for number, thing in enumerate(THINGS):
        mine, theirs = statements(number, thing)
        texts[f"A{number}"] = "\n\n".join([f"{thing}: Overview", " ".join(mine), FILLER.format(thing=thing)])
        near = (number + 1) % len(THINGS)
        more = statements(near, THINGS[near])[1][:3]
        texts[f"B{number}"] = "\n\n".join(
            [f"{thing}: Setting up", FILLER.format(thing=thing), " ".join(theirs), " ".join(more)]
        )
    return texts


WRONG = {
    "B3": "The width of Aero Lamp is 44 cm.",
    "B5": "Calm Fan sells for £310.00 at present.",
    "A6": "The lifespan of Echo Bell is nine years.",
}
# Each against whatever states the right value; Calm Fan's price, Echo Bell's lifespan and so on stand in two or three.
GOLD = {
    ("A0", "B3"), ("B0", "B3"), ("B3", "B9"),
    ("A2", "B5"), ("B1", "B5"), ("B2", "B5"),
    ("A4", "A6"), ("A6", "B4"),
}  # fmt: skip


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    found = knowledge()
    for name, sentence in WRONG.items():
        title, rest = found[name].split("\n\n", 1)
        found[name] = f"{title}\n\n{sentence} {rest}"
    return found


def check(texts: dict[str, str], method: str, by: str = "passages", profile: str = "strong"):
    """The pairs found, through the whole of both stages."""
    corpus = Corpus(texts)
    found = find_contrasts(texts)
    near = duplicate_detection.compare(corpus, asked=[one[:2] for one in found])

    async def ask(inputs: PairInputs):
        said = article_pairs.contradiction(inputs, PROFILES[profile], np.random.default_rng(0))
        return type("Reply", (), {"output": evaluation_prompts.PairReply(**json.loads(said))})

    candidates = duplicate_detection.choose(near, found, by, 2000)
    checked = asyncio.run(duplicate_detection.contradictions(corpus, candidates, method, ask))
    return {tuple(one["pair"]) for one in checked.found}, checked.found, candidates


def test_paraphrased_contradictions_are_found_and_look_alikes_are_not(texts):
    pairs, shown, candidates = check(texts, "facts")
    assert pairs == GOLD
    assert {one.pair[:2] for one in candidates} >= GOLD
    words = next(one for one in shown if one["pair"] == ["A0", "B3"])
    assert (words["first"], words["second"]) == ("Aero Lamp measures 31 cm across.", WRONG["B3"])


def test_a_knowledge_base_that_agrees_with_itself_has_no_contradiction():
    clean = knowledge()
    assert check(clean, "facts")[0] == set()
    # A price is no instalment and a width no height, although things and units are the same.
    assert all(one.same < SURE for one in find_contrasts(clean))


def test_whole_articles_bring_other_candidates_than_passages(texts):
    by_articles = check(texts, "facts", "articles")
    assert by_articles[0] <= GOLD
    assert {one.by_passages for one in by_articles[2]} == {False}
    with pytest.raises(BadOption, match="known: passages, articles"):
        check(texts, "facts", "sentences")


def test_a_model_is_shown_titles_and_passages_only(texts):
    seen: list[PairInputs] = []

    async def ask(inputs: PairInputs):
        seen.append(inputs)
        return type("Reply", (), {"output": None})

    found = find_contrasts(texts)
    candidates = duplicate_detection.choose(
        duplicate_detection.compare(Corpus(texts), asked=[c[:2] for c in found]), found, "passages", 3
    )
    checked = asyncio.run(duplicate_detection.contradictions(Corpus(texts), candidates, "model", ask))
    assert (checked.unread, len(seen)) == (3, 3)
    for one in seen:
        assert one.first.text.splitlines()[0] == texts[one.first.id].splitlines()[0]
        # Of the other property that stands two sentences on nothing is shown.
        assert "The lifespan of Calm Fan" not in one.first.text + one.second.text


def test_an_excerpt_shows_sentences_between_those_beside_them_in_order():
    text = "Title\n\nOne. Two. Three. Four. Five. Six.\n\nA heading\n\nSeven. Eight."
    assert excerpt(text, ["Two.", "Two.", "Five."]) == "Title\n\nOne. Two. Three. Four. Five. Six."
    assert excerpt(text, ["One."]) == "Title\n\nOne. Two."
    assert excerpt(text, ["Seven.", "One."]) == "Title\n\nOne. Two.\n\n… A heading\nSeven. Eight."
    assert excerpt(text, ["Nowhere."]) == "Title"


def pair(first: str, second: str) -> PairInputs:
    return PairInputs(first=Passage(id="a", text=f"X\n\n{first}"), second=Passage(id="b", text=f"Y\n\n{second}"))


@pytest.mark.parametrize(
    ("first", "second", "contradict"),
    [
        ("Aero Lamp measures 31 cm across.", "As for the width, Aero Lamp comes to 44 cm.", True),
        ("Aero Lamp measures 31 cm across.", "As for the height, Aero Lamp comes to 44 cm.", False),
        ("Aero Lamp measures 31 cm across.", "As for the width, Aero Fan comes to 44 cm.", False),
        ("Aero Lamp costs £1,299.00.", "The price of Aero Lamp is £1299.", False),
        ("Aero Lamp costs £1,299.00.", "The monthly instalment for Aero Lamp is £108.", False),
        ("The housing of Aero Lamp is made of oak.", "Aero Lamp is made from black steel.", True),
        ("The housing of Aero Lamp is made of black steel.", "Aero Lamp is made from black steel.", False),
        ("Crème Dune 2 Riche pèse 120 g.", "Le poids de Crème Dune 2 Riche est de 150 g.", True),
        ("Crème Dune 2 Riche pèse 120 g.", "Le poids de Crème Dune 2 Légère est de 150 g.", False),
        ("Der Preis von Fjord Pro beträgt 1.299,00 €.", "Für Fjord Pro zahlen Sie 999,00 €.", True),
        ("Der Preis von Fjord Pro beträgt 999,00 €.", "Die Monatsrate für Fjord Pro liegt bei 83,25 €.", False),
        ("Bei Feder 2 Dünn beträgt die Laufzeit 9 Stunden.", "Die Laufzeit von Feder 2 Dünn: 8 Stunden.", True),
        ("Fjord Pro ist seit dem 7. Februar 2026 im Verkauf.", "Verkaufsstart von Fjord Pro: 7. März 2026.", True),
    ],
)
def test_a_strong_reader_tells_paraphrase_from_another_property(first, second, contradict):
    for one, other in ((first, second), (second, first)):
        reply = article_pairs.contradiction(pair(one, other), PROFILES["strong"], np.random.default_rng(1))
        assert json.loads(reply)["contradicts"] is contradict


def test_who_knows_less_finds_less(texts):
    found = [check(texts, "model", profile=name)[0] & GOLD for name in ("strong", "base", "weak", "floor")]
    assert found[0] > found[2] >= found[3] == set()
    assert found[0] >= found[1] >= found[2]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("It costs £1,299.00 today", [("£", "1299")]),
        ("1 299,00 € ou 12 %", [("€", "1299"), ("%", "12")]),
        ("ab 9:30 Uhr am 7. März 2026", [("time", "09:30"), ("date", "2026-03-07")]),
        ("ouvre à 9 h 30 le 1er mai 2026", [("time", "09:30"), ("date", "2026-05-01")]),
        ("on March 7, 2026 or 2026-03-07", [("date", "2026-03-07")] * 2),
        ("type X-200 has 45 m²", [("m²", "45")]),
        # Working days are no days, in French as in English.
        ("en 5 jours ouvrés, sous 9 jours", [("ouvré", "5"), ("jour", "9")]),
    ],
)
def test_figures_have_one_form_however_they_are_written(text, figures):
    assert [(unit, value) for _, _, unit, value in find_figures(text)] == figures


def test_units_have_one_form():
    assert len({unit_of(word) for word in ("Tag", "Tage", "Tagen")}) == 1
    assert unit_of("minutes") == unit_of("minute")
    assert unit_of("and") == ""


def test_names_are_whole_and_units_are_none():
    texts = {
        "1": "Feder 2 Dünn: Laden\n\nNun läuft Feder 2 Dünn 38 Stunden. Fragen Sie nach Feder 2 Dünn.",
        "2": "Haus\n\nNun hat Feder 2 Fest 8 GB Speicher."
        "\n\nDort läuft Feder 2 Fest 40 Stunden. Zu Feder 2 Fest passt alles.",
    }
    texts |= {str(n): f"Nichts\n\nEs läuft {n} Stunden." for n in range(10, 20)}
    known = {name for names in find_names(texts).by_first.values() for name in names}
    assert known >= {("Feder", "2", "Dünn"), ("Feder", "2", "Fest")}
    assert not any("Stunden" in name or "Sie" in name or "GB" in name for name in known)


def test_a_value_in_words_ends_the_clause_that_varies():
    texts = {
        f"{n}{side}": f"{thing}: Note\n\nThe frame of {thing} is made of {WOODS[n % 4]}."
        for n, thing in enumerate(THINGS)
        for side in "ab"
    }
    claims = worded_claims(texts, find_names(texts))
    assert {claim.value for claim in claims} >= {"walnut", "oak", "ash"}
    texts["0b"] = texts["0b"].replace("walnut", "oak")
    names = find_names(texts)
    first = disagreements([*read_claims(texts, names), *worded_claims(texts, names)])[0][0]
    assert {first.first.article, first.second.article} == {"0a", "0b"}


def test_contrasts_need_one_thing_one_unit_and_two_values():
    assert contrasts("Aero Lamp weighs 3 kg.", "Aero Lamp weighs 3 kg.") == ()
    assert contrasts("Aero Lamp weighs 3 kg.", "Aero Lamp lasts 4 years.") == ()
    assert contrasts("", "") == ()


def test_plain_names_are_told_from_turns_of_phrase():
    assert property_lexicon.find("The width of it is 43 cm") == {"width": (True, "width")}
    assert property_lexicon.find("It measures 43 cm across") == {"width": (False, "across")}
    assert property_lexicon.find("Die Mindestlaufzeit beträgt 3 Monate") == {"term": (True, "mindestlaufzeit")}
    assert property_lexicon.find("Nothing of the kind") == {}


def test_a_model_finds_copies_and_copied_passages_but_not_sister_articles() -> None:
    """One article a thing; a copy in other words, one with a passage of another, and the public way beside it."""
    said = {n: statements(n, thing)[0] for n, thing in enumerate(THINGS)}
    texts = {f"KB_{n}": " ".join(lines) for n, lines in said.items()}
    texts["KB_20"] = " ".join([*said[0][1:], said[0][0]])
    texts["KB_21"] = " ".join([*said[5], *said[6][:3]])
    found = duplicate_detection.compare(Corpus(texts), floor=0.0)

    async def read(inputs: PairInputs) -> Reply[evaluation_prompts.SimilarReply]:
        raw = article_pairs.similar(inputs, PROFILES["strong"], np.random.default_rng(1))
        return Reply(evaluation_prompts.SimilarReply.model_validate_json(raw), raw=raw)

    pairs, unread = asyncio.run(duplicate_detection.repetitions(Corpus(texts), found.pairs, read))
    assert unread == 0
    got = {frozenset(pair) for pair in pairs}
    assert got == {frozenset(p) for p in (("KB_0", "KB_20"), ("KB_5", "KB_21"), ("KB_6", "KB_21"))}
