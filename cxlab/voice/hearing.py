"""The channel itself: a text in, the heard text and every single error out."""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import random
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from cxlab.errors import BadOption
from cxlab.voice.confusion_tables import Tables, tables
from cxlab.voice.confusions import SHARE, candidates, garble, halves, pick
from cxlab.voice.words import WEIGHT, Token, cut, key, word_error_rate

# Every text is weighed as if it went on with one typical word: then an utterance that is all names
# and letters is hit harder than one of plain words, and a corpus of sentences still keeps the stated rate.
CONTEXT_WORDS = 1
TYPICAL_WEIGHT = 1.15
# Insert, drop, split or merge; the rest are substitutions. A weak word is one that is hardly said ("of").
SHAPES = {"word": (0.13, 0.08, 0.08), "weak": (0.10, 0.30, 0.0), "entity": (0.05, 0.05, 0.0)}
# Of insertions beside a short word the share that says it twice.
REPEATED = 0.15


class WordError(NamedTuple):
    """One error; `position` counts the words of the said text from 0, `said` or `heard` may be empty."""

    kind: str
    said: str
    heard: str
    position: int


class Piece(NamedTuple):
    """A stretch of the text: what was said, what was heard, and the kind of error or None."""

    said: str
    heard: str
    kind: str | None


@dataclass(frozen=True)
class HeardText:
    """What was made of a text; the pieces joined give `said` and `text`."""

    text: str
    errors: list[WordError]
    said: str
    pieces: tuple[Piece, ...] = field(repr=False)

    @property
    def wer(self) -> float:
        """The word error rate that came out, measured on the two texts."""
        return word_error_rate(self.said, self.text)


def channel(text: str, wer: float, seed: int, language: str = "en") -> str:
    """The text as a recogniser with that word error rate hears it; the text itself at 0.

    See `hear`.
    """
    return hear(text, wer, seed, language).text


