"""Where sounds are kept, and what a WAV file holds."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SoundFolder:
    """A folder for the sounds of one conversation; messages name them as from `root`, so that `root` can be moved."""

    root: Path
    under: str = ""

    def put(self, name: str, sound: bytes) -> str:
        """Keep a sound and give its name as from the root."""
        folder = self.root / self.under
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(sound)
        return f"{self.under}/{name}" if self.under else name


@dataclass(frozen=True)
class Pcm:
    """A sound as 16-bit samples."""

    frames: bytes
    rate: int
    channels: int = 1

    @property
    def seconds(self) -> float:
        return len(self.frames) / (2 * self.channels * self.rate)

    def wav(self) -> bytes:
        """A WAV file whose header says how long it is."""
        made = io.BytesIO()
        with wave.open(made, "wb") as file:
            file.setnchannels(self.channels)
            file.setsampwidth(2)
            file.setframerate(self.rate)
            file.writeframes(self.frames)
        return made.getvalue()


def read_wav(sound: bytes) -> Pcm:
    """What a WAV file holds; ValueError for anything but one with 16-bit samples.

    A program that streams leaves the length in the header open, so the samples are read until there are no more.
    """
    try:
        with wave.open(io.BytesIO(sound)) as file:
            channels, rate, width = file.getnchannels(), file.getframerate(), file.getsampwidth()
            frames = file.readframes(len(sound))
    except (wave.Error, EOFError) as error:
        raise ValueError(f"no WAV file: {error or 'it ends early'}") from None
    if width != 2 or not channels or not rate:
        raise ValueError(f"a WAV file with {8 * width} bits a sample; wanted 16")
    return Pcm(frames[: len(frames) // (2 * channels) * (2 * channels)], rate, channels)
