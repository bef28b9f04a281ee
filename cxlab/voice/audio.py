"""Real speech, offline: espeak-ng says a text, pocketsphinx writes down what it hears. Optional, found when installed.

    missing()                      # what to install, [] when both are there
    ears = SpokenLine(phrases)     # phrases: what may be said, for the recogniser's word statistics
    ears.listen("agent", "Please reboot the phone.", 1)    # (heard, {"wav": path, "seconds": ...})

The recogniser is an old one; with the statistics of a domain's own phrases it gets about one word in seven wrong
in the voices used here, without them about one in three. The same text gives the same sound and the same words.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import itertools
import math
import re
import shutil
import subprocess
import tempfile
import threading
import wave
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cxlab.errors import BadOption, CxError

PROGRAM, PACKAGE = "espeak-ng", "pocketsphinx"
# The two voices that the recogniser understands best.
VOICES = {"agent": "en-us+f2", "customer": "en-us+f5"}
WORDS_A_MINUTE = 150
RATE = 16_000
PAUSE_S = 0.25
# Absolute discount of the bigram model: what is taken from each seen pair for pairs never seen.
DISCOUNT = 0.5
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_PRICE = re.compile(r"\$\s?(\d[\d.,]*\d|\d)")
_SAID_AS_WORDS = ("SIM", "PIN")
_SIGNS = {"@": " at ", "#": " number ", "$": " dollars ", "%": " percent ", "&": " and ", "+": " plus ", "/": " slash "}
_TOKEN = re.compile(r"\d|[A-Z]{2,5}(?![a-z])|[A-Za-z][a-z']*|\.(?=\w)|[-_](?=\w)")


class NoAudio(CxError):
    """Speech cannot be made or recognised on this machine."""


def missing() -> list[str]:
    """What has to be installed for real audio, with how; empty when everything is there."""
    lacks = []
    if shutil.which(PROGRAM) is None:
        lacks.append(f"{PROGRAM} (Debian and Ubuntu: apt install {PROGRAM}; macOS: brew install {PROGRAM})")
    if importlib.util.find_spec(PACKAGE) is None:
        lacks.append(f"{PACKAGE} (pip install {PACKAGE})")
    return lacks


def spoken(text: str) -> list[str]:
    """The words a voice says for a text: digits one by one, capitals letter by letter, signs by name."""
    text = _PRICE.sub(r"\1 dollars", text)
    for sign, said in _SIGNS.items():
        text = text.replace(sign, said)
    words: list[str] = []
    for token in _TOKEN.findall(text):
        if token.isdigit():
            words.append(_DIGITS[int(token)])
        elif token == ".":
            words.append("dot")
        elif token.isupper() and len(token) > 1 and token not in _SAID_AS_WORDS:
            words += token.lower()
        elif token not in "-_":
            words.append(token.lower())
    return words


def written(words: Sequence[str]) -> str:
    """The words as one writes them: digits said in a row as a number, letters said in a row as an abbreviation."""
    parts: list[str] = []
    kinds: list[str] = []
    for place, word in enumerate(words):
        number = _DIGITS.index(word) if word in _DIGITS else None
        beside = len(words[place + 1]) == 1 if place + 1 < len(words) else False
        # A lone "a" is a word, one before other letters is a letter.
        letter = len(word) == 1 and (word not in "ai" or beside)
        kind = "digits" if number is not None else "letters" if letter else "word"
        sign = str(number) if number is not None else word.upper() if kind == "letters" else word
        if kinds and kind == kinds[-1] != "word":
            parts[-1] += sign
        else:
            parts.append(sign)
            kinds.append(kind)
    return re.sub(r"\bE mail\b", "e-mail", " ".join(parts))


def bigrams(sentences: Iterable[Sequence[str]]) -> str:
    """A bigram model in ARPA form with absolute discounting; words never seen in the sentences are never heard."""
    ones: Counter[str] = Counter()
    twos: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        marked = ["<s>", *sentence, "</s>"]
        ones.update(marked)
        twos.update(itertools.pairwise(marked))
    if not twos:
        raise BadOption("no phrases to make a language model of; give at least one")
    total = sum(count for word, count in ones.items() if word != "<s>")
    follows = Counter(first for first, _ in twos)
    starts = Counter[str]()
    for (first, _), count in twos.items():
        starts[first] += count
    lines = ["\\data\\", f"ngram 1={len(ones)}", f"ngram 2={len(twos)}", "", "\\1-grams:"]
    for word in sorted(ones):
        share = -99.0 if word == "<s>" else math.log10(ones[word] / total)
        back = math.log10(DISCOUNT * follows[word] / starts[word]) if starts[word] else 0.0
        lines.append(f"{share:.4f} {word} {back:.4f}")
    lines += ["", "\\2-grams:"]
    for (first, second), count in sorted(twos.items()):
        lines.append(f"{math.log10((count - DISCOUNT) / starts[first]):.4f} {first} {second}")
    return "\n".join([*lines, "", "\\end\\", ""])


def say(text: str, voice: str) -> bytes:
    """A WAV file of the text in one of espeak-ng's voices; raises NoAudio."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise NoAudio(f"real audio needs {', '.join(missing())}; or choose the text channel")
    words = " ".join(spoken(text)) or "um"
    # "--" keeps a text that begins with a dash from being an option.
    made = subprocess.run(
        [program, "-v", voice, "-s", str(WORDS_A_MINUTE), "--stdout", "--", words], capture_output=True, timeout=60
    )
    if made.returncode != 0 or not made.stdout:
        raise NoAudio(f"{PROGRAM} could not say it in voice {voice!r}: {made.stderr.decode(errors='replace')[:200]}")
    return made.stdout


