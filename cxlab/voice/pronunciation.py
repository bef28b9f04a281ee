"""How words sound that the recogniser's dictionary lacks, asked of espeak-ng: names, towns, coined words.

The voice says a name as its own rules have it, so asking it is also the best guess of what will be heard.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable

# espeak-ng's American sounds as the recogniser's dictionary writes them (ARPAbet without stress).
ARPABET = {
    "ɑː": "AA", "ɑ": "AA", "æ": "AE", "a": "AE", "ʌ": "AH", "ə": "AH", "ɐ": "AH", "ᵻ": "IH", "ɪ": "IH", "ɔː": "AO",
    "ɔ": "AO", "oː": "AO", "o": "OW", "oʊ": "OW", "aʊ": "AW", "aɪ": "AY", "ɔɪ": "OY", "eɪ": "EY", "e": "EH", "ɛ": "EH",
    "ɜː": "ER", "ɚ": "ER", "i": "IY", "iː": "IY", "iə": "IY AH", "u": "UW", "uː": "UW", "ʊ": "UH", "əl": "AH L",
    "n̩": "AH N", "aɪɚ": "AY ER", "aɪə": "AY AH", "ɑːɹ": "AA R", "oːɹ": "AO R", "ɔːɹ": "AO R", "ɛɹ": "EH R",
    "ʊɹ": "UH R", "ɪɹ": "IH R", "b": "B", "d": "D", "dʒ": "JH", "ð": "DH", "f": "F", "ɡ": "G", "h": "HH", "j": "Y",
    "k": "K", "l": "L", "m": "M", "n": "N", "ŋ": "NG", "p": "P", "ɹ": "R", "r": "R", "ɾ": "T", "s": "S", "ʃ": "SH",
    "t": "T", "tʃ": "CH", "θ": "TH", "v": "V", "w": "W", "x": "K", "ɬ": "L", "z": "Z", "ʒ": "ZH", "ʔ": "",
}  # fmt: skip
_STRESS = re.compile(r"[ˈˌ]")


def pronounce(words: Iterable[str], program: str, voice: str = "en-us") -> dict[str, str]:
    """Word → its sounds, for all words that the voice can say and whose sounds the recogniser has."""
    asked = list(words)
    if not asked:
        return {}
    # A full stop and an empty line after each word make it a sentence, and each sentence a line of the answer.
    said = subprocess.run(
        [program, "-q", "-v", voice, "--ipa", "--sep=_", "--stdin"],
        input="".join(f"{word}.\n\n" for word in asked),
        capture_output=True,
        text=True,
        timeout=60,
    )
    lines = said.stdout.split("\n")
    found: dict[str, str] = {}
    # strict=False: the answer ends with an empty line.
    for word, line in zip(asked, lines, strict=False):
        sounds = [part for part in re.split(r"[_\s]+", _STRESS.sub("", line)) if part]
        if sounds and all(sound in ARPABET for sound in sounds):
            found[word] = " ".join(ARPABET[sound] for sound in sounds if ARPABET[sound])
    return found
