"""What a search by words looked for, told on the page in the same words wherever there is one."""

from collections.abc import Iterable, Sequence

import streamlit as st

from cxlab.read.word_search.terms import left_out
from cxlab.read.word_search.texts import Forms
from cxlab.ui.labels import plain
from cxlab.word_forms import Term

# Forms of a word that are named.
_NAMED = 8
SAID_BY = {
    "both": "customer or agent", "customer": "the customer", "agent": "the agent", "tool": "a tool",
    "anybody": "anybody",
}  # fmt: skip
"""Whose messages are searched, by what View.speaker has."""
HELP = (
    "Each word is looked for in all its forms, and all of them in one message. "
    "What stands in “quotes” is looked for as it is."
)


def say_search(text: str, terms: Sequence[Term], forms: Forms, any_found: bool, unit: str = "message") -> None:
    """Which words of a search were looked for in which forms, which were left out, and where any was found, which stand
    in no unit by themselves, so that they were looked for within words."""
    say_looked_for((forms.get(each.text, (each.text,)) for each in terms), left_out(text))
    if any_found:
        say_within([each.text for each in terms if not each.exact and each.text not in forms], unit)
    else:
        st.caption(plain(f"No {unit} holds {'all of them' if len(terms) > 1 else 'it'}."))


def say_within(words: Sequence[str], unit: str = "message") -> None:
    """That these stand in no unit by themselves, so that they were looked for within words."""
    if words:
        st.caption(plain(f"No {unit} has {quote(words)} as a word: looked for within words."))


def say_looked_for(forms: Iterable[Sequence[str]], left: Sequence[str] = ()) -> None:
    """Which words were looked for, each with the forms of it that are said, and which were left out."""
    told = "; ".join(", ".join([*each[:_NAMED], *["…"] * (len(each) > _NAMED)]) for each in forms)
    dropped = f"Left out: {', '.join(left)}; in “quotes” each counts." if left else ""
    if told or dropped:
        st.caption(plain(" ".join([*[f"Looked for: {told}."] * bool(told), dropped]).strip()))


def quote(words: Sequence[str]) -> str:
    """“a”, “b” or “c”."""
    told = [f"“{each}”" for each in words]
    return " or ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
