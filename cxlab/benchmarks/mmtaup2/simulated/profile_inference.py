"""The simulated inference of a customer's profile: counts what can be counted in the customer's last messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np

from cxlab.benchmarks.mmtaup2.prompts.dialogue_prompts import ProfileInputs
from cxlab.benchmarks.mmtaup2.simulated.known_words import knows
from cxlab.benchmarks.mmtaup2.simulated.telecom.phrases import facts_said
from cxlab.llm.simulated import Profile

ASKED_FOR_WORDS = re.compile(r"\bread\b.*\bwords\b", re.IGNORECASE)
AGE = re.compile(r"\b(?:i am|i'm) (\d\d)(?: years old)?\b", re.IGNORECASE)
WONDERS = re.compile(r"\bwhat (?:is|do you mean)\b|means nothing to me|don't know what|no idea", re.I)
LAYMAN = re.compile(
    r"\b(?:little|picture of|touched|grey|it wants|nephew|brother|glasses|dear|ring)\b"
    r"|\b(?:let me see|i think|as far as i can see)\b",
    re.IGNORECASE,
)
UPSET = re.compile(
    r"\bhow much longer\b|\ball day\b|\bcross\b|keep asking|\bnervous\b|\boh dear\b|\blost\b|\bgone\?|too much|"
    r"\bbreaking\b|still (?:does not|nothing)|did not help",
    re.I,
)
AGAIN = re.compile(r"\b(?:again|once more|no, no|i said)\b", re.IGNORECASE)
FEMALE, MALE = re.compile(r"\bmy husband\b", re.I), re.compile(r"\bmy wife\b", re.I)


def profile(inputs: ProfileInputs, profile: Profile, rng: np.random.Generator) -> str:
    """A JSON object; what cannot be told is null. A profile of little subtlety misses the signs, not the form."""
    said, prompted, before = [], set(), ""
    for line in inputs.history:
        if line.who == "Customer":
            said.append(line.text)
            if ASKED_FOR_WORDS.search(before):
                prompted.add(line.text)
        before = line.text
    text = " ".join(said)
    count = max(len(said), 1)

    def share(sign: Callable[[str], object], name: str) -> float:
        if not knows(profile, f"sign {name}", (profile.subtlety + profile.comprehension) / 2):
            return 0.0
        return sum(bool(sign(one)) for one in said) / count

    def retold(one: str) -> bool:
        return bool(LAYMAN.search(one)) or any(not plain for *_, plain in facts_said(one))

    def read_out(one: str) -> bool:
        # Whoever was asked to read the words out shows no skill by doing so.
        return one not in prompted and any(plain for *_, plain in facts_said(one)) and not WONDERS.search(one)

    wonders, upset = share(WONDERS.search, "wonders"), share(UPSET.search, "upset")
    layman, terms = share(retold, "layman"), share(read_out, "terms")
    age = AGE.search(text)
    technical = None
    if len(said) >= 2 and (wonders or layman or terms):
        technical = round(min(10.0, max(0.0, 6 + 3 * terms - 6 * wonders - 7 * layman)))
    found = {
        "age": int(age[1]) if age else None,
        "gender": "female" if FEMALE.search(text) else "male" if MALE.search(text) else None,
        "articulation_skill": round(max(1, 9 - 4 * layman - 3 * share(AGAIN.search, "again")))
        if len(said) >= 2
        else None,
        "language_understanding_skill": round(max(1, 9 - 7 * wonders)) if len(said) >= 2 else None,
        "technical_skill": technical,
        "frustration_level": round(min(10, 9 * upset)),
        "persona": _described(technical, upset),
        "more": {"questions_per_message": round(sum("?" in one for one in said) / count, 1)},
        "reasoning": f"{count} messages: share with a question about a word {wonders:.2f}, everyday words for "
        f"technical things {layman:.2f}, names of settings {terms:.2f}, signs of distress {upset:.2f}.",
    }
    return json.dumps(found)


def _described(technical: float | None, upset: float) -> str | None:
    if technical is None:
        return None
    skill = (
        "knows the names of settings" if technical >= 6 else "needs everyday words" if technical <= 4 else "gets along"
    )
    return f"The customer {skill}" + (" and is upset." if upset > 0.3 else ".")
