"""What a search finds: words, plurals, phrases and wildcards, in the fields that it names."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cxlab.benchmarks.crmarena.sandbox import Sandbox
from cxlab.benchmarks.crmarena.soql import QueryError
from cxlab.benchmarks.crmarena.soql.syntax import AllOf, AnyOf, Without, Words
from cxlab.benchmarks.crmarena.soql.text_index import TextIndex, fold


def titles(sandbox: Sandbox, search: str) -> list[str]:
    return [record["Name"] for record in sandbox.sosl(f"FIND {search} RETURNING Product2(Name)")]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("{shoes}", ["Trail Running Shoe"]),
        ("{SHOE trail}", ["Trail Running Shoe"]),
        ("{boot}", ["Café Boots"]),
        ("{cafe}", ["Café Boots"]),
        ("{runn*}", ["Trail Running Shoe", "Road Runner"]),
        ("{ru?ner}", ["Road Runner"]),
        ("{run}", []),
        ('{"running shoe"}', ["Trail Running Shoe"]),
        ('{"shoe running"}', []),
        ("{shoe OR mat}", ["Trail Running Shoe", "Yoga Mat"]),
        ("{pair AND NOT shoe}", ["Road Runner", "Yoga Mat", "Café Boots"]),
        ("{(shoe OR mat) AND yoga}", ["Yoga Mat"]),
        ("'yoga mat'", ["Yoga Mat"]),
        ("{yoga - mat}", ["Yoga Mat"]),
        ("{pair} IN NAME FIELDS", []),
        ("{mat} IN NAME FIELDS", ["Yoga Mat"]),
    ],
)
def test_words_are_found(sandbox: Sandbox, search: str, found: list[str]) -> None:
    assert titles(sandbox, search) == found


def test_fields_conditions_orders_and_limits(sandbox: Sandbox) -> None:
    online = "PublishStatus = 'Online' AND Language = 'en_US'"
    found = sandbox.sosl(
        f"FIND {{boots}} IN ALL FIELDS RETURNING Knowledge__kav(Id, Title, FAQ_Answer__c WHERE {online})"
    )
    assert [(r["Title"], r["FAQ_Answer__c"][:5]) for r in found] == [("Return Policy", "Boots")]
    both = sandbox.sosl("FIND {boots} RETURNING Knowledge__kav(Title)")
    assert [r["Title"] for r in both] == ["Old Boots", "Return Policy"], "those whose name has it come first"
    turned = sandbox.sosl("FIND {pair} RETURNING Product2(Name WHERE Name LIKE '%o%' ORDER BY Name DESC LIMIT 2)")
    assert [r["Name"] for r in turned] == ["Yoga Mat", "Trail Running Shoe"]
    two = sandbox.sosl("FIND {late OR pair} RETURNING Case(Id), Product2 LIMIT 3", attributes=True)
    assert [r["attributes"]["type"] for r in two] == ["Case"] * 3
    kinds = {r["attributes"]["type"] for r in sandbox.sosl("FIND {cust1}", attributes=True)}
    assert kinds == {"Account", "Contact"}
    assert sandbox.sosl("FIND {a1@x.org} IN EMAIL FIELDS RETURNING User(FirstName)") == [{"FirstName": "Ann1"}]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("FIND {a} RETURNING Case(Id)", "INVALID_SEARCH"),
        ("FIND {shoe} RETURNING Nope", "INVALID_TYPE"),
        ("FIND {shoe} RETURNING Case(Nope)", "INVALID_FIELD"),
        ("FIND {shoe} RETURNING Case(COUNT())", "MALFORMED_SEARCH"),
        ("FIND {shoe} RETURNING Case(Id WHERE Description = 'x')", "INVALID_FIELD"),
        ("FIND {shoe} LIMIT 0", "INVALID_SEARCH"),
    ],
)
def test_refused(sandbox: Sandbox, text: str, code: str) -> None:
    with pytest.raises(QueryError) as caught:
        sandbox.sosl(text)
    assert caught.value.code == code


WORDS = st.sampled_from(["red", "reds", "shoe", "mat", "old", "new", "x1"])
TERMS = st.recursive(
    WORDS.map(Words),
    lambda inner: (
        st.lists(inner, min_size=2, max_size=3).map(lambda items: AllOf(tuple(items)))
        | st.lists(inner, min_size=2, max_size=3).map(lambda items: AnyOf(tuple(items)))
        | st.tuples(inner, inner).map(lambda pair: Without(*pair))
    ),
    max_leaves=6,
)


@given(st.lists(st.lists(WORDS, max_size=5), max_size=8), TERMS)
def test_the_index_finds_what_reading_finds(texts: list[list[str]], term: Words | AllOf | AnyOf | Without) -> None:
    def holds(words: list[str], term: object) -> bool:
        if isinstance(term, Words):
            return term.text.rstrip("s") in {word.rstrip("s") for word in words}
        if isinstance(term, AllOf):
            return all(holds(words, item) for item in term.items)
        if isinstance(term, AnyOf):
            return any(holds(words, item) for item in term.items)
        assert isinstance(term, Without)
        return holds(words, term.item) and not holds(words, term.unwanted)

    index = TextIndex((number, [" ".join(words)]) for number, words in enumerate(texts))
    assert index.find(term) == {number for number, words in enumerate(texts) if holds(words, term)}


@given(st.text())
@example("𝐴")
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