def hear(text: str, wer: float, seed: int, language: str = "en") -> HeardText:
    """The heard text and its errors, the same for the same text, rate, seed and language.

    `wer` is errors per word, 0 to 1, on normalised words (`cxlab.voice.words`). The number of errors is
    the stated share of the text's words, rounded up or down by chance; over a corpus of sentences the
    measured rate lies within 10 % of the stated one from .02 to .6. Names, e-mail addresses, letters
    and codes are hit about three times as often as other words. Raises BadOption or UnknownName.
    """
    table = tables(language)
    if isinstance(wer, bool) or not isinstance(wer, int | float) or not 0 <= wer <= 1:
        raise BadOption(f"word error rate {wer!r}; give a number from 0 to 1, such as 0.15")
    tokens, rest = cut(text, table)
    if not tokens or wer == 0:
        return HeardText(text, [], text, (Piece(text, text, None),) if text else ())
    digest = hashlib.blake2b(f"{seed}\0{language}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    utterance = _Utterance(tokens, table, random.Random(int.from_bytes(digest, "little")))
    utterance.add_errors(wer)
    return utterance.finish(text, rest)


def _target(tokens: list[Token], wer: float) -> float:
    weights = sum(WEIGHT[token.kind] for token in tokens)
    rate = wer * (len(tokens) + CONTEXT_WORDS) / (weights + CONTEXT_WORDS * TYPICAL_WEIGHT)
    return min(rate * weights, max(wer, 0.97) * len(tokens))


class _Utterance:
    """A text in the making. Slots alternate: 2i is the gap before word i, 2i+1 the word itself."""

    def __init__(self, tokens: list[Token], table: Tables, rng: random.Random) -> None:
        self.tokens, self.table, self.rng = tokens, table, rng
        size = 2 * len(tokens)
        self.edited = [False] * size
        self.said = [0, 1] * len(tokens)
        self.heard = [0, 1] * len(tokens)
        self.text = [""] * size
        self.kind = [""] * size
        self.errors: dict[int, WordError] = {}
        self.full, self.left = False, len(tokens)

    def add_errors(self, wer: float) -> None:
        """Errors at words drawn by weight, until as many word errors are made as the rate asks for."""
        # All draws come first and in order, so that a higher rate goes on where a lower one stopped.
        budget = math.floor(_target(self.tokens, wer) + self.rng.random())
        draws = [(self.rng.random(), self.rng.random(), self.rng.random()) for _ in self.tokens]
        order = sorted(range(len(self.tokens)), key=lambda i: -math.log(1 - draws[i][0]) / WEIGHT[self.tokens[i].kind])
        spent = 0
        for i in order:
            if spent >= budget or self.full:
                break
            if not self.edited[2 * i + 1]:
                spent += self._err(i, draws[i][1], random.Random(int(draws[i][2] * 2**48)), budget - spent)

    def _err(self, i: int, shape: float, rng: random.Random, budget: int) -> int:
        """Make one error at word i that costs at most `budget`, and say what it costs."""
        token = self.tokens[i]
        weak = token.core.lower() in self.table.weak
        insert, drop, seam = SHAPES["entity" if token.kind != "word" else "weak" if weak else "word"]
        if shape < insert:
            return self._insert(i, rng)
        # A text of one word that is dropped would be silence, which is no error of hearing.
        if shape < insert + drop and self.left > 1:
            self.left -= 1
            return self._put(i, "drop", "")
        if shape < insert + drop + seam:
            # What no longer fits gives way to a smaller error, and the text is full: going on to another
            # word would hit one that a higher rate may spare.
            self.full = budget < 2
            cost = 0 if self.full else self._merge(i) or self._split(i)
            if cost:
                return cost
        return self._substitute(i, rng, budget)

    def _run(self, slot: int, step: int) -> tuple[int, int]:
        """Words said and heard in the edited words beside a slot, up to the first that was heard right."""
        said = heard = 0
        slot += step
        while 0 <= slot < len(self.edited) and (self.edited[slot] or slot % 2 == 0):
            said, heard = said + self.said[slot] * self.edited[slot], heard + self.heard[slot] * self.edited[slot]
            slot += step
        return said, heard

    def _mark(self, slot: int, kind: str, text: str) -> int:
        """Edit a slot; the cost is what the shortest alignment of its run grows by.

        Within a run a word dropped and one inserted are one substitution, so runs are counted whole.
        """
        before, after = self._run(slot, -1), self._run(slot, 1)
        self.edited[slot], self.kind[slot], self.text[slot] = True, kind, text
        self.heard[slot] = len(text.split())
        said, heard = self.said[slot] + before[0] + after[0], self.heard[slot] + before[1] + after[1]
        return max(said, heard) - max(before) - max(after)

    def _put(self, i: int, kind: str, text: str) -> int:
        self.errors[i] = WordError(kind, self.tokens[i].core, text, i)
        return self._mark(2 * i + 1, kind, text)

    def _insert(self, i: int, rng: random.Random) -> int:
        core = self.tokens[i].core
        repeat = len(core) <= 4 and rng.random() < REPEATED
        said = core.lower() if repeat and core != "I" else core if repeat else pick(self.table.fillers, rng)
        self.errors[i] = WordError("repeat" if repeat else "filler", "", said, i)
        return self._mark(2 * i, self.errors[i].kind, said)

    def _merge(self, i: int) -> int:
        if i + 1 >= len(self.tokens):
            return 0
        one, two = self.tokens[i], self.tokens[i + 1]
        joined = self.table.joins.get(f"{one.core.lower()} {two.core.lower()}")
        free = not self.edited[2 * i + 2] and not self.edited[2 * i + 3]
        if joined is None or not free or one.tail or two.lead or two.space != " ":
            return 0
        cost = self._put(i, "merge", _as(one.core, joined[0]))
        cost += self._mark(2 * i + 3, "merge", "")
        self.errors[i] = WordError("merge", f"{one.core} {two.core}", self.text[2 * i + 1], i)
        return cost

    def _split(self, i: int) -> int:
        core = self.tokens[i].core
        two = halves(core.lower(), self.table.language)
        return self._put(i, "split", _as(core, two)) if two else 0

    def _substitute(self, i: int, rng: random.Random, budget: int) -> int:
        token = self.tokens[i]
        for _ in range(6):
            kind, heard = _mishear(token, self.table, rng)
            if not heard and self.left > 1:
                # A word that sounds like no other is not written at all: a recogniser writes words, not noises.
                self.left -= 1
                return self._put(i, "drop", "")
            heard = _as(token.core, heard) if kind not in ("letter", "email") else heard
            if key(heard) and key(heard) != key(token.core):
                if len(heard.split()) <= max(1, budget):
                    return self._put(i, kind, heard)
                self.full = True
        return self._put(i, "garbled", _as(token.core, _last_resort(token.core, self.table)))

    def finish(self, said: str, rest: str) -> HeardText:
        pieces: list[Piece] = []
        tail = ""
        for i, token in enumerate(self.tokens):
            word, space = 2 * i + 1, token.space
            dropped = self.edited[word] and not self.text[word]
            if dropped and i and not token.lead and space == " ":
                # The space before a dropped word goes with it, and a second sign in a row too.
                gone = token.tail if tail else ""
                _add(pieces, self.kind[2 * i], "", f" {self.text[2 * i]}" if self.edited[2 * i] else "")
                _add(pieces, self.kind[word], space + token.core + gone, "")
                _add(pieces, None, token.tail[len(gone) :], token.tail[len(gone) :])
            else:
                _add(pieces, None, space, space)
                if self.edited[2 * i]:
                    _add(pieces, self.kind[2 * i], "", self.text[2 * i] + " ")
                _add(pieces, None, token.lead, token.lead)
                if self.edited[word]:
                    _add(pieces, self.kind[word], token.core, self.text[word])
                else:
                    _add(pieces, None, token.core, token.core)
                _add(pieces, None, token.tail, token.tail)
            tail = token.tail or (tail if dropped else "")
        _add(pieces, None, rest, rest)
        if self.edited[0] or (self.edited[1] and not self.text[1]):
            _begin(pieces, said)
        heard = "".join(piece.heard for piece in pieces)
        errors = [self.errors[i] for i in sorted(self.errors)]
        return HeardText(heard, errors, said, tuple(pieces))


def _add(pieces: list[Piece], kind: str | None, said: str, heard: str) -> None:
    if not said and not heard:
        return
    if kind is None and pieces and pieces[-1].kind is None:
        pieces[-1] = Piece(pieces[-1].said + said, pieces[-1].heard + heard, None)
    else:
        pieces.append(Piece(said, heard, kind or None))


def _begin(pieces: list[Piece], said: str) -> None:
    """Write what is heard first as a beginning: without the space of a lost word, with the capital of the said one."""
    place = next((place for place, piece in enumerate(pieces) if piece.heard.strip()), None)
    if place is None:
        return
    pieces[:place] = [piece._replace(heard="") for piece in pieces[:place]]
    begins = pieces[place].heard.lstrip()
    # Of some letters the capital is two, or another letter's.
    capital = said.lstrip()[:1].isupper() and begins[:1].upper().lower() == begins[:1].lower()
    pieces[place] = pieces[place]._replace(heard=begins[:1].upper() + begins[1:] if capital else begins)


def _as(said: str, heard: str) -> str:
    """The heard word in the capitals of the said one; "I" has its own for being no other word."""
    if said == "I":
        return heard
    if len(said) > 1 and said.isupper():
        return heard.upper()
    return heard[:1].upper() + heard[1:] if said[:1].isupper() else heard


def _mishear(token: Token, table: Tables, rng: random.Random) -> tuple[str, str]:
    """(kind of error, what is heard) for a word by its class."""
    core, low = token.core, token.core.lower()
    if token.kind == "email":
        return "email", _mishear_address(core, table, rng)
    if token.kind in ("letter", "code"):
        return "letter", _mishear_signs(core, table, rng)
    if token.kind == "number":
        if low in table.numbers:
            return "number", pick(table.numbers[low], rng)
        return "number", _mishear_signs(core, table, rng)
    if token.kind == "name":
        stem, ending = (low[:-2], low[-2:]) if low.endswith(("'s", "’s")) else (low, "")
        # "Network" has its capital from a screen; it is a word that recognisers know, and what is heard for it is one.
        if stem in table.names or (stem not in table.words and stem not in table.near):
            return "name", _mishear_name(stem, table, rng) + ending
    # Two words for one are left to splits, which have their own share.
    options = _single(low, table.language)
    at = rng.random() * sum(SHARE[kind] for kind, _ in options)
    for kind, found in options:
        at -= SHARE[kind]
        if at < 0:
            return kind, pick(found, rng)
    return "drop", ""


@functools.lru_cache(maxsize=20_000)
def _single(word: str, language: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = ((kind, tuple(o for o in options if " " not in o)) for kind, options in candidates(word, language))
    return tuple((kind, options) for kind, options in found if options)


def _mishear_name(name: str, table: Tables, rng: random.Random) -> str:
    found = dict(candidates(name, table.language)).get("similar", ())
    known = table.names.get(name, ())
    if known and rng.random() < 0.7:
        return pick(known, rng)
    if found and rng.random() < 0.6:
        return pick(found, rng)
    return garble(name, table, rng)


def _mishear_signs(core: str, table: Tables, rng: random.Random) -> str:
    """Letters and digits taken for others, a doubled one heard once, or one swallowed."""
    signs = list(core)
    spoken = [i for i, char in enumerate(signs) if char.isalnum()]
    amount = "".join(signs[i] for i in spoken)
    if amount in table.numbers and rng.random() < 0.5:
        return (
            core.replace(amount, pick(table.numbers[amount], rng))
            if amount in core
            else pick(table.numbers[amount], rng)
        )
    doubled = [i for i, j in itertools.pairwise(spoken) if signs[i] == signs[j]]
    if doubled and rng.random() < 0.3:
        signs[pick(doubled, rng)] = ""
        return "".join(signs)
    if len(spoken) > 5 and rng.random() < 0.2:
        signs[pick(spoken, rng)] = ""
        return "".join(signs)
    for _ in range(1 + (rng.random() < len(spoken) / 20)):
        at = pick(spoken, rng)
        low = signs[at].lower()
        others = table.digits.get(low) or table.letters.get(low)
        if others:
            other = pick(others, rng)
            signs[at] = other.upper() if signs[at].isupper() else other
        elif not core.isalpha():
            signs[at] = ""
    return "".join(signs)


def _mishear_address(core: str, table: Tables, rng: random.Random) -> str:
    """An address with a sign said out, or with one of its parts misheard."""
    sort = rng.random()
    if sort < 0.15 and "@" in core:
        return core.replace("@", f" {table.at} ")
    if sort < 0.3 and "." in core.split("@")[0]:
        return core.replace(".", f" {table.dot} ", 1)
    if sort < 0.4:
        return core.replace(".", table.dot, 1)
    if sort < 0.45 and "@" in core:
        return core.replace("@", table.at)
    spans = [found.span() for found in re.finditer(r"[^\W\d_]+|\d+", core)]
    # The last part is the top-level domain, which everybody hears right.
    start, end = pick(spans[:-1] or spans, rng)
    part = core[start:end]
    wrong = _mishear_signs(part, table, rng) if part.isdigit() or len(part) < 3 else _mishear_name(part, table, rng)
    return core[:start] + wrong.replace(" ", "") + core[end:]


def _last_resort(core: str, table: Tables) -> str:
    """A word that nothing was found for loses or doubles its end, or is heard as the first filler."""
    low = core.lower()
    if len(key(core)) > 2:
        return low[:-1] if key(low[:-1]) != key(low) else low + low[-1]
    return next(filler for filler in table.fillers if key(filler) != key(core))
