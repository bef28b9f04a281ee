"""What a stand-in sees of two articles: contradictions by what they say, named or not."""

import json

import numpy as np
import pytest

from cxlab.benchmarks.cxmarena.evaluation.evaluation_prompts import PairInputs, Passage
from cxlab.benchmarks.cxmarena.simulated import article_pairs
from cxlab.llm.simulated.profiles import Profile

PERFECT = Profile("perfect", "Perfect", "", "", "agent", comprehension=1.0, format_reliability=1.0)


def contradicts(first: str, second: str) -> bool:
    texts = PairInputs(first=Passage(id="A", text=f"Help\n\n{first}"), second=Passage(id="B", text=f"More\n\n{second}"))
    return bool(json.loads(article_pairs.contradiction(texts, PERFECT, np.random.default_rng(0)))["contradicts"])


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        ("A voucher lasts 24 months.", "The voucher is valid for 12 months, so it lasts beyond one summer.", True),
        ("Points can be claimed within 90 days of a trip.", "You can claim points for a trip within 30 days.", True),
        ("Points can be claimed within 90 days of a trip.", "You can claim points for a trip within 90 days.", False),
        ("An e-mail is answered within two days.", "The money goes back within ten days.", False),
        # What "it" is stands in another sentence.
        ("It weighs 12 kg with its box.", "It weighs 14 kg with its box.", False),
        ("A trip costs £40 or £25.", "A trip costs £35 or £15.", False),
    ],
)
def test_sentences_that_name_nothing_contradict_by_their_words_and_values(first: str, second: str, holds: bool) -> None:
    assert contradicts(first, second) is holds
    assert contradicts(second, first) is holds
