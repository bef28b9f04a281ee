"""Acronym noise in three stages: candidates from the corpus, a model's choice, substitution by chance.

found = find_candidates(texts)                                   # capitalised 2- to 4-grams, counted
glossary = await choose_acronyms(model, found, brand="Lumen")    # {"Home Care Plan": "HCP"}, and failures
noisy = substitute(text, glossary.acronyms, seed=1, keep=values) # .text, .uses
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel

from cxlab.benchmarks.cxmarena.text import NEGATION, STOP
from cxlab.errors import BadOption
from cxlab.llm import Prompt, ask
from cxlab.records import Failure

if TYPE_CHECKING:
    from cxlab.llm.base import ChatModel

WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
# Between the words of one phrase stands a single blank; a stop, a comma or a line break ends it.
GAP = " "
ACRONYM = re.compile(r"^[^\W\d_]{2,5}$")
BATCH = 60
# Words that belong to no name though German writes some of them with a capital; "plus" is one that products bear.
PLAIN = ((STOP | NEGATION) - {"plus"}) | {"ihnen", "ihrem", "ihren", "ihrer", "ihres"}
# Words in capitals at the start of a sentence are a phrase by accident, unless this share of them stands elsewhere.
INSIDE = 0.1
SENTENCE_END = (".", "!", "?", ":", "•", "-", "|", ">", "]", ")", "“", "”", "»")
# What stands that often after one and the same word is a turn of phrase ("eine Stunde Suchen").
FIXED = 10


class AcronymCandidate(NamedTuple):
    """A phrase whose words all have a capital, how many times it occurs and in how many articles."""

    phrase: str
    times: int
    articles: int


class Phrase(BaseModel):
    text: str
    articles: int


class AcronymInputs(BaseModel):
    brand: str
    language: str
    phrases: tuple[Phrase, ...]

    def validate_output(self, output: AcronymReply) -> list[str]:
        known = {phrase.text for phrase in self.phrases}
        complaints = [f"{each.phrase!r} is none of the phrases" for each in output.acronyms if each.phrase not in known]
        for each in output.acronyms:
            if not ACRONYM.match(each.acronym) or not each.acronym.isupper():
                complaints.append(f"{each.acronym!r} is no acronym of two to five capitals")
            elif each.phrase in known and not _in_order(each.acronym, each.phrase):
                complaints.append(f"{each.acronym!r} is not made of the letters of {each.phrase!r}")
        return complaints


class Acronym(BaseModel):
    phrase: str
    acronym: str


class AcronymReply(BaseModel):
    acronyms: list[Acronym]


ACRONYMS = Prompt(
    "cxmarena_acronyms",
    2,
    Path(__file__).parents[1] / "prompts" / "knowledge" / "acronyms.md",
    AcronymInputs,
    AcronymReply,
    simulate="cxlab.benchmarks.cxmarena.simulated.acronym_choice:simulate",
)


class Glossary(NamedTuple):
    """Phrase → acronym, and the questions that brought no usable reply."""

    acronyms: dict[str, str]
    failures: tuple[Failure, ...]


class AcronymSubstitution(NamedTuple):
    """The text with acronyms; `uses` counts per phrase how often its acronym stands there."""

    text: str
    uses: dict[str, int]


def find_candidates(texts: Iterable[str], least: int = 3, sizes: Sequence[int] = (2, 3, 4)) -> list[AcronymCandidate]:
    """Stage one: n-grams of capitalised words in at least `least` articles, most frequent first.

    A phrase that never stands but inside one longer phrase is left out, and so is one that hardly ever stands but at
    the beginning of a sentence, or after one and the same word.
    """
    if least < 1 or not sizes or min(sizes) < 2:
        raise BadOption(f"least={least!r}, sizes={tuple(sizes)!r}; give least of 1 or more and sizes of 2 or more")
    counts: Counter[str] = Counter()
    articles: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    after: dict[str, set[str]] = {}
    for text in texts:
        seen: set[str] = set()
        for run, starts, before in _runs(text):
            for size in sizes:
                for i in range(len(run) - size + 1):
                    phrase = " ".join(run[i : i + size])
                    inside[phrase] += not (starts and i == 0)
                    counts[phrase] += 1
                    after.setdefault(phrase, set()).add(run[i - 1] if i else before)
                    seen.add(phrase)
        articles.update(seen)
    frequent = [
        phrase for phrase, number in articles.items() if number >= least and inside[phrase] > INSIDE * counts[phrase]
    ]
    frequent = [phrase for phrase in frequent if counts[phrase] < FIXED or len(after[phrase]) > 1]
    longer = {
        part
        for phrase in frequent
        for part in _parts(phrase, sizes)
        if counts[part] == counts[phrase] and part != phrase
    }
    found = [AcronymCandidate(phrase, counts[phrase], articles[phrase]) for phrase in frequent if phrase not in longer]
    return sorted(found, key=lambda each: (-each.times, each.phrase))


def _runs(text: str) -> Iterable[tuple[list[str], bool, str]]:
    """Stretches of capitalised words with single blanks between, whether each begins a sentence, the word before."""
    run: list[str] = []
    starts, end, last, before = True, 0, "", ""
    for found in WORD.finditer(text):
        word, between = found[0], text[end : found.start()]
        capital = word[0].isupper() and len(word) > 1 and not word.isupper() and word.lower() not in PLAIN
        if run and not (capital and between == GAP):
            yield run, starts, before
            run = []
        if capital:
            if not run:
                lead = text[max(0, found.start() - 40) : found.start()].rstrip(" \t\"'«„(*#")
                starts = not lead or lead.endswith((*SENTENCE_END, "\n"))
                before = last.lower()
            run.append(word)
        end, last = found.end(), word
    if run:
        yield run, starts, before


def _parts(phrase: str, sizes: Sequence[int]) -> list[str]:
    words = phrase.split()
    return [" ".join(words[i : i + n]) for n in sizes for i in range(len(words) - n + 1)]


async def choose_acronyms(
    model: ChatModel, candidates: Sequence[AcronymCandidate], *, brand: str, language: str = "English", seed: int = 0
) -> Glossary:
    """Stage two: a model keeps the phrases that people would shorten, 60 phrases a question.

    A question that fails is told in `failures`, its phrases stay as they are. Where two phrases got one
    acronym, the more frequent one keeps it.
    """
    chosen: dict[str, str] = {}
    failures: list[Failure] = []
    for at in range(0, len(candidates), BATCH):
        batch = candidates[at : at + BATCH]
        phrases = tuple(Phrase(text=each.phrase, articles=each.articles) for each in batch)
        reply = await ask(model, ACRONYMS, AcronymInputs(brand=brand, language=language, phrases=phrases), seed=seed)
        if reply.output is None:
            if reply.failure is not None:
                failures.append(reply.failure)
            continue
        said = {each.phrase: each.acronym for each in reply.output.acronyms}
        for each in batch:
            acronym = said.get(each.phrase)
            if acronym is not None and acronym not in chosen.values():
                chosen[each.phrase] = acronym
    return Glossary(chosen, tuple(failures))


def _in_order(acronym: str, phrase: str) -> bool:
    letters = iter(phrase.upper())
    return all(letter in letters for letter in acronym)


def substitute(
    text: str,
    acronyms: Mapping[str, str],
    seed: int,
    *,
    share: float = 0.5,
    spelt_out: float = 0.5,
    keep: Iterable[str] = (),
) -> AcronymSubstitution:
    """Stage three: each mention becomes the acronym with probability `share`.

    The first mention that is touched gives both, "Home Care Plan (HCP)", with probability `spelt_out`.
    Mentions inside one of the `keep` values stay, so that every value can still be found. A phrase in
    brackets beside its acronym stays too. Equal text, seed and glossary: equal result.
    """
    for name, value in (("share", share), ("spelt_out", spelt_out)):
        if not 0 <= value <= 1:
            raise BadOption(f"{name}={value!r}; give a share from 0 to 1")
    if not acronyms:
        return AcronymSubstitution(text, {})
    digest = hashlib.blake2b(f"{seed}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    rng = random.Random(int.from_bytes(digest, "little"))
    form = "|".join(re.escape(phrase) for phrase in sorted(acronyms, key=lambda each: (-len(each), each)))
    whole = [value for value in keep if value]
    fixed = [span.span() for value in whole for span in re.finditer(re.escape(value), text)]
    uses: dict[str, int] = {}
    mentioned: set[str] = set()

    def shorten(found: re.Match[str]) -> str:
        phrase, (start, end) = found[0], found.span()
        # Drawn for each mention, used or not, so that a kept value changes no other mention.
        touch, first = rng.random() < share, rng.random() < spelt_out
        held = any(one < end and start < other for one, other in fixed)
        if held or not touch or text[end : end + 2] == " (":
            return phrase
        uses[phrase] = uses.get(phrase, 0) + 1
        new = phrase not in mentioned
        mentioned.add(phrase)
        return f"{phrase} ({acronyms[phrase]})" if new and first else acronyms[phrase]

    return AcronymSubstitution(re.sub(rf"(?<![\w-])(?:{form})(?![\w-])", shorten, text), uses)