def samples_of(wav: bytes) -> Any:
    """The sound as 16-bit numbers at the recogniser's rate, with a little silence around."""
    import numpy as np
    from scipy.signal import resample_poly

    # espeak-ng writes to a pipe and leaves the length open, so the frames are read until there are no more.
    with wave.open(io.BytesIO(wav)) as file:
        rate, frames = file.getframerate(), file.readframes(len(wav))
    sound = np.frombuffer(frames[: len(frames) // 2 * 2], dtype="<i2").astype(float)
    common = np.gcd(rate, RATE)
    sound = resample_poly(sound, RATE // common, rate // common)
    silence = np.zeros(int(PAUSE_S * RATE))
    return np.clip(np.concatenate([silence, sound, silence]), -32768, 32767).astype("<i2")


class SpokenLine:
    """A line on which everything is said aloud and recognised; a stand-in for the text channel."""

    def __init__(self, phrases: Iterable[str], keep: Path | None = None) -> None:
        lacks = missing()
        if lacks:
            raise NoAudio(f"real audio needs {'; '.join(lacks)}; or choose the text channel")
        pocketsphinx = importlib.import_module(PACKAGE)
        sentences = [words for phrase in phrases if (words := spoken(phrase))]
        # Any digit may follow any other: numbers are never the ones of the phrases.
        sentences += [[a, b] for a in _DIGITS for b in _DIGITS]
        known = _dictionary(Path(pocketsphinx.get_model_path()))
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "domain.lm"
            usable = [[word for word in sentence if word in known] for sentence in sentences]
            model.write_text(bigrams(sentence for sentence in usable if sentence), encoding="utf-8")
            self._decoder = pocketsphinx.Decoder(lm=str(model), samprate=float(RATE), loglevel="FATAL")
        self._keep, self._turn = keep, threading.Lock()
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, Any]]:
        """(what is recognised, where the sound lies and how long it is); the seed only names the file."""
        wav = say(text, VOICES.get(side, VOICES["agent"]))
        sound = samples_of(wav)
        with self._turn:  # one recogniser, many conversations
            self._decoder.start_utt()
            self._decoder.process_raw(sound.tobytes(), full_utt=True)
            self._decoder.end_utt()
            found = self._decoder.hyp()
        heard = written(found.hypstr.split()) if found is not None else ""
        kept: dict[str, Any] = {"seconds": round(len(sound) / RATE, 2)}
        if self._keep is not None:
            path = self._keep / f"{side}-{seed:08x}.wav"
            with wave.open(str(path), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RATE)
                file.writeframes(sound.tobytes())
            kept["wav"] = path.name
        return heard, kept


def _dictionary(models: Path) -> frozenset[str]:
    """The words that the recogniser can pronounce."""
    text = (models / "en-us" / "cmudict-en-us.dict").read_text(encoding="utf-8")
    return frozenset(line.split(" ", 1)[0] for line in text.splitlines() if "(" not in line.split(" ", 1)[0])
