"""What sentences claim: of which thing, in which unit, which value, in which words; read from the text alone.

    names = find_names(texts)                        # the things that the articles speak of
    claims = read_claims(texts, names)               # [Claim(article, text, thing, unit, value, words), ...]

Nothing is known of the brand: things are what titles name and what is written with capitals again and again; units
are signs and the words after figures; the other words tell which property is meant.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from cxlab.benchmarks.cxmarena.text import COUNTS, STOP, normal, sentences, stem, word_set

TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
# Between the capitalised words of one name; German joins its nouns with other words, which are left out.
_LINKS = word_set("de du la le les d l à of the")
_MONTHS = {
    month: number
    for names in (
        "january february march april may june july august september october november december",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "januar februar märz april mai juni juli august september oktober november dezember",
    )
    for number, month in enumerate(names.split(), start=1)
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
# "5 jours ouvrés" are counted in another unit than days, as "5 working days" are.
_FIGURE = re.compile(
    rf"(?P<day>\d{{1,2}})(?:\.|er|st|nd|rd|th)?\s(?P<month>{_MONTH})\s(?P<year>\d{{4}})"
    rf"|(?P<month2>{_MONTH})\s(?P<day2>\d{{1,2}}),?\s(?P<year2>\d{{4}})"
    r"|(?P<iso>\d{4}-\d\d-\d\d)"
    r"|(?P<hour>\d{1,2})(?:\sh\s|:)(?P<minute>\d\d)(?!\d)"
    r"|(?:(?P<before>[$€£])\s?)?(?P<number>\d+(?:[.,   ]\d{3})*(?:[.,]\d+)?)"
    r"(?:\s?(?P<after>[$€£%°])|[\s-]?(?:jours?\s(?=ouvr))?(?P<unit>[^\W\d_]+[²³]?))?",
    re.IGNORECASE,
)
# Periods, before which "two" to "twelve" are figures; elsewhere ("two things") they seldom are, and "one" nowhere.
PERIODS = (
    r"(?:working |business )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)"
    r"|secondes?|heures?|jours?|semaines?|mois|ans?|années?|Sekunden?|Minuten?|Stunden?|(?:Werk|Arbeits)?[Tt]age?n?|Wochen?|Monaten?|Jahren?"
)
_COUNTED = re.compile(
    rf"\b({'|'.join(word for word in COUNTS if word != 'one')})(?=[\s-](?:{PERIODS})\b)", re.IGNORECASE
)
_CLAUSE = re.compile(r"\s*[,;:–—.!]\s+|\s*[.!]$")
WORDED = "words"
# Stands for the thing's name in a clause; and most words of a value that is words.
_NAME, _TAIL = "<name>", 6
_COUNT = re.compile(r"(\d+)[\s\u00a0]([^\W\d_]+)")
_ENDINGS = ("en", "es", "er", "e", "n", "s")
# An article names its subject in its title; a sentence without a name speaks of that.
_HEAD = re.compile(r"^[^:–—|(]{2,60}(?=\s*[:–—|(])")
_LONGEST = 7
# Most generations of one product; a word after more numbers than that is a unit.
_SERIES = 5
# A run that is this rare beside the one it begins with is that one and another word.
_CHANCE = 0.15
# What may stand between the words of one name: a blank of any kind, or an apostrophe.
_JOINS = (" ", "\u00a0", "\u202f", "'", "’")
# Words that begin or break a run of capitals; "plus" is one of those that products bear.
_PLAIN = STOP - {"plus"}


class Claim(NamedTuple):
    """One sentence's value of something; `named` says whether the sentence itself names the thing."""

    article: str
    text: str
    thing: str
    unit: str
    value: str
    words: tuple[str, ...]
    named: bool


class Names(NamedTuple):
    """Known names: first word → the names that begin with it, longest first, as tuples of words."""

    by_first: dict[str, list[tuple[str, ...]]]

    def within(self, tokens: list[str]) -> list[tuple[int, int]]:
        """(from, to) of the names in a list of words, the longest at each place."""
        found, place = [], 0
        while place < len(tokens):
            for name in self.by_first.get(tokens[place], ()):
                if tuple(tokens[place : place + len(name)]) == name:
                    found.append((place, place + len(name)))
                    place += len(name) - 1
                    break
            place += 1
        return found


