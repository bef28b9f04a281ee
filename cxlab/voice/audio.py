"""Real speech, offline: espeak-ng says a text, pocketsphinx writes down what it hears. Optional, found when installed.

    missing()                               # what to install, [] when both are there
    line = SpokenLine(Recogniser(said, words), SoundFolder(folder))
    line.listen("agent", "Please reboot the phone.", 1)    # (heard, {"wav": name, "seconds": ..., "ideal": ...})

The recogniser is an old one. What it is told of a domain decides how well it hears: how its sentences go, which words
there are, and, for words that its dictionary lacks, how the voice pronounces them; general English stands behind that,
so that a sentence of another wording is not lost altogether. The same text gives the same sound and the same words,
whatever was said before it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cxlab.errors import BadOption, CxError, UnknownName
from cxlab.voice.bigram_model import Counts, bigrams
from cxlab.voice.confusion_tables import tables
from cxlab.voice.pronunciation import pronounce
from cxlab.voice.sound_files import Pcm, SoundFolder, read_wav
from cxlab.voice.spelling import DIGITS, LETTERS, Clause, clauses, written

PROGRAM, PACKAGE = "espeak-ng", "pocketsphinx"
# Understood best of f1 to f5 and m1 to m3, plain or with their frequencies scaled.
VOICES = {"agent": "en-us+f2", "customer": "en-us+f5"}
WORDS_A_MINUTE = 150
RATE = 16_000
# The voice pauses so long at a comma and at the end of a sentence, and shortens that a little; what is longer than a
# stopped consonant is a pause. Quieter than `_LOUD` (of 32,768) is silence.
_BREAKS_MS = {",": 300, ".": 600}
_PAUSES_S = {",": 0.15, ".": 0.4}
_LOUD = 60
PADDING_S, NOISE_DB = 0.25, -60.0
# Means are taken of a whole sound (`cmn`): a running mean would carry over from what was said before. The voices are of
# smaller heads than those the recogniser learned from, so frequencies are scaled (`warp`); and all its densities count
# (`topn`), for a third more time. Of the words misheard in free wording this spares about one in eight.
DECODING: dict[str, Any] = {"cmn": "batch", "warp_type": "inverse_linear", "warp_params": "1.12", "topn": 8}
# As many words of general English are mixed in as a domain has in a few dozen lines, and pairs of words that this
# makes rarer than that are left to the single words.
GENERAL_WORDS, RAREST_PAIR = 2000.0, 0.05
# Any digit may follow any other, for numbers are never the ones of the phrases; the same with letters, more rarely.
DIGIT_PAIR, LETTER_PAIR = 2.0, 0.1

Weighed = Iterable[tuple[str, float]]


class NoAudio(CxError):
    """Speech cannot be made or recognised on this machine."""


def missing() -> list[str]:
    """What has to be installed for real audio, with how; empty when everything is there."""
    lacks = []
    if not is_installed():
        lacks.append(f"{PROGRAM} (Debian and Ubuntu: apt install {PROGRAM}; macOS: brew install {PROGRAM})")
    if importlib.util.find_spec(PACKAGE) is None:
        lacks.append(f"{PACKAGE} (pip install {PACKAGE})")
    return lacks


def require() -> None:
    """Raises NoAudio, with what to install."""
    lacks = missing()
    if lacks:
        raise NoAudio(f"real audio needs {'; '.join(lacks)}; or choose the text channel")


def say(said: Sequence[Clause], voice: str) -> Pcm:
    """The words in one of espeak-ng's voices, with its pauses; raises NoAudio."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise NoAudio(f"real audio needs {', '.join(missing())}; or choose the text channel")
    # Words hold letters and apostrophes alone, so that none of them can be read as a mark of SSML.
    text = "".join(f'{" ".join(words)}{mark} <break time="{_BREAKS_MS[mark]}ms"/> ' for words, mark in said)
    # "--" keeps a text that begins with a dash from being an option.
    made = subprocess.run(
        [program, "-m", "-v", voice, "-s", str(WORDS_A_MINUTE), "--stdout", "--", text],
        capture_output=True,
        timeout=60,
    )
    if made.returncode != 0 or not made.stdout:
        raise NoAudio(f"{PROGRAM} could not say it in voice {voice!r}: {made.stderr.decode(errors='replace')[:200]}")
    return resample(read_wav(made.stdout))


