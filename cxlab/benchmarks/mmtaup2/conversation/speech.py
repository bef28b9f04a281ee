"""The way from one side's words to the other's ears: as they were written, or spoken and recognised.

Every text leaves three transcripts. `meant` is what the speaker wrote, `ideal` what a recogniser without a fault would
have written down of it (marks that nobody can speak are gone), `heard` what the other side got. In a chat all three
are the same but for `ideal`'s marks, and no errors are made.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import re
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from cxlab.dialogue import Delivery
from cxlab.errors import BadOption
from cxlab.llm import Budget
from cxlab.voice import WordError, hear, word_error_rate
from cxlab.voice.audio import VOICES, Recogniser, SpokenLine, check_voice, is_installed
from cxlab.voice.sound_files import SoundFolder
from cxlab.voice.spoken_message import SpokenMessage

MODALITIES = ("text", "voice")
# Between what espeak-ng and pocketsphinx come to on wordings that were told (.02 to .12) and on free ones (.33 to .38).
USUAL_WER = 0.15
BACK_ENDS = ("channel", "espeak", "openai", "endpoint:NAME")
# What the other side gets where nothing was understood.
INAUDIBLE = "(inaudible)"

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


class SpeechBackEnd(Protocol):
    """A recogniser behind a voice: a text and who says it in, the recognised text and more to keep out."""

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, Any]]: ...


class ServiceBackEnd(Protocol):
    """The same by a service, which takes its time and may fail."""

    def listen(self, side: str, text: str, seed: int) -> Awaitable[SpokenMessage]: ...


class TextChannel:
    """The seeded text channel at a stated word error rate, the same in both directions."""

    def __init__(self, wer: float, language: str = "en") -> None:
        if isinstance(wer, bool) or not isinstance(wer, int | float) or not 0 <= wer <= 1:
            raise BadOption(f"word error rate {wer!r}; give a number from 0 to 1, such as {USUAL_WER}")
        self.wer, self.language = float(wer), language

    def listen(self, side: str, text: str, seed: int) -> tuple[str, dict[str, Any]]:
        heard = hear(text, self.wer, seed, self.language)
        return heard.text, {"errors": [_kept(error) for error in heard.errors]}


class MessageCarrier:
    """The line between two sides; `ears` None is a chat."""

    def __init__(self, ears: SpeechBackEnd | ServiceBackEnd | None, seed: int) -> None:
        self.ears, self.seed = ears, seed

    @property
    def voice(self) -> bool:
        return self.ears is not None

    async def carry(self, side: str, text: str, turn: int) -> Delivery:
        """The text as the other side gets it, with its transcripts; after a fault it gets nothing."""
        if self.ears is None:
            return Delivery(text, {"meant": text, "heard": text, "ideal": text, "wer": 0.0})
        mix = hashlib.blake2b(f"{self.seed}\0{side}\0{turn}".encode(), digest_size=4).digest()
        ideal = speakable(text)
        passage = await _pass(self.ears, side, ideal, int.from_bytes(mix, "big"))
        took = Delivery(
            "",
            usage=passage.usage,
            latency_s=passage.latency_s,
            cost_usd=passage.cost_usd,
            failure=passage.failure,
        )
        if passage.failure is not None:
            return replace(took, data={"meant": text, "delivered": False, **passage.data})
        # A recogniser that writes in its own way knows best what it would have written of a text.
        told = {"ideal": ideal, **passage.data}
        rate = word_error_rate(told["ideal"], passage.heard)
        data = {"meant": text, "heard": passage.heard, "wer": round(rate, 4), **told}
        return replace(took, text=passage.heard or (INAUDIBLE if ideal else ""), data=data)


async def _pass(ears: SpeechBackEnd | ServiceBackEnd, side: str, text: str, seed: int) -> SpokenMessage:
    """A text through whatever speaks and hears; other conversations go on while it takes its time."""
    if isinstance(ears, TextChannel):
        return SpokenMessage(*ears.listen(side, text, seed))
    if inspect.iscoroutinefunction(ears.listen):
        passage: SpokenMessage = await ears.listen(side, text, seed)
        return passage
    # Speech on this machine is work, which a thread does.
    heard, data = await asyncio.to_thread(cast(SpeechBackEnd, ears).listen, side, text, seed)
    return SpokenMessage(heard, data)


@functools.lru_cache(maxsize=4)
def _recogniser(domain: str) -> Recogniser:
    from cxlab.benchmarks.mmtaup2.conversation import recogniser_vocabulary

    return Recogniser(recogniser_vocabulary.sentences(domain), recogniser_vocabulary.parts(domain))


def open_local_audio(
    domain: str, keep: Path | SoundFolder | None = None, voices: Mapping[str, str] | None = None
) -> SpokenLine:
    """espeak-ng and pocketsphinx with the domain's own words; `keep` is where the sounds go. Raises NoAudio."""
    shelf = SoundFolder(keep) if isinstance(keep, Path) else keep
    return SpokenLine(_recogniser(domain), shelf, voices)


def check_voices(audio: str, options: Mapping[str, Any]) -> None:
    """Refuse voices that are none of the back end's. What a service has, only the service knows; and what is to be
    spoken on another machine is checked there.
    """
    given = {name: str(options[name]) for side in VOICES if (name := f"{side}_voice") in options}
    for name, voice in given.items():
        if audio == BACK_ENDS[0]:
            others = ", ".join(BACK_ENDS[1:])
            raise BadOption(f"{name}={voice}: the text channel has no voices; leave it out, or take audio={others}")
        if audio == BACK_ENDS[1] and is_installed():
            check_voice(voice)


def open_back_end(
    audio: str, domain: str, options: Mapping[str, Any], keep: SoundFolder | None = None, budget: Budget | None = None
) -> SpeechBackEnd | ServiceBackEnd | None:
    """What a back end speaks and hears with, None for the text channel.

    Raises BadOption, NoAudio, NotConfigured or UnknownName, before anything is said.
    """
    if audio == BACK_ENDS[0]:
        return None
    if audio == BACK_ENDS[1]:
        voices = {side: str(options[name]) for side in VOICES if (name := f"{side}_voice") in options}
        return open_local_audio(domain, keep, voices)
    if audio != "openai" and not audio.startswith("endpoint:"):
        raise BadOption(f"audio {audio!r}; give one of {', '.join(BACK_ENDS)}")
    from cxlab.voice.service import open_service

    return open_service(audio, options, keep, budget)


def open_carrier(
    modality: str, seed: int, wer: float = USUAL_WER, ears: SpeechBackEnd | ServiceBackEnd | None = None
) -> MessageCarrier:
    """A line of a modality; `ears` replaces the text channel of a voice line."""
    if modality not in MODALITIES:
        raise BadOption(f"modality {modality!r}; give one of {', '.join(MODALITIES)}")
    return MessageCarrier(None if modality == "text" else ears or TextChannel(wer), seed)


def _kept(error: WordError) -> list[Any]:
    return [error.kind, error.said, error.heard, error.position]
