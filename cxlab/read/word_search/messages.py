"""Words in the messages of the store: the forms of each that are said, and the SQL of the messages that hold them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl

from cxlab.read.asking import Params, ask
from cxlab.read.word_search.texts import LETTERS, Forms
from cxlab.store import catalogue, layout
from cxlab.word_forms import Term, find_common_start, find_language, find_starts, stem

# Of so many first messages a run's language is told.
_READ = 60
# Of so many messages the words are read that start as a word that is looked for does.
_READ_FOR_FORMS = 20_000
# Letters that few other words start with.
_LEAST_START = 3
_NEAR = "near_messages"
_PARAMETER = re.compile(r"\$(\w+)")


class NearMessages(NamedTuple):
    """`rows`: messages that may hold the terms (run_id, attempt_id, seq, low), up to _READ_FOR_FORMS; `forms` of each
    word in them."""

    rows: pl.DataFrame
    forms: Forms


@dataclass(frozen=True)
class MessagesSought:
    """The terms that are looked for in messages: all of them in one message, or `any_of` them. Of messages that meet
    `condition`, in SQL with its parameters for the messages `m`; of `roles` alone where any is named."""

    terms: Sequence[Term]
    condition: tuple[str, Params] = ("true", {})
    roles: Sequence[str] = ()
    any_of: bool = False

    def find_near(self) -> NearMessages:
        """The messages that may hold the terms, and the forms of each word in them by the language of each run; none
        of a word that stands in none by itself."""
        languages = run_languages()
        known = sorted({"en", *languages.values()})
        params: Params = {}
        near: list[str] = []
        begun: list[str] = []
        for place, term in enumerate(self.terms):
            starts = {s for each in known for s in find_starts(term.text.casefold(), each)} if not term.exact else ()
            parts = sorted(starts) or [term.text.lower()]
            params |= {f"near_{place}_{number}": part for number, part in enumerate(parts)}
            near.append(" OR ".join(f"contains(low, $near_{place}_{number})" for number in range(len(parts))))
            begun += starts
        params["words"] = f"(?:^|[^{LETTERS}])((?:{'|'.join(map(re.escape, begun))})[{LETTERS}]*)"
        source, narrowed = self._join(near)
        rows = _ask_named(f"SELECT * FROM ({source}) LIMIT {_READ_FOR_FORMS}", narrowed | params)
        if rows.is_empty() or not begun:
            return NearMessages(rows, {})
        said = _ask_named(
            f"""SELECT run_id, form, count(*) AS n FROM (
                SELECT run_id, unnest(regexp_extract_all(low, $words, 1)) AS form FROM {_NEAR}) GROUP BY ALL""",
            params,
            {_NEAR: rows.to_arrow()},
        )
        plain = [each.text for each in self.terms if not each.exact]
        stems = {language: [(stem(word.casefold(), language), word) for word in plain] for language in known}
        counts: dict[str, Counter[str]] = {word: Counter() for word in plain}
        for run, form, n in said.iter_rows():
            language = languages.get(run, "en")
            stemmed = stem(form.casefold(), language)
            for each, word in stems.get(language, ()):
                if each == stemmed:
                    counts[word][form] += n
        # Commonest first; of two that are as common, by their letters.
        ordered = {word: Counter(dict(sorted(of.items()))).most_common() for word, of in counts.items() if of}
        forms = {word: tuple(form for form, _ in of) for word, of in ordered.items()}
        return NearMessages(rows, forms)

    def ask(self, sql: str, forms: Forms, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of a SELECT in which {hits} are the messages that hold the terms in these forms: run_id, attempt_id,
        seq, held_N, whether the Nth stands in it, and typed_N, whether it does so as it was typed. `rows` are the
        messages that may, as `find_near` has them."""
        params: Params = {}
        held: list[str] = []
        columns: list[str] = []
        for place, term in enumerate(self.terms):
            word = term.text.lower()
            params[f"term_{place}"] = word
            has = typed = f"contains(low, $term_{place})"
            if said := forms.get(term.text):
                starts = _shorten(said)
                params |= {f"start_{place}_{number}": each for number, each in enumerate(starts)}
                params[f"forms_{place}"] = f"(?:^|[^{LETTERS}])(?:{'|'.join(map(re.escape, said))})(?:$|[^{LETTERS}])"
                # A plain text is found sooner.
                near = " OR ".join(f"contains(low, $start_{place}_{number})" for number in range(len(starts)))
                has = f"(({near}) AND regexp_matches(low, $forms_{place}))"
            held.append(has)
            # What is so of each that is selected need not be looked for again.
            told = has if self.any_of else "true"
            alone = not said or said == (word,)
            columns.append(f", {told} AS held_{place}, {told if alone else typed} AS typed_{place}")
        # Where there may be more than were read, all are read again.
        whole = rows.height < _READ_FOR_FORMS
        source, narrowed = self._join(held, _NEAR if whole else "")
        hits = f"SELECT run_id, attempt_id, seq{''.join(columns)} FROM ({source})"
        return _ask_named(sql.format(hits=hits), narrowed | params, {_NEAR: rows.to_arrow()} if whole else None)

    def _join(self, conditions: Sequence[str], of: str = "") -> tuple[str, Params]:
        """The messages that meet the conditions, with their text in small letters as `low`; out of a table of such."""
        joined = (" OR " if self.any_of else " AND ").join(f"({each})" for each in conditions)
        if of:
            return f"SELECT * FROM {of} WHERE {joined}", {}
        narrowing, params = self.condition
        roles = {f"role_{place}": role for place, role in enumerate(self.roles)}
        spoken = f"m.role IN ({', '.join(f'${name}' for name in roles)})" if roles else "true"
        source = f"""SELECT * FROM (SELECT m.run_id, m.attempt_id, m.seq, lower(m.text) AS low FROM messages m
            WHERE {spoken} AND {narrowing}) WHERE {joined}"""
        return source, params | roles


def _shorten(forms: Sequence[str]) -> tuple[str, ...]:
    """What all the forms start with, where that is long enough to tell them from others, else each of them."""
    start = find_common_start(forms)
    return (start,) if len(start) >= _LEAST_START else tuple(forms)


def _ask_named(sql: str, params: Params, beside: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """`ask` with those parameters that the SQL names."""
    named = {*_PARAMETER.findall(sql)}
    return ask(sql, {name: value for name, value in params.items() if name in named}, beside)


def run_languages() -> Mapping[str, str]:
    """Run → the language of its messages, "" for one whose forms are not known."""
    return _run_languages(str(layout.home()), catalogue.data_version())


@lru_cache(maxsize=4)
def _run_languages(home: str, version: str) -> dict[str, str]:
    rows = ask(f"SELECT run_id, list(text)[:{_READ}] AS texts FROM messages WHERE seq IN (1, 2) GROUP BY run_id")
    return {run: find_language(texts) for run, texts in rows.iter_rows()}
