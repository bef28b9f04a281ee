"""Messages said before are found by their rarest words: the same ones, without comparing all with all."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cxlab.benchmarks.mmtaup2 import stated_values

_WORDS = ["please", "help", "me", "with", "my", "phone", "line", "it", "is", "broken", "since", "one", "two", "days"]
_TEXTS = st.lists(st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join), max_size=14)


@settings(deadline=None, max_examples=150)
@given(_TEXTS, st.sampled_from([0.5, 0.75, 0.9]))
def test_the_same_are_found_as_by_comparing_each(texts: list[str], share: float) -> None:
    before = stated_values.EarlierMessages(texts, share)
    for place, text in enumerate(texts):
        assert before.holds(text) == any(stated_values.alike(text, other, share) for other in texts[:place])
        before.add(text)


def test_comparisons_grow_with_the_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def alike(*given: Any) -> bool:
        nonlocal compared
        compared += 1
        return original(*given)

    original = stated_values.alike
    monkeypatch.setattr(stated_values, "alike", alike)
    rng = random.Random(0)
    usual = [f"word{n}" for n in range(60)]
    texts = [" ".join([f"number{n}", *rng.sample(usual, 8)]) for n in range(2_000)]
    before = stated_values.EarlierMessages(texts)
    for text in texts:
        assert not before.holds(text)
        before.add(text)
    assert compared < 2 * len(texts)
