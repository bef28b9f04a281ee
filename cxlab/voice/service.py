"""Speech by a service: OpenAI's speech and transcription, or a server of data/models.toml that offers the same two.

    line = open_service("openai", {"agent_voice": "nova"}, SoundFolder(folder), budget)
    passage = await line.listen("agent", "Please reboot the phone.", 1)
    passage.heard, passage.data["wav"], passage.cost_usd
    await line.aclose()      # in the same event loop

A fault of the provider ends up in the passage as what it was, and which of the two steps it was stands before it. That
nothing was understood is no fault: then `heard` is empty.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from cxlab.errors import BadOption
from cxlab.llm import registry
from cxlab.llm.base import ProviderFault
from cxlab.llm.faults import FaultKind, RetryFault, read_json, redact
from cxlab.llm.metering import AudioPrices, Budget
from cxlab.llm.openai_model import OpenAIModel
from cxlab.llm.retries import retrying, with_retries
from cxlab.records import Usage
from cxlab.voice.sound_files import Pcm, SoundFolder, read_wav
from cxlab.voice.spoken_message import SpokenMessage

Made = TypeVar("Made")

# Servers of other makers take OpenAI's older names for whatever models they run.
USUAL_MODELS = {"openai": ("gpt-4o-mini-tts", "gpt-4o-mini-transcribe"), "endpoint": ("tts-1", "whisper-1")}
USUAL_VOICES = {"agent": "nova", "customer": "echo"}
# How a file of each format begins; raw samples begin like anything.
FORMATS: dict[str, tuple[bytes, ...]] = {
    "wav": (b"RIFF",),
    "pcm": (),
    "mp3": (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"),
    "flac": (b"fLaC",),
}
# Raw samples come at this rate, 16 bits, one channel (OpenAI's reference of the speech endpoint).
PCM_RATE = 24_000
_MIME = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac"}


@dataclass(frozen=True)
class Sound:
    """A sound as a service sent it, in a form that can be kept and played; `seconds` None: not known."""

    content: bytes
    format: str
    seconds: float | None


class ServiceLine:
    """A line on which one model speaks and another one writes down; for one conversation."""

    def __init__(
        self,
        speaker: OpenAIModel,
        writer: OpenAIModel,
        voices: Mapping[str, str],
        *,
        format: str = "wav",
        prices: tuple[AudioPrices | None, AudioPrices | None] = (None, None),
        keep: SoundFolder | None = None,
        budget: Budget | None = None,
        language: str = "en",
    ) -> None:
        if format not in FORMATS:
            raise BadOption(f"speech format {format!r}; give one of {', '.join(FORMATS)}")
        self.speaker, self.writer, self.voices, self.format = speaker, writer, voices, format
        self.prices, self.keep, self.budget, self.language = prices, keep, budget, language

    async def listen(self, side: str, text: str, seed: int) -> SpokenMessage:
        """The text said in the side's voice and written down again; the seed only names the file."""
        if not text.strip():
            return SpokenMessage("")
        spent = _Spent()
        data: dict[str, Any] = {}
        try:
            sound = await self._run(self.speaker, "speech", spent, lambda: self._speak(side, text))
            spent.pay(self.prices[0].cost(sound.seconds, len(text)) if self.prices[0] else None, self.budget)
            if sound.seconds is not None:
                data["seconds"] = round(sound.seconds, 2)
            if self.keep is not None:
                data["wav"] = self.keep.put(f"{side}-{seed:08x}.{sound.format}", sound.content)
            heard = await self._run(self.writer, "transcription", spent, lambda: self._write_down(sound))
            spent.pay(self.prices[1].cost(sound.seconds, 0) if self.prices[1] else None, self.budget)
        except ProviderFault as fault:
            return SpokenMessage("", data, spent.usage, spent.cost_usd, spent.latency_s, fault.failure)
        return SpokenMessage(heard, data, spent.usage, spent.cost_usd, spent.latency_s)

    async def _run(
        self, server: OpenAIModel, step: str, spent: _Spent, once: Callable[[], Awaitable[tuple[Made, float]]]
    ) -> Made:
        """One step with its retries, under the budget; a fault says which step it was."""
        budget, options = self.budget, server.options
        if budget is not None and not budget.open_call():
            raise ProviderFault("budget", budget.describe())
        try:
            (made, latency_s), retries = await retrying(
                once,
                options.attempts,
                options.longest_wait_s,
                options.first_wait_s,
                whom=step,
                limiter=server.limiter(),
            )
        except RetryFault as fault:
            spent.usage += fault.usage
            failure = fault.failure
            raise ProviderFault(failure.type, f"{step}: {failure.message}", failure.retryable) from None
        finally:
            if budget is not None:
                budget.close_call()
        # Sound is paid by the minute or the character: it takes no tokens of text.
        spent.usage += with_retries(Usage(prompt_tokens=0, completion_tokens=0, calls=1), retries)
        spent.latency_s += latency_s
        return made

    async def _speak(self, side: str, text: str) -> tuple[Sound, float]:
        server = self.speaker
        body = {"input": text, "voice": self.voices[side], "response_format": self.format}
        content, latency_s = await server.post(
            "/audio/speech", lambda: {**server.options.extra_body, **body, "model": server.model}
        )
        return read_sound(content, self.format), latency_s

    async def _write_down(self, sound: Sound) -> tuple[str, float]:
        server = self.writer
        body = {"language": self.language, "response_format": "json", "temperature": 0}
        content, latency_s = await server.post(
            "/audio/transcriptions",
            lambda: {**server.options.extra_body, **body, "model": server.model},
            {"file": (f"speech.{sound.format}", sound.content, _MIME[sound.format])},
        )
        return _read_transcript(content), latency_s

    async def aclose(self) -> None:
        """Give the shared clients back, inside the event loop in which they were used."""
        await self.speaker.aclose()
        await self.writer.aclose()


