"""What was said in the dialogues of runs: which of them hold some words, and in which messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from cxlab.benchmarks.cdr.retrievers.question_words import carries_meaning
from cxlab.read import View
from cxlab.read.query import Params, ask, where
from cxlab.ui.address import cached
from cxlab.word_forms import Sought, Term, find_language, find_question_language, find_starts, read_terms, stem

MOST_TERMS = 8
# Of so many first messages a run's language is told.
_READ = 60
# Of so many messages the words are read that start as a word that is looked for does.
_READ_FOR_FORMS = 20_000
# A word in any script, as the engine has no \w for letters beyond ASCII.
_PARAMETER = re.compile(r"\$(\w+)")
_LETTERS = r"\p{L}\p{N}_"


@dataclass(frozen=True)
class FoundDialogues:
    """`messages` in `dialogues` hold the words: `held` of them in one message, the most that any does. `rows`: a page
    of the dialogues (run_id, attempt_id, found, benchmark, model, task, verdict), those that come first; `said`: the
    first such messages of each (run_id, attempt_id, turn, role, text). `counts`: term → messages that hold it (of those
    that hold all, where any does); `forms`:
    word → its forms that stand in them, commonest first, for each that is not looked for as it stands; `sought`: all
    that is marked."""

    messages: int = 0
    dialogues: int = 0
    held: int = 0
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)
    said: pl.DataFrame = field(default_factory=pl.DataFrame)
    counts: dict[str, int] = field(default_factory=dict)
    forms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sought: Sought = Sought()


def has_dialogues() -> bool:
    """Whether any run has messages."""
    return not ask("SELECT 1 FROM messages LIMIT 1").is_empty()


def split_terms(text: str) -> tuple[Term, ...]:
    """Words as they were typed, without those that any message holds, unless there are no others; what stands in double
    quotes is one and always counts."""
    told, language = read_terms(text), find_question_language(text)
    kept = tuple(each for each in told if each.exact or carries_meaning(each.text, language))
    return (kept or told)[:MOST_TERMS]


def left_out(text: str) -> tuple[str, ...]:
    """The words that `split_terms` leaves out, as they carry nothing or are too many."""
    kept = split_terms(text)
    return tuple(each.text for each in read_terms(text) if each not in kept)


def run_languages() -> dict[str, str]:
    """Run → the language of its messages, "" for one whose forms are not known."""
    rows = ask(f"SELECT run_id, list(text)[:{_READ}] AS texts FROM messages WHERE seq IN (1, 2) GROUP BY run_id")
    return {run: find_language(texts) for run, texts in rows.iter_rows()}


def find_dialogues(
    view: View, terms: Sequence[Term], roles: Sequence[str], size: int, skipped: int, shown: int = 3, fewer: bool = True
) -> FoundDialogues:
    """The dialogues under the view in which one message holds all `terms`, or where none does as many of them as any,
    those with the rarest first, unless `fewer` are not wanted; of messages of `roles` alone where any is named.

    A word is found in all its forms, first where it stands as it was typed. `size` of the dialogues after those that
    are `skipped`, of each so many messages as are `shown`.
    """
    holds = {each.text: f"held_{place}" for place, each in enumerate(terms)}
    hits, forms = _find_hits(view, terms, roles)
    if fewer and len(terms) > 1 and hits.filter(pl.all_horizontal(*holds.values())).is_empty():
        hits, forms = _find_hits(view, terms, roles, any_of=True)
    counts = {word: int(hits[column].sum()) for word, column in holds.items()}
    sought = Sought(
        frozenset(form.casefold() for each in forms.values() for form in each),
        tuple(each.text for each in terms if each.text not in forms),
    )
    hits = hits.with_columns(held=pl.sum_horizontal(*holds.values())).filter(pl.col("held") > 0)
    if hits.is_empty():
        return FoundDialogues(counts=counts, forms=forms, sought=sought)
    held = int(hits.select(pl.col("held").max()).item())
    # Where none holds all, a word that few messages hold tells more.
    told = {holds[word]: 1 / (1 + n) if held < len(terms) else 0.0 for word, n in counts.items()}
    weight = pl.sum_horizontal(*(pl.col(column) * worth for column, worth in told.items()))
    typed = pl.sum_horizontal(f"typed_{place}" for place in range(len(terms)))
    hits = hits.filter(pl.col("held") == held).with_columns(weight=weight, typed=typed)
    talks = hits.group_by("run_id", "attempt_id").agg(pl.len().alias("found"), pl.col("weight", "typed").max())
    order, falling = ["weight", "typed", "found", "run_id", "attempt_id"], [True, True, True, True, False]
    page = talks.sort(order, descending=falling).slice(skipped, size).with_row_index("place")
    first = hits.join(page.select("run_id", "attempt_id"), on=["run_id", "attempt_id"], how="semi")
    first = first.sort("weight", "typed", "seq", descending=[True, True, False])
    first = first.group_by("run_id", "attempt_id").head(shown)
    rows = ask(
        """SELECT p.run_id, p.attempt_id, p.found, a.benchmark, a.model, a.task, a.verdict
        FROM page p JOIN attempts a USING (run_id, attempt_id) ORDER BY p.place""",
        beside={"page": page.to_arrow()},
    )
    said = ask(
        """SELECT run_id, attempt_id, turn, role, text FROM messages SEMI JOIN hits USING (run_id, attempt_id, seq)
        ORDER BY run_id, attempt_id, seq""",
        beside={"hits": first.select("run_id", "attempt_id", "seq").to_arrow()},
    )
    return FoundDialogues(hits.height, talks.height, held, rows, said, counts, forms, sought)


def _find_hits(
    view: View, terms: Sequence[Term], roles: Sequence[str], any_of: bool = False
) -> tuple[pl.DataFrame, dict[str, tuple[str, ...]]]:
    """The messages that may hold all of the terms, or `any_of` them (run_id, attempt_id, seq, typed_N, whether the Nth
    stands in them as it was typed, and held_N, whether any of its forms does), and for each word its forms, commonest
    first; of a word that stands in none by itself no forms: it is looked for within other words, too."""
    languages = cached(run_languages)
    params: Params = {f"term_{place}": term.text for place, term in enumerate(terms)}
    columns = {f"typed_{place}": f"contains(low, lower($term_{place}))" for place in range(len(terms))}
    near = list(columns.values())
    for place, term in enumerate(terms):
        starts = sorted({s for each in {*languages.values()} for s in find_starts(term.text.casefold(), each)})
        if term.exact or not starts:
            continue
        params |= {f"start_{place}_{number}": start for number, start in enumerate(starts)}
        near[place] = " OR ".join(f"contains(low, $start_{place}_{number})" for number in range(len(starts)))
        params[f"words_{place}"] = f"(?:^|[^{_LETTERS}])((?:{'|'.join(map(re.escape, starts))})[{_LETTERS}]*)"
        columns[f"words_{place}"] = f"regexp_extract_all(low, $words_{place}, 1)"
    held = (" OR " if any_of else " AND ").join(f"({each})" for each in near)
    hits = _ask_hits(view, roles, columns, held, params, _READ_FOR_FORMS)
    many = hits.height == _READ_FOR_FORMS
    forms: dict[str, tuple[str, ...]] = {}
    for place, term in enumerate(terms):
        if f"words_{place}" in columns:
            hits, found = _join_forms(hits, term.text, place, languages)
            forms |= {term.text: found} if found else {}
    if many:
        # More than were read for their words: all of them by the forms that these have.
        for place, term in enumerate(terms):
            columns.pop(f"words_{place}", None)
            if term.text in forms:
                params[f"words_{place}"] = f"(?:^|[^{_LETTERS}])(?:{'|'.join(forms[term.text])})(?:$|[^{_LETTERS}])"
                columns[f"held_{place}"] = f"regexp_matches(low, $words_{place})"
        hits = _ask_hits(view, roles, columns, held, params)
    as_typed = {f"held_{place}": pl.col(f"typed_{place}") for place in range(len(terms))}
    return hits.with_columns(**{held: typed for held, typed in as_typed.items() if held not in hits.columns}), forms


def _ask_hits(
    view: View, roles: Sequence[str], columns: Mapping[str, str], held: str, params: Params, most: int = 0
) -> pl.DataFrame:
    condition, narrowed = where(view, "messages", "m.")
    spoken, of_roles = _name_roles(roles)
    told = "".join(f", {sql} AS {name}" for name, sql in columns.items())
    sql = f"""SELECT run_id, attempt_id, seq{told} FROM (
            SELECT m.run_id, m.attempt_id, m.seq, m.role, lower(m.text) AS low FROM messages m WHERE {condition}
        ) WHERE {spoken} AND ({held}){f" LIMIT {most}" if most else ""}"""
    named = {*_PARAMETER.findall(sql)}
    return ask(sql, {name: value for name, value in (narrowed | of_roles | params).items() if name in named})


def _join_forms(
    hits: pl.DataFrame, word: str, place: int, languages: Mapping[str, str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The messages with `held_N` for the forms of a word, by the language of their run; without it where none stands in
    any."""
    each = hits.with_row_index("row").select("row", "run_id", form=f"words_{place}").explode("form").drop_nulls("form")
    pairs = each.select("run_id", "form").unique()
    stems = {language: stem(word.casefold(), language) for language in languages.values()}
    are = [
        (run, form)
        for run, form in pairs.iter_rows()
        if stem(form.casefold(), languages.get(run, "en")) == stems.get(languages.get(run, "en"))
    ]
    held = each.join(pl.DataFrame(are, schema=pairs.schema, orient="row"), on=["run_id", "form"], how="semi")
    hits = hits.drop(f"words_{place}")
    if held.is_empty():
        return hits, ()
    common = held.group_by("form").len().sort("len", "form", descending=[True, False])["form"].to_list()
    rows = pl.Series(range(hits.height), dtype=pl.UInt32).is_in(held["row"].unique().implode())
    return hits.with_columns(rows.alias(f"held_{place}")), tuple(common)


def _name_roles(roles: Sequence[str]) -> tuple[str, Params]:
    """The condition that one of these said it, where any is named, and its parameters."""
    params: Params = {f"role_{place}": role for place, role in enumerate(roles)}
    return (f"role IN ({', '.join(f'${name}' for name in params)})" if roles else "true"), params