def find_names(texts: Mapping[str, str], least: int = 2, opening: bool = False) -> Names:
    """Titles' subjects, and runs of capitalised words that occur in `least` sentences: within them, and where there
    is little text to go by also at their `opening`.
    """
    found: set[tuple[str, ...]] = set()
    runs: Counter[tuple[str, ...]] = Counter()
    after: dict[str, set[str]] = {}
    for text in texts.values():
        found.update(_of_title(title(text)))
        for number, word in _COUNT.findall(text):
            after.setdefault(word, set()).add(number)
        for sentence in set(sentences(text)):
            runs.update(_runs(sentence, opening))
    # "Atlas 2" is a name and "38 Stunden" is none: a unit follows many numbers, a part of a name few; in a pair of
    # texts that are compared with each other already a second number tells.
    units = {word for word, numbers in after.items() if len(numbers) > (1 if opening else _SERIES)}
    whole: Counter[tuple[str, ...]] = Counter()
    for run, times in runs.items():
        cut = tuple(itertools.takewhile(lambda word: word not in units, run))
        whole[cut[:-1] if cut and cut[-1].isdigit() else cut] += times
    for run, times in whole.items():
        # German writes every noun with a capital: what now and then follows a name is not part of it.
        chance = any(times < _CHANCE * whole[run[:part]] for part in range(2, len(run)))
        if times >= least and len(run) > 1 and not chance:
            found.add(run)
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for name in sorted(found, key=lambda each: (-len(each), each)):
        by_first.setdefault(name[0], []).append(name)
    return Names(by_first)


def title(text: str) -> str:
    """The first line."""
    return text.lstrip().partition("\n")[0]


def _of_title(line: str) -> Iterable[tuple[str, ...]]:
    head = _HEAD.match(line)
    if head:
        name = tuple(TOKEN.findall(head[0]))
        if 0 < len(name) <= _LONGEST:
            yield name
        return
    yield from _runs(line, starts=True)[:1]


def _runs(sentence: str, starts: bool = False) -> list[tuple[str, ...]]:
    """Stretches of words with capitals, numbers and links within; the first word of a sentence is no sign."""
    found: list[tuple[str, ...]] = []
    run: list[str] = []
    end, counted = 0, False
    for place, match in enumerate(TOKEN.finditer(sentence)):
        word, between = match[0], sentence[end : match.start()]
        end = match.end()
        if run and between not in _JOINS:
            found.append(tuple(run))
            run = []
        # Directly after a number stands a unit, which German writes with a capital, too.
        unit, counted = counted and not run, word.isdigit()
        capital = word[0].isupper() and word.lower() not in _PLAIN and (place > 0 or starts) and not unit
        if capital or (run and ((word.isdigit() and len(word) < 3) or word in _LINKS)):
            run.append(word)
        elif run:
            found.append(tuple(run))
            run = []
    found.append(tuple(run))
    return [cut for each in found if (cut := _trim(each))]


def _trim(run: tuple[str, ...]) -> tuple[str, ...]:
    while run and run[-1] in _LINKS:
        run = run[:-1]
    return run if len(run) <= _LONGEST else ()


def read_claims(texts: Mapping[str, str], names: Names) -> list[Claim]:
    """The claims of all articles; sentences that name several things claim the value of the nearest."""
    found: list[Claim] = []
    for article, text in texts.items():
        about = next(iter(_of_title(title(text))), ())
        for sentence in dict.fromkeys(sentences(text)):
            found += claims_of(article, sentence, names, about)
    return found


def claims_of(article: str, sentence: str, names: Names, about: tuple[str, ...] = ()) -> list[Claim]:
    """The claims of one sentence."""
    counted = spell_counts(sentence)
    if not any(map(str.isdigit, counted)):
        return []
    marks = list(TOKEN.finditer(counted))
    tokens = [mark[0] for mark in marks]
    spans = [(marks[a].start(), marks[b - 1].end(), tokens[a:b]) for a, b in names.within(tokens)]
    figures = [
        (start, end, unit, value)
        for start, end, unit, value in find_figures(counted)
        if not any(a <= start < b for a, b, _ in spans)
    ]
    if not figures or (not spans and not about):
        return []
    taken = [(a, b) for a, b, _ in spans] + [(a, b) for a, b, _, _ in figures]
    words = tuple(
        dict.fromkeys(
            stem(word)
            for mark in marks
            if (word := mark[0].lower()) not in STOP
            and len(word) > 1
            and not any(a <= mark.start() < b for a, b in taken)
        )
    )
    found = []
    for start, end, unit, value in figures:
        near = min(spans, key=lambda s: min(abs(start - s[1]), abs(s[0] - end)), default=None)
        if near is None and not unit:
            continue  # a bare number in a sentence without a name may count anything
        thing = " ".join(near[2] if near else about)
        found.append(Claim(article, sentence, thing, unit, value, words, near is not None))
    return found


def spell_counts(sentence: str) -> str:
    """The sentence with its counts of periods as figures: "two days" becomes "2 days"."""
    return _COUNTED.sub(lambda match: COUNTS[match[0].lower()], sentence)


