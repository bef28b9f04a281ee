"""The confusion tables of a language, read once from data/voice/LANGUAGE.yaml.

The file holds blocks of plain lines so that a person can add to them: groups ("their there"), one-way
lines ("said: heard heard"), rules ("ph => f"; "-" for nothing) and lists. `_` stands for a space inside one wording.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from cxlab import files, resources
from cxlab.errors import BadFile, UnknownName

FOLDER = resources.data("voice")
LANGUAGES = ("en", "de", "fr")

Many = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Tables:
    """All lower case; `sounds` gives upper-case codes, so that no rule reads another one's output."""

    language: str
    at: str
    dot: str
    homophones: Many
    near: Many
    digits: Many
    numbers: Many
    letters: Many
    names: Many
    joins: Many
    splits: Many
    fillers: tuple[str, ...]
    weak: frozenset[str]
    name_cues: frozenset[str]
    capitalised: frozenset[str]
    endings: tuple[str, ...]
    sounds: tuple[tuple[re.Pattern[str], str], ...]
    confusable: Many
    respell: tuple[tuple[str, str], ...]
    words: frozenset[str]


def _lines(block: str) -> list[str]:
    return [line.strip() for line in block.lower().splitlines() if line.strip()]


def _groups(lines: list[list[str]]) -> Many:
    """Each word with the others of every group it stands in, in the order of the file."""
    found: dict[str, list[str]] = {}
    for group in lines:
        for word in group:
            others = found.setdefault(word, [])
            others += [other.replace("_", " ") for other in group if other != word and other not in others]
    return {word: tuple(others) for word, others in found.items()}


def _one_way(block: str) -> Many:
    found: dict[str, tuple[str, ...]] = {}
    for line in _lines(block):
        said, _, heard = line.partition(": ")
        found[said] = found.get(said, ()) + tuple(word.replace("_", " ") for word in heard.split())
    return found


def _phrases(block: str) -> Many:
    """Lines whose right side is one wording of several words."""
    return {said: (heard,) for said, _, heard in (line.partition(": ") for line in _lines(block))}


def _rules(block: str) -> list[tuple[str, str]]:
    return [(left, right) for left, _, right in (line.partition(" => ") for line in _lines(block))]


@functools.cache
def tables(language: str) -> Tables:
    """The tables of "en", "de" or "fr"; raises UnknownName for another language."""
    if language not in LANGUAGES:
        raise UnknownName("language of the speech channel", language, LANGUAGES)
    path = FOLDER / f"{language}.yaml"
    if not path.is_file():
        raise BadFile(path, None, "the speech channel's tables are not there", "restore data/voice/")
    raw = files.read_yaml(path)
    try:
        return Tables(
            language=language,
            at=raw["at"].lower(),
            dot=raw["dot"].lower(),
            homophones=_groups([line.split() for line in _lines(raw["homophones"])]),
            near=_one_way(raw["near"]),
            digits=_one_way(raw["digits"]),
            numbers=_one_way(raw["numbers"]),
            letters=_groups([line.split() for line in _lines(raw["letters"])]),
            names=_groups([line.split() for line in _lines(raw["names"])]),
            joins=_phrases(raw["joins"]),
            splits=_phrases(raw["splits"]),
            fillers=tuple(raw["fillers"].lower().split()),
            weak=frozenset(raw.get("weak", "").lower().split()),
            name_cues=frozenset(raw["name_cues"].lower().split()),
            capitalised=frozenset(raw["capitalised"].lower().split()),
            endings=tuple(raw["endings"].lower().split()),
            sounds=tuple((re.compile(left), right.upper().strip("-")) for left, right in _rules(raw["sounds"])),
            confusable=_groups([list(pair.upper()) for pair in raw["confusable"].split()]),
            respell=tuple(_rules(raw["respell"])),
            words=frozenset(raw["words"].lower().split()),
        )
    except KeyError as error:
        raise BadFile(path, None, f"no block {error.args[0]!r}", "see data/voice/en.yaml for the form") from None
