"""What ids of data and programs are called on pages; the ids themselves stay as other people's files have them."""

import re
from collections.abc import Callable
from typing import Any

import polars as pl

from cxlab.charts.theme import SIMULATED_PREFIX, short_model
from cxlab.read import procedures

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_+]*")
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[a-z])(?=\d+[A-Z])")
_TRUTH = {"true": "yes", "false": "no"}


def name_each(values: pl.Series, name: Callable[[Any], str | None]) -> pl.Series:
    """What each value of a column is called; a missing one has no name.

    Not within a query of polars (`map_elements`): its threads would wait for Python's lock while another session holds
    it, and with them everyone whose query waits for these threads.
    """
    given = values.to_list()
    told = {value: None if value is None else name(value) for value in dict.fromkeys(given)}
    return pl.Series(values.name, [told[value] for value in given], dtype=pl.String)


def spell_out(name: object) -> str:
    """An id in words: "ReturnOrRefund" → "return or refund", "PLAN_C" → "plan C", "true" → "yes"; other text stays."""
    text = str(name)
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    if not _ID.fullmatch(text):
        return text
    split = _WORD_ENDS.sub(" ", text)
    apart = split.replace("_", " ").replace("+", " + ").split()
    # What is written in capitals throughout is either one letter or an abbreviation, unless all of it is.
    loud = text.isupper()
    return " ".join(word if word.isupper() and (len(word) == 1 or not loud) else word.lower() for word in apart)


def begin(words: str) -> str:
    """Words as the beginning of a sentence; one that begins with a program's name ("retriever:bm25") stays as it is."""
    first = words.partition(" ")[0]
    return words if re.search(r"\w[:./@_]\w|\d", first) else words[:1].upper() + words[1:]


def name_id(id: object) -> str:
    """What a field, a value or an action is called: as its benchmark declares, else its id in words."""
    return procedures.words().get(str(id)) or spell_out(id)


def name_parties(value: str) -> str:
    """A setting that names models as people read them: "lenient, strict (simulated)" of "simulated:judge-lenient,
    simulated:judge-strict"; any other one stays as it is."""
    given = value.split(", ")
    simulated = [each.startswith(SIMULATED_PREFIX) for each in given]
    if not any(simulated):
        return value
    mark = " (simulated)"
    names = [f"{short_model(each).removeprefix('judge-')}{mark if not all(simulated) else ''}" if own else each
             for each, own in zip(given, simulated, strict=True)]  # fmt: skip
    return ", ".join(names) + (mark if all(simulated) else "")


def shorten(text: str, longest: int) -> str:
    """The text, or its beginning and "…" where it is longer; at a space where one is near."""
    if len(text) <= longest:
        return text
    kept = text[: max(longest - 1, 1)]
    at_word = kept.rpartition(" ")[0]
    return (at_word if len(at_word) > 0.7 * len(kept) else kept).rstrip(" ,;:·“") + "…"
