"""Real audio: what a voice says of a text and how it is written down again; the loop itself where it is installed."""

import math
import re
import shutil
import wave
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from cxlab.errors import BadOption, UnknownName
from cxlab.voice import audio, word_error_rate
from cxlab.voice.backends import backends
from cxlab.voice.bigram_model import DISCOUNT, Counts, bigrams
from cxlab.voice.pronunciation import pronounce
from cxlab.voice.sound_files import Pcm, SoundFolder, read_wav
from cxlab.voice.spelling import clauses, spoken, written

needs_audio = pytest.mark.skipif(bool(audio.missing()), reason="; ".join(audio.missing()))


@pytest.mark.parametrize(
    ("text", "said", "again"),
    [
        ("My number is 555-12.", "my number is five five five one two", "My number is 55512."),
        ("Check the APN and the SIM card!", "check the a p n and the sim card", "Check the APN and the SIM card."),
        ("It is ana.b2@x.org", "it is ana dot b two at x dot org", "It is ana.b2@x.org."),
        ("It costs $3.50, or $8.00?", "it costs three dot five zero dollars or eight dollars",
         "It costs 3 dot 50 dollars, or 8 dollars."),
        ("I am at a desk", "i am at a desk", "I am at a desk."),
        ("Your e-mail, please", "your e mail please", "Your e-mail, please."),
        ("Could you check order #W123? Do not worry.", "could you check order number w one two three do not worry",
         "Could you check order number W123? Do not worry."),
        ("Which one: 4G or Wi-Fi?", "which one four g or wi fi", "Which one, 4G or Wi-Fi?"),
        ("My name is Ana Rey, of the USA.", "my name is ana rey of the u s a", "My name is Ana Rey, of the USA."),
        ("…", "", ""),
    ],
)  # fmt: skip
def test_what_is_said_and_how_it_is_written(text: str, said: str, again: str) -> None:
    assert " ".join(spoken(text)) == said
    assert written(clauses(text)) == again
    # What was written down is said the same way again, but for the marks.
    assert spoken(again.replace("#", "number ")) == spoken(text.replace("#", "number "))


def test_the_language_model_is_a_distribution() -> None:
    counts = Counts()
    for words in (["turn", "it", "off"], ["turn", "it", "on"], ["it", "is", "off"]):
        counts.add(words)
    counts.add_part(["is", "it"], 0.3)
    english = {("it",): -1.0, ("now",): -2.0, ("now", "it"): -0.5}
    counts.add_general(["it", "now"], lambda words: english.get(tuple(words), -9.0), 10.0, 0.01)
    arpa = bigrams(counts)
    ones, twos = {}, defaultdict(dict)
    for line in arpa.splitlines():
        if found := re.fullmatch(r"(-?[\d.]+) (\S+) (-?[\d.]+)", line):
            ones[found[2]] = (10 ** float(found[1]), 10 ** float(found[3]))
        elif found := re.fullmatch(r"(-?[\d.]+) (\S+) (\S+)", line):
            twos[found[2]][found[3]] = 10 ** float(found[1])
    assert {"now", "off", "</s>"} < ones.keys()
    assert math.isclose(sum(share for share, _ in ones.values()), 1, abs_tol=1e-3)
    for first, (_, back) in ones.items():
        # A word after another one is the pair's own share, else its share by itself times what was held back.
        shares = [twos[first].get(word, back * ones[word][0]) for word in ones if word != "<s>"]
        assert math.isclose(sum(shares), 1, abs_tol=2e-3), first
    # "it" was followed by "off", "on" and "is" once each, and of general English by "now" (10 × 1/1.1 × 10^-0.5).
    after = 3 + 10 / 1.1 * 10**-0.5
    held_back = (4 * DISCOUNT) / after
    assert twos["it"]["off"] == pytest.approx((1 - DISCOUNT) / after + held_back * ones["off"][0], abs=1e-3)
    with pytest.raises(BadOption):
        bigrams(Counts())


