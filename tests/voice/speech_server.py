"""A real HTTP server on this machine that speaks and writes down, and misbehaves on request.

What it says is a tone; what it writes down is the text it was last asked to say, so that a test can follow a text
through both steps.
"""

import asyncio
import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.llm.local_server import LocalServer

RATE = 24_000


def tone(seconds: float = 0.5, open_length: bool = True) -> bytes:
    """A WAV file, its header as a stream has it: with no length known."""
    frames = b"\x10\x00\xf0\xff" * int(seconds * RATE / 2)
    size = 0xFFFFFFFF if open_length else len(frames)
    shape = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2, 16)
    return b"RIFF" + struct.pack("<I", size) + b"WAVE" + shape + b"data" + struct.pack("<I", size) + frames


@dataclass
class Step:
    """How one of the two steps behaves: answers to give first, (status, body, headers), then the usual one."""

    first: list[tuple[int, bytes, dict[str, str]]] = field(default_factory=list)
    usual: bytes | None = None
    wait_s: float = 0.0
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


class SpeechServer(LocalServer):
    def __init__(self) -> None:
        super().__init__()
        self.speech, self.transcription = Step(), Step()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def reset(self) -> None:
        """Behave well again."""
        self.speech, self.transcription = Step(), Step()

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [
            web.post("/v1/audio/speech", self._speak),
            web.post("/v1/audio/transcriptions", self._write_down),
        ]

    async def _speak(self, request: web.Request) -> web.Response:
        return await _answer(self.speech, request, await request.json(), tone())

    async def _write_down(self, request: web.Request) -> web.Response:
        form = await request.post()
        asked = {name: value.file.read() if isinstance(value, web.FileField) else value for name, value in form.items()}
        said = self.speech.asked[-1]["input"] if self.speech.asked else ""
        return await _answer(self.transcription, request, asked, json.dumps({"text": said}).encode())


async def _answer(step: Step, request: web.Request, asked: dict[str, Any], usual: bytes) -> web.Response:
    step.asked.append(asked)
    step.headers.append({key.lower(): value for key, value in request.headers.items()})
    if step.wait_s:
        await asyncio.sleep(step.wait_s)
    if step.first:
        status, body, headers = step.first.pop(0)
        return web.Response(status=status, body=body, headers=headers)
    return web.Response(body=usual if step.usual is None else step.usual)