@dataclass
class _Spent:
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    latency_s: float = 0.0

    def pay(self, cost_usd: float | None, budget: Budget | None) -> None:
        """One unknown cost makes the sum unknown; it is never taken for nothing."""
        self.cost_usd = None if cost_usd is None or self.cost_usd is None else self.cost_usd + cost_usd
        if budget is not None:
            budget.charge(cost_usd)


def open_service(
    audio: str, options: Mapping[str, Any], keep: SoundFolder | None = None, budget: Budget | None = None
) -> ServiceLine:
    """A line by `openai` or `endpoint:NAME`; raises BadOption, UnknownName or NotConfigured before anything is called.

    Options: `speech_model`, `transcription_model`, `agent_voice`, `customer_voice`, `speech_format`.
    """
    kind, _, endpoint = audio.partition(":")
    if kind not in USUAL_MODELS or (kind == "endpoint") != bool(endpoint) or "/" in endpoint:
        raise BadOption(f"speech service {audio!r}; write openai or endpoint:NAME")
    prefix = f"endpoint:{endpoint}/" if endpoint else "openai:"
    speech, transcription = USUAL_MODELS[kind]
    names = (
        prefix + str(options.get("speech_model") or speech),
        prefix + str(options.get("transcription_model") or transcription),
    )
    registry.refuse_damaged(*(("audio", name) for name in (*names, audio)))
    servers = [registry.load(name) for name in names]
    speaker, writer = (server for server in servers if isinstance(server, OpenAIModel))
    return ServiceLine(
        speaker,
        writer,
        {side: str(options.get(f"{side}_voice") or usual) for side, usual in USUAL_VOICES.items()},
        format=str(options.get("speech_format") or "wav"),
        prices=(registry.audio_prices(names[0]), registry.audio_prices(names[1])),
        keep=keep,
        budget=budget,
    )


def read_sound(content: bytes, format: str) -> Sound:
    """A sound that can be kept; one that is broken or empty is worth a second try."""
    begins = FORMATS[format]
    if not content or (begins and not content.startswith(begins)):
        said = redact(content[:60].decode("utf-8", "replace"))
        raise RetryFault(FaultKind("bad_reply", True), f"the server's reply is no {format} sound: {said!r}")
    if format not in ("wav", "pcm"):
        return Sound(content, format, None)
    try:
        pcm = read_wav(content) if format == "wav" else Pcm(content[: len(content) // 2 * 2], PCM_RATE)
    except ValueError as error:
        raise RetryFault(FaultKind("bad_reply", True), f"the server's sound cannot be read: {error}") from None
    if not pcm.frames:
        raise RetryFault(FaultKind("bad_reply", True), "the server sent a sound of no length")
    # Written anew: a stream's header leaves the length open, which browsers do not play to the end.
    return Sound(pcm.wav(), "wav", pcm.seconds)


def _read_transcript(content: bytes) -> str:
    text = read_json(content).get("text")
    if not isinstance(text, str):
        raise RetryFault(FaultKind("bad_reply", True), "the server's reply holds no text")
    return " ".join(text.split())
