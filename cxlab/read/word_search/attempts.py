"""Attempts in which words were said, or written to them as a note."""

from dataclasses import dataclass
from functools import lru_cache

import polars as pl

from cxlab.read.asking import AttemptSet, ask, say_annotations_read
from cxlab.read.word_search.messages import MessagesSought
from cxlab.read.word_search.terms import split_terms
from cxlab.read.word_search.texts import Forms, find_forms, hold_all
from cxlab.store import catalogue, layout
from cxlab.word_forms import Term, find_question_language

SPEAKERS = {"both": ("customer", "agent"), "anybody": ()}
"""The roles of a speaker that stands for several; () for all."""


@dataclass(frozen=True)
class FoundAttempts:
    """`attempts` that one message or one note of holds all `terms`; `forms` of each word that stand in these."""

    terms: tuple[Term, ...]
    forms: Forms
    attempts: AttemptSet


def find_attempts(text: str, speaker: str = "") -> FoundAttempts:
    """The attempts of the store with a message or a note that holds all words of a search; of a `speaker` (a role or
    one of SPEAKERS) messages alone."""
    say_annotations_read()
    return _find(str(layout.home()), catalogue.version(), text, speaker)


@lru_cache(maxsize=16)
def _find(home: str, version: str, text: str, speaker: str) -> FoundAttempts:
    terms = split_terms(text) or (Term(text, exact=True),)
    sought = MessagesSought(terms, roles=SPEAKERS.get(speaker, (speaker,)) if speaker else ())
    notes = {} if speaker else _read_notes()
    near = sought.find_near()
    parts = [near.forms, *(find_forms(of["value"], terms, language) for language, of in notes.items())]
    forms = {
        each.text: found
        for each in terms
        if (found := tuple(dict.fromkeys(form for part in parts for form in part.get(each.text, ()))))
    }
    keys = ["run_id", "attempt_id"]
    rows = [of.filter(hold_all(of["value"], terms, forms)).select(keys) for of in notes.values()]
    rows.append(sought.ask("SELECT DISTINCT run_id, attempt_id FROM ({hits})", forms, near.rows))
    empty = pl.DataFrame(schema=dict.fromkeys(keys, pl.String))
    return FoundAttempts(terms, forms, AttemptSet.of(pl.concat([empty, *rows])))


def _read_notes() -> dict[str, pl.DataFrame]:
    """The notes in force (run_id, attempt_id, value) by the language of each."""
    notes = ask("SELECT run_id, attempt_id, value FROM annotations_in_force WHERE kind = 'note'").drop_nulls()
    languages = pl.Series("language", [find_question_language(each) for each in notes["value"]], dtype=pl.String)
    return {
        str(name): of for (name,), of in notes.with_columns(languages).partition_by("language", as_dict=True).items()
    }
