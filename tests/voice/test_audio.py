"""Real audio: what a voice says of a text and how it is written down again; the loop itself where it is installed."""

import math
import re
import shutil
import wave
from collections import defaultdict
from pathlib import Path

import pytest

from cxlab.errors import BadOption
from cxlab.voice import audio, word_error_rate


@pytest.mark.parametrize(
    ("text", "said", "again"),
    [
        ("My number is 555-12.", "my number is five five five one two", "my number is 55512"),
        ("Check the APN and the SIM card", "check the a p n and the sim card", "check the APN and the sim card"),
        ("ana.b2@x.org", "ana dot b two at x dot org", "ana dot B 2 at X dot org"),
        ("It costs $3.50!", "it costs three dot five zero dollars", "it costs 3 dot 50 dollars"),
        ("I am at a desk", "i am at a desk", "i am at a desk"),
        ("Your e-mail, please", "your e mail please", "your e-mail please"),
        ("", "", ""),
    ],
)
def test_what_is_said_and_how_it_is_written(text: str, said: str, again: str) -> None:
    assert " ".join(audio.spoken(text)) == said
    assert audio.written(said.split()) == again


def test_the_language_model_is_a_distribution() -> None:
    arpa = audio.bigrams([["turn", "it", "off"], ["turn", "it", "on"], ["it", "is", "off"]])
    ones, twos = {}, defaultdict(dict)
    for line in arpa.splitlines():
        if found := re.fullmatch(r"(-?[\d.]+) (\S+) (-?[\d.]+)", line):
            ones[found[2]] = (10 ** float(found[1]), 10 ** float(found[3]))
        elif found := re.fullmatch(r"(-?[\d.]+) (\S+) (\S+)", line):
            twos[found[2]][found[3]] = 10 ** float(found[1])
    assert math.isclose(sum(share for share, _ in ones.values()), 1, abs_tol=1e-3)
    for first, seen in twos.items():
        # What the seen pairs leave is what backing off may spend.
        assert math.isclose(sum(seen.values()) + ones[first][1], 1, abs_tol=1e-3)
    assert twos["it"]["off"] == pytest.approx((1 - audio.DISCOUNT) / 3, abs=1e-3)
    with pytest.raises(BadOption):
        audio.bigrams([])


def test_what_is_not_installed_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert audio.missing()[0].startswith("espeak-ng (Debian")
    for attempt in (lambda: audio.say("Hello", "en-us"), lambda: audio.SpokenLine(["Hello"])):
        with pytest.raises(audio.NoAudio, match=r"apt install espeak-ng.*text channel"):
            attempt()


@pytest.mark.skipif(bool(audio.missing()), reason="espeak-ng or pocketsphinx is not installed")
def test_the_real_loop_hears_its_own_phrases_and_keeps_the_sound(tmp_path: Path) -> None:
    said = ["Please check your status bar and tell me what it shows.", "My number is 555-123-2002."]
    line = audio.SpokenLine([*said, "Please reboot the phone.", "Airplane Mode is off."], tmp_path)
    for side, text in zip(("agent", "customer"), said, strict=True):
        heard, kept = line.listen(side, text, 7)
        assert word_error_rate(audio.written(audio.spoken(text)), heard) < 0.4
        with wave.open(str(tmp_path / kept["wav"])) as file:
            assert file.getnframes() / file.getframerate() == pytest.approx(kept["seconds"], abs=0.01)
        assert line.listen(side, text, 7)[0] == heard
