"""Words that are looked for in texts: their forms by their stem ("promised" and "promise") and which of them carry
nothing, in English, French and German."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

WORD = re.compile(r"\w+")
# What ends a word in a sentence and is none of it.
_EDGES = ".,;:!?"
_TERM = re.compile(r'"([^"]+)"?|(\S+)')
_STEMMERS = {"en": "english", "fr": "french", "de": "german"}
_STOP_WORDS = {
    "en": "EN_PLUS", "fr": "FRENCH", "de": "GERMAN", "es": "SPANISH", "it": "ITALIAN", "nl": "DUTCH",
    "pt": "PORTUGUESE",
}  # fmt: skip
# Letters that a form may have where the stem has the plain one.
_ACCENTED = {"de": {"a": "ä", "o": "ö", "u": "ü"}, "fr": {"e": "éè"}}
_VOWELS = frozenset("aeiou")
# What a question says of the search itself, or of anybody and anything. Verbs of a matter ("promise", "call", "pay")
# are none of these.
_OF_THE_SEARCH = """
    find finds search look looks looking show shows example examples conversation conversations talk talks talking
    talked dialogue dialogues session sessions chat chats message messages people person persons somebody someone
    something anybody anyone anything everybody everyone everything thing things nobody say says said saying tell tells
    told telling mention mentions mentioned mentioning speak speaks speaking spoke ask asks asked asking express
    expresses expressed expressing state states stated stating describe describes described describing reflect reflects
    reflecting highlight highlights highlighting happen happens happened happening want wants wanted get gets got
    getting would could might may must shall can cannot also ever even us let one ones
"""
_IN_FRENCH = """
    cherche chercher trouve trouver montre montrer exemple exemples conversation conversations message messages client
    clients cliente clientes agent agents conseiller conseillers quelqu un quelque chose personne gens dit dire disent
    parle parler parlent mentionne mentionner demande demander demandent veut vouloir veulent peut pouvoir peuvent
    lorsque quand dont très
"""
_IN_GERMAN = """
    finde finden suche suchen zeige zeigen beispiel beispiele gespräch gespräche gesprächen nachricht nachrichten kunde
    kunden kundin kundinnen agent agenten mitarbeiter mitarbeiterin jemand etwas leute sagt sagen sagte spricht sprechen
    erwähnt erwähnen fragt fragen bittet bitten möchte möchten kann können konnte wurde wurden
"""
# Who names one of these talks of what it said.
_SIDES = ["user", "customer", "client", "caller", "assistant", "agent", "representative"]
_BARE = {
    "en": frozenset([*_OF_THE_SEARCH.split(), *_SIDES, *(f"{name}s" for name in _SIDES)]),
    "fr": frozenset(_IN_FRENCH.split()),
    "de": frozenset(_IN_GERMAN.split()),
}
# So many letters have to be alike for a start that is looked for in every text.
_LEAST = 2
# Texts and words of them that tell a language.
_READ = 20_000


class Term(NamedTuple):
    """A word or phrase that is looked for; `exact`: as it stands, also within words (in quotes, or no plain word)."""

    text: str
    exact: bool = False


@dataclass(frozen=True)
class Sought:
    """`words`: forms that are looked for as whole words, casefolded; `parts`: what is looked for wherever it stands."""

    words: frozenset[str] = frozenset()
    parts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.parts)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Where they stand, as (start, end), first to last; of two that overlap the one that starts first, then the
        longer one."""
        found = [each.span() for each in WORD.finditer(text) if each.group().casefold() in self.words]
        for part in self.parts:
            found += [each.span() for each in re.finditer(re.escape(part), text, re.IGNORECASE)]
        kept: list[tuple[int, int]] = []
        for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
            if not kept or start >= kept[-1][1]:
                kept.append((start, end))
        return kept


NOTHING = Sought()


def read_terms(text: str) -> tuple[Term, ...]:
    """The words of a search, each once, and as one what stands in double quotes."""
    found: dict[str, Term] = {}
    for quoted, word in _TERM.findall(text):
        term = " ".join((quoted or word.strip(_EDGES)).split())
        if term.strip('"'):
            exact = bool(quoted) or not term.isalpha()
            kept = found.get(term.casefold(), Term(term))
            found[term.casefold()] = Term(kept.text, exact or kept.exact)
    return tuple(found.values())


