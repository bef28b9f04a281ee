"""A real HTTP server on this machine that speaks and writes down, and misbehaves on request.

What it says is a tone; what it writes down is the text it was last asked to say, so that a test can follow a text
through both steps.
"""

import asyncio
import json
import struct
import threading
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

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


class SpeechServer:
    """Runs in a thread with its own event loop, on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        self.speech, self.transcription, self.url = Step(), Step(), ""
        self._loop, self._ready = asyncio.new_event_loop(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(60):
            raise TimeoutError("the speech server did not start within 10 s")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)

    def reset(self) -> None:
        """Behave well again."""
        self.speech, self.transcription = Step(), Step()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        app = web.Application()
        app.router.add_post("/v1/audio/speech", self._speak)
        app.router.add_post("/v1/audio/transcriptions", self._write_down)
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

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
