"""The way from one side's words to the other's ears: as they were written, or spoken and recognised.

Every text leaves three transcripts. `meant` is what the speaker wrote, `ideal` what a recogniser without a fault would
have written down of it (marks that nobody can speak are gone), `heard` what the other side got. In a chat all three
are the same but for `ideal`'s marks, and no errors are made.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import re
from pathlib import Path
from typing import Any, Protocol

from cxlab.dialogue import Carried
from cxlab.errors import BadOption
from cxlab.voice import Misheard, hear, word_error_rate

MODALITIES = ("text", "voice")
# About what the measured loop of espeak-ng and pocketsphinx with a domain vocabulary comes to.
USUAL_WER = 0.15
BACK_ENDS = ("channel", "espeak")
# Of each line as many wordings go into the recogniser's statistics.
MOST_WORDINGS = 24
_SLOT = re.compile(r"<\w+>|\bthing\b")

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)
_HEADING = re.compile(r"^\s*(?:#+|>)\s+", re.MULTILINE)
_MARKS = re.compile(r"[*`~|]+")
_PICTURES = re.compile("[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]")


def speakable(text: str) -> str:
    """The text without what a voice cannot say: list signs, emphasis, links' addresses, pictures, line breaks."""
    # "#W123" and "app_name" are said as they stand; only what marks a heading or an emphasis goes.
    kept = _MARKS.sub("", _HEADING.sub("", _BULLET.sub("", _LINK.sub(r"\1", text))))
    return re.sub(r"\s+", " ", _PICTURES.sub("", kept)).strip()


class Ears(Protocol):
    """A recogniser behind a voice: a text and who says it in, the recognised text and more to keep out."""

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, Any]]: ...


class Channel:
    """The seeded text channel at a stated word error rate, the same in both directions."""

    def __init__(self, wer: float, language: str = "en") -> None:
        if isinstance(wer, bool) or not isinstance(wer, int | float) or not 0 <= wer <= 1:
            raise BadOption(f"word error rate {wer!r}; give a number from 0 to 1, such as {USUAL_WER}")
        self.wer, self.language = float(wer), language

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, Any]]:
        heard = hear(text, self.wer, seed, self.language)
        return heard.text, {"errors": [_kept(error) for error in heard.errors]}


class Line:
    """The line between two sides; `ears` None is a chat."""

    def __init__(self, ears: Ears | None, seed: int) -> None:
        self.ears, self.seed = ears, seed

    @property
    def voice(self) -> bool:
        return self.ears is not None

    async def carry(self, side: str, text: str, turn: int) -> Carried:
        """The text as the other side gets it, with its transcripts."""
        if self.ears is None:
            return Carried(text, {"meant": text, "heard": text, "ideal": text, "wer": 0.0})
        ideal = speakable(text)
        mix = hashlib.blake2b(f"{self.seed}\0{side}\0{turn}".encode(), digest_size=4).digest()
        seed = int.from_bytes(mix, "big")
        if isinstance(self.ears, Channel):
            heard, more = self.ears.listen(side, ideal, seed)
        else:
            # Real audio takes a while; other conversations go on meanwhile.
            heard, more = await asyncio.to_thread(self.ears.listen, side, ideal, seed)
        rate = word_error_rate(ideal, heard)
        return Carried(heard, {"meant": text, "heard": heard, "ideal": ideal, "wer": round(rate, 4), **more})


@functools.lru_cache(maxsize=4)
def real_ears(domain: str, keep: Path | None = None) -> Ears:
    """espeak-ng and pocketsphinx with the domain's own phrases; `keep` is where the sounds go. Raises NoAudio."""
    from cxlab.benchmarks.mmtaup2 import phone_talk, shop_talk
    from cxlab.llm.simulated import grammar
    from cxlab.voice.audio import SpokenLine

    talk = phone_talk.phrases() if domain == "telecom" else shop_talk.phrases()
    lines = [line for kinds in talk.customer.values() for some in kinds.values() for line in some]
    lines += [line for some in talk.agent.values() for line in some]
    if isinstance(talk, phone_talk.PhoneTalk):
        lines += [line for one in talk.requests.values() for line in (one.named, one.plain)]
        states = [one for values in talk.facts.values() for one in values.values()]
        lines += [f"it says that {line}" for one in states for line in (one.named, one.described)]
    lines += ["hello this is the service desk for your mobile line", "hello this is the shop's service desk"]
    lines += ["what can I do for you", "my e-mail address is"]
    phrases = [_SLOT.sub("", text) for line in lines for text in grammar.every(line, MOST_WORDINGS)]
    return SpokenLine(phrases, keep)


def open_line(modality: str, seed: int, wer: float = USUAL_WER, ears: Ears | None = None) -> Line:
    """A line of a modality; `ears` replaces the text channel of a voice line."""
    if modality not in MODALITIES:
        raise BadOption(f"modality {modality!r}; give one of {', '.join(MODALITIES)}")
    return Line(None if modality == "text" else ears or Channel(wer), seed)


def _kept(error: Misheard) -> list[Any]:
    return [error.kind, error.said, error.heard, error.position]