@functools.cache
def stop_words(language: str) -> frozenset[str]:
    """The words of a language that any text holds; none of one that is not known."""
    from bm25s import stopwords  # late: with what indexes, 0.4 s

    name = _STOP_WORDS.get(language)
    listed = getattr(stopwords, f"STOPWORDS_{name}") if name else ()
    return frozenset(piece for word in listed for piece in split(word))


def carries_meaning(word: str, language: str = "en") -> bool:
    """Whether a word tells what is talked of in a question of that language; what has no letters and no digits is taken
    as it is."""
    pieces = split(word)
    empty = _BARE.get(language, frozenset()) | stop_words(language)
    return not pieces or any(piece not in empty for piece in pieces)


def split(text: str) -> list[str]:
    """The words of a text, casefolded."""
    return WORD.findall(text.casefold())


def find_language(texts: Iterable[str]) -> str:
    """The language whose stop words most of the texts' words are: "en", "fr" or "de"; "" for another one."""
    counts = _count_stop_words(texts, tuple(_STOP_WORDS))
    best = max(counts, key=counts.__getitem__)
    return "en" if not counts[best] else best if best in _STEMMERS else ""


def find_question_language(text: str) -> str:
    """The language of a few words: "fr" or "de" where more of them are its stop words than English ones."""
    counts = _count_stop_words([text], tuple(_STEMMERS))
    return max(counts, key=counts.__getitem__)


def _count_stop_words(texts: Iterable[str], languages: Sequence[str]) -> dict[str, int]:
    words: Counter[str] = Counter()
    read = 0
    for text in texts:
        found = split(text)
        words.update(found)
        read += len(found)
        if read >= _READ:
            break
    # English stands first, and the first of equals is taken.
    return {each: sum(n for word, n in words.items() if word in stop_words(each)) for each in languages}


@functools.lru_cache(maxsize=100_000)
def stem(word: str, language: str) -> str:
    """What a casefolded word's forms have in common; the word itself in a language that is not known."""
    import Stemmer  # late: who searches needs it

    # One each time: a stemmer is for one thread, and this takes 2 microseconds.
    return str(Stemmer.Stemmer(_STEMMERS[language], 0).stemWord(word)) if language in _STEMMERS else word


def split_to_stems(text: str, language: str) -> list[str]:
    """The stems of a text's words."""
    return [stem(word, language) for word in split(text)]


def find_common_start(words: Sequence[str]) -> str:
    """The letters with which all the words start."""
    first, last = min(words), max(words)
    return first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]


def find_starts(word: str, language: str) -> tuple[str, ...]:
    """What every form of a casefolded word starts with, one of these, but for dying of die; far from each word that
    starts so is a form."""
    stemmed = stem(word, language)
    start = find_common_start([word, stemmed])
    if language in _STEMMERS:
        # hope and hoping; try and tries, but pay and pays.
        ends = start[-1:] in ("e", "i") or (start[-1:] == "y" and (language == "fr" or start[-2:-1] not in _VOWELS))
        start = start[:-1] if ends else start
        start = start if len(start) >= _LEAST else ""
    found = [start] if start else [word[:_LEAST], stemmed[:_LEAST]]
    accented = _ACCENTED.get(language, {})
    for each in list(found):
        plain = "".join(letter for letter in unicodedata.normalize("NFD", each) if not unicodedata.combining(letter))
        found.append(plain)
        found += (
            [plain[:at] + other + plain[at + 1 :] for at, one in enumerate(plain) for other in accented.get(one, "")]
            if accented
            else []
        )
    shortest = sorted(dict.fromkeys(found), key=len)
    return tuple(each for at, each in enumerate(shortest) if not any(each.startswith(other) for other in shortest[:at]))


def seek(terms: Sequence[Term], texts: Iterable[str], language: str) -> Sought:
    """The terms with the forms of each that stand in the texts; a word that stands in none by itself as a part of
    others."""
    stems = {each: stem(each.text.casefold(), language) for each in terms if not each.exact}
    words = {word for text in texts for word in split(text)} if stems else set()
    found = {word: stem(word, language) for word in words}
    said = {*found.values()}
    return Sought(
        frozenset(word for word, stemmed in found.items() if stemmed in stems.values()),
        tuple(each.text for each in terms if each.exact or stems[each] not in said),
    )