@functools.lru_cache(maxsize=50_000)
def find_figures(text: str) -> tuple[tuple[int, int, str, str], ...]:
    """(from, to, unit, value) of each figure; dates and times have units of their own."""
    found = []
    for match in _FIGURE.finditer(text):
        start = match.start("number") if match["number"] else match.start()
        if start and (text[start - 1].isalpha() or text[start - 1] in "-_"):
            continue  # part of a name, such as X-200
        if match["iso"]:
            found.append((match.start(), match.end(), "date", match["iso"]))
        elif match["month"] or match["month2"]:
            day, month, year = (match[k] or match[f"{k}2"] for k in ("day", "month", "year"))
            value = f"{year}-{_MONTHS[month.lower()]:02d}-{int(day):02d}"
            found.append((match.start(), match.end(), "date", value))
        elif match["hour"]:
            found.append((match.start(), match.end(), "time", f"{int(match['hour']):02d}:{match['minute']}"))
        else:
            sign = match["before"] or match["after"]
            word = (match["unit"] or "").lower()
            end = match.end() if sign or word not in STOP else match.end("number")
            found.append((start, end, sign or unit_of(word), normal(match["number"])))
    return tuple(found)


@functools.lru_cache(maxsize=5_000)
def unit_of(word: str) -> str:
    """One form for "Tag", "Tage" and "Tagen"; empty for words such as "and"."""
    if word in STOP:
        return ""
    shorter = True
    while shorter:
        shorter = False
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word, shorter = word[: -len(ending)], True
                break
    return word


def worded_claims(texts: Mapping[str, str], names: Names, claimed: Iterable[str] = ()) -> list[Claim]:
    """Claims whose value is words, such as "The case of Aero is made of -> walnut": of unit WORDED, the value is the
    end of a clause and `words` holds the one beginning that it completes.

    Where the value begins is told by variety: after the beginning, different things go on differently.
    """
    seen = set(claimed)
    clauses: list[tuple[str, str, str, tuple[str, ...]]] = []
    things: dict[tuple[str, ...], set[str]] = {}
    follow: dict[tuple[str, ...], set[str]] = {}
    ends: dict[tuple[str, ...], set[str]] = {}
    for article, text in texts.items():
        for sentence, tokens, (start, end) in _clauses_of_one_name(text, names, seen):
            if not 3 <= len(tokens) <= 24:
                continue
            masked = (*(t.lower() for t in tokens[:start]), _NAME, *(t.lower() for t in tokens[end:]))
            thing = " ".join(tokens[start:end])
            clauses.append((article, sentence, thing, masked))
            for cut in range(start + 1, len(masked)):
                things.setdefault(masked[:cut], set()).add(thing)
                follow.setdefault(masked[:cut], set()).add(masked[cut])
                if len(masked) - cut <= _TAIL:
                    ends.setdefault(masked[cut:], set()).add(thing)
    found = []
    for article, sentence, thing, masked in clauses:
        cuts = [
            cut
            for cut in range(max(masked.index(_NAME) + 1, 3, len(masked) - _TAIL), len(masked))
            if len(things[masked[:cut]]) >= 4 and len(follow[masked[:cut]]) >= 3 and len(ends[masked[cut:]]) >= 2
        ]
        if cuts:
            cut = max(cuts, key=lambda at: len(follow[masked[:at]]))
            found.append(
                Claim(article, sentence, thing, WORDED, " ".join(masked[cut:]), (" ".join(masked[:cut]),), True)
            )
    return found


@functools.lru_cache(maxsize=5_000)
def contrasts(first: str, second: str) -> tuple[tuple[Claim, Claim], ...]:
    """Claims of two texts that give one thing different values of one unit, figures before words.

    With two texts alone nothing tells where a value of words begins; the last words of a clause stand for it.
    Kept, because every model that is run is asked of the same pairs.
    """
    texts = {"1": first, "2": second}
    names = find_names(texts, least=1, opening=True)
    claims = [claim for claim in read_claims(texts, names) if claim.named]
    seen = {claim.text for claim in claims}
    claims += [claim for article, text in texts.items() for claim in ending_claims(article, text, names, seen)]
    mine: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        if claim.article == "1":
            mine.setdefault((claim.thing, claim.unit), []).append(claim)
    return tuple(
        (one, other)
        for other in claims
        if other.article == "2"
        for one in mine.get((other.thing, other.unit), ())
        if not ({*one.value.split()} & {*other.value.split()})
    )


def ending_claims(article: str, text: str, names: Names, seen: Container[str]) -> Iterable[Claim]:
    """Claims in words where nothing was learned: the last two words of a clause with one name stand for the value."""
    for sentence, tokens, (start, end) in _clauses_of_one_name(text, names, seen):
        rest = [t.lower() for t in tokens[end:] if t.lower() not in STOP]
        if len(rest) > 1:
            thing = " ".join(tokens[start:end])
            yield Claim(article, sentence, thing, WORDED, " ".join(rest[-2:]), tuple(rest[:-2]), True)


def _clauses_of_one_name(
    text: str, names: Names, seen: Container[str]
) -> Iterator[tuple[str, list[str], tuple[int, int]]]:
    """(sentence, words of a clause, where the one name stands in it), of sentences that ask nothing and are not
    `seen`."""
    for sentence in dict.fromkeys(sentences(text)):
        if sentence in seen or sentence.endswith("?"):
            continue
        for clause in _CLAUSE.split(sentence):
            tokens = TOKEN.findall(clause)
            spans = names.within(tokens)
            if len(spans) == 1:
                yield sentence, tokens, spans[0]