def resample(sound: Pcm) -> Pcm:
    """The sound at the recogniser's rate: its spectrum, cut off at what the new rate can hold."""
    samples = _samples(sound).astype(float)
    length = round(len(samples) * RATE / sound.rate)
    if not length:
        return Pcm(b"", RATE)
    spectrum = np.fft.rfft(samples)[: length // 2 + 1]
    fresh = np.fft.irfft(spectrum, length) * (length / len(samples))
    return Pcm(np.clip(np.round(fresh), -32768, 32767).astype("<i2").tobytes(), RATE)


def cut(sound: Pcm) -> list[tuple[Pcm, str]]:
    """The sound from pause to pause, each part with the mark of the pause after it; silence alone is no part."""
    samples = _samples(sound)
    loud = np.flatnonzero(np.abs(samples.astype(int)) > _LOUD)
    if not len(loud):
        return []
    gaps = np.flatnonzero(np.diff(loud) > _PAUSES_S[","] * sound.rate)
    starts, ends = [loud[0], *loud[gaps + 1]], [*loud[gaps], loud[-1]]
    found = []
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        last = place + 1 == len(starts)
        long = last or starts[place + 1] - end > _PAUSES_S["."] * sound.rate
        found.append((Pcm(samples[start : end + 1].tobytes(), sound.rate), "." if long else ","))
    return found


def _samples(sound: Pcm) -> NDArray[np.int16]:
    return np.frombuffer(sound.frames, dtype="<i2")


class Recogniser:
    """pocketsphinx with the statistics of a domain; one for many conversations.

    `sentences` are whole wordings with their weights, `parts` words in a row (names, products, a policy's sentences).
    What is said need not be among them, only its words must.
    """

    def __init__(self, sentences: Weighed, parts: Weighed = (), general: float = GENERAL_WORDS) -> None:
        require()
        pocketsphinx = importlib.import_module(PACKAGE)
        models = Path(pocketsphinx.get_model_path()) / "en-us"
        known = _dictionary(models / "cmudict-en-us.dict")
        # What is heard goes from pause to pause, and so does what is counted.
        whole = [(words, weight) for text, weight in sentences for words, _ in clauses(text)]
        rows = [(words, weight) for text, weight in parts for words, _ in clauses(text)]
        rows += [([a, b], DIGIT_PAIR) for a in DIGITS for b in DIGITS]
        rows += [([a, b], LETTER_PAIR) for a in LETTERS for b in LETTERS]
        vocabulary = {word for words, _ in (*whole, *rows) for word in words}
        self.added = pronounce(sorted(vocabulary - known.keys()), shutil.which(PROGRAM) or PROGRAM)
        sayable = known.keys() | self.added.keys()
        counts = Counts()
        for words, weight in whole:
            counts.add([word for word in words if word in sayable], weight)
        for words, weight in rows:
            counts.add_part([word for word in words if word in sayable], weight)
        common = (tables("en").words | vocabulary) & known.keys()
        counts.add_general(common, _english(pocketsphinx, models), general, RAREST_PAIR)
        with tempfile.TemporaryDirectory() as folder:
            model, sounds = Path(folder) / "domain.lm", Path(folder) / "domain.dict"
            model.write_text(bigrams(counts), encoding="utf-8")
            # Words that were added to a decoder later would not be looked for.
            lines = [line for word in sorted(counts.ones) for line in known.get(word, ())]
            lines += [f"{word} {said}" for word, said in self.added.items()]
            lines += _as_the_voice_says(counts.ones, known)
            sounds.write_text("\n".join([*lines, ""]), encoding="utf-8")
            self._decoder = pocketsphinx.Decoder(
                lm=str(model), dict=str(sounds), samprate=float(RATE), loglevel="FATAL", **DECODING
            )
        self._turn = threading.Lock()

    def hear(self, sound: Pcm) -> list[Clause]:
        """The words recognised in a sound at `RATE`, from pause to pause."""
        found = [(self._decode(part), mark) for part, mark in cut(sound)]
        return [(words, mark) for words, mark in found if words]

    def _decode(self, part: Pcm) -> list[str]:
        samples = np.pad(_samples(part).astype(float), int(PADDING_S * RATE))
        # Silence of nothing but zeros is like no silence that the recogniser was trained on. Always the same noise.
        noise = np.random.default_rng(0).normal(0.0, 32768 * 10 ** (NOISE_DB / 20), len(samples))
        heard = np.clip(samples + noise, -32768, 32767).astype("<i2")
        with self._turn:
            self._decoder.start_utt()
            self._decoder.process_raw(heard.tobytes(), full_utt=True)
            self._decoder.end_utt()
            found = self._decoder.hyp()
        return found.hypstr.split() if found is not None else []


class SpokenLine:
    """A line on which everything is said aloud and recognised; a stand-in for the text channel."""

    def __init__(
        self, recogniser: Recogniser, keep: SoundFolder | None = None, voices: Mapping[str, str] | None = None
    ) -> None:
        for voice in (voices or {}).values():
            check_voice(voice)
        self.recogniser, self.keep, self.voices = recogniser, keep, {**VOICES, **(voices or {})}

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, Any]]:
        """(what is recognised, where the sound lies and how long it is); the seed only names the file.

        `ideal` is what a recogniser without a fault would have written.
        """
        said = clauses(text)
        if not said:
            return "", {}
        sound = say(said, self.voices[side])
        heard = written(self.recogniser.hear(sound))
        kept: dict[str, Any] = {"seconds": round(sound.seconds, 2), "ideal": written(said)}
        if self.keep is not None:
            kept["wav"] = self.keep.put(f"{side}-{seed:08x}.wav", sound.wav())
        return heard, kept


