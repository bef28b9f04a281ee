"""Words in texts that are at hand: notes, the conversations of a dataset. As messages.py finds them in the store."""

import re
from collections.abc import Mapping, Sequence

import polars as pl

from cxlab.word_forms import Sought, Term, find_starts, stem

LETTERS = r"\p{L}\p{N}_"
"""What words are made of in any script, for a regular expression."""
Forms = Mapping[str, tuple[str, ...]]
"""Word → its forms that are said, commonest first. A word that has none is looked for wherever it stands."""


def find_forms(texts: pl.Series, terms: Sequence[Term], language: str) -> dict[str, tuple[str, ...]]:
    """The forms of each word in the texts that may hold all of the terms; none of a word that stands in none."""
    starts = {each: find_starts(each.text.casefold(), language) for each in terms if not each.exact}
    near = [_has_any(starts.get(each) or [each.text.lower()]) for each in terms]
    low = _lower(texts).filter(*near)["low"]
    found: dict[str, tuple[str, ...]] = {}
    for term, begun in starts.items():
        said = low.str.extract_all(rf"\b(?:{'|'.join(map(re.escape, begun))})[{LETTERS}]*").explode().drop_nulls()
        counted = said.value_counts(name="n").sort("n", "low", descending=[True, False])
        stemmed = stem(term.text.casefold(), language)
        forms = tuple(form for form in counted["low"] if stem(form.casefold(), language) == stemmed)
        found |= {term.text: forms} if forms else {}
    return found


def hold_all(texts: pl.Series, terms: Sequence[Term], forms: Forms) -> pl.Series:
    """Whether a text holds each of the terms: a word in one of its forms."""
    held = [
        pl.col("low").str.contains(rf"\b(?:{'|'.join(map(re.escape, said))})\b")
        if (said := forms.get(each.text))
        else _has_any([each.text.lower()])
        for each in terms
    ]
    return _lower(texts).select(pl.all_horizontal(pl.col("low").is_not_null(), *held)).to_series()


def to_sought(terms: Sequence[Term], forms: Forms) -> Sought:
    """All that is looked for, as it is marked."""
    return Sought(
        frozenset(form.casefold() for each in forms.values() for form in each),
        tuple(each.text for each in terms if each.text not in forms),
    )


def _lower(texts: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"low": texts.str.to_lowercase()})


def _has_any(parts: Sequence[str]) -> pl.Expr:
    return pl.any_horizontal([pl.col("low").str.contains(part, literal=True) for part in parts])
