"""Near-duplicates among cases: the same words with other names are found, other words are not."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena.generation.prompts import CaseFacts, CaseText, Line
from cxlab.benchmarks.crmarena.generation.similar_texts import ALIKE_FROM, RUN, find_similar


def make(number: int, said: str, **facts: Any) -> tuple[CaseFacts, CaseText]:
    given = {"customer": "Ann", "agent": "Bo", "product": "boots", "order": "801X", "email": "a@x.example", **facts}
    case = CaseFacts(
        number=number, form="chat", colleague=None, told=True, days=3, issue="Late", description="It is late.",
        identified=True, rule=None, breach=None, rules=(), **given,
    )  # fmt: skip
    lines = [Line(speaker="customer", text=said), Line(speaker="agent", text="ok")]
    return case, CaseText(number=number, subject="s", lines=lines)


def similar(*made: tuple[CaseFacts, CaseText]) -> dict[int, int]:
    return find_similar([case for case, _ in made], {case.number: text for case, text in made})


def test_other_names_in_the_same_words_are_no_other_text() -> None:
    one = make(1, "My boots have been on the way for two weeks now, order 801X, a@x.example. What is going on?")
    two = make(
        2,
        "My red sandals have been on the way for two weeks now, order 801Y, c@x.example. What is going on?",
        customer="Cy", product="red sandals", order="801Y", email="c@x.example",
    )  # fmt: skip
    other = make(3, "Nobody has told me where the parcel is that I paid for at the beginning of May, please look.")
    assert similar(one, two, other) == {2: 1}
    assert similar(other, one, two) == {2: 1}
    assert similar(one, make(4, "ok")) == {}


WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=8, max_size=30).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_a_case_is_similar_where_it_shares_its_runs_with_one_that_is_not(texts: list[str]) -> None:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = f"{text} ok".split()
        return {tuple(words[n : n + RUN]) for n in range(len(words) - RUN + 1)}

    found = similar(*(make(n, text) for n, text in enumerate(texts)))
    assert 0 not in found
    originals = [n for n in range(len(texts)) if n not in found]
    assert set(found.values()) <= set(originals)
    for n, owner in found.items():
        assert owner < n
        assert len(runs(texts[n]) & runs(texts[owner])) >= ALIKE_FROM * len(runs(texts[n]))
    for n, text in enumerate(texts):
        if text in texts[:n]:
            assert n in found