def is_installed() -> bool:
    """Whether the program that speaks is here."""
    return shutil.which(PROGRAM) is not None


def check_voice(voice: str) -> None:
    """Refuse a voice that espeak-ng does not have; of a variant it says nothing, and speaks in the plain voice."""
    language, _, variant = voice.partition("+")
    if language not in _list_languages():
        raise BadOption(f"{voice!r} is no voice of {PROGRAM}: write a language and a variant, as {VOICES['agent']}")
    if variant and variant not in _list_variants():
        raise UnknownName("variant of a voice", variant, _list_variants())


@functools.cache
def _list_languages() -> frozenset[str]:
    rows = [line.split() for line in _list_voices("--voices").splitlines()[1:]]
    # A voice goes by its language, its name, or its file with or without the folder.
    return frozenset(name for row in rows if len(row) > 4 for name in (*row[1:5], row[4].rpartition("/")[2]))


@functools.cache
def _list_variants() -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"!v/(\S+)", _list_voices("--voices=variant"))))


def _list_voices(which: str) -> str:
    return subprocess.run([PROGRAM, which], capture_output=True, text=True, timeout=60).stdout


def _dictionary(path: Path) -> dict[str, list[str]]:
    """The words that the recogniser can pronounce, each with its lines: one for each way to say it."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        found.setdefault(line.split(" ", 1)[0].partition("(")[0], []).append(line)
    return found


def _as_the_voice_says(words: Iterable[str], known: Mapping[str, list[str]]) -> list[str]:
    """Lines for words that the voice says in another way than the dictionary has them."""
    lines = []
    for word, said in pronounce([word for word in sorted(words) if word in known], PROGRAM).items():
        if said not in {line.split(" ", 1)[1] for line in known[word]}:
            lines.append(f"{word}({len(known[word]) + 1}) {said}")
    return lines


def _english(pocketsphinx: Any, models: Path) -> Any:
    """The chance (log 10) of a word, or of a word after another, in the English that came with the recogniser."""
    scale = pocketsphinx.LogMath()
    model = pocketsphinx.NGramModel(pocketsphinx.Config(loglevel="FATAL"), scale, str(models / "en-us.lm.bin"))
    return lambda words: scale.log_to_log10(model.prob(words))
