"""Acronyms in three stages: what is found, what a model may keep, what is replaced."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.cxmarena.knowledge.acronyms import (
    ACRONYMS,
    AcronymInputs,
    Phrase,
    choose_acronyms,
    find_candidates,
    substitute,
)
from cxlab.errors import BadOption
from cxlab.llm import Completion, load
from cxlab.llm.parsing import parse

TEXTS = [
    "The Home Care Plan covers all parts. With the Home Care Plan you pay nothing.",
    "Ask for the Home Care Plan. Press Reset Now, Then Wait.",
    "Our Home Care Plan and the Energy Saving Mode go together.\nEnergy Saving\nMode is no heading.",
    "Use Energy Saving Mode at night, it is the Energy Saving Mode that counts.",
    "Die Energy Saving Mode Taste. The Energy Saving Mode. Great News. Great News.",
    "Great News. We open in March. The HVAC Unit is Old.",
]


def test_candidates_are_frequent_capitalised_ngrams() -> None:
    found = {each.phrase: each for each in find_candidates(TEXTS)}
    assert found["Home Care Plan"].times == 4
    assert found["Home Care Plan"].articles == 3
    assert found["Energy Saving Mode"].articles == 3
    assert "Home Care" not in found, "it never stands alone"
    assert "Energy Saving" not in found or found["Energy Saving"].times > found["Energy Saving Mode"].times
    assert "Reset Now Then" not in found, "a comma ends a phrase"
    assert not any("Great News" in phrase for phrase in found), "it only ever begins a sentence"
    assert not any(re.search(r"(^|\s)[a-z]", phrase) for phrase in found)
    assert find_candidates(["Das nennt Ihnen Wartezeit und Preis."] * 4) == [], "whom one addresses is no name"
    assert find_candidates(TEXTS, least=7) == []
    assert find_candidates([]) == []


def test_candidates_of_senseless_settings_are_refused() -> None:
    with pytest.raises(BadOption, match="least=0"):
        find_candidates(TEXTS, least=0)


def inputs(*phrases: str) -> AcronymInputs:
    return AcronymInputs(brand="Lumen", language="en", phrases=tuple(Phrase(text=p, articles=3) for p in phrases))


def test_the_prompt_is_sound_and_shows_every_phrase() -> None:
    assert ACRONYMS.check() == []
    text = ACRONYMS.render(inputs("Home Care Plan", "Energy Saving Mode"))[-1]["content"]
    assert "- Home Care Plan (3)" in text
    assert "Lumen" in text


async def test_the_simulated_editor_keeps_names_and_drops_poor_ones() -> None:
    plans = ["Home Care Plan", "Happy Corner Park", "Energy Saving Mode", "Bright Ultra Tone"]
    phrases = [*plans, "The Smart Hub", "Black Friday"]
    found = find_candidates([f"We like {p} and the {p}." for p in phrases] * 3)
    glossaries = [
        await choose_acronyms(load("simulated:strong"), found, brand="Lumen", seed=seed) for seed in range(10)
    ]
    for glossary in glossaries:
        assert glossary.failures == ()
        kept = glossary.acronyms
        assert kept.get("Energy Saving Mode") in (None, "ESM")
        assert ("Home Care Plan" in kept) + ("Happy Corner Park" in kept) <= 1, "one acronym, one phrase"
        assert len(kept) >= 1
    # A stand-in errs now and then, too.
    assert sum("Black Friday" in each.acronyms for each in glossaries) <= 2
    assert glossaries[0] == await choose_acronyms(load("simulated:strong"), found, brand="Lumen")


class Scripted:
    name, simulated = "scripted", False

    def __init__(self, *said: str) -> None:
        self.said = list(said)

    async def complete(self, request: object) -> Completion:
        return Completion(self.said.pop(0))

    async def aclose(self) -> None: ...


async def test_a_real_models_reply_is_checked() -> None:
    found = find_candidates(TEXTS)
    good = json.dumps({"acronyms": [{"phrase": "Home Care Plan", "acronym": "HCP"}]})
    glossary = await choose_acronyms(Scripted(good), found, brand="Lumen")
    assert glossary == ({"Home Care Plan": "HCP"}, ())
    for phrase, acronym in (("Home Care", "HC"), ("Home Care Plan", "hcp"), ("Home Care Plan", "XYZ")):
        bad = json.dumps({"acronyms": [{"phrase": phrase, "acronym": acronym}]})
        glossary = await choose_acronyms(Scripted(bad, bad), found, brand="Lumen")
        assert glossary.acronyms == {}
        assert [failure.type for failure in glossary.failures] == ["invalid"]


async def test_a_weak_simulation_still_only_says_what_passes_the_check() -> None:
    rng_inputs = inputs("Home Care Plan", "The Smart Hub", "Black Friday")
    for seed in range(30):
        said = await load("simulated:weak").complete(_request(rng_inputs, seed))
        output, failure, _ = parse(said.text, ACRONYMS.Output, rng_inputs, "stop")
        assert (output is None) != (failure is None)
        assert failure is None or failure.type in ("not_json", "truncated", "invalid")


def _request(given_inputs: AcronymInputs, seed: int):
    from cxlab.llm.base import Request

    messages = ACRONYMS.render(given_inputs)
    return Request(messages=messages, schema=ACRONYMS.schema, seed=seed, prompt=ACRONYMS, inputs=given_inputs)


GLOSSARY = {"Home Care Plan": "HCP", "Energy Saving Mode": "ESM", "Home Care": "HC"}
LONG = (
    "The Home Care Plan is new. " * 6
    + "Energy Saving Modes and Energy Saving Mode. Home Care helps. £89.99 Home Care Plan fee."
)


def test_substitution_by_chance_with_the_first_mention_spelt_out_or_not() -> None:
    spelt = substitute(LONG, GLOSSARY, 1, share=1, spelt_out=1)
    assert spelt.text.startswith("The Home Care Plan (HCP) is new. The HCP is new.")
    assert "Energy Saving Modes and Energy Saving Mode (ESM)." in spelt.text, "another word than the phrase"
    assert "Home Care (HC) helps" in spelt.text
    assert spelt.uses == {"Home Care Plan": 7, "Energy Saving Mode": 1, "Home Care": 1}
    bare = substitute(LONG, GLOSSARY, 1, share=1, spelt_out=0)
    assert bare.text.startswith("The HCP is new.")
    both = [substitute(LONG, GLOSSARY, seed) for seed in range(200)]
    assert len({each.text for each in both}) > 100
    assert 0.4 < sum(sum(each.uses.values()) for each in both) / (9 * 200) < 0.6
    shown = [f"({acronym})" in each.text for each in both for acronym in ("HCP",) if acronym in each.text]
    assert 0.35 < sum(shown) / len(shown) < 0.65


@settings(deadline=None)
@given(st.integers(0, 1000), st.floats(0, 1), st.floats(0, 1))
def test_values_stay_and_the_text_comes_back(seed: int, share: float, spelt_out: float) -> None:
    keep = ["£89.99 Home Care Plan fee"]
    done = substitute(LONG, GLOSSARY, seed, share=share, spelt_out=spelt_out, keep=keep)
    assert keep[0] in done.text
    assert done == substitute(LONG, GLOSSARY, seed, share=share, spelt_out=spelt_out, keep=keep)
    back = re.sub(r" \((?:HCP|ESM|HC)\)", "", done.text)
    for phrase, acronym in GLOSSARY.items():
        back = re.sub(rf"\b{acronym}\b", phrase, back)
    assert back == LONG


def test_nothing_to_do_and_shares_out_of_range() -> None:
    assert substitute(LONG, {}, 1) == (LONG, {})
    assert substitute(LONG, GLOSSARY, 1, share=0) == (LONG, {})
    assert substitute("Home Care Plan (HCP)", GLOSSARY, 1, share=1).text == "Home Care Plan (HCP)"
    with pytest.raises(BadOption, match="share=2"):
        substitute(LONG, GLOSSARY, 1, share=2)


def test_german_sentences_are_no_names() -> None:
    texts = [
        f"Wir sparen Ihnen eine Stunde Suchen. Fragen Sie nach. Dann fragen wir zu Tarif Fluss, bei Tarif Fluss {n}. "
        "Bitte warten, meint die Werkstatt.] Keine Hast hilft. So ersparen Sie Verzug."
        for n in range(12)
    ]
    assert [each.phrase for each in find_candidates(texts)] == ["Tarif Fluss"]