def test_a_sound_is_cut_at_its_pauses() -> None:
    def tone(seconds: float) -> np.ndarray:
        return np.full(int(seconds * audio.RATE), 900, dtype="<i2")

    def silence(seconds: float) -> np.ndarray:
        return np.zeros(int(seconds * audio.RATE), dtype="<i2")

    # The closure of a consonant, a comma, the end of a sentence, and silence around it all.
    whole = [
        silence(1),
        tone(0.3),
        silence(0.08),
        tone(0.2),
        silence(0.25),
        tone(0.4),
        silence(0.5),
        tone(0.1),
        silence(1),
    ]
    found = audio.cut(Pcm(np.concatenate(whole).tobytes(), audio.RATE))
    assert [(round(part.seconds, 2), mark) for part, mark in found] == [(0.58, ","), (0.4, "."), (0.1, ".")]
    assert audio.cut(Pcm(silence(1).tobytes(), audio.RATE)) == []


def test_a_sound_that_is_none_is_refused(tmp_path: Path) -> None:
    for broken in (b"", b"RIFF", b"RIFF\x24\0\0\0WAVEfmt ", b"not a sound at all"):
        with pytest.raises(ValueError, match="no WAV"):
            read_wav(broken)
    eight_bits = tmp_path / "8.wav"
    with wave.open(str(eight_bits), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(b"\x80" * 800)
    with pytest.raises(ValueError, match="8 bits"):
        read_wav(eight_bits.read_bytes())


def test_what_is_not_installed_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert audio.missing()[0].startswith("espeak-ng (Debian")
    for attempt in (lambda: audio.say(clauses("Hello"), "en-us"), lambda: audio.Recogniser([("Hello", 1.0)])):
        with pytest.raises(audio.NoAudio, match=r"apt install espeak-ng.*text channel"):
            attempt()
    found = {each.name: each for each in backends()}
    assert (found["channel"].ready, found["channel"].fix) == (True, "")
    assert (found["espeak"].ready, "apt install espeak-ng" in found["espeak"].fix) == (False, True)
    assert (found["openai"].ready, "OPENAI_API_KEY" in found["openai"].fix) == (False, True)


SAID = ["Please check your status bar, and tell me what it shows.", "My number is 555-123-2002."]


@pytest.fixture(scope="module")
def recogniser() -> audio.Recogniser:
    phrases = [*SAID, "Please reboot the phone.", "Airplane Mode is off.", "Could you reset the settings?"]
    return audio.Recogniser([(text, 4.0) for text in phrases], [("my name is Oduya Vrbinski", 60.0)], general=50.0)


@needs_audio
def test_the_real_loop_hears_its_own_phrases_and_keeps_the_sound(recogniser: audio.Recogniser, tmp_path: Path) -> None:
    line = audio.SpokenLine(recogniser, SoundFolder(tmp_path, "sounds/a1"))
    first = [line.listen(side, text, 7) for side, text in zip(("agent", "customer"), SAID, strict=True)]
    for text, (heard, kept) in zip(SAID, first, strict=True):
        assert word_error_rate(kept["ideal"], heard) < 0.3, heard
        assert kept["ideal"] == written(clauses(text))
        with wave.open(str(tmp_path / kept["wav"])) as file:
            assert file.getnframes() / file.getframerate() == pytest.approx(kept["seconds"], abs=0.01)
    assert first[0][1]["wav"] == "sounds/a1/agent-00000007.wav"
    # What was said before changes nothing.
    assert line.listen("agent", SAID[0], 7) == first[0]
    assert line.listen("agent", "…", 7) == ("", {})


@needs_audio
def test_names_that_no_dictionary_has_are_pronounced_and_heard(recogniser: audio.Recogniser) -> None:
    assert recogniser.added.keys() == {"oduya", "vrbinski"}
    heard, _ = audio.SpokenLine(recogniser).listen("customer", "My name is Oduya Vrbinski.", 1)
    assert heard == "My name is Oduya Vrbinski."
    assert pronounce(["kovacs", "mei"], audio.PROGRAM) == {"kovacs": "K AA V AE K S", "mei": "M EY"}


@needs_audio
def test_a_voice_that_is_not_there_is_refused(recogniser: audio.Recogniser) -> None:
    # espeak-ng itself says nothing of such a variant, and speaks in the plain voice.
    with pytest.raises(UnknownName, match="nobody"):
        audio.SpokenLine(recogniser, voices={"agent": "en-us+nobody"})
    with pytest.raises(BadOption, match=r"'nobody' is no voice .*en-us\+f2"):
        audio.SpokenLine(recogniser, voices={"agent": "nobody"})
    with pytest.raises(audio.NoAudio, match="xx-nobody"):
        audio.say(clauses("Hello."), "xx-nobody")
